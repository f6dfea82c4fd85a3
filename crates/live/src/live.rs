// SPDX-License-Identifier: GPL-2.0-only
//! The life of the scheduler: it is loaded, runs, and is loaded again when the kernel asks for
//! it, until it must end.

mod changes;
mod counting;
mod decisions;
mod desk;
mod ended;
mod error;
mod follow;
mod front;
mod load;
mod operations;
mod state;
mod summary;

pub use ended::ExitInfo;
pub use error::RunFailed;
pub use summary::Summary;

use crate::kernel;
use crate::rules::Cgroups;
use crate::say::say;
use crate::skeleton::AlightSkel;
use alight_arguments::Options;
use alight_policy::STEPS;
use alight_stats::Counters;
use alight_verify::live::Log;
use counting::counters;
use decisions::{Decisions, Outcome};
use desk::Desk;
use ended::{End, end_of, exit_kind};
use error::During;
use follow::Follow;
use front::Front;
use libbpf_rs::{Link, RingBufferBuilder};
use state::SchedExt;
use std::cell::RefCell;
use std::mem::MaybeUninit;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The longest wait for decisions or requests. Reasons to end the scheduler are noticed after it.
const POLL: Duration = Duration::from_millis(100);
/// How often the kernel is asked whether it still runs the scheduler.
const CHECK: Duration = Duration::from_secs(1);

/// Runs until the time is up, `stop` is set, or something fails.
///
/// # Errors
/// If the scheduler cannot be loaded, the kernel ends it, or a decision differs.
pub fn run(options: &Options, stop: &AtomicBool) -> Result<Summary, RunFailed> {
    for remark in kernel::check()?.remarks(options.verbose) {
        say(&remark);
    }
    let mut desk = Desk::new(&options.scheduler, options.stats);
    let _front = Front::open(options, &desk.source())?;
    let mut life = Life {
        options,
        stop,
        deadline: None,
        sched_ext: SchedExt::of(Path::new("/")),
        desk: &mut desk,
        log: begin_log(options)?,
        summary: Summary {
            decisions: 0,
            written: 0,
            equal: 0,
            lost: 0,
            log: None,
            steps: [0; STEPS.len()],
        },
    };
    let result = life.live();
    front::ending();
    let Life {
        log, mut summary, ..
    } = life;
    // The log of a run that failed is needed even more.
    if let Some((path, mut log)) = options.log_decisions.as_ref().zip(log) {
        log.lost(summary.lost);
        let path = path.clone();
        summary.log = Some(
            log.finish()
                .map_err(|error| RunFailed::Log { path, error })?,
        );
    }
    result.map(|()| summary)
}

fn begin_log(options: &Options) -> Result<Option<Log>, RunFailed> {
    let Some(path) = &options.log_decisions else {
        return Ok(None);
    };
    let command: Vec<String> = std::env::args().collect();
    Log::create(path, Path::new("/"), &options.scheduler, &command.join(" "))
        .map(Some)
        .map_err(|error| RunFailed::Log {
            path: path.clone(),
            error,
        })
}

/// The state that is kept over all loads of the scheduler.
struct Life<'a> {
    options: &'a Options,
    stop: &'a AtomicBool,
    /// Known when it first runs.
    deadline: Option<Instant>,
    sched_ext: SchedExt,
    desk: &'a mut Desk,
    log: Option<Log>,
    summary: Summary,
}

