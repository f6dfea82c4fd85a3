// SPDX-License-Identifier: GPL-2.0-only
//! What is written is read; what is not whole is named.

use alight_recording::{End, Error, Header, KernelVersion, Reader, SCHEMA, Writer, annotate};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

fn header() -> Header {
    Header {
        kinds: vec!["first/1".into(), "second/1".into()],
        kernel: "6.18.15+deb13-cloud-amd64".into(),
        build: "Linux version 6.18.15".into(),
        arch: "x86_64".into(),
        hz: Some(250),
        clock: "sched_clock, ns".into(),
        command: "hackbench".into(),
        cpus: vec![],
        facts: BTreeMap::new(),
    }
}

/// Records that fill several blocks.
fn record(i: u32) -> Vec<u8> {
    let length = 40 + i % 7;
    (0..length)
        .flat_map(|j| (i * 31 + j).to_le_bytes())
        .collect()
}

const RECORDS: u32 = 20_000;

fn write(path: &Path) {
    let mut writer = Writer::create(path, &header(), 3).unwrap();
    for i in 0..RECORDS {
        writer.write(i % 2, &record(i)).unwrap();
    }
    let end = End {
        lost: [("ring_full".to_owned(), 7)].into(),
        ..End::default()
    };
    writer.finish(end).unwrap();
}

fn written() -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.alight");
    write(&path);
    let entries = fs::read_dir(directory.path()).unwrap().count();
    assert_eq!(entries, 1, "nothing is left behind");
    fs::read(path).unwrap()
}

/// Reads all: records read and how it ended.
fn read(bytes: &[u8]) -> (u64, Result<End, Error>) {
    let mut reader = match Reader::new(bytes) {
        Ok(reader) => reader,
        Err(error) => return (0, Err(error)),
    };
    loop {
        match reader.next_record() {
            Ok(Some(_)) => {}
            Ok(None) => return (reader.records(), Ok(reader.end().unwrap().clone())),
            Err(error) => return (reader.records(), Err(error)),
        }
    }
}

#[test]
fn what_is_written_is_read() {
    let bytes = written();
    let mut reader = Reader::new(&bytes[..]).unwrap();
    assert_eq!(reader.header(), &header());
    for i in 0..RECORDS {
        let read = reader.next_record().unwrap().unwrap();
        assert_eq!((read.kind, read.bytes), (i % 2, &record(i)[..]));
    }
    assert_eq!(reader.next_record().unwrap(), None);
    let end = reader.end().unwrap();
    assert_eq!(end.lost_events(), 7);
    let half = u64::from(RECORDS / 2);
    assert_eq!(
        end.records,
        BTreeMap::from([("first/1".into(), half), ("second/1".into(), half)])
    );
}

#[test]
fn no_file_bears_the_name_before_the_end() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.alight");
    let mut writer = Writer::create(&path, &header(), 3).unwrap();
    writer.write(0, b"record").unwrap();
    assert!(!path.exists());
    drop(writer);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

/// Giving the finished file its name would replace it.
#[test]
fn what_is_no_regular_file_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("socket");
    let _socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let error = Writer::create(&path, &header(), 1).err().unwrap();
    assert!(error.to_string().contains("not a regular file"), "{error}");
    assert!(!path.metadata().unwrap().is_file());
}

#[test]
fn a_symbolic_link_stays_and_its_target_is_written() {
    for exists in [true, false] {
        let directory = tempfile::tempdir().unwrap();
        let (target, link) = (
            directory.path().join("target"),
            directory.path().join("link"),
        );
        if exists {
            fs::write(&target, "old").unwrap();
        }
        std::os::unix::fs::symlink("target", &link).unwrap();
        write(&link);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(read(&fs::read(&target).unwrap()).0, u64::from(RECORDS));
    }
}

#[test]
fn a_record_of_no_kind_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(&directory.path().join("r"), &header(), 3).unwrap();
    assert!(writer.write(2, b"record").is_err());
    assert!(
        writer
            .write(0, &vec![0; alight_recording::MAX_RECORD + 1])
            .is_err()
    );
}

