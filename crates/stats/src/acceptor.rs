// SPDX-License-Identifier: GPL-2.0-only
//! Serves connections, each in a thread, no more than [`LIMIT`] at once. Whoever connects can
//! neither take more than that nor delay the end of the program.

use rustix::net::{Shutdown, shutdown};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Connections that are served at once; more are closed unheard.
pub(crate) const LIMIT: usize = 16;
/// Stack of a thread that serves.
const STACK_BYTES: usize = 256 << 10;
/// After a failure to accept, such as too many open files.
const RETRY: Duration = Duration::from_millis(100);

/// Accepts connections until it is dropped. Connections that are being served go on; nobody
/// waits for them.
pub(crate) struct Acceptor {
    listener: OwnedFd,
    stop: Arc<AtomicBool>,
}

impl Acceptor {
    /// `accept` waits for the next connection to `listener`, `serve` serves one.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn start<Stream: Send + 'static>(
        listener: OwnedFd,
        accept: impl Fn() -> io::Result<Stream> + Send + 'static,
        serve: impl Fn(Stream) + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let serve = Arc::new(serve);
        let served = Arc::new(AtomicUsize::new(0));
        thread::Builder::new()
            .name("accept".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || {
                while !stopped.load(Ordering::Relaxed) {
                    match accept() {
                        Ok(stream) => begin(stream, &serve, &served),
                        Err(_) => thread::sleep(RETRY),
                    }
                }
            })?;
        Ok(Acceptor { listener, stop })
    }
}

impl Drop for Acceptor {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Wakes the thread that waits for a connection; where it fails none waits.
        let _ = shutdown(self.listener.as_fd(), Shutdown::Both);
    }
}

/// Serves a connection in a thread; closes it if that cannot be.
fn begin<Stream: Send + 'static>(
    stream: Stream,
    serve: &Arc<impl Fn(Stream) + Send + Sync + 'static>,
    served: &Arc<AtomicUsize>,
) {
    let place = Place::take(served);
    let serve = serve.clone();
    if let Some(place) = place {
        // Without a thread the connection is dropped, and the place with it.
        let _ = thread::Builder::new()
            .name("serve".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || {
                serve(stream);
                drop(place);
            });
    }
}

/// One of the places, free again when dropped.
struct Place(Arc<AtomicUsize>);

impl Place {
    fn take(served: &Arc<AtomicUsize>) -> Option<Self> {
        // Taken by the accepting thread only.
        if served.load(Ordering::Acquire) >= LIMIT {
            return None;
        }
        served.fetch_add(1, Ordering::AcqRel);
        Some(Place(served.clone()))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}
