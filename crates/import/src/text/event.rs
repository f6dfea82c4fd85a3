// SPDX-License-Identifier: GPL-2.0-only
//! The fields of an event as text, as the kernel, perf and trace-cmd print them.

use alight_recording::workload::{Interrupt, Left, What};

use super::line::Line;
use crate::decode::{Circumstances, InterruptKind, cpu, prio};
use crate::item::{Body, Item};
use crate::names::Names;
use crate::pids::checked;
use crate::states::States;
use crate::tracepoints::{Kind, by_name};

/// The event of a line; `None` if nothing of it is imported.
///
/// # Errors
/// A field that is needed is missing or is not of its kind.
pub(crate) fn item(
    line: &Line,
    names: &mut Names,
    yield_call: Option<u64>,
) -> Result<Option<Item>, String> {
    let Some(known) = by_name(line.event) else {
        return Ok(None);
    };
    let fields = Fields { line };
    let mut item = Item {
        time: line.time,
        cpu: line.cpu,
        body: Body::Named { pid: line.pid },
        names: [0; 2],
    };
    let what = match known.kind {
        Kind::Switch => fields.switch(&mut item, names)?,
        Kind::Waking | Kind::Wakeup | Kind::WakeupNew => {
            fields.wakeup(known.kind, &mut item, names)?
        }
        Kind::Migrate => {
            let pid = fields.pid("pid")?;
            item.names[0] = names.of(pid, fields.text("comm", " pid=")?.as_bytes());
            What::Migrate {
                pid,
                prio: fields.prio("prio")?,
                from_cpu: fields.cpu("orig_cpu")?,
                to_cpu: fields.cpu("dest_cpu")?,
            }
        }
        Kind::Fork => fields.fork(&mut item, names)?,
        Kind::NewTask => {
            let child = fields.pid("pid")?;
            item.names[1] = names.of(child, fields.text("comm", " clone_flags=")?.as_bytes());
            What::Fork {
                parent: line.pid,
                child,
            }
        }
        Kind::Exit => {
            let pid = fields.pid("pid")?;
            item.names[0] = names.of(pid, fields.text("comm", " pid=")?.as_bytes());
            What::Exit { pid }
        }
        Kind::Yield => What::Yield { pid: line.pid },
        Kind::Call => {
            let number = fields.number("id").or_else(|_| fields.behind("NR "))?;
            if Some(number) != yield_call {
                return Ok(None);
            }
            What::Yield { pid: line.pid }
        }
        kind => match fields.of_cpu(kind, &mut item)? {
            Some(what) => what,
            None => return Ok(None),
        },
    };
    item.body = Body::What(what);
    Ok(Some(item))
}

struct Fields<'a> {
    line: &'a Line<'a>,
}

