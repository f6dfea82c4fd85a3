// SPDX-License-Identifier: GPL-2.0-only
//! ftrace text: a line an event, formatted as the kernel's `trace` file or raw as `trace-cmd report -R`.
//!
//! Both carry nanoseconds (nine digits, as `trace-cmd report -t`): microseconds would make one instant of several.
//! The formatted style has the thread group column (`options/record-tgid`) and four dots in place of the interrupt
//! flags, which a simulation does not have; readers refuse the column with digits or leave out.
//! Names are words here: white space in them would break every reader that splits lines at spaces.

use std::io;

use crate::event::{CpuCounter, Event, TaskRef};
use crate::header::TraceHeader;
use crate::inline_bytes::InlineBytes;
use crate::tasks::{TaskName, TaskTable};

const NS_PER_S: u64 = 1_000_000_000;

/// `cpu_idle`'s state at the exit: `PWR_EVENT_EXIT`, -1 as the kernel prints it.
const PWR_EVENT_EXIT: u32 = u32::MAX;

/// How fields are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Through the format strings of include/trace/events: `==>`, letters for states.
    Formatted,
    /// Field by field, states as numbers.
    Raw,
}

/// A task as it appears in lines; sizes follow from 15 bytes of comm and 7 digits of pid.
struct Labels {
    /// `comm-pid (tgid)` at the start of a line.
    head: InlineBytes<48>,
    /// `comm=… pid=…`
    task: InlineBytes<48>,
    /// `prev_comm=… prev_pid=…`
    prev: InlineBytes<48>,
    /// `next_comm=… next_pid=…`
    next: InlineBytes<48>,
    /// `child_comm=… child_pid=…`
    child: InlineBytes<48>,
}

/// Turns events into lines.
pub(crate) struct FtraceEncoder {
    style: Style,
    tasks: TaskTable<Labels>,
    /// `[003] .... ` of each CPU.
    cpus: Vec<InlineBytes<32>>,
    /// The second of `second_text`.
    second: u64,
    /// The seconds of the last line, with padding and point.
    second_text: InlineBytes<32>,
}

impl FtraceEncoder {
    /// Renders every name of the header and writes the lines that come before the events.
    pub(crate) fn new(header: &TraceHeader, style: Style, out: &mut Vec<u8>) -> Self {
        write_prologue(header, style, out);
        let cpu = |cpu: usize| match style {
            Style::Formatted => format!("[{cpu:03}] .... "),
            Style::Raw => format!("[{cpu:03}] "),
        };
        Self {
            style,
            tasks: TaskTable::new(header, |name| Labels::new(name, style)),
            cpus: (0..header.cpus.len())
                .map(|number| InlineBytes::new(cpu(number).as_bytes()))
                .collect(),
            second: 0,
            second_text: second_text(0),
        }
    }

