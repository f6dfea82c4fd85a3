// SPDX-License-Identifier: GPL-2.0-only
//! The features: placement policies that can be added to a base, with their tunables, their
//! changes to the base's rules, and their meaning on each base.

use crate::abi::{Params, rule};
use crate::bases::{Base, Release};

/// A placement policy that can be added to a base.
#[derive(Debug)]
pub struct Feature {
    /// The name that users type after `+`.
    pub name: &'static str,
    /// Its effect, one line.
    pub summary: &'static str,
    /// The publication.
    pub source: &'static str,
    /// The steps that only it has, names of [`crate::STEPS`]. A feature without any changes which
    /// CPUs the base's steps take.
    pub steps: &'static [&'static str],
    /// Its tunables. `FEATURE=VALUE` sets the first.
    pub tunables: &'static [Tunable],
    /// The bases that cannot have it: those up to and including the release, and why. The oldest
    /// first.
    pub(crate) not: &'static [(Release, &'static str)],
    /// The first release that has it, if it was merged.
    pub(crate) merged: Option<Release>,
    /// The property of machine or load without which it does nothing.
    pub needs: Needs,
    pub(crate) bit: u64,
    /// Changes the base's rules. An error says why the options exclude each other, or cannot be set
    /// on this base.
    pub(crate) apply: fn(&mut Params, &Options) -> Result<(), &'static str>,
}

impl Feature {
    /// Its meaning on `base`.
    pub fn meaning(&self, base: &Base) -> On {
        let refused = self.not.iter().find(|(last, _)| base.release <= *last);
        match (refused, self.merged) {
            (Some((_, why)), _) => On::Not(why),
            (None, Some(since)) if since <= base.release => On::Merged(since),
            _ => On::New,
        }
    }
}

/// What a feature means on a base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum On {
    /// The base lacks it.
    New,
    /// The base has it since this release: only its tunables change something.
    Merged(Release),
    /// It cannot be added to the base, and why.
    Not(&'static str),
}

/// The property of machine or load that a feature needs. Without it a run is that of the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Wakeups.
    Wakeups,
    /// CPUs that differ in capacity.
    Asymmetry,
    /// A level each of whose groups can be power gated alone.
    PowerGating,
    /// Tasks under `SCHED_IDLE`.
    SchedIdle,
    /// Utilization clamps.
    Clamps,
}

impl Needs {
    /// In words.
    pub fn as_str(self) -> &'static str {
        match self {
            Needs::Wakeups => "wakeups",
            Needs::Asymmetry => "CPUs that differ in capacity",
            Needs::PowerGating => {
                "CPUs that can be power gated separately (`power_gated` in the machine's file)"
            }
            Needs::SchedIdle => "tasks under SCHED_IDLE",
            Needs::Clamps => "tasks with utilization clamps",
        }
    }
}

/// A tunable of a feature, set as `FEATURE:NAME=VALUE`.
#[derive(Debug)]
pub struct Tunable {
    /// The name that users type after `:`.
    pub name: &'static str,
    /// Its effect, one line.
    pub summary: &'static str,
    /// The values that it may have.
    pub values: Values,
    /// Its default, in words or as users type it.
    pub default: &'static str,
}

/// Values of a tunable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Values {
    /// `on` or `off`; the name alone means `on`.
    Flag,
    /// A whole number in these bounds.
    Number(u32, u32),
    /// One of these words; the value is the index of the word.
    Word(&'static [&'static str]),
}

impl Values {
    /// The valid values in words, for messages and help.
    pub fn expected(self) -> String {
        match self {
            Values::Flag => "on or off".to_owned(),
            Values::Number(least, most) => format!("a whole number from {least} to {most}"),
            Values::Word(words) => match words.split_last() {
                Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
                _ => words.join(""),
            },
        }
    }

    /// The value that this text stands for.
    pub(crate) fn parse(self, text: Option<&str>) -> Option<u32> {
        match (self, text) {
            (Values::Flag, None | Some("on")) => Some(1),
            (Values::Flag, Some("off")) => Some(0),
            (Values::Number(least, most), Some(text)) => {
                text.parse().ok().filter(|n| (least..=most).contains(n))
            }
            (Values::Word(words), Some(text)) => {
                let place = words.iter().position(|&word| word == text)?;
                Some(place as u32)
            }
            _ => None,
        }
    }

