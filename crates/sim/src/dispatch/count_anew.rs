// SPDX-License-Identifier: GPL-2.0-only
//! Restarts the counts in the middle of a run (`--count-from`).

use crate::base::treap::NONE;
use crate::program::Programs;
use crate::world::state::Life;

impl Programs<'_> {
    /// Restarts the counts: the metrics of mechanisms and meters cover the time from now on. The
    /// workloads' own measurements go on. State that decisions read is not changed.
    pub fn count_anew(&mut self) {
        if let Some(explainer) = self.explainer() {
            explainer.count_anew();
        }
        self.power_counts_anew();
        let now = self.now;
        for cpu in 0..self.cpus.len() {
            let busy_ns = self.busy_ns(cpu);
            let c = &mut self.cpus[cpu];
            c.stats.busy_from = busy_ns;
            c.stats.runnable_ns = 0;
            c.stats.runnable_since = now;
            c.stats.offline_ns = 0;
            c.stats.offline_since = now;
        }
        self.count_cpu_time_anew();
        self.forget_counts();
        self.balance_counts_anew();
        (
            self.hotplug.moved,
            self.hotplug.broken,
            self.hotplug.refused,
        ) = (0, 0, 0);
        self.counting.begins_anew(now);
        for id in 0..self.counting.places.len() {
            let lives = matches!(
                self.tasks[id].life,
                Life::Runnable | Life::Asleep | Life::Waking
            );
            let cpu = self.views[id].prev_cpu as usize;
            let home = if lives { self.cpus[cpu].cluster } else { NONE };
            let ran = self.ran_ns(id);
            self.counting.places[id].begins_anew(home, ran);
        }
    }
}
