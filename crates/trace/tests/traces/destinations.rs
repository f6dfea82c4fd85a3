// SPDX-License-Identifier: GPL-2.0-only
//! Where a trace goes and what is left when writing fails: a whole file or none.

use std::fs;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use alight_trace::{CreateError, Event, Format, Sink, TaskRef, TraceFile, TraceHeader};

use crate::run;

const FORMATS: [Format; 3] = [Format::Perfetto, Format::Ftrace, Format::FtraceRaw];

/// Set in a child that this program starts of itself: the path to write to.
const CHILD_PATH: &str = "ALIGHT_TRACE_TEST_PATH";

/// Enough events to fill any buffer several times.
const MANY: u64 = 100_000;

fn write_events(trace: &mut TraceFile, count: u64) -> std::io::Result<()> {
    (0..count).try_for_each(|at| trace.event(5_000 + at, 0, Event::Frequency { khz: 1000 }))
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[test]
fn the_file_has_its_name_when_finished_and_not_before() {
    for format in FORMATS {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run");
        fs::write(&path, "the trace of yesterday").unwrap();
        let mut trace = TraceFile::create_as(&path, format, &run::header()).unwrap();
        write_events(&mut trace, MANY).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"the trace of yesterday");
        trace.finish().unwrap();
        assert!(fs::metadata(&path).unwrap().len() > MANY);
        assert_eq!(names(directory.path()), ["run"]);
    }
}

#[test]
fn dropped_unfinished_it_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.pftrace");
    let mut trace = TraceFile::create(&path, &run::header()).unwrap();
    write_events(&mut trace, MANY).unwrap();
    assert_eq!(
        names(directory.path()).len(),
        1,
        "the unfinished file, under another name"
    );
    drop(trace);
    assert_eq!(names(directory.path()), [""; 0]);
}

#[test]
fn a_symbolic_link_stays_and_its_target_is_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let (target, link) = (
        directory.path().join("target.txt"),
        directory.path().join("link.txt"),
    );
    fs::write(&target, "old").unwrap();
    symlink(&target, &link).unwrap();
    run::write(&link, Format::Ftrace);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(
        fs::read_to_string(&target)
            .unwrap()
            .starts_with("# tracer: nop\n")
    );
}

#[test]
fn permissions_are_those_of_any_new_file() {
    let directory = tempfile::tempdir().unwrap();
    let (trace, plain) = (
        directory.path().join("run.txt"),
        directory.path().join("plain"),
    );
    run::write(&trace, Format::Ftrace);
    fs::write(&plain, "").unwrap();
    let mode = |path: &PathBuf| fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&trace), mode(&plain));
}

#[test]
fn a_full_device_is_an_error_that_names_it() {
    let mut trace = TraceFile::create(Path::new("/dev/full"), &run::header()).unwrap();
    let error = write_events(&mut trace, MANY).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StorageFull);
    assert_eq!(
        error.to_string(),
        "cannot write the trace '/dev/full': No space left on device (os error 28)"
    );
    assert!(
        trace.finish().is_err(),
        "a trace with a hole is not finished"
    );
}

#[test]
fn a_full_device_is_noticed_at_the_end_of_a_short_trace() {
    let trace = TraceFile::create(Path::new("/dev/full"), &run::header()).unwrap();
    assert_eq!(trace.finish().unwrap_err().kind(), ErrorKind::StorageFull);
}

#[test]
fn a_file_that_cannot_grow_is_removed() {
    if let Some(path) = std::env::var_os(CHILD_PATH) {
        return write_until_it_fails(Path::new(&path));
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.txt");
    // This test again, in a child whose files the shell limits to 64 blocks: as good as a full disk.
    let script = "trap '' XFSZ; ulimit -f 64; exec \"$0\" --exact --nocapture destinations::a_file_that_cannot_grow_is_removed";
    let program = std::env::current_exe().unwrap();
    let output = Command::new("sh")
        .args(["-c", script])
        .arg(program)
        .env(CHILD_PATH, &path)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let expected = format!(
        "cannot write the trace '{}': File too large",
        path.display()
    );
    assert!(
        output.status.success() && said.contains(&expected),
        "{said}"
    );
    assert_eq!(names(directory.path()), [""; 0]);
}

fn write_until_it_fails(path: &Path) {
    let mut trace = TraceFile::create(path, &run::header()).unwrap();
    println!("{}", write_events(&mut trace, MANY).unwrap_err());
    assert_eq!(
        names(path.parent().unwrap()),
        [""; 0],
        "removed at the error, not only at the end"
    );
}

#[test]
fn a_closed_pipe_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let pipe = directory.path().join("pipe.pftrace");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let reader = {
        let pipe = pipe.clone();
        std::thread::spawn(move || drop(fs::File::open(pipe).unwrap()))
    };
    let mut trace = TraceFile::create(&pipe, &run::header()).unwrap();
    reader.join().unwrap();
    let error = write_events(&mut trace, MANY).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    assert!(
        error.to_string().starts_with("cannot write the trace '"),
        "{error}"
    );
}