impl<'a> Fields<'a> {
    /// The text behind `key=`.
    fn rest(&self, key: &str) -> Option<&'a str> {
        let fields = self.line.fields;
        let places = fields.match_indices(key);
        places.map(|(at, _)| at).find_map(|at| {
            let first = at == 0 || fields.as_bytes()[at - 1] == b' ';
            let rest = fields[at + key.len()..].strip_prefix('=')?;
            first.then_some(rest)
        })
    }

    fn missing(&self, key: &str) -> String {
        format!(
            "{} has no field '{key}': '{}'",
            self.line.event,
            alight_text::line(self.line.fields)
        )
    }

    /// A name, up to what stands behind it.
    fn text(&self, key: &str, before: &str) -> Result<&'a str, String> {
        let rest = self.rest(key).ok_or_else(|| self.missing(key))?;
        Ok(rest.split(before).next().unwrap_or(rest))
    }

    fn word(&self, key: &str) -> Result<&'a str, String> {
        let rest = self.rest(key).ok_or_else(|| self.missing(key))?;
        Ok(rest.split_whitespace().next().unwrap_or(""))
    }

    /// A number, decimal or hexadecimal.
    fn number(&self, key: &str) -> Result<u64, String> {
        let word = self.word(key)?;
        number(word).ok_or_else(|| {
            format!(
                "the field '{key}' of {} is '{word}', expected a number",
                self.line.event
            )
        })
    }

    fn behind(&self, text: &str) -> Result<u64, String> {
        let rest = self.line.fields.split(text).nth(1).unwrap_or("");
        let word = rest.split_whitespace().next().unwrap_or("");
        number(word).ok_or_else(|| self.missing(text))
    }

    fn pid(&self, key: &str) -> Result<u32, String> {
        checked(self.number(key)?, key)
    }

    fn prio(&self, key: &str) -> Result<u16, String> {
        prio(self.number(key)?, key)
    }

    fn cpu(&self, key: &str) -> Result<u16, String> {
        cpu(self.number(key)?, key)
    }

    fn switch(&self, item: &mut Item, names: &mut Names) -> Result<What, String> {
        if self.rest("prev_pid").is_none() {
            return self.switch_of_trace_cmd(item, names);
        }
        let (prev, next) = (self.pid("prev_pid")?, self.pid("next_pid")?);
        item.names = [
            names.of(prev, self.text("prev_comm", " prev_pid=")?.as_bytes()),
            names.of(next, self.text("next_comm", " next_pid=")?.as_bytes()),
        ];
        Ok(What::Switch {
            prev,
            prev_prio: self.prio("prev_prio")?,
            left: left(self.word("prev_state")?)?,
            next,
            next_prio: self.prio("next_prio")?,
        })
    }

    /// `bash:12 [120] S ==> swapper/0:0 [120]`
    fn switch_of_trace_cmd(&self, item: &mut Item, names: &mut Names) -> Result<What, String> {
        let wrong = || self.missing("prev_pid");
        let (from, to) = self.line.fields.split_once(" ==> ").ok_or_else(wrong)?;
        let (from, state) = from.rsplit_once(' ').ok_or_else(wrong)?;
        let (prev, next) = (task(from).ok_or_else(wrong)?, task(to).ok_or_else(wrong)?);
        let pids = (checked(prev.1, "prev_pid")?, checked(next.1, "next_pid")?);
        item.names = [
            names.of(pids.0, prev.0.as_bytes()),
            names.of(pids.1, next.0.as_bytes()),
        ];
        Ok(What::Switch {
            prev: pids.0,
            prev_prio: prio(prev.2, "prev_prio")?,
            left: left(state)?,
            next: pids.1,
            next_prio: prio(next.2, "next_prio")?,
        })
    }

    fn wakeup(&self, kind: Kind, item: &mut Item, names: &mut Names) -> Result<What, String> {
        let (comm, pid, prio, cpu) = if self.rest("pid").is_some() {
            let pid = self.pid("pid")?;
            let comm = self.text("comm", " pid=")?;
            (comm, pid, self.prio("prio")?, self.cpu("target_cpu")?)
        } else {
            // `bash:12 [120] CPU:003`
            let wrong = || self.missing("pid");
            let (woken, rest) = self.line.fields.split_once(']').ok_or_else(wrong)?;
            let (comm, pid, level) = task(&format!("{woken}]"))
                .map(|(comm, pid, prio)| (&woken[..comm.len()], pid, prio))
                .ok_or_else(wrong)?;
            let target = rest.split("CPU:").nth(1).ok_or_else(wrong)?;
            let target = target
                .split_whitespace()
                .next()
                .and_then(number)
                .ok_or_else(wrong)?;
            (
                comm,
                checked(pid, "pid")?,
                prio(level, "prio")?,
                cpu(target, "target_cpu")?,
            )
        };
        item.names[0] = names.of(pid, comm.as_bytes());
        Ok(match kind {
            Kind::Waking => What::Waking {
                pid,
                prio,
                current: self.line.pid,
                prev_cpu: cpu,
                context: self.line.context,
                sync: None,
            },
            _ => kind.queues(pid, prio, cpu),
        })
    }

    /// `comm=a pid=1 child_comm=b child_pid=2`; raw with `parent_comm` and `parent_pid`.
    fn fork(&self, item: &mut Item, names: &mut Names) -> Result<What, String> {
        let raw = self.rest("parent_pid").is_some();
        let (parent, comm) = match raw {
            true => (
                self.pid("parent_pid")?,
                self.text("parent_comm", " parent_pid=")?,
            ),
            false => (self.pid("pid")?, self.text("comm", " pid=")?),
        };
        let child = self.pid("child_pid")?;
        item.names = [
            names.of(parent, comm.as_bytes()),
            names.of(child, self.text("child_comm", " child_pid=")?.as_bytes()),
        ];
        Ok(What::Fork { parent, child })
    }

    fn of_cpu(&self, kind: Kind, item: &mut Item) -> Result<Option<What>, String> {
        Ok(Some(match kind {
            Kind::Frequency => What::Frequency {
                khz: self.number("state")? as u32,
                of_cpu: self.cpu("cpu_id")?,
            },
            Kind::Idle => {
                item.cpu = self.cpu("cpu_id")?;
                let state = self.number("state")? as u32;
                What::Idle {
                    state: (state != u32::MAX).then_some(state),
                }
            }
            Kind::Hotplug => {
                // `cpu: 0003 target:   0`; raw `cpu=3 target=0`.
                let number = |key: &str| {
                    self.number(key)
                        .or_else(|_| self.behind(&format!("{key}: ")))
                };
                item.cpu = cpu(number("cpu")?, "cpu")?;
                What::Hotplug {
                    online: number("target")? != 0,
                }
            }
            Kind::Begin(kind) => What::InterruptBegin {
                interrupt: self.interrupt(kind)?,
                late_ns: 0,
            },
            Kind::End(kind) => What::InterruptEnd {
                interrupt: self.interrupt(kind)?,
            },
            _ => return Ok(None),
        }))
    }

    fn interrupt(&self, kind: InterruptKind) -> Result<Interrupt, String> {
        let number = match kind {
            InterruptKind::Device => self.number("irq")?,
            InterruptKind::Softirq => self.number("vec")?,
            InterruptKind::Ipi => self.number("vector").unwrap_or(0),
            InterruptKind::Hrtimer | InterruptKind::Timer => {
                // A name, or an address where the kernel's names were not at hand.
                let function = self.word("function").unwrap_or("");
                let name = function.split('/').next().unwrap_or("");
                if kind == InterruptKind::Hrtimer && crate::tracing::is_tick(name) {
                    return Ok(Interrupt::Tick);
                }
                number(function).unwrap_or(0)
            }
        };
        Ok(kind.with(number, &Circumstances::default()))
    }
}

/// `bash:12 [120]`: name, number, priority.
fn task(text: &str) -> Option<(&str, u64, u64)> {
    let (task, prio) = text.trim().strip_suffix(']')?.rsplit_once(" [")?;
    let (comm, pid) = task.rsplit_once(':')?;
    Some((comm, number(pid)?, number(prio)?))
}

/// Letters, or the bits of kernels since 4.14.
fn left(state: &str) -> Result<Left, String> {
    match number(state) {
        Some(bits) => Ok(States::new().left(bits)),
        None => States::of_letters(state)
            .ok_or_else(|| format!("prev_state is '{state}', expected letters such as S or R+")),
    }
}

/// A number, decimal or hexadecimal; a negative one has its bits above extended.
fn number(text: &str) -> Option<u64> {
    let text = text.trim_end_matches([',', ';', ')']);
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok();
    }
    match text.strip_prefix('-') {
        Some(digits) => Some(0u64.wrapping_sub(digits.parse().ok()?)),
        None => text.parse().ok(),
    }
}
