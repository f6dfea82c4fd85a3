// SPDX-License-Identifier: GPL-2.0-only
//! The golden corpus of runs: by every base, without features, with each alone and with all, ten
//! loads on [`MACHINES`] and some of them on [`MORE_MACHINES`]; by [`FEWER_BASES`] on four of these
//! alone. Of each run its hash, every metric, a digest of its trace events, and one of its metrics
//! where counts start anew in its middle.
//!
//! `tests/golden/runs` holds what was found; `make golden` writes it anew and says what moved. A
//! commit that moves it says why. What must be the same in any case is not stored but
//! compared: a run that is checked, traced or counted later is the run.

mod common;

use alight_machine::Machine;
use alight_policy::Scheduler;
use alight_policy::scheduler::{BASES, FEATURES, Feature};
use alight_sim::{Action, Change, Limit, Outcome};
use alight_trace::{Event, Sink};
use alight_workload::{Mode, Workload};
use common::{MACHINES, MORE_MACHINES, MS, Run, load, machine};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// A name, what runs, and for how long, ms.
struct Load {
    name: &'static str,
    workloads: &'static [&'static str],
    ms: u64,
}

const LOADS: [Load; 10] = [
    Load {
        name: "pipes",
        workloads: &["hackbench -g 2 -f 3 -l 60 --pipe --threads"],
        ms: 20,
    },
    Load {
        name: "sockets",
        workloads: &["hackbench -g 1 -f 4 -l 40"],
        ms: 20,
    },
    Load {
        name: "mutexes",
        workloads: &["sysbench --test=threads --num-threads=6 --max-time=1 run"],
        ms: 10,
    },
    Load {
        name: "hogs",
        workloads: &["sysbench cpu --threads=6 --time=1 run", "housekeeping"],
        ms: 50,
    },
    Load {
        name: "timers",
        workloads: &["cyclictest -t 8 -q -i 1000 -D 1"],
        ms: 20,
    },
    Load {
        name: "requests",
        workloads: &["schbench -m 2 -t 6 -r 1 -n 1"],
        ms: 40,
    },
    Load {
        name: "handover",
        workloads: &["perf bench sched pipe -l 200", "adrestia -l 20 -t 4"],
        ms: 20,
    },
    Load {
        name: "frames",
        workloads: &["frames --duration 1", "periodic-mix.json"],
        ms: 60,
    },
    Load {
        name: "classes",
        workloads: &["classes"],
        ms: 40,
    },
    Load {
        name: "leftover",
        workloads: &["idle-hogs.json", "card/capped.json"],
        ms: 40,
    },
];

/// What is asked of [`MORE_MACHINES`].
const FEWER_LOADS: [&str; 4] = ["sockets", "hogs", "frames", "classes"];

/// Bases that share most of their rules with a neighbour, and where they run.
const FEWER_BASES: [&str; 9] = [
    "linux-5.10",
    "linux-5.15",
    "linux-6.6",
    "linux-6.8",
    "linux-6.12",
    "linux-6.18",
    "linux-7.0",
    "linux-7.1",
    "linux-7.3",
];
const THEIR_MACHINES: [&str; 4] = ["juno-r0", "rk3588", "i7-1370p", "xeon-8480-2s"];

/// Above so many CPUs a run is a quarter as long.
const MANY_CPUS: usize = 64;

impl Load {
    fn workloads(&self) -> Vec<Workload> {
        let classes = include_str!("golden/classes.json");
        let one = |name: &&str| match *name {
            "classes" => {
                Workload::from_rtapp("classes.json", classes, Mode::Workgen)
                    .unwrap_or_else(|error| panic!("classes.json: {error}"))
                    .workload
            }
            name => load(name),
        };
        let mut workloads: Vec<Workload> = self.workloads.iter().map(one).collect();
        if self.name == "leftover" {
            // The first is over before the run, on machines with many CPUs at its half; its tasks end.
            workloads[0].duration_ns = Some(self.ms / 2 * MS / 4);
        }
        workloads
    }

    fn is_asked_of(&self, machine: &Machine) -> bool {
        MACHINES.contains(&&*machine.name) || FEWER_LOADS.contains(&self.name)
    }

    fn ms_on(&self, machine: &Machine) -> u64 {
        match machine.cpus.len() > MANY_CPUS {
            true => self.ms / 4,
            false => self.ms,
        }
    }

    /// What is done to the machine meanwhile: the load of all classes loses a CPU and some of its clocks.
    fn changes(&self, machine: &Machine) -> Vec<Change> {
        if self.name != "classes" {
            return vec![];
        }
        let ms = self.ms_on(machine);
        let last = || [machine.cpus.len() - 1].into_iter().collect();
        let at = |tenths: u64, action| Change {
            at_ns: tenths * ms * MS / 10,
            action,
        };
        let limit = |khz| Action::Limit {
            cpus: last(),
            by: Limit::CoolingDevice,
            khz,
        };
        let mut changes = vec![
            at(2, Action::Offline(last())),
            at(5, Action::Online(last())),
        ];
        let clock = (machine.freq_domains.iter()).find(|d| d.cpus.intersects(&last()));
        if let Some(clock) = clock {
            changes.push(at(6, limit(clock.opps[0].khz)));
            changes.push(at(8, limit(u32::MAX)));
        }
        changes
    }
}

