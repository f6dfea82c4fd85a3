// SPDX-License-Identifier: GPL-2.0-only
//! What a heat map hands to its script.

use super::*;
use crate::columns::tests::Reader;

fn heat(maps: &[&[u32]]) -> Heat {
    Heat {
        names: vec!["CPU 0".into(), "</script>".into()],
        from: "previous".into(),
        to: "chosen".into(),
        counted: "wakeups".into(),
        borders: vec![],
        strong_borders: vec![1],
        maps: (maps.iter())
            .map(|counts| Map {
                name: "run".into(),
                counts: counts.to_vec(),
            })
            .collect(),
        short: Table::new(["", "same CPU"]).row(["run", "84.25"]),
    }
}

#[test]
fn a_map_has_as_many_cells_as_the_names_ask_for() {
    let heat = heat(&[&[1, 2, 3, u32::MAX], &[5], &[1, 2, 3, 4, 5]]);
    let mut reader = Reader::new(&heat.packed());
    for counts in [[1, 2, 3, u64::from(u32::MAX)], [5, 0, 0, 0], [1, 2, 3, 4]] {
        assert_eq!(reader.column(4).as_slice(), counts);
    }
    assert!(reader.is_at_end());
}

#[test]
fn its_summary_is_always_shown_and_its_names_stay_inside() {
    let html = heat(&[&[1]]).markup().into_string();
    assert!(html.contains(">84.25<") && !html.contains("<noscript>"));
    assert_eq!(html.matches("</script>").count(), 2);
}
