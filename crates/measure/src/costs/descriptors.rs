// SPDX-License-Identifier: GPL-2.0-only
//! What calls on pipes and sockets cost, as of a process of one thread; how long one has a pipe's
//! mutex, and what new memory for a message takes.

use super::tasks::set_policy;
use super::{BATCHES, CALLS, MESSAGE, median, ns};
use rustix::thread::UnshareFlags;
use std::io::{self, Read, Write};
use std::mem::MaybeUninit;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// So few messages at once that each finds the memory of one before it.
const FEW: u32 = 32;
/// So many that they do not, in sockets that take [`FILLED`] each; who keeps more is taken to keep these.
const MANY: u32 = 1024;
/// Messages that are put into a socket, which holds 278.
const FILLED: u32 = 256;
/// Interruptions of who writes to and reads from a pipe.
const INTERRUPTIONS: u64 = 4000;

/// Calls on descriptors.
pub(super) struct Descriptors {
    pub pipe: Calls,
    pub socket: Calls,
    pub memory: Option<NewMessages>,
}

impl Descriptors {
    pub fn measure() -> io::Result<Self> {
        let socket = socket()?;
        Ok(Descriptors {
            pipe: pipe()?,
            memory: new_messages(&socket)?,
            socket,
        })
    }
}

/// What `measure` says as in a process of one thread: a call on a descriptor whose table threads
/// share counts its users up and down (`fdget`), a tenth of a pipe's read.
pub(super) fn with_own_descriptors<T: Send>(
    measure: impl FnOnce() -> io::Result<T> + Send,
) -> io::Result<T> {
    let alone = || {
        own_descriptors()?;
        measure()
    };
    thread::scope(|scope| joined(scope.spawn(alone)))
}

/// This thread gets a table of its own, with what is open.
fn own_descriptors() -> io::Result<()> {
    // SAFETY: a descriptor from before is the same file in both tables as long as both have it, and
    // whoever calls this opens none for others and closes none of theirs.
    Ok(unsafe { rustix::thread::unshare_unsafe(UnshareFlags::FILES) }?)
}

pub(super) fn joined<T>(thread: thread::ScopedJoinHandle<'_, io::Result<T>>) -> io::Result<T> {
    (thread.join()).unwrap_or_else(|_| Err(io::Error::other("a benchmark ended early")))
}

/// A write and a read that do not block, ns.
pub(super) struct Calls {
    pub write: u64,
    pub read: u64,
}

pub(super) fn pipe() -> io::Result<Calls> {
    let (mut reader, mut writer) = io::pipe()?;
    both_ways(&mut writer, &mut reader, CALLS)
}

/// How long `calls` of a pipe have its mutex and can be preempted with it, ns: by the share of
/// interruptions that find it taken. `None`: there may be no real-time task here.
pub(super) fn held(calls: &Calls) -> io::Result<Option<Calls>> {
    let pipe = io::pipe()?;
    let (writes, stop) = (AtomicBool::new(true), AtomicBool::new(false));
    let found = thread::scope(|scope| {
        let busy = scope.spawn(|| write_and_read(&pipe, &writes, &stop));
        let found = joined(scope.spawn(|| interrupt(&pipe.0, &writes)));
        stop.store(true, Ordering::Relaxed);
        joined(busy)?;
        found
    })?;
    Ok(found.map(|[write, read]| Calls {
        write: write.of(calls.write),
        read: read.of(calls.read),
    }))
}

/// As a process of one thread, until `stop`.
fn write_and_read(
    (reader, writer): &(io::PipeReader, io::PipeWriter),
    writes: &AtomicBool,
    stop: &AtomicBool,
) -> io::Result<()> {
    own_descriptors()?;
    let (mut reader, mut writer, mut message) = (reader, writer, [0; MESSAGE]);
    while !stop.load(Ordering::Relaxed) {
        writes.store(true, Ordering::Relaxed);
        for _ in 0..CALLS {
            writer.write_all(&message)?;
        }
        writes.store(false, Ordering::Relaxed);
        for _ in 0..CALLS {
            reader.read_exact(&mut message)?;
        }
    }
    Ok(())
}

/// Interruptions of a kind of call.
#[derive(Clone, Copy, Default)]
struct Interrupted {
    all: u64,
    with_mutex: u64,
}

