// SPDX-License-Identifier: GPL-2.0-only
//! One machine that cannot be for each rule of the checks: the rule that finds
//! it, how bad it is, and what it says.

mod common;

use alight_machine::{Error, Severity, check, parse};
use common::{GOOD, spoiled};

struct Case {
    /// What is spoiled.
    old: &'static str,
    new: &'static str,
    /// What must be found.
    rule: &'static str,
    severity: Severity,
    /// Part of the message.
    says: &'static str,
}

const fn error(
    rule: &'static str,
    old: &'static str,
    new: &'static str,
    says: &'static str,
) -> Case {
    let severity = Severity::Error;
    Case {
        old,
        new,
        rule,
        severity,
        says,
    }
}

const fn warning(
    rule: &'static str,
    old: &'static str,
    new: &'static str,
    says: &'static str,
) -> Case {
    let severity = Severity::Warning;
    Case {
        old,
        new,
        rule,
        severity,
        says,
    }
}

const CASES: &[Case] = &[
    error(
        "power-gated",
        "llc = [\"0-1\", \"2-3\"]",
        "llc = [\"0-1\", \"2-3\"]\npower_gated = [\"MC\", \"PKG\"]",
        "found the level PKG, expected a level of this machine: MC, NUMA",
    ),
    error(
        "cpu-gap",
        "cpus = \"0-3\"\ncore",
        "cpus = \"0-2,4\"\ncore",
        "found the CPUs 0-2,4, expected numbers without gaps, 0-3",
    ),
    error(
        "itmt-rank",
        "[topology]",
        "[itmt]\ndriver = \"intel_pstate\"\n[itmt.rank.all]\ncpus = \"0-3\"\npriority = 60\n[topology]",
        "`itmt.rank`: found one priority, expected two at least",
    ),
    error(
        "cpu-in-none",
        "[topology]",
        "[itmt]\ndriver = \"amd_pstate\"\n[itmt.rank.a]\ncpus = \"0-1\"\npriority = 60\n\
         [itmt.rank.b]\ncpus = \"2\"\npriority = 50\n[topology]",
        "`itmt.rank`: found CPU 3 in none of them",
    ),
    error(
        "itmt-core",
        "[topology]\ncpus = \"0-3\"\ncore = [\"0\", \"1\", \"2\", \"3\"]",
        "[itmt]\ndriver = \"intel_pstate\"\n[itmt.rank.a]\ncpus = \"0\"\npriority = 60\n\
         [itmt.rank.b]\ncpus = \"1-3\"\npriority = 50\n[topology]\ncpus = \"0-3\"\n\
         core = [\"0-1\", \"2\", \"3\"]",
        "found CPUs 0 without the others of a core, expected all CPUs of the core 0-1",
    ),
    error(
        "unknown-cpu",
        "llc = [\"0-1\", \"2-3\"]",
        "llc = [\"0-1\", \"2-4\"]",
        "`topology.llc`: found CPU 4, expected only CPUs of `topology.cpus`, 0-3",
    ),
    error(
        "cpu-in-two",
        "llc = [\"0-1\", \"2-3\"]",
        "llc = [\"0-2\", \"2-3\"]",
        "`topology.llc`: found CPU 2 in two of them",
    ),
    error(
        "cpu-in-two",
        "[cluster.small]\ncpus = \"0-1\"",
        "[cluster.small]\ncpus = \"0-2\"",
        "`cluster`: found CPU 2 in two of them",
    ),
    error(
        "cpu-in-two",
        "[freq_domain.large]\ncpus = \"2-3\"",
        "[freq_domain.large]\ncpus = \"1-3\"",
        "`freq_domain`: found CPU 1 in two of them",
    ),
    error(
        "cpu-in-two",
        "[core_type.large]\ncpus = \"2-3\"",
        "[core_type.large]\ncpus = \"1-3\"",
        "`core_type`: found CPU 1 in two of them",
    ),
    error(
        "cpu-in-none",
        "[cluster.small]\ncpus = \"0-1\"",
        "[cluster.small]\ncpus = \"0\"",
        "`cluster`: found CPU 1 in none of them",
    ),
    error(
        "empty-span",
        "llc = [\"0-1\", \"2-3\"]",
        "llc = [\"0-1\", \"\", \"2-3\"]",
        "`topology.llc`: found no CPU",
    ),
    error(
        "smt-siblings-differ",
        "core = [\"0\", \"1\", \"2\", \"3\"]",
        "core = [\"0\", \"1-2\", \"3\"]",
        "`topology.core`: found the span 1-2 across 0-1 and 2-3, expected the span within one \
         `core_type`",
    ),
    error(
        "spans-do-not-nest",
        "core = [\"0\", \"1\", \"2\", \"3\"]",
        "core = [\"0\", \"1-2\", \"3\"]",
        "expected the span within one `topology.llc`",
    ),
    error(
        "spans-do-not-nest",
        "core = [\"0\", \"1\", \"2\", \"3\"]",
        "cls = [\"0\", \"1-3\"]",
        "`topology.cls`: found the span 1-3 across 0-1 and 2-3, expected the span within one \
         `topology.mc`",
    ),
    error(
        "spans-do-not-nest",
        "[cluster.small]\ncpus = \"0-1\"",
        "[cluster.small]\ncpus = [\"0\", \"1-2\"]",
        "`freq_domain`: found the span 0-1 partly in the cluster 1-2, expected one span within",
    ),
    error(
        "llc-straddles-nodes",
        "llc = [\"0-1\", \"2-3\"]",
        "llc = \"0-3\"",
        "`topology.llc`: found the span 0-3 across 0-1 and 2-3, expected the span within one \
         `topology.node`",
    ),
    error(
        "numa-local",
        "[[10, 20], [20, 10]]",
        "[[10, 20], [20, 11]]",
        "found 11 from node 1 to itself, expected 10",
    ),
    error(
        "numa-asymmetric",
        "[[10, 20], [20, 10]]",
        "[[10, 20], [30, 10]]",
        "found 20 from node 0 to 1 but 30 back, expected the same distance both ways",
    ),
    error(
        "numa-remote",
        "[[10, 20], [20, 10]]",
        "[[10, 10], [10, 10]]",
        "found 10 from node 0 to 1, expected more than the local 10",
    ),
    warning(
        "smt-without-siblings",
        "costs = \"big\"",
        "costs = \"big\"\nsmt_percent = 60",
        "`core_type.large.smt_percent`: found 60, expected `topology.core` with several threads",
    ),
    warning(
        "capacity-of-assumed-clock",
        "capacity_dmips_mhz = 1000",
        "capacity_dmips_mhz = { value = 1000, source = \"test\", confidence = \"published\" }",
        "`freq_domain.large.khz`: found an assumed top clock of 2000000 kHz, which the capacities \
         follow from, expected the top clock that the machine has",
    ),
    warning(
        "tick-rate",
        "hz = 250",
        "hz = 251",
        "`hz`: found 251, expected one of",
    ),
    error(
        "opp-order",
        "khz = [500_000, 1_000_000]",
        "khz = [1_000_000, 1_000_000]",
        "`freq_domain.small.khz`: found 1000000 after 1000000, expected rising frequencies",
    ),
    error(
        "falling-capacity",
        "capacity = [128, 256]",
        "capacity = [257, 256]",
        "`freq_domain.small.capacity`: found 256 at 1000000 kHz after 257",
    ),
    warning(
        "falling-power",
        "core_power_mw = [50, 120]",
        "core_power_mw = [50, 49]",
        "`freq_domain.small.core_power`: found 49000 uW at 1000000 kHz after 50000 uW",
    ),
    warning(
        "falling-cluster-power",
        "cluster_power_mw = [10, 20]",
        "cluster_power_mw = [10, 8]",
        "`freq_domain.small.cluster_power`: found 8000 uW at 1000000 kHz after 10000 uW",
    ),
    warning(
        "core-power-missing",
        "core_power_mw = [50, 120]",
        "core_power_mw = [0, 120]",
        "`freq_domain.small.core_power`: found 0 at 500000 kHz",
    ),
    warning(
        "cluster-power-missing",
        "cluster_power_mw = [10, 20]",
        "cluster_power_mw = [0, 0]",
        "`freq_domain.small.cluster_power`: found 0 at every frequency",
    ),
    warning(
        "low-clock",
        "khz = [500_000, 1_000_000]",
        "khz = [9_999, 1_000_000]",
        "`freq_domain.small.khz`: found 9999 kHz, expected a clock of a CPU in kHz, 10000 or more",
    ),
    warning(
        "latency-above-residency",
        "residency_us = 500",
        "residency_us = 299",
        "found a residency of 299 us, expected at least entry plus exit, 300 us",
    ),
    error(
        "wakeup-below-exit",
        "wakeup_us = 250",
        "wakeup_us = 199",
        "found 199 us, expected at least the exit latency, 200 us",
    ),
    warning(
        "idle-order",
        "exit_us = 1\nresidency_us = 1",
        "exit_us = 251\nresidency_us = 251",
        "found a latency of 250 us, less than the 251 us of `WFI` before it",
    ),
    warning(
        "idle-order",
        "residency_us = 1\n",
        "residency_us = 501\n",
        "found a residency of 500 us, less than the 501 us of `WFI` before it",
    ),
    error(
        "idle-order",
        "power_mw = 5\n",
        "power_uw = 999\n",
        "found 1000 uW, more than the 999 uW of `WFI` before it",
    ),
    error(
        "domain-state-order",
        "name = \"cluster-sleep\"",
        "name = \"doze\"\nexit_us = 2\nresidency_us = 2\npower_mw = 4\nscope = \"domain\"\n\n\
         [[core_type.small.idle_state]]\nname = \"cluster-sleep\"",
        "`core_type.small.idle_state.cluster-sleep`: found a state after `doze`, expected \
         states of scope `domain` last, after one of scope `core`",
    ),
    error(
        "domain-state-order",
        "[core_type.large]",
        "[[core_type.small.idle_state]]\nname = \"off\"\nexit_us = 300\nresidency_us = 900\n\
         power_mw = 0\nscope = \"domain\"\n\n[core_type.large]",
        "`core_type.small.idle_state.off`: found a state after `cluster-sleep`",
    ),
    error(
        "first-idle-state",
        "name = \"WFI\"\nexit_us = 2",
        "name = \"retention\"\ntimer_stops = true\nexit_us = 2",
        "`core_type.large.idle_state.retention`: found a first state that stops the timer",
    ),
    error(
        "idle-power-above-busy",
        "power_mw = 20",
        "power_mw = 197",
        "found 197000 uW, expected at most the power of a busy core at its lowest frequency, \
         196000 uW",
    ),
    error(
        "cluster-off-power",
        "off_power_mw = 1",
        "off_power_mw = 9",
        "`cluster.small.off_power_mw`: found 9000 uW, expected at most its idle power, 8000 uW",
    ),
    error(
        "capacity-mismatch",
        "capacity = 256",
        "capacity = 258",
        "`core_type.small.capacity`: found 258, expected 256, as `capacity_dmips_mhz`",
    ),
    error(
        "capacity-mismatch",
        "capacity = [128, 256]",
        "capacity = [128, 255]",
        "`freq_domain.small.capacity`: found 255 at the top frequency, expected 256",
    ),
    error(
        "biggest-capacity",
        "[core_type.large]",
        "[core_type.large]\ncapacity = 1023",
        "found 1023 as the biggest capacity, expected 1024",
    ),
    error(
        "speed-missing",
        "costs = \"big\"",
        "costs = \"big\"\nspeed = 1024",
        "found no `speed`, expected a `speed` in each core type",
    ),
    error(
        "fastest-speed",
        "costs = \"big\"",
        "costs = \"big\"\nspeed = 1023",
        "found 1023 as the greatest speed, expected 1024",
    ),
    error(
        "mixed-freq-domain",
        "[freq_domain.large]\ncpus = \"2-3\"",
        "[freq_domain.large]\ncpus = \"1-3\"",
        "`freq_domain.large`: found CPUs of the capacities",
    ),
    error(
        "zero-cost",
        "[memory]",
        "[costs.little]\nwakeup_ns = 0\n\n[memory]",
        "`costs.little.wakeup_ns`: found 0, expected a cost",
    ),
    error(
        "zero-cost",
        "refill_mlp = 3",
        "refill_mlp = 0",
        "`memory.refill_mlp`: found 0, expected 1 or more",
    ),
    error(
        "memory-order",
        "cross_llc_line_ns = 100",
        "cross_llc_line_ns = 19",
        "found lines in 20 ns from the LLC, 19 ns from another",
    ),
];

