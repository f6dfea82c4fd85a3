// SPDX-License-Identifier: GPL-2.0-only
//! What a card says of runs whose outcomes are known, and that the standard set can be run.

use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::atomic::{AtomicBool, Ordering};

use alight_sim::Metric;

use super::*;
use crate::fake;

/// What a run gives: how much larger a number is with the feature, of so many thousandths.
type World<'a> = dyn Fn(&Scenario<'_>) -> i64 + Sync + 'a;

fn entries(names: &[&str]) -> Vec<&'static StandardWorkload> {
    let find = |name: &&str| WORKLOADS.iter().find(|entry| entry.name == *name);
    names.iter().map(|name| find(name).unwrap()).collect()
}

fn places(names: &[&str]) -> Vec<Place> {
    let place = |name: &&str| {
        let sheet = alight_machine::load(name).unwrap();
        Place {
            name: (*name).to_owned(),
            trust: sheet.trust(),
            machine: sheet.machine,
        }
    };
    names.iter().map(place).collect()
}

/// Noise of a run, nearly normal, mostly within 200 of 0, that shares nothing with its neighbours.
fn noise(seed: u64, salt: u64) -> i64 {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ salt.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mut draw = || {
        x = (x ^ (x >> 31)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (x >> 33) as i64 % 100 - 50
    };
    draw();
    draw();
    (0..12).map(|_| draw()).sum()
}

/// All numbers of the workload, 1000 in the base.
fn outcome(scenario: &Scenario<'_>, world: &World<'_>) -> Outcome {
    let with = scenario.scheduler.params.features != 0;
    let change = if with { world(scenario) } else { 0 };
    let entry = WORKLOADS.iter().find(|entry| {
        let commands = (entry.commands)(scenario.machine.cpus.len());
        (commands.first()).is_some_and(|command| *command == scenario.workloads[0].name)
    });
    let entry = entry.expect("of the set");
    let judged = entry.judged.iter().map(|(name, _)| *name);
    let metric = |name: &str| Metric {
        name: name.to_owned(),
        unit: "",
        better: None,
        value: (1000 + change) as f64,
    };
    Outcome {
        hash: change.unsigned_abs(),
        results: judged
            .chain(entry.shown.iter().copied())
            .map(metric)
            .collect(),
        energy: vec![],
        mechanism: vec![],
        ..fake::outcome(scenario.seed)
    }
}

fn ask(
    machines: &[&str],
    workloads: &[&str],
    runs: u32,
    world: &World<'_>,
) -> Result<Card, NoCard> {
    let run =
        |scenario: &Scenario<'_>, _: &AtomicBool, _: &dyn Fn(u32)| Ok(outcome(scenario, world));
    let [base, variant] = <[Scheduler; 2]>::try_from(fake::schedulers()).unwrap();
    let ask = CardQuestion {
        base: &base,
        variant: &variant,
        machines: &places(machines),
        workloads: &entries(workloads),
        runs: NonZeroU32::new(runs).unwrap(),
        seed: 1,
        command: "alight card asym-capacity".to_owned(),
    };
    card(&ask, &run, Spread::QUIET, &AtomicBool::new(false))
}

fn verdicts(card: &Card) -> Vec<(&str, LineVerdict)> {
    let name = |(_, line): (_, &'_ Line)| (line.metric.clone(), line.verdict);
    let list: Vec<(String, LineVerdict)> = card.lines().map(name).collect();
    let all = WORKLOADS
        .iter()
        .flat_map(|entry| entry.judged.iter().map(|(name, _)| *name));
    let names: Vec<&str> = all.chain(["cpu_migrations", "energy_j"]).collect();
    (list.into_iter())
        .map(|(name, verdict)| (*names.iter().find(|n| **n == name).unwrap(), verdict))
        .collect()
}

#[test]
fn a_difference_is_a_harm_or_a_help_by_the_direction_of_its_number() {
    use LineVerdict::*;
    struct Case {
        why: &'static str,
        change: fn(u64) -> i64,
        /// Of `ping_loops` (higher is better), the two delays (lower), migrations and energy.
        says: [LineVerdict; 5],
    }
    let cases = [
        Case {
            why: "a tenth more, steadily",
            change: |seed| 100 + noise(seed, 0) / 100,
            says: [Help, Harm, Harm, Shift, Shift],
        },
        Case {
            why: "a tenth less",
            change: |seed| -100 + noise(seed, 0) / 100,
            says: [Harm, Help, Help, Shift, Shift],
        },
        Case {
            why: "as certain, but under 1 %",
            change: |seed| 5 + noise(seed, 0) / 500,
            says: [Small; 5],
        },
        Case {
            why: "nothing but noise",
            change: |seed| noise(seed, 0),
            says: [None; 5],
        },
    ];
    for case in cases {
        let card = ask(&["juno-r0"], &["futex"], 10, &|s| (case.change)(s.seed)).unwrap();
        let found: Vec<LineVerdict> = verdicts(&card).into_iter().map(|(_, v)| v).collect();
        assert_eq!(found, case.says, "{}", case.why);
    }
}

/// The card that called 12 ns that became 160 ns in every run a harm of +689.8 % with p = 0: what the
/// seeds do not move is one sample, and less than a microsecond of latency harms nobody.
#[test]
fn one_sample_is_no_proof_and_a_crumb_no_harm() {
    use LineVerdict::{Harm, NoSpread, TooSmall};
    struct Case {
        why: &'static str,
        /// Without the feature and with it, us.
        values: fn(u64) -> (f64, f64),
        verdict: LineVerdict,
        no_interval: Option<&'static str>,
        says: &'static str,
    }
    let cases = [
        Case {
            why: "12 ns and 160 ns in every run",
            values: |_| (0.012, 0.160),
            verdict: TooSmall,
            no_interval: Some("same_in_every_run"),
            says: "too small to matter: 12 ns -> 160 ns",
        },
        Case {
            why: "about as much in each run",
            values: |seed| (0.012, 0.160 + noise(seed, 3) as f64 / 1e6),
            verdict: TooSmall,
            no_interval: None,
            says: "too small to matter: 12 ns -> 1",
        },
        Case {
            why: "12 us and 160 us in every run",
            values: |_| (12.0, 160.0),
            verdict: NoSpread,
            no_interval: Some("same_in_every_run"),
            says: "the same in every run: no spread to judge by",
        },
        Case {
            why: "about as much in each run",
            values: |seed| (12.0, 160.0 + noise(seed, 3) as f64 / 1e6),
            verdict: Harm,
            no_interval: None,
            says: "[+1233.",
        },
        Case {
            why: "nothing becomes a millisecond",
            values: |seed| (0.0, 1000.0 + noise(seed, 3) as f64 / 1e6),
            verdict: Harm,
            no_interval: None,
            says: "to 1000",
        },
        Case {
            why: "nothing becomes some nanoseconds",
            values: |seed| (0.0, 0.010 + noise(seed, 3) as f64 / 1e9),
            verdict: TooSmall,
            no_interval: None,
            says: "too small to matter: 0 ns -> 10",
        },
    ];
    for case in cases {
        let [base, variant] = <[Scheduler; 2]>::try_from(fake::schedulers()).unwrap();
        let ask = CardQuestion {
            base: &base,
            variant: &variant,
            machines: &places(&["juno-r0"]),
            workloads: &entries(&["futex"]),
            runs: NonZeroU32::new(5).unwrap(),
            seed: 1,
            command: String::new(),
        };
        let run = |scenario: &Scenario<'_>, _: &AtomicBool, _: &dyn Fn(u32)| {
            let (without, with) = (case.values)(scenario.seed);
            let value = match scenario.scheduler.params.features {
                0 => without,
                _ => with,
            };
            Ok(Outcome {
                hash: value.to_bits(),
                results: vec![fake::metric("run_delay_mean_us", "us", None, value)],
                energy: vec![],
                mechanism: vec![],
                ..fake::outcome(scenario.seed)
            })
        };
        let card = card(&ask, &run, Spread::QUIET, &AtomicBool::new(false)).unwrap();
        let [(_, line)] = card.lines().collect::<Vec<_>>()[..] else {
            panic!("one number");
        };
        assert_eq!(line.verdict, case.verdict, "{}", case.why);
        for style in [Style::Table, Style::Markdown] {
            let text = render(&card, style, Extent::Full);
            assert!(text.contains(case.says), "{}: {text}", case.why);
        }
        let json: serde_json::Value =
            serde_json::from_str(&render(&card, Style::Json, Extent::Full)).unwrap();
        let number = &json["cells"][0]["metrics"]["run_delay_mean_us"];
        assert_eq!(
            number["no_interval"].as_str(),
            case.no_interval,
            "{}",
            case.why
        );
        for absent in ["p", "p_adjusted", "ci_low", "ci_high"] {
            // Of nothing there is no percentage, nor ends of one.
            let expected = case.no_interval.is_none()
                && (absent.starts_with('p') || number["base_mean"] != 0.0);
            assert_eq!(
                number[absent].is_number(),
                expected,
                "{}: {absent}",
                case.why
            );
        }
        assert_eq!(number["floor"], 1.0);
    }
}

/// 500 numbers of pure noise: some twenty-five intervals exclude zero, and none is listed.
#[test]
fn what_is_chance_among_many_is_not_listed() {
    let all: Vec<&str> = WORKLOADS.iter().map(|entry| entry.name).collect();
    let boards = ["juno-r0", "juno-r2", "tc2", "sdm845", "rk3588", "gs101"];
    let salt = |s: &Scenario<'_>| {
        let text = format!("{} {}", s.machine.name, s.workloads[0].name);
        text.bytes().fold(7u64, |sum, byte| {
            sum.wrapping_mul(0x0100_0000_01b3) ^ u64::from(byte)
        })
    };
    let card = ask(&boards, &all, 10, &|s| noise(s.seed, salt(s))).unwrap();
    assert!(card.dropped() > 5, "{} of {}", card.dropped(), card.tests());
    for verdict in [
        LineVerdict::Harm,
        LineVerdict::Help,
        LineVerdict::Shift,
        LineVerdict::Small,
    ] {
        assert_eq!(card.of(verdict).len(), 0, "{verdict:?}");
    }
    // And a true effect in one cell is found among them.
    let card = ask(&boards, &all, 10, &|s| match s.machine.name.as_str() {
        "tc2" if s.workloads[0].name.starts_with("perf") => 300 + noise(s.seed, 1) / 10,
        _ => noise(s.seed, salt(s)),
    });
    let card = card.unwrap();
    let harms: Vec<&str> = (card.of(LineVerdict::Harm).iter())
        .map(|(cell, line)| {
            assert_eq!((cell.machine.as_str(), cell.workload), ("tc2", "pipe"));
            line.metric.as_str()
        })
        .collect();
    assert_eq!(
        harms,
        [
            "elapsed_s",
            "run_delay_p99_us",
            "run_delay_mean_us",
            "energy_j"
        ]
    );
}

