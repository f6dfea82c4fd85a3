// SPDX-License-Identifier: GPL-2.0-only
//! A recording as the workload of a question: what is said of it on every report.

use alight_machine::Machine;
use alight_recording::workload::VERDICT;
use alight_replay::{Channels, Line};
use alight_workload::Workload;

use super::{NotVerified, Verdict, machine_of, open};

/// Said of a recording that was not checked.
const NOT_CHECKED: &str = "it was not checked: run alight verify workload";
/// Said of every replay.
const NO_FEEDBACK: &str = "a replay does what was recorded: what a program would do otherwise on a \
     faster or slower machine (load balancers, retries, adaptive concurrency) is not simulated";

/// The workload that a line names, on the machine that is simulated; its sentences for reports are
/// in [`Workload::left_out`].
///
/// # Errors
/// The recording cannot be read or replayed.
pub fn load(line: &Line, simulated: &Machine) -> Result<Workload, NotVerified> {
    let mut reader = open(&line.file)?;
    let recorded = match &line.recorded_on {
        Some(name) => Some(Machine::load(name)?),
        None => machine_of(reader.header())?,
    };
    let recorded = recorded.as_ref().unwrap_or(simulated);
    let kernel = reader.header().kernel.clone();
    let channels = Channels::find(&mut open(&line.file)?)?;
    let replay = alight_replay::load_with(&mut reader, recorded, &line.options, &channels)?;
    let file = line.file.display();
    let mut workload = replay.workload;
    workload.name = file.to_string();
    let verdict =
        (replay.end.facts.get(VERDICT)).and_then(|text| serde_json::from_str::<Verdict>(text).ok());
    let of = format!("{file} is a replay of a recording of Linux {kernel}");
    match &verdict {
        None => workload.left_out.push(format!("{of}; {NOT_CHECKED}")),
        Some(verdict) => {
            workload.left_out.push(format!("{of}; {}", verdict.line()));
            workload.left_out.extend(verdict.cautions.iter().cloned());
        }
    }
    let (was, is) = (recorded.cpus.len(), simulated.cpus.len());
    if was != is {
        workload.left_out.push(format!(
            "{file} was recorded on {was} CPUs and is simulated on {is}: tasks may use any of these"
        ));
        free(&mut workload, is as u32);
    }
    workload.left_out.push(NO_FEEDBACK.to_owned());
    Ok(workload)
}

/// CPUs that the simulated machine has not are left out of affinities.
fn free(workload: &mut Workload, nr_cpus: u32) {
    let tasks = workload.tasks.iter_mut().map(|task| &mut task.attributes);
    for attributes in tasks.chain(&mut workload.attributes) {
        if let Some(cpus) = &mut attributes.affinity {
            cpus.retain(|&cpu| cpu < nr_cpus);
            if cpus.is_empty() {
                attributes.affinity = None;
            }
        }
    }
    for begins in workload
        .tasks
        .iter_mut()
        .filter_map(|task| task.begins.as_mut())
    {
        begins.cpu %= nr_cpus;
    }
}
