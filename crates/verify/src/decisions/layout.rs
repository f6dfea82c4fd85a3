// SPDX-License-Identifier: GPL-2.0-only
//! A recorded wakeup as the recorder writes it down: the structures of
//! `crates/live/src/bpf/record_decisions.h`, field by field, in the kernel's units.

/// Most CPUs of a record (`RECORD_CPUS`).
pub const MAX_CPUS: usize = 64;
/// Most domains of a CPU (`RECORD_LEVELS`).
pub const LEVELS: usize = 5;

/// "Not shared" in [`CpuState::nr_idle_scan`] and [`CpuState::asym_idle_scan`].
pub const NOT_SHARED: u16 = u16::MAX;

/// Bits of [`Wakeup::flags`].
pub mod flag {
    pub const DOMAINS: u32 = 1 << 0;
    pub const SAME_WAKEE: u32 = 1 << 1;
    pub const OVERUTILIZED: u32 = 1 << 2;
    pub const UCLAMP_USED: u32 = 1 << 3;
    pub const ENERGY: u32 = 1 << 4;
    pub const SMT: u32 = 1 << 5;
    pub const ASYM: u32 = 1 << 6;
    pub const CLUSTER: u32 = 1 << 7;
    pub const CONTEXT: u32 = 1 << 8;
    pub const INTERRUPT: u32 = 1 << 9;
}

/// A task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TaskState {
    pub last_update_time: u64,
    pub load_sum: u64,
    pub runnable_sum: u64,
    pub util_sum: u32,
    pub period_contrib: u32,
    pub load_avg: u32,
    pub runnable_avg: u32,
    pub util_avg: u32,
    pub util_est: u32,
    pub util_est_ewma: u32,
    pub weight: u32,
    pub flip_decay: u64,
    pub wakee_flips: u32,
    pub pid: u32,
    pub recent_used_cpu: u32,
    pub nr_cpus_allowed: u32,
    pub policy: u32,
    pub flags: u32,
    pub on_rq: u32,
    pub depth: u32,
    pub uclamp_min: u16,
    pub uclamp_max: u16,
    pub uclamp_active: u16,
    pub queue_last_update: u64,
    pub queue_load_avg: u64,
    pub h_load: u64,
    pub h_load_stamp: u64,
}

/// A CPU.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuState {
    pub curr_is_idle: bool,
    pub ttwu_pending: bool,
    pub online: bool,
    pub uclamp_idle: bool,
    pub nr_running: u16,
    pub h_nr_queued: u16,
    pub h_nr_runnable: u16,
    pub h_nr_idle: u16,
    pub rt_nr_running: u16,
    pub nr_idle_scan: u16,
    pub load_avg: u32,
    pub runnable_avg: u32,
    pub util_avg: u32,
    pub util_est: u32,
    pub last_update_time: u64,
    pub capacity: u16,
    pub capacity_orig: u16,
    pub rt_util: u16,
    pub dl_util: u16,
    pub hw_load_avg: u16,
    pub hw_pressure: u16,
    pub cpufreq_pressure: u16,
    pub dl_bandwidth: u16,
    pub uclamp_min: u16,
    pub uclamp_max: u16,
    /// us; `u32::MAX`: in no idle state.
    pub exit_latency: u32,
    pub idle_stamp: u64,
    pub asym_idle_scan: u16,
    pub has_idle_cores: bool,
}

/// A scheduling domain of a CPU, and the CPU's own group in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DomainState {
    pub span: u64,
    pub group_span: u64,
    pub flags: u32,
    pub weight: u32,
    pub imbalance_pct: u32,
    pub imb_numa_nr: u32,
    pub group_weight: u32,
    pub group_flags: u32,
    pub capacity: u32,
    pub min_capacity: u32,
    pub max_capacity: u32,
    pub imbalance: u32,
}

/// One call of `select_task_rq_fair()`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wakeup {
    /// ns
    pub clock: u64,
    pub jiffies: u64,
    pub this_cpu: u32,
    pub prev_cpu: u32,
    pub task_cpu: u32,
    pub wake_flags: u32,
    /// What the kernel chose.
    pub answer: u32,
    pub flags: u32,
    pub allowed: u64,
    /// CPUs that were not the same when the function ended.
    pub changed: u64,
    /// `flags` as they were when the function ended.
    pub exit_flags: u32,
    /// Jiffies from its beginning to its end.
    pub exit_ticks: u16,
    pub llc_size: u32,
    pub preempt_count: u32,
    pub wakee: TaskState,
    pub waker: TaskState,
    /// Of the waking CPU, ns; 0 where it is not recorded.
    pub avg_idle: u64,
    /// Of the waking CPU's LLC domain, ns; 0 where it is not recorded, and since 6.5.
    pub avg_scan_cost: u64,
    /// At the entry.
    pub cpus: Vec<CpuState>,
    /// The changed CPUs at the exit, in their order.
    pub exits: Vec<CpuState>,
    /// Of each CPU, small to large; empty in most records.
    pub domains: Vec<Vec<DomainState>>,
}

