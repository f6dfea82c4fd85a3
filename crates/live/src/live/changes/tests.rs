// SPDX-License-Identifier: GPL-2.0-only
//! Tests of changes of a machine under a loaded scheduler.

use super::*;
use alight_arguments::run::Arguments;
use clap::Parser;
use std::fs;

const CPU: &str = "sys/devices/system/cpu";

fn write(root: &Path, file: &str, text: &str) {
    let path = root.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Two CPUs of different capacity, each with an energy model.
fn machine() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), &format!("{CPU}/online"), "0-1");
    for (cpu, capacity) in [(0, "446"), (1, "1024")] {
        let own = format!("{CPU}/cpu{cpu}");
        write(root.path(), &format!("{own}/cpu_capacity"), capacity);
        write(
            root.path(),
            &format!("{own}/cpufreq/scaling_governor"),
            "schedutil",
        );
        let model = format!("sys/kernel/debug/energy_model/cpu{cpu}");
        write(root.path(), &format!("{model}/cpus"), &cpu.to_string());
        write(root.path(), &format!("{model}/ps:1000000/power"), "100");
    }
    root
}

fn options() -> Options {
    Arguments::parse_from(["scx_alight", "linux-6.1"])
        .options()
        .expect("a scheduler")
}

/// The scheduler was just loaded on this machine.
fn loaded<'a>(root: &Path, options: &'a Options) -> Changes<'a> {
    let host = Host::read(root, None, &[]).unwrap();
    let (core, _) = host.core(&options.scheduler.params).unwrap();
    Changes::below(root, options, &host, &core)
}

fn later() -> Instant {
    Instant::now() + EVERY
}

#[test]
fn what_the_kernel_side_noticed_is_looked_into_once() {
    let (root, options, now) = (machine(), options(), Instant::now());
    let mut changes = loaded(root.path(), &options);
    changes.look_at(true, now);
    assert_eq!(changes.found(), None, "nothing changed here");
    let mut other = loaded(root.path(), &options);
    write(root.path(), &format!("{CPU}/cpu0/cpu_capacity"), "344");
    changes.look_at(true, now);
    assert_eq!(changes.found(), None, "a second time");
    other.look_at(false, now);
    assert_eq!(other.found(), None, "nobody noticed yet");
    other.look_at(true, now);
    assert_eq!(other.found(), Some("the capacities of CPUs changed"));
}

#[test]
fn switches_of_energy_are_read_now_and_then() {
    let (root, options) = (machine(), options());
    let mut changes = loaded(root.path(), &options);
    assert_eq!(changes.perf.len(), 2);
    write(root.path(), "proc/sys/kernel/sched_energy_aware", "0");
    changes.look_at(false, Instant::now());
    assert_eq!(changes.found(), None, "not yet");
    changes.look_at(false, later());
    let expected = "the energy model, or whether it is used, changed";
    assert_eq!(changes.found(), Some(expected));
}

#[test]
fn a_cpu_that_goes_is_no_change_of_this_kind() {
    let (root, options) = (machine(), options());
    let mut changes = loaded(root.path(), &options);
    write(root.path(), &format!("{CPU}/possible"), "0-1");
    write(root.path(), &format!("{CPU}/online"), "1");
    fs::remove_file(root.path().join(CPU).join("cpu0/cpu_capacity")).unwrap();
    changes.look_at(true, later());
    assert_eq!(changes.found(), None);
}

#[test]
fn a_cpu_on_its_way_off_is_no_change_either() {
    let (root, options) = (machine(), options());
    let mut changes = loaded(root.path(), &options);
    fs::remove_file(root.path().join(CPU).join("cpu0/cpu_capacity")).unwrap();
    changes.look_at(true, later());
    assert_eq!(changes.found(), None);
}

#[test]
fn a_machine_that_cannot_be_read_goes_on() {
    let (root, options) = (machine(), options());
    let mut changes = loaded(root.path(), &options);
    fs::remove_dir_all(root.path().join("sys")).unwrap();
    changes.look_at(true, later());
    assert_eq!(changes.found(), None);
}
