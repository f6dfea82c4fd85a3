// SPDX-License-Identifier: GPL-2.0-only
//! Compares the decision as BPF in this kernel with the native build, on the same random machines,
//! states and wakeups: every field of the answer and of what the decision wrote.
//!
//! `bpf_equals_native --help` lists the options; it needs root. Nothing is attached: each call of
//! BPF_PROG_TEST_RUN (`src/bpf/select_test.bpf.c`) answers a run of wakeups.
//! A state has a number: its machine is number / [`RUN`], its wakeup number % [`RUN`].

use alight_policy::abi::rule;
use alight_policy::scheduler::{Base, FEATURES, Feature, On};
use alight_policy::{Answer, Cpu, Llc, Mask, NONE, Root, STEPS, Scheduler, Task};
use alight_verify::live::Sides;
use clap::Parser;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{OpenObject, ProgramInput};
use skeleton::{SelectTestSkel, SelectTestSkelBuilder};
use states::{MOST_CHANGES, Numbers, Scene, Shape, Wanted};
use std::collections::BTreeMap;
use std::mem::{MaybeUninit, offset_of};
use std::process::ExitCode;
use std::time::{Duration, Instant};

#[path = "../../policy/tests/common/states/mod.rs"]
#[allow(dead_code)] // parts that only the native tests use
mod states;

#[allow(
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    unused,
    non_camel_case_types
)]
mod skeleton {
    include!(concat!(env!("OUT_DIR"), "/select_test.skel.rs"));
}

/// Wakeups of one machine, and of one call.
const RUN: u64 = 256;
/// Most CPUs of a machine: three words of a mask.
const MOST_CPUS: u32 = 130;
/// Enough for threads, clusters and different capacities.
const LEAST_CPUS: u32 = 5;

type Failure = Box<dyn std::error::Error>;

/// Asks the decision in the kernel and on the host the same, and demands the same.
#[derive(Debug, Parser)]
struct Options {
    /// How many states, spread over all schedulers
    #[arg(long, default_value_t = 1_000_000)]
    states: u64,
    /// Only so many schedulers: first the bases alone, then with all features, then with each;
    /// then the other combinations; then features that are told something. 0: all
    #[arg(long, value_name = "N", default_value_t = 0)]
    schedulers: usize,
    /// Only this scheduler
    #[arg(long, value_name = "NAME", value_parser = Scheduler::parse)]
    scheduler: Option<Scheduler>,
    /// Another seed: other states
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only this state
    #[arg(long, value_name = "N")]
    state: Option<u64>,
    /// Let the host have another rule for SCHED_IDLE: what a difference looks like
    #[arg(long)]
    wrong: bool,
}

/// `struct cpu_change` of `src/bpf/select_test.h`.
#[repr(C)]
#[derive(Clone, Copy)]
struct CpuChange {
    view: Cpu,
    cpu: u32,
    unused: u32,
}

/// `struct question` of `src/bpf/select_test.h`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Question {
    changes: [CpuChange; MOST_CHANGES as usize],
    nr_changes: u32,
    llc: u32,
    llc_view: Llc,
    group: u32,
    imbalance: u32,
    now: u64,
    this_cpu: u32,
    kind: u32,
    sync: u32,
    flags: u32,
    root: Root,
    allowed: Mask,
    wakee: Task,
    waker: Task,
    answer: Answer,
    here: Cpu,
    llc_states: u64,
    cpu: u32,
    unused: u32,
}

/// Asserts that the fields are at the program's offsets, and that there are no others.
macro_rules! as_the_program_has_it {
    ($ours:ident { $($field:ident),+ $(,)? } is $theirs:ident) => {
        const _: () = {
            use skeleton::types;
            fn _all(ours: $ours, theirs: types::$theirs) {
                let $ours { $($field: _),+ } = ours;
                let types::$theirs { $($field: _),+ } = theirs;
            }
            assert!(size_of::<$ours>() == size_of::<types::$theirs>());
            $(assert!(offset_of!($ours, $field) == offset_of!(types::$theirs, $field));)+
        };
    };
}

