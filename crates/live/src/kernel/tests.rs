// SPDX-License-Identifier: GPL-2.0-only
//! Tests of the checks of the running kernel: capabilities, functions, other schedulers.

use super::*;

#[test]
fn permission_is_read_from_the_effective_capabilities() {
    for (effective, missing) in [
        ("000001ffffffffff", None),
        ("000000c000000000", None),
        ("0000000000200000", None),
        ("0000004000000000", Some("CAP_BPF")),
        ("0000008000000000", Some("CAP_PERFMON")),
        ("0000000000000000", Some("CAP_BPF and no CAP_PERFMON")),
    ] {
        let status = format!("CapPrm:\t000001ffffffffff\nCapEff:\t{effective}\n");
        let refusal = missing.map(|missing| Refusal::Permission(missing.to_owned()));
        assert_eq!(check_permission(&status).err(), refusal, "{effective}");
    }
}

#[test]
fn a_kernel_that_lacks_what_is_needed_is_refused_by_the_functions_names() {
    let refused = missing_functions(|name| match name {
        "scx_bpf_now" => Described::Absent,
        "scx_bpf_dsq_insert" => Described::Broken,
        _ => Described::Whole,
    });
    assert_eq!(
        refused.unwrap_err().to_string(),
        "this kernel lacks functions that the scheduler needs: scx_bpf_now, \
             scx_bpf_dsq_insert (its type information is broken)"
    );
}

#[test]
fn what_gets_worse_without_a_function_is_said_in_one_sentence() {
    let lacking = |lacked: &'static str, how| {
        let described = move |name: &str| {
            if name == lacked {
                how
            } else {
                Described::Whole
            }
        };
        let missing = missing_functions(described).unwrap();
        let broken = vec!["scx_bpf_kick_cpu".to_string()];
        Offer { missing, broken }
    };
    let whole = lacking("none", Described::Absent);
    assert_eq!(whole.missing, []);
    assert_eq!(whole.remarks(false), [""; 0]);

    let slices = lacking("scx_bpf_task_set_slice", Described::Absent);
    assert_eq!(slices.remarks(false), [""; 0]);
    assert_eq!(
        slices.remarks(true),
        [
            "does without scx_bpf_task_set_slice",
            "this kernel's type information of 1 sched_ext functions is broken: \
                 scx_bpf_kick_cpu"
        ]
    );

    let queues = lacking("scx_bpf_create_dsq", Described::Broken).remarks(false);
    assert_eq!(queues.len(), 1);
    assert!(
        queues[0].starts_with(
            "this kernel lacks scx_bpf_create_dsq (its type information is broken): tasks"
        ),
        "{queues:?}"
    );
}

/// If a function that the program calls were in neither table, its lack would not be reported.
#[test]
fn every_function_that_the_program_calls_is_required_or_optional() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bpf");
    let mut known: Vec<_> = (REQUIRED.into_iter())
        .chain(OPTIONAL.map(|(name, _)| name))
        .collect();
    known.sort_unstable();
    let mut called = Vec::new();
    for file in fs::read_dir(directory).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        for (end, _) in text.match_indices(") __ksym") {
            let (head, _) = text[..end].rsplit_once('(').unwrap();
            let name = head.rsplit([' ', '*']).next().unwrap();
            called.push(name.to_string());
        }
    }
    called.sort_unstable();
    assert!(called.len() >= known.len());
    assert_eq!(called, known);
}

#[test]
fn another_scheduler_is_named() {
    let sysfs = tempfile::tempdir().unwrap();
    assert_eq!(check_state(sysfs.path()), Err(Refusal::NoSchedExt));

    fs::write(sysfs.path().join("state"), "disabled\n").unwrap();
    assert_eq!(check_state(sysfs.path()), Ok(()));

    fs::write(sysfs.path().join("state"), "enabled\n").unwrap();
    fs::create_dir(sysfs.path().join("root")).unwrap();
    fs::write(sysfs.path().join("root/ops"), "lavd\n").unwrap();
    let text = check_state(sysfs.path()).unwrap_err().to_string();
    assert_eq!(
        text,
        "another sched_ext scheduler is loaded: 'lavd' is enabled; stop it first"
    );
}
