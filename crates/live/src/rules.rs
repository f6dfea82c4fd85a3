// SPDX-License-Identifier: GPL-2.0-only
//! Hands rules to the kernel side (`src/bpf/rules.h`): the rules as constants, and the rules that
//! each cgroup meets by its path, which are updated as cgroups come and go.

use crate::say::say;
use crate::skeleton::{AlightSkel, types};
use alight_rules::{LONGEST_PATTERN, MOST, Policy, Rule, met_by_cgroup};
use libbpf_rs::{MapCore, MapFlags, OpenMapMut};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The most cgroups that can be known; those that are found after them meet no rule by path.
const MOST_CGROUPS: usize = 1 << 16;
/// The least time between two walks of the hierarchy, however fast cgroups come.
const WALK_AGAIN: Duration = Duration::from_secs(1);

/// Why rules cannot be met.
#[derive(Debug, thiserror::Error)]
pub enum RulesNotMet {
    /// There are no cgroups to match.
    #[error(
        "a rule asks for a cgroup, but there is no v2 hierarchy: {} has no cgroup.controllers",
        .0.display()
    )]
    NoCgroups(PathBuf),
    /// The kernel side cannot be told.
    #[error("telling the BPF program about cgroups: {0}")]
    Map(libbpf_rs::Error),
}

/// Hands the rules to the kernel side. There are [`MOST`] of them at most.
pub fn hand_over(rules: &[Rule], rodata: &mut types::rodata) {
    rodata.nr_rules = rules.len().min(MOST) as u32;
    rodata.rules_ask_cgroups = ask_cgroups(rules);
    rodata.rules_of_any_cgroup = of_any_cgroup(rules);
    for (rule, to) in rules.iter().zip(&mut rodata.rules) {
        *to = compiled(rule);
    }
}

/// `RULE_*` of rules.h.
mod asks {
    pub const COMM: u32 = 1 << 0;
    pub const PID: u32 = 1 << 1;
    pub const NICE: u32 = 1 << 2;
    pub const POLICY: u32 = 1 << 3;
}

/// `RULE_NO_CLAMP`.
const NO_CLAMP: u16 = 0xffff;

fn compiled(rule: &Rule) -> types::rule {
    let mut to = types::rule::default();
    let mut ask = |which, asked| {
        if asked {
            to.asks |= which;
        }
    };
    ask(asks::COMM, rule.comm.is_some());
    ask(asks::PID, rule.pid.is_some());
    ask(asks::NICE, rule.nice.is_some());
    ask(asks::POLICY, rule.policy.is_some());
    let comm = rule.comm.as_deref().unwrap_or_default();
    for (to, from) in to
        .comm
        .iter_mut()
        .zip(&comm[..comm.len().min(LONGEST_PATTERN)])
    {
        *to = *from;
    }
    to.pid = rule.pid.unwrap_or(0);
    let (first, last) = rule.nice.unwrap_or((0, 0));
    (to.nice_first, to.nice_last) = (first.into(), last.into());
    to.policy = match rule.policy {
        Some(Policy::Batch) => alight_policy::abi::class::BATCH,
        Some(Policy::Idle) => alight_policy::abi::class::IDLE,
        Some(Policy::Normal) | None => alight_policy::abi::class::NORMAL,
    };
    to.uclamp_min = rule.uclamp_min.unwrap_or(NO_CLAMP);
    to.uclamp_max = rule.uclamp_max.unwrap_or(NO_CLAMP);
    to
}

fn ask_cgroups(rules: &[Rule]) -> bool {
    rules.iter().any(|rule| rule.cgroup.is_some())
}

fn of_any_cgroup(rules: &[Rule]) -> u64 {
    let bits = (0..).zip(rules.iter().take(MOST));
    bits.filter(|(_, rule)| rule.cgroup.is_none())
        .map(|(n, _)| 1u64 << n)
        .sum()
}

/// Makes room for the cgroups, if a rule asks for them.
///
/// # Errors
/// libbpf refuses.
pub fn size(rules: &[Rule], map: &mut OpenMapMut<'_>) -> libbpf_rs::Result<()> {
    match ask_cgroups(rules) {
        true => map.set_max_entries(MOST_CGROUPS as u32),
        false => Ok(()),
    }
}

/// What the kernel side knows of cgroups.
#[derive(Debug)]
pub struct Cgroups {
    rules: Vec<Rule>,
    /// Of the v2 hierarchy; `None`: no rule asks for cgroups.
    root: Option<PathBuf>,
    known: BTreeMap<u64, u64>,
    /// `unknown_cgroups` when the hierarchy was walked last.
    asked: u64,
    walked: Instant,
    full: bool,
    /// A failure to tell the kernel side has been reported.
    untold: bool,
}

