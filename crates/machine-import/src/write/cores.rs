// SPDX-License-Identifier: GPL-2.0-only
//! Core types and their idle states.

use std::fmt::Write;

use alight_machine::{CpuSet, guess};

use super::{Writer, line, quoted};
use crate::platform::{IdleState, Said, Scope};
use crate::settle::{Capacities, CoreType};

impl Writer {
    pub(super) fn core_types(&mut self) {
        for of_type in std::mem::take(&mut self.settled.core_types) {
            self.core_type(&of_type);
        }
    }

    fn core_type(&mut self, of_type: &CoreType) {
        let (cpu, key) = (&of_type.cpu, quoted(&of_type.name));
        let source = self.sources.file("its CPUs");
        line!(self.body, "\n[core_type.{key}]");
        line!(
            self.body,
            "cpus = {{ value = \"{}\", source = \"{source}\" }}",
            of_type.cpus
        );
        let capacity = self.capacity(of_type);
        line!(self.body, "{capacity}");
        let l2 = cpu.l2_kib.clone();
        let l2 = self.said_or(l2, "the size of the L2", guess::L2_KIB, "KiB");
        line!(self.body, "l2_kib = {l2}");
        let mut cores = self.settled.core.iter();
        if cores.any(|core| core.len() > 1 && core.intersects(&of_type.cpus)) {
            let share = self.said_or(
                None,
                "how threads of a core slow each other",
                guess::SMT_PERCENT,
                "% of the speed alone",
            );
            line!(self.body, "smt_percent = {share}");
        }
        line!(self.body, "costs = \"{}\"", cpu.kind.class());
        self.idle_states(&key, of_type);
    }

    fn capacity(&mut self, of_type: &CoreType) -> String {
        let cpu = &of_type.cpu;
        match (self.settled.capacities, &cpu.dmips_per_mhz, &cpu.capacity) {
            (Capacities::Dmips, Some(dmips), _) => {
                self.tell_of_assumed_clocks(&of_type.cpus);
                format!("capacity_dmips_mhz = {}", self.said(dmips))
            }
            (Capacities::Stated, _, Some(capacity)) => {
                format!("capacity = {}", self.said(capacity))
            }
            _ => {
                let source = self
                    .sources
                    .assumed("a capacity of each CPU", "1024 for those without");
                format!("capacity = {{ value = 1024, source = \"{source}\" }}")
            }
        }
    }

    /// Capacities that follow from a clock which the description does not say. CPUs that are all alike
    /// have the same capacity, whatever their clock is.
    fn tell_of_assumed_clocks(&mut self, cpus: &CpuSet) {
        let (all, clocks) = (&self.settled.platform.cpus, &self.settled.clocks);
        let alike = all.iter().all(|cpu| *cpu == all[0]);
        let mut unknown = clocks.iter().filter(|clock| clock.khz.is_none());
        let none_is_known = unknown.clone().count() == clocks.len();
        if alike || !unknown.any(|clock| clock.cpus.value.intersects(cpus)) {
            return;
        }
        let assumed = match none_is_known {
            true => "the same clock for all CPUs".to_owned(),
            false => format!("{} kHz where none is said", guess::CLOCK_KHZ),
        };
        self.sources
            .tell("the top clocks that capacities follow from", &assumed);
    }

    fn said_or(&mut self, said: Option<Said<u64>>, what: &str, assumed: u64, unit: &str) -> String {
        match said {
            Some(said) => self.said(&said),
            None => {
                let source = self.sources.assumed(what, &format!("{assumed} {unit}"));
                format!("{{ value = {assumed}, source = \"{source}\" }}")
            }
        }
    }

    fn idle_states(&mut self, key: &str, of_type: &CoreType) {
        let cpu = &of_type.cpu;
        let busy_uw = self.lowest_power(of_type);
        let source = self.sources.assumed(
            "the power of idle states",
            "equal steps below that of the busy core at its lowest clock",
        );
        let mut states = cpu.idle_states.clone();
        if states.is_empty() {
            let name = cpu.kind.idle_state();
            let sentence = self
                .sources
                .lacking("idle states", &format!("`{name}` with a latency of 1 us"));
            states.push(IdleState {
                name: name.to_owned(),
                times: Said::new([0, 1, 1], crate::platform::Place::Assumed(sentence)),
                wakeup_us: None,
                timer_stops: false,
                scope: Scope::Core,
            });
        }
        for (depth, state) in states.iter().enumerate() {
            let power = guess::idle_power_uw(busy_uw, depth, states.len());
            self.idle_state(key, state);
            line!(
                self.body,
                "power_uw = {{ value = {power}, source = \"{source}\" }}"
            );
        }
    }

    fn idle_state(&mut self, key: &str, state: &IdleState) {
        let [entry, exit, residency] = state.times.value;
        line!(self.body, "\n[[core_type.{key}.idle_state]]");
        line!(self.body, "name = {}", quoted(&state.name));
        let source = self.sources.of(&state.times.place);
        line!(self.body, "source = \"{source}\"");
        line!(
            self.body,
            "entry_us = {entry}\nexit_us = {exit}\nresidency_us = {residency}"
        );
        if let Some(wakeup) = state.wakeup_us {
            line!(self.body, "wakeup_us = {wakeup}");
        }
        if state.timer_stops {
            line!(self.body, "timer_stops = true");
        }
        match state.scope {
            Scope::Core => {}
            Scope::Cluster => {
                line!(self.body, "scope = \"cluster\"");
            }
            Scope::Domain => {
                line!(self.body, "scope = \"domain\"");
            }
        }
    }

    /// Power of a busy core of the type at its lowest frequency, uW, as the file will have it.
    fn lowest_power(&self, of_type: &CoreType) -> u64 {
        let clocks = self.settled.clocks.iter();
        let own = clocks.filter(|clock| clock.cpus.value.intersects(&of_type.cpus));
        let power = own.map(|clock| {
            let khz = clock.khz.as_ref().map(|khz| khz.value.as_slice());
            let khz = khz.unwrap_or(&[guess::CLOCK_KHZ]);
            if let Some(power) = &clock.power_uw {
                return power.value.first().copied().unwrap_or(0);
            }
            match (&clock.microvolt, &of_type.cpu.coefficient) {
                (Some(volts), Some(coefficient)) => {
                    let volts = volts.value.first().copied().unwrap_or(0);
                    by_coefficient(coefficient.value, khz[0], volts)
                }
                _ => of_type
                    .cpu
                    .kind
                    .powers_uw(khz)
                    .first()
                    .copied()
                    .unwrap_or(0),
            }
        });
        power.min().unwrap_or(0)
    }
}

/// Power of a core, uW, with whole MHz and mV (Linux 6.5 drivers/opp/of.c, _get_power()).
fn by_coefficient(coefficient: u64, khz: u64, microvolt: u64) -> u64 {
    let (mhz, mv) = (u128::from(khz / 1000), u128::from(microvolt / 1000));
    let power = u128::from(coefficient) * mhz * mv * mv / 1_000_000;
    u64::try_from(power).unwrap_or(u64::MAX)
}
