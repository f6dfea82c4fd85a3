// SPDX-License-Identifier: GPL-2.0-only
//! Tests of newidle balancing that is skipped at random.

use super::*;

#[test]
fn the_ratio_is_the_share_of_successes() {
    let mut luck = Luck::default();
    let mut always = luck;
    for _ in 0..512 {
        luck.book(0, Dice::BySuccess, 0);
        always.book(1, Dice::BySuccess, 0);
    }
    assert_eq!((luck.ratio, luck.call, luck.success), (256, 512, 128));
    assert_eq!(always.ratio, 768, "256 of the 512 made up, 512 of 512");
    for _ in 0..511 {
        luck.book(0, Dice::BySuccess, 0);
    }
    assert_eq!(luck.ratio, 256, "worked out at each 512th");
    luck.book(0, Dice::BySuccess, 0);
    assert_eq!(luck.ratio, 128);
}

#[test]
fn who_seldom_looks_looks_next_time() {
    // 512 attempts in 4.3 s: 1024 periods of 4.2 ms.
    let mut luck = Luck::default();
    for _ in 0..512 {
        luck.book(0, Dice::BySuccessAndRate, 1 << 32);
    }
    assert_eq!(luck.ratio, SURE);
    for _ in 0..512 {
        luck.book(0, Dice::BySuccessAndRate, (1 << 32) + (1 << 29));
    }
    assert_eq!(luck.ratio, 128 + 128);
}

#[test]
fn a_success_stands_for_the_attempts_left_out() {
    for (ratio, throw, expected, because) in [
        (512, 513, Some(2), "every second throw leads there"),
        (512, 514, None, "beyond one more than the ratio"),
        (0, 1, Some(1024), "one of a thousand"),
        (0, 2, None, "nearly never"),
        (1023, 1023, Some(1), "nearly always"),
    ] {
        let luck = Luck {
            ratio,
            ..Luck::default()
        };
        assert_eq!(luck.weight(throw), expected, "{because}");
    }
}
