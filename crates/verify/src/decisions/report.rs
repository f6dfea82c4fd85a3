// SPDX-License-Identifier: GPL-2.0-only
//! What was found, as text and as JSON.

use super::judge::{Cause, Judgement, disturbed};
use super::layout::{CpuState, TaskState, Wakeup};
use alight_policy::{AFFINE, Note, STEPS, Task, VERDICTS};
use alight_recording::Header;
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Of 1000 decisions, how many must be equal: of those under which nothing changed,
/// to the state at the entry; of all, to that at the entry or at the exit.
pub const WANTED_PER_MILLE: u64 = 999;

/// Differences whose numbers are listed.
const LISTED: usize = 10;

/// Decisions by the step of the core that answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Steps {
    /// All.
    pub wakeups: u64,
    /// Of them, those that the kernel decided alike.
    pub equal: u64,
}

/// What was found in a recording.
#[derive(Debug, Clone)]
pub struct DecisionsReport {
    /// Release of the kernel.
    pub kernel: String,
    /// It is newer than every base: what that means.
    pub beyond_bases: Option<String>,
    /// Its architecture.
    pub arch: String,
    /// What was run.
    pub command: String,
    /// The scheduler that it was held against; empty if it came not so far.
    pub scheduler: String,
    /// Decisions made again.
    pub wakeups: u64,
    /// Of them, those that came out alike.
    pub equal: u64,
    /// Wakeups under which a CPU changed, so that the record may not be what the kernel saw.
    pub disturbed: u64,
    /// Of them, those that came out alike.
    pub disturbed_equal: u64,
    /// The recording was read to its end.
    pub whole: bool,
    /// CPUs that changed were recorded at the exit too.
    pub exits: bool,
    /// Wakeups that the recorder could not write.
    pub lost: u64,
    /// By step, in the order of [`STEPS`].
    pub steps: Vec<Steps>,
    /// Differences by cause.
    pub causes: BTreeMap<Cause, u64>,
    /// Records that differ for want of a rule: by the core's step, how many and the first of them
    /// as (difference, record), from 1.
    pub rules: BTreeMap<u32, (u64, Vec<(u64, u64)>)>,
}

impl DecisionsReport {
    /// Nothing found yet.
    pub fn new(header: &Header) -> Self {
        DecisionsReport {
            kernel: header.kernel.clone(),
            beyond_bases: crate::beyond_bases(header),
            arch: header.arch.clone(),
            command: header.command.clone(),
            scheduler: String::new(),
            wakeups: 0,
            equal: 0,
            disturbed: 0,
            disturbed_equal: 0,
            whole: false,
            exits: header.kind(super::KIND).is_some(),
            lost: 0,
            steps: vec![Steps::default(); STEPS.len()],
            causes: BTreeMap::new(),
            rules: BTreeMap::new(),
        }
    }

    /// Counts a decision.
    pub fn add(&mut self, record: u64, wakeup: &Wakeup, judgement: &Judgement) {
        self.wakeups += 1;
        let disturbed = disturbed(wakeup);
        self.disturbed += u64::from(disturbed);
        self.disturbed_equal += u64::from(disturbed && judgement.cause.is_none());
        let step = judgement.answer.step;
        let steps = &mut self.steps[step as usize];
        steps.wakeups += 1;
        let Some(cause) = judgement.cause else {
            steps.equal += 1;
            self.equal += 1;
            return;
        };
        *self.causes.entry(cause).or_default() += 1;
        if cause == Cause::Rule {
            let (count, first) = self.rules.entry(step).or_default();
            *count += 1;
            if first.len() < LISTED {
                first.push((self.wakeups - self.equal, record));
            }
        }
    }

    /// Decisions under which no CPU changed: what was recorded is what the kernel saw.
    pub fn calm(&self) -> u64 {
        self.wakeups - self.disturbed
    }

    /// Of them, those that came out alike.
    pub fn calm_equal(&self) -> u64 {
        self.equal - self.disturbed_equal
    }

    /// Decisions that came out alike from the state at the entry or, where that changed
    /// while the kernel searched, from the one at the exit.
    pub fn equal_at_either(&self) -> u64 {
        self.equal + self.causes.get(&Cause::Exit).copied().unwrap_or(0)
    }

