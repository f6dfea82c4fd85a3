// SPDX-License-Identifier: GPL-2.0-only
//! What a description says, brought into the form that a machine file needs: each set of CPUs within the
//! next larger one, whole cores, one capacity a clock. What does not fit is said in a note.

use alight_machine::CpuSet;
use alight_machine::guess::{self, power_domains};

use crate::platform::{Clock, Cpu, Place, Platform, Scope, Spans, named};

/// The biggest capacity.
const SCALE: u64 = 1024;
const LOCAL: u64 = 10;
const FARTHEST: u64 = 255;

/// A machine whose sets of CPUs nest.
pub(crate) struct Settled {
    pub platform: Platform,
    pub core: Vec<CpuSet>,
    pub node: Vec<CpuSet>,
    pub llc: Vec<CpuSet>,
    pub mc: Option<Vec<CpuSet>>,
    pub cls: Option<Vec<CpuSet>>,
    /// Between the nodes; `None`: the description does not say it.
    pub distances: Option<Vec<Vec<u64>>>,
    pub clocks: Vec<Clock>,
    pub power: Vec<CpuSet>,
    pub capacities: Capacities,
    pub core_types: Vec<CoreType>,
}

/// How the file states capacities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Capacities {
    /// By work a MHz.
    Dmips,
    /// As they are.
    Stated,
    /// All CPUs have the same.
    Equal,
}

/// CPUs of one make.
pub(crate) struct CoreType {
    pub name: String,
    pub cpu: Cpu,
    pub cpus: CpuSet,
}

pub(crate) fn settled(mut platform: Platform) -> Settled {
    let single: Vec<CpuSet> = (0..platform.cpus.len()).map(CpuSet::single).collect();
    let core = grouped(&single, |cpu| place_in(&platform.core, cpu));
    for threads in &core {
        let lowest = threads.first().map(|cpu| platform.cpus[cpu].clone());
        let lowest = lowest.iter().cycle();
        threads
            .iter()
            .zip(lowest)
            .for_each(|(cpu, make)| platform.cpus[cpu] = make.clone());
    }
    let node = grouped(&core, |cpu| place_or_first(&platform.node, cpu));
    let node_of = |cpu| index_in(&node, cpu);
    let llc = match &platform.llc {
        Some(_) => grouped(&core, |cpu| (node_of(cpu), place_in(&platform.llc, cpu))),
        None => node.clone(),
    };
    let mc = platform
        .mc
        .as_ref()
        .map(|_| grouped(&core, |cpu| (node_of(cpu), place_in(&platform.mc, cpu))));
    let mc = mc.filter(|mc| *mc != llc);
    let group = mc.as_ref().unwrap_or(&llc);
    let cls = platform.cls.as_ref().map(|_| {
        grouped(&core, |cpu| {
            (index_in(group, cpu), place_in(&platform.cls, cpu))
        })
    });
    let cls = cls.filter(|cls| *cls != core && cls != group);
    let capacities = capacities(&mut platform);
    let clocks = clocks(&mut platform, &core, capacities);
    let spans = clocks.iter().map(|clock| &clock.cpus.value);
    let power = match &platform.power {
        Some(_) => grouped(&core, |cpu| (node_of(cpu), place_in(&platform.power, cpu))),
        None => llc.clone(),
    };
    let power = power_domains(&power, spans);
    agree_about_domains(&mut platform, &power);
    Settled {
        distances: distances(&mut platform, &node),
        core_types: core_types(&platform),
        platform,
        core,
        node,
        llc,
        mc,
        cls,
        clocks,
        power,
        capacities,
    }
}

/// Sets of whole `units` whose lowest CPUs have the same key, in the order of their lowest CPU.
fn grouped<K: PartialEq>(units: &[CpuSet], key: impl Fn(usize) -> K) -> Vec<CpuSet> {
    let mut groups: Vec<(K, CpuSet)> = Vec::new();
    for unit in units {
        let key = key(unit.first().unwrap_or(0));
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, group)) => *group = group.union(unit),
            None => groups.push((key, *unit)),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// The set that a CPU is in; a CPU of none is alone.
fn place_in(spans: &Option<Spans>, cpu: usize) -> Result<usize, usize> {
    let spans = spans.iter().flat_map(|said| &said.value);
    let mut holding = spans.enumerate().filter(|(_, span)| span.contains(cpu));
    holding.next().map(|(place, _)| place).ok_or(cpu)
}

