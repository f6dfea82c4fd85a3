// SPDX-License-Identifier: GPL-2.0-only
//! A run takes its memory before it starts, and then no more; and how much that
//! is for a task and for a CPU. The runs do not prove their invariants, which would take memory.

mod common;

use alight_machine::{CpuSet, Machine};
use alight_sim::Cgroup;
use alight_workload::program::{
    Attributes, Op, OptionalId, Policy, TimerMode, TimerOrigin, Workload,
};
use common::{MS, Run, given, load, machine};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Counts what each thread allocates.
struct Counting;

thread_local! {
    /// Allocations, bytes held, most bytes held at a time.
    static COUNTS: Cell<(u64, usize, usize)> = const { Cell::new((0, 0, 0)) };
}

fn count(grow: usize, shrink: usize) {
    // Gone while a thread ends.
    let _ = COUNTS.try_with(|counts| {
        let (n, held, most) = counts.get();
        let held = (held + grow).saturating_sub(shrink);
        counts.set((n + u64::from(grow != 0), held, most.max(held)));
    });
}

// SAFETY: hands everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(0, layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations of a run, and the most bytes that it held at a time.
fn allocated(run: Run) -> (u64, usize) {
    COUNTS.set((0, 0, 0));
    let outcome = run.go();
    let (n, _, most) = COUNTS.get();
    assert!(outcome.expect("a run").events > 0);
    (n, most)
}

/// The first `n` CPUs of EPYC, which has all there is: SMT, caches, nodes.
fn epyc(n: usize) -> Machine {
    let mut machine = machine("epyc-9654-2s");
    let keep = |set: &CpuSet| -> CpuSet { set.iter().filter(|&cpu| cpu < n).collect() };
    machine.cpus.truncate(n);
    for level in &mut machine.levels {
        level.spans = level.spans.iter().map(keep).collect();
        level.spans.retain(|span| !span.is_empty());
    }
    for domain in &mut machine.freq_domains {
        domain.cpus = keep(&domain.cpus);
    }
    for cluster in &mut machine.clusters {
        cluster.cpus = keep(&cluster.cpus);
    }
    machine
        .freq_domains
        .retain(|domain| !domain.cpus.is_empty());
    machine.clusters.retain(|cluster| !cluster.cpus.is_empty());
    let domain_of = |cpu| {
        machine
            .freq_domains
            .iter()
            .position(|d| d.cpus.contains(cpu))
    };
    let cluster_of = |cpu| machine.clusters.iter().position(|c| c.cpus.contains(cpu));
    for (at, cpu) in machine.cpus.iter_mut().enumerate() {
        cpu.freq_domain = domain_of(at).expect("kept");
        cpu.cluster = cluster_of(at).expect("kept");
    }
    machine
}

/// `n` tasks that run for 1 ms of every 5.
fn periodic(n: usize) -> Workload {
    let timer = Op::Timer {
        slot: 0,
        period_ns: 5 * MS,
        mode: TimerMode::Relative,
        origin: TimerOrigin::FirstUse,
        histogram: OptionalId::NONE,
    };
    let endless = Op::LoopBegin {
        slot: 0,
        count: u64::MAX,
        end: 4,
    };
    let ops = vec![
        endless,
        timer,
        Op::Run { ns: MS },
        Op::LoopEnd { slot: 0, begin: 1 },
    ];
    let mut workload = given(vec![ops; n]);
    workload.programs.truncate(1);
    for task in &mut workload.tasks {
        task.program = 0;
    }
    workload
}

/// What the event loop allocates is seen: here, by a trace that allocates.
#[test]
fn allocations_in_the_event_loop_are_counted() {
    struct Hoarder(Vec<String>);
    impl alight_trace::Sink for Hoarder {
        fn event(&mut self, at: u64, _: u32, _: alight_trace::Event<'_>) -> std::io::Result<()> {
            self.0.push(at.to_string());
            Ok(())
        }
    }
    let (machine, workloads) = (epyc(8), [periodic(8)]);
    let run = Run {
        check: false,
        ..Run::new(&machine, &workloads)
    }
    .for_ms(60);
    let (plain, _) = allocated(run);
    COUNTS.set((0, 0, 0));
    let mut hoarder = Hoarder(vec![]);
    run.traced(Some(&mut hoarder)).expect("a run");
    let (traced, ..) = COUNTS.get();
    assert!(hoarder.0.len() > 1000);
    assert!(
        traced - plain >= hoarder.0.len() as u64,
        "{traced} against {plain}"
    );
}

