// SPDX-License-Identifier: GPL-2.0-only
//! All that one decision was made of, in words and numbers.

use super::record::DecisionRecord;
use super::replay::{Replay, kind_of};
use alight_policy::{MAX_CPUS, Note, STEPS, VERDICTS, Waker, Wakeup};
use std::fmt::Write;

/// More candidates are not shown.
const MOST_NOTES: usize = 4 * MAX_CPUS;

impl Replay {
    /// What both sides were given, and what the host looked at.
    pub fn describe(&mut self, record: &DecisionRecord) -> String {
        let d = &record.decision;
        let yes = |value: u32| if value != 0 { "yes" } else { "no" };
        let allowed: Vec<String> = (0..d.nr_cpus)
            .filter(|&cpu| d.allowed.contains(cpu))
            .map(|cpu| cpu.to_string())
            .collect();
        let mut text = format!(
            "input:\n  at {} ns CPU {} asks, {:?}, sync {}; allowed: {}\n  clamps in use: {}, overutilized: {}\n",
            d.now,
            d.this_cpu,
            kind_of(d.kind),
            yes(d.sync),
            allowed.join(","),
            yes(d.root.uclamp_used),
            yes(d.root.overutilized),
        );
        let _ = writeln!(text, "  wakee: {:?}\n  waker: {:?}", d.wakee, d.waker);
        for (n, llc) in record.llcs.iter().enumerate() {
            let _ = writeln!(text, "  cache {n}: {llc:?}");
        }
        for (n, cpu) in record.cpus.iter().enumerate() {
            let _ = writeln!(text, "  CPU {n}: {cpu:?}");
        }
        text += "the host looked at:\n";
        for note in self.notes(record) {
            let name = |names: &[&'static str], at: u32| *names.get(at as usize).unwrap_or(&"?");
            let step = STEPS.get(note.step as usize).map_or("?", |step| step.0);
            let verdict = name(&VERDICTS, note.verdict);
            let _ = writeln!(
                text,
                "  CPU {} {step}: {verdict} ({})",
                note.cpu, note.value
            );
        }
        text
    }

    fn notes(&mut self, record: &DecisionRecord) -> Vec<Note> {
        let d = &record.decision;
        let (mut wakee, mut waker) = (d.wakee, d.waker);
        let mut notes = Vec::with_capacity(MOST_NOTES);
        let core = self.take_views(record);
        core.explain(
            Wakeup {
                task: &mut wakee,
                allowed: &d.allowed,
                waker: Waker {
                    cpu: d.this_cpu,
                    task: &mut waker,
                    sync: d.sync != 0,
                },
                kind: kind_of(d.kind),
                flags: 0,
                now: d.now,
            },
            &mut notes,
        );
        notes
    }
}