impl Wakeup {
    /// The CPUs that changed, as they were at the exit.
    pub fn at_exit(&self) -> impl Iterator<Item = (u32, &CpuState)> {
        let changed = (0..u64::BITS).filter(|cpu| self.changed >> cpu & 1 != 0);
        changed.zip(&self.exits)
    }
}

/// Why words are not a wakeup.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// Length.
    #[error("a wakeup has {found} words; its head announces {expected}")]
    Length {
        /// Words there.
        found: usize,
        /// Words needed.
        expected: usize,
    },
    /// A CPU that does not exist, or more CPUs than a record holds.
    #[error("a wakeup has {what} {found}, expected less than {limit}")]
    Range {
        /// Which.
        what: &'static str,
        /// Value.
        found: u32,
        /// Limit.
        limit: u32,
    },
}

const TASK_WORDS: usize = 17;
const CPU_WORDS: usize = 10;
const DOMAIN_WORDS: usize = 7;

/// What a record holds. Each version has what those before it have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layout {
    /// `decision.wakeup/1`: CPUs as they were at the entry.
    Entry,
    /// `decision.wakeup/2`: those that changed as they were at the exit.
    Exit,
    /// `decision.wakeup/3`: what limits the scan of a cache (`SIS_PROP`).
    Budget,
}

impl Layout {
    /// Words before the CPUs.
    fn head(self) -> usize {
        let budget = if self >= Layout::Budget { 2 } else { 0 };
        9 + 2 * TASK_WORDS + budget
    }

    /// Where the domains are: behind room for all CPUs.
    fn domains_at(self) -> usize {
        let copies = if self >= Layout::Exit { 2 } else { 1 };
        self.head() + copies * MAX_CPUS * CPU_WORDS
    }
}

/// Reads fields one after the other; little-endian, as they lie in the kernel's memory.
struct Fields<'a> {
    words: &'a [u64],
    at: usize,
}

impl Fields<'_> {
    fn bits(&mut self, bytes: usize) -> u64 {
        let word = self.words[self.at / 8] >> (self.at % 8 * 8);
        self.at += bytes;
        if bytes == 8 {
            word
        } else {
            word & ((1 << (bytes * 8)) - 1)
        }
    }

    fn u64(&mut self) -> u64 {
        self.bits(8)
    }

    fn u32(&mut self) -> u32 {
        self.bits(4) as u32
    }

    fn u16(&mut self) -> u16 {
        self.bits(2) as u16
    }

    fn flag(&mut self) -> bool {
        self.bits(1) != 0
    }

    fn flag16(&mut self) -> bool {
        self.bits(2) != 0
    }

    fn skip(&mut self, bytes: usize) {
        self.at += bytes;
    }

    fn task(&mut self) -> TaskState {
        let task = TaskState {
            last_update_time: self.u64(),
            load_sum: self.u64(),
            runnable_sum: self.u64(),
            util_sum: self.u32(),
            period_contrib: self.u32(),
            load_avg: self.u32(),
            runnable_avg: self.u32(),
            util_avg: self.u32(),
            util_est: self.u32(),
            util_est_ewma: self.u32(),
            weight: self.u32(),
            flip_decay: self.u64(),
            wakee_flips: self.u32(),
            pid: self.u32(),
            recent_used_cpu: self.u32(),
            nr_cpus_allowed: self.u32(),
            policy: self.u32(),
            flags: self.u32(),
            on_rq: self.u32(),
            depth: self.u32(),
            uclamp_min: self.u16(),
            uclamp_max: self.u16(),
            uclamp_active: self.u16(),
            ..TaskState::default()
        };
        self.skip(2);
        TaskState {
            queue_last_update: self.u64(),
            queue_load_avg: self.u64(),
            h_load: self.u64(),
            h_load_stamp: self.u64(),
            ..task
        }
    }

    fn cpu(&mut self) -> CpuState {
        let cpu = CpuState {
            curr_is_idle: self.flag(),
            ttwu_pending: self.flag(),
            online: self.flag(),
            uclamp_idle: self.flag(),
            nr_running: self.u16(),
            h_nr_queued: self.u16(),
            h_nr_runnable: self.u16(),
            h_nr_idle: self.u16(),
            rt_nr_running: self.u16(),
            nr_idle_scan: self.u16(),
            load_avg: self.u32(),
            runnable_avg: self.u32(),
            util_avg: self.u32(),
            util_est: self.u32(),
            last_update_time: self.u64(),
            capacity: self.u16(),
            capacity_orig: self.u16(),
            rt_util: self.u16(),
            dl_util: self.u16(),
            hw_load_avg: self.u16(),
            hw_pressure: self.u16(),
            cpufreq_pressure: self.u16(),
            dl_bandwidth: self.u16(),
            uclamp_min: self.u16(),
            uclamp_max: self.u16(),
            exit_latency: self.u32(),
            idle_stamp: self.u64(),
            asym_idle_scan: self.u16(),
            has_idle_cores: self.flag16(),
        };
        self.skip(4);
        cpu
    }

    fn domain(&mut self) -> DomainState {
        DomainState {
            span: self.u64(),
            group_span: self.u64(),
            flags: self.u32(),
            weight: self.u32(),
            imbalance_pct: self.u32(),
            imb_numa_nr: self.u32(),
            group_weight: self.u32(),
            group_flags: self.u32(),
            capacity: self.u32(),
            min_capacity: self.u32(),
            max_capacity: self.u32(),
            imbalance: self.u32(),
        }
    }
}

