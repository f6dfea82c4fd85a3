// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use crate::synthetic::{file, sweep};

const OBJECTIVE: &str = "base = \"linux-6.5\"\nobjectives.elapsed_s = \"minimise\"";

fn labels(sweep: &Sweep) -> Vec<String> {
    let settings = |cell: Cell| {
        let place = sweep.describe(&cell);
        let settings = cell.settings.into_iter();
        settings.map(move |setting| format!("{place}: {}", setting.scheduler))
    };
    (0..sweep.cells())
        .flat_map(|cell| settings(sweep.cell(cell)))
        .collect()
}

#[test]
fn every_setting_runs_once_at_every_place() {
    let sweep = sweep(&format!(
        "{OBJECTIVE}\nschedulers = [\"bias-prev:spare=0..32\", \"sched-idle\"]\n\
         [[factor]]\nmachine = \"memory.llc_line_ns\"\ntimes = [1, 2]"
    ));
    // 34 settings in threes of 16, 16 and 2, for each of two values of the figure.
    assert_eq!((sweep.cells(), sweep.most_runs()), (6, 10 * 2 * (34 + 3)));
    let all = labels(&sweep);
    let settings = all.iter().filter(|label| !label.ends_with(": linux-6.5"));
    let mut settings: Vec<&String> = settings.collect();
    assert_eq!(settings.len(), 2 * 34);
    settings.sort();
    settings.dedup();
    assert_eq!(settings.len(), 2 * 34);
    assert_eq!(
        all[1],
        "juno-r0, 'hackbench -g 1 -l 1', memory.llc_line_ns times 1: \
         linux-6.5+bias-prev:spare=0"
    );
    assert!((0..6).all(|cell| sweep.is_first_of_place(cell) == (cell == 0)));
}

#[test]
fn a_sampled_point_with_figures_is_a_cell() {
    let sweep = sweep(&format!(
        "{OBJECTIVE}\nschedulers = [\"bias-prev:spare=0..512\"]\ndesign = \"morris\"\n\
         trajectories = 3\n[[factor]]\nmachine = \"memory.llc_line_ns\"\ntimes = \"0.5..2 step 0.1\""
    ));
    assert_eq!((sweep.cells(), sweep.most_runs()), (9, 10 * (9 + 9)));
    for number in 0..sweep.cells() {
        let cell = sweep.cell(number);
        assert_eq!(cell.settings.len(), 2);
        // The base runs on the machine of the point.
        assert_eq!(cell.settings[0].levels, cell.settings[1].levels[1..]);
        assert_eq!(cell.figures, cell.settings[0].levels);
    }
}

#[test]
fn a_sampled_sweep_without_figures_shares_the_base() {
    let sweep = sweep(&format!(
        "{OBJECTIVE}\nschedulers = [\"bias-prev:spare=0..512\"]\ndesign = \"sobol\"\nsamples = 16"
    ));
    assert_eq!((sweep.cells(), sweep.most_runs()), (3, 10 * (16 * 3 + 3)));
}

