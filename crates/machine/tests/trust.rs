// SPDX-License-Identifier: GPL-2.0-only
//! What answers about a machine rest on, as reports say it.

mod common;

use alight_machine::{
    Confidence, CostStanding, DataSheet, Severity, Speeds, Trust, check, load, parse,
};
use common::GOOD;

fn sheet(text: &str) -> DataSheet {
    let draft = parse("spoiled.toml", text).unwrap_or_else(|error| panic!("{error}"));
    draft.resolve().unwrap_or_else(|error| panic!("{error}"))
}

/// What is replaced, and by what.
type Edit = (&'static str, &'static str);

/// [`GOOD`] with pieces of its text replaced, which must be there.
fn edited(edits: &[Edit]) -> String {
    edits.iter().fold(GOOD.to_owned(), |text, (old, new)| {
        assert!(text.contains(old), "the machine lacks `{old}`");
        text.replacen(old, new, 1)
    })
}

/// Speeds per MHz that somebody published.
const PUBLISHED_DMIPS: [Edit; 2] = [
    (
        "capacity_dmips_mhz = 500\ncapacity = 256",
        "capacity_dmips_mhz = { value = 500, source = \"test\", confidence = \"published\" }",
    ),
    (
        "capacity_dmips_mhz = 1000",
        "capacity_dmips_mhz = { value = 1000, source = \"test\", confidence = \"published\" }",
    ),
];

/// Makes all four CPUs equal to the scheduler.
const ONE_CAPACITY: [Edit; 3] = [
    (
        "capacity_dmips_mhz = 500\ncapacity = 256",
        "capacity = 1024",
    ),
    ("capacity_dmips_mhz = 1000\n", "capacity = 1024\n"),
    ("capacity = [128, 256]\n", ""),
];
const ONE_CLOCK: Edit = (
    "khz = [500_000, 1_000_000]\n",
    "khz = [1_000_000, 2_000_000]\n",
);
const ONE_L2: Edit = ("l2_kib = 128", "l2_kib = 512");
const ONE_CLASS: Edit = ("costs = \"little\"", "costs = \"big\"");

/// The machine, what is known of its speeds, whether `check` warns.
#[test]
fn speeds_are_known_or_said_to_be_assumed() {
    let published = (
        "test = { text = \"made for a test\", confidence = \"assumed\" }",
        "test = { text = \"made for a test\", confidence = \"published\" }",
    );
    let [small, large, column] = ONE_CAPACITY;
    let equal = "ASSUMED EQUAL: CPUs 0-1 (small, 1000 MHz) and CPUs 2-3 (large, 2000 MHz) do the \
                 same work in the same time";
    let assumed = "ASSUMED: nobody measured the capacities of the core types, or the clocks that they \
                   follow from";
    let cases: &[(&str, &[Edit], &str, bool)] = &[
        ("speeds per MHz", &[published], "stated by core type", false),
        (
            "published speeds per MHz, assumed clocks",
            &PUBLISHED_DMIPS,
            assumed,
            false,
        ),
        ("the same, nobody measured them", &[], assumed, false),
        (
            "capacities that differ",
            &[
                published,
                ("capacity_dmips_mhz = 500\ncapacity = 256", "capacity = 256"),
                large,
            ],
            "stated by core type",
            false,
        ),
        (
            "one capacity, two of everything",
            &[published, small, large, column],
            equal,
            true,
        ),
        (
            "one capacity, two clocks",
            &[small, large, column, ONE_L2, ONE_CLASS],
            equal,
            true,
        ),
        (
            "one capacity, two sizes of L2",
            &[small, large, column, ONE_CLOCK, ONE_CLASS],
            "ASSUMED EQUAL: CPUs 0-1 (small, 2000 MHz) and CPUs 2-3 (large, 2000 MHz) do the same \
             work in the same time",
            true,
        ),
        (
            "one capacity, two classes of cost",
            &[small, large, column, ONE_CLOCK, ONE_L2],
            "ASSUMED EQUAL: CPUs 0-1 (small, 2000 MHz) and CPUs 2-3 (large, 2000 MHz) do the same \
             work in the same time",
            true,
        ),
        (
            "nothing differs",
            &[small, large, column, ONE_CLOCK, ONE_L2, ONE_CLASS],
            "all CPUs are alike",
            false,
        ),
    ];
    for (what, edits, said, warned) in cases {
        let text = edited(edits);
        let speeds = sheet(&text).trust().speeds;
        assert_eq!(speeds.to_string(), *said, "{what}");
        assert_eq!(speeds.are_known(), !said.contains("ASSUMED"), "{what}");
        let findings = check(&parse("spoiled.toml", &text).unwrap());
        let found: Vec<_> = findings
            .iter()
            .filter(|finding| finding.rule == "speeds-assumed-equal")
            .collect();
        assert_eq!(found.len(), usize::from(*warned), "{what}: {findings:?}");
        assert!(found.iter().all(|f| f.severity == Severity::Warning));
    }
}

