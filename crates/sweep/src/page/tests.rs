// SPDX-License-Identifier: GPL-2.0-only

use alight_sim::Scenario;

use super::*;
use crate::synthetic::{noise, run, spare, sweep};

#[test]
fn the_page_has_what_the_terminal_has() {
    let folder = tempfile::tempdir().expect("a folder");
    let sweep = sweep(
        "title = \"spare <room>\"\nbase = \"linux-6.5\"\nruns = 4\n\
         schedulers = [\"bias-prev:spare=0..512 step 256\"]\n\
         objectives = { y = \"minimise\", events = \"maximise\" }",
    );
    let truth = |scenario: &Scenario<'_>| {
        1000.0 - f64::from(spare(scenario).unwrap_or(0)) + noise(scenario, 3)
    };
    let store = run(&sweep, &folder.path().join("s"), &truth).expect("a store");
    let answer = Answer::of(&store).expect("an answer");
    let html = page(&answer);
    for part in [
        "spare &lt;room&gt;",
        "minimise y, maximise events",
        "best y: +bias-prev:spare=512",
        "y beside the base",
        "y by the factors of +bias-prev:spare=*",
        "bias-prev:spare",
        "matters; least at 512, most at 0",
        "alight sweep x.toml",
    ] {
        assert!(html.contains(part), "{part}\n{html}");
    }
    assert_eq!(html, page(&answer), "the same answer, the same bytes");
}
