// SPDX-License-Identifier: GPL-2.0-only
//! Writing an event allocates nothing, in any format.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use alight_trace::{Format, Sink, TraceFile};

use crate::run;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator unchanged; counting touches no memory of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn events_allocate_nothing_once_every_kind_has_been_seen() {
    let directory = tempfile::tempdir().unwrap();
    for format in [Format::Perfetto, Format::Ftrace, Format::FtraceRaw] {
        let path = directory.path().join("run");
        let mut trace = TraceFile::create_as(&path, format, &run::header()).unwrap();
        let events = run::events();
        let last_ns = events.last().unwrap().0;
        let mut round = |number: u64| {
            for &(time_ns, cpu, event) in &events {
                trace.event(number * last_ns + time_ns, cpu, event).unwrap();
            }
        };
        round(0);
        let before = ALLOCATIONS.get();
        (1..10_000).for_each(&mut round);
        assert_eq!(ALLOCATIONS.get() - before, 0, "{format:?}");
    }
}
