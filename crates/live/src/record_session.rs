// SPDX-License-Identifier: GPL-2.0-only
//! What all recorders share: how long to record, and the way from the kernel's
//! ring buffer to the file.

use crate::refusal;
use alight_arguments::record::Recording;
use alight_measure::costs::running_hz;
use alight_recording::{End, Header, Writer};
use libbpf_rs::{MapCore, RingBufferBuilder};
use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often the ring buffer is looked at. The kernel side does not wake the
/// reader, because that would add wakeups to the recording.
const POLL: Duration = Duration::from_millis(4);
/// Events that are written before the end of the recording is looked for again.
const BATCH: usize = 4096;

/// What to record, and where to.
#[derive(Debug, Clone)]
pub struct Session {
    /// The recording.
    pub file: PathBuf,
    /// When to end, if the command has not ended before.
    pub duration: Option<Duration>,
    /// What to run meanwhile; empty: nothing.
    pub command: Vec<String>,
    /// Bytes of the ring buffer; a power of two.
    pub ring_bytes: u32,
    /// zstd's level, 1 to 19.
    pub level: i32,
    /// Print what libbpf and the verifier say.
    pub verbose: bool,
}

impl From<Recording> for Session {
    fn from(asked: Recording) -> Self {
        Session {
            file: asked.output,
            duration: asked.duration,
            command: asked.command,
            ring_bytes: asked.ring.next_power_of_two() << 20,
            level: asked.level,
            verbose: asked.verbose,
        }
    }
}

/// What a recording holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recorded {
    /// Records written.
    pub records: u64,
    /// Events that were lost.
    pub lost: u64,
}

/// Why nothing was recorded.
#[derive(Debug, thiserror::Error)]
pub enum NotRecorded {
    /// Functions that the recorder hooks are not in the kernel's type information.
    #[error("this kernel cannot be recorded: {0}")]
    Kernel(String),
    /// The process, group or command to record is not there, or was not named.
    #[error("{0}")]
    Chosen(String),
    /// This process may not record, or this kernel cannot be recorded; other tools can do it.
    #[error("{why}\n{instead}")]
    Elsewhere {
        /// Why not.
        why: String,
        /// What to run instead.
        instead: String,
    },
    /// libbpf or the kernel refused.
    #[error("{what}: {error}{}", refused.as_ref().map(|said| format!("; {said}")).unwrap_or_default())]
    Bpf {
        /// What was tried.
        what: String,
        /// What libbpf says.
        error: libbpf_rs::Error,
        /// Which program was refused, and why.
        refused: Option<String>,
    },
    /// What kernel paths cost cannot be measured.
    #[error("measuring the costs of kernel paths: {0}")]
    Costs(io::Error),
    /// The recording cannot be written.
    #[error("{}: {error}", path.display())]
    File {
        /// The recording.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The command cannot be run.
    #[error("cannot run '{command}': {error}")]
    Command {
        /// The command.
        command: String,
        /// What the system says.
        error: io::Error,
    },
}

/// Adds to libbpf's errors what was tried.
pub trait During<T> {
    /// `what`: as in "loading the recorder".
    ///
    /// # Errors
    /// That of `self`.
    fn during(self, what: &str) -> Result<T, NotRecorded>;
}

impl<T> During<T> for libbpf_rs::Result<T> {
    fn during(self, what: &str) -> Result<T, NotRecorded> {
        let what = what.to_owned();
        self.map_err(|error| NotRecorded::Bpf {
            what,
            error,
            refused: refusal::sentence(),
        })
    }
}

impl Session {
    /// The header of the recording; its command is the session's.
    ///
    /// # Errors
    /// A file that every kernel has cannot be read.
    pub fn header(&self, kinds: &[&str], clock: &str) -> Result<Header, NotRecorded> {
        let command = self.command.join(" ");
        let mut header = Header::capture(Path::new("/"), kinds, clock, &command)
            .map_err(|error| self.failed(error))?;
        // What the running kernel shows comes before its config, which may be missing or be of
        // another kernel.
        header.hz = running_hz().or(header.hz);
        Ok(header)
    }

