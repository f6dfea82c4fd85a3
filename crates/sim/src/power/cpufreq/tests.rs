// SPDX-License-Identifier: GPL-2.0-only
//! Governors of cpufreq: operating points, holds, limits, and the steps of a change.

use super::*;
use crate::dispatch::Sim;
use crate::power::cpuidle::tests::at_boot;
use crate::testbed::{Record, begin_under, task, workload};
use alight_workload::program::Op;

const MS: u64 = 1_000_000;

/// Operating points of Juno's Cortex-A53.
fn opps() -> Vec<Opp> {
    [450, 575, 700, 775, 850]
        .map(|mhz| Opp {
            khz: mhz * 1000,
            capacity: 0,
            core_power_uw: 0,
            em_power_uw: 0,
            cluster_power_uw: 0,
        })
        .into()
}

fn sugov(freq_update_delay_ns: u64) -> Sugov {
    Sugov::new(freq_update_delay_ns, (0..5).collect())
}

#[test]
fn the_lowest_clock_that_is_high_enough() {
    for (raw, mhz) in [
        (1, 450),
        (447_900, 450),
        (450_200, 575),
        (850_000, 850),
        (850_500, 850), // the top is the limit
    ] {
        assert_eq!(sugov(0).next(raw, &opps(), None), mhz * 1000, "{raw} kHz");
    }
}

#[test]
fn a_clock_that_saves_nothing_is_passed_over() {
    // 700 MHz needs as much energy for the same work as 775 MHz.
    let powers = [100_000, 140_000, 200_000, 221_000, 260_000];
    let opps: Vec<Opp> = (opps().iter().zip(powers))
        .map(|(opp, core_power_uw)| Opp {
            capacity: 446,
            core_power_uw,
            em_power_uw: core_power_uw,
            ..opp.clone()
        })
        .collect();
    let domain = FreqDomain {
        cpus: [0].into_iter().collect(),
        opps,
        switch_ns: 0,
        fast_switch: false,
        rate_limit_ns: None,
    };
    for (base, mhz) in [("linux-5.5", 700), ("linux-6.1", 775), ("linux-7.2", 775)] {
        let params = alight_policy::Scheduler::parse(base)
            .expect("a base")
            .params;
        let mut sugov = Sugov::new(0, efficient(&domain, &params));
        let khz = sugov.next(600_000, &domain.opps, None);
        assert_eq!(khz, mhz * 1000, "{base}");
    }
}

#[test]
fn a_busy_cpu_alone_on_its_clock_is_not_slowed_down() {
    for (rule, remembered) in [
        (Hold::Forgets, 0),
        (Hold::Restores, 600_000),
        (Hold::RestoresAlways, 600_000),
    ] {
        let opps = opps();
        let mut sugov = sugov(0);
        let khz = sugov.next(600_000, &opps, None);
        assert!(sugov.commit(0, khz));
        assert_eq!(sugov.next(200_000, &opps, Some(rule)), khz, "held");
        assert_eq!(sugov.cached_raw_freq, remembered, "{rule:?}");
        let up = sugov.next(800_000, &opps, Some(rule));
        assert_eq!(up, 850_000, "up is free");
        let down = sugov.next(200_000, &opps, None);
        assert_eq!(down, 450_000, "not remembered as decided");
    }
}

/// sugov_update_single() of 5.10.262 and 5.15.215: `need_freq_update` does not end a hold.
#[test]
fn a_new_limit_ends_a_hold_but_in_5_10_and_5_15() {
    for (rule, mhz) in [
        (Hold::Forgets, 450),
        (Hold::Restores, 450),
        (Hold::RestoresAlways, 700),
    ] {
        let opps = opps();
        let mut sugov = sugov(0);
        let khz = sugov.next(600_000, &opps, None);
        assert!(sugov.commit(0, khz));
        sugov.limit();
        let khz = sugov.next(600_000, &opps[..1], Some(rule));
        assert_eq!(khz, mhz * 1000, "{rule:?}");
        // The frequency is looked up again once the CPU has been idle.
        sugov.limit();
        assert_eq!(sugov.next(600_000, &opps[..1], None), 450_000, "{rule:?}");
    }
}