    /// Appends the line of one event.
    ///
    /// # Errors
    /// `InvalidInput` for a pid that the header does not list; the line may be begun then.
    pub(crate) fn event(
        &mut self,
        time_ns: u64,
        cpu: u32,
        event: Event<'_>,
        out: &mut Vec<u8>,
    ) -> io::Result<()> {
        self.head(time_ns, cpu, &event, out)?;
        match event {
            Event::Switch {
                prev,
                prev_state,
                next,
            } => {
                text(out, b"sched_switch: ");
                text(out, self.tasks.label(prev.pid, cpu)?.prev.as_slice());
                number(out, b" prev_prio=", prev.prio);
                match self.style {
                    Style::Formatted => {
                        text(out, b" prev_state=");
                        text(out, prev_state.letters().as_bytes());
                        text(out, b" ==> ");
                    }
                    Style::Raw => {
                        number(out, b" prev_state=", prev_state.raw());
                        text(out, b" ");
                    }
                }
                text(out, self.tasks.label(next.pid, cpu)?.next.as_slice());
                number(out, b" next_prio=", next.prio);
                self.tasks.set_current(cpu, next.pid);
            }
            Event::Waking { task, target_cpu } => {
                self.wakeup(b"sched_waking: ", cpu, task, target_cpu, out)?
            }
            Event::Wakeup { task, target_cpu } => {
                self.wakeup(b"sched_wakeup: ", cpu, task, target_cpu, out)?
            }
            Event::WakeupNew { task, target_cpu } => {
                self.wakeup(b"sched_wakeup_new: ", cpu, task, target_cpu, out)?
            }
            Event::Migrate {
                task,
                orig_cpu,
                dest_cpu,
            } => {
                text(out, b"sched_migrate_task: ");
                self.task(cpu, task, out)?;
                number(out, b" orig_cpu=", orig_cpu);
                number(out, b" dest_cpu=", dest_cpu);
            }
            Event::IdleEnter { state } => of_cpu(out, b"cpu_idle: state=", state, cpu),
            Event::IdleExit => of_cpu(out, b"cpu_idle: state=", PWR_EVENT_EXIT, cpu),
            Event::Frequency { khz } => of_cpu(out, b"cpu_frequency: state=", khz, cpu),
            Event::Fork { parent, child } => {
                let parent_prefix: &[u8] = match self.style {
                    Style::Formatted => b"",
                    Style::Raw => b"parent_",
                };
                text(out, b"sched_process_fork: ");
                let parent = self.tasks.label(parent.pid, cpu)?.task.as_slice();
                let (comm, pid) = split_label(parent);
                for part in [parent_prefix, comm, parent_prefix, pid, b" "] {
                    text(out, part);
                }
                text(out, self.tasks.label(child.pid, cpu)?.child.as_slice());
            }
            Event::Exit { task } => {
                text(out, b"sched_process_exit: ");
                self.task(cpu, task, out)?;
            }
            Event::Print { text: marker, .. } => {
                let name: &[u8] = match self.style {
                    Style::Formatted => b"tracing_mark_write: ",
                    Style::Raw => b"print: tracing_mark_write: ",
                };
                text(out, name);
                put(out, marker.trim_end_matches('\n').chars().map(line_char));
            }
            Event::Decision {
                task,
                prev_cpu,
                cpu: chosen,
                step,
                scanned,
            } => {
                text(out, b"alight_decision: ");
                text(out, self.tasks.label(task.pid, cpu)?.task.as_slice());
                number(out, b" prev_cpu=", prev_cpu);
                number(out, b" cpu=", chosen);
                text(out, b" step=");
                put(out, step.chars().map(word_char));
                number(out, b" scanned=", scanned);
            }
            Event::CpuCounter { counter, value } => {
                text(
                    out,
                    match counter {
                        CpuCounter::UtilAvg => b"alight_util_avg: cpu=",
                        CpuCounter::NrRunning => b"alight_nr_running: cpu=",
                        CpuCounter::Capacity => b"alight_capacity: cpu=",
                    },
                );
                number(out, b"", cpu);
                text(out, b" ");
                text(out, counter.name().as_bytes());
                number(out, b"=", value);
            }
        }
        text(out, b"\n");
        Ok(())
    }

    /// The start of a line: the task in whose context the event happens, CPU, time.
    fn head(
        &mut self,
        time_ns: u64,
        cpu: u32,
        event: &Event<'_>,
        out: &mut Vec<u8>,
    ) -> io::Result<()> {
        let pid = match event {
            Event::Switch { prev, .. } => prev.pid,
            Event::Print { task, .. } => task.pid,
            _ => self.tasks.current(cpu),
        };
        text(out, self.tasks.label(pid, cpu)?.head.as_slice());
        text(out, self.cpus[cpu as usize].as_slice());
        let second = time_ns / NS_PER_S;
        if second != self.second {
            self.second = second;
            self.second_text = second_text(second);
        }
        text(out, self.second_text.as_slice());
        // The leading 1 keeps the zeros of the nine digits.
        let mut digits = itoa::Buffer::new();
        text(
            out,
            &digits.format(NS_PER_S + time_ns % NS_PER_S).as_bytes()[1..],
        );
        text(out, b": ");
        Ok(())
    }

    fn task(&self, cpu: u32, task: TaskRef, out: &mut Vec<u8>) -> io::Result<()> {
        text(out, self.tasks.label(task.pid, cpu)?.task.as_slice());
        number(out, b" prio=", task.prio);
        Ok(())
    }