/// The set that a CPU is in; a CPU of none is in the first.
fn place_or_first(spans: &Option<Spans>, cpu: usize) -> usize {
    place_in(spans, cpu).unwrap_or(0)
}

fn index_in(spans: &[CpuSet], cpu: usize) -> usize {
    spans
        .iter()
        .position(|span| span.contains(cpu))
        .unwrap_or(0)
}

/// Chooses how capacities are stated, and scales those that are so that the biggest is 1024.
fn capacities(platform: &mut Platform) -> Capacities {
    let count = platform.cpus.len();
    let lacking = |has: fn(&Cpu) -> bool| -> CpuSet {
        (0..count)
            .filter(|&cpu| !has(&platform.cpus[cpu]))
            .collect()
    };
    let no_dmips = lacking(|cpu| cpu.dmips_per_mhz.is_some());
    let no_capacity = lacking(|cpu| cpu.capacity.is_some());
    if no_dmips.is_empty() {
        return Capacities::Dmips;
    }
    if no_dmips.len() < count {
        platform.notes.push(format!(
            "there is no `capacity-dmips-mhz` of {}: Linux then gives all CPUs the capacity {SCALE} \
             (topology_parse_cpu_capacity)",
            named(&no_dmips)
        ));
    }
    if no_capacity.len() == count {
        return Capacities::Equal;
    }
    if !no_capacity.is_empty() {
        platform.notes.push(format!(
            "the capacity of {} is not stated: {SCALE} is assumed",
            named(&no_capacity)
        ));
    }
    let stated = platform.cpus.iter().filter_map(|cpu| cpu.capacity.as_ref());
    let biggest = stated.map(|said| said.value).max().unwrap_or(SCALE).max(1);
    if biggest != SCALE {
        platform.notes.push(format!(
            "the biggest capacity stated is {biggest}: all are scaled to {SCALE}"
        ));
    }
    for said in platform
        .cpus
        .iter_mut()
        .filter_map(|cpu| cpu.capacity.as_mut())
    {
        said.value =
            (u128::from(said.value) * u128::from(SCALE) / u128::from(biggest)).max(1) as u64;
    }
    Capacities::Stated
}

/// Clocks of whole cores and one capacity. CPUs of none have one of their own.
fn clocks(platform: &mut Platform, core: &[CpuSet], capacities: Capacities) -> Vec<Clock> {
    let of = |cpu: usize| {
        let mut clocks = platform.clocks.iter().enumerate();
        let found = clocks.find(|(_, clock)| clock.cpus.value.contains(cpu));
        found.map(|(place, _)| place).ok_or(cpu)
    };
    let mut settled = Vec::new();
    let mut divided = Vec::new();
    for span in grouped(core, of) {
        let stated = of(span.first().unwrap_or(0))
            .ok()
            .map(|at| &platform.clocks[at]);
        let alone = "where nothing says who shares a clock, each core has one of its own";
        let own = || Clock::of(span, Place::Assumed(alone.to_owned()));
        let clock = stated.cloned().unwrap_or_else(own);
        let top = clock.khz.as_ref().and_then(|khz| khz.value.last().copied());
        let inside: Vec<CpuSet> = core
            .iter()
            .filter(|unit| unit.is_subset(&span))
            .copied()
            .collect();
        let capacity = |cpu: usize| capacity_of(&platform.cpus[cpu], capacities, top);
        // Powers that nobody states are those of a kind of core.
        let parts = grouped(&inside, |cpu| (capacity(cpu), platform.cpus[cpu].kind));
        if parts.len() > 1 {
            divided.push(span);
        }
        for part in parts {
            let mut clock = clock.clone();
            clock.cpus.value = part;
            settled.push(clock);
        }
    }
    for span in divided {
        platform.notes.push(format!(
            "the CPUs {span} share a clock but differ in capacity or in the kind of core: each gets a \
             clock of its own"
        ));
    }
    settled
}

impl Settled {
    /// The capacity of the CPUs of a clock, in the unit of the file: equal ones are equal.
    pub fn capacity_of(&self, clock: &Clock) -> u64 {
        let top = clock.khz.as_ref().and_then(|khz| khz.value.last().copied());
        let first = clock.cpus.value.first().unwrap_or(0);
        capacity_of(&self.platform.cpus[first], self.capacities, top)
    }
}

