// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use crate::statistics::tests::example;

#[test]
fn times_have_units() {
    for (ns, expected) in [
        (0, "0 ns"),
        (999, "999 ns"),
        (1_250, "1.2 us"),
        (340_000, "340.0 us"),
        (2_100_000, "2.1 ms"),
        (30_000_000_000, "30.0 s"),
    ] {
        assert_eq!(time(ns), expected);
    }
}

#[test]
fn a_block_is_the_mechanism_in_a_few_lines() {
    let mut statistics = example();
    statistics.totals.preempted = 10;
    let expected = "\
77 s  linux-5.5+bias-prev  2 of 2 CPUs used
  decisions  150/s  found idle 80.0 %  looked at 2.5 CPUs
  steps      bias_prev 60.0 %  target_idle 40.0 %
  feature    bias-prev 60.0 %
  runs       750/s  delay p50 24.7 us  p99 1.5 ms  max 3.0 ms
  moved      core 0.0 %  cache 6.0 %  node 0.0 %  far 0.0 %
  queues     direct 0/s  queued 0/s  preempted 5/s  SCHED_IDLE thrown off 0/s  yields 1/s  timed 0/s
  balancing  pulled idle 0/s  at tick 0/s  misfit 0/s  spread 0/s  packed 0/s
";
    assert_eq!(block(&statistics, 77_000_000_000), expected);
}

#[test]
fn nothing_happened_is_no_division_by_zero() {
    let text = block(&Statistics::default(), 0);
    assert!(text.contains("steps      none"), "{text}");
}

#[test]
fn a_terminal_gets_no_commands() {
    assert_eq!(printable("linux-7.2\x1b[2J\n"), "linux-7.2[2J");
}
