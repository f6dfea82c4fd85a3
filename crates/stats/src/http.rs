// SPDX-License-Identifier: GPL-2.0-only
//! Serves the metrics over HTTP/1.1: `GET /metrics`, one request a connection, and a few seconds for
//! each.

use crate::acceptor::Acceptor;
use crate::{Source, metrics};
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// Where they are served if no port is named.
pub const PORT: u16 = 9776;
/// Bytes of a request's head.
const HEAD_BYTES: usize = 8192;
/// Header fields of a request; clients of metrics send less than ten.
const FIELDS: usize = 64;
/// What is read of what follows the head.
const DRAIN_BYTES: usize = 64 << 10;
/// From the connection to the end of the answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// An address as typed: `PORT`, `ADDRESS` or `ADDRESS:PORT`; nothing is loopback and [`PORT`].
///
/// # Errors
/// What was expected.
pub fn parse_address(text: &str) -> Result<SocketAddr, String> {
    let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let text = text.trim();
    if text.is_empty() {
        return Ok(SocketAddr::new(loopback, PORT));
    }
    if let Ok(port) = text.parse::<u16>() {
        return Ok(SocketAddr::new(loopback, port));
    }
    let numeric = match text.strip_prefix("localhost") {
        Some(rest) => format!("{loopback}{rest}"),
        None => text.to_owned(),
    };
    let bare = numeric
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .unwrap_or(&numeric);
    let address = bare.parse::<IpAddr>().map(|ip| SocketAddr::new(ip, PORT));
    address
        .or_else(|_| numeric.parse::<SocketAddr>())
        .map_err(|_| {
            format!(
                "expected a port or an address, such as {PORT}, 127.0.0.1:{PORT} or [::]:{PORT}; \
                 a feature that follows needs `--metrics={PORT}` or `--` between"
            )
        })
}

/// Serves metrics until it is dropped.
pub struct Server {
    /// Where: a port that was asked for as 0 is known now.
    pub address: SocketAddr,
    _acceptor: Acceptor,
}

impl Server {
    /// Binds the address and serves it.
    ///
    /// # Errors
    /// The address is not this host's, or in use.
    pub fn start(address: SocketAddr, source: Source) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let handle = listener.try_clone()?.into();
        let acceptor = Acceptor::start(
            handle,
            move || listener.accept().map(|(stream, _)| stream),
            // A client that goes away in the middle is no news.
            move |stream| drop(serve(&stream, &source)),
        )?;
        Ok(Server {
            address,
            _acceptor: acceptor,
        })
    }
}

/// An answer: status, form, text.
type Answer = (&'static str, &'static str, String);

const PLAIN: &str = "text/plain; charset=utf-8";

fn serve(stream: &TcpStream, source: &Source) -> io::Result<()> {
    let deadline = Instant::now() + PATIENCE;
    let head = read_head(stream, deadline)?;
    let (with_body, (status, form, text)) = answer(&head, source);
    let mut response = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {form}\r\nContent-Length: {}\r\n\
         Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
        text.len()
    );
    if with_body {
        response.push_str(&text);
    }
    write_by(stream, response.as_bytes(), deadline)?;
    drain(stream, deadline)
}

/// Lets the client finish: a connection that is closed before all is read is reset, and the answer
/// may be lost.
fn drain(mut stream: &TcpStream, deadline: Instant) -> io::Result<()> {
    stream.shutdown(Shutdown::Write)?;
    let mut piece = [0; 1024];
    for _ in 0..DRAIN_BYTES / piece.len() {
        stream.set_read_timeout(Some(remaining(deadline)?))?;
        if stream.read(&mut piece)? == 0 {
            break;
        }
    }
    Ok(())
}

fn remaining(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    Ok(left)
}

/// Up to the empty line, or as much as a head may have.
fn read_head(mut stream: &TcpStream, deadline: Instant) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let mut piece = [0; 1024];
    while head.len() < HEAD_BYTES && !head.windows(4).any(|end| end == b"\r\n\r\n") {
        stream.set_read_timeout(Some(remaining(deadline)?))?;
        let read = stream.read(&mut piece)?;
        if read == 0 {
            break;
        }
        head.extend_from_slice(&piece[..read]);
    }
    Ok(head)
}

fn write_by(mut stream: &TcpStream, mut bytes: &[u8], deadline: Instant) -> io::Result<()> {
    while !bytes.is_empty() {
        stream.set_write_timeout(Some(remaining(deadline)?))?;
        let written = stream.write(bytes)?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        bytes = &bytes[written..];
    }
    Ok(())
}

/// The answer to this head, and whether its text is wanted.
fn answer(head: &[u8], source: &Source) -> (bool, Answer) {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS];
    let mut request = httparse::Request::new(&mut fields);
    let plain = |status, text: &str| (status, PLAIN, format!("{text}\n"));
    if !matches!(request.parse(head), Ok(httparse::Status::Complete(_))) {
        return (
            true,
            plain("400 Bad Request", "expected an HTTP/1.1 request"),
        );
    }
    let path = request.path.unwrap_or_default();
    let path = path.split('?').next().unwrap_or_default();
    let method = request.method.unwrap_or_default();
    let answer = match (method, path) {
        ("GET" | "HEAD", "/metrics") => match source() {
            Some(statistics) => (
                "200 OK",
                metrics::CONTENT_TYPE,
                metrics::render(&statistics),
            ),
            None => plain(
                "503 Service Unavailable",
                "the scheduler is starting or ending; ask again",
            ),
        },
        ("GET" | "HEAD", _) => plain("404 Not Found", "the metrics are at /metrics"),
        _ => plain("405 Method Not Allowed", "expected GET"),
    };
    (method != "HEAD", answer)
}

#[cfg(test)]
mod tests;