    /// As many decisions are equal as is demanded, both of all and of those whose record shows
    /// what the kernel saw.
    pub fn agrees(&self) -> bool {
        let enough = |equal: u64, all: u64| all > 0 && equal * 1000 >= all * WANTED_PER_MILLE;
        enough(self.calm_equal(), self.calm()) && enough(self.equal_at_either(), self.wakeups)
    }

    /// For people.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let line = &mut text;
        put(
            line,
            format_args!("kernel     {} {}", self.kernel, self.arch),
        );
        if let Some(beyond) = &self.beyond_bases {
            put(line, format_args!("           {beyond}"));
        }
        put(line, format_args!("scheduler  {}", self.scheduler));
        put(
            line,
            format_args!(
                "decisions  {}, equal {} ({}), lost {}",
                self.wakeups,
                self.equal,
                percent(self.equal, self.wakeups),
                self.lost
            ),
        );
        let either = self.equal_at_either();
        put(
            line,
            format_args!(
                "           equal at entry or exit {either} ({})",
                percent(either, self.wakeups)
            ),
        );
        let (calm, calm_equal) = (self.calm(), self.calm_equal());
        put(
            line,
            format_args!(
                "calm       {calm}, equal {calm_equal} ({}): no CPU changed during them",
                percent(calm_equal, calm)
            ),
        );
        put(
            line,
            format_args!("\n{:>10} {:>10}  answered by", "decisions", "different"),
        );
        for (step, (name, meaning)) in self.steps.iter().zip(STEPS) {
            if step.wakeups > 0 {
                let different = step.wakeups - step.equal;
                put(
                    line,
                    format_args!("{:>10} {different:>10}  {name}: {meaning}", step.wakeups),
                );
            }
        }
        if !self.causes.is_empty() {
            put(line, format_args!("\n{:>10}  cause", "different"));
        }
        for (cause, count) in &self.causes {
            put(
                line,
                format_args!("{count:>10}  {}: {}", cause.name(), cause.meaning()),
            );
        }
        for (step, (count, first)) in &self.rules {
            let numbers: Vec<_> = first.iter().map(|(n, _)| n.to_string()).collect();
            put(
                line,
                format_args!(
                    "{count:>10}    the core answered by {}; differences {}",
                    STEPS[*step as usize].0,
                    numbers.join(", ")
                ),
            );
        }
        text
    }

    /// For programs, schema `alight.verify-decisions/1`.
    pub fn json(&self) -> String {
        let steps: BTreeMap<_, _> = (STEPS.iter().zip(&self.steps))
            .filter(|(_, step)| step.wakeups > 0)
            .map(|((name, _), step)| {
                (
                    *name,
                    json!({"decisions": step.wakeups, "equal": step.equal}),
                )
            })
            .collect();
        let causes: BTreeMap<_, _> = (self.causes.iter())
            .map(|(cause, count)| (cause.name(), count))
            .collect();
        let rules: BTreeMap<_, _> = (self.rules.iter())
            .map(|(step, (count, _))| (STEPS[*step as usize].0, count))
            .collect();
        let value = json!({
            "schema": "alight.verify-decisions/1",
            "kernel": self.kernel,
            "arch": self.arch,
            "command": self.command,
            "scheduler": self.scheduler,
            "decisions": self.wakeups,
            "equal": self.equal,
            "equal_at_either": self.equal_at_either(),
            "calm": self.calm(),
            "calm_equal": self.calm_equal(),
            "whole": self.whole,
            "exits": self.exits,
            "lost": self.lost,
            "steps": steps,
            "causes": causes,
            "missing_rules": rules,
            "agrees": self.agrees(),
        });
        format!("{value:#}")
    }
}

fn put(text: &mut String, line: std::fmt::Arguments<'_>) {
    // A String takes everything.
    let _ = writeln!(text, "{line}");
}

fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "-".to_owned();
    }
    // Rounded down: 100 % means all.
    let hundredths = u128::from(part) * 1_000_000 / u128::from(whole);
    format!("{}.{:04} %", hundredths / 10_000, hundredths % 10_000)
}

/// Both sides of one decision.
#[derive(Debug, Clone)]
pub struct Explanation {
    /// Number of the record, from 1.
    pub(super) record: u64,
    /// What the kernel had and answered.
    pub(super) wakeup: Wakeup,
    /// What the core made of it.
    pub(super) judgement: Judgement,
    /// Every candidate of the core.
    pub(super) notes: Vec<Note>,
    /// The wakee as the core saw it.
    pub(super) wakee: Task,
    /// The waker as the core saw it.
    pub(super) waker: Task,
}

