// SPDX-License-Identifier: GPL-2.0-only
//! Which interrupt wakes, and how long interrupts take.

use super::*;

#[test]
fn the_innermost_interrupt_that_says_it_wakes() {
    let cases: [(&[Interrupt], Source); 7] = [
        (&[], Source::Unknown),
        (&[Interrupt::Device(3)], Source::Device),
        (
            &[Interrupt::Device(3), Interrupt::Softirq(1)],
            Source::Timer,
        ),
        (&[Interrupt::Tick, Interrupt::Softirq(7)], Source::Timer),
        (&[Interrupt::Softirq(9)], Source::Unknown),
        (
            &[Interrupt::Softirq(1), Interrupt::Device(3)],
            Source::Device,
        ),
        (
            &[Interrupt::Softirq(3), Interrupt::Hrtimer(9)],
            Source::Timer,
        ),
    ];
    for (within, expected) in cases {
        let mut nesting = Nesting::default();
        for &interrupt in within {
            nesting.begin(interrupt, 0, 0);
        }
        assert_eq!(nesting.source(), expected, "{within:?}");
    }
}

#[test]
fn time_in_interrupts_is_counted_once() {
    let mut nesting = Nesting::default();
    nesting.begin(Interrupt::Device(3), 100, 0);
    nesting.begin(Interrupt::Softirq(3), 110, 0);
    assert_eq!(nesting.take_spent(120), 20);
    nesting.end(Interrupt::Softirq(3), 130);
    nesting.end(Interrupt::Device(3), 150);
    assert_eq!(nesting.take_spent(500), 30);
    assert!(!nesting.is_inside());
}

#[test]
fn an_end_without_a_begin_is_nothing_and_ends_what_is_within() {
    let mut nesting = Nesting::default();
    nesting.end(Interrupt::Tick, 10);
    nesting.begin(Interrupt::Device(3), 20, 0);
    nesting.begin(Interrupt::Hrtimer(1), 30, 0);
    // The end of the timer was lost.
    nesting.end(Interrupt::Device(3), 40);
    assert!(!nesting.is_inside());
    assert_eq!(nesting.take_spent(40), 20);
}
