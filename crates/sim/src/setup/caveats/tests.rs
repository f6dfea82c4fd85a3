// SPDX-License-Identifier: GPL-2.0-only
//! Caveats: runs that need something missing have one, other runs have none.

use super::*;
use crate::face::sysctl::Sysctl;
use alight_machine::{CpuSet, Machine};
use alight_workload::Mode;

/// The changes of a case to a run of hackbench on a machine.
#[derive(Default)]
struct Case {
    machine: &'static str,
    bases: &'static [&'static str],
    governor: Option<Governor>,
    edit: Option<fn(&mut Machine)>,
    load: Option<fn(&mut Workload)>,
    changes: Vec<Change>,
    sysctls: Vec<Sysctl>,
    /// A part of the caveat; empty: there is no caveat.
    says: &'static str,
}

fn said_of(case: &Case) -> Vec<String> {
    let mut machine = alight_machine::load(case.machine)
        .expect("built in")
        .machine;
    if let Some(edit) = case.edit {
        edit(&mut machine);
    }
    let loaded = Workload::load("hackbench -g 1 -l 1", Mode::Workgen);
    let mut workload = loaded.expect("valid").workload;
    if let Some(load) = case.load {
        load(&mut workload);
    }
    let schedulers: Vec<Scheduler> = (case.bases.iter())
        .map(|name| Scheduler::parse(name).expect("valid"))
        .collect();
    // A scheduler without runs has no caveats.
    let any = Scheduler::parse("linux-6.5").expect("valid");
    let scenario = Scenario {
        governor: case.governor,
        changes: &case.changes,
        sysctls: &case.sysctls,
        ..Scenario::new(&machine, std::slice::from_ref(&workload), &any)
    };
    caveats(&scenario, &schedulers)
}

fn begin_with(workload: &mut Workload, op: Op) {
    workload.programs[0].ops.insert(0, op);
}

fn set_nice(workload: &mut Workload, nice: i32) {
    let attributes = workload.attributes.len() as u32;
    workload.attributes.push(Attributes {
        nice: Some(nice),
        ..Attributes::default()
    });
    begin_with(workload, Op::SetAttributes { attributes });
}

