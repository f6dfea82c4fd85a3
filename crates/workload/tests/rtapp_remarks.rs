// SPDX-License-Identifier: GPL-2.0-only
//! rt-app files that are refused, for which reasons, and what is said about those that are not.
//! Each rule is that of rt-app-55cb0c0, rt-app_parse_config.c and rt-app.c.

use alight_workload::{Mode, Severity, Workload, lint};

/// A file with one task `t` of these members.
fn task(members: &str) -> String {
    format!("{{'tasks':{{'t':{{{members}}}}}}}")
}

fn refusal(text: &str, mode: Mode) -> String {
    match Workload::from_rtapp("file.json", text, mode) {
        Ok(_) => panic!("{text} loads"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn what_both_modes_refuse() {
    let table = [
        ("[]", "found an array, expected an object"),
        ("{}", "the key `tasks` is missing"),
        ("{'tasks':null}", "the key `tasks` is missing"),
        ("{'tasks':[]}", "`tasks` is an array, expected an object"),
        (
            "{'tasks':{'t':5}}",
            "`t` is a whole number, expected an object",
        ),
        ("{'tasks':{'t':{}}}", "there is no event here"),
        ("{'tasks':{'t':{'phases':[]}}}", "`phases` is an array"),
        ("{'tasks':{'t':{'phases':{}}}}", "rt-app crashes on that"),
        (
            "{'tasks':{'t':{'phases':{'p':{}}}}}",
            "there is no event here",
        ),
        (
            "{'tasks':{'t':{'run':1.5}}}",
            "`run` is a number with a fraction",
        ),
        (
            "{'tasks':{'t':{'run':'5'}}}",
            "`run` is a string, expected a whole number of us",
        ),
        (
            "{'tasks':{'t':{'lock':5}}}",
            "`lock` is a whole number, expected a string",
        ),
        (
            "{'tasks':{'t':{'lock_order':[],'run':1}}}",
            "keys that begin with `lock` are events",
        ),
        (
            "{'tasks':{'t':{'run':1,'policy':'sched_fifo'}}}",
            "no scheduling policy; the nearest",
        ),
        (
            "{'tasks':{'t':{'run':1,'priority':20}}}",
            "expected a nice value from -20 to 19",
        ),
        (
            "{'tasks':{'t':{'run':1,'policy':'SCHED_RR','priority':0}}}",
            "expected a real-time priority from 1 to 99",
        ),
        (
            "{'tasks':{'t':{'run':1,'policy':'SCHED_DEADLINE'}}}",
            "expected 0 < dl-runtime",
        ),
        (
            "{'tasks':{'t':{'run':1}},'global':{'calibration':-5}}",
            "`calibration` is -5 ns per loop",
        ),
        (
            "{'tasks':{'t':{'mem':1}},'global':{'mem_buffer_size':0}}",
            "`mem` needs a buffer, and `mem_buffer_size` leaves it none",
        ),
        (
            "{'tasks':{'t':{'iorun':-1}},'global':{'mem_buffer_size':-4}}",
            "`iorun` needs a buffer",
        ),
        (
            "{'tasks':{'t':{'run':1,'policy':'SCHED_DEADLINE','dl-runtime':5,'dl-period':4}}}",
            "expected 0 < dl-runtime",
        ),
        (
            "{'tasks':{'t':{'run':1,'util_min':1025}}}",
            "`util_min` is 1025, expected 0 to 1024",
        ),
        (
            "{'tasks':{'t':{'run':1,'util_min':600,'util_max':500}}}",
            "`util_min` 600 is above `util_max` 500",
        ),
        ("{'tasks':{'t':{'run':1,'cpus':[]}}}", "`cpus` is empty"),
        ("{'tasks':{'t':{'run':1,'cpus':[-1]}}}", "names CPU -1"),
        (
            "{'tasks':{'t':{'run':1,'cpus':3}}}",
            "`cpus` is a whole number, expected an array",
        ),
        (
            "{'tasks':{'t':{'run':1,'instance':-1}}}",
            "`instance` is -1",
        ),
        (
            "{'tasks':{'t':{'run':1,'instance':100001}}}",
            "100001 threads start",
        ),
        ("{'tasks':{'t':{'run':1,'taskgroup':'tg'}}}", "write `/tg`"),
        (
            "{'tasks':{'t':{'run':1,'taskgroup':'/tg','policy':'SCHED_FIFO'}}}",
            "needs the policy SCHED_OTHER",
        ),
        (
            "{'tasks':{'worker':{'run':1,'fork':'worke'}}}",
            "does not exist; the nearest: `worker`",
        ),
        (
            "{'tasks':{'t':{'instance':0,'barrier':'b'}}}",
            "never opens it",
        ),
        (
            "{'tasks':{'t':{'memrun':{'type':'scan','size':1,'count':1}}}}",
            "`scan` is no type of memrun",
        ),
        (
            "{'tasks':{'t':{'memrun':{'type':'read','count':1}}}}",
            "the key `size` is missing",
        ),
        (
            "{'tasks':{'t':{'memrun1':{'type':'read','size':1,'count':1,'ref':'b'},'memrun2':{'type':'read','size':2,'count':1,'ref':'b'}}}}",
            "the buffer `b` differs",
        ),
        (
            "{'tasks':{'t':{'timer0':{'ref':'a'},'timer1':{'ref':'b'},'timer2':{'ref':'c'},'timer3':{'ref':'d'},'timer4':{'ref':'e'}}}}",
            "more than 4 timers",
        ),
        (
            "{'tasks':{},'global':{'calibration':'cpu0'}}",
            "`cpu0` is no CPU",
        ),
        (
            "{'tasks':{},'global':{'ftrace':'main,run'}}",
            "`run` is no category",
        ),
        (
            "{'tasks':{},'global':{'duration':'6'}}",
            "`duration` is a string",
        ),
        (
            "{'tasks':{},'global':{'default_policy':'SCHED_OTTER'}}",
            "the nearest: `SCHED_OTHER`",
        ),
        (
            "{'tasks':{},'resources':{'m':{'type':'mutx'}}}",
            "the nearest: `mutex`",
        ),
    ];
    for (text, expected) in table {
        for mode in [Mode::Workgen, Mode::Rtapp] {
            let message = refusal(text, mode);
            assert!(message.contains(expected), "{text}: {message}");
        }
    }
}

#[test]
fn a_refusal_names_file_line_and_column() {
    let text = "{\n  \"tasks\": {\n    \"t\": {\n      \"run\": \"fast\"\n    }\n  }\n}\n";
    let message = refusal(text, Mode::Workgen);
    let expected = "file.json:4:14: `run` is a string, expected a whole number of us";
    assert_eq!(message, expected);
}

#[test]
fn what_is_remarked() {
    let table = [
        (
            "'run':1,'prioritie':3",
            Severity::Warning,
            "perhaps `priority`",
        ),
        (
            "'run':1,'exec':3",
            Severity::Note,
            "the key `exec` of the task `t` is ignored",
        ),
        (
            "'run':1,'phases':{'p':{'run':1}}",
            Severity::Warning,
            "the event `run` is ignored, because the task has `phases`",
        ),
        (
            "'run':3000000000",
            Severity::Warning,
            "rt-app takes it for 2147483647",
        ),
        (
            "'run':1,'suspend':'t'",
            Severity::Warning,
            "no task resumes or signals `t`",
        ),
        (
            "'run':1,'resume':'x'",
            Severity::Warning,
            "this wakes no task",
        ),
        (
            "'sem_wait':'s'",
            Severity::Warning,
            "no task posts the semaphore `s`",
        ),
        (
            "'run':1,'lock':'m'",
            Severity::Warning,
            "`m` is never unlocked",
        ),
        (
            "'run':1,'unlock':'m'",
            Severity::Warning,
            "`m` is not locked here",
        ),
        (
            "'lock':'m','lock1':'m','unlock':'m'",
            Severity::Warning,
            "waits for itself",
        ),
        (
            "'wait':{'ref':'c','mutex':'m'},'signal':'c'",
            Severity::Warning,
            "must be locked before waiting",
        ),
        (
            "'lock':'unknown','wait':'c','signal':'unknown','unlock':'unknown'",
            Severity::Warning,
            "rt-app reads nothing from it",
        ),
        (
            "'phases':{'p':{'loop':-1,'run':1},'q':{'run':1}}",
            Severity::Warning,
            "never reached",
        ),
        (
            "'run':1,'barrier':'b','barrier1':'b'",
            Severity::Warning,
            "counts it twice",
        ),
        (
            "'instance':2,'timer':{'ref':'tick','period':5}",
            Severity::Warning,
            "several threads use the timer `tick`",
        ),
        (
            "'runtime':5",
            Severity::Warning,
            "also takes `runtime` for the task's custom slice",
        ),
        (
            "'policy':'SCHED_DEADLINE','runtime':200",
            Severity::Warning,
            "also takes `runtime` for dl-runtime, and for the missing dl-period: each thread asks for a whole CPU",
        ),
        (
            "'policy':'SCHED_DEADLINE','runtime':200,'period':1000",
            Severity::Warning,
            "also takes `runtime` for dl-runtime; give `dl-runtime`",
        ),
        (
            "'policy':'SCHED_DEADLINE','dl-runtime':200,'period':1000,'run':1",
            Severity::Note,
            "there is no `dl-period`, and rt-app takes `dl-runtime` for it",
        ),
        (
            "'run':-1",
            Severity::Warning,
            "`run` is -1 us: the thread goes on with it for ever",
        ),
        (
            "'memrun':{'type':'read','size':64,'count':-2}",
            Severity::Warning,
            "`count` is -2 steps: the thread goes on with it for ever",
        ),
        (
            "'run':-1,'sleep':5",
            Severity::Warning,
            "this event is never reached",
        ),
        (
            "'phases':{'p':{'run':-1},'q':{'run':1}}",
            Severity::Warning,
            "this phase is never reached",
        ),
        (
            "'run':1,'delay':-100",
            Severity::Warning,
            "`delay` is -100 us, which counts as no delay",
        ),
        (
            "'run':1,'slep':5",
            Severity::Warning,
            "the key `slep` of the task `t` is ignored, as rt-app does; perhaps `sleep`",
        ),
        (
            "'timer':{'ref':'tick','period':5,'mode':'absolut'}",
            Severity::Warning,
            "`mode` is `absolut`, which rt-app takes for \"relative\"",
        ),
        (
            "'run':1,'nodes_membind':[0]",
            Severity::Note,
            "`nodes_membind` is ignored",
        ),
    ];
    for (members, severity, expected) in table {
        let found = lint::lint(&task(members), Mode::Workgen);
        let said = |d: &&alight_workload::Diagnostic| {
            d.severity == severity && d.message.contains(expected)
        };
        assert_eq!(
            found.iter().filter(said).count(),
            1,
            "{members}: {found:#?}"
        );
        assert!(
            found.iter().all(|d| d.severity < Severity::Error),
            "{members}: {found:#?}"
        );
    }
}

/// What concerns several tasks, or the whole file.
#[test]
fn what_is_remarked_of_whole_files() {
    let table = [
        (
            "{'tasks':{'t':{'run':1}},'global':{'duration':-7}}",
            "`duration` is -7 s, which rt-app takes for no limit",
        ),
        (
            "{'tasks':{'w':{'instance':4,'runtime':200,'timer':{'ref':'unique','period':1000}}},'global':{'default_policy':'SCHED_DEADLINE'}}",
            "each thread asks for a whole CPU",
        ),
        (
            "{'tasks':{'a':{'loop':10,'run':1,'barrier':'x'},'b':{'loop':5,'run':1,'barrier':'x'}}}",
            "`b` reaches the barrier `x` 5 times, `a` 10 times",
        ),
        (
            "{'tasks':{'a':{'loop':3,'phases':{'p':{'loop':2,'run':1,'barrier':'x'}}},'b':{'run':1,'barrier':'x'}}}",
            "`b` reaches the barrier `x` for ever, `a` 6 times",
        ),
    ];
    for (text, expected) in table {
        let found = lint::lint(text, Mode::Workgen);
        let warnings = found.iter().filter(|d| d.severity == Severity::Warning);
        let said: Vec<&str> = warnings.map(|d| d.message.as_str()).collect();
        assert_eq!(said.len(), 1, "{text}: {said:?}");
        assert!(said[0].contains(expected), "{text}: {said:?}");
    }
    // Nothing is wrong with these.
    for text in [
        "{'tasks':{'a':{'loop':6,'run':1,'barrier':'x'},'b':{'loop':3,'phases':{'p':{'loop':2,'run':1,'barrier':'x'}}}}}",
        "{'tasks':{'t':{'policy':'SCHED_DEADLINE','dl-runtime':200,'dl-period':1000,'runtime1':100}}}",
        "{'tasks':{'t':{'policy':'SCHED_DEADLINE','dl-runtime':200,'dl-period':1000,'runtime':100}}}",
        "{'tasks':{'t':{'policy':'SCHED_DEADLINE','runtime':200,'period':1000,'phases':{'p':{'run':1}}}}}",
    ] {
        let found = lint::lint(text, Mode::Workgen);
        assert!(
            found.iter().all(|d| d.severity == Severity::Note),
            "{found:?}"
        );
    }
}

#[test]
fn lint_writes_text_and_json() {
    let text = "{\n'tasks':{'t':{'run':1,'exec':3}},\n'global':{'duration':'6'}}";
    let found = lint::lint(text, Mode::Workgen);
    let expected = "x.json:3:22: error: `duration` is a string, expected a whole number\nx.json: 1 error, 0 warnings, 0 notes\n";
    assert_eq!(lint::render_text("x.json", &found), expected);
    let json = lint::render_json("x.json", Mode::Workgen, &found);
    let report: serde_json::Value = serde_json::from_str(&json).expect("is JSON");
    assert_eq!(report["schema"], "alight.lint/1");
    assert_eq!(report["mode"], "workgen");
    assert_eq!(report["runs"], false);
    assert_eq!(report["diagnostics"][0]["severity"], "error");
    assert_eq!(report["diagnostics"][0]["line"], 3);
    assert_eq!(report["diagnostics"][0]["column"], 22);
}

/// What is read and then not modelled stands on the answer, not only on standard error.
#[test]
fn what_is_not_modelled_is_left_out_by_name() {
    let timers = "{\"tasks\":{\"a\":{\"instance\":2,\"loop\":1,\"run\":1,\"timer\":{\"ref\":\"t\",\"period\":9}}}}";
    let of_file = Workload::from_rtapp("w.json", timers, Mode::Workgen);
    let of_line = Workload::load("numactl -m 0 hackbench -g 1 -l 1", Mode::Workgen);
    for (loaded, part) in [
        (of_file, "several threads use the timer `t`"),
        (of_line, "the placement of memory is not modelled"),
    ] {
        let left_out = loaded.expect("it is read").workload.left_out;
        assert!(
            left_out.iter().any(|said| said.contains(part)),
            "{left_out:?}"
        );
    }
}
