// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use crate::calibrate::Start;

#[test]
fn a_fit_is_told_to_people_and_programs() {
    let fit = Fit {
        factors: [1125, 442, 2000, 1200, 1000],
        misfit: 20_125,
        unfitted: 250_000,
        evaluations: 135,
        starts: vec![Start {
            from: [1000, 500, 2000, 1000, 1000],
            to: [1125, 442, 2000, 1200, 1000],
            misfit: 20_125,
        }],
        open: vec![[1125, 350, 2000, 1200, 1000], [1400, 600, 2000, 1200, 1000]],
        also: vec![],
        rows: vec!["juno-hackbench elapsed_s: mean 0.63 published, 0.56 fitted".to_owned()],
        costs: vec![],
    };
    let place = Path::new("mine.toml");
    let text = table(place, &fit);
    for part in [
        "mine.toml: 135 points\n",
        "  calls      times 1.125, left open from 1.125 to 1.400  what a system call of a task does itself\n",
        "  switches   times 0.442, left open from 0.350 to 0.600  switching from a task to another\n",
        "  misfit 0.020125, 0.250000 before; left open up to 0.030125\n",
        "  from 1.000 0.500 2.000 1.000 1.000 to 1.125 0.442 2.000 1.200 1.000, misfit 0.020125\n",
        "0.63 published, 0.56 fitted\n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let document = document(place, &fit);
    assert_eq!(document["schema"], "alight.calibrate/1");
    assert_eq!(document["factors"][1]["name"], "switches");
    assert_eq!(document["factors"][1]["factor"], 0.442);
    assert_eq!(document["factors"][1]["open_from"], 0.35);
    assert_eq!(document["starts"][0]["to"][1], 0.442);
    assert_eq!(document["open"][1][0], 1.4);
    assert_eq!(document["misfit"], 0.020125);
}