#[test]
fn the_good_machine_has_no_finding() {
    let draft = parse("good.toml", GOOD).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(check(&draft), []);
    let sheet = draft.resolve().unwrap();
    assert_eq!(sheet.machine.cpus[0].capacity_orig, 256);
    assert_eq!(sheet.machine.freq_domains[1].opps[0].core_power_uw, 196_000);
}

#[test]
fn every_rule_finds_its_case() {
    for case in CASES {
        let text = spoiled(case.old, case.new);
        let draft = parse("bad.toml", &text).unwrap_or_else(|e| panic!("{}: {e}", case.rule));
        let findings = check(&draft);
        let found = findings
            .iter()
            .find(|finding| finding.rule == case.rule && finding.to_string().contains(case.says));
        let Some(found) = found else {
            panic!("{} `{}` not among {findings:#?}", case.rule, case.says);
        };
        assert_eq!(found.severity, case.severity, "{}", case.rule);
        assert!(found.to_string().starts_with("bad.toml:"), "{found}");
        let resolved = draft.resolve();
        match case.severity {
            Severity::Error => {
                let Err(Error::Impossible { findings }) = resolved else {
                    panic!("{}: resolved", case.rule);
                };
                assert!(findings.iter().any(|finding| finding.rule == case.rule));
            }
            Severity::Warning => {
                let warnings = resolved.unwrap().warnings;
                assert!(warnings.iter().any(|finding| finding.rule == case.rule));
            }
        }
    }
}

