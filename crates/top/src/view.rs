// SPDX-License-Identifier: GPL-2.0-only
//! What is shown, and what keys change about it.

use alight_policy::{STEPS, Scheduler};
use alight_stats::{Statistics, client, text};

/// What a user wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// To leave.
    Quit,
    /// The other order.
    Sort,
    /// The other table.
    Table,
    /// Counts since the start, or since the last look.
    Total,
    /// Later rows.
    Down,
    /// Earlier rows.
    Up,
}

/// The order of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// Largest first.
    Count,
    /// As the policy, or the machine, has them.
    Place,
}

/// The table in the lower part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// Steps of the policy.
    Steps,
    /// CPUs.
    Cpus,
}

/// All that is shown.
#[derive(Debug, Clone)]
pub struct View {
    now: Statistics,
    interval: Statistics,
    /// Why there is nothing newer.
    pub trouble: Option<String>,
    /// The order of the rows.
    pub sort: Sort,
    /// Which table.
    pub table: Table,
    /// Counts since the start instead of since the last look.
    pub total: bool,
    /// First row shown.
    pub first: usize,
}

impl View {
    /// Begins with what was counted since the scheduler's start.
    pub fn new(first: Statistics) -> Self {
        View {
            interval: first.clone(),
            now: first,
            trouble: None,
            sort: Sort::Count,
            table: Table::Steps,
            total: false,
            first: 0,
        }
    }

    /// What the scheduler says now, or why it does not.
    pub fn update(&mut self, news: Result<Statistics, client::Error>) {
        match news {
            Ok(now) => {
                self.interval = now.since(&self.now);
                self.now = now;
                self.trouble = None;
            }
            Err(error) => self.trouble = Some(format!("{error}; waiting")),
        }
    }

    /// Does what a key asks for; says whether to go on.
    pub fn press(&mut self, key: Key) -> bool {
        match key {
            Key::Quit => return false,
            Key::Sort => {
                self.sort = match self.sort {
                    Sort::Count => Sort::Place,
                    Sort::Place => Sort::Count,
                }
            }
            Key::Table => {
                self.first = 0;
                self.table = match self.table {
                    Table::Steps => Table::Cpus,
                    Table::Cpus => Table::Steps,
                }
            }
            Key::Total => self.total = !self.total,
            Key::Down => self.first = (self.first + 1).min(self.rows().len().saturating_sub(1)),
            Key::Up => self.first = self.first.saturating_sub(1),
        }
        true
    }

    /// What the figures are of.
    pub fn shown(&self) -> &Statistics {
        if self.total {
            &self.now
        } else {
            &self.interval
        }
    }

    /// Since the scheduler's start, ns.
    pub fn uptime_ns(&self) -> u64 {
        self.now.uptime_ns
    }

