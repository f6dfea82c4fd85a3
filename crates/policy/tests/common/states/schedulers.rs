// SPDX-License-Identifier: GPL-2.0-only
//! The schedulers that everything is asked of: all that the tables of bases and features hold.

use alight_policy::Scheduler;
use alight_policy::scheduler::{BASES, FEATURES, On, Values};

/// Every base alone and with every set of features that goes with it.
pub fn combinations() -> Vec<Scheduler> {
    let mut all = Vec::new();
    for base in BASES {
        for set in 0..1u32 << FEATURES.len() {
            let chosen = || (0..FEATURES.len()).filter(|i| set & 1 << i != 0);
            if chosen().any(|i| matches!(FEATURES[i].meaning(base), On::Not(_))) {
                continue;
            }
            let name = chosen().fold(base.name.to_owned(), |name, i| {
                format!("{name}+{}", FEATURES[i].name)
            });
            all.push(Scheduler::parse(&name).expect("a combination of the table"));
        }
    }
    all
}

/// Every base with one feature that is told one or two things which go together.
pub fn tuned() -> Vec<Scheduler> {
    let mut all: Vec<Scheduler> = Vec::new();
    for base in BASES {
        for feature in FEATURES {
            let options: Vec<(&str, String)> = (feature.tunables.iter())
                .flat_map(|t| values(t.values).into_iter().map(|v| (t.name, v)))
                .collect();
            for (i, (one, value)) in options.iter().enumerate() {
                let single = format!("{}+{}:{one}={value}", base.name, feature.name);
                let pairs = (options[i + 1..].iter())
                    .filter(|(other, _)| other != one)
                    .map(|(other, value)| format!("{single}:{other}={value}"));
                let fitting = std::iter::once(single.clone()).chain(pairs);
                for scheduler in fitting.filter_map(|name| Scheduler::parse(&name).ok()) {
                    if all.iter().all(|known| known.params != scheduler.params) {
                        all.push(scheduler);
                    }
                }
            }
        }
    }
    all
}

/// Values to try, as typed.
fn values(of: Values) -> Vec<String> {
    match of {
        Values::Flag => vec!["on".to_owned(), "off".to_owned()],
        Values::Number(least, most) => [least, least + (most - least) / 8, most]
            .map(|n| n.to_string())
            .into(),
        Values::Word(words) => words.iter().map(|word| (*word).to_owned()).collect(),
    }
}
