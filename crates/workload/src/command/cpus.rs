// SPDX-License-Identifier: GPL-2.0-only
//! Sets of CPUs as tools write them: lists and masks of util-linux (lib/cpuset.c, 2.42), and lists of
//! libnuma (`numa_parse_cpustring`, `numa_parse_nodestring`, 2.0.19).

use super::getopt::{MAX_CPU, Word};
use crate::diagnostic::{Place, Refusal, Remarks};
use crate::site::Site;

/// A word, or the part of one, that names CPUs.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    pub text: &'a str,
    pub place: Place,
    /// What it belongs to, for messages: `taskset -c`.
    pub of: &'a str,
}

impl<'a> Text<'a> {
    pub fn of(word: &'a Word, of: &'a str) -> Self {
        Text {
            text: &word.text,
            place: word.place,
            of,
        }
    }

    fn refuse(&self, why: impl std::fmt::Display) -> Refusal {
        Refusal::new(self.place, format!("{} `{}`: {why}", self.of, self.text))
    }
}

/// `cpulist_parse()`: `0-3,8`, a range with a stride (`0-6:2`). CPUs beyond [`MAX_CPU`] are left out,
/// as those beyond the kernel's mask are.
pub(super) fn list(given: Text<'_>) -> Result<Vec<u32>, Refusal> {
    const LIKE: &str = "expected a list of CPUs like 0-3,8 or 0-6:2";
    let number = |digits: &str| {
        let valid = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let value = valid.then(|| digits.parse::<u64>().unwrap_or(u64::MAX));
        value.ok_or_else(|| given.refuse(format!("`{digits}` is no CPU; {LIKE}")))
    };
    let mut cpus = Vec::new();
    for part in given.text.split(',') {
        let (first, last, stride) = match part.split_once('-') {
            None => (number(part)?, number(part)?, 1),
            Some((first, rest)) => {
                let (last, stride) = rest.split_once(':').unwrap_or((rest, "1"));
                (number(first)?, number(last)?, number(stride)?)
            }
        };
        if first > last {
            return Err(given.refuse(format!(
                "the range {part} runs backwards; write {last}-{first}"
            )));
        }
        if stride == 0 {
            return Err(given.refuse(format!("the stride of {part} is 0; expected 1 or more")));
        }
        let stride = usize::try_from(stride).unwrap_or(usize::MAX);
        cpus.extend((first..=last.min(MAX_CPU as u64)).step_by(stride));
    }
    Ok(in_order(cpus))
}

/// `cpumask_parse()`: hexadecimal digits, with or without `0x`, and commas between groups of them.
pub(super) fn mask(given: Text<'_>) -> Result<Vec<u32>, Refusal> {
    let digits = given.text.strip_prefix("0x").unwrap_or(given.text);
    let mut cpus = Vec::new();
    let mut first = 0;
    for letter in digits.chars().rev().filter(|letter| *letter != ',') {
        let Some(bits) = letter.to_digit(16) else {
            return Err(given.refuse(format!(
                "`{letter}` is no hexadecimal digit; expected a mask like 0x3, or -c and a list like 0,1"
            )));
        };
        cpus.extend(
            (0..4)
                .filter(|bit| bits >> bit & 1 != 0)
                .map(|bit| first + bit),
        );
        first += 4;
    }
    cpus.retain(|cpu| *cpu <= MAX_CPU as u64);
    Ok(in_order(cpus))
}

fn in_order(cpus: Vec<u64>) -> Vec<u32> {
    let mut cpus: Vec<u32> = cpus.into_iter().map(|cpu| cpu as u32).collect();
    cpus.sort_unstable();
    cpus.dedup();
    cpus
}

