// SPDX-License-Identifier: GPL-2.0-only
//! Follows every signal set from event to event.

use super::event::{Avg, Body, Clocks, Op, PeltEvent, Removed, flag};
use super::model;
use super::report::{Difference, PeltReport};
use super::rules::Rules;
use std::collections::{HashMap, VecDeque};

/// Events of one entity that a difference shows.
const HISTORY: usize = 6;

/// What is known of an entity's or a queue's signals.
#[derive(Debug, Default)]
struct Signals {
    avg: Avg,
    /// Removed from afar and still to be subtracted (queues only); negative where
    /// a subtraction was written down before its removal.
    removed: Removed,
    /// A subtraction written down before its removal left nothing, so that it does not
    /// tell how much was removed: that is read from the queue when the removal comes.
    emptied: bool,
    /// Something changed them that was seen by half: the next event tells what they are.
    lost: bool,
    history: VecDeque<(u64, PeltEvent)>,
}

impl Signals {
    /// The next event tells what they are, and what is still to be subtracted.
    fn is_unknown(&self) -> bool {
        self.lost || self.history.is_empty()
    }
}

/// Follows a recording; signal sets and clocks are told apart by their addresses.
pub struct Replay {
    rules: Rules,
    signals: HashMap<u64, Signals>,
    clocks: HashMap<u64, Clocks>,
    /// Number of the event, from 1.
    record: u64,
}

/// Fields that differ: name, the kernel's, the core's.
type Fields = Vec<(String, u64, u64)>;