/// `uclamp_rq_is_capped`: 6.1 tests it, 5.10.262 and 5.15.215 do not.
#[test]
fn a_hold_heeds_the_upper_clamp_from_6_1_on() {
    for (base, held) in [
        ("linux-5.10", true),
        ("linux-5.15", true),
        ("linux-6.1", false),
    ] {
        let rules = (base, Governor::Schedutil);
        let mut clocks = crate::testbed::machine(1, 1);
        let opp = clocks.freq_domains[0].opps[0].clone();
        clocks.freq_domains[0].opps = vec![
            Opp {
                khz: 500_000,
                capacity: 512,
                ..opp.clone()
            },
            opp,
        ];
        let none = crate::testbed::workload(&[]);
        let mut record = crate::testbed::Record::default();
        crate::testbed::begin_under(rules, &clocks, &none, &mut record, |sim| {
            sim.now = 20 * MS;
            sim.core.cpus[0].cfs.util_avg = 900;
            sim.cpufreq_update(0);
            sim.now += 20 * MS;
            sim.core.root.uclamp_used = 1;
            (sim.core.cpus[0].uclamp_max, sim.core.cpus[0].uclamp_idle) = (200, 0);
            sim.cpufreq_update(0);
            let low = sim.freq[0].sugov.next_freq == 500_000;
            assert_eq!(low, !held, "{base}");
            sim.core.cpus[0].cfs.util_avg = 0;
            (sim.core.cpus[0].uclamp_max, sim.core.cpus[0].uclamp_idle) = (1024, 1);
        });
    }
}

#[test]
fn busy_means_no_idle_call_since_the_last_update() {
    let mut sugov = sugov(0);
    let answers: Vec<bool> = [1, 1, 2, 2, 2, 5]
        .map(|calls| sugov.still_busy(calls))
        .into();
    assert_eq!(answers, [false, true, false, true, true, false]);
}

#[test]
fn changes_keep_their_distance() {
    let mut sugov = sugov(10 * MS);
    assert!(sugov.due(0), "the first is free");
    assert!(sugov.commit(0, 700_000));
    assert!(!sugov.due(10 * MS - 1));
    assert!(sugov.due(10 * MS));
    assert!(!sugov.commit(10 * MS, 700_000), "no change");
    assert!(sugov.due(10 * MS), "no change counts for nothing");
}

#[test]
fn the_rate_limit_comes_from_the_driver() {
    let domain = |rate_limit_ns, switch_ns| FreqDomain {
        cpus: [0].into_iter().collect(),
        opps: opps(),
        switch_ns,
        fast_switch: false,
        rate_limit_ns,
    };
    use RateLimit::{HalfAsMuchAgain, Thousandfold};
    for (rule, stated, switch_ns, expected, what) in [
        (Thousandfold, Some(500_000), 5000, 500_000, "as stated"),
        (HalfAsMuchAgain, Some(500_000), 5000, 500_000, "as stated"),
        (Thousandfold, None, 0, MS, "unknown latency"),
        (HalfAsMuchAgain, None, 0, MS, "unknown latency"),
        (Thousandfold, None, 5000, 5 * MS, "a thousand times 5 us"),
        (
            Thousandfold,
            None,
            1_200_000,
            10 * MS,
            "but not above 10 ms",
        ),
        (HalfAsMuchAgain, None, 5000, 7000, "5 us and 2"),
        (
            HalfAsMuchAgain,
            None,
            500_000,
            750_000,
            "half as much again",
        ),
    ] {
        let found = rate_limit_ns(&domain(stated, switch_ns), rule);
        assert_eq!(found, expected, "{rule:?}: {what}");
    }
}

