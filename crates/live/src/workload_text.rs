// SPDX-License-Identifier: GPL-2.0-only
//! For the tests: prints a recording of a workload, a line for each item. `workload_text FILE`.

use alight_recording::Reader;
use alight_recording::workload::{Item, NotAWorkload, WorkloadReader};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Input(#[from] NotAWorkload),
    #[error("standard output: {0}")]
    Output(#[from] io::Error),
}

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: workload_text FILE");
        return ExitCode::from(2);
    };
    match print(Path::new(&path)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("workload_text: {path}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn print(path: &Path) -> Result<(), Failure> {
    let mut to = BufWriter::new(io::stdout().lock());
    let mut reader = WorkloadReader::new(Reader::open(path).map_err(NotAWorkload::from)?)?;
    let header = reader.header();
    writeln!(to, "kernel: {}", header.kernel)?;
    writeln!(to, "hz: {}", header.hz.unwrap_or(0))?;
    writeln!(to, "command: {}", header.command)?;
    for (name, value) in &header.facts {
        let lines = value.lines().count();
        writeln!(
            to,
            "fact {name}: {lines} lines: {}",
            value.lines().next().unwrap_or("")
        )?;
    }
    while let Some(item) = reader.next_item()? {
        match item {
            Item::Event(event) => {
                writeln!(to, "{} CPU {} {:?}", event.time, event.cpu, event.what)?;
            }
            Item::Task(fact) => {
                let text = serde_json::to_string(&fact).map_err(io::Error::other)?;
                writeln!(to, "{} task {text}", fact.time)?;
            }
        }
    }
    if let Some(end) = reader.end() {
        writeln!(
            to,
            "status: {}",
            end.status.map_or("none".to_owned(), |one| one.to_string())
        )?;
        writeln!(to, "lost: {}", end.lost_events())?;
        for (name, value) in &end.facts {
            for line in value.lines() {
                writeln!(to, "end {name}: {line}")?;
            }
        }
    }
    to.flush()?;
    Ok(())
}
