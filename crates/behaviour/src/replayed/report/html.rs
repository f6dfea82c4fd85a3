// SPDX-License-Identifier: GPL-2.0-only
//! The page of the checks of a recording: the verdict, then every quantity.

use alight_compare::report::{number, parts};
use alight_html::{Page, Part, Table, Text};

use super::{Check, Taken, Verdict, columns, counts, sleeps, tasks, window, work};

/// The whole file. `command` makes it again.
pub fn page(
    taken: &Taken,
    own: &Check,
    crosses: &[(String, Check)],
    verdict: &Verdict,
    command: &str,
) -> String {
    let mut page = Page::new(&format!(
        "Can a replay of `{}` be trusted?",
        taken.header.command
    ))
    .part("Question", &question(taken))
    .part("Answer", &answer(verdict))
    .part("What was recorded", &recorded(taken));
    let title = format!("Self-check under {}", own.scheduler);
    page = section(page, &title, own);
    for (name, cross) in crosses {
        page = section(
            page,
            &format!("{name} predicted under {}", cross.scheduler),
            cross,
        );
    }
    page.command("Again", command).render()
}

fn question(taken: &Taken) -> Table {
    let mut kernel = format!("{} ({})", taken.header.kernel, taken.header.arch);
    if let Some(beyond) = crate::beyond_bases(&taken.header) {
        kernel += &format!(", {beyond}");
    }
    parts::labelled([
        ("workload", taken.header.command.clone()),
        ("kernel", kernel),
        ("machine", number::cpus(taken.machine.cpus.len())),
    ])
}

fn answer(verdict: &Verdict) -> Text {
    let cautions = verdict.cautions.iter();
    let cautions = cautions.map(|caution| format!("Caution: {caution}."));
    Text::new([verdict.line()].into_iter().chain(cautions))
}

fn recorded(taken: &Taken) -> Table {
    let health = &taken.replay.health;
    parts::labelled([
        ("window", window(health)),
        ("tasks", tasks(health)),
        ("sleeps", sleeps(health)),
        ("work", work(health)),
    ])
}

fn section(page: Page, title: &str, check: &Check) -> Page {
    let parts: [&dyn Part; 2] = [&Text::new([counts(check)]), &columns(check).table()];
    page.parts(title, &parts)
}
