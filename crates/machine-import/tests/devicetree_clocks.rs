// SPDX-License-Identifier: GPL-2.0-only
//! Device trees that the tests make: clocks, operating points, and capacities that follow from them.

mod common;

use common::{import, machine, plain, sheet, source_of, spans};

#[test]
fn clocks_are_told_apart_by_what_the_tree_says() {
    let table = "t: t { opp-shared; o { opp-hz = /bits/ 64 <1000000000>; }; };";
    let own = "t: t { o { opp-hz = /bits/ 64 <1000000000>; }; };";
    let clock = "k: k { #clock-cells = <1>; };";
    let qcom = "k: k { #freq-domain-cells = <1>; };";
    for (inside, beside, clocks) in [
        ("operating-points-v2 = <&t>;", table, "0-3"),
        ("operating-points-v2 = <&t>;", own, "0 1 2 3"),
        ("clocks = <&k (@ / 2)>;", clock, "0-1 2-3"),
        ("qcom,freq-domain = <&k (@ / 3)>;", qcom, "0-2 3"),
        ("operating-points = <1000 900000 500 800000>;", "", "0-3"),
        // The older table says nothing of sharing (dt_cpufreq_early_init()).
        (
            "clocks = <&k @>; operating-points = <1000 900000>;",
            clock,
            "0-3",
        ),
        ("", "", "0-3"),
    ] {
        let machine = machine("clocks.dts", plain(4, inside, beside));
        let found = spans(machine.freq_domains.iter().map(|domain| &domain.cpus));
        assert_eq!(found, clocks, "{inside}");
    }
}

#[test]
fn points_that_no_one_chip_has_do_not_stand_together() {
    let table = |points: &[(u64, u32, &str)]| {
        let point = |(number, (mhz, microvolt, masks)): (usize, &(u64, u32, &str))| {
            let masks = match masks.is_empty() {
                true => String::new(),
                false => format!("opp-supported-hw = {masks};"),
            };
            format!(
                "o{number} {{ opp-hz = /bits/ 64 <{mhz}000000>; opp-microvolt = <{microvolt}000>; {masks} }};"
            )
        };
        let points: String = points.iter().enumerate().map(point).collect();
        format!("t: t {{ opp-shared; {points} }};")
    };
    let assumed = "assumed is a chip that has the fastest point, masks";
    for (points, khz, notes) in [
        // Speed grade and market, as i.MX8MQ has them: the slow points of one market are those of another.
        (
            table(&[
                (800, 900, "<0xf>, <0x4>"),
                (1000, 900, "<0xe>, <0x3>"),
                (1300, 1000, "<0xc>, <0x4>"),
                (1500, 1000, "<0x8>, <0x3>"),
            ]),
            "[1000000, 1500000]",
            [
                "<0x8 0x3>, with the points 1500000 kHz <0x8 0x3>, 1000000 kHz <0xe 0x3>, and without \
                 1300000 kHz <0xc 0x4>, 800000 kHz <0xf 0x4>",
                assumed,
            ],
        ),
        // A grade each bit, and a point of all chips.
        (
            table(&[(400, 700, ""), (1000, 900, "<6>"), (1400, 1000, "<4>")]),
            "[400000, 1000000, 1400000]",
            [
                assumed,
                "<0x4>, with the points 1400000 kHz <0x4>, 1000000 kHz <0x6>, 400000 kHz",
            ],
        ),
        // A frequency of two bins: its own voltage for each.
        (
            table(&[(1000, 700, "<1>"), (1000, 800, "<2>"), (1200, 900, "<2>")]),
            "[1000000, 1200000]",
            [assumed, "and without 1000000 kHz <0x1>"],
        ),
        // Two versions of two levels: the second is that of the fastest point.
        (
            table(&[(500, 700, "<1 1>, <2 2>"), (900, 800, "<2 2>")]),
            "[500000, 900000]",
            [assumed, "masks <0x2 0x2>"],
        ),
        (
            table(&[(500, 700, ""), (500, 800, ""), (900, 900, "")]),
            "[500000, 900000]",
            [
                "/t: several points have the frequencies 500000 kHz, with unlike voltages",
                "",
            ],
        ),
    ] {
        let inside = "operating-points-v2 = <&t>; dynamic-power-coefficient = <100>;";
        let imported = import("bins.dts", plain(2, inside, &points));
        let line = format!("khz = {{ value = {khz}, source");
        assert!(imported.toml.contains(&line), "{line}: {}", imported.toml);
        let notes_of = imported.notes.join("\n");
        for note in notes {
            assert!(notes_of.contains(note), "{note}: {notes_of}");
        }
        let source = source_of(&sheet(&imported), "freq_domain.policy0.khz");
        let of_chips = points.contains("supported-hw");
        assert_eq!(source.ends_with("(assumed)"), of_chips, "{source}");
    }
    // The voltage is that of the chip.
    let points = table(&[(1000, 700, "<1>"), (1000, 800, "<2>"), (1200, 900, "<2>")]);
    let inside = "operating-points-v2 = <&t>; dynamic-power-coefficient = <100>;";
    let imported = import("bins.dts", plain(2, inside, &points));
    assert!(
        imported
            .toml
            .contains("microvolt = { value = [800000, 900000],"),
        "{}",
        imported.toml
    );
}

