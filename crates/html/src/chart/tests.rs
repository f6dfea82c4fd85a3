// SPDX-License-Identifier: GPL-2.0-only
//! What a chart hands to its script.

use super::*;

fn axis(label: &str, scale: Scale) -> Axis {
    Axis {
        label: label.into(),
        unit: "µs".into(),
        scale,
    }
}

fn chart(points: Vec<(f64, f64)>) -> Chart {
    Chart {
        x: axis("latency", Scale::Log),
        y: axis("part </script>", Scale::Tail),
        shape: Shape::Stepped,
        lines: vec![Line {
            name: "linux-6.1".into(),
            points,
        }],
        short: Table::new(["", "p50"]).row(["linux-6.1", "3.25"]),
    }
}

#[test]
fn points_are_exact_and_those_that_are_not_finite_are_left_out() {
    let points = vec![
        (0.1, 0.25),
        (f64::NAN, 0.5),
        (2.0, f64::INFINITY),
        (1e9, 1.0),
    ];
    let line = &chart(points).json()["lines"][0];
    assert_eq!(
        line.to_string(),
        r#"{"name":"linux-6.1","x":[0.1,1000000000.0],"y":[0.25,1.0]}"#
    );
}

#[test]
fn it_says_in_short_what_it_shows_and_its_names_stay_inside() {
    let html = chart(vec![(1.0, 0.5)]).markup().into_string();
    let (short, scripted) = html.split_once("</noscript>").unwrap();
    assert!(short.contains(">3.25<"), "{short}");
    assert!(scripted.contains("aria-label=\"part &lt;/script&gt; over latency: linux-6.1\""));
    assert_eq!(html.matches("</script>").count(), 1);
}

#[test]
fn the_page_has_the_licence_of_the_library() {
    assert!(UPLOT.script.starts_with("/*\nThe MIT License"));
    assert!(UPLOT.script.contains("Leon Sorokin"));
}
