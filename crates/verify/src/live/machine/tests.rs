// SPDX-License-Identifier: GPL-2.0-only

use super::super::replay::tests::machine;
use super::*;
use alight_policy::Scheduler;
use alight_policy::scheduler::BASES;

#[test]
fn what_was_written_is_read() {
    let core = machine();
    let again = read_core(&write(&core), core.params).unwrap();
    assert_eq!(again.views(), core.views());
    for base in BASES {
        let params = Scheduler::parse(base.name).unwrap().params;
        assert_eq!(read_params(&write_params(&params)), Ok(params));
    }
}

#[test]
fn lengths_and_counts_must_agree() {
    let core = machine();
    let bytes = write(&core);
    for length in 0..bytes.len() {
        let error = read_core(&bytes[..length], core.params).unwrap_err();
        assert!(matches!(error, Malformed::Length { found, .. } if found == length));
    }
    let mut hostile = bytes;
    hostile[4..20].fill(0xff);
    let error = read_core(&hostile, core.params).unwrap_err();
    assert!(matches!(error, Malformed::Length { .. }), "{error}");
}

#[test]
fn rules_must_be_known_and_complete() {
    let text = write_params(&Params::NONE);
    for (change, expected) in [
        (text.replace("wake_cap=0 ", ""), "'wake_cap' is missing"),
        (text.clone() + " wake_cap=1", "'wake_cap=1'"),
        (text.clone() + " newer=1", "'newer=1'"),
        (text.replace("wake_cap=0", "wake_cap=x"), "'wake_cap=x'"),
        (
            text.replace("wake_cap=0", "wake_cap=4294967296"),
            "'wake_cap=4294967296'",
        ),
    ] {
        let error = read_params(&change).unwrap_err().to_string();
        assert_eq!(error, format!("the scheduler's rules: {expected}"));
    }
}
