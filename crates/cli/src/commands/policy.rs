// SPDX-License-Identifier: GPL-2.0-only
//! `alight policy`

use alight_compare::policies::{self, Named};

use crate::args::{PolicyArgs, PolicyVerb};
use crate::failure::Failure;
use crate::output;

pub fn run(args: &PolicyArgs) -> Result<(), Failure> {
    output::print(&match &args.verb {
        PolicyVerb::List { json: false } => policies::list(),
        PolicyVerb::List { json: true } => policies::list_json(),
        PolicyVerb::Show { name, json } => {
            let named = Named::find(name).map_err(Failure::bad_input)?;
            if *json {
                policies::show_json(&named)
            } else {
                policies::show(&named)
            }
        }
    })
}
