// SPDX-License-Identifier: GPL-2.0-only

use super::*;

#[test]
fn a_list_names_cpus_of_the_machine() {
    for (list, expected) in [
        ("0", Some(vec![0])),
        ("2,0-1", Some(vec![0, 1, 2])),
        ("0-3,3", Some(vec![0, 1, 2, 3])),
        ("4", None),
        ("0-4", None),
        ("2-1", None),
        ("", None),
        ("0,", None),
        ("-1", None),
        ("a", None),
        ("0-4294967296", None),
    ] {
        assert_eq!(cpus(list, 4), expected, "{list}");
    }
}