#[test]
fn a_pipe_gets_the_whole_trace() {
    let directory = tempfile::tempdir().unwrap();
    let (pipe, file) = (
        directory.path().join("pipe"),
        directory.path().join("run.txt"),
    );
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let reader = {
        let pipe = pipe.clone();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            fs::File::open(pipe)
                .unwrap()
                .read_to_end(&mut bytes)
                .unwrap();
            bytes
        })
    };
    run::write(&pipe, Format::Ftrace);
    run::write(&file, Format::Ftrace);
    assert!(reader.join().unwrap() == fs::read(&file).unwrap());
}

#[test]
fn what_cannot_be_created_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let in_directory = |name: &str| directory.path().join(name);
    fs::create_dir(in_directory("dir.txt")).unwrap();
    fs::write(in_directory("file"), "").unwrap();
    for (path, reason) in [
        (
            in_directory("missing/run.txt"),
            "No such file or directory (os error 2)",
        ),
        (
            in_directory("file/run.txt"),
            "Not a directory (os error 20)",
        ),
        (in_directory("dir.txt"), "it is a directory"),
    ] {
        let error = TraceFile::create(&path, &run::header())
            .err()
            .expect("an error");
        assert!(matches!(error, CreateError::Io(_)));
        let expected = format!("cannot create the trace '{}': {reason}", path.display());
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn bad_input_is_told_apart_from_a_failing_machine() {
    let bad_ending = TraceFile::create(Path::new("run.json"), &run::header());
    assert!(matches!(bad_ending.err(), Some(CreateError::Format(_))));
    let bad_header = TraceFile::create(Path::new("run.txt"), &TraceHeader::default());
    assert!(matches!(bad_header.err(), Some(CreateError::Header(_))));
}

#[test]
fn events_of_what_the_header_does_not_list_are_refused() {
    let stranger = TaskRef { pid: 77, prio: 120 };
    let directory = tempfile::tempdir().unwrap();
    for format in FORMATS {
        for (cpu, event, message) in [
            (
                2,
                Event::IdleExit,
                "an event names CPU 2; the header's machine has CPUs 0 to 1",
            ),
            (
                0,
                Event::Waking {
                    task: stranger,
                    target_cpu: 0,
                },
                "an event names pid 77, which is not among the header's tasks",
            ),
        ] {
            let path = directory.path().join("run");
            let mut trace = TraceFile::create_as(&path, format, &run::header()).unwrap();
            let error = trace.event(1_000, cpu, event).unwrap_err();
            assert_eq!(
                (error.kind(), error.to_string().as_str()),
                (ErrorKind::InvalidInput, message)
            );
            assert!(
                trace.finish().is_err(),
                "a trace that misses an event is not finished"
            );
            assert_eq!(names(directory.path()), [""; 0]);
        }
    }
}

#[test]
fn a_dash_is_standard_output() {
    if std::env::var_os(CHILD_PATH).is_some() {
        let mut trace = TraceFile::create(Path::new("-"), &run::header()).unwrap();
        run::events()
            .into_iter()
            .try_for_each(|(time_ns, cpu, event)| trace.event(time_ns, cpu, event))
            .unwrap();
        return trace.finish().unwrap();
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "--nocapture",
            "destinations::a_dash_is_standard_output",
        ])
        .env(CHILD_PATH, "-")
        .output()
        .unwrap();
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("run.txt");
    run::write(&file, Format::Ftrace);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains(&fs::read_to_string(&file).unwrap()), "{said}");
}