#[test]
fn identical_runs_are_told_apart_from_runs_without_a_measurable_difference() {
    let world = |s: &Scenario<'_>| match s.workloads[0].name.starts_with("perf") {
        true => 0,
        false => noise(s.seed, 0),
    };
    let card = ask(&["juno-r0"], &["pipe", "futex"], 5, &world).unwrap();
    let why = "it could act, but every choice was the base's";
    assert_eq!(card.cells[0].fate, Fate::Identical(why.to_owned()));
    assert!(matches!(card.cells[1].fate, Fate::Differs(_)));
    assert_eq!(card.of(LineVerdict::None).len(), 5);
}

#[test]
fn one_run_proves_nothing_and_says_so() {
    let card = ask(&["juno-r0"], &["futex"], 1, &|_| 500).unwrap();
    assert_eq!(card.tests(), 0);
    assert_eq!(card.of(LineVerdict::Harm), []);
    assert!(render(&card, Style::Table, Extent::Full).contains("use --runs 2 or more"));
}

#[test]
fn machines_that_lack_what_the_feature_needs_are_named_and_not_run() {
    for (base, feature, acts, lacks_it) in [
        ("linux-5.5", "asym-capacity", "juno-r0", Some("hikey620")),
        ("linux-3.9", "pack", "tc2", Some("juno-r0")),
        ("linux-5.4", "sched-idle", "hikey620", None),
        ("linux-6.5", "uclamp-sum", "ca9x4", None),
        ("linux-6.5", "bias-prev", "ca9x4", None),
        // One of the two can.
        ("linux-6.5", "bias-prev+pack", "juno-r0", None),
        // What the base has already does not count.
        ("linux-6.5+bias-prev", "pack", "ca9x4", Some("epyc-9654-2s")),
    ] {
        let parse = |name: &str| Scheduler::parse(name).unwrap();
        let (base, variant) = (parse(base), parse(&format!("{base}+{feature}")));
        let what = |machine: &str| lacks(&base, &variant, &places(&[machine])[0].machine);
        assert_eq!(what(acts), None, "{feature} acts on {acts}");
        if let Some(machine) = lacks_it {
            assert!(what(machine).is_some(), "{feature} cannot act on {machine}");
        }
    }
    let card = ask(&["hikey620", "juno-r0"], &["futex"], 2, &|_| 1).unwrap();
    assert_eq!(card.cells.len(), 1);
    let text = render(&card, Style::Table, Extent::Full);
    assert!(
        text.contains("cannot act  hikey620: it needs CPUs that differ"),
        "{text}"
    );
    let error = ask(&["hikey620"], &["futex"], 2, &|_| 1).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("it needs CPUs that differ in capacity, which hikey620 lacks")
    );
}