#[test]
fn what_is_missing_is_said_where_it_matters_and_nowhere_else() {
    let offline = || Change {
        at_ns: 5,
        action: Action::Offline(CpuSet::single(1)),
    };
    let case = |machine, bases, says| Case {
        machine,
        bases,
        says,
        ..Case::default()
    };
    let cases = [
        // No caveat.
        case("juno-r0", &["linux-6.5"], ""),
        case("juno-r0", &["linux-5.4", "linux-7.2+bias-prev"], ""),
        case("sdm845", &["linux-6.5"], ""),
        case("ca9x4", &["linux-3.9"], ""),
        case("tc2", &["linux-3.9"], ""),
        // A governor that the kernel did not have.
        Case {
            governor: Some(Governor::Schedutil),
            ..case(
                "tc2",
                &["linux-3.9"],
                "schedutil came with Linux 4.7: linux-3.9 had ondemand and conservative",
            )
        },
        Case {
            governor: Some(Governor::Schedutil),
            ..case(
                "hikey620",
                &["linux-6.5", "linux-3.9+pack"],
                "4.7: linux-3.9 had",
            )
        },
        Case {
            governor: Some(Governor::Schedutil),
            ..case("tc2", &["linux-5.4"], "")
        },
        Case {
            // One operating point: there is nothing to govern.
            governor: Some(Governor::Schedutil),
            ..case("ca9x4", &["linux-3.9"], "")
        },
        // Machines that an old kernel treats like others.
        Case {
            governor: Some(Governor::Performance),
            ..case(
                "juno-r0",
                &["linux-3.9"],
                "linux-3.9 knew only the capacities of Cortex-A15 and A7",
            )
        },
        Case {
            governor: Some(Governor::Performance),
            ..case("hikey620", &["linux-3.9"], "")
        },
        case(
            "sdm845",
            &["linux-5.4", "linux-5.5", "linux-6.1"],
            "under linux-5.4 and linux-5.5 those of this machine are never entered",
        ),
        Case {
            edit: Some(|machine| machine.levels[0].name = "CLS".to_owned()),
            ..case(
                "hikey620",
                &["linux-5.5", "linux-6.1"],
                "linux-5.5 does not know those of this machine",
            )
        },
        Case {
            edit: Some(|machine| machine.levels[0].name = "CLS".to_owned()),
            ..case("hikey620", &["linux-6.1"], "")
        },
        // Machines with more than the model has.
        Case {
            edit: Some(|machine| machine.freq_domains[0].opps[0].em_power_uw = 0),
            ..case("juno-r0", &["linux-6.5"], "energy-aware placement is off")
        },
        Case {
            edit: Some(|machine| machine.freq_domains[0].opps[0].em_power_uw = 0),
            governor: Some(Governor::Performance),
            ..case("juno-r0", &["linux-6.5"], "")
        },
        case("epyc-9654-2s", &["linux-6.5"], "NUMA balancing"),
        Case {
            edit: Some(|machine| {
                machine.core_types[0].smt_percent = 100;
                machine.cpus.iter_mut().for_each(|cpu| cpu.node = 0);
            }),
            ..case("epyc-9654-2s", &["linux-6.5"], "no smt_percent")
        },
        Case {
            edit: Some(|machine| {
                let little = machine.core_types[0].clone();
                machine.core_types.push(little);
                machine.cpus.iter_mut().for_each(|cpu| cpu.node = 0);
            }),
            ..case(
                "epyc-9654-2s",
                &["linux-6.5"],
                "the machine file has no [itmt]",
            )
        },
        case("i7-1370p", &["linux-6.5"], ""),
        case("ultra7-258v", &["linux-6.8", "linux-7.2"], ""),
        Case {
            edit: Some(|machine| {
                for cpu in &mut machine.cpus {
                    cpu.stated_speed = Some(cpu.capacity_orig);
                    cpu.capacity_orig = 1024;
                }
            }),
            ..case(
                "ultra7-258v",
                &["linux-6.8", "linux-7.2"],
                "linux-7.2 sees unlike ones",
            )
        },
        Case {
            edit: Some(|machine| machine.levels.retain(|level| level.name != "CLS")),
            ..case(
                "i7-1370p",
                &["linux-5.5", "linux-7.2"],
                "linux-5.5 pulled tasks to the cores that the firmware ranks first (ITMT)",
            )
        },
        Case {
            edit: Some(|machine| machine.one_processor = true),
            ..case(
                "hikey620",
                &["linux-6.5"],
                "share their one processor equally",
            )
        },
        Case {
            changes: vec![offline()],
            ..case("juno-r0", &["linux-6.5"], "the time of a hotplug")
        },
        // Workloads that request more than the model has.
        Case {
            load: Some(|load| load.tasks[0].attributes.slice_ns = Some(1_000_000)),
            ..case("juno-r0", &["linux-7.2"], "")
        },
        Case {
            load: Some(|load| load.tasks[0].attributes.slice_ns = Some(1_000_000)),
            ..case(
                "juno-r0",
                &["linux-6.5", "linux-7.2"],
                "they have no effect in linux-6.5",
            )
        },
        Case {
            sysctls: vec!["sched_rt_runtime_us=-1".parse().expect("valid")],
            ..case(
                "juno-r0",
                &["linux-6.5", "linux-7.2"],
                "only the admission to SCHED_DEADLINE in linux-7.2",
            )
        },
        Case {
            edit: Some(|machine| machine.core_types[1].name = "Cortex-A73".into()),
            ..case(
                "tc2",
                &["linux-3.9"],
                "knew only the capacities of Cortex-A15 and A7",
            )
        },
        Case {
            load: Some(|load| load.tasks[0].attributes.uclamp_max = Some(100)),
            ..case("tc2", &["linux-3.9"], "they have no effect in linux-3.9")
        },
        Case {
            load: Some(|load| load.tasks[0].attributes.uclamp_max = Some(100)),
            ..case("juno-r0", &["linux-5.4"], "")
        },
        Case {
            load: Some(|load| {
                load.tasks[0].attributes.policy = Some(Policy::Deadline);
                load.tasks[1].attributes.policy = Some(Policy::Fifo);
            }),
            ..case(
                "juno-r0",
                &["linux-5.5", "linux-6.1"],
                "linux-5.5 also pushed real-time tasks",
            )
        },
        Case {
            load: Some(|load| load.tasks[1].attributes.policy = Some(Policy::Fifo)),
            ..case("juno-r0", &["linux-5.5"], "")
        },
        Case {
            load: Some(|load| set_nice(load, 5)),
            ..case("juno-r0", &["linux-6.5"], "a change of nice")
        },
        Case {
            // The nice value that the task already has.
            load: Some(|load| set_nice(load, 0)),
            ..case("juno-r0", &["linux-6.5"], "")
        },
        Case {
            load: Some(|load| load.tasks[0].attributes.nice = Some(5)),
            ..case("juno-r0", &["linux-6.5"], "")
        },
        Case {
            load: Some(|load| begin_with(load, Op::Memory { bytes: 64 })),
            ..case("juno-r0", &["linux-6.5"], "bandwidth of memory")
        },
        Case {
            load: Some(|load| begin_with(load, Op::Io { bytes: 64 })),
            ..case("juno-r0", &["linux-6.5"], "devices")
        },
        Case {
            load: Some(|load| load.left_out = vec!["the moon".to_owned()]),
            ..case("juno-r0", &["linux-6.5"], "the moon")
        },
    ];
    for case in cases {
        let said = said_of(&case);
        let what = (case.machine, case.bases, case.says);
        match case.says {
            "" => assert_eq!(said, [""; 0], "{what:?}"),
            says => {
                assert_eq!(said.len(), 1, "{what:?}: {said:?}");
                assert!(said[0].contains(says), "{what:?}: {said:?}");
            }
        }
    }
}

/// Each base except 3.9 on each board without domain states, with default settings.
#[test]
fn a_base_by_itself_has_no_caveats_where_its_kernel_had_all() {
    for machine in ["juno-r0", "juno-r2", "hikey620", "rk3588", "gs101"] {
        for base in &alight_policy::scheduler::BASES[1..] {
            let said = said_of(&Case {
                machine,
                bases: std::slice::from_ref(&base.name),
                ..Case::default()
            });
            assert_eq!(said, [""; 0], "{machine} {}", base.name);
        }
    }
}