#[test]
fn governors_start_where_they_should() {
    for (governor, khz, rate, scale) in [
        (Governor::Performance, 850_000, 446, 1024),
        (Governor::Powersave, 450_000, 236, 542),
        (Governor::Schedutil, 450_000, 236, 542),
        (Governor::Userspace { khz: 700_000 }, 700_000, 367, 843),
        // Between two operating points: the faster one. Above this policy's top but not above all:
        // its top.
        (Governor::Userspace { khz: 700_001 }, 775_000, 406, 933),
        (Governor::Userspace { khz: 1_000_000 }, 850_000, 446, 1024),
    ] {
        at_boot("juno-r0", governor, |sim| {
            assert_eq!(sim.freq[0].opp(sim.machine, 0).khz, khz, "{governor:?}");
            assert_eq!(sim.cpus[0].rate, rate, "{governor:?}");
            assert_eq!(sim.core.cpus[0].freq_scale, scale, "{governor:?}");
        });
    }
}

/// Executes the pending change of `domain`; returns its time.
fn next_event(sim: &mut Sim, domain: usize) -> u64 {
    let (time, first) = sim.freq_queue.first();
    assert_eq!(first, domain, "a change is pending");
    sim.now = time;
    sim.cpufreq_event(domain);
    time
}

#[test]
fn a_thread_changes_the_clock_where_the_driver_sleeps() {
    at_boot("juno-r0", Governor::Schedutil, |sim| {
        let machine = sim.machine;
        let domain = machine.cpus[3].freq_domain;
        sim.now = 20 * MS;
        sim.core.cpus[3].cfs.util_avg = 440;
        sim.cpufreq_update(3);
        assert_eq!(
            sim.freq[domain].opp(machine, domain).khz,
            450_000,
            "not in the hook"
        );
        assert_eq!(next_event(sim, domain), 20 * MS, "the thread runs at once");
        assert_eq!(
            sim.freq[domain].opp(machine, domain).khz,
            450_000,
            "the driver sleeps"
        );

        let switch = sim.ns(3, sim.costs(3).switch);
        let done = 20 * MS + switch + machine.freq_domains[domain].switch_ns;
        assert_eq!(next_event(sim, domain), done);
        assert_eq!(sim.freq[domain].opp(machine, domain).khz, 850_000);
        for cpu in machine.freq_domains[domain].cpus.iter() {
            assert_eq!(
                (sim.cpus[cpu].rate, sim.core.cpus[cpu].freq_scale),
                (446, 1024)
            );
        }
        assert_eq!(
            sim.freq[domain].change,
            Change::None,
            "nothing else is pending"
        );
    });
}

#[test]
fn a_change_of_mind_while_the_driver_sleeps_comes_after() {
    at_boot("juno-r0", Governor::Schedutil, |sim| {
        let machine = sim.machine;
        let domain = machine.cpus[3].freq_domain;
        sim.freq[domain].sugov.freq_update_delay_ns = 0;
        sim.now = 20 * MS;
        for (util, wanted) in [(440, 850_000), (10, 450_000)] {
            sim.core.cpus[3].cfs.util_avg = util;
            sim.cpufreq_update(3);
            assert_eq!(sim.freq[domain].sugov.next_freq, wanted);
            if wanted == 850_000 {
                next_event(sim, domain);
            }
        }
        let khz = |sim: &Sim| sim.freq[domain].opp(sim.machine, domain).khz;
        next_event(sim, domain);
        assert_eq!(khz(sim), 850_000, "the first change is on its way");
        next_event(sim, domain);
        next_event(sim, domain);
        assert_eq!(khz(sim), 450_000);
        assert_eq!(sim.stats.freq_changes.seen(), 2);
    });
}

