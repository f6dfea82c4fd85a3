// SPDX-License-Identifier: GPL-2.0-only

use super::*;

#[test]
fn every_order_once() {
    let all = permutations(&[4, 5, 6]);
    assert_eq!(all.len(), 6);
    assert_eq!(all[0], [4, 5, 6]);
    assert_eq!(all[5], [6, 5, 4]);
}
