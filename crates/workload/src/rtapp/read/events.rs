// SPDX-License-Identifier: GPL-2.0-only
//! Events: keys that begin with the name of one, in the order of the file
//! (`parse_task_event_data()`).

use super::super::json::{Kind, Member, Value};
use super::super::model::{Action, Event, FOR_EVER};
use super::fields::{self, Fields};
use super::{NS_PER_US, Reader};
use crate::diagnostic::{Place, Refusal};
use crate::load::Mode;
use crate::program::TimerMode;
use std::collections::BTreeMap;

/// The first that a key begins with says what it is: longer names stand before their beginnings.
pub(super) const EVENTS: &[&str] = &[
    "runtime", "run", "sleep", "memrun", "mem", "iorun", "lock", "unlock", "signal", "broad",
    "wait", "sync", "barrier", "timer", "resume", "suspend", "yield", "fork", "sem_post",
    "sem_wait",
];
/// Name that rt-app gives to what has none.
const UNNAMED: &str = "unknown";
const DEFAULT_STRIDE: i32 = 64;
/// What rt-app does with a negative time on a 64-bit machine: it makes an `unsigned long` of it.
const SLEEPS_FOR_EVER: &str = "sleeps for ever there";

/// Whether rt-app takes a key for an event.
pub(super) fn is_event(key: &str) -> bool {
    event_name(key).is_some()
}

fn event_name(key: &str) -> Option<&'static str> {
    EVENTS.iter().copied().find(|name| key.starts_with(name))
}

/// Buffers that `memrun` events share by `ref`: all users must want the same.
#[derive(Default)]
pub(super) struct MemoryBuffers {
    shared: BTreeMap<(String, String), (MemoryShape, Place)>,
}

/// Size, stride, and whether the order is random.
type MemoryShape = (i32, i32, bool);