fn runs_on(base: &str, machine: &Machine) -> bool {
    !FEWER_BASES.contains(&base) || THEIR_MACHINES.contains(&&*machine.name)
}

/// `base` without features, with each that it can have alone, with all of these.
fn schedulers(base: &str) -> Vec<String> {
    let with = |feature: &&Feature| Scheduler::parse(&format!("{base}+{}", feature.name)).is_ok();
    let features: Vec<&str> = FEATURES.iter().filter(with).map(|f| f.name).collect();
    let mut all = vec![base.to_owned()];
    all.extend(features.iter().map(|name| format!("{base}+{name}")));
    all.push(format!("{base}+{}", features.join("+")));
    all
}

/// Digest of trace events.
#[derive(Default)]
struct Digest {
    of: Xxh3,
    line: String,
}

impl Sink for Digest {
    fn event(&mut self, time_ns: u64, cpu: u32, event: Event<'_>) -> std::io::Result<()> {
        self.line.clear();
        writeln!(self.line, "{time_ns} {cpu} {event:?}").expect("a string takes it");
        self.of.update(self.line.as_bytes());
        Ok(())
    }
}

fn metrics(outcome: &Outcome) -> impl Iterator<Item = (&str, String)> {
    let of = [&outcome.results, &outcome.energy, &outcome.mechanism];
    of.into_iter().flatten().map(|metric| {
        let value = match metric.value.is_nan() {
            true => "-".to_owned(),
            false => metric.value.to_string(),
        };
        (metric.name.as_str(), value)
    })
}

fn digest_of_metrics(outcome: &Outcome) -> u64 {
    let line = |(name, value)| format!("{name} {value}\n");
    xxh3_64(metrics(outcome).map(line).collect::<String>().as_bytes())
}

/// What is stored of a run: names and values; a run that is refused has its reason.
type Row = Vec<(String, String)>;

/// One run, and those that must be the same. Invariants are proven of one run of a hash: most features
/// change nothing on most machines.
fn row(
    machine: &Machine,
    load: &Load,
    workloads: &[Workload],
    scheduler: &str,
    proven: &mut BTreeSet<u64>,
) -> Row {
    let ms = load.ms_on(machine);
    let changes = load.changes(machine);
    let plain = Run {
        scheduler,
        changes: &changes,
        check: false,
        ..Run::new(machine, workloads).for_ms(ms)
    };
    let outcome = match plain.go() {
        Ok(outcome) => outcome,
        Err(error) => return vec![("refused".into(), error.to_string().replace(' ', "_"))],
    };
    let place = format!("{}, {}, {scheduler}", machine.name, load.name);

    if proven.insert(outcome.hash) {
        let checked = Run {
            check: true,
            ..plain
        }
        .go();
        let checked = checked.unwrap_or_else(|error| panic!("{place}, checked: {error}"));
        assert_eq!(checked.hash, outcome.hash, "{place}, checked");
    }

    let mut digest = Digest::default();
    let traced = plain.traced(Some(&mut digest));
    let traced = traced.unwrap_or_else(|error| panic!("{place}, traced: {error}"));
    assert!(traced == outcome, "{place}: another run if traced");

    let mut later = changes.clone();
    later.push(Change::count_from(ms * MS / 2));
    let counted = Run {
        changes: &later,
        ..plain
    }
    .go();
    let counted = counted.unwrap_or_else(|error| panic!("{place}, counted later: {error}"));
    assert_eq!(counted.hash, outcome.hash, "{place}, counted later");

    let mut row = vec![
        ("hash".into(), format!("{:016x}", outcome.hash)),
        ("trace".into(), format!("{:016x}", digest.of.digest())),
        (
            "counted_later".into(),
            format!("{:016x}", digest_of_metrics(&counted)),
        ),
        ("events".into(), outcome.events.to_string()),
    ];
    row.extend(metrics(&outcome).map(|(name, value)| (name.to_owned(), value)));
    row
}

/// What runs of a machine are called and what they gave: load and scheduler, row.
type Runs = BTreeMap<(String, String), Row>;

/// A file of runs. For each load the names of what is stored, where they change, then a line for
/// each scheduler; `= other`: what that one has.
fn written(runs: &Runs, machine: &str) -> String {
    let mut text = format!(
        "# Runs on {machine}: the golden corpus. `make golden` writes this file; see README.md beside runs/\n"
    );
    for load in LOADS {
        let mut names = vec![];
        let mut seen: Vec<(&str, &Row)> = vec![];
        for ((_, scheduler), row) in runs.iter().filter(|((of, _), _)| of == load.name) {
            if let Some((other, _)) = seen.iter().find(|(_, seen)| *seen == row) {
                writeln!(text, "{} {scheduler} = {other}", load.name).expect("a string");
                continue;
            }
            let of_row: Vec<&str> = row.iter().map(|(name, _)| name.as_str()).collect();
            if names != of_row {
                writeln!(text, "names {}", of_row.join(" ")).expect("a string");
                names = of_row;
            }
            let values: Vec<&str> = row.iter().map(|(_, value)| value.as_str()).collect();
            writeln!(text, "{} {scheduler} {}", load.name, values.join(" ")).expect("a string");
            seen.push((scheduler, row));
        }
    }
    text
}

