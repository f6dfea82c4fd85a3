// SPDX-License-Identifier: GPL-2.0-only

use super::*;

fn set(text: &str) -> CpuSet {
    text.parse().expect("CPUs")
}

#[test]
fn counts_start_anew_at_a_time() {
    let anew = |at_ns| vec![Change::count_from(at_ns)];
    let counted = count_from("1500ms").map(|option| option.changes);
    assert_eq!(counted, Ok(anew(1_500_000_000)));
    assert!(count_from("soon").is_err());
}

#[test]
fn hotplug_is_a_list_of_times_and_cpus() {
    let off = |at_ns, cpus| Change {
        at_ns,
        action: Action::Offline(set(cpus)),
    };
    let on = |at_ns, cpus| Change {
        at_ns,
        action: Action::Online(set(cpus)),
    };
    for (text, changes) in [
        (
            "100ms:off:2-3,500ms:on:2",
            vec![off(100_000_000, "2-3"), on(500_000_000, "2")],
        ),
        (
            "1us:off:0,2,1us:on:0",
            vec![off(1000, "0,2"), on(1000, "0")],
        ),
    ] {
        assert_eq!(hotplug(text).map(|found| found.changes), Ok(changes));
    }
}

#[test]
fn a_limit_is_in_khz() {
    let limit = |at_ns, cpus, khz| Change {
        at_ns,
        action: Action::Limit {
            cpus: set(cpus),
            by: Limit::CoolingDevice,
            khz,
        },
    };
    let changes = vec![
        limit(1_000_000_000, "4-5", 1_200_000),
        limit(3_000_000_000, "4", u32::MAX),
    ];
    let found = thermal("1s:4-5:1200000,3s:4:max");
    assert_eq!(found.map(|found| found.changes), Ok(changes));
    for (text, words) in [
        ("1s:4-5", "there is no frequency"),
        ("1s:4-5:0", "'0' is no frequency"),
        ("1s:4-5:fast", "'fast' is no frequency"),
        ("1s::1", "there are no CPUs"),
        ("1s:x:1", "'1s:x:1'"),
    ] {
        let message = cap(text).unwrap_err();
        assert!(message.contains(words), "{text}: {message}");
    }
}

#[test]
fn what_is_odd_is_refused_with_the_item() {
    for (text, words) in [
        ("", "nothing follows the time"),
        ("100ms:off", "there are no CPUs"),
        ("100ms:off:", "100ms:off:"),
        ("100:off:1", "no unit"),
        ("1s:gone:1", "'gone' is neither"),
        ("1s:on:1,2s:off:x", "2s:off:x"),
    ] {
        let message = hotplug(text).unwrap_err();
        assert!(message.contains(words), "{text}: {message}");
        assert!(message.contains("like 100ms:off:2-3"), "{message}");
    }
}
