// SPDX-License-Identifier: GPL-2.0-only
//! Changes of frequencies that were requested take effect.

use crate::power::cpufreq::Change;
use crate::queues::Queues;

impl Queues<'_> {
    /// The pending change of `domain` is due.
    pub fn cpufreq_event(&mut self, domain: usize) {
        match self.cpufreq_due(domain) {
            Change::None => {}
            Change::Woken { cpu } => self.sugov_work(domain, cpu as usize),
            Change::Switching { opp, again } => {
                self.set_opp(domain, opp);
                if let Some(cpu) = again {
                    self.request(cpu as usize, domain);
                }
            }
        }
    }

    /// The frequency of `domain` changes now.
    fn set_opp(&mut self, domain: usize, opp: u32) {
        if opp == self.opp_index(domain) {
            return;
        }
        let machine = self.machine;
        for cpu in machine.freq_domains[domain].cpus.iter() {
            self.clock(cpu);
        }
        self.opp_changed(domain, opp);
    }
}