#[test]
fn what_cannot_run_is_named() {
    let scheduler = "schedulers = [\"bias-prev:spare=0..512\"]";
    for (more, message) in [
        (
            "schedulers = [\"pack:mode=none|full\"]\ndesign = \"sobol\"".to_owned(),
            "x.toml: the design `sobol` needs factors that are numbers, and `pack:mode` takes \
             none|full",
        ),
        (
            "schedulers = [\"bias-prev\"]\ndesign = \"morris\"".to_owned(),
            "needs 1 to 128 factors, and `linux-6.5+bias-prev` has 0",
        ),
        (
            "schedulers = [\"bias-prev:spare=3..3\"]\ndesign = \"morris\"".to_owned(),
            "needs factors that vary, and `bias-prev:spare` is always 3",
        ),
        (
            format!("{scheduler}\n[[factor]]\nmachine = \"memory.lines\"\ntimes = [1, 2]"),
            "juno-r0 has no figure `memory.lines`",
        ),
        (
            format!("{scheduler}\n[[factor]]\nmachine = \"hz\"\nvalues = [100, 0]"),
            "the factor `hz` at 0: ",
        ),
        (
            format!("{scheduler}\n[[factor]]\nmachine = \"hz\"\nvalues = [100, 0, 250]"),
            "the factor `hz` at 0: ",
        ),
        (
            format!(
                "{scheduler}\n[[factor]]\nmachine = \"memory.llc_line_ns\"\n\
                 values = [40, 60, 100]\n[[factor]]\nmachine = \"memory.cross_llc_line_ns\"\n\
                 values = [80, 120]"
            ),
            "the factors `memory.llc_line_ns` at 100, `memory.cross_llc_line_ns` at 80: ",
        ),
        (
            format!(
                "{scheduler}\n[[factor]]\nmachine = \"costs.*.switch_ns\"\ntimes = [1, 10]\n\
                 [[factor]]\nmachine = 'costs.\"big\".switch_ns'\nvalues = [2000, 3000]"
            ),
            "the factors `costs.*.switch_ns` and `costs.\"big\".switch_ns` both set the figure \
             `costs.big.switch_ns` of juno-r0",
        ),
        (
            format!(
                "{scheduler}\n[[factor]]\nmachine = \"memory.llc_line_ns\"\n\
                 values = \"1..9999999999999 step 9999999999998\""
            ),
            "the factor `memory.llc_line_ns` at 9999999999999: ",
        ),
    ] {
        let text = file(&format!("{OBJECTIVE}\n{more}"));
        let error = Sweep::parse("x.toml", &text, &|_| ())
            .err()
            .map(|error| error.to_string());
        assert!(
            error.as_ref().is_some_and(|error| error.contains(message)),
            "{more}: {error:?}"
        );
    }
    for (machines, message) in [
        ("\"jun-r0\"", "unknown machine `jun-r0`"),
        ("\"juno-r0\", \"juno-r0\"", "is named twice"),
    ] {
        let text = file(&format!("{OBJECTIVE}\n{scheduler}")).replace("\"juno-r0\"", machines);
        let error = Sweep::parse("x.toml", &text, &|_| ())
            .err()
            .map(|error| error.to_string());
        assert!(
            error.as_ref().is_some_and(|error| error.contains(message)),
            "{error:?}"
        );
    }
}

#[test]
fn ten_million_cells_need_no_memory() {
    let sweep = sweep(&format!(
        "{OBJECTIVE}\nschedulers = [\"bias-prev:spare=0..1024\"]\n\
         [[factor]]\nmachine = \"memory.channel_lines\"\nvalues = \"1..1000\"\n\
         [[factor]]\nmachine = \"memory.working_set_kib\"\nvalues = \"1..500\""
    ));
    assert_eq!(sweep.cells(), 1000 * 500 * 65);
    let last = sweep.cell(sweep.cells() - 1);
    let names: Vec<&str> = last
        .settings
        .iter()
        .map(|s| s.scheduler.name.as_str())
        .collect();
    assert_eq!(names, ["linux-6.5", "linux-6.5+bias-prev:spare=1024"]);
    assert!(
        sweep
            .describe(&last)
            .ends_with("memory.working_set_kib 500")
    );
}

#[test]
fn a_sweep_is_the_same_where_its_files_are_only_texts() {
    let board = alight_machine::load("juno-r0").expect("a machine").text;
    let rtapp = r#"{"tasks": {"one": {"loop": 3, "run": 1000, "sleep": 1000}}}"#;
    let texts: Texts = [
        ("board.toml".to_owned(), board),
        ("one.json".to_owned(), rtapp.to_owned()),
    ]
    .into();
    let text = "schema = \"alight.sweep/1\"\nmachines = [\"tc2\", \"board.toml\"]\n\
                workloads = [\"one.json\", \"hackbench -g 1 -l 1\"]\nbase = \"linux-6.5\"\n\
                schedulers = [\"bias-prev:spare=0..8\"]\nobjectives.energy_j = \"minimise\"";
    let sweep = Sweep::parse_with("s.toml", text, &texts, &|_| ()).expect("a sweep");
    assert_eq!(sweep.texts(), texts);
    let again = Sweep::parse_with("s.toml", text, &sweep.texts(), &|_| ()).expect("a sweep");
    assert_eq!(again.sources, sweep.sources);
}