#[test]
fn cut_anywhere_it_is_cut_short() {
    let bytes = written();
    let head = bytes
        .iter()
        .enumerate()
        .filter(|(_, b)| **b == b'\n')
        .nth(1)
        .unwrap()
        .0
        + 1;
    for length in [
        head,
        head + 1,
        head + 4,
        head + 5,
        head + 100,
        bytes.len() / 2,
        bytes.len() - 1,
    ] {
        let (records, end) = read(&bytes[..length]);
        assert!(
            matches!(end, Err(Error::CutShort { records: r, bytes: b }) if r == records && b == length as u64),
            "{length}: {end:?}"
        );
    }
}

#[test]
fn a_flipped_bit_does_not_pass() {
    let bytes = written();
    let head = bytes
        .iter()
        .enumerate()
        .filter(|(_, b)| **b == b'\n')
        .nth(1)
        .unwrap()
        .0
        + 1;
    for at in (head..bytes.len()).step_by(bytes.len() / 200) {
        let mut wrong = bytes.clone();
        wrong[at] ^= 0x10;
        assert!(read(&wrong).1.is_err(), "byte {at}");
    }
    let mut longer = bytes;
    longer.push(0);
    assert!(matches!(read(&longer).1, Err(Error::Damaged { .. })));
}

#[test]
fn other_files_are_named() {
    let refused = |text: &str| read(text.as_bytes()).1.unwrap_err().to_string();
    let makes = "not 'alight.recording/1'; `alight record` makes one, `alight import` makes one of a \
                 trace";
    for (content, says) in [
        ("\u{7f}ELF\n", "it begins with the bytes 7f 45 4c 46"),
        (
            "PERFILE2\0\0\0",
            "it begins with the bytes 50 45 52 46 49 4c 45 32",
        ),
        ("{\"a\": 1}", "its first line is '{\\\"a\\\": 1}'"),
        ("some text\nand more\n", "its first line is 'some text'"),
    ] {
        assert_eq!(
            refused(content),
            format!("is not a recording: {says}, {makes}")
        );
    }
    assert_eq!(
        refused("alight.recording/9\n{}\n"),
        "is a recording of another version: found 'alight.recording/9', this program reads \
         'alight.recording/1'"
    );
    assert!(refused(&format!("{SCHEMA}\n{{}}\n")).starts_with("line 2 is not the header"));
    for cut in [
        format!("{SCHEMA}\n"),
        format!("{SCHEMA}\n{{\"kernel\": \"6."),
    ] {
        assert!(matches!(
            read(cut.as_bytes()).1,
            Err(Error::CutShort { .. })
        ));
    }
    assert!(matches!(read(b"").1, Err(Error::Empty)));
    let foreign = Header {
        arch: "s390x".into(),
        ..header()
    };
    let foreign = format!("{SCHEMA}\n{}\n", serde_json::to_string(&foreign).unwrap());
    assert_eq!(
        refused(&foreign),
        "was recorded on 's390x'; recordings of x86_64 and aarch64 can be read"
    );
}

#[test]
fn point_releases_are_the_third_number() {
    for (release, expected) in [
        ("6.18.15+deb13-arm64", Some(15)),
        ("6.8.12-151-generic", Some(12)),
        ("7.0.14", Some(14)),
        ("6.1.0-50-cloud-amd64", Some(0)),
        ("7.2-rc1", None),
        ("7.2.x", None),
    ] {
        let header = Header {
            kernel: release.into(),
            ..header()
        };
        assert_eq!(header.point_release(), expected, "{release}");
    }
}

#[test]
fn releases_have_two_numbers() {
    let version = |kernel: &str| {
        Header {
            kernel: kernel.into(),
            ..header()
        }
        .kernel_version()
    };
    let is = |major, minor| Some(KernelVersion { major, minor });
    for (release, expected) in [
        ("6.1.0-50-cloud-amd64", is(6, 1)),
        ("6.18.15+deb13-arm64", is(6, 18)),
        ("7.2-rc1", is(7, 2)),
        ("mainline", None),
        ("6", None),
    ] {
        assert_eq!(version(release), expected, "{release}");
    }
}