fn capacity_of(cpu: &Cpu, capacities: Capacities, top: Option<u64>) -> u64 {
    let said = match capacities {
        Capacities::Dmips => &cpu.dmips_per_mhz,
        Capacities::Stated => &cpu.capacity,
        Capacities::Equal => return SCALE,
    };
    let value = said.as_ref().map_or(SCALE, |said| said.value);
    match capacities {
        Capacities::Dmips => value.saturating_mul(top.unwrap_or(guess::CLOCK_KHZ)),
        _ => value,
    }
}

/// Leaves states of scope `domain` out where CPUs that are switched off together differ in them.
fn agree_about_domains(platform: &mut Platform, power: &[CpuSet]) {
    for span in power {
        let states = |cpu: usize| {
            let states = platform.cpus[cpu].idle_states.iter();
            let shared = states.filter(|state| state.scope == Scope::Domain);
            shared.map(|state| state.times.value).collect::<Vec<_>>()
        };
        let first = span.first().unwrap_or(0);
        if span.iter().all(|cpu| states(cpu) == states(first)) {
            continue;
        }
        platform.notes.push(format!(
            "the CPUs {span} are of one cluster but differ in its idle states: these are left out"
        ));
        for cpu in span {
            let states = &mut platform.cpus[cpu].idle_states;
            states.retain(|state| state.scope != Scope::Domain);
        }
    }
}

/// Distances as the scheduler can use them: the same both ways, 10 within a node, more between two.
fn distances(platform: &mut Platform, node: &[CpuSet]) -> Option<Vec<Vec<u64>>> {
    let nodes = node.len();
    let said = stated_distances(platform, node)?;
    let between = |from: usize, to: usize| match from == to {
        true => LOCAL,
        false => said[from][to]
            .max(said[to][from])
            .clamp(LOCAL + 1, FARTHEST),
    };
    let row = |from| (0..nodes).map(|to| between(from, to)).collect();
    let plain: Vec<Vec<u64>> = (0..nodes).map(row).collect();
    if plain != said {
        platform.notes.push(format!(
            "the distances {said:?} are not the same both ways, not 10 within a node or not 11 to 255 \
             between two: {plain:?} are used"
        ));
    }
    Some(plain)
}

/// What the description says of the distances between these nodes. Its matrix is in the order of its
/// own nodes; ours are in the order of their lowest CPUs.
fn stated_distances(platform: &mut Platform, node: &[CpuSet]) -> Option<Vec<Vec<u64>>> {
    let said = platform.distances.as_ref()?;
    let stated = platform.node.as_ref().map_or(1, |said| said.value.len());
    let fits = said.value.len() == stated && said.value.iter().all(|row| row.len() == stated);
    if !fits {
        platform.notes.push(format!(
            "the distances are not those of the {stated} nodes that have CPUs: they are left out"
        ));
        return None;
    }
    let place = |cpus: &CpuSet| place_or_first(&platform.node, cpus.first().unwrap_or(0));
    let places: Vec<usize> = node.iter().map(place).collect();
    let row = |&from: &usize| places.iter().map(|&to| said.value[from][to]).collect();
    Some(places.iter().map(row).collect())
}

/// CPUs of one make by name; makes of one name are numbered.
fn core_types(platform: &Platform) -> Vec<CoreType> {
    let mut types: Vec<CoreType> = Vec::new();
    for (number, cpu) in platform.cpus.iter().enumerate() {
        match types.iter_mut().find(|known| known.cpu == *cpu) {
            Some(known) => {
                known.cpus.insert(number);
            }
            None => types.push(CoreType {
                name: String::new(),
                cpu: cpu.clone(),
                cpus: CpuSet::single(number),
            }),
        }
    }
    let mut taken: Vec<String> = Vec::new();
    let makes: Vec<String> = types.iter().map(|of| of.cpu.make.clone()).collect();
    for (place, of_type) in types.iter_mut().enumerate() {
        let make = &makes[place];
        let alone = makes.iter().filter(|other| *other == make).count() == 1;
        let numbered = (0..).map(|number| format!("{make} #{number}"));
        let mut names = alone.then(|| make.clone()).into_iter().chain(numbered);
        let free = |name: &String| !taken.contains(name) && (alone || !makes.contains(name));
        of_type.name = names.find(free).unwrap_or_default();
        taken.push(of_type.name.clone());
    }
    types
}
