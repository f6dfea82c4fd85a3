// SPDX-License-Identifier: GPL-2.0-only
//! The rings of events, one per CPU, that the kernel side fills (`record_workload.h`), read in
//! place.

use libbpf_rs::MapCore;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::io;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicU64, Ordering};

/// Words of a slot: time, tasks, kind and CPU, value, as in a file.
pub const WORDS: usize = 4;
/// Words of a CPU's line: slots taken, slots emptied, events lost, and others.
const CPU_WORDS: usize = 8;
const HEAD: usize = 0;
const TAIL: usize = 1;
const LOST: usize = 2;
/// How often a slot that is taken but not filled is looked at before it is left for later.
const PATIENCE: u32 = 1000;

/// The rings of all CPUs.
pub struct Rings {
    events: Mapped,
    cpus: Mapped,
    nr_cpus: usize,
    slots: usize,
}

/// Slots of each CPU's ring, a power of two, if all together have `bytes`.
pub fn slots(bytes: u32, nr_cpus: usize) -> u32 {
    let each = bytes as usize / (WORDS * 8) / nr_cpus.max(1);
    // At least twice the slots that stay free (WORKLOAD_SPARE).
    1 << each.max(128).ilog2()
}

impl Rings {
    /// The rings in these two maps.
    ///
    /// # Errors
    /// The kernel does not map them.
    pub fn new(
        events: &impl MapCore,
        cpus: &impl MapCore,
        nr_cpus: usize,
        slots: u32,
    ) -> io::Result<Self> {
        let slots = slots as usize;
        Ok(Rings {
            events: Mapped::new(events, nr_cpus * slots * WORDS)?,
            cpus: Mapped::new(cpus, nr_cpus * CPU_WORDS)?,
            nr_cpus,
            slots,
        })
    }

    /// How much of the fullest ring is used, in 1/1024.
    pub fn fill(&self) -> usize {
        let used = |cpu| self.of(cpu, HEAD).saturating_sub(self.of(cpu, TAIL));
        let most = (0..self.nr_cpus).map(used).max().unwrap_or(0);
        most as usize * 1024 / self.slots
    }

    /// Events of all CPUs that were not written, so far.
    pub fn lost(&self) -> u64 {
        (0..self.nr_cpus).map(|cpu| self.of(cpu, LOST)).sum()
    }

    /// Empties the rings. The events of a CPU come in the order in which they were begun; that is
    /// the order of their times, except in interrupts. Returns a time before which no more events
    /// come, if all that were begun before `now` are in the rings.
    pub fn take(&mut self, now: u64, mut event: impl FnMut([u64; WORDS])) -> u64 {
        let mut until = now;
        for cpu in 0..self.nr_cpus {
            let head = self.of(cpu, HEAD);
            let mut tail = self.of(cpu, TAIL);
            let mut latest = 0;
            while tail < head {
                let slot = cpu * self.slots + (tail as usize & (self.slots - 1));
                let Some(words) = self.slot(slot) else {
                    // Its writer was interrupted; the events after it wait as well.
                    until = until.min(latest);
                    break;
                };
                latest = words[0];
                event(words);
                tail += 1;
            }
            self.cpus.words()[cpu * CPU_WORDS + TAIL].store(tail, Ordering::Release);
        }
        until
    }

    /// Takes the event of a slot, and empties the slot.
    fn slot(&self, slot: usize) -> Option<[u64; WORDS]> {
        let words = &self.events.words()[slot * WORDS..(slot + 1) * WORDS];
        for _ in 0..PATIENCE {
            let time = words[0].load(Ordering::Acquire);
            if time != 0 {
                let rest = |word: usize| words[word].load(Ordering::Relaxed);
                let event = [time, rest(1), rest(2), rest(3)];
                words[0].store(0, Ordering::Relaxed);
                return Some(event);
            }
            std::hint::spin_loop();
        }
        None
    }

    fn of(&self, cpu: usize, word: usize) -> u64 {
        self.cpus.words()[cpu * CPU_WORDS + word].load(Ordering::Acquire)
    }
}

/// The values of a map, shared with the kernel.
struct Mapped {
    at: NonNull<AtomicU64>,
    words: usize,
}

impl Mapped {
    fn new(map: &impl MapCore, words: usize) -> io::Result<Self> {
        // SAFETY: a new mapping, at an address that the kernel chooses, of a map of so many words.
        let at = unsafe {
            mmap(
                null_mut(),
                words * 8,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                map.as_fd(),
                0,
            )
        }?;
        let at = NonNull::new(at.cast()).ok_or_else(|| io::Error::other("mapped at 0"))?;
        Ok(Mapped { at, words })
    }

    fn words(&self) -> &[AtomicU64] {
        // SAFETY: mapped until this is dropped; the kernel side writes words, as atomics allow.
        unsafe { std::slice::from_raw_parts(self.at.as_ptr(), self.words) }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: it is this mapping, and no reference into it exists any more.
        let _ = unsafe { munmap(self.at.as_ptr().cast(), self.words * 8) };
    }
}

#[cfg(test)]
mod tests;
