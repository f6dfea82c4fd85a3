// SPDX-License-Identifier: GPL-2.0-only
//! The life of the scheduler: it is loaded, runs, and is loaded again when the kernel asks
//! for it, until it is to end.

mod changes;
mod decisions;
mod ended;
mod error;
mod load;
mod operations;
mod options;
mod summary;

pub use error::Error;
pub use options::{Gated, Options};
pub use summary::Summary;

use crate::kernel;
use crate::skeleton::AlightSkel;
use alight_policy::STEPS;
use alight_policy::abi::rule;
use alight_verify::live::Log;
use changes::Changes;
use decisions::{Decisions, Outcome};
use ended::{End, end_of, exit_kind};
use error::During;
use libbpf_rs::{Link, RingBufferBuilder};
use std::cell::RefCell;
use std::mem::MaybeUninit;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use summary::count;

/// How long one wait for decisions takes at most; interrupts are noticed after it.
const POLL: Duration = Duration::from_millis(100);

/// Runs until the time is up, `stop` is set, or something fails.
///
/// # Errors
/// If the scheduler cannot be loaded, the kernel ends it, or a decision differs.
pub fn run(options: &Options, stop: &AtomicBool) -> Result<Summary, Error> {
    let deadline = options.duration.map(|duration| Instant::now() + duration);
    let mut summary = Summary {
        decisions: 0,
        written: 0,
        equal: 0,
        lost: 0,
        log: None,
        steps: [0; STEPS.len()],
    };
    let mut log = begin_log(options)?;
    let result = run_on(options, deadline, stop, log.as_mut(), &mut summary);
    // A log of a run that failed is all the more wanted.
    if let Some((path, mut log)) = options.log_decisions.as_ref().zip(log) {
        log.lost(summary.lost);
        let path = path.clone();
        summary.log = Some(log.finish().map_err(|error| Error::Log { path, error })?);
    }
    result.map(|()| summary)
}

fn begin_log(options: &Options) -> Result<Option<Log>, Error> {
    let Some(path) = &options.log_decisions else {
        return Ok(None);
    };
    let command: Vec<String> = std::env::args().collect();
    Log::create(path, Path::new("/"), &options.scheduler, &command.join(" "))
        .map(Some)
        .map_err(|error| Error::Log {
            path: path.clone(),
            error,
        })
}

fn run_on(
    options: &Options,
    deadline: Option<Instant>,
    stop: &AtomicBool,
    mut log: Option<&mut Log>,
    summary: &mut Summary,
) -> Result<(), Error> {
    while let End::Restart(why) = run_once(options, deadline, stop, log.as_deref_mut(), summary)? {
        eprintln!("scx_alight: {why}; loading again");
    }
    Ok(())
}

fn run_once(
    options: &Options,
    deadline: Option<Instant>,
    stop: &AtomicBool,
    log: Option<&mut Log>,
    summary: &mut Summary,
) -> Result<End, Error> {
    if options.scheduler.params.pack == rule::PACK_FULL {
        return Err(Error::Unfit(options.scheduler.name.clone()));
    }
    kernel::check()?;
    // Before the topology is read: what changes after it makes the kernel refuse.
    let hotplug_seq = kernel::hotplug_seq();
    let (host, core) = load::views(options)?;
    let mut changes = Changes::new(options, &core);
    let mut object = MaybeUninit::uninit();
    let mut skel = load::load(&mut object, &core, options, hotplug_seq)?;
    let link = load::attach(&mut skel)?;
    load::say_frequency(&skel, &host);

    let decisions = Decisions::new(core, options.verify, log);
    let outcome = observe(&skel, link, decisions, &mut changes, deadline, stop);
    count(&skel, summary);
    summary.add(outcome?)?;
    let accounted = summary.written + summary.lost;
    if options.writes_decisions() && accounted != summary.decisions {
        let missing = summary.decisions.abs_diff(accounted);
        return Err(Error::Missing { missing });
    }
    match (end_of(&skel)?, changes.found()) {
        (End::Done, Some(what)) => Ok(End::Restart(what)),
        (end, _) => Ok(end),
    }
}

/// Takes decisions as they arrive, until the run is over; then drops `link`,
/// which ends the scheduler, and takes what it decided last.
fn observe(
    skel: &AlightSkel<'_>,
    link: Link,
    decisions: Decisions<'_>,
    changes: &mut Changes<'_>,
    deadline: Option<Instant>,
    stop: &AtomicBool,
) -> Result<Outcome, Error> {
    let decisions = RefCell::new(decisions);
    let mut builder = RingBufferBuilder::new();
    builder
        .add(&skel.maps.decisions, |bytes| {
            decisions.borrow_mut().take(bytes);
            0
        })
        .during("opening the ring buffer")?;
    let ring = builder.build().during("opening the ring buffer")?;
    loop {
        let interrupted = match ring.poll(POLL) {
            Err(error) if error.kind() == libbpf_rs::ErrorKind::Interrupted => true,
            result => {
                result.during("reading the ring buffer")?;
                false
            }
        };
        let over = deadline.is_some_and(|deadline| Instant::now() >= deadline)
            || stop.load(Ordering::Relaxed)
            || exit_kind(skel) != 0
            || decisions.borrow().differ()
            || changes.look(skel);
        if over && !interrupted {
            break;
        }
    }
    drop(link);
    ring.consume().during("reading the ring buffer")?;
    drop(ring);
    Ok(decisions.into_inner().outcome())
}

#[cfg(test)]
mod tests {
    use super::*;
    use alight_policy::Scheduler;

    #[test]
    fn what_needs_the_simulators_balancer_is_refused_before_anything_is_loaded() {
        let options = Options {
            scheduler: Scheduler::parse("linux-6.5+pack=full").expect("a scheduler"),
            verify: false,
            machine: None,
            log_decisions: None,
            power_gated: vec![Gated::Mc],
            duration: None,
            verbose: false,
        };
        let error = run(&options, &AtomicBool::new(false)).expect_err("refused");
        assert!(error.to_string().contains("use pack=default"), "{error}");
    }
}