#[test]
fn capacities_without_clocks_are_assumed() {
    let big = |inside: &str| {
        let node = "&c1 { compatible = \"arm,cortex-a76\"; capacity-dmips-mhz = <1024>;";
        plain(2, "capacity-dmips-mhz = <512>;", TABLE) + node + inside + " };"
    };
    const TABLE: &str = "t: t { opp-shared; o { opp-hz = /bits/ 64 <2000000000>; }; };";
    let all = "does not say the top clocks that capacities follow from: assumed is";
    for (text, note, warnings) in [
        // Firmware sets all clocks.
        (big(""), "the same clock for all CPUs", 2),
        // Of one CPU.
        (
            big("operating-points-v2 = <&t>;"),
            "1000000 kHz where none is said",
            1,
        ),
        // CPUs of one kind have one capacity, whatever the clock is.
        (plain(2, "capacity-dmips-mhz = <512>;", ""), "", 0),
    ] {
        let imported = import("a.dts", &text);
        let notes = imported.notes.join("\n");
        assert_eq!(notes.contains(all), !note.is_empty(), "{notes}");
        assert!(notes.contains(note), "{note}: {notes}");
        let sheet = sheet(&imported);
        assert_eq!(sheet.trust().speeds.are_known(), note.is_empty());
        let found = sheet.warnings.iter();
        let found = found.filter(|found| found.rule == "capacity-of-assumed-clock");
        assert_eq!(found.count(), warnings, "{text}");
    }
}

#[test]
fn older_operating_points_are_those_of_all_cpus() {
    let first = |inside: &str| {
        let points = "operating-points = <1200000 1275000 396000 975000>; clocks = <&k 1>;";
        plain(2, "", "k: k { #clock-cells = <1>; };") + "&c0 { " + points + inside + " };"
    };
    let other = "&c1 { operating-points = <900000 1000000>; };";
    let latency = "clock-latency = <61036>;";
    for (text, switch_us, note) in [
        (first(""), 50, "does not say the time of a clock change"),
        (first(latency), 61, ""),
        (
            first(latency) + other,
            61,
            ", operating-points: other frequencies than those of the CPUs before it",
        ),
    ] {
        let imported = import("older.dts", &text);
        let sheet = sheet(&imported);
        let [domain] = &sheet.machine.freq_domains[..] else {
            panic!("one clock: {}", imported.toml);
        };
        let khz: Vec<u32> = domain.opps.iter().map(|opp| opp.khz).collect();
        assert_eq!(
            (domain.cpus.to_string(), khz),
            ("0-1".into(), vec![396_000, 1_200_000])
        );
        assert_eq!(domain.switch_ns, switch_us * 1000);
        let notes = imported.notes.join("\n");
        assert!(notes.contains(note), "{note}: {notes}");
        for (known, other) in [
            (switch_us == 61, "the time of a clock change"),
            (true, "frequencies"),
        ] {
            assert_eq!(
                notes.contains(&format!("does not say {other}")),
                !known,
                "{notes}"
            );
        }
    }
}

/// Two kinds of core, of which nothing is said that would tell their clocks or capacities apart.
#[test]
fn each_kind_of_core_has_its_own_assumed_power() {
    let text = plain(2, "", "") + "&c1 { compatible = \"arm,cortex-a72\"; };";
    let imported = import("kinds.dts", text);
    let machine = sheet(&imported).machine;
    let domains = machine.freq_domains.iter();
    let powers: Vec<u64> = domains.map(|domain| domain.opps[0].core_power_uw).collect();
    assert_eq!(powers, [200_000, 1_000_000]);
    let notes = imported.notes.join("\n");
    assert!(
        notes.contains("the CPUs 0-1 share a clock but differ in capacity or in the kind of core"),
        "{notes}"
    );
}