impl Explanation {
    /// For people.
    pub fn text(&self) -> String {
        let mut text = String::new();
        self.put_question(&mut text);
        self.put_cpus(&mut text);
        self.put_answer(&mut text);
        text
    }

    fn put_question(&self, text: &mut String) {
        let w = &self.wakeup;
        put(
            text,
            format_args!(
                "record {}: the kernel chose CPU {}, the core CPU {}",
                self.record, w.answer, self.judgement.cpu
            ),
        );
        if let Some(cause) = self.judgement.cause {
            put(
                text,
                format_args!("cause: {}: {}", cause.name(), cause.meaning()),
            );
        }
        put(
            text,
            format_args!(
                "waking CPU {}, previous CPU {}, wake flags {:#x}, allowed {:#x}, changed {:#x}, \
                 preempt count {:#x}, flags {:#x}, jiffies {}",
                w.this_cpu,
                w.prev_cpu,
                w.wake_flags,
                w.allowed,
                w.changed,
                w.preempt_count,
                w.flags,
                w.jiffies
            ),
        );
        put_task(text, "wakee", &w.wakee, &self.wakee);
        put_task(text, "waker", &w.waker, &self.waker);
    }

    fn put_cpus(&self, text: &mut String) {
        put(
            text,
            format_args!(
                "\ncpu idle pending running fair runnable sched_idle  load util  est runnable cap \
                 clamps    scan cores latency idle_stamp"
            ),
        );
        for (cpu, state) in (0..).zip(&self.wakeup.cpus) {
            put_cpu(text, cpu, state);
        }
        if !self.wakeup.exits.is_empty() {
            put(
                text,
                format_args!("the CPUs that changed, after the kernel had chosen"),
            );
        }
        for (cpu, state) in self.wakeup.at_exit() {
            put_cpu(text, cpu, state);
        }
    }

    fn put_answer(&self, text: &mut String) {
        let answer = &self.judgement.answer;
        let (step, meaning) = STEPS[answer.step as usize];
        let (affine, why) = AFFINE[answer.affine as usize];
        put(
            text,
            format_args!(
                "\nthe core: target CPU {} ({affine}: {why}); answered by {step}: {meaning}",
                answer.target
            ),
        );
        for note in &self.notes {
            put(
                text,
                format_args!(
                    "  CPU {:>2}  {:<16} {} ({})",
                    note.cpu,
                    STEPS[note.step as usize].0,
                    VERDICTS[note.verdict as usize],
                    note.value
                ),
            );
        }
    }
}

fn put_cpu(text: &mut String, cpu: u32, c: &CpuState) {
    put(
        text,
        format_args!(
            "{cpu:>3} {:>4} {:>7} {:>7} {:>4} {:>8} {:>10} {:>5} {:>4} {:>4} {:>8} {:>4} \
             {:>4}..{:<4} {:>3} {:>5} {:>7} {}",
            u8::from(c.curr_is_idle),
            u8::from(c.ttwu_pending),
            c.nr_running,
            c.h_nr_queued,
            c.h_nr_runnable,
            c.h_nr_idle,
            c.load_avg,
            c.util_avg,
            c.util_est,
            c.runnable_avg,
            c.capacity,
            c.uclamp_min,
            c.uclamp_max,
            c.nr_idle_scan,
            u8::from(c.has_idle_cores),
            c.exit_latency as i32,
            c.idle_stamp
        ),
    );
}

fn put_task(text: &mut String, name: &str, t: &TaskState, seen: &Task) {
    put(
        text,
        format_args!(
            "{name} {}: policy {}, flags {:#x}, allowed {}, flips {}, recent CPU {}, load {} (as the \
             root sees it {}), util {}, runnable {}, est {:#x}/{}, clamps {}..{}, depth {}, on_rq {}",
            t.pid,
            t.policy,
            t.flags,
            t.nr_cpus_allowed,
            t.wakee_flips,
            t.recent_used_cpu as i32,
            t.load_avg,
            seen.pelt.load_avg,
            t.util_avg,
            t.runnable_avg,
            t.util_est,
            t.util_est_ewma,
            t.uclamp_min,
            t.uclamp_max,
            t.depth,
            t.on_rq
        ),
    );
}
