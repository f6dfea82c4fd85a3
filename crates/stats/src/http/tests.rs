// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use crate::acceptor::LIMIT;
use crate::statistics::tests::example;
use openmetrics_parser::openmetrics::parse_openmetrics;
use proptest::prelude::*;
use std::sync::Arc;

fn start() -> Server {
    let source: Source = Arc::new(|| Some(Arc::new(example())));
    Server::start(parse_address("0").unwrap(), source).unwrap()
}

/// Head and text of the answer to this request.
fn ask(server: &Server, request: &[u8]) -> (String, String) {
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.write_all(request).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, text) = answer.split_once("\r\n\r\n").expect("a head");
    (head.to_owned(), text.to_owned())
}

#[test]
fn addresses_are_loopback_unless_another_is_named() {
    for (text, expected) in [
        ("", "127.0.0.1:9776"),
        ("9100", "127.0.0.1:9100"),
        ("127.0.0.1:9100", "127.0.0.1:9100"),
        ("localhost:9100", "127.0.0.1:9100"),
        ("localhost", "127.0.0.1:9776"),
        ("0.0.0.0", "0.0.0.0:9776"),
        ("::1", "[::1]:9776"),
        ("[::]", "[::]:9776"),
        ("[::]:80", "[::]:80"),
    ] {
        let parsed = parse_address(text).map(|address| address.to_string());
        assert_eq!(parsed, Ok(expected.to_owned()), "{text}");
    }
    for text in ["bias-prev", ":9100", "70000", "1.2.3", "host:80"] {
        let error = parse_address(text).expect_err(text);
        assert!(
            error.starts_with("expected a port or an address"),
            "{error}"
        );
    }
}

#[test]
fn the_metrics_are_served_as_what_they_are() {
    let server = start();
    let (head, text) = ask(&server, b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert!(head.contains(&format!("Content-Type: {}\r\n", metrics::CONTENT_TYPE)));
    assert!(head.contains(&format!("Content-Length: {}\r\n", text.len())));
    parse_openmetrics(&text).unwrap();
    let (head, text) = ask(&server, b"HEAD /metrics?x=1 HTTP/1.1\r\n\r\n");
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert_eq!(text, "");
}

#[test]
fn other_requests_are_refused() {
    let server = start();
    let long = [b"GET /metrics HTTP/1.1\r\nX: ", &[b'y'; HEAD_BYTES][..]].concat();
    for (request, status) in [
        (&b"GET / HTTP/1.1\r\n\r\n"[..], "404"),
        (b"POST /metrics HTTP/1.1\r\n\r\n", "405"),
        (b"hello\r\n\r\n", "400"),
        (&long, "400"),
    ] {
        let (head, _) = ask(&server, request);
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{head}");
    }
}

#[test]
fn clients_that_say_nothing_are_left() {
    let server = start();
    let silent: Vec<_> = (0..2 * LIMIT)
        .map(|_| TcpStream::connect(server.address).unwrap())
        .collect();
    let begin = Instant::now();
    loop {
        let mut stream = TcpStream::connect(server.address).unwrap();
        let mut answer = String::new();
        /* Closed unheard, the write or the read may fail. */
        let _ = stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n");
        let _ = stream.read_to_string(&mut answer);
        if answer.starts_with("HTTP/1.1 200") {
            break;
        }
        assert!(begin.elapsed() < 3 * PATIENCE, "places become free");
        std::thread::sleep(Duration::from_millis(100));
    }
    drop(silent);
    let begin = Instant::now();
    drop(server);
    assert!(
        begin.elapsed() < Duration::from_secs(1),
        "nobody is waited for"
    );
}

proptest! {
    #[test]
    fn no_request_is_too_strange(head in prop::collection::vec(any::<u8>(), 0..300)) {
        let source: Source = Arc::new(|| None);
        let (_, (status, ..)) = answer(&head, &source);
        prop_assert!(status.starts_with('4') || status.starts_with('5'));
    }
}