/// Three nodes in a row, or each near each other.
#[test]
fn spans_of_nodes_that_overlap_are_said() {
    let three = GOOD
        .replace("llc = [\"0-1\", \"2-3\"]", "llc = [\"0-1\", \"2\", \"3\"]")
        .replace(
            "node = [\"0-1\", \"2-3\"]",
            "node = [\"0-1\", \"2\", \"3\"]",
        )
        .replace(
            "[cluster.large]\ncpus = \"2-3\"",
            "[cluster.large]\ncpus = [\"2\", \"3\"]",
        );
    for (matrix, says) in [
        (
            "[[10, 20, 30], [20, 10, 20], [30, 20, 10]]",
            Some("found nodes 0 and 2 both nearer to node 1 than to each other"),
        ),
        ("[[10, 20, 20], [20, 10, 20], [20, 20, 10]]", None),
        ("[[10, 20, 30], [20, 10, 30], [30, 30, 10]]", None),
    ] {
        let text = three.replace("[[10, 20], [20, 10]]", matrix);
        let sheet = parse("m.toml", &text).unwrap().resolve().unwrap();
        let warnings: Vec<String> = sheet.warnings.iter().map(ToString::to_string).collect();
        assert_eq!(warnings.len(), usize::from(says.is_some()), "{warnings:?}");
        assert!(
            warnings
                .iter()
                .all(|warning| warning.contains(says.unwrap_or("")))
        );
    }
}

