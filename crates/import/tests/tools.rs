// SPDX-License-Identifier: GPL-2.0-only
//! Captures that tools made in guests, beside what the same tools print of them: the events of the
//! binary file are those of the text, in every field, and as many of each tracepoint.
//!
//! The captures in `tests/data` were made by `verify/import.sh`, which also calls this test on new
//! ones (`ALIGHT_CAPTURES`). They are compressed by zstd.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use alight_import::{Options, Report, import_bytes};
use alight_recording::Reader;
use alight_recording::workload::{Event, Interrupt, Item, TaskFact, What, WorkloadReader};

/// Directories of captures: one a kernel.
fn kernels() -> Vec<PathBuf> {
    if let Some(new) = std::env::var_os("ALIGHT_CAPTURES") {
        return vec![new.into()];
    }
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let entries = fs::read_dir(&kept).unwrap_or_else(|e| panic!("{}: {e}", kept.display()));
    let mut all: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    all.sort();
    all
}

/// A capture's bytes; `None` if there is none of this name.
fn bytes(directory: &Path, name: &str) -> Option<Vec<u8>> {
    let packed = fs::read(directory.join(format!("{name}.zst"))).ok()?;
    Some(zstd::decode_all(&packed[..]).unwrap())
}

/// What is imported of it.
struct Imported {
    report: Report,
    events: Vec<Event>,
    tasks: Vec<TaskFact>,
}

fn imported(bytes: Vec<u8>, options: &Options) -> Imported {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out.alight");
    let report = import_bytes(bytes, Some(&out), options).unwrap();
    let mut reader = WorkloadReader::new(Reader::open(&out).unwrap()).unwrap();
    let (mut events, mut tasks) = (vec![], vec![]);
    while let Some(item) = reader.next_item().unwrap() {
        match item {
            Item::Event(event) => events.push(event),
            Item::Task(fact) => tasks.push(*fact),
        }
    }
    Imported {
        report,
        events,
        tasks,
    }
}

/// An event without what its text does not have: the context of a waking, and the addresses of
/// functions. Where the text has the tick by name, it is a timer as any other.
fn plain(event: &Event) -> Event {
    let anonymous = |interrupt| match interrupt {
        Interrupt::Hrtimer(_) | Interrupt::Tick => Interrupt::Hrtimer(0),
        Interrupt::Timer(_) => Interrupt::Timer(0),
        other => other,
    };
    let mut event = *event;
    match &mut event.what {
        What::Waking { context, .. } => *context = None,
        What::InterruptBegin { interrupt, .. } | What::InterruptEnd { interrupt } => {
            *interrupt = anonymous(*interrupt);
        }
        _ => {}
    }
    event
}

/// Events of one instant may be of several CPUs, in any order.
fn in_order(events: &[Event]) -> Vec<Event> {
    let mut events: Vec<Event> = events.iter().map(plain).collect();
    events.sort_by_key(|event| (event.time, event.cpu));
    events
}

fn names(tasks: &[TaskFact]) -> BTreeMap<u32, Option<String>> {
    let named = tasks.iter().filter(|task| task.comm.is_some());
    named.map(|task| (task.pid, task.comm.clone())).collect()
}

/// Whether the text tells these.
fn is_told(event: &Event, exits_are_records: bool) -> bool {
    match event.what {
        What::Lost { .. } => false,
        What::Exit { .. } => !exits_are_records,
        _ => true,
    }
}

/// Each binary file with the text of the same tool.
const PAIRS: &[(&str, &str)] = &[
    ("hotplug.data", "hotplug.script"),
    ("groups.data", "groups.script"),
    ("lost.data", "lost.script"),
    ("sched.data", "sched.script"),
    ("full.data", "full.script"),
    ("zstd.data", "zstd.script"),
    ("pipe.data", "pipe.script"),
    ("v7.dat", "v7.raw"),
    ("v7.dat", "v7.txt"),
    ("v7plain.dat", "v7plain.raw"),
    ("v6.dat", "v6.raw"),
    ("v6.dat", "v6.txt"),
];

#[test]
fn every_field_is_what_the_tools_print() {
    let mut compared = 0;
    for kernel in kernels() {
        for (binary, text) in PAIRS {
            let name = format!("{}: {binary} and {text}", kernel.display());
            let (Some(of_binary), Some(of_text)) = (bytes(&kernel, binary), bytes(&kernel, text))
            else {
                continue;
            };
            let binary = imported(of_binary, &Options::default());
            let text = imported(of_text, &Options::default());
            let exits_are_records = binary.report.of_tracepoint("sched_process_exit") == 0;
            let keep = |event: &&Event| is_told(event, exits_are_records);
            let told: Vec<Event> = binary.events.iter().filter(keep).copied().collect();
            let (ours, theirs) = (in_order(&told), in_order(&text.events));
            for (ours, theirs) in ours.iter().zip(&theirs) {
                assert_eq!(ours, theirs, "{name}");
            }
            assert_eq!(ours.len(), theirs.len(), "{name}");
            assert!(ours.len() > 20, "{name}: {} events", ours.len());
            for tracepoint in binary.report.tracepoints() {
                assert_eq!(
                    binary.report.of_tracepoint(tracepoint),
                    text.report.of_tracepoint(tracepoint),
                    "{name}: {tracepoint}"
                );
            }
            let of_binary = names(&binary.tasks);
            for (pid, comm) in names(&text.tasks) {
                assert_eq!(of_binary.get(&pid), Some(&comm), "{name}: task {pid}");
            }
            compared += 1;
        }
    }
    assert!(compared >= 4, "{compared} pairs were compared");
}

