// SPDX-License-Identifier: GPL-2.0-only
//! Tests of the clocks of CPUs in sysfs.

use super::*;

#[test]
fn each_cpu_that_tells_its_clock_is_listed() {
    let root = tempfile::tempdir().expect("a directory");
    for (cpu, clock) in [
        ("cpu0", Some("1800000\n")),
        ("cpu1", None),
        ("cpu2", Some("<unknown>\n")),
        ("cpu3", Some("533000\n")),
        ("cpufreq", None),
    ] {
        let directory = root.path().join(cpu);
        fs::create_dir(&directory).expect("it is new");
        if let Some(clock) = clock {
            let of = directory.join("cpufreq");
            fs::create_dir(&of).expect("it is new");
            fs::write(of.join("scaling_cur_freq"), clock).expect("it can be written");
        }
    }
    assert_eq!(clocks(root.path()), [(0, 1_800_000), (3, 533_000)]);
    assert_eq!(clocks(&root.path().join("none")), []);
}
