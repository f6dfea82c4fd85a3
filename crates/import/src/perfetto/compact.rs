// SPDX-License-Identifier: GPL-2.0-only
//! `CompactSched`: switches and wakings of a bundle, a column a field. A switch says who comes; who
//! leaves is who came last on the CPU.

use alight_recording::workload::{Context, Left, What};

use super::event::{Fault, Reading, SCHED_SWITCH, SCHED_WAKING};
use super::wire::{Fields, Value, packed};
use crate::decode::{context, cpu, prio};
use crate::item::{Body, Item};
use crate::pids::checked;

/// `CompactSched`
mod column {
    pub const SWITCH_TIMESTAMP: usize = 1;
    pub const SWITCH_PREV_STATE: usize = 2;
    pub const SWITCH_NEXT_PID: usize = 3;
    pub const SWITCH_NEXT_PRIO: usize = 4;
    pub const INTERN_TABLE: usize = 5;
    pub const SWITCH_NEXT_COMM: usize = 6;
    pub const WAKING_TIMESTAMP: usize = 7;
    pub const WAKING_PID: usize = 8;
    pub const WAKING_TARGET_CPU: usize = 9;
    pub const WAKING_PRIO: usize = 10;
    pub const WAKING_COMM: usize = 11;
    pub const WAKING_FLAGS: usize = 12;
}

const COLUMNS: usize = 13;

/// Who runs on each CPU: number, priority, name.
#[derive(Debug, Default)]
pub(super) struct Cpus(Vec<(u32, u16, u32)>);

impl Cpus {
    /// Of a CPU; before its first switch it is taken for idle.
    pub fn of(&mut self, cpu: u16) -> &mut (u32, u16, u32) {
        let at = usize::from(cpu);
        if self.0.len() <= at {
            self.0.resize(at + 1, (0, 120, 0));
        }
        &mut self.0[at]
    }
}

/// The columns of a bundle.
struct Columns<'a> {
    numbers: [Vec<u64>; COLUMNS],
    names: Vec<&'a [u8]>,
}

impl<'a> Columns<'a> {
    fn read(content: &'a [u8]) -> Result<Self, Fault> {
        let mut columns = Columns {
            numbers: std::array::from_fn(|_| Vec::new()),
            names: Vec::new(),
        };
        for field in Fields::of(content) {
            let (number, value) = field?;
            let Some(column) = columns.numbers.get_mut(number as usize) else {
                continue;
            };
            match value {
                Value::Bytes(bytes) if number as usize == column::INTERN_TABLE => {
                    columns.names.push(bytes);
                }
                Value::Bytes(bytes) => packed(bytes, column)?,
                // Not packed, which a writer may choose too.
                Value::Number(number) => column.push(number),
            }
        }
        Ok(columns)
    }

    /// A value; the columns of a bundle are equally long.
    fn at(&self, column: usize, row: usize) -> Result<u64, Fault> {
        let value = self.numbers[column].get(row).copied();
        value.ok_or_else(|| {
            Fault::value(format!(
                "a column of compact events has {} values, and row {row} is needed",
                self.numbers[column].len()
            ))
        })
    }

    fn name(&self, column: usize, row: usize) -> Result<&'a [u8], Fault> {
        let index = self.at(column, row)? as usize;
        let name = self.names.get(index).copied();
        name.ok_or_else(|| {
            Fault::value(format!(
                "compact events name the string {index}, and there are {}",
                self.names.len()
            ))
        })
    }
}

impl Reading<'_> {
    /// Switches and wakings of a bundle, merged by their times, as a waking needs to know who runs.
    pub(super) fn compact(
        &mut self,
        content: &[u8],
        on: u16,
        cpus: &mut Cpus,
    ) -> Result<(), Fault> {
        let columns = Columns::read(content)?;
        let (mut switch, mut waking) = (0, 0);
        let (mut switch_time, mut waking_time) = (0u64, 0u64);
        let times = |column: usize, row: usize, before: u64| {
            let delta = columns.numbers[column].get(row).copied();
            delta.map(|delta| before.wrapping_add(delta))
        };
        loop {
            let next_switch = times(column::SWITCH_TIMESTAMP, switch, switch_time);
            let next_waking = times(column::WAKING_TIMESTAMP, waking, waking_time);
            match (next_switch, next_waking) {
                (None, None) => return Ok(()),
                (Some(time), other) if other.is_none_or(|other| time < other) => {
                    self.compact_switch(&columns, switch, (time, on), cpus)?;
                    (switch, switch_time) = (switch + 1, time);
                }
                (_, Some(time)) => {
                    self.compact_waking(&columns, waking, (time, on), cpus)?;
                    (waking, waking_time) = (waking + 1, time);
                }
                (Some(_), None) => unreachable!("a switch without a waking comes first"),
            }
        }
    }

    fn compact_switch(
        &mut self,
        columns: &Columns,
        row: usize,
        (time, on): (u64, u16),
        cpus: &mut Cpus,
    ) -> Result<(), Fault> {
        let next = checked(columns.at(column::SWITCH_NEXT_PID, row)?, "switch_next_pid")?;
        let next_prio = columns.at(column::SWITCH_NEXT_PRIO, row)?;
        let next_prio = prio(next_prio, "switch_next_prio")?;
        let comm = columns.name(column::SWITCH_NEXT_COMM, row)?;
        let name = self.pipeline.names.of(next, comm);
        let left: Left = self
            .states
            .left(columns.at(column::SWITCH_PREV_STATE, row)?);
        let (prev, prev_prio, prev_name) = std::mem::replace(cpus.of(on), (next, next_prio, name));
        let what = What::Switch {
            prev,
            prev_prio,
            left,
            next,
            next_prio,
        };
        self.count(SCHED_SWITCH);
        self.add(Item {
            time,
            cpu: on,
            body: Body::What(what),
            names: [prev_name, name],
        })
    }

    fn compact_waking(
        &mut self,
        columns: &Columns,
        row: usize,
        (time, on): (u64, u16),
        cpus: &mut Cpus,
    ) -> Result<(), Fault> {
        let pid = checked(columns.at(column::WAKING_PID, row)?, "waking_pid")?;
        let comm = columns.name(column::WAKING_COMM, row)?;
        let name = self.pipeline.names.of(pid, comm);
        // Android had none before 2022.
        let flags = columns.numbers[column::WAKING_FLAGS].get(row).copied();
        let context: Option<Context> = flags.map(context);
        let (current, _, current_name) = *cpus.of(on);
        let what = What::Waking {
            pid,
            prio: prio(columns.at(column::WAKING_PRIO, row)?, "waking_prio")?,
            current,
            prev_cpu: cpu(
                columns.at(column::WAKING_TARGET_CPU, row)?,
                "waking_target_cpu",
            )?,
            context,
            sync: None,
        };
        self.count(SCHED_WAKING);
        self.add(Item {
            time,
            cpu: on,
            body: Body::What(what),
            names: [name, current_name],
        })
    }
}
