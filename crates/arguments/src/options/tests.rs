// SPDX-License-Identifier: GPL-2.0-only

use super::*;

#[test]
fn levels_go_by_the_kernels_names() {
    for (gated, kind) in [
        (Gated::Smt, LevelKind::Smt),
        (Gated::Cls, LevelKind::Cluster),
        (Gated::Mc, LevelKind::Cache),
        (Gated::Pkg, LevelKind::Package),
    ] {
        assert!(gated.is(kind));
        assert!(!gated.is(LevelKind::Numa { distance: 20 }));
    }
}
