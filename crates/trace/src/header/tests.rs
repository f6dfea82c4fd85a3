// SPDX-License-Identifier: GPL-2.0-only

use super::*;

fn task(pid: u32, tgid: u32, comm: &str) -> TaskInfo {
    TaskInfo {
        pid,
        tgid,
        comm: comm.into(),
        process: comm.into(),
    }
}

#[test]
fn impossible_headers_are_refused_with_the_reason() {
    let cases = [
        (
            vec![task(0, 1, "a")],
            "task 'a': pid is 0, expected 1 to 4194303",
        ),
        (
            vec![task(5, 0, "a")],
            "task 'a': tgid is 0, expected 1 to 4194303",
        ),
        (
            vec![task(4_194_304, 1, "b")],
            "task 'b': pid is 4194304, expected 1 to 4194303",
        ),
        (
            vec![task(7, 7, "a"), task(7, 7, "b")],
            "tasks 'a' and 'b' both have pid 7, expected unique pids",
        ),
    ];
    for (tasks, message) in cases {
        let header = TraceHeader {
            cpus: vec![CpuInfo::default()],
            tasks,
            ..TraceHeader::default()
        };
        assert_eq!(header.check().unwrap_err().to_string(), message);
    }
    assert_eq!(TraceHeader::default().check(), Err(HeaderError::NoCpu));
}

#[test]
fn comm_is_cut_to_15_bytes_between_characters() {
    for (name, comm) in [
        ("short", "short"),
        ("exactly15bytes!", "exactly15bytes!"),
        ("sixteen bytes ok", "sixteen bytes o"),
        ("fourteen bytesé", "fourteen bytes"),
    ] {
        assert_eq!(kernel_comm(name), comm);
    }
}
