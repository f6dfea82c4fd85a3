// SPDX-License-Identifier: GPL-2.0-only

use super::*;

#[test]
fn the_first_bytes_tell_the_encoding() {
    let cases: [(&[u8], Option<Mark>); 9] = [
        (b"", None),
        (b"{", None),
        (b"{}", None),
        ("\u{feff}{}".as_bytes(), Some(Mark::Utf8)),
        (b"\xff\xfe{\0}\0", Some(Mark::Utf16)),
        (b"\xfe\xff\0{\0}", Some(Mark::Utf16)),
        (b"{\0}\0", Some(Mark::Utf16)),
        (b"\0{\0}", Some(Mark::Utf16)),
        (b"\0\0", None),
    ];
    for (bytes, expected) in cases {
        assert_eq!(mark(bytes), expected, "{bytes:?}");
    }
}

#[test]
fn files_are_read_as_utf_8() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let cases: [(&[u8], Result<&str, &str>); 5] = [
        ("a = \"ä\"\n".as_bytes(), Ok("a = \"ä\"\n")),
        ("\u{feff}a".as_bytes(), Ok("a")),
        (b"\xff\xfea\0", Err("it is UTF-16; save it as UTF-8")),
        (b"a\0", Err("it is UTF-16; save it as UTF-8")),
        (
            b"a\n\nb\xe4c",
            Err("it is not UTF-8: byte 0xe4 in line 3; save it as UTF-8"),
        ),
    ];
    for (bytes, expected) in cases {
        fs::write(&path, bytes).unwrap();
        let found = read(&path).map_err(|error| error.to_string());
        let found = found.as_deref().map_err(String::as_str);
        assert_eq!(found, expected, "{bytes:?}");
    }
}
