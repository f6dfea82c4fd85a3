// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use crate::item::Body;

fn item(time: u64, pid: u32) -> Item {
    Item {
        time,
        cpu: 0,
        body: Body::Named { pid },
        names: [0; 2],
    }
}

fn pids(items: &[Item]) -> Vec<u32> {
    let pid = |item: &Item| item.tasks()[0].unwrap();
    items.iter().map(pid).collect()
}

#[test]
fn items_of_one_time_stay_in_the_order_of_the_file() {
    let mut sorter = Sorter::default();
    for (time, pid) in [(5, 1), (3, 2), (5, 3), (3, 4)] {
        sorter.add(item(time, pid));
    }
    assert_eq!(pids(&sorter.end()), [2, 4, 1, 3]);
}

#[test]
fn a_round_lets_go_what_was_before_the_rounds_that_wait() {
    let mut sorter = Sorter::default();
    let mut round = |times: &[u64]| {
        for time in times {
            sorter.add(item(*time, *time as u32));
        }
        pids(&sorter.end_round())
    };
    assert!(round(&[10, 20]).is_empty());
    assert!(round(&[15, 30]).is_empty());
    // 12 is older than what the rounds before had; nothing newer than 20 may go yet.
    assert_eq!(round(&[12, 40]), [10, 12, 15, 20]);
    assert_eq!(pids(&sorter.end()), [30, 40]);
}

#[test]
fn half_of_what_waits_can_be_let_go() {
    let mut sorter = Sorter::default();
    for time in [9, 1, 8, 2] {
        sorter.add(item(time, time as u32));
    }
    assert!(!sorter.is_full());
    assert_eq!(pids(&sorter.relieve()), [1, 2]);
    assert_eq!(pids(&sorter.end()), [8, 9]);
}
