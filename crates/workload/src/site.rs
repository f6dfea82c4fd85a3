// SPDX-License-Identifier: GPL-2.0-only
//! The machine that a command line runs on, as far as tools look at it.

/// CPUs and NUMA nodes of a machine. Some command lines mean something only on one: a thread for each
/// CPU, the CPUs of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    name: String,
    /// Node of each CPU.
    nodes: Vec<u32>,
}

impl Site {
    /// The machine called `name`, from the NUMA node of each of its CPUs.
    ///
    /// # Panics
    /// In debug builds, without a CPU.
    pub fn new(name: &str, node_of_cpu: impl IntoIterator<Item = u32>) -> Self {
        let nodes: Vec<u32> = node_of_cpu.into_iter().collect();
        debug_assert!(!nodes.is_empty(), "a machine has a CPU");
        Site {
            name: name.to_owned(),
            nodes,
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// All CPUs, in rising order.
    pub(crate) fn cpus(&self) -> Vec<u32> {
        (0..self.nodes.len() as u32).collect()
    }

    /// All nodes, in rising order.
    pub(crate) fn nodes(&self) -> Vec<u32> {
        let mut nodes = self.nodes.clone();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// CPUs of these nodes, in rising order.
    pub(crate) fn cpus_of(&self, nodes: &[u32]) -> Vec<u32> {
        let of_nodes = |cpu: &u32| nodes.contains(&self.nodes[*cpu as usize]);
        self.cpus().into_iter().filter(of_nodes).collect()
    }

    /// `CPUs 0 to 5`, for messages.
    pub(crate) fn extent(&self) -> String {
        match self.nodes.len() {
            1 => "CPU 0".to_owned(),
            cpus => format!("CPUs 0 to {}", cpus - 1),
        }
    }
}
