// SPDX-License-Identifier: GPL-2.0-only
//! Traces that are right and not as most: losses, clock steps, numbers that come again, CPUs that
//! go off, selections, files of other kinds. Told as text of ftrace, which is easy to write.

use alight_import::{Moment, Options, Report, import_bytes};
use alight_recording::Reader;
use alight_recording::workload::{
    Capability, Context, Event, Item, Left, TaskFact, What, WorkloadReader,
};

const HEAD: &str = "# tracer: nop\n#\n";

/// `a` leaves and `b` comes, on CPU 0.
fn switch(time: &str, a: (&str, u32), b: (&str, u32)) -> String {
    let ((prev, prev_pid), (next, next_pid)) = (a, b);
    format!(
        "  {prev}-{prev_pid} [000] d..2. {time}: sched_switch: prev_comm={prev} prev_pid={prev_pid} \
         prev_prio=120 prev_state=S ==> next_comm={next} next_pid={next_pid} next_prio=120\n"
    )
}

fn import(text: &str, options: &Options) -> Result<(Report, Vec<Event>, Vec<TaskFact>), String> {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out.alight");
    let report = import_bytes(text.as_bytes().to_vec(), Some(&out), options);
    let report = report.map_err(|error| error.to_string())?;
    let mut reader = WorkloadReader::new(Reader::open(&out).unwrap()).unwrap();
    let (mut events, mut tasks) = (vec![], vec![]);
    while let Some(item) = reader.next_item().unwrap() {
        match item {
            Item::Event(event) => events.push(event),
            Item::Task(fact) => tasks.push(*fact),
        }
    }
    Ok((report, events, tasks))
}

const IDLE: (&str, u32) = ("swapper/0", 0);

#[test]
fn a_loss_stands_where_it_was() {
    let text = format!(
        "{HEAD}{}CPU:0 [LOST 5 EVENTS]\n{}",
        switch("1.000001", IDLE, ("app", 7)),
        switch("1.000005", ("app", 7), IDLE)
    );
    let (report, events, _) = import(&text, &Options::default()).unwrap();
    let lost = What::Lost {
        count: 5,
        of_cpu_only: true,
    };
    assert_eq!(events[1].what, lost);
    assert_eq!(report.lost()["ring_full"], 5);
    assert!(report.told().contains(&Capability::Losses));
    assert!(
        report
            .text()
            .contains("lost        5 events (ring_full), at 1 place:"),
        "{}",
        report.text()
    );
}

#[test]
fn what_was_overwritten_before_the_start_is_lost() {
    let text = format!(
        "{HEAD}# entries-in-buffer/entries-written: 2/9   #P:4\n{}{}",
        switch("1.000001", IDLE, ("app", 7)),
        switch("1.000005", ("app", 7), IDLE)
    );
    let (report, events, _) = import(&text, &Options::default()).unwrap();
    assert_eq!(report.lost()["overwritten"], 7);
    assert!(matches!(events[0].what, What::Lost { count: 7, .. }));
}

#[test]
fn lines_are_put_in_order() {
    let late = format!(
        "{HEAD}{}{}",
        switch("5.000000", IDLE, ("app", 7)),
        switch("1.000000", ("app", 7), IDLE)
    );
    let (report, events, _) = import(&late, &Options::default()).unwrap();
    let times: Vec<u64> = events.iter().map(|event| event.time).collect();
    assert_eq!(
        times,
        [1_000_000_000, 5_000_000_000],
        "text is put in order"
    );
    assert!(!report.lost().contains_key("out_of_order"));
}

#[test]
fn numbers_that_come_again_are_other_tasks() {
    let fork = |time: &str, comm: &str| {
        format!(
            "  sh-1 [001] ..... {time}: sched_process_fork: comm=sh pid=1 child_comm={comm} child_pid=7\n"
        )
    };
    let exit = |time: &str| {
        format!("  one-7 [000] ..... {time}: sched_process_exit: comm=one pid=7 prio=120\n")
    };
    let text = [
        HEAD.to_owned(),
        fork("1.000001", "one"),
        switch("1.000002", IDLE, ("one", 7)),
        exit("1.000003"),
        fork("1.000004", "two"),
        switch("1.000005", IDLE, ("two", 7)),
    ]
    .concat();
    let (report, _, tasks) = import(&text, &Options::default()).unwrap();
    let names: Vec<&str> = (tasks.iter())
        .filter(|task| task.pid == 7)
        .filter_map(|task| task.comm.as_deref())
        .collect();
    assert_eq!(names, ["one", "two"]);
    assert!(
        report.text().contains("reused      1 birth of tasks"),
        "{}",
        report.text()
    );
}