    /// Opens the recording.
    ///
    /// # Errors
    /// Its directory cannot be written to.
    pub fn writer(&self, header: &Header) -> Result<Writer, NotRecorded> {
        Writer::create(&self.file, header, self.level).map_err(|error| self.failed(error))
    }

    /// Writes what comes out of `ring` until the command ends, the time is up or
    /// `stop` is set; then calls `pause`, which ends the events, and writes the
    /// rest. `put` writes one event. Returns the exit status of the command.
    ///
    /// # Errors
    /// The command cannot be started, the disk is full, libbpf fails.
    pub fn pump(
        &self,
        ring: &dyn MapCore,
        writer: &mut Writer,
        put: impl Fn(&mut Writer, &[u8]) -> io::Result<()>,
        pause: impl FnOnce(),
        stop: &AtomicBool,
    ) -> Result<Option<i32>, NotRecorded> {
        let failure = RefCell::new(None);
        let writer = RefCell::new(writer);
        let mut builder = RingBufferBuilder::new();
        let reading = "reading the ring buffer";
        builder
            .add(ring, |event| {
                let mut failure = failure.borrow_mut();
                if failure.is_none() {
                    *failure = put(&mut writer.borrow_mut(), event).err();
                }
                0
            })
            .during(reading)?;
        let ring = builder.build().during(reading)?;
        let mut child = self.start()?;
        let deadline = self.duration.map(|duration| Instant::now() + duration);
        let mut status = None;
        loop {
            // No more than this at once: events may come faster than they are written.
            let taken = ring.consume_raw_n(BATCH);
            if taken < 0 {
                return Err(libbpf_rs::Error::from_raw_os_error(-taken)).during(reading);
            }
            let wait = if taken < BATCH as i32 {
                POLL
            } else {
                Duration::ZERO
            };
            let over = deadline.is_some_and(|deadline| Instant::now() >= deadline)
                || stop.load(Ordering::Relaxed)
                || failure.borrow().is_some();
            if let Some(child) = &mut child {
                match (child.0)
                    .try_wait()
                    .map_err(|error| self.command_failed(error))?
                {
                    // A command that a signal ended has no exit status; shells say 128 and more.
                    Some(ended) => status = Some(ended.code().unwrap_or(128)),
                    None if over => {}
                    None => {
                        std::thread::sleep(wait);
                        continue;
                    }
                }
                break;
            }
            if over {
                break;
            }
            std::thread::sleep(wait);
        }
        pause();
        drop(child);
        ring.consume().during(reading)?;
        drop(ring);
        match failure.into_inner() {
            Some(error) => Err(self.failed(error)),
            None => Ok(status),
        }
    }

    /// Ends the recording.
    ///
    /// # Errors
    /// The disk is full.
    pub fn finish(&self, writer: Writer, end: End) -> Result<(), NotRecorded> {
        writer.finish(end).map_err(|error| self.failed(error))
    }

    /// Starts the command, if there is one.
    pub(crate) fn start(&self) -> Result<Option<Running>, NotRecorded> {
        let Some((program, arguments)) = self.command.split_first() else {
            return Ok(None);
        };
        let child = Command::new(program).args(arguments).spawn();
        child
            .map(|child| Some(Running(child)))
            .map_err(|error| self.command_failed(error))
    }

    pub(crate) fn command_failed(&self, error: io::Error) -> NotRecorded {
        let command = self.command.join(" ");
        NotRecorded::Command { command, error }
    }

    pub(crate) fn failed(&self, error: io::Error) -> NotRecorded {
        NotRecorded::File {
            path: self.file.clone(),
            error,
        }
    }
}

/// A command that does not outlive the recording.
pub(crate) struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
