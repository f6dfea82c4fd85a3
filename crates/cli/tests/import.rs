// SPDX-License-Identifier: GPL-2.0-only
//! `alight import` from outside: our own traces, and a capture of perf that is kept in the tree.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use alight_recording::Reader;
use alight_recording::workload::{Event, Item, What, WorkloadReader};
use common::alight;
use tempfile::{TempDir, tempdir};

fn events(path: &Path) -> Vec<Event> {
    let mut reader = WorkloadReader::new(Reader::open(path).unwrap()).unwrap();
    let mut events = vec![];
    while let Some(item) = reader.next_item().unwrap() {
        if let Item::Event(event) = item {
            events.push(event);
        }
    }
    events
}

/// What happened, without what only some formats tell: exact times, and the context of wakings.
fn plain(events: &[Event]) -> Vec<(u16, What)> {
    let mut all: Vec<(u16, What)> = events.iter().map(|event| (event.cpu, event.what)).collect();
    for (_, what) in &mut all {
        if let What::Waking { context, .. } = what {
            *context = None;
        }
    }
    all
}

fn run(arguments: &[&str], code: i32) -> (String, String) {
    let output = alight(arguments).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(
        output.status.code(),
        Some(code),
        "{arguments:?}: {out}{err}"
    );
    (out, err)
}

/// A capture of `perf record --all-cgroups`, unpacked.
fn capture(directory: &TempDir) -> PathBuf {
    let packed = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../import/tests/data/amd64-6.1-cloud/groups.data.zst");
    let path = directory.path().join("perf.data");
    let bytes = zstd::decode_all(&fs::read(packed).unwrap()[..]).unwrap();
    fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn all_formats_of_a_simulated_run_tell_the_same() {
    let directory = tempdir().unwrap();
    let mut imported = vec![];
    for name in ["run.pftrace", "run.txt", "run.raw.txt"] {
        let trace = directory.path().join(name);
        let out = directory.path().join(format!("{name}.alight"));
        let (trace, out) = (trace.to_str().unwrap(), out.to_str().unwrap());
        let workload = "hackbench -g 1 -l 40";
        run(
            &[
                "simulate", "-m", "juno-r0", "-w", workload, "--trace", trace,
            ],
            0,
        );
        run(&["import", trace, "-o", out], 0);
        imported.push(events(Path::new(out)));
    }
    assert!(imported[0].len() > 1000, "{} events", imported[0].len());
    assert_eq!(plain(&imported[0]), plain(&imported[1]));
    assert_eq!(plain(&imported[0]), plain(&imported[2]));
}

#[test]
fn a_capture_is_inspected_and_imported() {
    let directory = tempdir().unwrap();
    let file = capture(&directory);
    let name = file.to_str().unwrap();
    let (told, _) = run(&["import", name, "--inspect"], 0);
    assert!(
        told.starts_with("format      perf.data\nkernel      6.1.0-"),
        "{told}"
    );
    assert!(told.contains("a replay will lack:\n"), "{told}");
    // Without a name for it, the recording stands beside the trace.
    run(&["import", name, "--cgroup", "/app"], 0);
    assert!(!events(&file.with_extension("alight")).is_empty());
}

#[test]
fn bad_input_is_refused_and_nothing_is_left() {
    let directory = tempdir().unwrap();
    let file = capture(&directory);
    let name = file.to_str().unwrap();
    let out = directory.path().join("out.alight");
    let out = out.to_str().unwrap();
    for (arguments, message) in [
        (
            &["--pid", "4000000"][..],
            "holds no task that was asked for",
        ),
        (
            &["--cgroup", "/other"],
            "holds no task of the cgroups that were asked for",
        ),
        (&["--from", "1min"], "holds no event in the wanted time"),
        (&["--pid", "x"], "expected a whole number, 1 or more"),
        (&["--pid", "0"], "expected a whole number, 1 or more"),
        (&["--from", "5"], "'5' has no unit"),
        (
            &["--from", "@x"],
            "expected seconds of the trace's clock behind '@'",
        ),
    ] {
        let all = [&["import", name, "-o", out][..], arguments].concat();
        let (_, told) = run(&all, 2);
        assert!(told.contains(message), "{told}");
    }
    for (content, message) in [
        (
            &b"\x89PNG\r\n\x1a\n\0\0"[..],
            "is of no format that is read: perf.data, ",
        ),
        (
            b"\x1f\x8b\x08\0\0",
            "is compressed by gzip: unpack it first",
        ),
        (b"\x7fELF\x02\x01", "is a program (ELF), not a trace"),
        (b"{\"a\": 1}\n", "looks like JSON"),
        (b"some text\n", "is of no format that is read: perf.data, "),
        (
            b"",
            "is empty: no trace was written, or the file was not copied",
        ),
    ] {
        let foreign = directory.path().join("foreign");
        fs::write(&foreign, content).unwrap();
        let foreign = foreign.to_str().unwrap();
        let (_, told) = run(&["import", foreign, "-o", out], 2);
        assert!(told.contains(&format!("{foreign}: {message}")), "{told}");
    }
    let (_, told) = run(
        &["import", directory.path().to_str().unwrap(), "-o", out],
        2,
    );
    assert!(told.contains("is a directory"), "{told}");
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    let (_, told) = run(&["import", name, "-o", out], 2);
    assert!(
        told.contains("perf.data: at byte 40: the data should be"),
        "{told}"
    );
    let nowhere = directory.path().join("none/out.alight");
    fs::write(&file, &whole).unwrap();
    let (_, told) = run(&["import", name, "-o", nowhere.to_str().unwrap()], 1);
    assert!(
        told.contains("none/out.alight: cannot be written: "),
        "{told}"
    );
    let (_, told) = run(
        &["import", name, "-o", directory.path().to_str().unwrap()],
        1,
    );
    assert!(
        told.contains("is not a regular file; name another file"),
        "{told}"
    );
    assert!(!Path::new(out).exists());
}
