// SPDX-License-Identifier: GPL-2.0-only
//! Why a task left its CPU: the numbers and letters of `prev_state` of `sched_switch`. The bits
//! differ between kernels; how the kernel prints them tells.

use alight_recording::workload::Left;

/// The meaning of the bits of `prev_state`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct States {
    letters: Vec<(u64, u8)>,
    /// The bit of a task that would have gone on.
    preempted: u64,
}

impl States {
    /// Those of kernels since 4.14 (`TASK_REPORT` of include/linux/sched.h).
    pub fn new() -> Self {
        States::of(&[
            (0x01, b'S'),
            (0x02, b'D'),
            (0x04, b'T'),
            (0x08, b't'),
            (0x10, b'X'),
            (0x20, b'Z'),
            (0x40, b'P'),
            (0x80, b'I'),
        ])
    }

    /// Those of kernels before 4.14 (`TASK_STATE_TO_CHAR_STR` of include/linux/sched.h of 4.9).
    pub fn before_4_14() -> Self {
        States::of(&[
            (1, b'S'),
            (2, b'D'),
            (4, b'T'),
            (8, b't'),
            (16, b'X'),
            (32, b'Z'),
            (64, b'x'),
            (128, b'K'),
            (256, b'W'),
            (512, b'P'),
            (1024, b'N'),
            (2048, b'n'),
        ])
    }

    fn of(letters: &[(u64, u8)]) -> Self {
        let highest = letters.iter().map(|(bit, _)| *bit).max().unwrap_or(0);
        States {
            letters: letters.to_vec(),
            preempted: (highest + 1).next_power_of_two(),
        }
    }

    /// From the table in the line `print fmt` of `sched_switch`: the parts `{ 0x00000001, "S" }`. A
    /// task that would have gone on has the bit above all of them.
    pub fn of_print(print: &str) -> Self {
        let mut letters = Vec::new();
        for part in print.split('{').skip(1) {
            let mut words = part
                .split('}')
                .next()
                .unwrap_or("")
                .split(',')
                .map(str::trim);
            let (Some(number), Some(letter)) = (words.next(), words.next()) else {
                continue;
            };
            let number = match number.strip_prefix("0x") {
                Some(digits) => u64::from_str_radix(digits, 16).ok(),
                None => number.parse().ok(),
            };
            let letter = letter.trim_matches('"').bytes().next();
            if let (Some(number @ 1..=0x1000_0000), Some(letter)) = (number, letter) {
                letters.push((number, letter));
            }
        }
        match letters.is_empty() {
            true => States::new(),
            false => States::of(&letters),
        }
    }

    /// How a task with these bits left.
    pub fn left(&self, state: u64) -> Left {
        if state & (self.preempted - 1) == 0 {
            return match state & self.preempted {
                0 => Left::Runnable,
                _ => Left::Preempted,
            };
        }
        let of_bits = (self.letters.iter())
            .filter(|(bit, _)| state & bit != 0)
            .map(|(_, letter)| of_letter(*letter));
        // An ended task is that above all; a sleep that signals do not end, above one that they do.
        of_bits
            .max_by_key(|left| *left as u8)
            .unwrap_or(Left::Blocked)
    }

    /// How a task left that is printed so: letters such as `S`, `D|K`, `R` or `R+`.
    pub fn of_letters(text: &str) -> Option<Left> {
        match text {
            "R" => return Some(Left::Runnable),
            "R+" => return Some(Left::Preempted),
            _ => {}
        }
        let letters = text.trim_end_matches('+');
        if letters.is_empty()
            || !letters
                .bytes()
                .all(|b| b == b'|' || b.is_ascii_alphabetic())
        {
            return None;
        }
        (letters.bytes().filter(|letter| *letter != b'|'))
            .map(of_letter)
            .max_by_key(|left| *left as u8)
    }
}

/// `TASK_INTERRUPTIBLE` is S. X and Z are of ended tasks. All others end by what the task waits for:
/// D (uninterruptible), T (stopped), t (traced), P (parked), I (idle kernel thread), K, W, N.
fn of_letter(letter: u8) -> Left {
    match letter {
        b'S' => Left::Asleep,
        b'X' | b'Z' | b'x' => Left::Dead,
        b'R' => Left::Runnable,
        _ => Left::Blocked,
    }
}

#[cfg(test)]
mod tests;