/// A run of twice the time allocates as often.
#[test]
fn the_event_loop_does_not_allocate() {
    let hackbench = load("hackbench -g 8 -f 20 -l 100000 --pipe --threads");
    let sockets = load("hackbench -g 2 -f 20 -l 100000");
    let sysbench =
        load("sysbench --test=threads --num-threads=16 --max-time=10 --max-requests=-1 run");
    for cpus in [8, 64] {
        let machine = epyc(cpus);
        for workload in [&periodic(8 * cpus), &hackbench, &sockets, &sysbench] {
            let workloads = std::slice::from_ref(workload);
            let run = Run {
                check: false,
                ..Run::new(&machine, workloads)
            };
            let (once, _) = allocated(run.for_ms(60));
            let (twice, _) = allocated(run.for_ms(120));
            assert_eq!(twice, once, "{} on {cpus} CPUs", workload.name);
        }
    }
    for name in common::MACHINES {
        let machine = machine(name);
        let workloads = [load("frame-pipeline.json"), periodic(40)];
        let run = Run {
            check: false,
            ..Run::new(&machine, &workloads)
        };
        let (once, _) = allocated(run.for_ms(100));
        let (twice, _) = allocated(run.for_ms(200));
        assert_eq!(twice, once, "frame-pipeline.json on {name}");
    }
}

/// Nor with task groups, deadlines and clamps, under any base that has them.
#[test]
fn nor_with_groups_and_deadlines() {
    let groups = [Cgroup::new("/bg")];
    let grouped = load("cgexec -g cpu:/bg hackbench -g 2 -f 5 -l 100000 --pipe --threads");
    let mut mixed = periodic(12);
    for (at, task) in mixed.tasks.iter_mut().enumerate() {
        task.attributes = match at % 3 {
            0 => Attributes {
                policy: Some(Policy::Deadline),
                slice_ns: Some(100_000),
                dl_period_deadline_ns: Some((5 * MS, 4 * MS)),
                ..Attributes::default()
            },
            1 => Attributes {
                uclamp_min: Some(100),
                uclamp_max: Some(300),
                ..Attributes::default()
            },
            _ => Attributes::default(),
        };
    }
    let workloads = [grouped, mixed];
    for scheduler in ["linux-5.5", "linux-6.1", "linux-6.5", "linux-7.2"] {
        for machine in [epyc(8), machine("juno-r2"), machine("gs101")] {
            let run = Run {
                check: false,
                groups: &groups,
                scheduler,
                ..Run::new(&machine, &workloads)
            };
            let (once, _) = allocated(run.for_ms(100));
            let (twice, _) = allocated(run.for_ms(200));
            assert_eq!(twice, once, "{scheduler} on {}", machine.name);
        }
    }
}

/// At most 1 KiB a task and 8 KiB a CPU.
#[test]
fn tasks_and_cpus_take_little_memory() {
    let machines = [epyc(64), epyc(128), epyc(384)];
    let bytes = |machine: &Machine, tasks: usize| {
        let workloads = [periodic(tasks)];
        let run = Run {
            check: false,
            ..Run::new(machine, &workloads)
        };
        allocated(run.for_ms(11)).1
    };
    for machine in &machines {
        let a_task = (bytes(machine, 3000) - bytes(machine, 1000)) / 2000;
        println!("{} bytes a task on {} CPUs", a_task, machine.cpus.len());
        assert!(a_task <= 1024, "{a_task} bytes a task");
    }
    for pair in machines.windows(2) {
        let more = pair[1].cpus.len() - pair[0].cpus.len();
        let a_cpu = (bytes(&pair[1], 100) - bytes(&pair[0], 100)) / more;
        println!("{} bytes a CPU beyond {}", a_cpu, pair[0].cpus.len());
        assert!(a_cpu <= 8192, "{a_cpu} bytes a CPU");
    }
}

/// So that a recording of ten million events fits: its workload has 16 bytes for each operation.
#[test]
fn an_operation_takes_18_bytes_beside_the_workloads() {
    let of = |ops: usize| {
        let workloads = [given(vec![vec![Op::Run { ns: 0 }; ops]; 2])];
        let machine = machine("ca9x4");
        let scheduler = alight_policy::Scheduler::parse("linux-7.2").expect("a base");
        let scenario = alight_sim::Scenario::new(&machine, &workloads, &scheduler);
        COUNTS.set((0, 0, 0));
        alight_sim::task_table(&scenario).expect("it can be built");
        COUNTS.get().2
    };
    let (few, many) = (of(100_000), of(200_000));
    let each = (many - few) as f64 / 200_000.0;
    assert!((each - 18.0).abs() < 0.1, "{each} bytes");
}
