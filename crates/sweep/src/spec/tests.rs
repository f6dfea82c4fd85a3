// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use crate::synthetic::file;

/// A file that is right.
const RIGHT: &str = "base = \"linux-6.5\"
schedulers = [\"bias-prev:spare=0..512 step 64\"]
objectives = { elapsed_s = \"minimise\", energy_j = \"minimise\" }";

fn parsed(more: &str) -> Spec {
    let text = file(more);
    Spec::parse("x.toml", &text).unwrap_or_else(|error| panic!("{more}: {error}"))
}

#[test]
fn a_file_is_read() {
    let spec = parsed(&format!(
        "{RIGHT}\ntitle = \"a question\"\nseed = 7\nruns = 3\n\
         constraints = [\"run_delay_p99_us <= 500\", \"energy_j <= 102 % of base\"]\n\
         options = {{ duration = \"5s\" }}\nmatters_percent = 2\n\
         [[factor]]\nmachine = \"memory.llc_line_ns\"\ntimes = [0.5, 1, 2]\n\
         [[factor]]\nmachine = \"core_type.*.l2_kib\"\nvalues = \"512..2048 step 512\""
    ));
    assert_eq!(spec.title, "a question");
    assert_eq!(
        spec.base.as_ref().map(|base| base.name.as_str()),
        Some("linux-6.5")
    );
    assert_eq!(
        (spec.seed, spec.runs.most(), spec.matters_percent),
        (7, 3, 2.0)
    );
    assert_eq!(spec.options, [("duration".to_owned(), "5s".to_owned())]);
    let metrics: Vec<&str> = spec.objectives.iter().map(|o| o.metric.as_str()).collect();
    assert_eq!(
        metrics,
        ["elapsed_s", "energy_j"],
        "in the order of the file"
    );
    let texts: Vec<String> = spec.constraints.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        ["run_delay_p99_us <= 500", "energy_j <= 102 % of base"]
    );
    assert!(spec.figures[0].times && !spec.figures[1].times);
    assert_eq!(spec.figures[0].levels.raw(0), Some(500));
    assert_eq!(spec.figures[1].levels.count(), 4);
}

#[test]
fn what_is_left_out_has_a_default() {
    let spec = parsed("schedulers = [\"linux-6.5\", \"bias-prev\"]\nobjectives.x = \"maximise\"");
    assert_eq!(
        spec.base.map(|base| base.name).as_deref(),
        Some("linux-6.5")
    );
    let names: Vec<&str> = spec.templates.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(
        names,
        ["linux-6.5+bias-prev"],
        "the first is the base of two"
    );
    assert_eq!(
        (spec.design, spec.seed, spec.runs.most()),
        (Design::Grid, 1, 10)
    );
    // One scheduler alone, or one that varies, is compared with none.
    for schedulers in ["\"linux-6.5\"", "\"bias-prev:spare=0..9\", \"linux-6.1\""] {
        let more = format!("schedulers = [{schedulers}]\nobjectives.x = \"maximise\"");
        assert_eq!(parsed(&more).base, None, "{schedulers}");
    }
}

#[test]
fn a_mistake_is_told_with_its_place() {
    let cases = [
        (
            "schemes = 1",
            "x.toml:7:1: unknown key `schemes` at the top of the file",
        ),
        (
            "runs = 0",
            "x.toml:7:8: `runs` is 0, expected a whole number from 1 to 1000000",
        ),
        (
            "runs = \"3\"",
            "x.toml:7:8: `runs` is text \"3\", expected a whole number",
        ),
        ("seed = -1", "`seed` is -1, expected a whole number"),
        (
            "design = \"latin\"",
            "x.toml:7:10: design is `latin`, expected `grid`, `sobol`",
        ),
        (
            "samples = 8",
            "`samples` belongs to the design `sobol`, and the design is `grid`",
        ),
        (
            "design = \"sobol\"\ntrajectories = 8",
            "belongs to the design `morris`",
        ),
        (
            "constraints = [\"p99 = 3\"]",
            "x.toml:7:16: `p99 = 3` is no constraint",
        ),
        ("constraints = [\"p99 <= 3 % of all\"]", "is no constraint"),
        (
            "options = { duration = \"5\" }",
            "x.toml:7:24: duration '5'",
        ),
        ("options = { speed = \"5\" }", "no option `speed`"),
        (
            "options = { seed = \"5\" }",
            "the key `seed` stands at the top",
        ),
        ("options = { workload = \"x\" }", "`workloads` names them"),
        (
            "matters_percent = 0",
            "expected a percentage above 0, at most 100",
        ),
        (
            "until = { metric = \"x\" }",
            "[until] lacks the key `half_width_percent`",
        ),
        (
            "runs = 3\nuntil = { metric = \"x\", half_width_percent = 1, max_runs = 8 }",
            "x.toml:7:8: the file has both `runs` and `until`",
        ),
        (
            "until = { metric = \"x\", half_width_percent = 1, max_runs = 8, looks = 3 }",
            "unknown key `looks` in [until]",
        ),
        (
            "[[factor]]\nvalues = [1]",
            "x.toml:7:1: [factor] lacks the key `machine`",
        ),
        (
            "[[factor]]\nmachine = \"a\"",
            "x.toml:7:1: [factor] lacks its values",
        ),
        (
            "[[factor]]\nmachine = \"a\"\nvalues = [1]\ntimes = [2]",
            "a factor has either `values` or `times`, found both",
        ),
        (
            "[[factor]]\nmachine = \"a\"\nvalues = \"9..1\"",
            "x.toml:9:10: the range `9..1` is empty",
        ),
        (
            "[[factor]]\nmachine = \"a\"\nvalues = []",
            "the list has an empty value, or none",
        ),
        (
            "[[factor]]\nmachine = \"a\"\nvalues = [\"b\"]",
            "are not all numbers",
        ),
        (
            "[[factor]]\nmachine = \"a\"\nvalues = 3",
            "expected a range like",
        ),
        ("factor = 3", "expected tables headed [[factor]]"),
        (
            "[[factor]]\nmachine = \"a\"\nvalues = [1]\n[[factor]]\nmachine = \"a\"\nvalues = [1]",
            "two factors are of the figure `a`",
        ),
        ("= 3", "x.toml:7:1: "),
    ];
    for (more, message) in cases {
        let text = file(&format!("{RIGHT}\n{more}"));
        let error = Spec::parse("x.toml", &text).expect_err(more).to_string();
        assert!(error.contains(message), "{more}: {error}");
    }
}

#[test]
fn a_share_of_the_base_needs_a_base() {
    let text = file(&format!(
        "{}\nconstraints = [\"x <= 102 % of base\"]",
        RIGHT.replace("base = \"linux-6.5\"\n", "")
    ));
    let error = Spec::parse("x.toml", &text)
        .expect_err("no base")
        .to_string();
    let message =
        "x.toml:6:15: the constraint `x <= 102 % of base` needs a base, and the sweep has none";
    assert!(error.contains(message), "{error}");
}

#[test]
fn what_must_be_there_is_asked_for() {
    for (text, message) in [
        ("", "x.toml:1:1: the file lacks the key `schema`"),
        (
            "schema = \"alight.sweep/2\"",
            "x.toml:1:10: schema is `alight.sweep/2`",
        ),
        (
            "schema = \"alight.sweep/1\"",
            "the file lacks the key `machines`",
        ),
        (
            "schema = \"alight.sweep/1\"",
            "the file lacks the key `workloads`",
        ),
        (
            "schema = \"alight.sweep/1\"",
            "the file lacks the key `schedulers`",
        ),
        (
            "schema = \"alight.sweep/1\"",
            "the file lacks the key `objectives`",
        ),
        (
            "schema = \"alight.sweep/1\"\nmachines = []",
            "x.toml:2:12: `machines` is an empty list",
        ),
        (
            "schema = \"alight.sweep/1\"\nmachines = \"tc2\"",
            "expected a list of texts",
        ),
        (
            "schema = \"alight.sweep/1\"\nobjectives = {}",
            "`objectives` is empty",
        ),
        (
            "schema = \"alight.sweep/1\"\nobjectives.x = \"small\"",
            "x.toml:2:16: `small` is no direction",
        ),
        (
            "schema = \"alight.sweep/1\"\nschedulers = [\"bias-prev:spare=0..2000\"]",
            "x.toml:2:15: ",
        ),
        (
            "schema = \"alight.sweep/1\"\nschedulers = [\"linux-6.5\", \"linux-6.5\"]",
            "x.toml:2:28: the scheduler `linux-6.5` is named twice",
        ),
    ] {
        let error = Spec::parse("x.toml", text).expect_err(text).to_string();
        assert!(error.contains(message), "{text}: {error}");
    }
}

#[test]
fn a_constraint_holds_or_not() {
    for (text, mean, base, expected) in [
        ("x <= 5", 5.0, None, Some(true)),
        ("x <= 5", 5.1, None, Some(false)),
        ("x >= 5", 5.1, None, Some(true)),
        ("x <= 102 % of base", 102.0, Some(100.0), Some(true)),
        ("x<=102%of base", 103.0, Some(100.0), Some(false)),
        ("x >= 90 % of base", 80.0, None, None),
    ] {
        let constraint: Constraint = text.parse().expect(text);
        assert_eq!(constraint.holds(mean, base), expected, "{text}");
    }
}

proptest::proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in ".{0,200}") {
        let _ = Spec::parse("x.toml", &text);
        let _ = Spec::parse("x.toml", &file(&format!("schedulers = [{text:?}]")));
        let _ = Spec::parse("x.toml", &file(&text));
    }
}
