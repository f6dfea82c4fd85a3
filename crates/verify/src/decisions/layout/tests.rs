// SPDX-License-Identifier: GPL-2.0-only
//! Recorded wakeups are read from where C has their fields; what cannot be one is refused.

use super::*;
use alight_policy::mirror::check;
use alight_policy::samples::{Written, judge};
use std::path::{Path, PathBuf};

const HEAD_WORDS: usize = 9 + 2 * TASK_WORDS + 2;

/// The words of a wakeup of `nr` CPUs whose fields are 0, but for its head.
pub fn words(nr: u32, head: &[(usize, u64)]) -> Vec<u64> {
    let mut words = vec![0; HEAD_WORDS + nr as usize * CPU_WORDS];
    words[7] = nr.into();
    for (at, word) in head {
        words[*at] = *word;
    }
    words
}

fn pair(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

#[test]
fn fields_stand_where_the_recorder_puts_them() {
    let mut words = words(
        3,
        &[
            (0, 5_000),
            (1, 77),
            (2, pair(1, 2)),
            (3, pair(2, 0x18)),
            (4, pair(0, flag::SAME_WAKEE)),
            (5, 0b111),
            (6, 0b10),
            (7, pair(3, 8)),
            (8, pair(0x0001_0000, flag::OVERUTILIZED | 1 << 16)),
        ],
    );
    words[9] = 123; // the wakee's last update
    words[9 + 8] = pair(4, 42); // its flips and number
    words[9 + 12] = 10 | 900 << 16 | 1 << 32; // its clamps, active
    words[9 + TASK_WORDS + 3] = pair(7, 8); // sum and part of the waker
    let cpu = HEAD_WORDS + CPU_WORDS; // the second CPU
    words[cpu] = 0x0001_0101 | 4 << 32 | 3 << 48;
    words[cpu + 1] = 2 | 1 << 16 | 9 << 32 | 6 << 48;
    words[cpu + 7] = 1024 << 16 | u64::from(u32::MAX) << 32;
    words[cpu + 9] = 5 | 1 << 16;
    words.extend([0; CPU_WORDS]); // the second CPU at the exit
    words[HEAD_WORDS + 3 * CPU_WORDS] = 1 << 32; // one task
    let wakeup = Wakeup::read(&words, Layout::Budget).unwrap();
    assert_eq!((wakeup.clock, wakeup.jiffies), (5_000, 77));
    assert_eq!(
        (wakeup.this_cpu, wakeup.prev_cpu, wakeup.task_cpu),
        (1, 2, 2)
    );
    assert_eq!((wakeup.wake_flags, wakeup.answer), (0x18, 0));
    assert_eq!((wakeup.allowed, wakeup.changed), (0b111, 0b10));
    assert_eq!((wakeup.llc_size, wakeup.preempt_count), (8, 0x0001_0000));
    assert_eq!((wakeup.wakee.last_update_time, wakeup.wakee.pid), (123, 42));
    assert_eq!(
        (wakeup.wakee.uclamp_min, wakeup.wakee.uclamp_max),
        (10, 900)
    );
    assert_eq!((wakeup.waker.util_sum, wakeup.waker.period_contrib), (7, 8));
    let second = wakeup.cpus[1];
    assert!(second.curr_is_idle && second.ttwu_pending && second.online);
    assert_eq!((second.nr_running, second.h_nr_queued), (4, 3));
    assert_eq!((second.h_nr_runnable, second.h_nr_idle), (2, 1));
    assert_eq!((second.rt_nr_running, second.nr_idle_scan), (9, 6));
    assert_eq!((second.uclamp_max, second.exit_latency), (1024, u32::MAX));
    assert_eq!((second.asym_idle_scan, second.has_idle_cores), (5, true));
    assert_eq!(
        (wakeup.exit_flags, wakeup.exit_ticks),
        (flag::OVERUTILIZED, 1)
    );
    let exits: Vec<_> = wakeup.exits.iter().map(|cpu| cpu.nr_running).collect();
    assert_eq!(exits, [1]);
    assert!(wakeup.domains.is_empty());
}

const HEADERS: [&str; 2] = ["policy/abi.h", "crates/live/src/bpf/record_decisions.h"];

/// Names and values of fields.
type Values = Vec<(String, u64)>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Names and values of the fields of a structure. Each is named: there is no `..`.
macro_rules! fields {
    ($of:expr, $type:ident { $($field:ident),+ $(,)? }) => {{
        let $type { $($field),+ } = $of;
        vec![$((stringify!($field).to_owned(), u64::from($field))),+]
    }};
}

fn of_task(task: TaskState) -> Values {
    fields!(
        task,
        TaskState {
            last_update_time,
            load_sum,
            runnable_sum,
            util_sum,
            period_contrib,
            load_avg,
            runnable_avg,
            util_avg,
            util_est,
            util_est_ewma,
            weight,
            flip_decay,
            wakee_flips,
            pid,
            recent_used_cpu,
            nr_cpus_allowed,
            policy,
            flags,
            on_rq,
            depth,
            uclamp_min,
            uclamp_max,
            uclamp_active,
            queue_last_update,
            queue_load_avg,
            h_load,
            h_load_stamp,
        }
    )
}

fn of_cpu(cpu: CpuState) -> Values {
    fields!(
        cpu,
        CpuState {
            curr_is_idle,
            ttwu_pending,
            online,
            uclamp_idle,
            nr_running,
            h_nr_queued,
            h_nr_runnable,
            h_nr_idle,
            rt_nr_running,
            nr_idle_scan,
            load_avg,
            runnable_avg,
            util_avg,
            util_est,
            last_update_time,
            capacity,
            capacity_orig,
            rt_util,
            dl_util,
            hw_load_avg,
            hw_pressure,
            cpufreq_pressure,
            dl_bandwidth,
            uclamp_min,
            uclamp_max,
            exit_latency,
            idle_stamp,
            asym_idle_scan,
            has_idle_cores,
        }
    )
}

fn of_domain(domain: DomainState) -> Values {
    fields!(
        domain,
        DomainState {
            span,
            group_span,
            flags,
            weight,
            imbalance_pct,
            imb_numa_nr,
            group_weight,
            group_flags,
            capacity,
            min_capacity,
            max_capacity,
            imbalance,
        }
    )
}

/// The head alone. What comes after it is no field of the structure.
fn of_head(wakeup: &Wakeup) -> Values {
    let Wakeup {
        clock,
        jiffies,
        this_cpu,
        prev_cpu,
        task_cpu,
        wake_flags,
        answer,
        flags,
        allowed,
        changed,
        exit_flags,
        exit_ticks,
        llc_size,
        preempt_count,
        wakee,
        waker,
        avg_idle,
        avg_scan_cost,
        cpus: _,
        exits: _,
        domains: _,
    } = wakeup;
    assert_eq!(
        (wakee, waker),
        (&TaskState::default(), &TaskState::default())
    );
    macro_rules! named {
        ($($field:ident)*) => {
            vec![$((stringify!($field).to_owned(), u64::from(*$field))),*]
        };
    }
    named!(clock jiffies this_cpu prev_cpu task_cpu wake_flags answer flags allowed changed
           exit_flags exit_ticks llc_size preempt_count avg_idle avg_scan_cost)
}

fn words_of(bytes: &[u8]) -> Vec<u64> {
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
    bytes.chunks_exact(8).map(word).collect()
}

#[test]
fn each_field_is_read_from_where_c_has_it() {
    type Read = fn(&mut Fields<'_>) -> Values;
    type Case = (&'static str, Values, &'static [&'static str], usize, Read);
    let structures: [Case; 3] = [
        (
            "struct wakeup_task",
            of_task(TaskState::default()),
            &["unused"],
            TASK_WORDS,
            |from| of_task(from.task()),
        ),
        (
            "struct wakeup_cpu",
            of_cpu(CpuState::default()),
            &["unused"],
            CPU_WORDS,
            |from| of_cpu(from.cpu()),
        ),
        (
            "struct wakeup_domain",
            of_domain(DomainState::default()),
            &[],
            DOMAIN_WORDS,
            |from| of_domain(from.domain()),
        ),
    ];
    for (c_name, named, unread, size, read) in structures {
        let fields: Vec<&str> = named.iter().map(|(name, _)| &name[..]).collect();
        let written = Written {
            includes: &HEADERS,
            c_name,
            fields: &fields,
            fixed: &[],
            unread,
            value: u64::MAX,
        };
        for sample in written.samples(&root()).unwrap() {
            let words = words_of(&sample.bytes);
            let mut from = Fields {
                words: &words,
                at: 0,
            };
            let read = read(&mut from);
            assert_eq!((words.len(), from.at), (size, 8 * size), "{c_name}");
            judge(&sample, &read).unwrap_or_else(|why| panic!("{c_name}: {why}"));
        }
    }
}

/// The same of what comes first, where nearly every value has consequences: each field is 1.
#[test]
fn so_is_each_field_of_the_head() {
    let fields = [
        "clock",
        "jiffies",
        "this_cpu",
        "prev_cpu",
        "task_cpu",
        "wake_flags",
        "answer",
        "allowed",
        "llc_size",
        "preempt_count",
        "exit_flags",
        "exit_ticks",
        "avg_idle",
        "avg_scan_cost",
    ];
    let written = Written {
        includes: &HEADERS,
        c_name: "struct wakeup",
        fields: &fields,
        fixed: &[("nr_cpus", 2)],
        unread: &["flags", "changed", "wakee", "waker"],
        value: 1,
    };
    for sample in written.samples(&root()).unwrap() {
        let mut words = words_of(&sample.bytes);
        assert_eq!(words.len(), HEAD_WORDS);
        words.resize(HEAD_WORDS + 2 * CPU_WORDS, 0);
        let read = Wakeup::read(&words, Layout::Budget).unwrap();
        judge(&sample, &of_head(&read)).unwrap();
    }
    // Two have bits that ask for more than the head.
    let same = [("nr_cpus", 2), ("flags", flag::SAME_WAKEE.into())];
    for (fields, fixed, expected) in [
        (["clock"], &same[..], (flag::SAME_WAKEE, 0)),
        (["changed"], &same[..1], (0, 1)),
    ] {
        let unread = match fixed.len() {
            1 => &["clock", "flags"][..],
            _ => &["changed"],
        };
        let others = [
            "jiffies",
            "this_cpu",
            "prev_cpu",
            "task_cpu",
            "wake_flags",
            "answer",
            "allowed",
            "llc_size",
            "preempt_count",
            "exit_flags",
            "exit_ticks",
            "wakee",
            "waker",
            "avg_idle",
            "avg_scan_cost",
        ];
        let unread: Vec<&str> = unread.iter().copied().chain(others).collect();
        let written = Written {
            fields: &fields,
            fixed,
            unread: &unread,
            ..written
        };
        let sample = written.samples(&root()).unwrap().remove(0);
        let mut words = words_of(&sample.bytes);
        words.resize(HEAD_WORDS + (2 + expected.1 as usize) * CPU_WORDS, 0);
        let read = Wakeup::read(&words, Layout::Budget).unwrap();
        assert_eq!((read.flags, read.changed), expected);
    }
}

#[test]
fn constants_are_those_of_c() {
    let constants = [
        ("RECORD_CPUS", MAX_CPUS as u64),
        ("RECORD_LEVELS", LEVELS as u64),
        ("WAKEUP_DOMAINS", flag::DOMAINS.into()),
        ("WAKEUP_SAME_WAKEE", flag::SAME_WAKEE.into()),
        ("WAKEUP_OVERUTILIZED", flag::OVERUTILIZED.into()),
        ("WAKEUP_UCLAMP_USED", flag::UCLAMP_USED.into()),
        ("WAKEUP_ENERGY", flag::ENERGY.into()),
        ("WAKEUP_SMT", flag::SMT.into()),
        ("WAKEUP_ASYM", flag::ASYM.into()),
        ("WAKEUP_CLUSTER", flag::CLUSTER.into()),
    ];
    let constants = constants.map(|(name, value)| (name.to_owned(), value));
    check(&root(), &HEADERS, &[], &constants).unwrap();
}

#[test]
fn domains_end_at_the_first_without_a_span() {
    for layout in [Layout::Entry, Layout::Exit, Layout::Budget] {
        let mut words = words(2, &[(4, pair(0, flag::DOMAINS))]);
        words.resize(layout.domains_at() + MAX_CPUS * LEVELS * DOMAIN_WORDS, 0);
        let second = layout.domains_at() + LEVELS * DOMAIN_WORDS;
        words[second] = 0b11;
        words[second + 3] = pair(117, 0);
        let wakeup = Wakeup::read(&words, layout).unwrap();
        let levels: Vec<_> = wakeup.domains.iter().map(Vec::len).collect();
        assert_eq!(levels, [0, 1]);
        assert_eq!(wakeup.domains[1][0].imbalance_pct, 117);
    }
}

#[test]
fn what_cannot_be_a_wakeup_is_refused() {
    let read = |words: &[u64]| Wakeup::read(words, Layout::Budget);
    let whole = words(2, &[]);
    for length in [0, HEAD_WORDS - 1, whole.len() - 1] {
        let error = read(&whole[..length]).unwrap_err();
        assert!(matches!(error, Malformed::Length { found, .. } if found == length));
    }
    let refused = |head: &[(usize, u64)]| read(&words(2, head)).unwrap_err().to_string();
    assert_eq!(
        refused(&[(2, pair(2, 0))]),
        "a wakeup has a waking CPU 2, expected less than 2"
    );
    assert_eq!(
        refused(&[(4, pair(u32::MAX, 0))]),
        "a wakeup has an answer 4294967295, expected less than 2"
    );
    assert_eq!(
        refused(&[(6, 0b101)]),
        "a wakeup has a changed CPU before 3, expected less than 3"
    );
    assert_eq!(
        refused(&[(7, 65)]),
        "a wakeup has a number of CPUs of 65, expected less than 65"
    );
}
