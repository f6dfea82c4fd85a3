// SPDX-License-Identifier: GPL-2.0-only
//! `alight compare`

use alight_ask::{Compared, Found, Input};
use alight_compare::picture::of_comparison;
use alight_compare::{Form, Spread, Style, observe, report};

use crate::args::CompareArgs;
use crate::failure::Failure;
use crate::page::check_ending;
use crate::progress::{Bar, on_bar};
use crate::{interrupt, output};

pub fn run(args: &CompareArgs) -> Result<(), Failure> {
    let names = args.base.iter().chain(&args.schedulers);
    let until = args.until.clone();
    let compared = Compared::new(names.map(String::as_str), args.runs, until)?;
    let style = if args.json { Style::Json } else { args.style };
    if args.samples && style != Style::Csv {
        return Err(Failure::BadInput(
            "--samples needs --style csv; JSON always has the samples".to_owned(),
        ));
    }
    if let Some(file) = &args.picture {
        check_ending(file, "--picture", "a picture is SVG", "svg")?;
    }
    args.shown.page.check()?;
    let selection = args.told.selection().map_err(Failure::BadInput)?;
    let input = Input::load(args.run.options(), &output::remark)?;
    let question = compared.question(&input);
    let cancel = interrupt::flag()?;
    let bar = Bar::of(question.jobs());
    let how = Spread {
        threads: args.threads.jobs,
        progress: &|told| bar.hear(told),
    };
    let found = compared.run(&question, &selection, how, cancel);
    bar.finish();
    let Found {
        comparison: whole,
        earliest_end_ns,
    } = found?;
    let drawn = match args.picture {
        Some(_) => of_comparison(&question, &whole, args.picture_time.clone(), cancel),
        None => Ok(None),
    };
    let comparison = whole.only(&selection);
    let form = Form {
        style,
        extent: args.told.extent(),
        samples: args.samples,
    };
    output::print(&report::render(&comparison, form))?;
    // After the report: runs that cannot be observed do not cost what was compared.
    let observed = match args.shown.page.is_wanted() {
        true => on_bar(Bar::of_page(question.schedulers.len()), |progress| {
            let time = args.shown.html_time.clone();
            observe::of_comparison(&question, &comparison, time, progress, cancel)
        })?,
        false => None,
    };
    args.shown.page.write(style == Style::Table, || {
        report::page(&comparison, observed.as_ref(), args.told.extent())
    })?;
    if let Some((file, text)) = args.picture.as_deref().zip(drawn?) {
        output::save(file, &text)?;
        if style == Style::Table {
            output::print(&format!("picture  {}\n", file.display()))?;
        }
    }
    if comparison.interrupted() {
        let (done, asked) = (comparison.seeds.len(), compared.runs);
        return Err(Failure::Interrupted(format!(
            "interrupted: {done} of {asked} runs are complete and in the report{}",
            args.shown.page.without_timelines()
        )));
    }
    args.shown.page.is_whole(cancel)?;
    input.tell_late(earliest_end_ns, &output::remark);
    Ok(())
}