fn compare<const N: usize>(
    kernel: [(&'static str, u64); N],
    core: [(&'static str, u64); N],
    prefix: &str,
) -> Fields {
    (kernel.iter().zip(core))
        .filter(|(kernel, core)| kernel.1 != core.1)
        .map(|(kernel, core)| (format!("{prefix}{}", kernel.0), kernel.1, core.1))
        .collect()
}

impl Replay {
    pub fn new(rules: Rules) -> Self {
        Replay {
            rules,
            signals: HashMap::new(),
            clocks: HashMap::new(),
            record: 0,
        }
    }

    /// What was subtracted from queues although no event says who removed it.
    pub fn unpaid(&self) -> u64 {
        self.signals
            .values()
            .filter(|known| known.removed.is_negative())
            .count() as u64
    }

    /// Makes one event again.
    pub fn step(&mut self, event: &PeltEvent, report: &mut PeltReport) {
        self.record += 1;
        if event.flags & flag::NO_AFTER != 0 {
            return self.half(event, report);
        }
        match event.body {
            Body::One {
                before,
                after,
                removed,
            } => match event.op {
                Op::Se | Op::Blocked | Op::Rt | Op::Dl | Op::Hw => {
                    self.update(event, before, after, report);
                }
                Op::Cfs => self.queue_update(event, before, after, removed, report),
                Op::Remove => self.remove(event, [before, after], removed, report),
                Op::EstEnqueue | Op::EstDequeue => {
                    self.queue_estimate(event, before, after, report)
                }
                Op::Migrate | Op::Retime => self.retime(event, after, report),
                Op::Init => self.adopt(event, event.first, after),
                _ => self.told(event, after, report),
            },
            Body::Two {
                before,
                after,
                queue_before,
                queue_after,
            } => match event.op {
                Op::EstTask => self.task_estimate(event, before, after, report),
                _ => self.move_of(event, [before, queue_before], [after, queue_after], report),
            },
            Body::Tick {
                before,
                after,
                util_sums,
            } => self.tick(event, before, after, util_sums, report),
        }
    }

    /// A call of which the end was not seen.
    fn half(&mut self, event: &PeltEvent, report: &mut PeltReport) {
        report.seen_by_half(event.op.name());
        let entity = self.signals.entry(event.first).or_default();
        let known = !entity.is_unknown();
        if event.op == Op::Remove && known {
            // It leaves the entity as it was, and its queue is to lose just that.
            let gone = model::remove(&entity.avg, event);
            let queue = self.signals.entry(event.queue).or_default();
            queue.removed = queue.removed.with(&gone);
        } else {
            entity.lost = true;
            if event.op == Op::Remove {
                self.signals.entry(event.queue).or_default().lost = true;
            }
        }
        self.remember(event, event.first);
    }

    /// `__update_load_avg_se` and those like it.
    fn update(&mut self, event: &PeltEvent, before: Avg, after: Avg, report: &mut PeltReport) {
        if event.flags & flag::NO_BEFORE != 0 {
            report.seen_by_half(event.op.name());
            return self.adopt(event, event.first, after);
        }
        self.found(event, event.first, before, report);
        let running = u64::from(event.running & 1);
        let (mut expected, averaged) = match event.op {
            // The bit above tells whether the entity is on the queue.
            Op::Se => {
                let on_rq = u64::from(event.running >> 1);
                model::update(
                    &before,
                    event.now,
                    [on_rq, event.runnable, running],
                    event.load,
                )
            }
            Op::Blocked => model::update(&before, event.now, [0; 3], event.load),
            _ => model::update(&before, event.now, [event.load; 3], 1),
        };
        if event.op == Op::Se && averaged {
            expected = model::estimate_due(expected);
        }
        self.updated(event, report);
        let fields = compare(after.fields(), expected.fields(), "");
        self.result(event, event.first, fields, report);
        self.adopt(event, event.first, after);
    }

    /// `__update_load_avg_cfs_rq`, and what `update_cfs_rq_load_avg` subtracted
    /// before it: what tasks that left from afar had removed.
    fn queue_update(
        &mut self,
        event: &PeltEvent,
        before: Avg,
        after: Avg,
        left: Removed,
        report: &mut PeltReport,
    ) {
        let known = self.signals.entry(event.first).or_default();
        let plain = model::refresh(&self.rules, &before, event, &Removed::default());
        // What is still there was removed by another CPU since the subtraction.
        let written = known.removed.without(&left);
        // Or another CPU had removed it, but not written that down yet.
        let early = Removed::between(&known.avg, &before);
        let expected = if !self.rules.traced || known.is_unknown() || known.avg == before {
            if !self.rules.traced || known.is_unknown() {
                known.removed = left;
            }
            known.removed.nr = left.nr;
            self.found(event, event.first, before, report);
            plain
        } else if model::refresh(&self.rules, &known.avg, event, &written) == after {
            known.removed = left;
            report.gaps.followed += 1;
            after
        } else if [early, early.where_empty_more(&known.avg, &before)]
            .iter()
            .any(|early| model::refresh(&self.rules, &known.avg, event, early) == after)
        {
            known.removed = known.removed.without(&early);
            known.emptied = early.may_be_more(&before);
            report.gaps.followed += 1;
            report.gaps.early += 1;
            after
        } else {
            self.found(event, event.first, before, report);
            plain
        };
        self.updated(event, report);
        let fields = compare(after.fields(), expected.fields(), "");
        self.result(event, event.first, fields, report);
        self.adopt(event, event.first, after);
    }

    /// Counts an update and holds the function's result against the tracepoint.
    fn updated(&mut self, event: &PeltEvent, report: &mut PeltReport) {
        report.updated();
        let averaged = event.result != 0;
        report.averages += u64::from(averaged);
        if !self.rules.traced {
            *report
                .not_compared
                .entry("update without tracepoints")
                .or_default() += 1;
        } else if event.flags & flag::NO_TRACE != 0 {
            report.seen_by_half("pelt_se_tp");
        } else {
            report.tracepoint_disagrees += u64::from(averaged != (event.flags & flag::TRACED != 0));
        }
    }

    /// Attach, detach, reweight, first utilization.
    fn move_of(
        &mut self,
        event: &PeltEvent,
        before: [Avg; 2],
        after: [Avg; 2],
        report: &mut PeltReport,
    ) {
        let [entity, queue] = before;
        // An entity of which the last update is 0 was told that it moved.
        let told_to_move = event.op == Op::Attach && entity.last_update_time == 0;
        if told_to_move {
            let known = self.signals.entry(event.first).or_default();
            known.avg.last_update_time = 0;
        }
        self.found(event, event.first, entity, report);
        self.found(event, event.queue, queue, report);
        let expected = match event.op {
            Op::Attach => model::attach(&self.rules, &entity, &queue, event),
            Op::Detach => model::detach(&self.rules, &entity, &queue, event),
            Op::Reweight => model::reweight(&self.rules, &entity, &queue, event),
            _ => model::first(&self.rules, &entity, &queue, event),
        };
        if event.op == Op::First && after[0].last_update_time != entity.last_update_time {
            *report
                .not_compared
                .entry("first utilization of a task of another class")
                .or_default() += 1;
        } else {
            let mut fields = compare(after[0].fields(), expected.0.fields(), "");
            fields.extend(compare(after[1].fields(), expected.1.fields(), "queue's "));
            self.result(event, event.first, fields, report);
        }
        self.adopt(event, event.first, after[0]);
        self.adopt(event, event.queue, after[1]);
    }

    /// `remove_entity_load_avg`; bringing the entity up to date was an event of its own.
    fn remove(
        &mut self,
        event: &PeltEvent,
        [before, after]: [Avg; 2],
        left: Removed,
        report: &mut PeltReport,
    ) {
        if event.flags & flag::NO_BEFORE != 0 {
            report.seen_by_half(event.op.name());
        } else if !self.taken_anew(event.first, after, report) {
            let fields = compare(after.fields(), self.state(event.first, before).fields(), "");
            self.result(event, event.first, fields, report);
        }
        let gone = model::remove(&after, event);
        let queue = self.signals.entry(event.queue).or_default();
        queue.removed = if std::mem::take(&mut queue.emptied) {
            left
        } else {
            queue.removed.with(&gone)
        };
        self.adopt(event, event.first, after);
    }

    /// Only the time of the last update may have changed.
    fn retime(&mut self, event: &PeltEvent, after: Avg, report: &mut PeltReport) {
        if self.taken_anew(event.first, after, report) {
            return self.adopt(event, event.first, after);
        }
        let mut expected = Avg {
            last_update_time: after.last_update_time,
            ..self.state(event.first, after)
        };
        // A task that was in no queue is new, at an address that was another's.
        if event.queue == 0 && expected != after {
            *report
                .not_compared
                .entry("task whose beginning was not seen")
                .or_default() += 1;
            expected = after;
        }
        let mut fields = compare(after.fields(), expected.fields(), "");
        if event.op == Op::Migrate && after.last_update_time != 0 {
            fields.push(("last_update_time".into(), after.last_update_time, 0));
        }
        self.result(event, event.first, fields, report);
        self.adopt(event, event.first, after);
    }

    /// A state of which only a tracepoint tells.
    fn told(&mut self, event: &PeltEvent, after: Avg, report: &mut PeltReport) {
        *report
            .told_by_tracepoint
            .entry(event.op.name())
            .or_default() += 1;
        let known =
            self.signals.contains_key(&event.first) && !self.taken_anew(event.first, after, report);
        if known && matches!(event.op, Op::UnhookedRt | Op::UnhookedDl) {
            // An inlined update: the class either ran or did not.
            let found = self.state(event.first, after);
            let ran = model::update(&found, event.now, [1; 3], 1).0;
            let idle = model::update(&found, event.now, [0; 3], 1).0;
            let expected = if ran == after { ran } else { idle };
            let fields = compare(after.fields(), expected.fields(), "");
            self.result(event, event.first, fields, report);
        }
        self.adopt(event, event.first, after);
    }

    /// The queue's sum of estimates.
    fn queue_estimate(
        &mut self,
        event: &PeltEvent,
        task: Avg,
        after: Avg,
        report: &mut PeltReport,
    ) {
        let known = self
            .signals
            .get(&event.queue)
            .filter(|known| !known.history.is_empty());
        if let Some(known) = known {
            let found = known.avg.est;
            let expected = Avg {
                est: match event.op {
                    Op::EstEnqueue => model::est_enqueue(&self.rules, found, &task),
                    _ => model::est_dequeue(&self.rules, found, &task),
                },
                ..after
            };
            let fields = compare(after.fields(), expected.fields(), "queue's ");
            self.result(event, event.queue, fields, report);
        } else {
            *report
                .not_compared
                .entry("sum of estimates, first seen")
                .or_default() += 1;
        }
        let known = self.signals.entry(event.queue).or_default();
        known.avg.est = after.est;
    }

    /// The task's estimate.
    fn task_estimate(
        &mut self,
        event: &PeltEvent,
        before: Avg,
        after: Avg,
        report: &mut PeltReport,
    ) {
        self.taken_anew(event.first, before, report);
        let stored = event.flags & flag::TRACED != 0;
        // Storing an estimate leaves the averages as they are. One that is not stored
        // was looked at when the dequeue began, or at its end.
        let early = self.rules.params.est_early != 0 && !stored;
        let averages = if early { before } else { after };
        let found = if early {
            before
        } else {
            self.state(event.first, before)
        };
        let made = model::estimate(&self.rules, &found, &averages, event);
        let expected = if early && made == (found.est, found.ewma) {
            after // which the update on the way may have made due
        } else {
            let (est, ewma) = made;
            Avg { est, ewma, ..after }
        };
        let fields = compare(after.fields(), expected.fields(), "");
        self.result(event, event.first, fields, report);
        self.adopt(event, event.first, after);
    }

    fn tick(
        &mut self,
        event: &PeltEvent,
        before: Clocks,
        after: Clocks,
        util_sums: [u32; 3],
        report: &mut PeltReport,
    ) {
        match self.clocks.insert(event.first, after) {
            None => report.gaps.first_seen += 1,
            Some(left) if left == before => report.gaps.followed += 1,
            Some(left) => {
                let fields = compare(before.fields(), left.fields(), "");
                self.unseen(event, event.first, "clocks", fields, report);
            }
        }
        let idle = event.op == Op::Idle;
        let expected = model::clocks(&before, event, after.clock_task, util_sums, idle);
        let fields = compare(after.fields(), expected.fields(), "");
        self.result(event, event.first, fields, report);
        self.remember(event, event.first);
    }

    /// The state that events so far left, or `otherwise` if there were none.
    fn state(&self, address: u64, otherwise: Avg) -> Avg {
        let known = self
            .signals
            .get(&address)
            .filter(|known| !known.history.is_empty());
        known.map_or(otherwise, |known| known.avg)
    }

    /// Was what is known lost? Then this is, from now on.
    fn taken_anew(&mut self, address: u64, found: Avg, report: &mut PeltReport) -> bool {
        let known = self.signals.entry(address).or_default();
        if !known.lost {
            return false;
        }
        known.lost = false;
        known.avg = found;
        report.gaps.taken_anew += 1;
        true
    }

    /// Holds the state that an event found against the one that is known.
    fn found(&mut self, event: &PeltEvent, address: u64, found: Avg, report: &mut PeltReport) {
        if self.taken_anew(address, found, report) {
            return;
        }
        let of_queue = address == event.queue || event.op == Op::Cfs;
        let untold = of_queue && !self.rules.traced;
        let known = self.signals.entry(address).or_default();
        if untold && known.avg != found {
            *report
                .not_compared
                .entry("state of a queue, without tracepoints")
                .or_default() += 1;
        } else if known.history.is_empty() {
            report.gaps.first_seen += 1;
        } else if known.avg == found {
            report.gaps.followed += 1;
        } else {
            let of_queue = address == event.queue;
            let cause = if of_queue && event.flags & flag::ROOT == 0 {
                "a group's queue"
            } else if !of_queue && event.flags & flag::GROUP != 0 {
                "a group's entity"
            } else {
                "not known"
            };
            let fields = compare(found.fields(), known.avg.fields(), "");
            self.unseen(event, address, cause, fields, report);
        }
        self.signals.entry(address).or_default().avg = found;
    }

    fn unseen(
        &mut self,
        event: &PeltEvent,
        address: u64,
        cause: &str,
        fields: Fields,
        report: &mut PeltReport,
    ) {
        let cause = format!("{cause}, found by {}", event.op.name());
        if report
            .gaps
            .unseen
            .get(&cause)
            .is_none_or(|count| *count < 2)
        {
            let function = format!("before {}", event.op.name());
            report
                .differences
                .push(self.difference(event, address, function, fields));
        }
        *report.gaps.unseen.entry(cause).or_default() += 1;
    }

    fn result(&mut self, event: &PeltEvent, address: u64, fields: Fields, report: &mut PeltReport) {
        let function = event.op.name();
        report.count(function, fields.is_empty());
        if !fields.is_empty() && report.wants(function) {
            let difference = self.difference(event, address, function.into(), fields);
            report.differences.push(difference);
        }
    }

    fn difference(
        &self,
        event: &PeltEvent,
        address: u64,
        function: String,
        fields: Fields,
    ) -> Difference {
        let history = self.signals.get(&address).map(|known| {
            known
                .history
                .iter()
                .map(|(record, event)| format!("record {record}: {event:?}"))
                .collect()
        });
        Difference {
            record: self.record,
            function,
            cpu: event.cpu,
            pid: event.pid,
            fields,
            given: format!("{event:?}"),
            history: history.unwrap_or_default(),
        }
    }

    /// From here on the kernel's state is the known one.
    fn adopt(&mut self, event: &PeltEvent, address: u64, after: Avg) {
        let known = self.signals.entry(address).or_default();
        known.avg = after;
        known.lost = false;
        self.remember(event, address);
    }

    fn remember(&mut self, event: &PeltEvent, address: u64) {
        let record = self.record;
        let history = &mut self.signals.entry(address).or_default().history;
        if history.len() == HISTORY {
            history.pop_front();
        }
        history.push_back((record, *event));
    }
}