impl Wakeup {
    /// Reads a wakeup.
    ///
    /// # Errors
    /// If the length is not what the head says, or a CPU does not exist.
    pub fn read(words: &[u64], layout: Layout) -> Result<Self, Malformed> {
        expect(words.len(), layout.head(), words.len() >= layout.head())?;
        let mut fields = Fields { words, at: 0 };
        let mut wakeup = Wakeup {
            clock: fields.u64(),
            jiffies: fields.u64(),
            this_cpu: fields.u32(),
            prev_cpu: fields.u32(),
            task_cpu: fields.u32(),
            wake_flags: fields.u32(),
            answer: fields.u32(),
            flags: fields.u32(),
            allowed: fields.u64(),
            changed: fields.u64(),
            ..Wakeup::default()
        };
        let nr_cpus = fields.u32();
        wakeup.llc_size = fields.u32();
        wakeup.preempt_count = fields.u32();
        wakeup.exit_flags = fields.u16().into();
        wakeup.exit_ticks = fields.u16();
        if layout < Layout::Exit {
            // Not recorded: a tick may have come.
            (wakeup.exit_flags, wakeup.exit_ticks) = (wakeup.flags, 1);
        }
        wakeup.wakee = fields.task();
        wakeup.waker = fields.task();
        if layout >= Layout::Budget {
            (wakeup.avg_idle, wakeup.avg_scan_cost) = (fields.u64(), fields.u64());
        }
        in_range("a number of CPUs of", nr_cpus, MAX_CPUS as u32 + 1)?;
        in_range("a waking CPU", wakeup.this_cpu, nr_cpus)?;
        in_range("a previous CPU", wakeup.prev_cpu, nr_cpus)?;
        in_range("an answer", wakeup.answer, nr_cpus)?;
        let highest = u64::BITS - wakeup.changed.leading_zeros();
        in_range("a changed CPU before", highest, nr_cpus + 1)?;
        let nr = nr_cpus as usize;
        let nr_exits = match layout {
            Layout::Entry => 0,
            Layout::Exit | Layout::Budget => wakeup.changed.count_ones() as usize,
        };
        let expected = if wakeup.flags & flag::DOMAINS == 0 {
            layout.head() + (nr + nr_exits) * CPU_WORDS
        } else {
            layout.domains_at() + MAX_CPUS * LEVELS * DOMAIN_WORDS
        };
        expect(words.len(), expected, words.len() == expected)?;
        wakeup.cpus = (0..nr).map(|_| fields.cpu()).collect();
        wakeup.exits = (0..nr_exits).map(|_| fields.cpu()).collect();
        if wakeup.flags & flag::DOMAINS != 0 {
            fields.at = layout.domains_at() * 8;
            wakeup.domains = (0..nr)
                .map(|_| {
                    let levels: Vec<_> = (0..LEVELS).map(|_| fields.domain()).collect();
                    let used = levels.iter().take_while(|domain| domain.span != 0).count();
                    levels[..used].to_vec()
                })
                .collect();
        }
        Ok(wakeup)
    }
}

fn expect(found: usize, expected: usize, holds: bool) -> Result<(), Malformed> {
    if holds {
        Ok(())
    } else {
        Err(Malformed::Length { found, expected })
    }
}

fn in_range(what: &'static str, found: u32, limit: u32) -> Result<(), Malformed> {
    if found < limit {
        Ok(())
    } else {
        Err(Malformed::Range { what, found, limit })
    }
}

#[cfg(test)]
pub(super) mod tests;