#[test]
fn what_the_scheduler_sees_does_not_tell_the_speed_of_two_pairs() {
    let text = edited(&[
        ("capacity_dmips_mhz = 500\ncapacity = 256", "capacity = 512"),
        ("capacity_dmips_mhz = 1000\n", "capacity = 1024\n"),
        ("capacity = [128, 256]\n", ""),
        (
            "[freq_domain.small]\ncpus = \"0-1\"",
            "[freq_domain.small]\ncpus = \"0\"",
        ),
        (
            "[cluster.small]",
            "[freq_domain.slow]\ncpus = \"1\"\nkhz = [900_000]\ncore_power_mw = [50]\n\
             cluster_power_mw = [10]\nswitch_us = 1\n\n[cluster.small]",
        ),
    ]);
    let speeds = sheet(&text).trust().speeds;
    assert!(matches!(&speeds, Speeds::AssumedEqual(groups) if groups.len() == 1));
    assert_eq!(
        speeds.to_string(),
        "ASSUMED EQUAL: CPU 0 (small, 1000 MHz) and CPU 1 (small, 900 MHz) do the same work in the \
         same time"
    );
}

/// Speeds per MHz beside one capacity say nothing where the clocks differ: it is the capacity that
/// the model goes by. In its place they do.
#[test]
fn speeds_per_mhz_beside_a_capacity_do_not_tell_the_speed() {
    let (head, rest) = GOOD.split_once("[core_type.large]").unwrap();
    let (_, rest) = rest.split_once("[freq_domain.small]").unwrap();
    let one_type = format!("{head}[freq_domain.small]{rest}")
        .replacen(
            "[core_type.small]\ncpus = \"0-1\"",
            "[core_type.small]\ncpus = \"0-3\"",
            1,
        )
        .replacen("capacity = [128, 256]\n", "", 1);
    let beside = one_type.replacen("capacity = 256\n", "capacity = 1024\n", 1);
    let speeds = sheet(&beside).trust().speeds;
    assert!(matches!(speeds, Speeds::AssumedEqual(_)), "{speeds}");
    let instead = sheet(&one_type.replacen("capacity = 256\n", "", 1));
    assert_eq!(instead.machine.cpus[0].capacity_orig, 512);
    let known = instead.trust().speeds;
    assert_eq!(
        known,
        Speeds::Assumed,
        "the speeds, but not that they are equal"
    );
}

/// The machine, its standing, how the sentence begins.
#[test]
fn costs_say_where_they_come_from() {
    let cases = [
        ("juno-r0", CostStanding::Fitted, "fitted to rework-"),
        (
            "juno-r2",
            CostStanding::Fitted,
            "those of juno-r0, fitted to rework-",
        ),
        (
            "gs101",
            CostStanding::Assumed,
            "ASSUMED: gs101 has no calibration, its costs are those of its class of cores",
        ),
    ];
    for (machine, standing, begins) in cases {
        let trust = load(machine).unwrap().trust();
        assert_eq!(trust.costs.standing, standing, "{machine}");
        let said = trust.costs.to_string();
        assert!(said.starts_with(begins), "{machine}: {said}");
    }
}

#[test]
fn costs_that_were_measured_in_part_name_the_others() {
    let own = "\n[costs.big]\npipe_ns = { value = 900, source = \"bench\" }\n";
    let text = edited(&[
        ("costs = \"little\"", "costs = \"big\""),
        (
            "[topology]",
            "bench = { text = \"micro-benchmarks\", confidence = \"measured\" }\n\n[topology]",
        ),
    ]) + own;
    let trust = sheet(&text).trust();
    assert_eq!(trust.costs.standing, CostStanding::PartlyAssumed);
    // What a pipe's read and mutexes take follows from what its write does.
    let measured = [
        "pipe_held_ns",
        "pipe_ns",
        "pipe_read_held_ns",
        "pipe_read_ns",
    ];
    assert_eq!(trust.costs.keys[&Confidence::Measured], measured);
    assert!(trust.costs.assumed().contains(&"wakeup_ns".to_owned()));
    let said = trust.costs.to_string();
    assert!(
        said.starts_with("4 measured, 23 ASSUMED (fork_ns, futex_ns, "),
        "{said}"
    );
}

#[test]
fn an_edited_file_is_no_longer_fitted() {
    let text = include_str!("../../../machines/ca9x4.toml");
    let trust = sheet(&format!("# edited\n{text}")).trust();
    assert_eq!(trust.costs.standing, CostStanding::NoLongerFitted);
    let said = trust.costs.to_string();
    let begins = "NO LONGER FITTED: the file was edited since `alight calibrate ca9x4`; fitted to ";
    assert!(said.starts_with(begins), "{said}");
}

#[test]
fn json_has_the_hash_as_it_is_printed() {
    let sheet = load("juno-r0").unwrap();
    let trust: Trust = sheet.trust();
    let json = serde_json::to_value(&trust).unwrap();
    assert_eq!(json["machine"], "juno-r0");
    assert_eq!(json["hash"], format!("{:016x}", sheet.machine.hash()));
    assert_eq!(json["capacities"], "derived");
    assert_eq!(json["speeds"]["are"], "stated");
    assert_eq!(json["costs"]["standing"], "fitted");
}

/// A capacity that is the product of a published figure and a guess is a guess.
#[test]
fn capacities_are_known_no_better_than_the_clocks() {
    let published = edited(&PUBLISHED_DMIPS);
    assert_eq!(sheet(&published).trust().capacities, Confidence::Assumed);
    let khz = |values: &str| format!("khz = {values}");
    let stated = |values: &str| {
        format!("khz = {{ value = {values}, source = \"test\", confidence = \"published\" }}")
    };
    let known = ["[500_000, 1_000_000]", "[1_000_000, 2_000_000]"]
        .into_iter()
        .fold(published, |text, values| {
            text.replacen(&khz(values), &stated(values), 1)
        });
    let known = sheet(&known).trust();
    assert_eq!(known.capacities, Confidence::Derived);
    assert_eq!(known.speeds, Speeds::Stated);
}