/// The big CPUs moved into the cluster of the little ones, all with two states of the domain.
fn one_domain(of_large: &str) -> String {
    let state = |core: &str, name: &str, times: &str| {
        format!(
            "[[core_type.{core}.idle_state]]\nname = \"{name}\"\nscope = \"domain\"\n{times}\n\
             power_mw = 0\n\n"
        )
    };
    let (shallow, deep) = (
        "entry_us = 300\nexit_us = 400\nresidency_us = 900",
        "entry_us = 500\nexit_us = 600\nresidency_us = 2000",
    );
    let of = |core: &str, deep: &str| state(core, "l3", shallow) + &state(core, "all", deep);
    let (small, large) = (of("small", deep), of("large", of_large));
    GOOD.replace("scope = \"cluster\"\n", "")
        .replace("[core_type.large]", &format!("{small}[core_type.large]"))
        .replace(
            "[freq_domain.small]",
            &format!("{large}[freq_domain.small]"),
        )
        .replace(
            "node = [\"0-1\", \"2-3\"]\nnuma_distance = [[10, 20], [20, 10]]\n",
            "",
        )
        .replace(
            "[cluster.small]\ncpus = \"0-1\"",
            "[cluster.all]\ncpus = \"0-3\"",
        )
        .replace(
            "[cluster.large]\ncpus = \"2-3\"\nidle_power_mw = 8\noff_power_mw = 1\n",
            "",
        )
}

#[test]
fn a_domain_may_have_several_states_and_all_its_core_types_have_the_same() {
    for (of_large, says) in [
        ("entry_us = 500\nexit_us = 600\nresidency_us = 2000", None),
        (
            "entry_us = 500\nexit_us = 600\nresidency_us = 2001",
            Some(
                "`core_type.large.idle_state`: found states of scope `domain` with entry, exit, \
                 residency [(300, 400, 900), (500, 600, 2001)] us, expected [(300, 400, 900), \
                 (500, 600, 2000)] us as in core_type.small",
            ),
        ),
    ] {
        let found = check(&parse("m.toml", &one_domain(of_large)).unwrap());
        let errors: Vec<String> = (found.iter())
            .filter(|finding| finding.severity == Severity::Error)
            .map(ToString::to_string)
            .collect();
        assert_eq!(errors.len(), usize::from(says.is_some()), "{errors:?}");
        assert!(
            errors
                .iter()
                .all(|error| error.contains(says.unwrap_or("")))
        );
    }
}
