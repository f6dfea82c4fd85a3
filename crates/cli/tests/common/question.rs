// SPDX-License-Identifier: GPL-2.0-only
//! A comparison that is quick, for tests of what is made of it.

pub const QUESTION: [&str; 9] = [
    "compare",
    "-m",
    "juno-r0",
    "-w",
    "hackbench -g 1 -l 20",
    "--runs",
    "2",
    "linux-5.5",
    "+asym-capacity",
];
