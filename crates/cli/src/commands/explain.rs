// SPDX-License-Identifier: GPL-2.0-only
//! `alight explain`

use alight_ask::{Explained, Input, scheduler_over};

use crate::args::ExplainArgs;
use crate::failure::Failure;
use crate::progress::{Bar, on_bar};
use crate::{interrupt, output};

pub fn run(args: &ExplainArgs) -> Result<(), Failure> {
    let named = &args.scheduler;
    let asked = Explained {
        scheduler: scheduler_over(named.base.as_deref(), named.name.as_deref())?,
        task: args.task.clone(),
        at_ns: args.at,
        limit: args.limit,
        histogram: args.histogram,
    };
    args.page.check()?;
    let input = Input::load(args.run.options(), &output::remark)?;
    let cancel = interrupt::flag()?;
    let found = asked.run(&input, cancel)?;
    output::print(&match args.json {
        true => found.json(),
        false => found.text(),
    })?;
    if args.page.is_wanted() {
        let page = on_bar(Bar::of_page(1), |progress| {
            found.page(&input, progress, cancel)
        })?;
        args.page.write(!args.json, || page)?;
    }
    if found.interrupted {
        let end = "interrupted: later decisions are missing";
        return Err(Failure::Interrupted(end.to_owned()));
    }
    args.page.is_whole(cancel)?;
    input.tell_late(found.end_ns, &output::remark);
    Ok(())
}