#[test]
fn a_cpu_that_goes_off_is_told_once() {
    let step = |time: &str, target: u32| {
        format!(
            "  cpuhp/3-30 [003] ..... {time}: cpuhp_enter: cpu: 0003 target: {target:3} step: 238 (x)\n"
        )
    };
    let text = [
        HEAD.to_owned(),
        switch("1.000001", IDLE, ("app", 7)),
        step("1.000002", 0),
        step("1.000003", 0),
        step("1.000004", 238),
    ]
    .concat();
    let (report, events, _) = import(&text, &Options::default()).unwrap();
    let hotplug: Vec<(u16, What)> = events[1..].iter().map(|e| (e.cpu, e.what)).collect();
    assert_eq!(
        hotplug,
        [
            (3, What::Hotplug { online: false }),
            (3, What::Hotplug { online: true })
        ]
    );
    assert!(
        report.text().contains("CPU off     CPU 3 went off, 1 time"),
        "{}",
        report.text()
    );
}

#[test]
fn a_workload_is_a_task_and_its_descendants() {
    let text = [
        HEAD.to_owned(),
        switch("1.000001", IDLE, ("sh", 5)),
        "  sh-5 [000] ..... 1.000002: sched_process_fork: comm=sh pid=5 child_comm=sh child_pid=6\n"
            .to_owned(),
        switch("1.000003", ("sh", 5), ("other", 9)),
        switch("1.000004", ("other", 9), ("sh", 6)),
    ]
    .concat();
    let options = Options {
        pids: vec![5],
        ..Options::default()
    };
    let (_, events, tasks) = import(&text, &options).unwrap();
    let mut chosen: Vec<(u32, bool)> = tasks.iter().map(|t| (t.pid, t.chosen.unwrap())).collect();
    chosen.sort();
    assert_eq!(chosen, [(5, true), (6, true), (9, false)]);
    assert_eq!(events.len(), 4, "the others stay as background");

    let options = Options {
        pids: vec![12],
        ..Options::default()
    };
    let refused = import(&text, &options).unwrap_err();
    assert!(
        refused.contains("holds no task that was asked for") && refused.contains("sh 5"),
        "{refused}"
    );
    let options = Options {
        cgroups: vec!["/app".into()],
        ..Options::default()
    };
    let refused = import(&text, &options).unwrap_err();
    assert!(
        refused.contains("does not say the groups of tasks"),
        "{refused}"
    );
}

#[test]
fn a_part_of_the_time() {
    let text = [
        HEAD.to_owned(),
        switch("1.000001", IDLE, ("a", 5)),
        switch("1.500000", ("a", 5), ("b", 6)),
        switch("2.000000", ("b", 6), ("c", 7)),
    ]
    .concat();
    let times = |from, to| {
        let options = Options {
            from,
            to,
            ..Options::default()
        };
        let (_, events, _) = import(&text, &options)?;
        Ok::<_, String>(events.iter().map(|event| event.time).collect::<Vec<_>>())
    };
    let behind = |ns| Some(Moment::AfterFirst(ns));
    let at = |ns| Some(Moment::At(ns));
    assert_eq!(times(None, None).unwrap().len(), 3);
    assert_eq!(
        times(behind(1000), None).unwrap(),
        [1_500_000_000, 2_000_000_000]
    );
    assert_eq!(
        times(behind(1000), behind(600_000_000)).unwrap(),
        [1_500_000_000]
    );
    assert_eq!(times(at(2_000_000_000), None).unwrap(), [2_000_000_000]);
    let refused = times(at(3_000_000_000), None).unwrap_err();
    assert_eq!(
        refused,
        "holds no event in the wanted time: its events are of @1.000001000 to @2.000000000"
    );
}

#[test]
fn the_context_of_a_waking_is_in_the_flags() {
    for (flags, context) in [
        ("d..2.", Some(Context::Task)),
        ("d.h2.", Some(Context::Hardirq)),
        ("d.H2.", Some(Context::Hardirq)),
        ("d.s2.", Some(Context::Softirq)),
        ("d.Z2.", Some(Context::Nmi)),
        ("", None),
    ] {
        let text = format!(
            "{HEAD}{}  app-7 [000] {flags} 1.000002: sched_waking: comm=b pid=8 prio=98 target_cpu=003\n",
            switch("1.000001", IDLE, ("app", 7))
        );
        let (report, events, _) = import(&text, &Options::default()).unwrap();
        let waking = What::Waking {
            pid: 8,
            prio: 98,
            current: 7,
            prev_cpu: 3,
            context,
            sync: None,
        };
        assert_eq!(events[1].what, waking, "{flags}");
        assert_eq!(
            report.told().contains(&Capability::Context),
            context.is_some(),
            "{flags}"
        );
    }
}

