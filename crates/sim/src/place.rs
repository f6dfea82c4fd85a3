// SPDX-License-Identifier: GPL-2.0-only
//! Which CPU a waking task goes to, and why.

pub(crate) mod explain;
pub(crate) mod wakeup;

use crate::base::layer::stands_on;
use crate::place::explain::Explainer;
use crate::queues::Queues;

/// Which CPU a waking task goes to.
#[repr(C)]
pub(crate) struct Place<'a> {
    pub queues: Queues<'a>,
    /// Explains decisions, if it is set.
    explainer: Option<Box<Explainer>>,
}

stands_on!(Place on Queues: queues);

impl<'a> Place<'a> {
    /// No decision is explained yet.
    pub fn new(queues: Queues<'a>) -> Self {
        Place {
            queues,
            explainer: None,
        }
    }

    /// Decisions are explained from now on.
    pub fn explain_by(&mut self, explainer: Explainer) {
        self.explainer = Some(Box::new(explainer));
    }

    /// The explainer, if decisions are explained.
    pub fn explainer(&mut self) -> &mut Option<Box<Explainer>> {
        &mut self.explainer
    }
}
