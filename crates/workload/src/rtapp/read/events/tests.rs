// SPDX-License-Identifier: GPL-2.0-only

use super::*;

#[test]
fn keys_are_events_by_their_beginning() {
    let table = [
        ("run", Some("run")),
        ("run0", Some("run")),
        ("runtime1", Some("runtime")),
        ("memory", Some("mem")),
        ("memrun_a", Some("memrun")),
        ("lock_a", Some("lock")),
        ("unlock", Some("unlock")),
        ("broadcast", Some("broad")),
        ("sem_wait2", Some("sem_wait")),
        ("loop", None),
        ("priority", None),
        ("brun", None),
        ("", None),
    ];
    for (key, expected) in table {
        assert_eq!(event_name(key), expected, "{key}");
    }
}
