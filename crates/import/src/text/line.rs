// SPDX-License-Identifier: GPL-2.0-only
//! A line of a trace as text, taken apart: task, CPU, time, event.

use alight_recording::workload::Context;

use crate::decode::cpu;
use crate::pids::checked;

/// Who prints lines of this form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// ftrace and trace-cmd: `task-pid [cpu] flags time: event: fields`
    Ftrace,
    /// perf script: `task pid [cpu] time: system:event: fields`
    Perf,
}

/// The number of a task that has ended while it still ran: perf says -1.
pub(crate) const ENDED: u32 = u32::MAX;

/// A line, taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    pub style: Style,
    /// Who ran.
    pub comm: &'a str,
    /// Its number, or [`ENDED`].
    pub pid: u32,
    pub tgid: Option<u32>,
    pub cpu: u16,
    /// From the column of flags; `None` where there is none.
    pub context: Option<Context>,
    /// ns
    pub time: u64,
    /// Digits behind the point of the time.
    pub decimals: usize,
    pub event: &'a str,
    pub fields: &'a str,
}

impl<'a> Line<'a> {
    /// Takes a line apart; `None` if it is not of this form.
    pub fn parse(line: &'a str) -> Option<Self> {
        if line.starts_with('#') {
            return None;
        }
        let (head, number, rest) = split_cpu(line).or_else(|| split_latency(line))?;
        let cpu = cpu(number.parse().ok()?, "").ok()?;
        let (head, tgid) = split_tgid(head);
        let (task, style, tgid) = match split_task(head)? {
            (task, Style::Ftrace, _) => (task, Style::Ftrace, tgid),
            (task, Style::Perf, of_pid) => (task, Style::Perf, of_pid),
        };
        // Flags, a time that ends in a colon, the event.
        let mut rest = rest.trim_start();
        let mut context = None;
        let (time, decimals) = loop {
            let (word, behind) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            if let Some(found) = time(word) {
                rest = behind.trim_start();
                break found;
            }
            // Of perf it could be a period.
            if style == Style::Ftrace && context.is_none() {
                context = of_flags(word);
            }
            if behind.is_empty() || word.len() > 12 {
                return None;
            }
            rest = behind.trim_start();
        };
        let (event, fields) = split_event(rest, style)?;
        Some(Line {
            style,
            comm: task.0,
            pid: task.1,
            tgid,
            cpu,
            context,
            time,
            decimals,
            event,
            fields,
        })
    }
}

/// `CPU:3 [LOST 5 EVENTS]` of ftrace, `CPU:3 [5 EVENTS DROPPED]` of trace-cmd.
pub(crate) fn lost(line: &str) -> Option<(u16, u64)> {
    let rest = line.trim_start().strip_prefix("CPU:")?;
    let (number, rest) = rest.split_once(" [")?;
    let words: Vec<&str> = rest.strip_suffix(']')?.split_whitespace().collect();
    let cpu = cpu(number.trim().parse().ok()?, "").ok()?;
    match words[..] {
        ["LOST", count, "EVENTS"] | [count, "EVENTS", "DROPPED"] => {
            Some((cpu, count.parse().ok()?))
        }
        // Not counted.
        ["EVENTS", "DROPPED"] | ["LOST", "EVENTS"] => Some((cpu, 0)),
        _ => None,
    }
}

/// What stands before ` [cpu] `, the CPU, and what stands behind.
fn split_cpu(line: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    loop {
        let open = from + line.get(from..)?.find(" [")?;
        let inside = &line[open + 2..];
        if let Some((number, rest)) = inside.split_once(']')
            && !number.is_empty()
            && number.len() <= 5
            && number.bytes().all(|b| b.is_ascii_digit())
            && rest.starts_with(' ')
        {
            return Some((&line[..open], number, rest));
        }
        from = open + 2;
    }
}

/// The same of the form for latencies (`trace-cmd report -l`): the number of the CPU stands directly
/// before the flags, as in `app-7 2d.h1 1.000002: `.
fn split_latency(line: &str) -> Option<(&str, &str, &str)> {
    let (head, _) = line.split_once(": ")?;
    let (head, _) = head.trim_end().rsplit_once(' ')?;
    let head = head.trim_end();
    let (task, word) = head.rsplit_once(' ')?;
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    of_flags(&word[digits..])?;
    let behind = task.len() + 1 + digits;
    (digits > 0).then(|| (task, &word[..digits], &line[behind..]))
}

/// `(  123)` or `(-----)` behind the task.
fn split_tgid(head: &str) -> (&str, Option<u32>) {
    let head = head.trim_end();
    let Some((before, inside)) = head
        .strip_suffix(')')
        .and_then(|head| head.rsplit_once('('))
    else {
        return (head, None);
    };
    let number = inside.trim();
    if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit() || b == b'-') {
        let tgid = number
            .parse()
            .ok()
            .and_then(|number| checked(number, "").ok());
        return (before.trim_end(), tgid.filter(|tgid| *tgid != 0));
    }
    (head, None)
}

/// `name-123` of ftrace, `name 123` or `name 120/123` of perf.
fn split_task(head: &str) -> Option<((&str, u32), Style, Option<u32>)> {
    let head = head.trim();
    let number = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        digits
            .then(|| text.parse().ok().and_then(|n| checked(n, "").ok()))
            .flatten()
    };
    if let Some((comm, pid)) = head.rsplit_once(char::is_whitespace) {
        if pid == "-1" || pid.ends_with("/-1") {
            return Some(((comm.trim(), ENDED), Style::Perf, None));
        }
        let (tgid, tid) = match pid.split_once('/') {
            Some((tgid, tid)) => (Some(number(tgid)), number(tid)),
            None => (None, number(pid)),
        };
        if let Some(pid) = tid {
            return Some(((comm.trim(), pid), Style::Perf, tgid.flatten()));
        }
    }
    let (comm, pid) = head.rsplit_once('-')?;
    let comm = match comm.trim() {
        "<idle>" => "swapper",
        comm => comm,
    };
    Some(((comm, number(pid)?), Style::Ftrace, None))
}

/// The column of flags: the third letter says the context (`trace_print_lat_fmt()` of
/// kernel/trace/trace_output.c).
fn of_flags(flags: &str) -> Option<Context> {
    let letters = flags.as_bytes();
    if !(4..=8).contains(&letters.len()) {
        return None;
    }
    match letters[2] {
        b'Z' | b'z' => Some(Context::Nmi),
        b'H' | b'h' => Some(Context::Hardirq),
        b's' => Some(Context::Softirq),
        b'.' => Some(Context::Task),
        _ => None,
    }
}

/// A word such as `26.450438:`, in ns, and its decimals.
fn time(word: &str) -> Option<(u64, usize)> {
    let number = word.strip_suffix(':')?;
    let (_, part) = number.split_once('.')?;
    Some((crate::seconds(number)?, part.len()))
}

/// The event's name without its system, and its fields.
fn split_event(rest: &str, style: Style) -> Option<(&str, &str)> {
    // ftrace prints system calls like `sys_sched_yield()`.
    if let Some(("sys_sched_yield", arguments)) = rest.split_once('(') {
        return Some(("sys_enter_sched_yield", arguments));
    }
    let mut rest = rest;
    loop {
        let (word, behind) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        if let Some(name) = word.strip_suffix(':') {
            let name = name.rsplit(':').next()?;
            let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
            return (!name.is_empty() && name.bytes().all(plain)).then(|| (name, behind.trim()));
        }
        // A period or the like.
        let number = !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
        if style != Style::Perf || !number {
            return None;
        }
        rest = behind.trim_start();
    }
}
