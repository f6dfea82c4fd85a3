// SPDX-License-Identifier: GPL-2.0-only

use std::io::Write;
use std::path::Path;

use super::{BLOCK, Files, MAGIC, SUM, is_archive, unpacked};

const ONLINE: &str = "sys/devices/system/cpu/online";

/// A tar archive of these files; those whose content begins with `->` are links.
fn archive(files: &[(&str, &str)]) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for (path, content) in files {
        let mut header = tar::Header::new_gnu();
        match content.strip_prefix("->") {
            Some(target) => {
                header.set_entry_type(tar::EntryType::Symlink);
                header.set_size(0);
                tar.append_link(&mut header, path, target).unwrap();
            }
            None => {
                header.set_size(content.len() as u64);
                header.set_mode(0o444);
                tar.append_data(&mut header, path, content.as_bytes())
                    .unwrap();
            }
        }
    }
    tar.into_inner().unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

fn read(bytes: &[u8]) -> Files {
    unpacked(Path::new("tree"), bytes).unwrap_or_else(|error| panic!("{error}"))
}

fn refusal(name: &str, bytes: &[u8]) -> String {
    match unpacked(Path::new(name), bytes) {
        Ok(_) => panic!("{name} is read"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_tree_lies_at_any_depth_of_an_archive() {
    for root in ["", "./", "/", "dump/", "a/b/"] {
        let path = format!("{root}{ONLINE}");
        let other = format!("{root}usr/bin/true");
        let plain = match root {
            "/" => continue,
            _ => archive(&[(&other, "\x7fELF"), (&path, "0-3\n")]),
        };
        for bytes in [gzip(&plain), plain] {
            let files = read(&bytes);
            assert_eq!(files.bytes(ONLINE), Some(&b"0-3\n"[..]), "{root}");
            assert!(!files.exists("usr/bin/true"));
        }
    }
}

#[test]
fn links_in_an_archive_lead_to_its_files() {
    let policy = "dump/sys/devices/system/cpu/cpufreq/policy0/related_cpus";
    let link = "dump/sys/devices/system/cpu/cpu1/cpufreq";
    let files = read(&archive(&[(link, "->../cpufreq/policy0"), (policy, "0 1")]));
    let found = files.bytes("sys/devices/system/cpu/cpu1/cpufreq/related_cpus");
    assert_eq!(found, Some(&b"0 1"[..]));
}

#[test]
fn a_dump_has_a_line_for_each_line_of_a_file() {
    let dump = "/sys/devices/system/cpu/online:0-1\n\
                /sys/kernel/debug/energy_model/cpu0/ps:300000/power:49\n\
                /proc/cpuinfo:processor\t: 0\n\
                /proc/cpuinfo:\n\
                /proc/cpuinfo:processor\t: 1\n\
                grep: /sys/devices/system/cpu/uevent: Permission denied\n";
    let files = read(dump.as_bytes());
    for (path, content) in [
        (ONLINE, "0-1"),
        ("sys/kernel/debug/energy_model/cpu0/ps:300000/power", "49"),
        ("proc/cpuinfo", "processor\t: 0\n\nprocessor\t: 1"),
    ] {
        assert_eq!(files.bytes(path), Some(content.as_bytes()), "{path}");
    }
}

#[test]
fn what_is_no_tree_is_refused_with_what_to_do() {
    let elsewhere = archive(&[("etc/passwd", "root")]);
    let tar = archive(&[(ONLINE, "0-3"), ("sys/devices/system/cpu/possible", "0-3")]);
    let whole = gzip(&tar);
    for (name, bytes, said) in [
        (
            "a.tar.bz2",
            &b"BZh91AY"[..],
            "unpack it first (`bzip2 -dk a.tar.bz2`)",
        ),
        (
            "a.tar.xz",
            b"\xfd7zXZ\0",
            "unpack it first (`xz -dk a.tar.xz`)",
        ),
        ("a.tar.zst", b"\x28\xb5\x2f\xfd", "packed with zstd"),
        ("a.zip", b"PK\x03\x04", "packed with zip"),
        (
            "a.tar",
            &elsewhere,
            "has no file in `sys/devices/system/cpu/`",
        ),
        ("a.tar", b"", "is empty, expected a tar archive"),
        ("a.tgz", &whole[..whole.len() / 2], "cut off or damaged"),
        ("a.tgz", &whole[..12], "cut off or damaged"),
        ("a.tar", &tar[..tar.len() / 2], "cut off or damaged"),
        (
            "a.tar",
            &[b'x'; 600],
            "begins with `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...`",
        ),
        (
            "a.tgz",
            &gzip(b"hello\n"),
            "begins with `hello`, expected a tar archive of sysfs",
        ),
        (
            "a.tar",
            b"\x7fELF\x02\0",
            "is binary, expected a tar archive of sysfs",
        ),
    ] {
        let message = refusal(name, bytes);
        assert!(
            message.starts_with(name) && message.contains(said) && message.lines().count() == 1,
            "{message}"
        );
    }
}

#[test]
fn an_archive_of_several_machines_is_refused() {
    let one = format!("one/{ONLINE}");
    let other = format!("b/two/{ONLINE}");
    for (files, said) in [
        (
            vec![(one.as_str(), "0-3"), (other.as_str(), "0-7")],
            "(`b/two/`, `one/`)",
        ),
        (
            vec![(ONLINE, "0-3"), (other.as_str(), "0-7")],
            "(``, `b/two/`)",
        ),
    ] {
        let tar = archive(&files);
        for bytes in [gzip(&tar), tar] {
            let message = refusal("two.tar", &bytes);
            let all = format!("two.tar: has 2 folders with `sys/devices/system/cpu/` {said}");
            assert!(message.starts_with(&all), "{message}");
            assert!(
                message.contains("unpack it and import one of the folders"),
                "{message}"
            );
        }
    }
    // Files of one tree in any order, and others beside it.
    let possible = "one/sys/devices/system/cpu/possible";
    let files = read(&archive(&[
        ("x/etc/passwd", "root"),
        (possible, "0-3"),
        (&one, "0-1"),
    ]));
    assert_eq!(files.bytes(ONLINE), Some(&b"0-1"[..]));
}

#[test]
fn what_stands_before_a_dump_is_passed_over() {
    let dump = "/sys/devices/system/cpu/online:0-1\n/sys/devices/system/cpu/possible:0-3\n";
    for before in [
        "",
        "\n",
        "* daemon started successfully\n",
        "\r\n$ su\n# grep -rs\n",
    ] {
        let text = format!("{before}{dump}");
        for bytes in [text.clone().into_bytes(), gzip(text.as_bytes())] {
            assert_eq!(read(&bytes).bytes(ONLINE), Some(&b"0-1"[..]), "{before}");
        }
    }
}

#[test]
fn an_archive_without_a_magic_is_known_by_its_sum() {
    let mut old = archive(&[(ONLINE, "0-3")]);
    old[MAGIC].fill(0);
    let sum: u32 = old[..BLOCK].iter().map(|&byte| u32::from(byte)).sum();
    let own: u32 = old[SUM].iter().map(|&byte| u32::from(byte)).sum();
    let stated = format!("{:06o}\0 ", sum - own + 8 * u32::from(b' '));
    old[SUM].copy_from_slice(stated.as_bytes());
    assert!(is_archive(&old));
    assert_eq!(read(&old).bytes(ONLINE), Some(&b"0-3"[..]));
}