#[test]
fn harms_come_first_and_the_largest_before_the_others() {
    let world = |s: &Scenario<'_>| match s.workloads[0].name.starts_with("perf") {
        true => 300 + noise(s.seed, 1) / 100,
        false => 100 + noise(s.seed, 2) / 100,
    };
    let card = ask(&["juno-r0"], &["futex", "pipe"], 5, &world).unwrap();
    for style in [Style::Table, Style::Markdown] {
        let text = render(&card, style, Extent::Full);
        let place = |what: &str| {
            text.find(what)
                .unwrap_or_else(|| panic!("no {what} in\n{text}"))
        };
        let harms = text
            .find("harms: 6")
            .or(text.find("Harms: 6"))
            .expect("harms");
        let helps = text
            .find("helps: 1")
            .or(text.find("Helps: 1"))
            .expect("helps");
        let shifts = text
            .find("shifts, ")
            .or(text.find("Shifts, "))
            .expect("shifts");
        assert!(harms < helps && helps < shifts, "{text}");
        assert!(
            harms < place("+30.") && place("+30.") < place("+10."),
            "{text}"
        );
        assert!(place("+10.") < helps, "{text}");
        assert!(text.contains("(Benjamini-Hochberg)"), "{text}");
        assert!(
            text.contains("alight compare -m juno-r0 -w workloads/card/ping-pong.json --seed 1")
        );
    }
    for (style, rows) in [(Style::Csv, "harm"), (Style::Json, "\"verdict\": \"harm\"")] {
        assert!(render(&card, style, Extent::Full).matches(rows).count() >= 6);
    }
}

