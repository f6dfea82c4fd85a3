// SPDX-License-Identifier: GPL-2.0-only
//! Events are read from where C has their fields.

use super::*;
use alight_policy::mirror::check;
use alight_policy::samples::{Written, judge};
use std::path::{Path, PathBuf};

const HEADERS: [&str; 2] = ["policy/abi.h", "crates/live/src/bpf/record_pelt.h"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

type Values = Vec<(String, u64)>;

/// Each field is named: there is no `..`. `of`: where in a structure of C.
fn avg(of: &str, avg: &Avg) -> Values {
    let Avg {
        last_update_time,
        load_sum,
        runnable_sum,
        util_sum,
        period_contrib,
        load_avg,
        runnable_avg,
        util_avg,
        est,
        ewma,
    } = *avg;
    let values = [
        ("last_update_time", last_update_time),
        ("load_sum", load_sum),
        ("runnable_sum", runnable_sum),
        ("util_sum", util_sum.into()),
        ("period_contrib", period_contrib.into()),
        ("load_avg", load_avg),
        ("runnable_avg", runnable_avg),
        ("util_avg", util_avg.into()),
        ("est", est.into()),
        ("ewma", ewma.into()),
    ];
    values
        .map(|(name, value)| (format!("{of}.{name}"), value))
        .into()
}

fn clocks(of: &str, clocks: &Clocks) -> Values {
    let Clocks {
        clock,
        clock_task,
        clock_pelt,
        lost_idle_time,
    } = *clocks;
    let values = [
        ("clock", clock),
        ("clock_task", clock_task),
        ("clock_pelt", clock_pelt),
        ("lost_idle_time", lost_idle_time),
    ];
    values
        .map(|(name, value)| (format!("{of}.{name}"), value))
        .into()
}

fn values(event: &PeltEvent) -> Values {
    let PeltEvent {
        op: _,
        flags,
        cpu,
        pid,
        first,
        queue,
        now,
        load,
        runnable,
        running,
        result,
        capacity,
        freq,
        body,
    } = *event;
    let head = [
        ("e.flags", flags.into()),
        ("e.cpu", cpu.into()),
        ("e.pid", pid.into()),
        ("e.first", first),
        ("e.queue", queue),
        ("e.now", now),
        ("e.load", load),
        ("e.runnable", runnable),
        ("e.running", running.into()),
        ("e.result", (result as u32).into()),
        ("e.capacity", capacity.into()),
        ("e.freq", freq.into()),
    ];
    let mut all: Values = head.map(|(name, value)| (name.to_owned(), value)).into();
    match body {
        Body::One {
            before,
            after,
            removed,
        } => {
            let Removed {
                nr,
                load,
                util,
                runnable,
            } = removed;
            all.extend(avg("before", &before));
            all.extend(avg("after", &after));
            let removed = [
                ("removed_nr", nr),
                ("removed_load", load),
                ("removed_util", util),
                ("removed_runnable", runnable),
            ];
            all.extend(removed.map(|(name, value)| (name.to_owned(), value as u64)));
        }
        Body::Two {
            before,
            after,
            queue_before,
            queue_after,
        } => {
            all.extend(avg("before", &before));
            all.extend(avg("after", &after));
            all.extend(avg("queue_before", &queue_before));
            all.extend(avg("queue_after", &queue_after));
        }
        Body::Tick {
            before,
            after,
            util_sums: [cfs, rt, dl],
        } => {
            all.extend(clocks("before", &before));
            all.extend(clocks("after", &after));
            let sums = [
                ("cfs_util_sum", cfs),
                ("rt_util_sum", rt),
                ("dl_util_sum", dl),
            ];
            all.extend(sums.map(|(name, value)| (name.to_owned(), value.into())));
        }
    }
    all
}

#[test]
fn each_field_is_read_from_where_c_has_it() {
    let one = Body::One {
        before: Avg::default(),
        after: Avg::default(),
        removed: Removed::default(),
    };
    let two = Body::Two {
        before: Avg::default(),
        after: Avg::default(),
        queue_before: Avg::default(),
        queue_after: Avg::default(),
    };
    let tick = Body::Tick {
        before: Clocks::default(),
        after: Clocks::default(),
        util_sums: [0; 3],
    };
    let cases: [(&str, Op, Body, &[&str]); 3] = [
        (
            "struct pelt_one",
            Op::Se,
            one,
            &["before.unused", "after.unused", "unused"],
        ),
        (
            "struct pelt_two",
            Op::Attach,
            two,
            &[
                "before.unused",
                "after.unused",
                "queue_before.unused",
                "queue_after.unused",
            ],
        ),
        ("struct pelt_tick", Op::Clock, tick, &["unused"]),
    ];
    for (c_name, op, body, unread) in cases {
        let event = PeltEvent {
            op,
            flags: 0,
            cpu: 0,
            pid: 0,
            first: 0,
            queue: 0,
            now: 0,
            load: 0,
            runnable: 0,
            running: 0,
            result: 0,
            capacity: 0,
            freq: 0,
            body,
        };
        let names = values(&event);
        let fields: Vec<&str> = names.iter().map(|(name, _)| &name[..]).collect();
        let written = Written {
            includes: &HEADERS,
            c_name,
            fields: &fields,
            fixed: &[("e.op", op as u64)],
            unread,
            value: u64::MAX,
        };
        for sample in written.samples(&root()).unwrap() {
            let event = PeltEvent::parse(&sample.bytes).unwrap();
            assert_eq!(event.op, op);
            judge(&sample, &values(&event)).unwrap_or_else(|why| panic!("{c_name}: {why}"));
        }
    }
}

#[test]
fn operations_have_the_numbers_of_c() {
    let names = [
        "SE",
        "BLOCKED",
        "CFS",
        "RT",
        "DL",
        "HW",
        "ATTACH",
        "DETACH",
        "REWEIGHT",
        "REMOVE",
        "INIT",
        "FIRST",
        "MIGRATE",
        "RETIME",
        "UNHOOKED_SE",
        "UNHOOKED_CFS",
        "UNHOOKED_RT",
        "UNHOOKED_DL",
        "UNHOOKED_HW",
        "EST_SE",
        "EST_ENQUEUE",
        "EST_DEQUEUE",
        "CLOCK",
        "IDLE",
    ];
    let spelt = |op: &Op| match op {
        Op::EstTask => "EST_SE".to_owned(),
        op => format!("{op:?}"),
    };
    for (op, name) in OPS.iter().zip(names) {
        assert_eq!(
            spelt(op).replace('_', "").to_uppercase(),
            name.replace('_', "")
        );
    }
    let constants: Vec<_> = (names.map(|name| format!("PELT_{name}")).into_iter())
        .zip(0..)
        .collect();
    check(&root(), &HEADERS, &[], &constants).unwrap();
}
