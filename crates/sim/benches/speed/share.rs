// SPDX-License-Identifier: GPL-2.0-only
//! Where the time of a run goes, mechanism by mechanism: samples of a profiling
//! timer, each counted for the innermost source file of ours that it is in.
//! What is inlined counts for the file that it was written in.

use cpu_time::ThreadTime;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_void;
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// CPU time that is sampled, in which a tick of 4 ms makes 1000 samples.
const SAMPLED: Duration = Duration::from_secs(4);

/// Which file is which mechanism; the first prefix that fits, of paths below
/// `crates/sim/src` or the repository.
const MECHANISMS: [(&str, &str); 39] = [
    ("base/queue.rs", "event queue"),
    ("base/timeline.rs", "event queue"),
    ("world/timers.rs", "timers"),
    ("run.rs", "event loop"),
    ("dispatch/exec", "programs"),
    ("dispatch/hotplug", "hotplug"),
    ("dispatch/changes.rs", "hotplug"),
    ("dispatch/invariants", "checks"),
    ("dispatch/attributes", "other classes"),
    ("dispatch", "event loop"),
    ("world/state", "event loop"),
    ("world/emit", "event loop"),
    ("world/cost", "costs"),
    ("program/instruments", "statistics"),
    ("program", "pipes, locks"),
    ("place", "wakeups"),
    ("queues/clamps", "clamps"),
    ("queues/classes", "other classes"),
    ("queues", "fair class"),
    ("power/uclamp", "clamps"),
    ("balance", "balancing"),
    ("power/cpuidle", "idle governor"),
    ("power/cpufreq", "frequency"),
    ("power/demand", "frequency"),
    ("power/energy_model", "energy model"),
    ("power/overutilized", "energy model"),
    ("power/energy", "energy account"),
    ("policy/pelt.h", "load tracking"),
    ("policy/runqueue.h", "load tracking"),
    ("policy/energy_aware.h", "placement: EAS"),
    ("policy/", "placement"),
    ("crates/policy/", "placement"),
    ("setup", "start"),
    ("face", "start"),
    ("world/stats.rs", "statistics"),
    ("observe", "statistics"),
    ("base/rng.rs", "programs"),
    ("kernel", "event loop"),
    ("", "rest"),
];

/// Where the program was at each sample; the signal handler writes them.
static SAMPLES: [AtomicUsize; 4096] = [const { AtomicUsize::new(0) }; 4096];
static TAKEN: AtomicUsize = AtomicUsize::new(0);

/// Percent of the time of one run, by mechanism.
pub type Shares = BTreeMap<&'static str, f64>;

/// Does `work` under the profiler, again and again until there are enough samples.
pub fn of(mut work: impl FnMut()) -> Shares {
    TAKEN.store(0, Ordering::Relaxed);
    sample_every(1000);
    let start = ThreadTime::now();
    while start.elapsed() < SAMPLED {
        work();
    }
    sample_every(0);
    let taken = TAKEN.load(Ordering::Relaxed).min(SAMPLES.len());
    let mut shares = Shares::new();
    for sample in &SAMPLES[..taken] {
        let mut name = None;
        backtrace::resolve(sample.load(Ordering::Relaxed) as *mut c_void, |symbol| {
            name = name.or_else(|| mechanism(symbol.filename()?));
        });
        *shares.entry(name.unwrap_or("rest")).or_default() += 100.0 / taken as f64;
    }
    shares
}

/// Arms the profiling timer, which counts the CPU time of the process; 0 stops it.
fn sample_every(us: i64) {
    let every = libc::timeval {
        tv_sec: 0,
        tv_usec: us,
    };
    let timer = libc::itimerval {
        it_interval: every,
        it_value: every,
    };
    // SAFETY: both structures are valid, and the handler does only what a signal
    // handler may: it stores to atomics.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = take as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        libc::sigaction(libc::SIGPROF, &action, ptr::null_mut());
        libc::setitimer(libc::ITIMER_PROF, &timer, ptr::null_mut());
    }
}

/// Signal handler: writes down where the program was interrupted.
extern "C" fn take(_: i32, _: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: with SA_SIGINFO the kernel passes a ucontext_t.
    let machine = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext };
    #[cfg(target_arch = "x86_64")]
    let at = machine.gregs[libc::REG_RIP as usize] as usize;
    #[cfg(target_arch = "aarch64")]
    let at = machine.pc as usize;
    let nr = TAKEN.fetch_add(1, Ordering::Relaxed);
    if let Some(sample) = SAMPLES.get(nr) {
        sample.store(at, Ordering::Relaxed);
    }
}

/// The mechanism of a source file, if it is one of ours. Indexing a table is the
/// work of who indexes it.
fn mechanism(file: &Path) -> Option<&'static str> {
    let path = file.to_str()?;
    if path.ends_with("crates/policy/src/table.rs") {
        return None;
    }
    let file = match path.split_once("crates/sim/src/") {
        Some((_, below)) => below,
        None => match path.find("crates/policy/src/") {
            Some(at) => &path[at..],
            None => &path[path.rfind("policy/")?..],
        },
    };
    MECHANISMS
        .iter()
        .find(|(prefix, _)| file.starts_with(prefix))
        .map(|&(_, name)| name)
}

/// Prints a table: a mechanism a row, a run a column; the largest first.
pub fn print(runs: &[(&str, Shares)]) {
    let names: BTreeSet<_> = runs.iter().flat_map(|(_, shares)| shares.keys()).collect();
    let mut rows: Vec<(&str, Vec<f64>)> = names
        .into_iter()
        .map(|&name| {
            let cell = |(_, shares): &(&str, Shares)| shares.get(name).copied().unwrap_or(0.0);
            (name, runs.iter().map(cell).collect())
        })
        .collect();
    rows.sort_by(|a, b| b.1.iter().sum::<f64>().total_cmp(&a.1.iter().sum()));
    print!("\n{:<16}", "% of the time");
    for (title, _) in runs {
        print!(" {title:>20}");
    }
    println!();
    for (name, cells) in rows {
        print!("{name:<16}");
        for cell in cells {
            print!(" {cell:>20.1}");
        }
        println!();
    }
}
