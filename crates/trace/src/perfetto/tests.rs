// SPDX-License-Identifier: GPL-2.0-only

use super::*;

#[test]
fn stamps_keep_the_order_of_events_under_sorting_by_time_and_cpu() {
    let mut clock = Clock {
        last_ns: 0,
        last_cpu: 0,
    };
    let events = [
        (10, 0, 10), // time, CPU, stamp
        (10, 3, 10), // rising CPUs within an instant are in order already
        (10, 1, 11), // a falling one needs a later time
        (10, 1, 11),
        (11, 2, 11),
        (12, 0, 12),
    ];
    for (time_ns, cpu, stamp) in events {
        assert_eq!(
            clock.stamp(time_ns, cpu),
            stamp,
            "event at {time_ns} on CPU {cpu}"
        );
    }
    assert_eq!(clock.now(12), 12);
}

#[test]
fn the_longest_short_event_fits_one_byte_of_length() {
    // 15 bytes of comm, 7 digits of pid, priorities of ten bytes (deadline tasks have -1), the largest time.
    let label = Labels::new(&TaskName {
        pid: 4_194_303,
        tgid: 4_194_303,
        comm: "fifteen bytes!!",
    });
    let mut out = Vec::new();
    short_message(&mut out, field::BUNDLE_EVENT, |out| {
        uint_field(out, field::EVENT_TIMESTAMP, u64::MAX);
        uint_field(out, field::EVENT_PID, 4_194_303);
        short_message(out, field::SCHED_SWITCH, |out| {
            out.extend_from_slice(label.first.as_slice());
            signed_field(out, 3, -1);
            uint_field(out, 4, 0x100);
            out.extend_from_slice(label.next.as_slice());
            signed_field(out, 7, -1);
        });
    });
    assert!(out.len() < 128, "{} bytes", out.len());
}
