// SPDX-License-Identifier: GPL-2.0-only
//! The records of a perf.data, one after the other.

use std::collections::HashMap;

use alight_recording::workload::What;

use super::attr::{Attr, Trailer};
use super::unpack::Unpacker;
use super::{Perf, next_header, record};
use crate::Error;
use crate::bytes::{Bytes, le16, le32, le64};
use crate::decode::{Circumstances, cpu};
use crate::input::{Input, Stream};
use crate::item::{Body, Item};
use crate::pids::{PID_LIMIT, Pids};
use crate::pipeline::Pipeline;
use crate::tracing::Decoders;

/// What is needed to read records.
struct Records<'a> {
    pipeline: &'a mut Pipeline,
    attrs: &'a [Attr],
    ids: &'a HashMap<u64, usize>,
    /// All samples are laid out as those of the first description.
    alike: bool,
    decoders: Decoders,
    circumstances: Circumstances,
    /// Births and ends are told by tracepoints, so that records of them are no events.
    births: bool,
    ends: bool,
    groups: HashMap<u64, u32>,
    group_of: Pids<u64>,
    /// The newest time so far, of all CPUs and of each.
    newest: u64,
    newest_of: Vec<u64>,
    /// The CPU of an identifier.
    cpu_of: HashMap<u64, u32>,
    /// Events that were lost, by the records between others, and by those at the end.
    lost_between: u64,
    lost_at_end: u64,
}

impl Perf {
    /// Reads all records.
    pub fn read(&self, input: &Input, pipeline: &mut Pipeline) -> Result<(), Error> {
        let asked = self.origin.asked.as_ref();
        let has = |name: &str| asked.is_some_and(|names| names.contains(name));
        let first = self
            .attrs
            .first()
            .ok_or_else(|| Error::Foreign("is a perf.data that describes no event".into()))?;
        let mut records = Records {
            decoders: Decoders::new(&self.features.tracing, &mut pipeline.tally)?,
            pipeline,
            attrs: &self.attrs,
            ids: &self.ids,
            alike: self.attrs.iter().all(|attr| attr.is_laid_out_as(first)),
            circumstances: self.features.tracing.circumstances(&self.origin.arch),
            births: has("sched_process_fork"),
            ends: has("sched_process_exit"),
            groups: HashMap::new(),
            group_of: Pids::new(),
            newest: 0,
            newest_of: Vec::new(),
            cpu_of: HashMap::new(),
            lost_between: 0,
            lost_at_end: 0,
        };
        let mut stream = input.stream(self.data.0, self.data.1);
        let mut unpacker = Unpacker::new()?;
        while stream.left() > 0 && !records.pipeline.is_done() {
            records.next(&mut stream, &mut unpacker)?;
        }
        // Both may count the same.
        let lost = records.lost_between.max(records.lost_at_end);
        if lost > 0 {
            pipeline.tally.lost.insert("ring_full".into(), lost);
        }
        Ok(())
    }
}

/// Bytes that stand behind a record and belong to it.
fn behind(kind: u32, content: &[u8]) -> u64 {
    match kind {
        record::TRACING_DATA => u64::from(le32(content, 0)).next_multiple_of(8),
        record::AUXTRACE => le64(content, 0),
        _ => 0,
    }
}

fn skip(stream: &mut Stream, count: u64, offset: u64) -> Result<(), Error> {
    if count > stream.left() {
        return Err(Error::at(
            offset,
            format!(
                "{count} bytes should follow a record here, and {} are left: the file is cut short \
                 or damaged",
                stream.left()
            ),
        ));
    }
    stream.skip(count);
    Ok(())
}