/// The reverse of [`written`].
fn read(text: &str) -> Runs {
    let mut runs = Runs::new();
    let mut names: Vec<&str> = vec![];
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["names", ref of_row @ ..] => names = of_row.to_vec(),
            [load, scheduler, "=", other] => {
                let row = runs[&(load.to_owned(), other.to_owned())].clone();
                runs.insert((load.to_owned(), scheduler.to_owned()), row);
            }
            [load, scheduler, ref values @ ..] => {
                let row = names.iter().zip(values);
                let row = row.map(|(name, value)| (name.to_string(), value.to_string()));
                runs.insert((load.to_owned(), scheduler.to_owned()), row.collect());
            }
            _ => panic!("no line of a file of runs: '{line}'"),
        }
    }
    runs
}

/// So many metrics that moved are named of a run.
const SHOWN: usize = 6;

/// What differs between two rows, in words; one of them may not exist.
fn moved(was: Option<&Row>, is: Option<&Row>) -> String {
    let (Some(was), Some(is)) = (was, is) else {
        return if was.is_none() {
            "new".into()
        } else {
            "gone".into()
        };
    };
    let of = |row: &Row, name: &str| {
        let value = row.iter().find(|(of, _)| of == name);
        value.map_or("absent".to_owned(), |(_, value)| value.clone())
    };
    let mut names: Vec<&String> = was.iter().chain(is).map(|(name, _)| name).collect();
    let mut known = BTreeSet::new();
    names.retain(|name| known.insert(*name) && of(was, name) != of(is, name));
    let shown = names.iter().take(SHOWN);
    let shown = shown.map(|name| format!("{name} {} -> {}", of(was, name), of(is, name)));
    let mut changes: Vec<String> = shown.collect();
    if names.len() > SHOWN {
        changes.push(format!("and {} more", names.len() - SHOWN));
    }
    match changes.is_empty() {
        true => "the order of its metrics".into(),
        false => changes.join(", "),
    }
}

fn file_of(machine: &str) -> PathBuf {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/runs");
    PathBuf::from(root).join(format!("{machine}.txt"))
}

/// All runs, spread over the processors.
fn all_runs(machines: &[Machine]) -> BTreeMap<String, Runs> {
    let jobs: Vec<(&Machine, &Load, &str)> = (machines.iter())
        .flat_map(|machine| LOADS.iter().map(move |load| (machine, load)))
        .filter(|(machine, load)| load.is_asked_of(machine))
        .flat_map(|(machine, load)| BASES.iter().map(move |base| (machine, load, base.name)))
        .filter(|(machine, _, base)| runs_on(base, machine))
        .collect();
    let (next, found) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let work = || {
        while let Some((machine, load, base)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let workloads = load.workloads();
            let mut proven = BTreeSet::new();
            for scheduler in schedulers(base) {
                let row = row(machine, load, &workloads, &scheduler, &mut proven);
                let mut found = found.lock().expect("nobody panicked with it");
                let runs: &mut Runs = found.entry(machine.name.clone()).or_default();
                runs.insert((load.name.to_owned(), scheduler), row);
            }
        }
    };
    std::thread::scope(|scope| {
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        (0..workers).for_each(|_| _ = scope.spawn(work));
    });
    found.into_inner().expect("nobody panicked with it")
}

/// `ALIGHT_BLESS=1` writes the corpus anew.
#[test]
fn runs_are_what_they_were() {
    let names = MACHINES.into_iter().chain(MORE_MACHINES);
    let machines: Vec<Machine> = names.map(machine).collect();
    let bless = std::env::var_os("ALIGHT_BLESS").is_some();
    let mut differences = vec![];
    let mut all = 0;
    for (machine, runs) in all_runs(&machines) {
        all += runs.len();
        let stored = std::fs::read_to_string(file_of(&machine)).unwrap_or_default();
        let was = read(&stored);
        let keys: BTreeSet<_> = was.keys().chain(runs.keys()).collect();
        for key in keys {
            let (was, is) = (was.get(key), runs.get(key));
            if was != is {
                let (load, scheduler) = key;
                let what = moved(was, is);
                differences.push(format!("{machine}, {load}, {scheduler}: {what}"));
            }
        }
        let text = written(&runs, &machine);
        if stored != text && differences.is_empty() {
            differences.push(format!("{machine}: the form of its file"));
        }
        if bless {
            std::fs::write(file_of(&machine), text).expect("written");
        }
    }
    let shown = differences.iter().take(40).map(|line| format!("{line}\n"));
    let shown: String = shown.collect();
    let count = differences.len();
    println!("{shown}golden: {count} of {all} runs moved");
    assert!(
        bless || count == 0,
        "{count} of {all} runs moved; if that is meant, `make golden` writes them, \
         and the commit says why:\n{shown}"
    );
}