#[test]
fn what_the_simulator_refuses_is_told_and_the_rest_is_run() {
    let [base, variant] = <[Scheduler; 2]>::try_from(fake::schedulers()).unwrap();
    let ask = CardQuestion {
        base: &base,
        variant: &variant,
        machines: &places(&["juno-r0"]),
        workloads: &entries(&["pipe", "futex"]),
        runs: NonZeroU32::new(2).unwrap(),
        seed: 1,
        command: String::new(),
    };
    let run = |scenario: &Scenario<'_>, _: &AtomicBool, _: &dyn Fn(u32)| match scenario.workloads[0]
        .name
        .starts_with("perf")
    {
        true => Err(alight_sim::Error::Refused("no pipes here".to_owned())),
        false => Ok(outcome(scenario, &|_| 1)),
    };
    let card = card(&ask, &run, Spread::QUIET, &AtomicBool::new(false)).unwrap();
    assert_eq!(
        card.cells[0].fate,
        Fate::Refused("no pipes here".to_owned())
    );
    assert!(matches!(card.cells[1].fate, Fate::Differs(_)));
    for style in [Style::Table, Style::Markdown, Style::Json] {
        assert!(render(&card, style, Extent::Full).contains("no pipes here"));
    }
}

#[test]
fn an_interruption_keeps_the_cells_that_are_complete() {
    let [base, variant] = <[Scheduler; 2]>::try_from(fake::schedulers()).unwrap();
    let ask = CardQuestion {
        base: &base,
        variant: &variant,
        machines: &places(&["juno-r0"]),
        workloads: &entries(&["pipe", "futex", "idle"]),
        runs: NonZeroU32::new(2).unwrap(),
        seed: 7,
        command: String::new(),
    };
    let how = Spread {
        threads: NonZeroUsize::new(1),
        ..Spread::QUIET
    };
    let cancel = AtomicBool::new(false);
    let run = |scenario: &Scenario<'_>, cancel: &AtomicBool, _: &dyn Fn(u32)| {
        let last = scenario.workloads[0].name.contains("ping-pong") && scenario.seed == 8;
        cancel.fetch_or(last, Ordering::Relaxed);
        Ok(Outcome {
            interrupted: last,
            ..outcome(scenario, &|_| 1)
        })
    };
    let found = card(&ask, &run, how, &cancel).unwrap();
    let cells: Vec<&str> = found.cells.iter().map(|cell| cell.workload).collect();
    assert_eq!((cells, found.asked), (vec!["pipe"], 3));
    assert!(found.interrupted());
    assert!(render(&found, Style::Table, Extent::Full).contains("INTERRUPTED: 3 were asked for"));
    let error = card(&ask, &run, how, &AtomicBool::new(true)).unwrap_err();
    assert!(matches!(error, NoCard::Interrupted), "{error}");
}