as_the_program_has_it! { CpuChange { view, cpu, unused } is cpu_change }
as_the_program_has_it! {
    Question {
        changes, nr_changes, llc, llc_view, group, imbalance, now, this_cpu, kind, sync, flags,
        root, allowed, wakee, waker, answer, here, llc_states, cpu, unused,
    } is question
}

impl Question {
    /// The next question of `scene`, with the changes of its machine before it.
    fn of(scene: &Scene) -> Self {
        let no_change = CpuChange {
            view: Cpu::default(),
            cpu: 0,
            unused: 0,
        };
        let mut changes = [no_change; MOST_CHANGES as usize];
        for (change, &cpu) in changes.iter_mut().zip(&scene.changed.cpus) {
            (change.view, change.cpu) = (scene.core.cpus[cpu as usize], cpu);
        }
        let (llc, group) = (scene.changed.llc, scene.changed.group);
        Question {
            changes,
            nr_changes: scene.changed.cpus.len() as u32,
            llc: llc.unwrap_or(NONE),
            llc_view: llc.map_or(Llc::default(), |llc| scene.core.llcs[llc as usize]),
            group: group.unwrap_or(NONE),
            imbalance: group.map_or(0, |group| scene.core.groups[group as usize].imbalance),
            now: scene.now,
            this_cpu: scene.this,
            kind: scene.kind_bit(),
            sync: scene.sync.into(),
            flags: scene.flags,
            root: scene.core.root,
            allowed: scene.allowed,
            wakee: scene.wakee,
            waker: scene.waker,
            answer: Answer::default(),
            here: Cpu::default(),
            llc_states: 0,
            cpu: NONE,
            unused: 0,
        }
    }
}

/// The same sum as the program computes.
fn sum_of_states(llcs: &[Llc]) -> u64 {
    (llcs.iter())
        .flat_map(|llc| [llc.has_idle_cores, llc.nr_busy, llc.nr_idle_scan])
        .fold(0u64, |sum, n| sum.wrapping_mul(31).wrapping_add(n.into()))
}

/// What the native build answered to a question, and what it wrote.
struct Native {
    answer: Answer,
    wakee: Task,
    waker: Task,
    here: Cpu,
    llc_states: u64,
}

impl Native {
    fn answer(scene: &mut Scene) -> Self {
        let answer = scene.ask();
        Native {
            answer,
            wakee: scene.wakee,
            waker: scene.waker,
            here: scene.core.cpus[scene.this as usize],
            llc_states: sum_of_states(&scene.core.llcs),
        }
    }

    fn compare(&self, kernel: &Question) -> Sides {
        let mut sides = Sides::default();
        sides.add("returned CPU", &kernel.cpu, &self.answer.cpu);
        sides.add("answer", &kernel.answer, &self.answer);
        sides.add("wakee after", &kernel.wakee, &self.wakee);
        sides.add("waker after", &kernel.waker, &self.waker);
        sides.add("waking CPU after", &kernel.here, &self.here);
        sides.add("sum of search states", &kernel.llc_states, &self.llc_states);
        sides
    }
}

/// Types of the program's variables that are the same C `struct` as `To`, of integers only.
///
/// # Safety
/// Both types must be this structure.
unsafe trait Twin<To> {}

macro_rules! twins {
    ($($theirs:ident is $ours:ty),+ $(,)?) => {$(
        // SAFETY: structures of policy/abi.h and select_test.h, compared field by field.
        unsafe impl Twin<$ours> for skeleton::types::$theirs {}
    )+};
}

twins!(
    policy_params is alight_policy::Params,
    policy_topology is alight_policy::Topology,
    policy_domain is alight_policy::Domain,
    policy_group is alight_policy::Group,
    policy_place is alight_policy::Place,
    policy_cpu is Cpu,
    policy_llc is Llc,
    policy_perf_domain is alight_policy::PerfDomain,
    question is Question,
);

