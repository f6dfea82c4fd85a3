// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use crate::{Options, scheduler};

fn input(duration: Option<&str>) -> Input {
    load("hackbench -g 1 -l 5", duration)
}

fn load(workload: &str, duration: Option<&str>) -> Input {
    let mut options = Options::default();
    options.set("machine", "juno-r0").unwrap();
    options.set("workload", workload).unwrap();
    if let Some(duration) = duration {
        options.set("duration", duration).unwrap();
    }
    Input::load(options, &|_| ()).unwrap()
}

fn asked(task: Option<&str>, at_ns: Option<u64>) -> Explained {
    Explained {
        scheduler: scheduler("linux-6.5+bias-prev").unwrap(),
        task: task.map(str::to_owned),
        at_ns,
        limit: None,
        histogram: task.is_none(),
    }
}

fn refusal(asked: &Explained, input: &Input) -> String {
    let found = asked.run(input, &AtomicBool::new(false));
    found.err().expect("refused").to_string()
}

#[test]
fn the_command_of_an_explanation_has_the_limit_that_held() {
    let input = input(None);
    let found = asked(Some("hackbench"), Some(1000)).run(&input, &AtomicBool::new(false));
    let found = found.unwrap_or_else(|error| panic!("{error}"));
    let command = "alight explain -m juno-r0 -w 'hackbench -g 1 -l 5' --seed 1 --task hackbench \
                   --at 1us --limit 1 linux-6.5+bias-prev";
    let json = found.json();
    assert!(
        json.contains(command) && json.contains("alight.explain/1"),
        "{json}"
    );
    assert!(found.text().contains("task       hackbench, 1 decision\n"));
    let page = found
        .page(&input, &|_| (), &AtomicBool::new(false))
        .expect("a page");
    assert!(page.starts_with("<!DOCTYPE html>") || page.starts_with("<!doctype html>"));
}

#[test]
fn counted_steps_name_the_comparison_that_measures_them() {
    let found = asked(None, None).run(&input(None), &AtomicBool::new(false));
    let text = found.unwrap_or_else(|error| panic!("{error}")).text();
    assert!(text.contains("--histogram"), "{text}");
    assert!(text.contains("linux-6.5 linux-6.5+bias-prev"), "{text}");
}

#[test]
fn a_time_after_the_end_is_refused_before_and_after_the_run() {
    let late = asked(Some("hackbench"), Some(2_000_000_000));
    let says = "--at 2 s is after the end of the run, 1 s";
    assert_eq!(refusal(&late, &input(Some("1s"))), says);
    // Where the load ends by itself, long before.
    let says = "--at 2 s is after the end of the run, ";
    assert!(refusal(&late, &input(None)).starts_with(says));
}

#[test]
fn a_task_that_is_none_is_named_with_its_neighbours() {
    let says = refusal(&asked(Some("hackbenk"), None), &input(None));
    assert!(
        says.contains("'hackbenk'") && says.contains("hackbench"),
        "{says}"
    );
}

#[test]
fn an_interrupted_run_is_explained_as_far_as_it_came() {
    let input = load("hackbench -g 1 -l 100000", None);
    let found = asked(Some("hackbench"), None).run(&input, &AtomicBool::new(true));
    let found = found.unwrap_or_else(|error| panic!("{error}"));
    assert!(found.interrupted);
}
