// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use crate::Statistics;
use crate::acceptor::LIMIT;
use crate::client::{self, fetch};
use crate::statistics::tests::example;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::Instant;

fn source() -> Source {
    Arc::new(|| Some(Arc::new(example())))
}

fn ask(stream: &UnixStream, request: &str) -> Value {
    (&*stream).write_all(request.as_bytes()).unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap()
}

#[test]
fn the_usual_client_reads_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("scx/root/stats");
    let _server = Server::start(&path, source()).unwrap();
    let mut client = scx_stats::StatsClient::new().set_path(&path);
    client = client.connect(Some(5000)).unwrap();
    let meta: BTreeMap<String, scx_stats::StatsMeta> =
        client.request("stats_meta", vec![]).unwrap();
    assert!(meta.contains_key("Alight"));
    let stats: Value = client.request("stats", vec![]).unwrap();
    assert_eq!(
        Statistics::from_json(&stats).unwrap().totals,
        example().totals
    );
    let error = client.request::<Value>("stats", vec![("target".into(), "x".into())]);
    assert!(format!("{:?}", error.unwrap_err()).contains("unknown target"));
}

#[test]
fn only_its_owner_may_connect_and_it_is_gone_in_the_end() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("stats");
    let server = Server::start(&path, source()).unwrap();
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    drop(server);
    assert!(!path.exists());
    assert_eq!(
        fetch(&path).unwrap_err(),
        client::Error::Nobody(path.clone())
    );
}

#[test]
fn a_socket_that_somebody_serves_is_left_to_them_and_a_stale_one_is_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("stats");
    let stale = UnixListener::bind(&path).unwrap();
    let error = Server::start(&path, source()).err().unwrap();
    assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
    drop(stale);
    let first = Server::start(&path, source()).unwrap();
    assert!(Server::start(&path, source()).is_err());
    assert!(fetch(&path).is_ok(), "the first serves on");
    fs::remove_file(&path).unwrap();
    let second = Server::start(&path, source()).unwrap();
    drop(first);
    assert!(
        fetch(&path).is_ok(),
        "the first does not remove the second's"
    );
    drop(second);

    fs::write(&path, "a file").unwrap();
    assert!(Server::start(&path, source()).is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), "a file");
}

#[test]
fn strange_requests_are_answered_and_long_ones_end_the_connection() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("stats");
    let _server = Server::start(&path, source()).unwrap();
    let stream = UnixStream::connect(&path).unwrap();
    for (request, expected) in [
        ("nonsense\n", "not a request"),
        ("\n", "not a request"),
        ("{\"req\": 5}\n", "not a request"),
        ("{\"req\": \"stop\"}\n", "unknown request \"stop\""),
    ] {
        let answer = ask(&stream, request);
        assert_eq!(answer["errno"], 22, "{answer}");
        let text = answer["args"]["resp"].as_str().unwrap();
        assert!(text.contains(expected), "{text}");
    }
    assert_eq!(ask(&stream, "{\"req\": \"stats\"}\n")["errno"], 0);
    let answer = ask(&stream, &"x".repeat(REQUEST_BYTES as usize));
    assert_eq!(answer["errno"], 22);
    let mut rest = String::new();
    assert_eq!((&stream).read_to_string(&mut rest).unwrap(), 0, "closed");
}

#[test]
fn clients_that_only_wait_take_no_more_than_their_places() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("stats");
    let server = Server::start(&path, source()).unwrap();
    let mut waiting: Vec<_> = (0..LIMIT)
        .map(|_| {
            let stream = UnixStream::connect(&path).unwrap();
            assert_eq!(ask(&stream, "{\"req\": \"stats\"}\n")["errno"], 0);
            stream
        })
        .collect();
    assert!(fetch(&path).is_err(), "one more is closed");
    waiting.pop();
    let begin = Instant::now();
    while fetch(&path).is_err() {
        assert!(begin.elapsed() < Duration::from_secs(10), "a place is free");
    }
    let begin = Instant::now();
    drop(server);
    assert!(
        begin.elapsed() < Duration::from_secs(1),
        "nobody is waited for"
    );
}

#[test]
fn without_statistics_the_client_is_told_to_ask_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("stats");
    let _server = Server::start(&path, Arc::new(|| None)).unwrap();
    let error = fetch(&path).unwrap_err().to_string();
    assert!(error.contains("ask again"), "{error}");
}