impl Reader<'_> {
    /// The events among `members`. `place` is that of the phase.
    pub(super) fn events(
        &mut self,
        members: &[Member],
        place: Place,
        task: &str,
    ) -> Result<Vec<Event>, Refusal> {
        let mut events = Vec::new();
        for member in members {
            if let Some(name) = event_name(&member.key) {
                let action = self.action(name, member, task)?;
                events.extend(action.map(|action| Event {
                    place: member.place,
                    action,
                }));
            }
        }
        let has_events = members.iter().any(|m| is_event(&m.key));
        if !has_events {
            return Err(Refusal::new(
                place,
                "there is no event here, and rt-app wants at least one; add one such as \"run\": 1000",
            ));
        }
        Ok(events)
    }

    /// `None` if the event does nothing.
    fn action(
        &mut self,
        name: &str,
        member: &Member,
        task: &str,
    ) -> Result<Option<Action>, Refusal> {
        let text = || string(member);
        Ok(Some(match name {
            "run" => Action::Run {
                ns: times(self.amount(member, "us")?, NS_PER_US),
            },
            "runtime" => Action::RunWall {
                ns: self.time_us(member, "runs for 32 us")?.unwrap_or(0) * NS_PER_US,
            },
            "sleep" => Action::Sleep {
                ns: (self.time_us(member, SLEEPS_FOR_EVER)?).map_or(FOR_EVER, |us| us * NS_PER_US),
            },
            "mem" => Action::Memory {
                bytes: self.through_buffer(member)?,
                buffer: self.mem_buffer_size,
            },
            "iorun" => Action::Io {
                bytes: self.through_buffer(member)?,
            },
            "memrun" => return self.memrun(member),
            "timer" => self.timer(member)?,
            "lock" => Action::Lock { mutex: text()? },
            "unlock" => Action::Unlock { mutex: text()? },
            "signal" => Action::Signal { condition: text()? },
            "broad" => Action::Broadcast { condition: text()? },
            "wait" => {
                let (condition, mutex) = self.condition(member)?;
                Action::Wait { condition, mutex }
            }
            "sync" => {
                let (condition, mutex) = self.condition(member)?;
                Action::Sync { condition, mutex }
            }
            "barrier" => Action::Barrier { name: text()? },
            "resume" => Action::Resume { name: text()? },
            "suspend" => self.suspend(member, task),
            "yield" => Action::Yield,
            "fork" => Action::Fork { task: text()? },
            "sem_post" => Action::SemPost { semaphore: text()? },
            _ => Action::SemWait { semaphore: text()? },
        }))
    }

    /// An amount of work. rt-app takes a negative one for an enormous one (`int` to `unsigned long`),
    /// and so do its users: `"run": -1` is how they write a hog.
    fn amount(&mut self, member: &Member, unit: &str) -> Result<u64, Refusal> {
        let number = self.int(member, unit)?;
        Ok(self.amount_of(number, &member.key, unit, member.value.place))
    }

    fn amount_of(&mut self, number: i32, key: &str, unit: &str, place: Place) -> u64 {
        u64::try_from(number).unwrap_or_else(|_| {
            let then = match self.mode {
                Mode::Workgen => "",
                Mode::Rtapp => "; rt-app does not end at its `duration` either, because it waits for this thread",
            };
            self.remarks.warn(
                place,
                format!("`{key}` is {number} {unit}: the thread goes on with it for ever{then}"),
            );
            FOR_EVER
        })
    }

    /// Bytes of an event that goes through the buffer of the thread, `mem_buffer_size` bytes at a time.
    fn through_buffer(&mut self, member: &Member) -> Result<u64, Refusal> {
        let bytes = self.amount(member, "bytes")?;
        if bytes != 0 && self.mem_buffer_size == 0 {
            return Err(Refusal::new(
                member.place,
                format!(
                    "`{}` needs a buffer, and `mem_buffer_size` leaves it none: rt-app crashes or never ends; write 1 byte or more",
                    member.key
                ),
            ));
        }
        Ok(bytes)
    }

    /// A time; `None` if it is negative, which only [`Mode::Rtapp`] takes.
    fn time_us(&mut self, member: &Member, then: &str) -> Result<Option<u64>, Refusal> {
        let us = self.int(member, "us")?;
        self.time_of(us, &member.key, then, member.value.place)
    }

    fn time_of(
        &mut self,
        us: i32,
        key: &str,
        then: &str,
        place: Place,
    ) -> Result<Option<u64>, Refusal> {
        match (u64::try_from(us), self.mode) {
            (Ok(us), _) => Ok(Some(us)),
            (Err(_), Mode::Rtapp) => {
                self.remarks
                    .warn(place, format!("`{key}` is {us} us; rt-app {then}"));
                Ok(None)
            }
            (Err(_), Mode::Workgen) => Err(Refusal::new(
                place,
                format!("`{key}` is {us} us, expected 0 or more"),
            )),
        }
    }

    fn int(&mut self, member: &Member, unit: &str) -> Result<i32, Refusal> {
        match member.value.kind {
            Kind::Int(_) => Ok(fields::clamped(&member.key, &member.value, self.remarks)),
            _ => Err(mismatch(member, &format!("a whole number of {unit}"))),
        }
    }

    /// Fields of an event's object. Anything else has none, and rt-app then takes the defaults.
    fn event_fields<'v>(&mut self, member: &'v Member, known: &[&str]) -> Fields<'v> {
        match &member.value.kind {
            Kind::Object(members) => {
                let of = format!("`{}`", member.key);
                self.note_ignored(members, &[known], &of);
                Fields::new(members, self.mode)
            }
            other => {
                self.remarks.warn(
                    member.value.place,
                    format!(
                        "`{}` is {}, and rt-app reads nothing from it; write an object with `{}`",
                        member.key,
                        other.describe(),
                        known.join("`, `")
                    ),
                );
                Fields::new(&[], self.mode)
            }
        }
    }

    fn name_field(
        &mut self,
        fields: &Fields,
        key: &str,
        member: &Member,
    ) -> Result<String, Refusal> {
        match fields.string(key)? {
            Some(name) => Ok(name.text.to_owned()),
            None => {
                self.remarks.warn(
                    member.place,
                    format!(
                        "`{}` has no `{key}`; rt-app takes `{UNNAMED}` for all events without one",
                        member.key
                    ),
                );
                Ok(UNNAMED.to_owned())
            }
        }
    }

    fn condition(&mut self, member: &Member) -> Result<(String, String), Refusal> {
        let fields = self.event_fields(member, &["ref", "mutex"]);
        let condition = self.name_field(&fields, "ref", member)?;
        let mutex = self.name_field(&fields, "mutex", member)?;
        Ok((condition, mutex))
    }

    fn timer(&mut self, member: &Member) -> Result<Action, Refusal> {
        let fields = self.event_fields(member, &["ref", "period", "mode"]);
        let name = self.name_field(&fields, "ref", member)?;
        let period = fields.int("period", 0, self.remarks)?;
        let place = fields.get("period").map_or(member.place, |v| v.place);
        let period_ns = (self.time_of(period, "period", SLEEPS_FOR_EVER, place)?)
            .map_or(FOR_EVER, |us| us * NS_PER_US);
        if period_ns == 0 {
            self.remarks.note(
                member.place,
                "a timer without a positive `period` never waits",
            );
        }
        let mode = fields.string("mode")?;
        let is_absolute = (mode.as_ref()).is_some_and(|mode| mode.text.starts_with("absolute"));
        if let Some(mode) = mode.filter(|mode| !is_absolute && mode.text != "relative") {
            self.remarks.warn(
                mode.place,
                format!(
                    "`mode` is `{}`, which rt-app takes for \"relative\"; expected that or \"absolute\"",
                    mode.text
                ),
            );
        }
        Ok(Action::Timer {
            name,
            period_ns,
            mode: if is_absolute {
                TimerMode::Absolute
            } else {
                TimerMode::Relative
            },
        })
    }

    /// rt-app waits on the task's own name whatever the value is; releases before June 2025 waited on
    /// the value, and files were written for that.
    fn suspend(&mut self, member: &Member, task: &str) -> Action {
        let place = member.value.place;
        let mut name = task;
        match (&member.value.kind, self.mode) {
            (Kind::Missing, _) => self.remarks.note(
                place,
                format!(
                    "`suspend` has no value; it means \"suspend\": \"{task}\" (rt-app alone \
                    refuses it)"
                ),
            ),
            (Kind::String(value), _) if value == task || value.is_empty() => {}
            (Kind::String(value), Mode::Workgen) => {
                name = value;
                self.remarks.warn(
                    place,
                    format!(
                        "`{task}` waits for a resume of `{value}`, as rt-app did before June \
                        2025; since then rt-app waits for a resume of `{task}`"
                    ),
                );
            }
            (_, Mode::Rtapp) => self.remarks.warn(
                place,
                format!(
                    "rt-app ignores the value of `suspend`: `{task}` waits for a resume of `{task}`"
                ),
            ),
            (_, Mode::Workgen) => self.remarks.note(
                place,
                format!(
                    "the value of `suspend` is no string; `{task}` waits for a resume of `{task}`"
                ),
            ),
        }
        Action::Suspend {
            name: name.to_owned(),
        }
    }

    fn memrun(&mut self, member: &Member) -> Result<Option<Action>, Refusal> {
        let Kind::Object(_) = &member.value.kind else {
            return Err(mismatch(member, "an object"));
        };
        let known = ["type", "size", "count", "stride", "pattern", "ref"];
        let fields = self.event_fields(member, &known);
        let Some(kind) = fields.string("type")? else {
            return Err(fields::missing("type", member.place));
        };
        let size = fields.required_int("size", member.place, self.remarks)?;
        let count = fields.required_int("count", member.place, self.remarks)?;
        let count_place = fields.get("count").map_or(member.place, |v| v.place);
        let count = self.amount_of(count, "count", "steps", count_place);
        if size < 1 {
            return Err(Refusal::new(
                member.place,
                format!("`size` is {size} bytes, expected 1 or more"),
            ));
        }
        let buffer = size as u64;
        match kind.text {
            "read" | "write" => {
                self.share(&fields, kind.text, (size, 0, false), member.place)?;
                Ok(Some(Action::Memory {
                    bytes: count,
                    buffer,
                }))
            }
            "chase" => {
                let stride = self.chase_stride(&fields, size, member.place)?;
                Ok(stride.map(|_| Action::Chase {
                    loads: count,
                    buffer,
                }))
            }
            other => Err(Refusal::new(
                kind.place,
                format!("`{other}` is no type of memrun; expected `read`, `write` or `chase`"),
            )),
        }
    }

    /// `None` if the buffer is too small for a chain, in which case rt-app does nothing.
    fn chase_stride(
        &mut self,
        fields: &Fields,
        size: i32,
        place: Place,
    ) -> Result<Option<i32>, Refusal> {
        let pattern = fields.string("pattern")?;
        let is_random = pattern.is_none_or(|p| p.text != "sequential");
        let stride = fields.int("stride", DEFAULT_STRIDE, self.remarks)?;
        if stride < 1 {
            return Err(Refusal::new(
                place,
                format!("`stride` is {stride} bytes, expected 1 or more"),
            ));
        }
        self.share(fields, "chase", (size, stride, is_random), place)?;
        if size / stride < 2 {
            self.remarks.warn(
                place,
                "the buffer has no room for two steps, and rt-app then does nothing; raise `size`",
            );
            return Ok(None);
        }
        Ok(Some(stride))
    }

    /// Checks that all `memrun` events of one `ref` and type want the same buffer.
    fn share(
        &mut self,
        fields: &Fields,
        kind: &str,
        shape: MemoryShape,
        place: Place,
    ) -> Result<(), Refusal> {
        let Some(name) = fields.string("ref")? else {
            return Ok(());
        };
        let key = (name.text.to_owned(), kind.to_owned());
        let (first, at) = *self.buffers.shared.entry(key).or_insert((shape, place));
        if first == shape {
            return Ok(());
        }
        Err(Refusal::new(
            place,
            format!(
                "the buffer `{}` differs in size, stride or pattern from its use in line {}; make them equal or use another `ref`",
                name.text, at.line
            ),
        ))
    }
}

/// An amount in another unit; [`FOR_EVER`] stays.
fn times(amount: u64, factor: u64) -> u64 {
    match amount {
        FOR_EVER => FOR_EVER,
        amount => amount * factor,
    }
}

fn string(member: &Member) -> Result<String, Refusal> {
    let Value { kind, .. } = &member.value;
    match kind {
        Kind::String(text) => Ok(text.clone()),
        _ => Err(mismatch(member, "a string")),
    }
}

fn mismatch(member: &Member, expected: &str) -> Refusal {
    let mut refusal = fields::mismatch(&member.key, &member.value, expected);
    if let Some(event) = event_name(&member.key).filter(|event| *event != member.key) {
        refusal.message += &format!("; keys that begin with `{event}` are events for rt-app");
    }
    refusal
}

#[cfg(test)]
mod tests;
