// SPDX-License-Identifier: GPL-2.0-only
//! `alight top`: what the scheduler that runs in this kernel decides, live.

use alight_top::{Error, Options};

use crate::args::TopArgs;
use crate::failure::Failure;

pub fn run(args: &TopArgs) -> Result<(), Failure> {
    let options = Options {
        socket: args.socket.clone(),
        interval: args.interval,
    };
    alight_top::run(&options).map_err(|error| match error {
        // Another way to ask helps.
        Error::NoTerminal => Failure::bad_input(error),
        Error::Client(_) | Error::Signals(_) | Error::Terminal(_) => Failure::host(error),
    })
}