impl Interrupted {
    /// What of `call`, ns.
    fn of(self, call: u64) -> u64 {
        call * self.with_mutex / self.all.max(1)
    }
}

/// Those of writes and of reads: a real-time task asks how much there is to read, for which it needs
/// the mutex (`pipe_ioctl`, FIONREAD), and sleeps if it is taken.
fn interrupt(reader: &io::PipeReader, writes: &AtomicBool) -> io::Result<Option<[Interrupted; 2]>> {
    if set_policy(libc::SCHED_FIFO, 1).is_err() {
        return Ok(None);
    }
    let [mut write, mut read] = [Interrupted::default(); 2];
    let mut random = 1u64;
    for _ in 0..INTERRUPTIONS {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        thread::sleep(Duration::from_nanos(50_000 + (random >> 33) % 100_000));
        let found = if writes.load(Ordering::Relaxed) {
            &mut write
        } else {
            &mut read
        };
        let before = sleeps()?;
        rustix::io::ioctl_fionread(reader)?;
        found.all += 1;
        found.with_mutex += u64::from(sleeps()? > before);
    }
    Ok(Some([write, read]))
}

/// Times that this thread went to sleep.
pub(super) fn sleeps() -> io::Result<i64> {
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: it writes to `usage` alone, all of it if it succeeds.
    match unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) } {
        // SAFETY: it succeeded.
        0 => Ok(unsafe { usage.assume_init() }.ru_nvcsw),
        _ => Err(io::Error::last_os_error()),
    }
}

fn socket() -> io::Result<Calls> {
    let (mut reader, mut writer) = UnixStream::pair()?;
    both_ways(&mut writer, &mut reader, FEW)
}

/// What the memory of a message costs.
pub(super) struct NewMessages {
    /// Of a message that finds none of those before it, beyond one that does, ns.
    pub new: u64,
    /// Messages whose memory is there for the next.
    pub kept: u32,
}

/// `None`: more messages cost no more, by a twentieth of one.
fn new_messages(few: &Calls) -> io::Result<Option<NewMessages>> {
    let (once, twice) = (all_ways(MANY)?, all_ways(2 * MANY)?);
    Ok(new_messages_of(few.write + few.read, once, twice))
}

/// `each`: ns of a message whose memory is there; `once` and `twice`: of [`MANY`] and of
/// twice as many, which take `each` and, of all but those kept, what new memory costs.
fn new_messages_of(each: u64, once: u64, twice: u64) -> Option<NewMessages> {
    let many = u64::from(MANY);
    let new = (twice.saturating_sub(once) / many).saturating_sub(each);
    if new <= each / 20 {
        return None;
    }
    let of_new = once.saturating_sub(many * each) / new;
    let kept = many.saturating_sub(of_new).max(1) as u32;
    Some(NewMessages { new, kept })
}

/// So many messages are written to as many sockets as it takes, and then read; ns.
fn all_ways(messages: u32) -> io::Result<u64> {
    let pairs = (0..messages / FILLED).map(|_| UnixStream::pair());
    let mut pairs = pairs.collect::<io::Result<Vec<_>>>()?;
    let mut message = [0; MESSAGE];
    let mut times = Vec::new();
    for _ in 0..BATCHES {
        let start = Instant::now();
        for (_, writer) in &mut pairs {
            for _ in 0..FILLED {
                writer.write_all(&message)?;
            }
        }
        for (reader, _) in &mut pairs {
            for _ in 0..FILLED {
                reader.read_exact(&mut message)?;
            }
        }
        times.push(ns(start.elapsed()));
    }
    Ok(median(times))
}

/// A batch of `calls` is written and then read: a pipe holds 640 such messages.
fn both_ways(writer: &mut impl Write, reader: &mut impl Read, calls: u32) -> io::Result<Calls> {
    let mut message = [0; MESSAGE];
    let (mut writes, mut reads) = (Vec::new(), Vec::new());
    for _ in 0..BATCHES {
        let start = Instant::now();
        for _ in 0..calls {
            writer.write_all(&message)?;
        }
        let between = Instant::now();
        for _ in 0..calls {
            reader.read_exact(&mut message)?;
        }
        writes.push(ns(between - start) / u64::from(calls));
        reads.push(ns(between.elapsed()) / u64::from(calls));
    }
    Ok(Calls {
        write: median(writes),
        read: median(reads),
    })
}

#[cfg(test)]
mod tests;
