// SPDX-License-Identifier: GPL-2.0-only
//! The socket that gives statistics to tools: the client's side.

use crate::statistics::{Malformed, Statistics};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect as to, socket_with,
};
use serde_json::Value;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long the server may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// Bytes of an answer; 1024 CPUs come to less than one million.
const ANSWER_BYTES: u64 = 16 << 20;

/// Why there are no statistics.
#[derive(Debug, PartialEq, Eq)]
pub enum Error {
    /// No scheduler, or one that serves no statistics.
    Nobody(PathBuf),
    /// The socket is another user's.
    Permission(PathBuf),
    /// The connection failed.
    Io(PathBuf, String),
    /// The server refused.
    Refused(PathBuf, String),
    /// Another scheduler's statistics, or none at all.
    Malformed(PathBuf, String),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::Nobody(path) => write!(
                f,
                "{}: no scheduler serves statistics there; is scx_alight running?",
                path.display()
            ),
            Error::Permission(path) => write!(
                f,
                "{}: no permission: the statistics are for the user who runs the scheduler, \
                 mostly root",
                path.display()
            ),
            Error::Io(path, what) | Error::Refused(path, what) | Error::Malformed(path, what) => {
                write!(f, "{}: {what}", path.display())
            }
        }
    }
}

impl std::error::Error for Error {}

/// Asks once.
///
/// # Errors
/// Nobody is there, they do not answer in time, or it is not scx_alight.
pub fn fetch(path: &Path) -> Result<Statistics, Error> {
    let answer = ask(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => Error::Nobody(path.into()),
        io::ErrorKind::PermissionDenied => Error::Permission(path.into()),
        io::ErrorKind::WouldBlock => {
            let patience = PATIENCE.as_secs();
            Error::Io(path.into(), format!("no answer in {patience} seconds"))
        }
        io::ErrorKind::UnexpectedEof => Error::Io(
            path.into(),
            "the connection was closed: too many clients, or the scheduler ended".to_owned(),
        ),
        _ => Error::Io(path.into(), error.to_string()),
    })?;
    let malformed = |what: String| Error::Malformed(path.into(), what);
    let answer: Value = serde_json::from_slice(&answer)
        .map_err(|error| malformed(format!("not an answer of scx_stats: {error}")))?;
    let response = &answer["args"]["resp"];
    if answer["errno"] != 0 {
        let why = response.as_str().unwrap_or("the server refused");
        return Err(Error::Refused(path.into(), why.to_owned()));
    }
    Statistics::from_json(response).map_err(|error: Malformed| malformed(error.to_string()))
}

/// Connects; also that ends in time.
pub(crate) fn connect(path: &Path) -> io::Result<UnixStream> {
    let flags = SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    set_socket_timeout(&socket, Timeout::Send, Some(PATIENCE))?;
    set_socket_timeout(&socket, Timeout::Recv, Some(PATIENCE))?;
    to(&socket, &SocketAddrUnix::new(path)?)?;
    Ok(UnixStream::from(socket))
}

fn ask(path: &Path) -> io::Result<Vec<u8>> {
    let stream = connect(path)?;
    let broken = |error: io::Error| match error.kind() {
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => {
            io::ErrorKind::UnexpectedEof.into()
        }
        _ => error,
    };
    (&stream)
        .write_all(b"{\"req\":\"stats\",\"args\":{}}\n")
        .map_err(broken)?;
    let mut answer = Vec::new();
    BufReader::new(&stream)
        .take(ANSWER_BYTES)
        .read_until(b'\n', &mut answer)
        .map_err(broken)?;
    if answer.is_empty() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(answer)
}

#[cfg(test)]
mod tests;
