// SPDX-License-Identifier: GPL-2.0-only
//! What a timeline says beside its packed content.

use super::*;

fn slice(start_ns: u64, end_ns: u64, task: u32) -> Slice {
    Slice {
        start_ns,
        end_ns,
        task,
    }
}

/// Two CPUs; task 1 runs longer than task 0.
fn timeline() -> Timeline {
    let run = Run {
        name: "linux-6.1".into(),
        end_ns: 4_000_000,
        cpus: vec![
            Lane {
                slices: vec![slice(0, 1_000_000, 0), slice(1_000_000, 2_500_000, 1)],
                ..Lane::default()
            },
            Lane::default(),
        ],
        marks: vec![],
    };
    Timeline {
        cpus: vec!["CPU 0".into(), "CPU 1".into()],
        tasks: vec!["short".into(), "</script><b>long".into()],
        idle_states: vec![],
        columns: vec![Column::Nanoseconds {
            label: "cost".into(),
        }],
        start_ns: 0,
        runs: vec![run],
    }
}

#[test]
fn without_scripts_it_says_the_same_in_short() {
    let html = timeline().markup().into_string();
    let (_, rest) = html.split_once("<noscript>").unwrap();
    let (short, _) = rest.split_once("</noscript>").unwrap();
    // 2.5 ms of two CPUs' 4 ms.
    for cell in ["4 ms", "2", "31.2", "1.5 ms", "1 ms"] {
        assert!(short.contains(&format!(">{cell}<")), "{cell}: {short}");
    }
    assert!(short.find("b&gt;long<").unwrap() < short.find(">short<").unwrap());
}

#[test]
fn no_name_ends_the_element_that_holds_it() {
    let html = timeline().markup().into_string();
    assert_eq!(html.matches("</script>").count(), 2, "{html}");
    assert!(html.contains(r"\u003c/script>\u003cb>long"));
}

#[test]
fn each_run_has_a_canvas_with_its_name() {
    let mut timeline = timeline();
    timeline.runs.push(Run {
        name: "other".into(),
        ..Run::default()
    });
    let html = timeline.markup().into_string();
    for name in ["linux-6.1", "other"] {
        assert!(html.contains(&format!("aria-label=\"{name}\"></canvas>")));
    }
}