    fn wakeup(
        &self,
        name: &[u8],
        cpu: u32,
        task: TaskRef,
        target_cpu: u32,
        out: &mut Vec<u8>,
    ) -> io::Result<()> {
        text(out, name);
        self.task(cpu, task, out)?;
        let before: &[u8] = match (self.style, target_cpu) {
            // A field of older kernels, always 1; LISA takes a record without it for a failed wakeup.
            (Style::Raw, _) => b" success=1 target_cpu=",
            // `%03d` in the format string.
            (Style::Formatted, 0..=9) => b" target_cpu=00",
            (Style::Formatted, 10..=99) => b" target_cpu=0",
            (Style::Formatted, _) => b" target_cpu=",
        };
        number(out, before, target_cpu);
        Ok(())
    }
}

impl Labels {
    fn new(name: &TaskName<'_>, style: Style) -> Self {
        let pid = name.pid;
        let comm: String = name.comm.chars().map(word_char).collect();
        let shown = if pid == 0 { "<idle>" } else { comm.as_str() };
        let head = match (style, name.tgid) {
            (Style::Formatted, 0) => format!("{shown:>16}-{pid:<7} (-------) "),
            (Style::Formatted, tgid) => format!("{shown:>16}-{pid:<7} ({tgid:7}) "),
            (Style::Raw, _) => format!("{shown:>16}-{pid:<5} "),
        };
        let pair = |prefix: &str| {
            InlineBytes::new(format!("{prefix}comm={comm} {prefix}pid={pid}").as_bytes())
        };
        Self {
            head: InlineBytes::new(head.as_bytes()),
            task: pair(""),
            prev: pair("prev_"),
            next: pair("next_"),
            child: pair("child_"),
        }
    }
}

/// `comm=… ` and `pid=…` of a task's label; a comm has no space here.
fn split_label(label: &[u8]) -> (&[u8], &[u8]) {
    let space = label
        .iter()
        .position(|&byte| byte == b' ')
        .map_or(label.len(), |at| at + 1);
    label.split_at(space)
}

/// A character of a name that must stay one word on one line, and do no harm where that is shown.
fn word_char(c: char) -> char {
    match c.is_whitespace() || alight_text::does_harm(c) {
        true => '_',
        false => c,
    }
}

/// A character of a text that must stay on one line, and do no harm where that is shown.
fn line_char(c: char) -> char {
    match c.is_control() || alight_text::does_harm(c) {
        true => ' ',
        false => c,
    }
}

/// Appends characters; allocates nothing.
fn put(out: &mut Vec<u8>, chars: impl Iterator<Item = char>) {
    for c in chars {
        text(out, c.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

/// The seconds at the kernel's five digits or more, and the point.
fn second_text(second: u64) -> InlineBytes<32> {
    let mut digits = itoa::Buffer::new();
    let digits = digits.format(second).as_bytes();
    let width = digits.len().max(5);
    let mut text = [b' '; 32];
    text[width - digits.len()..width].copy_from_slice(digits);
    text[width] = b'.';
    InlineBytes::new(&text[..=width])
}

fn text(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(bytes);
}

fn number(out: &mut Vec<u8>, before: &[u8], value: impl itoa::Integer) {
    out.extend_from_slice(before);
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Events of the power group: a state and the CPU that it is of.
fn of_cpu(out: &mut Vec<u8>, before: &[u8], state: u32, cpu: u32) {
    number(out, before, state);
    number(out, b" cpu_id=", cpu);
}

fn write_prologue(header: &TraceHeader, style: Style, out: &mut Vec<u8>) {
    let line = |label: &str, value: &str| {
        let value: String = value.chars().map(line_char).collect();
        format!("# alight {label}: {value}\n")
    };
    // What readers recognise the file by comes first.
    match style {
        Style::Formatted => text(out, b"# tracer: nop\n#\n"),
        Style::Raw => text(out, format!("cpus={}\n", header.cpus.len()).as_bytes()),
    }
    for (label, value) in [
        ("machine", header.machine.as_str()),
        ("scheduler", &header.scheduler),
        ("seed", &header.seed.to_string()),
        ("command", &header.command),
    ] {
        text(out, line(label, value).as_bytes());
    }
    if style == Style::Formatted {
        text(
            out,
            b"#\n#           TASK-PID        TGID    CPU#  ||||      TIMESTAMP  FUNCTION\n",
        );
        text(
            out,
            b"#              | |            |       |   ||||          |         |\n",
        );
    }
}