/// A limit that comes while the driver sleeps bounds the pending change, and does not undo it
/// (`sugov_limits`, `work_lock`).
#[test]
fn a_limit_waits_for_the_change_on_its_way() {
    for (highest, khz) in [(4, 850_000), (3, 775_000)] {
        at_boot("juno-r0", Governor::Schedutil, |sim| {
            let machine = sim.machine;
            let domain = machine.cpus[3].freq_domain;
            assert_eq!(machine.freq_domains[domain].opps[highest].khz, khz);
            sim.now = 20 * MS;
            sim.core.cpus[3].cfs.util_avg = 440;
            sim.cpufreq_update(3);
            next_event(sim, domain);
            sim.cpufreq_limit(domain, highest as u32);
            next_event(sim, domain);
            assert_eq!(sim.freq[domain].opp(machine, domain).khz, khz);
            assert_eq!(sim.freq[domain].change, Change::None);
        });
    }
}

#[test]
fn a_fast_switch_needs_no_thread() {
    at_boot("sdm845", Governor::Schedutil, |sim| {
        let machine = sim.machine;
        let domain = machine.cpus[0].freq_domain;
        sim.now = 20 * MS;
        sim.core.cpus[0].cfs.util_avg = machine.cpus[0].capacity_orig;
        sim.cpufreq_update(0);
        let done = next_event(sim, domain);
        assert_eq!(done, 20 * MS + machine.freq_domains[domain].switch_ns);
        assert_eq!(sim.core.cpus[0].freq_scale, 1024);
        assert_eq!(sim.freq[domain].change, Change::None);
    });
}

#[test]
fn the_thread_takes_two_switches_from_a_running_task() {
    at_boot("juno-r0", Governor::Schedutil, |sim| {
        let domain = sim.machine.cpus[3].freq_domain;
        // CPU 4 runs a task; the queue of CPU 3, which idles, wants more.
        (sim.cpus[4].phase, sim.cpus[4].curr) = (Phase::Running, 0);
        sim.now = 20 * MS;
        sim.cpus[4].segment_start = sim.now;
        sim.core.cpus[3].cfs.util_avg = 440;
        sim.cpufreq_update(3);
        next_event(sim, domain);
        assert_eq!(sim.cpus[4].steal, sim.ns(4, 2 * sim.costs(4).switch));
        assert_eq!(sim.cpus[3].steal, 0);
    });
}

#[test]
fn fixed_governors_never_ask_for_a_change() {
    for governor in [
        Governor::Performance,
        Governor::Powersave,
        Governor::Userspace { khz: 700_000 },
    ] {
        at_boot("juno-r0", governor, |sim| {
            sim.now = 20 * MS;
            for util in [0, 446] {
                sim.core.cpus[3].cfs.util_avg = util;
                sim.cpufreq_update(3);
            }
            assert!(
                sim.freq.iter().all(|f| f.change == Change::None),
                "{governor:?}"
            );
        });
    }
}

/// enqueue_task() of 6.12 counts a task's clamps after the class's enqueue, which requests a
/// frequency. Before 6.12, and from 6.17 on, they are counted before it.
#[test]
fn a_clamp_comes_too_late_for_the_wakeup_in_6_12() {
    let machine = Machine::load("juno-r0").expect("it is built in");
    let domain = machine.cpus[3].freq_domain;
    let mut clamped = task(20 * MS, &[Op::Run { ns: 50 * MS }]).on(&[3]);
    clamped.attributes.uclamp_min = Some(1024);
    for (base, at_once) in [
        ("linux-6.6", true),
        ("linux-6.8", true),
        ("linux-6.12", false),
        ("linux-6.18", true),
        ("linux-7.2", true),
    ] {
        let rules = (base, Governor::Schedutil);
        let given = workload(&[clamped.clone()]);
        begin_under(rules, &machine, &given, &mut Record::default(), |sim| {
            let wanted = |sim: &Sim| sim.freq[domain].sugov.next_freq;
            let mut at = 20 * MS;
            while sim.core.cpus[3].uclamp_min != 1024 {
                at += 10_000;
                assert!(at < 30 * MS, "{base}: it wakes");
                sim.until(at);
            }
            assert_eq!(wanted(sim) == 850_000, at_once, "{base}: {}", wanted(sim));
            sim.until(40 * MS);
            assert_eq!(wanted(sim), 850_000, "{base}: at the tick");
        });
    }
}