#[test]
fn forms_of_trace_cmd_report() {
    let text = "cpus=4\n\
        \x20 bash-12 [001] 24.215206206: sched_switch: bash:12 [120] R+ ==> my app:13 [98]\n\
        \x20 my app-13 [001] 24.215206300: sched_wakeup: bash:12 [120] success=1 CPU:003\n\
        \x20 my app-13 [001] 24.215206400: sched_switch: prev_comm=my app prev_pid=13 prev_prio=98 \
        prev_state=2 next_comm=swapper/1 next_pid=0 next_prio=120\n\
        CPU:1 [7 EVENTS DROPPED]\n";
    let (report, events, tasks) = import(text, &Options::default()).unwrap();
    assert!(matches!(
        events[0].what,
        What::Switch {
            prev: 12,
            left: Left::Preempted,
            next: 13,
            next_prio: 98,
            ..
        }
    ));
    let wakeup = What::Wakeup {
        pid: 12,
        prio: 120,
        target_cpu: 3,
    };
    assert_eq!(events[1].what, wakeup);
    assert!(matches!(
        events[2].what,
        What::Switch {
            left: Left::Blocked,
            ..
        }
    ));
    assert_eq!(report.lost()["ring_full"], 7);
    assert!(
        tasks
            .iter()
            .any(|task| task.comm.as_deref() == Some("my app"))
    );
}

#[test]
fn a_task_that_has_ended_still_runs() {
    // perf has no number of it any more.
    let text = "\
        swapper     0 [003]    27.000001000: sched:sched_switch: prev_comm=swapper/3 prev_pid=0 \
        prev_prio=120 prev_state=R ==> next_comm=my app next_pid=206 next_prio=120\n\
        :-1    -1 [003]    27.000002000: sched:sched_waking: comm=b pid=8 prio=120 target_cpu=003\n";
    let (_, events, _) = import(text, &Options::default()).unwrap();
    assert!(
        matches!(events[1].what, What::Waking { current: 206, .. }),
        "{events:?}"
    );
}

#[test]
fn files_of_other_kinds_are_named() {
    for (bytes, what) in [
        (&b""[..], "is empty"),
        (b"PERFFILE\0\0\0\0", "is a perf.data of version 1"),
        (b"\x1f\x8b\x08\0", "is compressed by gzip"),
        (b"{\"traceEvents\": []}", "looks like JSON"),
        (b"\x7fELF\x02\x01", "is a program (ELF)"),
        (b"alight.recording/1\n", "is a recording of alight already"),
        (
            b"\x17\x08\x44tracing5\0\0\x08\0\x10\0\0",
            "is a trace.dat of version '5'",
        ),
        (b"\xc1\x1f\xfc\xc1", "is a trace of LTTng"),
        (b"hello world", "is of no format that is read"),
        (
            b"\x17\x08\x44tracing6\0\x01\x08\0\0\x10\0",
            "comes from a big-endian machine",
        ),
    ] {
        let refused = import_bytes(bytes.to_vec(), None, &Options::default()).unwrap_err();
        assert!(refused.to_string().contains(what), "{refused}");
    }
    let refused = import(HEAD, &Options::default()).unwrap_err();
    assert!(
        refused.contains("holds no event that is imported"),
        "{refused}"
    );
    let only_waking = format!(
        "{HEAD}  app-7 [000] d..2. 1.000002: sched_waking: comm=b pid=8 prio=98 target_cpu=003\n"
    );
    let refused = import(&only_waking, &Options::default()).unwrap_err();
    assert!(refused.contains("holds no sched_switch"), "{refused}");
}

#[test]
fn a_line_that_is_cut_short_is_an_error_with_its_place() {
    let whole = format!("{HEAD}{}", switch("1.000001", IDLE, ("app", 7)));
    let cut = format!("{whole}{}", &switch("1.000002", ("app", 7), IDLE)[..80]);
    let refused = import(&cut, &Options::default()).unwrap_err();
    assert!(
        refused.starts_with(&format!("at byte {}: ", whole.len())),
        "{refused}"
    );
    assert!(
        refused.ends_with("the last line has no end: the file is cut short"),
        "{refused}"
    );
}
