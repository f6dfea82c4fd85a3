// SPDX-License-Identifier: GPL-2.0-only
//! Task groups, as users type them: by the names of the files of a cgroup.

use alight_sim::Cgroup;

/// One option with what it describes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupOption {
    /// As typed.
    pub text: String,
    /// The group.
    pub group: Cgroup,
}

const GROUP_LIKE: &str = "/background:weight=50,uclamp.max=40";
const KEYS: &str =
    "weight (1 to 10000), idle (0 or 1), uclamp.min and uclamp.max (percent, or max)";

/// A group: its path, and behind a colon what its files `cpu.weight`, `cpu.idle`,
/// `cpu.uclamp.min` and `cpu.uclamp.max` hold.
///
/// # Errors
/// Anything else, with what was found and what was expected.
pub fn group(text: &str) -> Result<GroupOption, String> {
    let refuse = |why: String| Err(format!("{why}; expected like {GROUP_LIKE}"));
    let (name, settings) = text.split_once(':').unwrap_or((text, ""));
    if !name.starts_with('/') || name == "/" {
        return refuse(format!("'{name}' is no path of a group below the root"));
    }
    if name[1..].contains('/') {
        return refuse(format!(
            "'{name}' is a group within a group, but only one level is modelled"
        ));
    }
    let mut group = Cgroup::new(name);
    for setting in settings.split(',').filter(|setting| !setting.is_empty()) {
        if let Err(why) = set(&mut group, setting) {
            return refuse(format!("'{setting}': {why}"));
        }
    }
    Ok(GroupOption {
        text: text.to_owned(),
        group,
    })
}

fn set(group: &mut Cgroup, setting: &str) -> Result<(), String> {
    let (key, value) = setting.split_once('=').ok_or("there is no value")?;
    match key.strip_prefix("cpu.").unwrap_or(key) {
        "weight" => match value.parse() {
            Ok(weight @ 1..=10_000) => group.weight = weight,
            _ => return Err("a weight is 1 to 10000".into()),
        },
        "idle" => match value {
            "0" | "1" => group.idle = value == "1",
            _ => return Err("idle is 0 or 1".into()),
        },
        "uclamp.min" => group.uclamp_min = clamp(value)?,
        "uclamp.max" => group.uclamp_max = clamp(value)?,
        _ => return Err(format!("a group has {KEYS}")),
    }
    Ok(())
}

/// `capacity_from_percent`: two places behind the point count.
fn clamp(value: &str) -> Result<u32, String> {
    let wrong = || Err("a clamp of a group is a percentage of 0 to 100, like 37.5, or max".into());
    if value == "max" {
        return Ok(1024);
    }
    let (whole, rest) = value.split_once('.').unwrap_or((value, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || whole.len() > 3 || rest.len() > 2 || !digits(whole) || !digits(rest) {
        return wrong();
    }
    let hundredths: u32 = format!("{whole}{rest:0<2}").parse().unwrap_or(u32::MAX);
    match hundredths {
        0..=10_000 => Ok((hundredths * 1024 + 5_000) / 10_000),
        _ => wrong(),
    }
}

#[cfg(test)]
mod tests;