impl Records<'_> {
    /// Reads the next record, or those that are packed in it.
    fn next(&mut self, stream: &mut Stream, unpacker: &mut Unpacker) -> Result<(), Error> {
        let offset = stream.offset();
        let header = next_header(stream)?;
        let content = &stream.peek(header.size)?[8..header.size];
        if !matches!(header.kind, record::COMPRESSED | record::COMPRESSED2) {
            self.record(header.kind, content, offset + 8)?;
            let behind = behind(header.kind, content);
            stream.advance(header.size);
            return skip(stream, behind, offset);
        }
        let packed = match header.kind {
            record::COMPRESSED => content,
            // Its length stands before it; the record is padded.
            _ => (content.get(8..))
                .and_then(|rest| rest.get(..le64(content, 0) as usize))
                .ok_or_else(|| Error::at(offset, "a packed record is too short"))?,
        };
        unpacker.unpack(packed, offset)?;
        stream.advance(header.size);
        while let Some((kind, size, content)) = unpacker.next() {
            if size < 8 {
                return Err(Error::at(
                    offset,
                    format!("a record of {size} bytes was packed, expected at least 8"),
                ));
            }
            self.record(kind, content, offset)?;
        }
        Ok(())
    }

    fn record(&mut self, kind: u32, content: &[u8], offset: u64) -> Result<(), Error> {
        match kind {
            record::SAMPLE => self.sample(content, offset),
            record::FINISHED_ROUND => self.pipeline.end_round(),
            record::COMM => self.comm(content, offset),
            record::FORK => self.task(content, offset, true),
            record::EXIT => self.task(content, offset, false),
            record::LOST => {
                let count = le64(content, 8);
                self.lost_between = self.lost_between.saturating_add(count);
                self.lost(count, content)
            }
            record::LOST_SAMPLES => {
                let count = le64(content, 0);
                self.lost_at_end = self.lost_at_end.saturating_add(count);
                self.lost(count, content)
            }
            record::ID_INDEX => {
                // Identifier, index, CPU, task.
                for entry in content.get(8..).unwrap_or_default().chunks_exact(32) {
                    self.cpu_of.insert(le64(entry, 0), le32(entry, 16));
                }
                Ok(())
            }
            record::CGROUP => {
                let path = crate::bytes::text(content.get(8..).unwrap_or_default());
                let group = self.pipeline.group(&path);
                self.groups.insert(le64(content, 0), group);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The description that a sample or another record belongs to.
    fn attr(&self, id: Option<u64>) -> Option<&Attr> {
        if self.alike {
            return self.attrs.first();
        }
        let index = id.and_then(|id| self.ids.get(&id).copied());
        self.attrs.get(index.unwrap_or(0))
    }

    /// The identifier in a record that is no sample.
    fn identifier(&self, content: &[u8]) -> Option<u64> {
        let place = self.attrs.first().and_then(|attr| attr.identifier().1);
        let at = place.and_then(|from_end| content.len().checked_sub(from_end));
        at.map(|at| le64(content, at))
    }

    fn trailer(&self, content: &[u8]) -> Trailer {
        let attr = self.attr(self.identifier(content));
        attr.and_then(|attr| attr.trailer(content))
            .unwrap_or_default()
    }

    fn sample(&mut self, content: &[u8], offset: u64) -> Result<(), Error> {
        let place = self.attrs.first().and_then(|attr| attr.identifier().0);
        let id = place.map(|at| le64(content, at));
        let Some(attr) = self
            .attr(id)
            .filter(|attr| self.alike || attr.is_tracepoint())
        else {
            return Ok(());
        };
        let sample = attr.sample(Bytes::new(content, offset))?;
        if sample.raw.len() < 8 {
            return Ok(());
        }
        let at = |what| Error::at(offset, what);
        self.newest = self.newest.max(sample.time);
        let cpu = cpu(sample.cpu.into(), "a sample").map_err(at)?;
        if self.newest_of.len() <= cpu.into() {
            self.newest_of.resize(usize::from(cpu) + 1, 0);
        }
        self.newest_of[usize::from(cpu)] = sample.time;
        if let Some(group) = sample.group
            && sample.tid < PID_LIMIT
            && *self.group_of.entry(sample.tid) != group
        {
            *self.group_of.entry(sample.tid) = group;
            let (pid, group) = (sample.tid, self.groups.get(&group).copied().unwrap_or(0));
            self.tell(sample.time, cpu, Body::Group { pid, group }, 0)?;
        }
        let decoder = self.decoders.of(le16(sample.raw, 0)).map_err(at)?;
        self.pipeline.tally.tracepoints[decoder.tally].2 += 1;
        let names = &mut self.pipeline.names;
        let item = decoder.decode(sample.raw, sample.time, cpu, names, &self.circumstances);
        match item.map_err(at)? {
            Some(item) => self.pipeline.add(item),
            None => Ok(()),
        }
    }

    fn tell(&mut self, time: u64, cpu: u16, body: Body, name: u32) -> Result<(), Error> {
        self.pipeline.add(Item {
            time,
            cpu,
            body,
            names: [name, 0],
        })
    }

    fn comm(&mut self, content: &[u8], offset: u64) -> Result<(), Error> {
        let (tgid, pid) = (le32(content, 0), le32(content, 4));
        let Trailer { time, cpu: number } = self.trailer(content);
        // Of a task that has ended already the number is -1.
        if pid >= PID_LIMIT || tgid >= PID_LIMIT || content.len() < 8 {
            return Ok(());
        }
        let comm = &content[8..];
        let name = self.pipeline.names.of(pid, comm);
        let cpu = of_trailer(time, number, offset)?;
        let process = Body::Process {
            pid,
            tgid,
            parent: 0,
        };
        self.tell(time, cpu, process, 0)?;
        self.tell(time, cpu, Body::Named { pid }, name)
    }

    /// FORK and EXIT: process, parent's process, task, parent, time.
    fn task(&mut self, content: &[u8], offset: u64, birth: bool) -> Result<(), Error> {
        let [tgid, _, pid, parent] = [0, 4, 8, 12].map(|at| le32(content, at));
        let Trailer { time, cpu: number } = self.trailer(content);
        if [tgid, pid, parent]
            .iter()
            .any(|number| *number >= PID_LIMIT)
            || content.len() < 24
        {
            return Ok(());
        }
        let cpu = of_trailer(time, number, offset)?;
        if birth {
            self.tell(time, cpu, Body::Process { pid, tgid, parent }, 0)?;
        }
        // Those that perf makes up for tasks that were there have no time.
        let what = match birth {
            true if !self.births => What::Fork { parent, child: pid },
            false if !self.ends => What::Exit { pid },
            _ => return Ok(()),
        };
        match time {
            0 => Ok(()),
            _ => self.tell(time, cpu, Body::What(what), 0),
        }
    }

    fn lost(&mut self, count: u64, content: &[u8]) -> Result<(), Error> {
        if count == 0 {
            return Ok(());
        }
        let trailer = self.trailer(content);
        // When perf ends it tells what was lost behind the last event of a buffer, without a time.
        let (time, number) = match trailer.time {
            0 => {
                let id = self.identifier(content);
                let cpu = id.and_then(|id| self.cpu_of.get(&id)).copied();
                let newest = cpu.and_then(|cpu| self.newest_of.get(cpu as usize));
                (newest.copied().unwrap_or(self.newest), cpu)
            }
            time => (time, Some(trailer.cpu)),
        };
        let known = number.and_then(|number| cpu(number.into(), "").ok());
        let lost = What::Lost {
            count,
            of_cpu_only: known.is_some(),
        };
        self.tell(time, known.unwrap_or(0), Body::What(lost), 0)
    }
}

/// The CPU of a record that is no sample. Those that perf makes up have none.
fn of_trailer(time: u64, number: u32, offset: u64) -> Result<u16, Error> {
    match time {
        0 => Ok(0),
        _ => cpu(number.into(), "a record").map_err(|what| Error::at(offset, what)),
    }
}
