// SPDX-License-Identifier: GPL-2.0-only
//! The command that gives the same result again: all that decides it, nothing else.

use alight_compare::report::number::time;

use crate::args::RunArgs;

/// The command line of `verb` over `schedulers`; `options` are those of the verb alone.
pub fn command(verb: &str, run: &RunArgs, schedulers: &[String], options: &[String]) -> String {
    let mut words = vec!["alight".to_owned(), verb.to_owned()];
    let mut option = |name: &str, value: &str| {
        words.extend([name.to_owned(), value.to_owned()]);
    };
    option("-m", &run.machine);
    for workload in &run.workloads {
        option("-w", workload);
    }
    option("--seed", &run.seed.to_string());
    if let Some(ns) = run.duration {
        option("--duration", &typed(ns));
    }
    if let Some(governor) = run.governor {
        option("--governor", &governor.to_string());
    }
    if let Some(governor) = run.idle_governor {
        option("--idle-governor", governor.name());
    }
    for (name, changes) in run.changes() {
        option(name, &changes.text);
    }
    for group in &run.groups {
        option("--group", &group.text);
    }
    for sysctl in &run.sysctls {
        option("--sysctl", &sysctl.text);
    }
    if let Some(flips) = run.wakee_flips {
        option("--wakee-flips", &flips.to_string());
    }
    words.extend_from_slice(options);
    words.extend_from_slice(schedulers);
    shell_words::join(words)
}

/// A time as users type it, exact.
pub fn typed(ns: u64) -> String {
    time(ns).replace(' ', "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::duration;

    #[test]
    fn a_typed_time_is_read_as_the_same() {
        for ns in [
            1,
            17_001,
            20_000_000,
            1_500_000_000,
            60_000_000_000,
            u64::MAX,
        ] {
            assert_eq!(duration::parse(&typed(ns)), Ok(ns));
        }
    }
}