    /// Names of the table's columns.
    pub fn columns(&self) -> &'static [&'static str] {
        match self.table {
            Table::Steps => &["step", "share", "per second", "feature", "meaning"],
            Table::Cpus => &[
                "cpu",
                "runs/s",
                "decisions/s",
                "idle found",
                "delay mean",
                "delay max",
            ],
        }
    }

    /// The table's rows, in the order that is wanted.
    pub fn rows(&self) -> Vec<Vec<String>> {
        let mut rows = match self.table {
            Table::Steps => self.steps(),
            Table::Cpus => self.cpus(),
        };
        if self.sort == Sort::Count {
            rows.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        }
        rows.into_iter().map(|(_, row)| row).collect()
    }

    fn steps(&self) -> Vec<(u64, Vec<String>)> {
        let shown = self.shown();
        let scheduler = Scheduler::parse(&shown.scheduler).ok();
        let steps = (0..).zip(STEPS).zip(shown.totals.steps);
        let occurred = steps.filter(|(_, count)| *count > 0);
        let row = |((index, (name, what)), count): ((u32, (&str, &str)), u64)| {
            let owner = scheduler
                .as_ref()
                .and_then(|scheduler| scheduler.owner(index));
            let cells = vec![
                name.to_owned(),
                text::percent(count, shown.totals.decisions),
                text::rate(count, shown.uptime_ns).to_string(),
                owner.map_or("", |feature| feature.name).to_owned(),
                what.to_owned(),
            ];
            (count, cells)
        };
        occurred.map(row).collect()
    }

    fn cpus(&self) -> Vec<(u64, Vec<String>)> {
        let shown = self.shown();
        let rate = |count| text::rate(count, shown.uptime_ns).to_string();
        let row = |(cpu, of): (usize, &alight_stats::Counters)| {
            let cells = vec![
                cpu.to_string(),
                rate(of.runs),
                rate(of.decisions),
                text::percent(of.found_idle, of.decisions),
                text::time(of.delay_ns / of.runs.max(1)),
                text::time(self.now.cpus.get(cpu).map_or(0, |cpu| cpu.delay_max_ns)),
            ];
            (of.runs, cells)
        };
        shown.cpus.iter().enumerate().map(row).collect()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use alight_stats::Counters;

    /// A scheduler that answers by these steps, one CPU a step.
    pub(crate) fn statistics(uptime_s: u64, steps: &[(&str, u64)]) -> Statistics {
        let scheduler = Scheduler::parse("linux-5.5+bias-prev").expect("a scheduler");
        let cpu = |(name, count): &(&str, u64)| {
            let mut cpu = Counters::ZERO;
            let step = STEPS.iter().position(|(step, _)| step == name);
            cpu.steps[step.expect("a step")] = *count;
            cpu.decisions = *count;
            cpu.found_idle = count / 2;
            cpu.scanned = 2 * count;
            cpu.runs = 3 * count;
            cpu.delay_ns = 3 * count * 10_000;
            cpu.delays[13] = 3 * count;
            cpu.delay_max_ns = 16_000;
            cpu
        };
        let cpus = steps.iter().map(cpu).collect();
        Statistics::new(&scheduler, uptime_s * 1_000_000_000, 1, cpus)
    }

    fn first_cells(view: &View) -> Vec<String> {
        view.rows().into_iter().map(|row| row[0].clone()).collect()
    }

    #[test]
    fn rows_are_of_the_interval_until_the_total_is_asked_for() {
        let mut view = View::new(statistics(10, &[("target_idle", 100), ("bias_prev", 50)]));
        view.update(Ok(statistics(
            12,
            &[("target_idle", 110), ("bias_prev", 80)],
        )));
        assert_eq!(first_cells(&view), ["bias_prev", "target_idle"]);
        assert_eq!(view.rows()[0][1..4], ["75.0 %", "15", "bias-prev"]);
        view.press(Key::Total);
        assert_eq!(first_cells(&view), ["target_idle", "bias_prev"]);
    }

    #[test]
    fn keys_change_order_and_table() {
        let mut view = View::new(statistics(1, &[("target_idle", 1), ("bias_prev", 9)]));
        assert!(view.press(Key::Sort));
        assert_eq!(first_cells(&view), ["target_idle", "bias_prev"]);
        assert!(view.press(Key::Table));
        assert_eq!(first_cells(&view), ["0", "1"]);
        view.press(Key::Sort);
        assert_eq!(first_cells(&view), ["1", "0"]);
        for _ in 0..5 {
            view.press(Key::Down);
        }
        assert_eq!(view.first, 1, "the last row stays in sight");
        view.press(Key::Table);
        assert_eq!(view.first, 0);
        assert!(!view.press(Key::Quit));
    }

    #[test]
    fn a_scheduler_that_ended_is_waited_for() {
        let mut view = View::new(statistics(1, &[("target_idle", 1)]));
        view.update(Err(client::Error::Nobody("/run/x".into())));
        assert!(
            view.trouble
                .as_ref()
                .unwrap()
                .ends_with("is scx_alight running?; waiting")
        );
        view.update(Ok(statistics(2, &[("target_idle", 1)])));
        assert_eq!(view.trouble, None);
    }
}
