// SPDX-License-Identifier: GPL-2.0-only
//! Which task runs next on each CPU: the fair class, its groups, and the classes before it.

use crate::kernel::tunables::Order;
pub(crate) mod attributes;
pub(crate) mod cache_aware;
pub(crate) mod clamps;
pub(crate) mod classes;
pub(crate) mod clock;
pub(crate) mod fair;
pub(crate) mod signals_2013;

use crate::base::layer::stands_on;
use crate::power::Power;
use crate::queues::cache_aware::CacheAware;
use crate::queues::classes::Classes;
use crate::queues::fair::{Eevdf, Groups};

/// Which task runs next on each CPU: the fair class, its groups, and the classes before it.
#[repr(C)]
pub(crate) struct Queues<'a> {
    pub power: Power<'a>,
    /// The classes above the fair one.
    classes: Classes,
    eevdf: Eevdf,
    groups: Groups,
    /// Cache preferences of processes, and queued tasks counted by preference.
    pub cache_aware: CacheAware,
    /// The queues keep the load signals of 2013, for the feature pack.
    signals_2013: bool,
}

stands_on!(Queues on Power: power);

impl<'a> Queues<'a> {
    /// Empty queues.
    pub fn new(power: Power<'a>, classes: Classes, groups: Groups) -> Self {
        let (nr_cpus, entities) = (power.cpus.len(), power.tasks.len());
        let eevdf = match power.tunables.order {
            Order::Cfs => Eevdf::new(0, 0),
            Order::Eevdf => Eevdf::new(nr_cpus + groups.entities(), entities),
        };
        Queues {
            power,
            classes,
            eevdf,
            groups,
            cache_aware: CacheAware::default(),
            signals_2013: false,
        }
    }

    /// Has some task a class above the fair one?
    #[inline]
    pub fn has_classes(&self) -> bool {
        self.classes.used
    }

    /// Does a server keep time for fair tasks?
    #[inline]
    pub fn has_servers(&self) -> bool {
        self.classes.served
    }

    /// Why the kernel refused what a task asked for, if it did.
    pub fn take_refusal(&mut self) -> Option<String> {
        self.classes.refusal.take()
    }

    /// Are tasks in groups?
    #[inline]
    pub fn has_groups(&self) -> bool {
        self.groups.used
    }

    /// Turns the pair of load signals of 2013 on or off.
    pub fn keep_signals_2013(&mut self, keep: bool) {
        self.signals_2013 = keep;
    }
}
