// SPDX-License-Identifier: GPL-2.0-only
//! Which format a file has, and the way from the file to the recording.

use std::collections::BTreeSet;
use std::path::Path;

use alight_recording::End;
use alight_recording::workload::{Capability, WorkloadWriter};

use crate::Error;
use crate::input::Input;
use crate::options::Options;
use crate::origin::Origin;
use crate::perf::{self, Perf};
use crate::perfetto::Perfetto;
use crate::pipeline::Pipeline;
use crate::report::Report;
use crate::text::Text;
use crate::tracedat::TraceDat;
use crate::tracepoints;

/// Bytes by which a format is known.
const HEAD: usize = 4096;

/// How much recordings are compressed, by zstd's levels.
const LEVEL: i32 = 1;

/// A file whose head was read.
enum Source {
    Perf(Box<Perf>),
    TraceDat(Box<TraceDat>),
    Text(Box<Text>),
    Perfetto(Box<Perfetto>),
}

impl Source {
    fn open(input: &Input) -> Result<Self, Error> {
        let mut head = [0; HEAD];
        let length = input.read_some(0, &mut head)?;
        let head = &head[..length];
        if head.starts_with(perf::MAGIC) {
            return Ok(Source::Perf(Box::new(Perf::open(input)?)));
        }
        if TraceDat::is(head) {
            return Ok(Source::TraceDat(Box::new(TraceDat::open(input)?)));
        }
        if let Some(text) = Text::open(input)? {
            return Ok(Source::Text(Box::new(text)));
        }
        if Perfetto::is(input)? {
            return Ok(Source::Perfetto(Box::new(Perfetto::open(input)?)));
        }
        Err(Error::Foreign(looks_like(head).to_owned()))
    }

    fn origin(&self) -> &Origin {
        match self {
            Source::Perf(perf) => &perf.origin,
            Source::TraceDat(trace) => &trace.origin,
            Source::Text(text) => &text.origin,
            Source::Perfetto(trace) => &trace.origin,
        }
    }

    fn read(&self, input: &Input, pipeline: &mut Pipeline) -> Result<(), Error> {
        match self {
            Source::Perf(perf) => perf.read(input, pipeline),
            Source::TraceDat(trace) => trace.read(input, pipeline),
            Source::Text(text) => text.read(input, pipeline),
            Source::Perfetto(trace) => trace.read(input, pipeline),
        }
    }
}

/// Writes the recording `out` out of the trace `file`.
///
/// # Errors
/// The file is not read here, is damaged, or does not hold what is wanted; the recording cannot be
/// written. Nothing is under the name `out` then.
pub fn import(file: &Path, out: &Path, options: &Options) -> Result<Report, Error> {
    run(&Input::open(file)?, Some(out), options)
}

/// As [`import`], from bytes; without `out` nothing is written.
///
/// # Errors
/// As [`import`].
pub fn import_bytes(
    bytes: Vec<u8>,
    out: Option<&Path>,
    options: &Options,
) -> Result<Report, Error> {
    run(&Input::of(bytes), out, options)
}

/// Says what a trace holds.
///
/// # Errors
/// The file is not read here, or is damaged.
pub fn inspect(file: &Path, options: &Options) -> Result<Report, Error> {
    run(&Input::open(file)?, None, options)
}

fn run(input: &Input, out: Option<&Path>, options: &Options) -> Result<Report, Error> {
    let source = Source::open(input)?;
    let origin = source.origin().clone();
    let writer = match out {
        Some(out) => Some(WorkloadWriter::create(out, origin.header(), LEVEL)?),
        None => None,
    };
    let mut pipeline = Pipeline::new(&origin, options, writer);
    source.read(input, &mut pipeline)?;
    let ended = pipeline.end()?;
    let asked = origin.asked.as_ref();
    let recorded: BTreeSet<&str> = match asked {
        Some(asked) => asked.iter().map(String::as_str).collect(),
        None => ended.tally.occurring(),
    };
    let mut told = tracepoints::told(&recorded);
    told.extend(&origin.told);
    let [by_task, idle, by_interrupt, unknown] = ended.tally.wakings;
    if by_task + idle + by_interrupt > 0 && told.contains(&Capability::Wakings) {
        told.insert(Capability::Context);
    }
    if unknown > 0 || !told.contains(&Capability::Wakings) {
        told.remove(&Capability::Context);
    }
    let writer = ended.writer;
    let report = Report::new(
        origin,
        ended.tally,
        (ended.tasks, ended.names),
        told,
        options,
    );
    if let Some(writer) = writer {
        report.check()?;
        let end = End {
            lost: report.lost(),
            ..End::default()
        };
        writer.finish(end, report.told())?;
    }
    Ok(report)
}

/// What a file that is not read here looks like, and what to do.
fn looks_like(head: &[u8]) -> &'static str {
    let begins = |with: &[u8]| head.starts_with(with);
    match () {
        () if head.is_empty() => "is empty: no trace was written, or the file was not copied",
        () if begins(b"alight.recording/") => {
            "is a recording of alight already: give it to `alight verify` or `alight compare -w`"
        }
        () if begins(b"2ELIFREP") => "is a perf.data of a big-endian machine, which is not read",
        () if begins(b"PERFFILE") => {
            "is a perf.data of version 1 (before Linux 3.3), which is not read: record with a newer \
             perf"
        }
        () if begins(b"\x1f\x8b") => "is compressed by gzip: unpack it first (gunzip)",
        () if begins(b"\x28\xb5\x2f\xfd") => "is compressed by zstd: unpack it first (unzstd)",
        () if begins(b"\xfd7zXZ") => "is compressed by xz: unpack it first (unxz)",
        () if begins(b"BZh") => "is compressed by bzip2: unpack it first (bunzip2)",
        () if begins(b"PK\x03\x04") => "is a zip archive: unpack it first",
        () if begins(b"\xc1\x1f\xfc\xc1") => {
            "is a trace of LTTng (CTF), which is not read: record with perf or trace-cmd"
        }
        () if begins(b"\x7fELF") => "is a program (ELF), not a trace",
        () if begins(b"LLHPERF") || begins(b"SIMPLEPERF") => {
            "is a recording of simpleperf, which is not read: record with Perfetto"
        }
        () if begins(b"{") || begins(b"[") => {
            "looks like JSON; traces of Chrome are not read, as they hold no wakeups: record with \
             Perfetto, perf or trace-cmd"
        }
        () if begins(b"<!DOCTYPE html") || begins(b"<html") => {
            "looks like HTML; of systrace, save the trace as text"
        }
        () => {
            "is of no format that is read: perf.data, trace.dat, a Perfetto trace, text of ftrace, \
             `trace-cmd report` or `perf script`"
        }
    }
}
