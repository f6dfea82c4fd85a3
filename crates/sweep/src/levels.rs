// SPDX-License-Identifier: GPL-2.0-only
//! The values of a factor: a range such as `0..512 step 64`, or a list.
//!
//! Numbers are kept as whole thousandths where a factor multiplies a figure, and as whole units
//! elsewhere. No float decides which values there are.

use std::fmt;

/// In which unit numbers are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Whole numbers: values of tunables and figures.
    Whole,
    /// Whole thousandths: multiples, with up to three decimals.
    Permille,
}

/// The values of a factor, in order. There are two at least, but in a list that a user wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Levels {
    values: Values,
    scale: Scale,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Values {
    /// `from`, `from + step`, …, `count` of them.
    Range {
        from: u64,
        step: u64,
        count: u64,
    },
    Numbers(Vec<u64>),
    Words(Vec<String>),
}

impl Levels {
    /// Reads a range: `FROM..TO` or `FROM..TO step STEP`. Both ends belong to it; without a step
    /// all whole numbers do.
    ///
    /// # Errors
    /// No range, an empty one, a step of 0, a number that is not one.
    pub fn range(text: &str, scale: Scale) -> Result<Self, String> {
        let shape = || format!("`{text}` is no range, expected one like `0..512 step 64`");
        let (from, rest) = text.split_once("..").ok_or_else(shape)?;
        let (to, step) = match rest.split_once("step") {
            Some((to, step)) => (to, Some(step)),
            None => (rest, None),
        };
        let number = |text: &str| scale.read(text.trim()).ok_or_else(shape);
        let (from, to) = (number(from)?, number(to)?);
        let step = match (step, scale) {
            (Some(step), _) => number(step)?,
            (None, Scale::Whole) => 1,
            (None, Scale::Permille) => {
                return Err(format!(
                    "the range `{text}` of multiples has no step; write it like `{} step 0.1`",
                    text.trim()
                ));
            }
        };
        if step == 0 {
            return Err(format!(
                "the step of the range `{text}` is 0, expected more"
            ));
        }
        if to < from {
            return Err(format!(
                "the range `{text}` is empty: its end is below its start"
            ));
        }
        let count = ((to - from) / step).checked_add(1);
        let count = count.ok_or_else(|| format!("the range `{text}` has too many values"))?;
        Ok(Levels {
            values: Values::Range { from, step, count },
            scale,
        })
    }

    /// A list as it was written. It is one of numbers if all items are.
    ///
    /// # Errors
    /// An empty list, and an item that occurs twice.
    pub fn list<S: AsRef<str>>(items: &[S], scale: Scale) -> Result<Self, String> {
        let items: Vec<&str> = items.iter().map(|item| item.as_ref().trim()).collect();
        if items.is_empty() || items.contains(&"") {
            return Err("the list has an empty value, or none; name two or more".to_owned());
        }
        let numbers: Option<Vec<u64>> = items.iter().map(|item| scale.read(item)).collect();
        let values = match numbers {
            Some(numbers) => Values::Numbers(numbers),
            None => Values::Words(items.iter().map(|item| (*item).to_owned()).collect()),
        };
        let levels = Levels { values, scale };
        let texts: Vec<String> = (0..levels.count())
            .map(|index| levels.text(index))
            .collect();
        for (index, text) in texts.iter().enumerate() {
            if texts[..index].contains(text) {
                return Err(format!("the value `{text}` occurs twice"));
            }
        }
        Ok(levels)
    }

    /// Number of values, 1 or more.
    pub fn count(&self) -> u64 {
        match &self.values {
            Values::Range { count, .. } => *count,
            Values::Numbers(numbers) => numbers.len() as u64,
            Values::Words(words) => words.len() as u64,
        }
    }

    /// Value number `index`, 0 to [`Levels::count`] - 1, as kept; `None`: it is a word.
    pub fn raw(&self, index: u64) -> Option<u64> {
        match &self.values {
            Values::Range { from, step, .. } => Some(from + index * step),
            Values::Numbers(numbers) => numbers.get(index as usize).copied(),
            Values::Words(_) => None,
        }
    }

