// SPDX-License-Identifier: GPL-2.0-only
//! What a tool prints of its settings, and where in a run it finds the rest: enough to write the
//! report that the tool itself would have written.
//!
//! Ids are those of the workload's own tables.

use crate::program::{CounterId, MarkId, TallyId};

/// Times between which a tool measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Taken at the first passage.
    pub from: MarkId,
    /// Taken at the last passage; a run that did not get there has no result.
    pub to: MarkId,
}

/// A tool and its settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Report {
    /// `hackbench` of rt-tests.
    Hackbench(Messaging),
    /// `perf bench sched messaging`.
    PerfMessaging(Messaging, PerfFormat),
    /// `perf bench sched pipe`.
    PerfPipe(Pipe, PerfFormat),
    /// `sysbench`.
    Sysbench(Sysbench),
    /// `cyclictest`: its threads.
    Cyclictest(Cyclictest),
    /// `schbench`.
    Schbench(Schbench),
    /// `adrestia`: its tests in the order in which they ran.
    Adrestia(Vec<Adrestia>),
    /// The frame pipeline.
    Frames(Frames),
}

/// Senders and receivers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Messaging {
    /// Groups.
    pub groups: u32,
    /// Senders, and receivers, of a group.
    pub fds: u32,
    /// Messages from each sender to each receiver.
    pub loops: u32,
    /// Bytes of a message.
    pub datasize: u32,
    /// Threads instead of processes.
    pub threads: bool,
    /// From the release of the workers until the last is reaped.
    pub elapsed: Span,
}

/// `perf bench --format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PerfFormat {
    /// Sentences.
    Default,
    /// The time alone.
    Simple,
}

/// Two tasks that hand a token to and fro.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pipe {
    /// Round trips.
    pub loops: u32,
    /// Threads instead of processes.
    pub threads: bool,
    /// From before the tasks are created until they are reaped.
    pub elapsed: Span,
}

/// Settings of `sysbench`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sysbench {
    /// The 0.4 series, or 1.0.
    pub version: SysbenchVersion,
    /// What ran.
    pub test: SysbenchTest,
    /// Workers.
    pub threads: u32,
    /// From the start of the workers until the last is reaped.
    pub elapsed: Span,
    /// Events of all workers.
    pub events: CounterId,
    /// Of each event, us; all workers.
    pub latency: TallyId,
    /// Events of worker k: this and the k following counters.
    pub events_of_first: CounterId,
    /// us that worker k spent in events: as above.
    pub busy_of_first: CounterId,
}

/// Which sysbench.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SysbenchVersion {
    /// 0.4.12
    V0_4,
    /// 1.0.20
    V1_0,
}

/// A test of sysbench.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SysbenchTest {
    /// Contended mutexes.
    Threads {
        /// `--thread-yields`
        yields: u32,
        /// `--thread-locks`
        locks: u32,
    },
    /// Computing primes.
    Cpu {
        /// `--cpu-max-prime`
        max_prime: u32,
    },
}

/// Settings of `cyclictest`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cyclictest {
    /// What was written to `/dev/cpu_dma_latency`, us, if it was opened.
    pub dma_latency_us: Option<u64>,
    /// The threads.
    pub threads: Vec<CyclicThread>,
}

/// A thread of `cyclictest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CyclicThread {
    /// Its task.
    pub task: u32,
    /// Real-time priority, 0 for SCHED_OTHER.
    pub priority: u32,
    /// Period, us.
    pub interval_us: u64,
    /// Cycles of it that are done: the tally's count; latencies: the rest of it.
    pub latency: TallyId,
}

/// Settings of `schbench`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schbench {
    /// `-r`, s.
    pub runtime_s: u32,
    /// From the answer to the worker's running, us.
    pub wakeup: TallyId,
    /// Of each request, us.
    pub request: TallyId,
    /// Requests a second, each second.
    pub rps: TallyId,
    /// Requests.
    pub loops: CounterId,
    /// Which report it prints.
    pub form: SchbenchForm,
}

/// What `schbench` prints at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchbenchForm {
    /// Latencies, and requests a second.
    Requests,
    /// `-p`: wakeup latencies, and what went through the pipes.
    Pipe {
        /// Bytes of a transfer.
        bytes: u32,
        /// Workers in all.
        workers: u32,
    },
    /// The tool of 2016 to January 2020: wakeup latencies, and with `-p` what went through the pipes.
    Old {
        /// Workers in all.
        workers: u32,
        /// Bytes of a transfer, 0 without `-p`.
        pipe_bytes: u32,
    },
}

/// A test of `adrestia`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Adrestia {
    /// What is waited between wakeups, us: `wakeup-periodic`; `None`: `wakeup-single`.
    pub arrival_us: Option<u32>,
    /// Mean wakeup latency of each round, us.
    pub rounds: TallyId,
    /// Rounds.
    pub loops: u32,
}

/// Settings of the frame pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frames {
    /// Frames that were finished.
    pub frames: CounterId,
    /// Of these the late ones.
    pub late: CounterId,
    /// From the vsync to the end of rendering, us.
    pub frame_time: TallyId,
    /// Time from the start to the end of the script.
    pub elapsed: Span,
}