#[test]
fn the_host_is_captured_from_a_copied_tree() {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in [
        ("proc/version", "Linux version 6.18.15 (build)\n"),
        ("proc/sys/kernel/osrelease", "6.18.15\n"),
        ("proc/sys/kernel/arch", "aarch64\n"),
        ("boot/config-6.18.15", "CONFIG_HZ_250=y\nCONFIG_HZ=250\n"),
        ("sys/devices/system/cpu/online", "0-1,3\n"),
        ("sys/devices/system/cpu/cpu3/cpu_capacity", "446\n"),
        (
            "sys/devices/system/cpu/cpu3/topology/cluster_cpus_list",
            "3\n",
        ),
        ("sys/devices/system/cpu/cpu3/cache/index0/level", "1\n"),
        ("sys/devices/system/cpu/cpu3/cache/index0/type", "Data\n"),
        (
            "sys/devices/system/cpu/cpu3/cache/index0/shared_cpu_list",
            "3\n",
        ),
        ("sys/devices/system/cpu/cpu3/cache/index1/level", "2\n"),
        ("sys/devices/system/cpu/cpu3/cache/index1/type", "Unified\n"),
        (
            "sys/devices/system/cpu/cpu3/cache/index1/shared_cpu_list",
            "0-3\n",
        ),
    ] {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let header = Header::capture(root.path(), &["first/1"], "sched_clock, ns", "true").unwrap();
    assert_eq!(
        (header.kernel.as_str(), header.arch.as_str()),
        ("6.18.15", "aarch64")
    );
    assert_eq!(header.hz, Some(250));
    let cpus: Vec<_> = header
        .cpus
        .iter()
        .map(|cpu| (cpu.cpu, cpu.capacity))
        .collect();
    assert_eq!(cpus, [(0, 1024), (1, 1024), (3, 446)]);
    assert_eq!(header.cpus[2].llc.as_deref(), Some("0-3"));
    assert_eq!(header.kind("first/1"), Some(0));
}

#[test]
fn a_recording_that_ends_early_has_its_whole_blocks_and_says_why() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.alight");
    let mut writer = Writer::create(&path, &header(), 3).unwrap();
    for i in 0..RECORDS {
        writer.write(i % 2, &record(i)).unwrap();
    }
    let end = End {
        facts: [("stopped".to_owned(), "disk full".to_owned())].into(),
        ..End::default()
    };
    let written: u64 = writer.finish_early(end).unwrap().iter().sum();
    let (records, end) = read(&fs::read(&path).unwrap());
    assert!(0 < written && written < u64::from(RECORDS), "{written}");
    assert_eq!(records, written);
    let end = end.unwrap();
    assert_eq!(end.facts["stopped"], "disk full");
    assert_eq!(end.records.values().sum::<u64>(), written);
}

#[test]
fn each_record_has_a_place() {
    let bytes = written();
    let mut reader = Reader::new(&bytes[..]).unwrap();
    let mut before = None;
    while reader.next_record().unwrap().is_some() {
        let place = reader.place();
        let key = (place.block, place.within);
        assert!(before < Some(key), "{before:?} {key:?}");
        assert_eq!(bytes[place.block as usize], b'R');
        before = Some(key);
    }
}

#[test]
fn a_fact_is_added_and_all_else_stays() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.alight");
    write(&path);
    let (records, before) = read(&fs::read(&path).unwrap());
    for value in ["good", "better"] {
        let fact = ("verdict".to_owned(), value.to_owned());
        annotate(&path, |end| end.facts.extend([fact.clone()])).unwrap();
        let (again, after) = read(&fs::read(&path).unwrap());
        let expected = End {
            facts: [fact].into(),
            ..before.as_ref().unwrap().clone()
        };
        assert_eq!((again, after.unwrap()), (records, expected));
    }
    let entries = fs::read_dir(directory.path()).unwrap().count();
    assert_eq!(entries, 1, "nothing is left behind");

    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let refused = annotate(&path, |_| ()).unwrap_err();
    assert!(matches!(refused, Error::CutShort { .. }), "{refused}");
    assert_eq!(fs::read(&path).unwrap().len(), bytes.len() / 2);
}
