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
mod tests;