    /// The value as users type it.
    pub(crate) fn text(self, value: u32) -> String {
        match self {
            Values::Flag => ["off", "on"][usize::from(value != 0)].to_owned(),
            Values::Number(..) => value.to_string(),
            Values::Word(words) => words[value as usize].to_owned(),
        }
    }
}

/// The tunables that were named, by name.
#[derive(Debug, Default)]
pub(crate) struct Options(pub(crate) Vec<(&'static str, u32)>);

impl Options {
    fn get(&self, name: &str) -> Option<u32> {
        let named = self.0.iter().find(|(known, _)| *known == name);
        named.map(|&(_, value)| value)
    }

    fn is(&self, name: &str) -> bool {
        self.get(name) == Some(1)
    }
}

/// All features, in the order in which a scheduler's canonical name has them.
pub const FEATURES: &[Feature] = &[ASYM_CAPACITY, PACK, SCHED_IDLE, UCLAMP_SUM, BIAS_PREV];

const ASYM_CAPACITY: Feature = Feature {
    name: "asym-capacity",
    summary: "takes an idle CPU that is big enough, instead of wake_cap and the slow path",
    source: "\"sched/fair: Capacity aware wakeup rework\" v4, February 2020, merged in 5.7",
    steps: &["asym_fits", "asym_min_clamp", "asym_biggest", "asym_target"],
    tunables: &[
        Tunable {
            name: "prev-first",
            summary: "takes the target, previous or recent CPU before the scan if it is idle and big \
                      enough (5.10)",
            values: Values::Flag,
            default: "off; as the base from linux-5.10 on",
        },
        Tunable {
            name: "clamps",
            summary: "a CPU must fit the utilization and each clamp separately (6.1)",
            values: Values::Flag,
            default: "off; as the base from linux-5.10 on",
        },
        Tunable {
            name: "smt",
            summary: "prefers idle cores to idle threads, within the scan's budget if it has one (7.2); \
                      includes clamps",
            values: Values::Flag,
            default: "off; as the base from linux-7.2 on",
        },
        Tunable {
            name: "hog",
            summary: "cap-orig: the scan for a task that fits no CPU ends at the first idle CPU of the \
                      largest original capacity without pressure (v3)",
            values: Values::Word(&["scan", "cap-orig"]),
            default: "scan",
        },
    ],
    not: &[(
        Release::new(3, 9),
        "Linux 3.9 tracks no utilization to compare with a capacity",
    )],
    merged: Some(Release::new(5, 7)),
    needs: Needs::Asymmetry,
    bit: 1 << 0,
    apply: |k, options| {
        if k.asym == rule::ASYM_IGNORED {
            k.wake_cap = 0;
            if k.fit == rule::FIT_PLAIN {
                k.fit = rule::FIT_CLAMPED;
            }
            k.asym = rule::ASYM_FIRST;
            k.asym_at_once = 1;
        }
        match options.get("clamps") {
            Some(0) => k.asym = rule::ASYM_FIRST,
            Some(_) if k.asym == rule::ASYM_FIRST => k.asym = rule::ASYM_FITS,
            _ => {}
        }
        match options.get("smt") {
            Some(0) if k.asym == rule::ASYM_CORES => k.asym = rule::ASYM_FITS,
            Some(1) if options.get("clamps") == Some(0) => {
                return Err("smt ranks CPUs by how they fit clamps: leave out clamps=off");
            }
            Some(1) => {
                k.asym = rule::ASYM_CORES;
                k.shared_by_asym = 1;
            }
            _ => {}
        }
        if let Some(first) = options.get("prev-first") {
            k.asym_at_once = u32::from(first == 0);
        }
        if options.is("hog") {
            if k.asym != rule::ASYM_FIRST {
                return Err(
                    "hog=cap-orig is a step of the scan without clamps: add clamps=off, leave out smt",
                );
            }
            k.asym_hog = 1;
        }
        Ok(())
    },
};

const PACK: Feature = Feature {
    name: "pack",
    summary: "packs light tasks, or all tasks, on as few power domains as their activity needs",
    source: "\"sched: packing small tasks\" v4, April 2013, on 3.9; v5, October 2013; not merged",
    steps: &["pack_buddy", "pack_full", "pack_near"],
    tunables: &[
        Tunable {
            name: "mode",
            summary: "default: light tasks go to the buddy of their CPU; full: all tasks go to the CPUs \
                      that take part, and balancing keeps them there; none: nothing is packed",
            values: Values::Word(&["none", "default", "full"]),
            default: "default",
        },
        Tunable {
            name: "signals",
            summary: "signal that decides light, busy and full: 2013: runnable time as tracked in 2013; \
                      pelt: the base's averages",
            values: Values::Word(&["2013", "pelt"]),
            default: "pelt; 2013 on linux-3.9",
        },
        Tunable {
            name: "at",
            summary: "load that decides whether a task is light: sleep: as it fell asleep; wake: decayed \
                      over its sleep",
            values: Values::Word(&["sleep", "wake"]),
            default: "sleep",
        },
        Tunable {
            name: "light",
            summary: "a task is light below this percentage of a CPU",
            values: Values::Number(0, 100),
            default: "20",
        },
        Tunable {
            name: "level",
            summary: "with mode=full: how far the CPUs that take part are filled, in percent; 0: all CPUs \
                      take part; if given, new tasks and busy CPUs follow the rules of v5",
            values: Values::Number(0, 100),
            default: "80, and the rules of v4",
        },
    ],
    not: &[],
    merged: None,
    needs: Needs::PowerGating,
    bit: 1 << 3,
    apply: |k, options| {
        let mode = options.get("mode").unwrap_or(rule::PACK_DEFAULT);
        if options.get("level").is_some() && mode != rule::PACK_FULL {
            return Err("level belongs to mode=full: add mode=full, or leave out level");
        }
        let has_pelt = k.load != rule::LOAD_WEIGHT;
        let pelt = options.get("signals").unwrap_or(has_pelt.into());
        if pelt != 0 && !has_pelt {
            return Err(
                "Linux 3.9 tracks no utilization, only sums of runnable time: use signals=2013",
            );
        }
        if mode == rule::PACK_NONE {
            return Ok(());
        }
        k.pack = mode;
        k.pack_pelt = pelt;
        k.pack_at_wake = options.is("at").into();
        k.pack_light = options.get("light").unwrap_or(20);
        k.pack_level = options.get("level").unwrap_or(80);
        k.pack_by_level = options.get("level").is_some().into();
        Ok(())
    },
};

const SCHED_IDLE: Feature = Feature {
    name: "sched-idle",
    summary: "every search takes at once a CPU that runs only SCHED_IDLE tasks",
    source: "\"sched/fair: Make sched-idle CPU selection consistent throughout\" V2, November 2019, \
             merged in 5.6",
    steps: &[],
    tunables: &[
        Tunable {
            name: "balance",
            summary: "balancing treats such a CPU as idle, and looks for work as soon as a CPU becomes \
                      one (5.7)",
            values: Values::Flag,
            default: "off; on from linux-5.10 on",
        },
        Tunable {
            name: "wakee",
            summary: "tasks for which such a CPU counts as idle: any task, or normal tasks, which are \
                      not SCHED_IDLE themselves (7.1)",
            values: Values::Word(&["any", "normal"]),
            default: "any; normal from linux-7.1 on",
        },
    ],
    not: &[(
        Release::new(3, 9),
        "the searches of Linux 3.9 do not recognise a CPU that runs only SCHED_IDLE tasks",
    )],
    merged: Some(Release::new(5, 6)),
    needs: Needs::SchedIdle,
    bit: 1 << 1,
    apply: |k, options| {
        if k.sched_idle == rule::SCHED_IDLE_LAST {
            k.sched_idle = rule::SCHED_IDLE_AVAIL;
        }
        match options.get("wakee") {
            Some(0) => k.sched_idle = rule::SCHED_IDLE_AVAIL,
            Some(_) => k.sched_idle = rule::SCHED_IDLE_NORMAL,
            None => {}
        }
        if let Some(balance) = options.get("balance") {
            k.sched_idle_balance = balance;
        }
        Ok(())
    },
};

const UCLAMP_SUM: Feature = Feature {
    name: "uclamp-sum",
    summary: "adds up the clamped utilizations of a queue's tasks, instead of the largest clamp for all",
    source: "\"sched: uclamp sum aggregation\", RFC, October 2023, on 6.6-rc; RFC v2, February \
             2024; \"uclamp sum aggregation\" v2, March 2025",
    steps: &[],
    tunables: &[
        Tunable {
            name: "form",
            summary: "v1: sums that decay like PELT (2023); v2: sums that follow a migrating task at once \
                      (2024); bias: sums of the changes by clamping, beside utilization (2024, 2025)",
            values: Values::Word(&["v1", "v2", "bias"]),
            default: "v1",
        },
        Tunable {
            name: "margin",
            summary: "a CPU counts as capped if its utilization exceeds the clamped sum by more than this, \
                      of 1024; with form=v1",
            values: Values::Number(0, 1024),
            default: "80",
        },
        Tunable {
            name: "fix",
            summary: "raises an upper clamp to the share that another task of the queue gets for its \
                      weight (2025); with form=bias",
            values: Values::Flag,
            default: "off",
        },
    ],
    not: &[
        (
            Release::new(3, 9),
            "Linux 3.9 has neither clamps nor a frequency chosen by utilization",
        ),
        (
            Release::new(5, 4),
            "clamps count in the frequency of Linux 5.4 only, not in placement",
        ),
    ],
    merged: None,
    needs: Needs::Clamps,
    bit: 1 << 4,
    apply: |k, options| {
        let form = options.get("form").unwrap_or(0);
        if options.is("fix") && form != 2 {
            return Err("fix belongs to the biases: add form=bias");
        }
        if options.get("margin").is_some() && form != 0 {
            return Err("margin belongs to the first form: leave out form or margin");
        }
        k.aggregate = [
            rule::AGGREGATE_SUM,
            rule::AGGREGATE_SUM_AT_ONCE,
            rule::AGGREGATE_BIAS,
        ][form as usize];
        k.cap_margin = match form {
            0 => options.get("margin").unwrap_or(80),
            _ => 0,
        };
        k.uclamp_factor = options.is("fix").into();
        Ok(())
    },
};

const BIAS_PREV: Feature = Feature {
    name: "bias-prev",
    summary: "takes the previous CPU first if it is idle or has spare capacity, and last if no CPU is idle",
    source: "\"sched/fair: Introduce WAKEUP_BIAS_PREV to reduce migrations\", RFC, October 2023, \
             on 6.5.5",
    steps: &["bias_prev", "bias_room", "bias_last"],
    tunables: &[
        Tunable {
            name: "spare",
            summary: "capacity that must be free on a busy previous CPU, of 1024",
            values: Values::Number(0, 1024),
            default: "256",
        },
        Tunable {
            name: "idle-only",
            summary: "the form of September 2023: changes only that a CPU whose load is at most 47 counts \
                      as idle",
            values: Values::Flag,
            default: "off",
        },
        Tunable {
            name: "fits",
            summary: "UTIL_FITS_CAPACITY of the successor: takes a busy target, previous or recent CPU \
                      if the task fits beside its other tasks",
            values: Values::Flag,
            default: "off",
        },
        Tunable {
            name: "select",
            summary: "SELECT_BIAS_PREV of the successor: tries the previous CPU first and takes it last, \
                      by the test of fits if that is on too, else only if it is idle",
            values: Values::Flag,
            default: "off",
        },
    ],
    not: &[(
        Release::new(3, 9),
        "Linux 3.9 has no utilization estimate (util_est)",
    )],
    merged: None,
    needs: Needs::Wakeups,
    bit: 1 << 2,
    apply: |k, options| {
        let (idle_only, fits, select) = (
            options.is("idle-only"),
            options.is("fits"),
            options.is("select"),
        );
        let forms = usize::from(idle_only)
            + usize::from(fits || select)
            + usize::from(options.get("spare").is_some());
        if forms > 1 {
            return Err(
                "spare, idle-only and fits:select are three forms of the policy: choose one",
            );
        }
        k.bias_prev = u32::from(select || !(idle_only || fits));
        k.bias_spare = options.get("spare").unwrap_or(256);
        k.room = match (idle_only, fits, select) {
            (true, ..) => rule::ROOM_ALMOST_IDLE,
            (_, true, _) => rule::ROOM_FITS,
            (_, _, true) => rule::ROOM_NONE,
            _ => rule::ROOM_SPARE,
        };
        Ok(())
    },
};
