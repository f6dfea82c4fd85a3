// SPDX-License-Identifier: GPL-2.0-only
//! The socket that gives statistics to tools: the server's side.

use crate::acceptor::Acceptor;
use crate::{Source, describe};
use rustix::fs::{Mode, chmod};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, listen, socket_with,
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where tools for sched_ext schedulers look for it.
pub const SOCKET: &str = "/var/run/scx/root/stats";
/// Bytes of a request; one of the protocol has less than a hundred.
const REQUEST_BYTES: u64 = 4096;
/// Connections that have not been accepted yet.
const BACKLOG: i32 = 16;
/// A client that asks for nothing for so long is taken for gone.
const IDLE: Duration = Duration::from_secs(3600);
/// A client that does not take its answer for so long is.
const STUCK: Duration = Duration::from_secs(5);

/// Serves the socket until it is dropped, which removes it.
pub struct Server {
    path: PathBuf,
    /// Device and inode of the socket: another's is not removed.
    identity: Option<(u64, u64)>,
    _acceptor: Acceptor,
}

impl Server {
    /// Binds the socket, for its owner only, and serves it.
    ///
    /// # Errors
    /// The directory cannot be written to, or somebody serves the socket already.
    pub fn start(path: &Path, source: Source) -> io::Result<Self> {
        make_room(path)?;
        let flags = SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        bind(&socket, &SocketAddrUnix::new(path)?)?;
        // Before it listens, so that nobody comes in between.
        chmod(path, Mode::RUSR | Mode::WUSR)?;
        listen(&socket, BACKLOG)?;
        let handle = socket.try_clone()?;
        let listener = UnixListener::from(socket);
        let acceptor = Acceptor::start(
            handle,
            move || listener.accept().map(|(stream, _)| stream),
            // A client that goes away in the middle is no news.
            move |stream| drop(serve(stream, &source)),
        )?;
        Ok(Server {
            path: path.to_owned(),
            identity: identity(path),
            _acceptor: acceptor,
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.identity.is_some() && identity(&self.path) == self.identity {
            // Whoever finds it finds nobody behind it.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    let metadata = fs::symlink_metadata(path).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

/// Makes the directory; removes a socket that nobody serves any more.
fn make_room(path: &Path) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let occupied = |by| Err(io::Error::new(io::ErrorKind::AddrInUse, by));
    if !metadata.file_type().is_socket() {
        return occupied("there is a file of this name that is no socket");
    }
    match crate::client::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        Err(error) => Err(error),
        Ok(_) => occupied("another process serves it"),
    }
}

/// A request of the protocol.
#[derive(Debug, Deserialize)]
struct Request {
    req: String,
    #[serde(default)]
    args: BTreeMap<String, String>,
}

/// Answers one client until it leaves.
fn serve(stream: UnixStream, source: &Source) -> io::Result<()> {
    stream.set_read_timeout(Some(IDLE))?;
    stream.set_write_timeout(Some(STUCK))?;
    let mut reader = BufReader::new(&stream);
    let mut line = Vec::new();
    loop {
        line.clear();
        (&mut reader)
            .take(REQUEST_BYTES)
            .read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(());
        }
        let whole = line.ends_with(b"\n");
        let (errno, answer) = if whole {
            answer(&line, source)
        } else {
            let refusal = format!("expected a line of less than {REQUEST_BYTES} bytes");
            (Errno::INVAL.raw_os_error(), json!(refusal))
        };
        let answer = json!({ "errno": errno, "args": { "resp": answer } });
        (&stream).write_all(format!("{answer}\n").as_bytes())?;
        if !whole {
            return Ok(());
        }
    }
}

/// Number of the error, 0 for none, and the answer or what is wrong.
fn answer(line: &[u8], source: &Source) -> (i32, Value) {
    let invalid = |what: String| (Errno::INVAL.raw_os_error(), Value::from(what));
    let request: Request = match serde_json::from_slice(line) {
        Ok(request) => request,
        Err(error) => return invalid(format!("not a request: {error}")),
    };
    match request.req.as_str() {
        "stats_meta" => (0, describe::to_json()),
        "stats" => match request.args.get("target").map_or("top", String::as_str) {
            "top" => match source() {
                Some(statistics) => (0, statistics.to_json()),
                None => {
                    let busy = "the scheduler is starting or ending; ask again";
                    (Errno::AGAIN.raw_os_error(), busy.into())
                }
            },
            target => invalid(format!("unknown target {target:?}; expected \"top\"")),
        },
        other => invalid(format!(
            "unknown request {other:?}; expected \"stats\" or \"stats_meta\""
        )),
    }
}

#[cfg(test)]
mod tests {
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
}