/// Variables of the program as values of the type that this side has for them.
fn as_ours<To: Copy, From: Twin<To>>(from: &mut [From]) -> &mut [To] {
    assert_eq!(size_of::<From>(), size_of::<To>());
    assert!(align_of::<From>() >= align_of::<To>());
    // SAFETY: same layout, integers only, exclusively borrowed.
    unsafe { std::slice::from_raw_parts_mut(from.as_mut_ptr().cast(), from.len()) }
}

/// The program, loaded for one scheduler.
struct Kernel<'obj>(SelectTestSkel<'obj>);

impl<'obj> Kernel<'obj> {
    fn load(
        scheduler: &Scheduler,
        shape: Shape,
        object: &'obj mut MaybeUninit<OpenObject>,
    ) -> Result<Self, Failure> {
        let mut open = SelectTestSkelBuilder::default().open(object)?;
        let rodata = open.maps.rodata_data.as_deref_mut().expect("constants");
        as_ours(std::slice::from_mut(&mut rodata.params))[0] = scheduler.params;
        as_ours(std::slice::from_mut(&mut rodata.topology))[0] = shape.topology();
        Ok(Kernel(open.load()?))
    }

    fn variables(&mut self) -> &mut skeleton::types::bss {
        self.0.maps.bss_data.as_deref_mut().expect("variables")
    }

    /// Copies the machine to the program.
    fn set_machine(&mut self, scene: &Scene) {
        fn copy<T: Copy, To: Twin<T>>(from: &[T], to: &mut [To]) {
            as_ours(to)[..from.len()].copy_from_slice(from);
        }
        let (core, v) = (&scene.core, self.variables());
        copy(&core.domains, &mut v.domains);
        copy(&core.groups, &mut v.groups);
        copy(&core.places, &mut v.places);
        copy(&core.cpus, &mut v.cpus);
        copy(&core.llcs, &mut v.llcs);
        copy(&core.perf, &mut v.perf);
        v.nr_llcs = core.llcs.len() as u32;
        v.nr_perf = core.perf.len() as u32;
    }

    /// Answers questions about it, in place.
    fn answer(&mut self, questions: &mut [Question]) -> Result<(), Failure> {
        let v = self.variables();
        as_ours(&mut v.questions)[..questions.len()].copy_from_slice(questions);
        v.nr_questions = questions.len() as u32;
        let output = (self.0.progs.answer_questions).test_run(ProgramInput::default())?;
        let v = self.variables();
        if output.return_value != 0 || v.nr_answered as usize != questions.len() {
            let (status, answered) = (output.return_value, v.nr_answered);
            return Err(format!("the program ended with {status} after {answered}").into());
        }
        questions.copy_from_slice(&as_ours(&mut v.questions)[..questions.len()]);
        Ok(())
    }

    /// The parts of the machine that differ from the host's.
    fn machine_differs(&mut self, scene: &Scene) -> Sides {
        fn each<T: Copy + PartialEq + std::fmt::Debug, From: Twin<T>>(
            sides: &mut Sides,
            what: &str,
            kernel: &mut [From],
            host: &[T],
        ) {
            for (i, (kernel, host)) in as_ours::<T, From>(kernel).iter().zip(host).enumerate() {
                sides.add(&format!("{what} {i} after"), kernel, host);
            }
        }
        let (core, v, mut sides) = (&scene.core, self.variables(), Sides::default());
        each(&mut sides, "CPU", &mut v.cpus, &core.cpus);
        each(&mut sides, "search state", &mut v.llcs, &core.llcs);
        each(&mut sides, "group", &mut v.groups, &core.groups);
        each(&mut sides, "domain", &mut v.domains, &core.domains);
        each(&mut sides, "place", &mut v.places, &core.places);
        sides
    }
}

/// How many features can be added to this base.
fn features_of(base: &Base) -> usize {
    let on = |feature: &&Feature| !matches!(feature.meaning(base), On::Not(_));
    FEATURES.iter().filter(on).count()
}

