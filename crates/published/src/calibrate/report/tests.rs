// SPDX-License-Identifier: GPL-2.0-only

use super::*;

#[test]
fn a_fit_is_told_to_people_and_programs() {
    let fit = Fit {
        factors: [1125, 442, 2000, 1200],
        misfit: 20_125,
        unfitted: 250_000,
        evaluations: 135,
        also: vec![],
        rows: vec!["juno-hackbench elapsed_s: mean 0.63 published, 0.56 fitted".to_owned()],
        costs: vec![],
    };
    let place = Path::new("mine.toml");
    let text = table(place, &fit);
    for part in [
        "mine.toml: 135 points\n",
        "  switches  times 0.442  switching from a task to another\n",
        "  misfit 0.020125, 0.250000 before\n",
        "0.63 published, 0.56 fitted\n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let document = document(place, &fit);
    assert_eq!(document["schema"], "alight.calibrate/1");
    assert_eq!(document["factors"][1]["name"], "switches");
    assert_eq!(document["factors"][1]["factor"], 0.442);
    assert_eq!(document["misfit"], 0.020125);
}
