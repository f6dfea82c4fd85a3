// SPDX-License-Identifier: GPL-2.0-only
//! Tests of the kernel's exit information: its kinds, and how it is printed.

use super::*;

#[test]
fn names_of_tasks_give_a_terminal_no_commands() {
    let of_dumps = &['\n', '\t'][..];
    for (kernels, own, ours) in [
        (
            "R hog[12] +5ms\n\tscx_state",
            of_dumps,
            "R hog[12] +5ms\n\tscx_state",
        ),
        ("\u{1b}[2J[12]", of_dumps, "\\u{1b}[2J[12]"),
        ("a\rb\u{9b}c\u{7f}", of_dumps, "a\\rb\\u{9b}c\\u{7f}"),
        ("kworker/ü", of_dumps, "kworker/ü"),
        ("a\nb\tc[7] failed", &[], "a\\nb\\tc[7] failed"),
    ] {
        assert_eq!(printable(kernels, own), ours);
    }
}

#[test]
fn names_of_tasks_begin_no_line() {
    let info = ExitInfo {
        reason: "runnable task stall".to_owned(),
        message: text(&b"a\nscx_alight: x[7] failed\0".map(|byte| byte as i8)),
        dump: printable(
            " R \x1b[2J\nscx_alight:[7]\n\n R \nCPU 0[8]\n",
            &['\n', '\t'],
        ),
    };
    assert_eq!(
        info.to_string(),
        "runnable task stall: a\\nscx_alight: x[7] failed\n\nThe kernel's dump:\n\
             |  R \\u{1b}[2J\n| scx_alight:[7]\n| \n|  R \n| CPU 0[8]\n"
    );
}

#[test]
fn ends_are_told_apart() {
    let info = |reason: &str| ExitInfo {
        reason: reason.to_owned(),
        ..ExitInfo::default()
    };
    let judged = |kind, code, reason| judge(kind, code, info(reason)).ok();
    assert_eq!(judged(0, 0, ""), Some(End::Done));
    assert_eq!(
        judged(64, 0, "unregistered from user space"),
        Some(End::Done)
    );
    assert_eq!(judged(67, 0, "disabled by sysrq-S"), Some(End::SysRq));
    let hotplug = "unregistered from the main kernel";
    assert_eq!(
        judged(66, EXIT_RESTART | 1, hotplug),
        Some(End::Restart(hotplug.to_owned()))
    );
    for kind in [65, 66, 68, 1024, 1026, 1028] {
        assert_eq!(judged(kind, 0, "any"), None, "{kind}");
    }
    /* An error stays an error with this bit. */
    assert_eq!(judged(1026, EXIT_RESTART, "runnable task stall"), None);
}

#[test]
fn exit_info_has_reason_message_and_dump() {
    let info = ExitInfo {
        reason: "runnable task stall".to_owned(),
        message: "bash[7] failed to run for 30.1s".to_owned(),
        dump: "CPU states\n----------\n".to_owned(),
    };
    let error = RunFailed::Ended(info);
    assert_eq!(
        error.to_string(),
        "the kernel ended the scheduler: runnable task stall: bash[7] failed to run for \
             30.1s\n\nThe kernel's dump:\n| CPU states\n| ----------\n"
    );
    assert_eq!(error.exit_code(), 3);
}
