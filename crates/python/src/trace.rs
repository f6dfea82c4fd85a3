// SPDX-License-Identifier: GPL-2.0-only
//! Events of a run or of a recording.

use std::path::PathBuf;

use alight_frames as frames;
use alight_frames::{NoTable, TaskId, frequency, idle, latency, load, slices, tasks};
use pyo3::prelude::*;

use crate::failure::Failure;
use crate::table::Table;

/// A trace. Its methods are the tables of LISA without their `df_`.
#[pyclass(frozen, module = "alight._alight")]
pub struct Trace(frames::Trace);

impl Trace {
    /// A trace.
    pub fn of(trace: frames::Trace) -> Self {
        Trace(trace)
    }

    fn table(
        &self,
        py: Python<'_>,
        make: impl FnOnce(&frames::Trace) -> Result<frames::Table, NoTable> + Send,
    ) -> PyResult<Table> {
        let table = py.detach(|| make(&self.0));
        Ok(Table::of(table.map_err(Failure::bad_input)?))
    }
}

/// A task by its pid, its name, or both.
#[derive(FromPyObject)]
enum Task {
    Pid(u32),
    Both(Option<u32>, Option<String>),
    Word(String),
}

impl From<Task> for TaskId {
    fn from(task: Task) -> Self {
        match task {
            Task::Pid(pid) => TaskId::pid(pid),
            Task::Both(pid, comm) => TaskId { pid, comm },
            Task::Word(text) => TaskId::parse(&text),
        }
    }
}

#[pymethods]
impl Trace {
    /// The trace of a recording of a workload.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let trace = py.detach(|| frames::Trace::open(&path));
        Ok(Trace(trace.map_err(Failure::bad_input)?))
    }

    /// First and last time, ns.
    fn window(&self) -> (u64, u64) {
        (self.0.window.start, self.0.window.end)
    }

    /// Number of CPUs.
    fn cpus_count(&self) -> usize {
        self.0.cpus()
    }

    /// Thread ids and names of the tasks.
    fn task_ids(&self) -> Vec<(u32, String)> {
        let comms = self.0.known.comms.iter();
        comms.map(|(pid, comm)| (*pid, comm.clone())).collect()
    }

    /// The kinds of events that the source can tell.
    fn available_events(&self) -> Vec<&'static str> {
        self.0.available()
    }

    fn event(&self, py: Python<'_>, name: &str) -> PyResult<Table> {
        self.table(py, |trace| trace.event(name))
    }

    fn slices(&self, py: Python<'_>) -> PyResult<Table> {
        self.table(py, |trace| Ok(slices(trace)))
    }

    fn tasks_states(&self, py: Python<'_>) -> PyResult<Table> {
        self.table(py, tasks::tasks_states)
    }

    fn task_states(&self, py: Python<'_>, task: Task, stringify: bool) -> PyResult<Table> {
        let task = task.into();
        self.table(py, |trace| tasks::task_states(trace, &task, stringify))
    }

    fn tasks_wakeups(&self, py: Python<'_>) -> PyResult<Table> {
        self.table(py, tasks::tasks_wakeups)
    }

    fn top_wakeup(&self, py: Python<'_>, min_wakeups: u64) -> PyResult<Table> {
        self.table(py, |trace| tasks::top_wakeup(trace, min_wakeups))
    }

    fn rt_tasks(&self, py: Python<'_>, min_prio: i32) -> PyResult<Table> {
        self.table(py, |trace| Ok(tasks::rt_tasks(trace, min_prio)))
    }

    fn tasks_runtime(&self, py: Python<'_>) -> PyResult<Table> {
        self.table(py, |trace| Ok(tasks::tasks_runtime(trace)))
    }

    fn task_total_residency(&self, py: Python<'_>, task: Task) -> PyResult<Table> {
        let task = task.into();
        self.table(py, |trace| tasks::task_total_residency(trace, &task))
    }

    fn tasks_total_residency(
        &self,
        py: Python<'_>,
        tasks: Option<Vec<Task>>,
        ascending: bool,
        count: Option<usize>,
    ) -> PyResult<Table> {
        let tasks: Option<Vec<TaskId>> =
            tasks.map(|tasks| tasks.into_iter().map(TaskId::from).collect());
        self.table(py, |trace| {
            tasks::tasks_total_residency(trace, tasks.as_deref(), ascending, count)
        })
    }

    fn task_activation(&self, py: Python<'_>, task: Task, cpu: Option<u32>) -> PyResult<Table> {
        let task = task.into();
        self.table(py, |trace| tasks::task_activation(trace, &task, cpu))
    }

    fn latency_wakeup(&self, py: Python<'_>, task: Task) -> PyResult<Table> {
        let task = task.into();
        self.table(py, |trace| latency::wakeup(trace, &task))
    }

    fn latency_preemption(&self, py: Python<'_>, task: Task) -> PyResult<Table> {
        let task = task.into();
        self.table(py, |trace| latency::preemption(trace, &task))
    }

    fn activations(&self, py: Python<'_>, task: Task) -> PyResult<Table> {
        let task = task.into();
        self.table(py, |trace| latency::activations(trace, &task))
    }

    fn runtimes(&self, py: Python<'_>, task: Task) -> PyResult<Table> {
        let task = task.into();
        self.table(py, |trace| latency::runtimes(trace, &task))
    }

    fn cpus_idle(&self, py: Python<'_>, cpus: Option<Vec<u32>>) -> PyResult<Table> {
        self.table(py, |trace| idle::cpus_idle(trace, cpus.as_deref()))
    }

    fn cpus_wakeups(&self, py: Python<'_>) -> PyResult<Table> {
        self.table(py, idle::cpus_wakeups)
    }

    fn cpu_idle_state_residency(&self, py: Python<'_>, cpu: u32) -> PyResult<Table> {
        self.table(py, |trace| idle::cpu_idle_state_residency(trace, cpu))
    }

    fn cpus_frequency(&self, py: Python<'_>, cpu: Option<u32>) -> PyResult<Table> {
        self.table(py, |trace| frequency::cpus_frequency(trace, cpu))
    }

    fn cpu_frequency_residency(&self, py: Python<'_>, cpu: u32) -> PyResult<Table> {
        self.table(py, |trace| frequency::cpu_frequency_residency(trace, cpu))
    }

    fn cpu_frequency_transitions(&self, py: Python<'_>, cpu: u32) -> PyResult<Table> {
        self.table(py, |trace| frequency::cpu_frequency_transitions(trace, cpu))
    }

    fn cpus_signal(&self, py: Python<'_>, signal: &str, cpus: Option<Vec<u32>>) -> PyResult<Table> {
        self.table(py, |trace| {
            load::cpus_signal(trace, signal, cpus.as_deref())
        })
    }

    fn tasks_signal(&self, py: Python<'_>, signal: &str, task: Option<Task>) -> PyResult<Table> {
        let task = task.map(TaskId::from);
        self.table(py, |trace| load::tasks_signal(trace, signal, task.as_ref()))
    }
}