/// The plan of a run: the number of a machine gives its scheduler and its shape.
struct Plan {
    schedulers: Vec<Scheduler>,
    seed: u64,
    wrong: bool,
}

impl Plan {
    fn new(options: &Options) -> Self {
        let mut schedulers: Vec<Scheduler> = states::schedulers::combinations();
        schedulers.sort_by_key(|scheduler| {
            let (base, features) = scheduler.parts();
            match features.len() {
                0 => 0,
                n if n == features_of(base) => 1,
                1 => 2,
                _ => 3,
            }
        });
        schedulers.extend(states::schedulers::tuned());
        if let Some(only) = &options.scheduler {
            schedulers = vec![only.clone()];
        }
        Plan {
            schedulers,
            seed: options.seed,
            wrong: options.wrong,
        }
    }

    fn place(&self, machine: u64) -> usize {
        (machine % self.schedulers.len() as u64) as usize
    }

    fn scheduler(&self, machine: u64) -> &Scheduler {
        &self.schedulers[self.place(machine)]
    }

    /// All machines of a scheduler have one shape, because each shape needs a load, and the
    /// verifier takes long over some kernels' rules. Another seed gives another shape.
    fn shape(&self, machine: u64) -> Shape {
        let place = self.place(machine);
        let bits = (place as u64 * 5).wrapping_add(self.seed);
        let mut numbers = Numbers::of(self.seed, &[place as u64]);
        Shape {
            cpus: LEAST_CPUS + numbers.cpus(MOST_CPUS - LEAST_CPUS),
            asym: bits & 1 != 0,
            smt: bits & 2 != 0,
            cluster: bits & 4 != 0 && self.schedulers[place].params.cluster_level != 0,
        }
    }

    /// Machines for at least `states` states, by scheduler; `most` limits the schedulers (0: all).
    fn machines(&self, states: u64, most: usize) -> Vec<impl Iterator<Item = u64> + use<>> {
        let all = self.schedulers.len();
        let used = if most == 0 { all } else { most.min(all) };
        let each = states.div_ceil(RUN * used as u64);
        let of = |place: usize| (0..each).map(move |round| round * all as u64 + place as u64);
        (0..used).map(of).collect()
    }

    /// The host's side of a machine.
    fn scene(&self, machine: u64) -> Scene {
        let mut scheduler = self.scheduler(machine).clone();
        if self.wrong {
            scheduler.params.sched_idle = match scheduler.params.sched_idle {
                rule::SCHED_IDLE_BUSY => rule::SCHED_IDLE_AVAIL,
                _ => rule::SCHED_IDLE_BUSY,
            };
        }
        let wanted = Wanted {
            shape: Some(self.shape(machine)),
            ..Wanted::anything(MOST_CPUS)
        };
        Scene::new(&scheduler, self.seed, machine, wanted)
    }

    fn describe(&self, state: u64, sides: &Sides) -> String {
        format!(
            "seed {seed}, state {state} ({scheduler}): kernel and host differ\n{sides}\
             alone: --seed {seed} --state {state}",
            seed = self.seed,
            scheduler = self.scheduler(state / RUN).name,
        )
    }
}

/// What a run found.
#[derive(Default)]
struct Found {
    equal: u64,
    /// By the step that answered.
    steps: BTreeMap<u32, u64>,
    loaded: u32,
    loading: Duration,
    kernel: Duration,
    host: Duration,
}

impl Found {
    fn count(&mut self, answer: &Answer) {
        self.equal += 1;
        *self.steps.entry(answer.step).or_default() += 1;
    }

    fn load<'obj>(
        &mut self,
        plan: &Plan,
        machine: u64,
        object: &'obj mut MaybeUninit<OpenObject>,
    ) -> Result<Kernel<'obj>, Failure> {
        let (scheduler, shape) = (plan.scheduler(machine), plan.shape(machine));
        let start = Instant::now();
        let kernel = Kernel::load(scheduler, shape, object)
            .map_err(|error| format!("{}, {shape:?}: loading: {error}", scheduler.name))?;
        self.loaded += 1;
        self.loading += start.elapsed();
        Ok(kernel)
    }
}