    /// Value number `index` as typed.
    pub fn text(&self, index: u64) -> String {
        match (&self.values, self.raw(index)) {
            (_, Some(raw)) => self.scale.write(raw),
            (Values::Words(words), None) => {
                let word = words.get(index as usize);
                word.cloned().unwrap_or_default()
            }
            _ => String::new(),
        }
    }

    /// Value number `index` as a number; `None`: it is a word.
    pub fn number(&self, index: u64) -> Option<f64> {
        self.raw(index).map(|raw| match self.scale {
            Scale::Whole => raw as f64,
            Scale::Permille => raw as f64 / 1000.0,
        })
    }

    /// Whether all values are numbers.
    pub fn is_numeric(&self) -> bool {
        !matches!(self.values, Values::Words(_))
    }
}

/// Combinations of levels that stand for all of them, in which each list is tried as a whole and
/// each range at both ends: all if there are at most `most`, else those of ends and items, else
/// each of these with the first of the others.
pub fn tried(all: &[&Levels], most: usize) -> Vec<Vec<u64>> {
    let every = |levels: &&Levels| (0..levels.count()).collect::<Vec<u64>>();
    let points = |counts: &mut dyn Iterator<Item = u64>| -> u128 {
        counts.fold(1, |all, count| all.saturating_mul(u128::from(count)))
    };
    if points(&mut all.iter().map(|levels| levels.count())) <= most as u128 {
        return product(&all.iter().map(every).collect::<Vec<_>>());
    }
    let ends = |levels: &&Levels| match &levels.values {
        Values::Range { count: 1, .. } => vec![0],
        Values::Range { count, .. } => vec![0, count - 1],
        _ => every(levels),
    };
    let ends: Vec<Vec<u64>> = all.iter().map(ends).collect();
    if points(&mut ends.iter().map(|ends| ends.len() as u64)) <= most as u128 {
        return product(&ends);
    }
    let first = vec![0; all.len()];
    let alone = ends.iter().enumerate().flat_map(|(place, levels)| {
        let first = &first;
        levels.iter().map(move |level| {
            let mut tried = first.clone();
            tried[place] = *level;
            tried
        })
    });
    alone.collect()
}

fn product(all: &[Vec<u64>]) -> Vec<Vec<u64>> {
    all.iter().fold(vec![vec![]], |points, levels| {
        let longer = points.iter().flat_map(|point| {
            levels
                .iter()
                .map(move |level| [point.as_slice(), &[*level]].concat())
        });
        longer.collect()
    })
}

impl fmt::Display for Levels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let last = self.text(self.count() - 1);
        match &self.values {
            Values::Range { step, count, .. } if *count > 1 => {
                let step = self.scale.write(*step);
                write!(f, "{}..{last} step {step}", self.text(0))
            }
            _ => {
                let texts: Vec<String> = (0..self.count()).map(|index| self.text(index)).collect();
                f.write_str(&texts.join("|"))
            }
        }
    }
}

impl Scale {
    /// A number in this unit; at most three decimals.
    fn read(self, text: &str) -> Option<u64> {
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let text = text.replace('_', "");
        let (whole, part) = match (self, text.split_once('.')) {
            (Scale::Permille, Some((whole, part))) => (whole.to_owned(), part.to_owned()),
            _ => (text, String::new()),
        };
        if !digits(&whole) || part.len() > 3 || !(part.is_empty() || digits(&part)) {
            return None;
        }
        let whole: u64 = whole.parse().ok()?;
        match self {
            Scale::Whole => Some(whole),
            Scale::Permille => {
                let part: u64 = format!("{part:0<3}").parse().ok()?;
                whole.checked_mul(1000)?.checked_add(part)
            }
        }
    }

    fn write(self, raw: u64) -> String {
        match self {
            Scale::Whole => raw.to_string(),
            Scale::Permille if raw.is_multiple_of(1000) => (raw / 1000).to_string(),
            Scale::Permille => {
                let text = format!("{}.{:03}", raw / 1000, raw % 1000);
                text.trim_end_matches('0').to_owned()
            }
        }
    }
}

#[cfg(test)]
mod tests;
