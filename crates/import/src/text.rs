// SPDX-License-Identifier: GPL-2.0-only
//! Traces as text: `trace` of tracefs, `trace-cmd report` (also `-R`), `perf script`. One line is
//! one event; lines of other kinds are left out.

mod event;
mod line;

use std::collections::BTreeMap;

use alight_recording::workload::{Capability, What};

use crate::Error;
use crate::input::Input;
use crate::item::{Body, Item};
use crate::origin::{Origin, yield_call};
use crate::pipeline::Pipeline;
use crate::tracepoints::by_name;
use line::{Line, Style};

/// No line is longer, in bytes.
const MOST_LINE: usize = 1 << 16;

/// Lines at the front in which the first event has to be.
const HEAD: usize = 1 << 16;

/// A text whose head was read.
#[derive(Debug)]
pub(crate) struct Text {
    pub origin: Origin,
    yield_call: Option<u64>,
    /// Events that were overwritten before the first one.
    overwritten: u64,
}

impl Text {
    /// Reads the head, if it is such a text.
    pub fn open(input: &Input) -> Result<Option<Self>, Error> {
        let mut head = vec![0; HEAD];
        let length = input.read_some(0, &mut head)?;
        let head = &head[..length];
        if head.contains(&0) {
            return Ok(None);
        }
        let head = String::from_utf8_lossy(head);
        let comment = head.lines().any(|line| line.starts_with("# tracer:"));
        let first = head.lines().find_map(Line::parse);
        let Some(style) = first
            .map(|line| line.style)
            .or(comment.then_some(Style::Ftrace))
        else {
            return Ok(None);
        };
        let mut text = Text {
            origin: Origin {
                format: match style {
                    Style::Ftrace => "ftrace text",
                    Style::Perf => "perf script text",
                },
                recorders: &["perf", "trace-cmd"],
                ..Origin::default()
            },
            yield_call: None,
            overwritten: 0,
        };
        for line in head.lines() {
            text.comment(line);
        }
        text.yield_call = yield_call(&text.origin.arch);
        if head
            .lines()
            .filter_map(Line::parse)
            .any(|line| line.context.is_some())
        {
            text.origin.told.insert(Capability::Context);
        }
        if style == Style::Ftrace {
            text.origin.told.insert(Capability::Losses);
        }
        if first.is_some_and(|line| line.decimals < 9) {
            text.origin.remarks.push(format!(
                "times have {} decimals: the order of events that are closer is that of the lines",
                first.map_or(0, |line| line.decimals)
            ));
        }
        Ok(Some(text))
    }

    /// What stands before the events.
    fn comment(&mut self, line: &str) {
        if let Some(cpus) = line.strip_prefix("cpus=") {
            self.origin.cpu_count = cpus.trim().parse().ok();
        }
        let Some(comment) = line.strip_prefix('#').map(str::trim) else {
            return;
        };
        if let Some(rest) = comment.strip_prefix("entries-in-buffer/entries-written:") {
            let mut words = rest.split_whitespace();
            let counts = words.next().and_then(|counts| counts.split_once('/'));
            if let Some((kept, written)) = counts
                && let (Ok(kept), Ok(written)) = (kept.parse::<u64>(), written.parse::<u64>())
            {
                self.overwritten = written.saturating_sub(kept);
            }
            let cpus = words.find_map(|word| word.strip_prefix("#P:"));
            self.origin.cpu_count = cpus.and_then(|cpus| cpus.parse().ok());
        }
        let Some((key, value)) = comment.split_once(" : ") else {
            return;
        };
        let value = value.trim().to_owned();
        match key.trim() {
            "os release" => self.origin.kernel = value,
            "arch" => self.origin.arch = value,
            "cmdline" => self.origin.command = value,
            "nrcpus online" => self.origin.cpu_count = value.parse().ok(),
            key @ ("hostname" | "perf version") => {
                self.origin.facts.insert(key.replace(' ', "_"), value);
            }
            _ => {}
        }
    }

