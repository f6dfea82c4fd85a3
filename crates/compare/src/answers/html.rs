// SPDX-License-Identifier: GPL-2.0-only
//! The page of the steps that answered over a run.

use alight_html::{Page, Text};
use alight_sim::Answers;

use super::{Asked, counted, differing, searches, step_rows};
use crate::report::parts;

/// The whole file.
pub fn page(asked: &Asked<'_>, answers: &Answers) -> String {
    let conditions = asked.conditions;
    let page = Page::new(&format!(
        "Which steps answered: {}",
        parts::title(conditions)
    ))
    .part(
        "Question",
        &parts::asked(conditions, [("decisions", counted(asked, answers))]),
    )
    .text("How far to trust it", parts::trust(&conditions.rests));
    if answers.total.all.count == 0 {
        return page
            .text("Answer", ["No decision was made."])
            .command("Again", &conditions.command)
            .render();
    }
    let steps = step_rows(asked, answers).table();
    let mut page = match asked.has_features() {
        false => page.part("The steps that answered", &steps),
        true => {
            let pairs = searches(asked, &answers.total.all);
            page.parts(
                "The steps that answered",
                &[&steps, &Text::new(pairs.lines())],
            )
        }
    };
    if asked.has_features() {
        let (base, title) = (asked.base(), "Where the base would have chosen another CPU");
        page = match answers.total.other.count {
            0 => page.text(
                title,
                [format!("{base} would have chosen the same CPU each time.")],
            ),
            _ => page
                .parts(
                    title,
                    &[
                        &Text::new([format!(
                            "Pairs: the chosen CPU | the CPU of {base}, at that instant. A single \
                             run cannot show what follows from the base's choices; the command \
                             below runs both."
                        )]),
                        &differing(asked, answers).table(),
                    ],
                )
                .command("Both in runs of their own", asked.compare),
        };
    }
    page.command("Again", &conditions.command).render()
}
