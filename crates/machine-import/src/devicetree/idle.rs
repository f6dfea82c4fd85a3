// SPDX-License-Identifier: GPL-2.0-only
//! Idle states: those of `cpu-idle-states`, and those of power domains (`domain-idle-states`).

use alight_machine::CpuSet;

use super::tree::{Id, Tree};
use crate::error::Error;
use crate::platform::{IdleState, Place, Said, Scope, Spans};

const MOST_US: u32 = 10_000_000;
/// Power level of the suspend parameter, in its original form (PSCI 5.4.2.1).
const POWER_LEVEL: u32 = 0x0300_0000;

/// The states of each CPU, and the CPUs that are switched off together, if power domains say it.
pub(super) fn read(
    tree: &Tree,
    nodes: &[Id],
    notes: &mut Vec<String>,
) -> Result<(Vec<Vec<IdleState>>, Option<Spans>), Error> {
    let mut all = Vec::new();
    let mut shared: Vec<(Id, CpuSet)> = Vec::new();
    let mut above: Vec<String> = Vec::new();
    for (cpu, &node) in nodes.iter().enumerate() {
        let mut states = Vec::new();
        for state in tree.links(node, "cpu-idle-states")? {
            let scope = scope(tree, state)?;
            states.extend(idle_state(tree, state, scope)?);
        }
        let domains = domains(tree, node)?;
        if let Some(&own) = domains.first() {
            for state in tree.links(own, "domain-idle-states")? {
                states.extend(idle_state(tree, state, Scope::Core)?);
            }
        }
        if let Some(&cluster) = domains.get(1) {
            for state in tree.links(cluster, "domain-idle-states")? {
                states.extend(idle_state(tree, state, Scope::Domain)?);
            }
            match shared.iter_mut().find(|(known, _)| *known == cluster) {
                Some((_, cpus)) => {
                    cpus.insert(cpu);
                }
                None => shared.push((cluster, CpuSet::single(cpu))),
            }
        }
        for &domain in domains.iter().skip(2) {
            let path = &tree.nodes[domain].path;
            if tree.has(domain, "domain-idle-states") && !above.contains(path) {
                above.push(path.clone());
            }
        }
        if !states.is_empty() {
            states.insert(0, wfi());
        }
        all.push(states);
    }
    if !above.is_empty() {
        notes.push(format!(
            "the idle states of {} concern several clusters: they are left out",
            above.join(", ")
        ));
    }
    let place = shared.first().map(|(domain, _)| tree.place(*domain));
    let spans = shared.into_iter().map(|(_, cpus)| cpus).collect();
    Ok((all, place.map(|place| Said::new(spans, place))))
}

/// The state that Linux adds in front.
fn wfi() -> IdleState {
    let rule = "the WFI state, which Linux adds (drivers/cpuidle/cpuidle-psci.c, cpuidle-arm.c)";
    IdleState {
        name: "WFI".to_owned(),
        times: Said::new([0, 1, 1], Place::Rule(rule.to_owned())),
        wakeup_us: None,
        timer_stops: false,
        scope: Scope::Core,
    }
}

/// The power domain of a CPU, and those around it, from the inside.
fn domains(tree: &Tree, cpu: Id) -> Result<Vec<Id>, Error> {
    /// Domains around each other: a CPU, a cluster, a system and one more.
    const LONGEST: usize = 8;
    const COUNT: &str = "#power-domain-cells";
    let names = tree.texts(cpu, "power-domain-names")?;
    let place = names.iter().position(|name| name == "psci").unwrap_or(0);
    let links = tree.links_with(cpu, "power-domains", COUNT)?;
    let mut chain = Vec::new();
    let mut next = links.get(place).map(|(domain, _)| *domain);
    while let Some(domain) = next {
        if chain.len() == LONGEST {
            let message = format!("leads in a circle, or over more than {LONGEST} domains");
            return Err(tree.error_in(domain, "power-domains", message));
        }
        chain.push(domain);
        let around = tree.links_with(domain, "power-domains", COUNT)?;
        next = around.first().map(|(domain, _)| *domain);
    }
    // A domain of performance has no states, and says nothing of what is switched off.
    let says = chain
        .iter()
        .any(|&domain| tree.has(domain, "domain-idle-states"));
    Ok(if says { chain } else { Vec::new() })
}

/// Whom a state of a CPU's own list concerns.
fn scope(tree: &Tree, state: Id) -> Result<Scope, Error> {
    let parameter = tree.cell(state, "arm,psci-suspend-param")?.unwrap_or(0);
    let name = tree.name(state).to_ascii_lowercase();
    let cluster = name.contains("cluster") || parameter & POWER_LEVEL != 0;
    Ok(if cluster { Scope::Cluster } else { Scope::Core })
}

/// A state; `None`: it is disabled.
fn idle_state(tree: &Tree, id: Id, scope: Scope) -> Result<Option<IdleState>, Error> {
    if !tree.is_enabled(id)? {
        return Ok(None);
    }
    let time = |name: &str| match tree.cell(id, name)? {
        Some(us) if us > MOST_US => {
            Err(tree.error_in(id, name, format!("is {us} us, expected at most {MOST_US}")))
        }
        time => Ok(time.map(u64::from)),
    };
    let required = |name: &str| {
        time(name)?.ok_or_else(|| {
            tree.error(
                id,
                format!("has no `{name}`, expected the times of an idle state"),
            )
        })
    };
    let wakeup = time("wakeup-latency-us")?;
    // Where it is stated, entry and exit need not be (dt_idle.c, init_state_node()).
    let (entry, exit) = match (time("entry-latency-us")?, time("exit-latency-us")?, wakeup) {
        (Some(entry), Some(exit), _) => (entry, exit),
        (_, None, Some(wakeup)) | (None, _, Some(wakeup)) => (0, wakeup),
        _ => (required("entry-latency-us")?, required("exit-latency-us")?),
    };
    let name = tree.text(id, "idle-state-name")?;
    Ok(Some(IdleState {
        name: name.unwrap_or_else(|| tree.name(id).to_owned()),
        times: Said::new([entry, exit, required("min-residency-us")?], tree.place(id)),
        wakeup_us: wakeup.map(|wakeup| wakeup.max(exit)),
        timer_stops: tree.has(id, "local-timer-stop"),
        scope,
    }))
}