/// Every number that the set names exists, with the direction that the set gives it.
#[test]
fn the_standard_set_runs_and_has_the_numbers_that_judge_it() {
    let machines = places(&["juno-r2"]);
    let scheduler = Scheduler::parse("linux-6.5").unwrap();
    for entry in WORKLOADS {
        for cpus in [4, 8, 384] {
            for command in (entry.commands)(cpus) {
                set::load(&command).unwrap_or_else(|error| panic!("{}: {error}", entry.name));
            }
        }
        let workloads: Vec<Workload> = (entry.commands)(6)
            .iter()
            .map(|c| set::load(c).unwrap())
            .collect();
        let scenario = Scenario {
            duration_ns: entry.duration_ms.map(|ms| ms * NS_PER_MS),
            ..Scenario::new(&machines[0].machine, &workloads, &scheduler)
        };
        let outcome = alight_sim::run(&scenario, None, &AtomicBool::new(false)).unwrap();
        let numbers = crate::metrics::named(&outcome);
        let find = |name: &str| {
            let found = numbers.iter().find(|(key, _)| key.name == name);
            &found
                .unwrap_or_else(|| panic!("{}: no {name}", entry.name))
                .0
        };
        for (name, better) in entry.judged {
            assert_eq!(find(name).better, Some(*better), "{}: {name}", entry.name);
        }
        for name in entry.shown {
            find(name);
        }
    }
}