impl Cgroups {
    /// Tells the kernel side about all cgroups; `root` is `/`.
    ///
    /// # Errors
    /// There are no cgroups, or the kernel refuses.
    pub fn begin(
        rules: &[Rule],
        root: &Path,
        skel: &mut AlightSkel<'_>,
    ) -> Result<Self, RulesNotMet> {
        let root = match ask_cgroups(rules) {
            true => Some(hierarchy(root)?),
            false => None,
        };
        let mut this = Cgroups {
            rules: rules.to_vec(),
            root,
            known: BTreeMap::new(),
            asked: 0,
            walked: Instant::now(),
            full: false,
            untold: false,
        };
        this.tell(skel)?;
        Ok(this)
    }

    /// Looks for new cgroups if the kernel side has met one that it does not know. A failure is
    /// only reported, once: the scheduler goes on, and the cgroup's tasks lack its rules.
    pub fn follow(&mut self, skel: &mut AlightSkel<'_>) {
        let unknown = skel.maps.bss_data.as_deref().map(|bss| bss.unknown_cgroups);
        let Some(unknown) = unknown.filter(|unknown| *unknown != self.asked) else {
            return;
        };
        if self.walked.elapsed() < WALK_AGAIN {
            return;
        }
        self.asked = unknown;
        if let Err(error) = self.tell(skel)
            && !std::mem::replace(&mut self.untold, true)
        {
            say(&format!("{error}; the scheduler runs without that"));
        }
    }

    fn tell(&mut self, skel: &mut AlightSkel<'_>) -> Result<(), RulesNotMet> {
        let Some(root) = &self.root else {
            return Ok(());
        };
        self.walked = Instant::now();
        let (found, all) = walk(root, &self.rules);
        if !all && !std::mem::replace(&mut self.full, true) {
            say(&format!(
                "more than {MOST_CGROUPS} cgroups: no rule matches the path of the others"
            ));
        }
        let map = &skel.maps.cgroup_rules;
        let (news, told) = bring(&mut self.known, &found, |id, met| match met {
            Some(met) => map.update(&id.to_ne_bytes(), &met.to_ne_bytes(), MapFlags::ANY),
            None => map.delete(&id.to_ne_bytes()),
        });
        if let Some(bss) = skel.maps.bss_data.as_deref_mut()
            && news
        {
            bss.rules_generation = bss.rules_generation.wrapping_add(1).max(1);
        }
        told.map_err(RulesNotMet::Map)
    }
}

/// Updates `known` to `found`. For each difference it calls `tell` with the cgroup and the rules
/// that it meets (`None`: it is gone). If that fails, the cgroup stays as it was known, and is told
/// at the next walk; the others are told. Returns whether a cgroup meets other rules now, and the
/// last failure.
fn bring<E>(
    known: &mut BTreeMap<u64, u64>,
    found: &BTreeMap<u64, u64>,
    mut tell: impl FnMut(u64, Option<u64>) -> Result<(), E>,
) -> (bool, Result<(), E>) {
    let (mut news, mut told) = (false, Ok(()));
    let mut tell = |id, met| tell(id, met).map_err(|error| told = Err(error)).is_ok();
    // First the cgroups that are gone: they make room.
    known.retain(|&id, _| found.contains_key(&id) || !tell(id, None));
    for (&id, &met) in found {
        if known.get(&id) != Some(&met) && tell(id, Some(met)) {
            known.insert(id, met);
            news = true;
        }
    }
    (news, told)
}

/// Where the v2 hierarchy is mounted: alone, or beside those of v1.
fn hierarchy(root: &Path) -> Result<PathBuf, RulesNotMet> {
    let usual = root.join("sys/fs/cgroup");
    [usual.clone(), usual.join("unified")]
        .into_iter()
        .find(|path| path.join("cgroup.controllers").is_file())
        .ok_or(RulesNotMet::NoCgroups(usual))
}

/// The rules that each cgroup meets, by its number, and whether these are all cgroups. A cgroup
/// that goes away meanwhile is skipped.
fn walk(root: &Path, rules: &[Rule]) -> (BTreeMap<u64, u64>, bool) {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        if found.len() == MOST_CGROUPS {
            return (found, false);
        }
        let Ok(about) = fs::symlink_metadata(&folder) else {
            continue;
        };
        let below = folder.strip_prefix(root).unwrap_or(&folder);
        let path = [b"/", below.as_os_str().as_bytes()].concat();
        found.insert(about.ino(), met_by_cgroup(rules, &path));
        let entries = fs::read_dir(&folder).into_iter().flatten();
        let inner = entries
            .filter_map(io::Result::ok)
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        folders.extend(inner.map(|entry| entry.path()));
    }
    (found, true)
}

#[cfg(test)]
mod tests;
