// SPDX-License-Identifier: GPL-2.0-only
//! The text of a report.

use std::fmt::Write;
use std::path::Path;

use alight_recording::workload::Capability;
use alight_text::line;

use super::Report;

/// Columns of what stands in front of a line.
const LABEL: usize = 11;

/// A task with its name, for messages.
pub(super) type Named = (u32, String);

impl Report {
    /// What was written, in a few lines.
    pub fn summary(&self, out: &Path) -> String {
        let mut text = format!(
            "{}: {} events of {} tasks in {} s\n",
            out.display(),
            self.events(),
            self.tasks.count,
            seconds(self.span())
        );
        let mut aside = String::new();
        self.oddities(&mut aside);
        text += &aside;
        let lacking = self.lacking();
        let names: Vec<&str> = lacking.iter().map(|one| one.name()).collect();
        if !names.is_empty() {
            label(&mut text, "not told", &names.join(", "));
            text += "what a replay lacks by that: `alight import --inspect`\n";
        }
        text
    }

    /// All that is known of the trace.
    pub fn text(&self) -> String {
        let mut text = String::new();
        self.of_origin(&mut text);
        self.of_events(&mut text);
        self.oddities(&mut text);
        let told: Vec<&str> = self.told.iter().map(|one| one.name()).collect();
        label(&mut text, "told", &told.join(", "));
        let lacking = self.lacking();
        if !lacking.is_empty() {
            text += "\na replay will lack:\n";
        }
        for one in lacking {
            let _ = writeln!(text, "  {:<LABEL$} {}", one.name(), one.lacking());
        }
        text
    }

    fn of_origin(&self, text: &mut String) {
        let origin = &self.origin;
        let known = |text: &str| match text {
            "" => "not told".to_owned(),
            text => line(text).into_owned(),
        };
        let variant = match origin.variant.as_str() {
            "" => String::new(),
            variant => format!(" ({variant})"),
        };
        label(text, "format", &format!("{}{variant}", origin.format));
        label(text, "kernel", &known(&origin.kernel));
        label(text, "machine", &known(&origin.arch));
        let count = origin
            .cpu_count
            .map_or(String::new(), |count| count.to_string());
        label(text, "CPUs", &known(&count));
        label(text, "command", &known(&origin.command));
        label(text, "clock", &known(&origin.clock));
    }

    fn of_events(&self, text: &mut String) {
        let tally = &self.tally;
        if let Some((first, last)) = tally.seen {
            let span = seconds(last - first);
            let whole = format!("@{} to @{}, {span} s", seconds(first), seconds(last));
            label(text, "time", &whole);
        }
        let of = match tally.first {
            Some(first) if Some((first, tally.last)) != tally.seen => {
                format!(" of @{} to @{}", seconds(first), seconds(tally.last))
            }
            _ => String::new(),
        };
        label(text, "imported", &format!("{} events{of}", self.events()));
        for (name, used, count) in &tally.tracepoints {
            if *used && *count > 0 {
                let _ = writeln!(text, "  {count:>10} {}", line(name));
            }
        }
        let unused: Vec<String> = (tally.tracepoints.iter())
            .filter(|(_, used, count)| !*used && *count > 0)
            .map(|(name, _, count)| format!("{} {count}", line(name)))
            .collect();
        if !unused.is_empty() {
            label(text, "left out", &unused.join(", "));
        }
        let chosen = match self.options.pids.is_empty() && self.options.cgroups.is_empty() {
            true => String::new(),
            false => format!(", {} of them the workload", self.tasks.chosen()),
        };
        label(text, "tasks", &format!("{}{chosen}", self.tasks.count));
        let busiest = named(&self.tasks.busiest(8, &self.names, &self.origin), ", ");
        if !busiest.is_empty() {
            label(text, "busiest", &busiest);
        }
        let [by_task, idle, interrupts, unknown] = tally.wakings;
        if tally.wakings != [0; 4] {
            let all: u64 = tally.wakings.iter().sum();
            let wakings = match unknown {
                0 => format!(
                    "{all}: {by_task} by a task, {interrupts} by an interrupt while a task ran, \
                     {idle} on an idle CPU"
                ),
                _ => format!("{all}, and whether by a task or by an interrupt is not told"),
            };
            label(text, "wakings", &wakings);
        }
    }

    /// A line for each thing that is not as in most traces.
    fn oddities(&self, text: &mut String) {
        let tally = &self.tally;
        let lost: Vec<String> = (tally.lost.iter())
            .map(|(cause, count)| format!("{count} events ({cause})"))
            .collect();
        if tally.losses > 0 || !lost.is_empty() {
            let places = plural(tally.losses, "place");
            let counted = if lost.is_empty() {
                "not counted".into()
            } else {
                lost.join(", ")
            };
            label(
                text,
                "lost",
                &format!("{counted}, at {places}: each ends a window"),
            );
        }
        if tally.late > 0 {
            let (late, step) = (plural(tally.late, "event"), seconds(tally.latest_step));
            let what = format!(
                "left out: {late}, older than events before them by up to {step} s: the clock \
                 stepped back, or was not the same on all CPUs"
            );
            label(text, "clock step", &what);
        }
        if self.tasks.reused > 0 {
            let births = plural(self.tasks.reused, "birth");
            let what = format!("{births} of tasks with the number of an older task");
            label(text, "reused", &what);
        }
        for (cpu, of_cpu) in tally.cpus.iter().enumerate() {
            if of_cpu.off > 0 {
                let times = of_cpu.off;
                label(
                    text,
                    "CPU off",
                    &format!("CPU {cpu} went off, {times} times"),
                );
            }
        }
        for remark in &self.origin.remarks {
            label(text, "note", &line(remark));
        }
        if self.origin.asked.is_none() {
            let what =
                "the file does not say what was asked for; what never occurs counts as not told";
            label(text, "note", what);
        }
    }

    fn lacking(&self) -> Vec<Capability> {
        let missing = Capability::ALL.into_iter();
        missing.filter(|one| !self.told.contains(one)).collect()
    }

    fn span(&self) -> u64 {
        self.tally.first.map_or(0, |first| self.tally.last - first)
    }
}

fn label(text: &mut String, label: &str, content: &str) {
    let _ = writeln!(text, "{label:<LABEL$} {content}");
}

/// A count with its noun.
fn plural(count: u64, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

/// Seconds with nine decimals.
pub(super) fn seconds(ns: u64) -> String {
    format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

/// Tasks with their names.
pub(super) fn named(tasks: &[Named], between: &str) -> String {
    let one = |(pid, name): &Named| match name.as_str() {
        "" => pid.to_string(),
        name => format!("{} {pid}", line(name)),
    };
    tasks.iter().map(one).collect::<Vec<_>>().join(between)
}
