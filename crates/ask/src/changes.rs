// SPDX-License-Identifier: GPL-2.0-only
//! What is to happen to the machine, as users type it: `100ms:off:2-3,500ms:on:2`.

use alight_machine::CpuSet;
use alight_sim::{Action, Change, Limit};

use crate::duration;

/// One option with all that it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    /// As typed.
    pub text: String,
    /// In the order given.
    pub changes: Vec<Change>,
}

/// CPUs that go off and come back: a list of `TIME:off:CPUS` and `TIME:on:CPUS`.
///
/// # Errors
/// Anything else, with the item, what was found and what was expected.
pub fn hotplug(text: &str) -> Result<Changes, String> {
    let action = |what: &str, rest: &str| {
        let cpus = cpus(rest)?;
        match what {
            "off" => Ok(Action::Offline(cpus)),
            "on" => Ok(Action::Online(cpus)),
            _ => Err(format!("'{what}' is neither 'off' nor 'on'")),
        }
    };
    list(text, "100ms:off:2-3,500ms:on:2", |item| {
        let (what, rest) = item.split_once(':').ok_or("there are no CPUs")?;
        action(what, rest)
    })
}

/// Limits of frequencies: a list of `TIME:CPUS:KHZ`, or `TIME:CPUS:max` for none.
///
/// # Errors
/// Anything else, with the item, what was found and what was expected.
pub fn cap(text: &str) -> Result<Changes, String> {
    limits(text, Limit::Administrator)
}

/// The same by the thermal framework.
///
/// # Errors
/// As [`cap`].
pub fn thermal(text: &str) -> Result<Changes, String> {
    limits(text, Limit::CoolingDevice)
}

/// From when on mechanism and meters count.
///
/// # Errors
/// What is no time.
pub fn count_from(text: &str) -> Result<Changes, String> {
    Ok(Changes {
        text: text.to_owned(),
        changes: vec![Change::count_from(duration::parse(text)?)],
    })
}

fn limits(text: &str, by: Limit) -> Result<Changes, String> {
    list(text, "1s:4-5:1200000,3s:4-5:max", |item| {
        let (on, khz) = item.split_once(':').ok_or("there is no frequency")?;
        let khz = match khz {
            "max" => u32::MAX,
            khz => match khz.parse() {
                Ok(khz) if khz != 0 => khz,
                _ => return Err(format!("'{khz}' is no frequency in kHz")),
            },
        };
        let cpus = cpus(on)?;
        Ok(Action::Limit { cpus, by, khz })
    })
}

/// Items of `TIME:…`, separated by commas; one without a colon continues the CPUs of the one before.
fn list(
    text: &str,
    example: &str,
    action: impl Fn(&str) -> Result<Action, String>,
) -> Result<Changes, String> {
    let mut items: Vec<String> = vec![];
    for part in text.split(',') {
        match items.last_mut() {
            Some(last) if !part.contains(':') => {
                last.push(',');
                last.push_str(part);
            }
            _ => items.push(part.to_owned()),
        }
    }
    let change = |item: &String| {
        let (at, rest) = item.split_once(':').ok_or("nothing follows the time")?;
        let at_ns = duration::parse(at)?;
        let action = action(rest)?;
        Ok(Change { at_ns, action })
    };
    let changes: Result<_, String> = items
        .iter()
        .map(|item| {
            change(item).map_err(|why: String| format!("'{item}': {why}; expected like {example}"))
        })
        .collect();
    Ok(Changes {
        text: text.to_owned(),
        changes: changes?,
    })
}

fn cpus(text: &str) -> Result<CpuSet, String> {
    let cpus: CpuSet = text.parse().map_err(|e| format!("{e}"))?;
    match cpus.is_empty() {
        true => Err("there are no CPUs".to_owned()),
        false => Ok(cpus),
    }
}

#[cfg(test)]
mod tests;