impl Life<'_> {
    fn live(&mut self) -> Result<(), RunFailed> {
        loop {
            match self.once()? {
                End::Done => return Ok(()),
                End::SysRq => {
                    say("ended by SysRq-S");
                    return Ok(());
                }
                End::Restart(reason) => say(&format!("loading again: {reason}")),
            }
        }
    }

    /// From the load of the scheduler to its end.
    fn once(&mut self) -> Result<End, RunFailed> {
        // Read before the topology: if CPUs come or go after it, the kernel refuses the scheduler.
        let hotplug_seq = kernel::hotplug_seq();
        let (host, core) = load::views(self.options)?;
        let nr_cpus = core.topology.nr_cpus as usize;
        let mut object = MaybeUninit::uninit();
        let mut skel = load::load(&mut object, (&host, &core), self.options, hotplug_seq)?;
        let mut follow = Follow::new(self.options, &mut skel, (&host, &core));
        let mut cgroups = Cgroups::begin(&self.options.rules, Path::new("/"), &mut skel)?;
        let link = load::attach(&mut skel)?;
        load::say_frequency(&skel, &host);
        self.desk.loaded();
        let running = self.announce(&skel, nr_cpus);
        let length = self.options.duration;
        self.deadline = (self.deadline).or_else(|| length.map(|length| Instant::now() + length));
        let mut log = self.log.take();
        let decisions = Decisions::new(core, self.options.verify, log.as_mut());
        let result = running.and_then(|()| {
            self.observe(
                &mut skel,
                link,
                decisions,
                (&mut follow, &mut cgroups),
                nr_cpus,
            )
        });
        self.log = log;
        let counted = counters(&skel, nr_cpus);
        let sum: Counters = counted.iter().sum();
        self.desk.unloaded(counted);
        self.summary.decisions += sum.decisions;
        self.summary.lost += sum.lost;
        // What the kernel says comes first: it explains the rest.
        let end = end_of(&skel)?;
        match result {
            Ok(outcome) => self.summary.add(outcome)?,
            // The kernel ended it while it began.
            Err(_) if end != End::Done => return Ok(end),
            Err(error) => return Err(error),
        }
        let accounted = self.summary.written + self.summary.lost;
        if self.options.writes_decisions() && accounted != self.summary.decisions {
            let missing = self.summary.decisions.abs_diff(accounted);
            return Err(RunFailed::Missing { missing });
        }
        match (end, follow.found()) {
            (End::Done, Some(what)) => Ok(End::Restart(what.to_owned())),
            (end, _) => Ok(end),
        }
    }

    /// Waits until the kernel runs the scheduler, then says so.
    fn announce(&self, skel: &AlightSkel<'_>, nr_cpus: usize) -> Result<(), RunFailed> {
        let ended = || exit_kind(skel) != 0;
        let state = self.sched_ext.wait(ended);
        state.map_err(|says| RunFailed::NotRunning { says })?;
        let name = &self.options.scheduler.name;
        say(&format!("running: {name} on {nr_cpus} CPUs"));
        front::running(name);
        Ok(())
    }

    /// Takes decisions as they arrive and answers requests, until the run is over. Then drops
    /// `link`, which ends the scheduler, and takes its last decisions.
    fn observe(
        &mut self,
        skel: &mut AlightSkel<'_>,
        link: Link,
        decisions: Decisions<'_>,
        (follow, cgroups): (&mut Follow<'_>, &mut Cgroups),
        nr_cpus: usize,
    ) -> Result<Outcome, RunFailed> {
        let decisions = RefCell::new(decisions);
        let mut builder = RingBufferBuilder::new();
        builder
            .add(&skel.maps.decisions, |bytes| {
                decisions.borrow_mut().take(bytes);
                0
            })
            .during("opening the ring buffer")?;
        let ring = builder.build().during("opening the ring buffer")?;
        let mut checked = Instant::now();
        let mut state = Ok(());
        while !self.over()
            && exit_kind(skel) == 0
            && !decisions.borrow().differ()
            && !follow.look(skel)
            && state.is_ok()
        {
            cgroups.follow(skel);
            let mut wait = POLL.min(follow.rest());
            if self.options.writes_decisions() {
                match ring.poll(wait) {
                    Err(error) if error.kind() == libbpf_rs::ErrorKind::Interrupted => {}
                    result => result.during("reading the ring buffer")?,
                }
                wait = Duration::ZERO;
            }
            self.desk.attend(wait, || counters(skel, nr_cpus));
            if checked.elapsed() >= CHECK {
                state = self.sched_ext.ours();
                checked = Instant::now();
            }
        }
        drop(link);
        ring.consume().during("reading the ring buffer")?;
        drop(ring);
        // The kernel may be about to say why it ended the scheduler.
        if let Err(says) = state
            && exit_kind(skel) == 0
        {
            return Err(RunFailed::NotRunning { says });
        }
        Ok(decisions.into_inner().outcome())
    }

    /// Must the scheduler end?
    fn over(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
            || self
                .deadline
                .is_some_and(|deadline| Instant::now() >= deadline)
    }
}
