// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use crate::small::{A, B, lines, switch, trace};

#[test]
fn a_slice_ends_with_the_next_switch_or_with_the_trace() {
    let trace = trace(&[
        (100, 1, switch(0, 0, A)),
        (200, 1, switch(A, 0, B)),
        (300, 1, switch(B, 1, 0)),
        (400, 0, switch(0, 0, A)),
    ]);
    assert_eq!(
        lines(&slices(&trace)),
        [
            "Time cpu pid comm duration",
            "100 1 100 a 1e-7",
            "200 1 101 b 1e-7",
            "400 0 100 a 6e-7",
        ]
    );
}