/// `sched_setaffinity(2)`: CPUs that are not there are left out; none left is EINVAL.
pub(super) fn on_site(
    given: Text<'_>,
    cpus: Vec<u32>,
    site: Option<&Site>,
    remarks: &mut Remarks,
) -> Result<Vec<u32>, Refusal> {
    let Some(site) = site else {
        return match cpus.is_empty() {
            true => Err(given.refuse("it names no CPU (EINVAL); name one")),
            false => Ok(cpus),
        };
    };
    let there = site.cpus();
    let (kept, absent): (Vec<u32>, Vec<u32>) =
        cpus.into_iter().partition(|cpu| there.contains(cpu));
    let machine = || format!("machine '{}' has {}", site.name(), site.extent());
    match (kept.is_empty(), absent.is_empty()) {
        (true, true) => Err(given.refuse("it names no CPU (EINVAL); name one")),
        (true, false) => Err(given.refuse(format!("no such CPU (EINVAL); {}", machine()))),
        (false, true) => Ok(kept),
        (false, false) => {
            remarks.note(
                given.place,
                format!(
                    "{} `{}`: CPU {} and above do not exist and are left out, as by the kernel; {}",
                    given.of,
                    given.text,
                    absent[0],
                    machine()
                ),
            );
            Ok(kept)
        }
    }
}

/// What libnuma counts.
#[derive(Clone, Copy)]
pub(super) struct Numbered<'a> {
    /// `CPU` or `node`.
    pub what: &'static str,
    /// Numbers that may be named, in rising order; `None`: not known, any.
    pub allowed: Option<&'a [u32]>,
    /// Numbers that there are, for `!`.
    pub all: Option<&'a [u32]>,
}

/// A list of libnuma: numbers and ranges (decimal, octal or hexadecimal, as `strtoul(3)` reads them),
/// `all`, a `!` before it (all others), a `+` before it (counted among those that may be used).
pub(super) fn libnuma(given: Text<'_>, of: Numbered<'_>) -> Result<Vec<u32>, Refusal> {
    let what = of.what;
    let (invert, text) = match given.text.strip_prefix('!') {
        Some(rest) => (true, rest),
        None => (false, given.text),
    };
    let (relative, text) = match text.strip_prefix('+') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let needs = |set: Option<&'_ [u32]>, sign: &str| {
        set.map(<[u32]>::to_vec).ok_or_else(|| {
            given.refuse(format!(
                "`{sign}` needs the machine, which is not known here; write numbers"
            ))
        })
    };
    let number = |digits: &str| -> Result<u32, Refusal> {
        let Some(read) = strtoul(digits) else {
            return Err(given.refuse(format!(
                "`{digits}` is no {what}; expected a list like 0-3,8, or all"
            )));
        };
        let named = match relative {
            true => needs(of.allowed, "+")?.get(read as usize).copied(),
            false => u32::try_from(read).ok(),
        };
        let fits = |n: &u32| match of.allowed {
            Some(allowed) => allowed.contains(n),
            None => i64::from(*n) <= MAX_CPU,
        };
        named.filter(fits).ok_or_else(|| {
            let has = match of.allowed {
                Some(allowed) => format!("; there are {}", spans(allowed)),
                None => String::new(),
            };
            given.refuse(format!("{what} {digits} is out of range{has}"))
        })
    };
    let mut named = Vec::new();
    for part in text.split(',') {
        if part == "all" {
            named.extend(needs(of.allowed, "all")?);
            continue;
        }
        let (first, last) = match part.split_once('-') {
            Some((first, last)) => (number(first)?, number(last)?),
            None => (number(part)?, number(part)?),
        };
        if first > last {
            return Err(given.refuse(format!(
                "the range {part} runs backwards; write {last}-{first}"
            )));
        }
        let may = |n: &u32| of.allowed.is_none_or(|allowed| allowed.contains(n));
        named.extend((first..=last).filter(may));
    }
    if invert {
        let all = needs(of.all, "!")?;
        named = all.into_iter().filter(|n| !named.contains(n)).collect();
    }
    named.sort_unstable();
    named.dedup();
    match named.is_empty() {
        true => Err(given.refuse(format!("it names no {what} (EINVAL); name one"))),
        false => Ok(named),
    }
}

/// `strtoul(3)` with base 0, of a whole word.
fn strtoul(digits: &str) -> Option<u64> {
    let (base, digits) = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(hex) => (16, hex),
        None if digits.len() > 1 && digits.starts_with('0') => (8, &digits[1..]),
        None => (10, digits),
    };
    let valid = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(base));
    valid.then(|| u64::from_str_radix(digits, base).unwrap_or(u64::MAX))
}

/// `0-3, 8` for messages.
fn spans(numbers: &[u32]) -> String {
    let mut spans: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match spans.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => spans.push((number, number)),
        }
    }
    let spell = |(first, last): &(u32, u32)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    spans.iter().map(spell).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