    /// Reads all events.
    pub fn read(&self, input: &Input, pipeline: &mut Pipeline) -> Result<(), Error> {
        let mut reading = Reading {
            text: self,
            pipeline,
            latest: 0,
            indices: BTreeMap::new(),
            first: true,
            running: Vec::new(),
        };
        let mut stream = input.stream(0, input.size());
        while stream.left() > 0 {
            let offset = stream.offset();
            let window = stream.peek(MOST_LINE)?;
            let end = window.iter().position(|byte| *byte == b'\n');
            let length = end.unwrap_or(window.len());
            if length >= MOST_LINE {
                return Err(Error::at(
                    offset,
                    format!("a line has more than {MOST_LINE} bytes"),
                ));
            }
            let line = String::from_utf8_lossy(&window[..length]);
            reading
                .line(&line, end.is_some())
                .map_err(|what| match what {
                    Fault::Line(what) => Error::at(offset, what),
                    Fault::Other(error) => error,
                })?;
            stream.advance(length + 1);
            if reading.pipeline.is_done() {
                break;
            }
        }
        Ok(())
    }
}

/// While lines are read.
struct Reading<'a> {
    text: &'a Text,
    pipeline: &'a mut Pipeline,
    latest: u64,
    /// Indices of the tally by the names of tracepoints.
    indices: BTreeMap<String, usize>,
    first: bool,
    /// Who runs on each CPU, by the switches.
    running: Vec<u32>,
}

enum Fault {
    Line(String),
    Other(Error),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Fault::Other(error)
    }
}

impl Reading<'_> {
    fn line(&mut self, text: &str, whole: bool) -> Result<(), Fault> {
        if let Some((cpu, count)) = line::lost(text) {
            let all = self
                .pipeline
                .tally
                .lost
                .entry("ring_full".into())
                .or_default();
            *all = all.saturating_add(count);
            return self.lost(cpu, count, true);
        }
        let Some(mut line) = Line::parse(text) else {
            return Ok(());
        };
        let cpu = usize::from(line.cpu);
        if line.pid == line::ENDED {
            line.pid = self.running.get(cpu).copied().unwrap_or(0);
        }
        self.latest = line.time;
        if std::mem::take(&mut self.first) && self.text.overwritten > 0 {
            let count = self.text.overwritten;
            self.pipeline.tally.lost.insert("overwritten".into(), count);
            self.lost(line.cpu, count, false)?;
        }
        self.count(line.event);
        let names = &mut self.pipeline.names;
        match event::item(&line, names, self.text.yield_call) {
            Ok(Some(item)) => {
                if let Body::What(What::Switch { next, .. }) = item.body {
                    if self.running.len() <= cpu {
                        self.running.resize(cpu + 1, 0);
                    }
                    self.running[cpu] = next;
                }
                if let Some(tgid) = line.tgid {
                    self.pipeline.add(Item {
                        body: Body::Process {
                            pid: line.pid,
                            tgid,
                            parent: 0,
                        },
                        names: [0; 2],
                        ..item
                    })?;
                }
                Ok(self.pipeline.add(item)?)
            }
            Ok(None) => Ok(()),
            Err(what) if whole => Err(Fault::Line(what)),
            Err(what) => Err(Fault::Line(format!(
                "{what}; the last line has no end: the file is cut short"
            ))),
        }
    }

    /// Counts an event of a tracepoint.
    fn count(&mut self, name: &str) {
        let tally = &mut self.pipeline.tally;
        let index = match self.indices.get(name) {
            Some(index) => *index,
            None => {
                let index = tally.tracepoint(name, by_name(name).is_some());
                self.indices.insert(name.to_owned(), index);
                index
            }
        };
        tally.tracepoints[index].2 += 1;
    }

    fn lost(&mut self, cpu: u16, count: u64, of_cpu_only: bool) -> Result<(), Fault> {
        Ok(self.pipeline.add(Item {
            time: self.latest,
            cpu,
            body: Body::What(What::Lost { count, of_cpu_only }),
            names: [0; 2],
        })?)
    }
}