#[test]
fn the_context_of_each_waking_is_what_trace_cmd_prints() {
    let contexts = |bytes| {
        let imported = imported(bytes, &Options::default());
        let waking = |event: &Event| match event.what {
            What::Waking { pid, context, .. } => Some((event.time, event.cpu, pid, context)),
            _ => None,
        };
        let mut all: Vec<_> = imported.events.iter().filter_map(waking).collect();
        all.sort_by_key(|(time, cpu, ..)| (*time, *cpu));
        all
    };
    for kernel in kernels() {
        let (Some(binary), Some(text)) = (bytes(&kernel, "v6.dat"), bytes(&kernel, "v6.lat"))
        else {
            panic!("{}: v6.dat and v6.lat are there", kernel.display());
        };
        let (ours, theirs) = (contexts(binary), contexts(text));
        assert!(ours.len() > 20, "{} wakings", ours.len());
        assert_eq!(ours, theirs, "{}", kernel.display());
    }
}

/// A capture of 6.1 that is kept in the tree.
fn kept(name: &str) -> Vec<u8> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/amd64-6.1-cloud");
    bytes(&data, name).unwrap_or_else(|| panic!("{name} is kept"))
}

fn count(imported: &Imported, is: impl Fn(&What) -> bool) -> usize {
    imported
        .events
        .iter()
        .filter(|event| is(&event.what))
        .count()
}

#[test]
fn tasks_of_a_group_are_chosen() {
    let options = Options {
        cgroups: vec!["/app".into()],
        ..Options::default()
    };
    let groups = imported(kept("groups.data"), &options);
    let chosen = |name: &str| {
        let latest = groups
            .tasks
            .iter()
            .rfind(|task| task.comm.as_deref() == Some(name));
        let latest = latest.unwrap_or_else(|| panic!("{name} is there"));
        (latest.chosen, latest.cgroup.clone())
    };
    assert_eq!(chosen("hackbench"), (Some(true), Some("/app/inner".into())));
    assert_eq!(chosen("rcu_preempt").0, Some(false));
    let other = Options {
        cgroups: vec!["/ap".into()],
        ..Options::default()
    };
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out.alight");
    let refused = import_bytes(kept("groups.data"), Some(&out), &other).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "holds no task of the cgroups that were asked for; it holds tasks of /, /app/inner"
    );
    assert!(!out.exists());
}

#[test]
fn a_cpu_goes_off_and_comes() {
    let hotplug = imported(kept("hotplug.data"), &Options::default());
    let steps: Vec<(u16, What)> = (hotplug.events.iter())
        .filter(|event| matches!(event.what, What::Hotplug { .. }))
        .map(|event| (event.cpu, event.what))
        .collect();
    let expected = [false, true].map(|online| (3, What::Hotplug { online }));
    assert_eq!(steps, expected);
}

#[test]
fn losses_are_counted_and_have_a_place() {
    let lost = imported(kept("lost.data"), &Options::default());
    assert!(lost.report.lost()["ring_full"] > 0);
    let of_one_cpu = |what: &What| {
        matches!(
            what,
            What::Lost {
                of_cpu_only: true,
                ..
            }
        )
    };
    assert!(count(&lost, of_one_cpu) > 0);
}

#[test]
fn yields_are_told_by_name_and_by_number() {
    for name in ["pipe.data", "zstd.data", "v6.dat", "v7.dat", "ftrace.txt"] {
        let yields = count(&imported(kept(name), &Options::default()), |what| {
            matches!(what, What::Yield { .. })
        });
        assert_eq!(yields > 0, name != "ftrace.txt", "{name}: {yields}");
    }
}

#[test]
fn the_tick_is_known_by_its_function() {
    // perf.data has no names of functions.
    for (name, known) in [
        ("v6.dat", true),
        ("v7.dat", true),
        ("ftrace.txt", true),
        ("pipe.data", false),
    ] {
        let capture = imported(kept(name), &Options::default());
        let ticks = |what: &What| {
            matches!(
                what,
                What::InterruptBegin {
                    interrupt: Interrupt::Tick,
                    ..
                }
            )
        };
        let ends = |what: &What| {
            matches!(
                what,
                What::InterruptEnd {
                    interrupt: Interrupt::Tick
                }
            )
        };
        assert_eq!(count(&capture, ticks) > 0, known, "{name}");
        assert_eq!(count(&capture, ends) > 0, known, "{name}");
    }
}

#[test]
fn the_machine_is_described() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out.alight");
    for (name, cpus, clock) in [
        ("pipe.data", 4, "perf, ns"),
        ("zstd.data", 4, "monotonic, ns"),
        ("v7.dat", 0, "monotonic, ns"),
        // The kernel chose it, as the guest's TSC is not stable.
        ("v6.dat", 0, "global, ns"),
    ] {
        import_bytes(kept(name), Some(&out), &Options::default()).unwrap();
        let reader = Reader::open(&out).unwrap();
        let header = reader.header();
        assert!(
            header.kernel.starts_with("6.1.0-"),
            "{name}: {}",
            header.kernel
        );
        assert_eq!(header.arch, "x86_64", "{name}");
        assert_eq!(header.clock, clock, "{name}");
        assert_eq!(header.cpus.len(), cpus, "{name}");
        assert_eq!(header.facts["cpus"], "4", "{name}");
    }
}
