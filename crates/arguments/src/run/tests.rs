// SPDX-License-Identifier: GPL-2.0-only

use super::*;

fn options(arguments: &str) -> Result<Options, clap::Error> {
    let words = ["scx_alight"]
        .into_iter()
        .chain(arguments.split_whitespace());
    Arguments::try_parse_from(words).and_then(|arguments| arguments.options())
}

#[test]
fn the_command_line_is_consistent() {
    Arguments::command().debug_assert();
}

#[test]
fn a_scheduler_may_be_named_in_several_ways() {
    for (arguments, expected) in [
        ("", "linux-7.3"),
        ("linux-latest", "linux-7.3"),
        ("bias-prev sched-idle", "linux-7.3+sched-idle+bias-prev"),
        ("--base linux-6.5 bias-prev", "linux-6.5+bias-prev"),
        ("--base linux-6.5 +bias-prev", "linux-6.5+bias-prev"),
        ("--base linux-6.5", "linux-6.5"),
        (
            "--base linux-6.5+pack bias-prev",
            "linux-6.5+pack+bias-prev",
        ),
        ("+bias-prev", "linux-7.3+bias-prev"),
        ("linux-6.5+bias-prev", "linux-6.5+bias-prev"),
        ("bias-prev:spare=256", "linux-7.3+bias-prev:spare=256"),
        ("bias-prev --stats 1 --metrics", "linux-7.3+bias-prev"),
    ] {
        assert_eq!(options(arguments).unwrap().scheduler.name, expected);
    }
}

#[test]
fn contradictions_are_refused_with_their_reason() {
    for (arguments, expected) in [
        (
            "--base linux-6.5 linux-7.2+bias-prev",
            "has the base linux-7.2, and --base says linux-6.5: leave out one of them",
        ),
        ("linux-5.6", "the nearest below it is 'linux-5.5'"),
        (
            "--rule comm=a",
            "column 7: found the end, expected a setting",
        ),
        ("--monitor 1 bias-prev", "cannot be used with"),
        ("--stats 0", "expected seconds, such as 10 or 0.5"),
        ("--timeout-ms 30001", "30001 is not in 1..=30000"),
        ("--metrics bias-prev", "expected a port or an address"),
    ] {
        let error = options(arguments).expect_err(arguments);
        assert!(error.to_string().contains(expected), "{error}");
        assert_eq!(error.exit_code(), 2);
    }
}

#[test]
fn metrics_are_for_this_host_unless_asked_otherwise() {
    for (arguments, expected) in [
        ("--metrics", "127.0.0.1:9776"),
        ("--metrics 9100 bias-prev", "127.0.0.1:9100"),
        ("--metrics=0.0.0.0:9100", "0.0.0.0:9100"),
    ] {
        let metrics = options(arguments).unwrap().metrics;
        assert_eq!(metrics.unwrap().to_string(), expected);
    }
}
