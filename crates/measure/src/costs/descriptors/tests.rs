// SPDX-License-Identifier: GPL-2.0-only

use super::*;

/// 5000 ns a message, of which 120 are kept and the others take 1000 more; and where nothing does.
#[test]
fn what_new_messages_cost_is_told_from_two_counts() {
    let takes = |messages: u64| messages * 5000 + (messages - 120) * 1000;
    let many = u64::from(MANY);
    let found = new_messages_of(5000, takes(many), takes(2 * many)).expect("a cost");
    assert_eq!((found.new, found.kept), (1000, 120));
    for each in [4990, 5000, 5010] {
        assert!(new_messages_of(each, many * 5000, 2 * many * 5000).is_none());
    }
}
