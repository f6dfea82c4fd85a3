// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use std::os::unix::net::UnixListener;
use std::thread;

/// What becomes of a server that answers with this.
fn answered(with: &'static [u8]) -> String {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("stats");
    let listener = UnixListener::bind(&path).unwrap();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut line = String::new();
        BufReader::new(&stream).read_line(&mut line).unwrap();
        stream.write_all(with).unwrap();
    });
    let error = fetch(&path).unwrap_err().to_string();
    server.join().unwrap();
    error.replace(&path.display().to_string(), "SOCKET")
}

#[test]
fn what_is_no_statistics_is_refused_with_the_reason() {
    for (answer, expected) in [
        (&b""[..], "SOCKET: the connection was closed"),
        (
            b"hello\n",
            "SOCKET: not an answer of scx_stats: expected value",
        ),
        (b"{}\n", "SOCKET: the server refused"),
        (
            b"{\"errno\":22,\"args\":{\"resp\":\"not today\"}}\n",
            "SOCKET: not today",
        ),
        (
            b"{\"errno\":0,\"args\":{\"resp\":{\"nr_migrations\":5}}}\n",
            "SOCKET: these are not the statistics of scx_alight: expected a scheduler's name",
        ),
    ] {
        let error = answered(answer);
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn nobody_there_is_said() {
    let directory = tempfile::tempdir().unwrap();
    let error = fetch(&directory.path().join("stats")).unwrap_err();
    assert!(
        error.to_string().ends_with("is scx_alight running?"),
        "{error}"
    );
}