/// All wakeups of a machine in one call.
fn run(
    plan: &Plan,
    machine: u64,
    kernel: &mut Kernel<'_>,
    found: &mut Found,
) -> Result<(), Failure> {
    let start = Instant::now();
    let mut scene = plan.scene(machine);
    kernel.set_machine(&scene);
    let (mut questions, mut natives) = (Vec::new(), Vec::new());
    for _ in 0..RUN {
        scene.next();
        questions.push(Question::of(&scene));
        natives.push(Native::answer(&mut scene));
    }
    found.host += start.elapsed();
    let start = Instant::now();
    kernel.answer(&mut questions)?;
    found.kernel += start.elapsed();
    for (n, (question, native)) in (0..).zip(questions.iter().zip(&natives)) {
        let sides = native.compare(question);
        if sides != Sides::default() {
            return Err(plan.describe(machine * RUN + n, &sides).into());
        }
        found.count(&native.answer);
    }
    if kernel.machine_differs(&scene) != Sides::default() {
        // Some wakeup wrote where it should not: compare after each.
        for n in 0..RUN {
            run_alone(plan, machine * RUN + n, kernel, &mut Found::default())?;
        }
        let sides = kernel.machine_differs(&scene);
        return Err(plan.describe(machine * RUN, &sides).into());
    }
    Ok(())
}

/// One wakeup in a call of its own, and the whole machine compared after it.
fn run_alone(
    plan: &Plan,
    state: u64,
    kernel: &mut Kernel<'_>,
    found: &mut Found,
) -> Result<(), Failure> {
    let mut scene = plan.scene(state / RUN);
    for _ in 0..state % RUN {
        scene.next();
        scene.ask();
    }
    kernel.set_machine(&scene);
    scene.next();
    let mut question = [Question::of(&scene)];
    let native = Native::answer(&mut scene);
    kernel.answer(&mut question)?;
    for sides in [native.compare(&question[0]), kernel.machine_differs(&scene)] {
        if sides != Sides::default() {
            return Err(plan.describe(state, &sides).into());
        }
    }
    found.count(&native.answer);
    Ok(())
}

/// The machines of a scheduler one after the other: it is loaded once.
fn run_scheduler(
    plan: &Plan,
    machines: impl Iterator<Item = u64>,
    found: &mut Found,
) -> Result<(), Failure> {
    let (mut object, mut machines) = (MaybeUninit::uninit(), machines.peekable());
    let Some(&first) = machines.peek() else {
        return Ok(());
    };
    let mut kernel = found.load(plan, first, &mut object)?;
    machines.try_for_each(|machine| run(plan, machine, &mut kernel, found))
}

fn prove(options: &Options) -> Result<(), Failure> {
    let (plan, mut found, start) = (Plan::new(options), Found::default(), Instant::now());
    if let Some(state) = options.state {
        let mut object = MaybeUninit::uninit();
        let mut kernel = found.load(&plan, state / RUN, &mut object)?;
        run_alone(&plan, state, &mut kernel, &mut found)?;
    } else {
        for machines in plan.machines(options.states, options.schedulers) {
            run_scheduler(&plan, machines, &mut found)?;
        }
    }
    for (step, count) in &found.steps {
        println!("{count:>9} {}", STEPS[*step as usize].0);
    }
    let seconds = |time: Duration| time.as_secs_f64();
    println!(
        "times: {:.1} s in all, {:.1} s loading, {:.1} s in the kernel, {:.1} s on the host",
        seconds(start.elapsed()),
        seconds(found.loading),
        seconds(found.kernel),
        seconds(found.host),
    );
    let (equal, loaded) = (found.equal, found.loaded);
    println!("{equal} states of {loaded} schedulers, all equal");
    Ok(())
}

fn main() -> ExitCode {
    match prove(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
