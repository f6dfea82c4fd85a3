// SPDX-License-Identifier: GPL-2.0-only

use super::super::record::tests::written;
use super::super::replay::tests::{decided, machine};
use super::super::tests::begin;
use super::super::verify;
use super::*;
use alight_recording::Reader;
use std::fs;

#[test]
fn a_full_disk_ends_the_log_with_what_it_has() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("live.alight");
    let mut log = begin(&path);
    // Noise, so that blocks fill up.
    let mut noise = 1u64;
    for _ in 0..12_000 {
        let mut record = decided();
        for cpu in &mut record.cpus {
            noise = noise
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            cpu.avg_idle = noise;
            cpu.cfs.load_sum = noise >> 1;
            cpu.cfs.runnable_sum = noise >> 2;
        }
        record.decision.here_after = record.cpus[0];
        assert_eq!(log.decision(&written(&record)), None);
    }
    let full = io::Error::from(io::ErrorKind::StorageFull);
    let why = log.stop(&full);
    assert!(
        why.starts_with("no storage space; it has the first "),
        "{why}"
    );
    assert_eq!(log.decision(&written(&decided())), None, "said once");
    assert_eq!(log.machine(&machine()), None);
    let done = log.finish().unwrap();
    assert_eq!(done.stopped, Some(why));
    assert!(0 < done.decisions && done.decisions < 12_000);

    let bytes = fs::read(path).unwrap();
    let (report, whole) = verify(&mut Reader::new(&bytes[..]).unwrap());
    whole.unwrap();
    assert_eq!(report.equal, done.decisions);
    let text = report.text();
    let expected = "the log ended before its scheduler, which went on: no storage space";
    assert!(text.contains(expected), "{text}");
}
