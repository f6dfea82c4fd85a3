// SPDX-License-Identifier: GPL-2.0-only
//! Where studies and their workloads come from: the built-in ones are part of the program, so
//! that they run anywhere.

use std::path::Path;

use alight_workload::{Mode, Site, Workload};

use super::Study;
use super::error::StudyError;
use super::read::parse;

macro_rules! studies {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../../studies/", $name, ".toml")))),+]
    };
}

macro_rules! files {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../../../", $path)))),*]
    };
}

/// Built-in studies with their files, in the order they are listed.
const STUDIES: &[(&str, &str)] = studies![
    "juno-hackbench",
    "juno-sysbench",
    "pixel3-hackbench",
    "pixel3-sysbench",
    "pixel3-phantom-sysbench",
    "pack-hackbench",
    "ca9-hackbench",
    "tc2-mp3",
    "ca9-sysbench-cpu",
    "tc2-cyclictest",
    "hikey-deep-idle",
    "hikey-shallow-idle",
    "hikey-preempt-idle",
    "hikey-selection",
    "uclamp-four-capped",
    "uclamp-boosted",
    "uclamp-spike",
    "uclamp-pack-capped",
    "rock5b-geekbench",
    "pixel6-jank",
    "epyc-hackbench",
    "rework-load-balance-hikey",
    "runnable-avg-hikey",
    "sis-util-epyc",
    "sis-util-xeon",
    "eevdf-hackbench-xeon",
    "eevdf-nice-latency",
    "cyclictest-hackbench-hikey",
    "schbench-wakers-spr",
    "schbench-newidle",
    "sched-idle-build-xeon",
];

/// The rt-app files that they name.
const FILES: &[(&str, &str)] = files![
    "workloads/juno-r2/capped-hogs.json",
    "workloads/juno-r2/wide-tasks.json",
    "workloads/juno-r2/capped-pair.json",
    "workloads/juno-r2/capped-eight.json",
];

/// Names of the built-in studies, in the order they are listed.
pub fn names() -> Vec<&'static str> {
    STUDIES.iter().map(|(name, _)| *name).collect()
}

/// The study called `name_or_path`: a built-in name, or a file whose name ends in `.toml`.
///
/// # Errors
/// The name is unknown; the file cannot be read or is not well formed.
pub fn load(name_or_path: &str) -> Result<Study, StudyError> {
    if let Some((name, text)) = STUDIES.iter().find(|(name, _)| *name == name_or_path) {
        return parse(&format!("studies/{name}.toml"), text);
    }
    if name_or_path.ends_with(".toml") {
        let text = alight_text::read(name_or_path).map_err(|source| StudyError::Read {
            file: name_or_path.to_owned(),
            source,
        })?;
        return parse(name_or_path, &text);
    }
    let likeness = |name: &str| strsim::jaro_winkler(name_or_path, name);
    let nearest = names()
        .into_iter()
        .max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    Err(StudyError::Unknown {
        name: name_or_path.to_owned(),
        hint: format!(
            "did you mean `{}`? `alight study list` has them all",
            nearest.unwrap_or_default()
        ),
    })
}

/// A workload as a study's file names it: a command line, an rt-app file beside the study, or the
/// text of one; `site` is the study's machine.
pub(super) fn workload(
    study: &str,
    command: &str,
    site: Option<&Site>,
) -> Result<Workload, alight_workload::Error> {
    if let Some((path, text)) = FILES.iter().find(|(path, _)| *path == command) {
        return Ok(Workload::from_rtapp(path, text, Mode::default())?.workload);
    }
    if command.starts_with('{') {
        return Ok(Workload::from_rtapp("rt-app", command, Mode::default())?.workload);
    }
    let beside = Path::new(study)
        .parent()
        .unwrap_or(Path::new(""))
        .join(command);
    let text = match command.ends_with(".json") {
        true => beside.to_string_lossy().into_owned(),
        false => command.to_owned(),
    };
    let loaded = match site {
        Some(site) => Workload::load_on(&text, Mode::default(), site),
        None => Workload::load(&text, Mode::default()),
    };
    Ok(loaded?.workload)
}
