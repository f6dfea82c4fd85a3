// SPDX-License-Identifier: GPL-2.0-only
//! Typed access to the members of an object, with rt-app's defaults and refusals.

use super::super::json::{Kind, Member, Value};
use crate::diagnostic::{Place, Refusal, Remarks};
use crate::load::Mode;

/// The members of one object.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a> {
    members: &'a [Member],
    mode: Mode,
}

/// A string and where it stands.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    pub text: &'a str,
    pub place: Place,
}

impl<'a> Fields<'a> {
    pub fn new(members: &'a [Member], mode: Mode) -> Self {
        Fields { members, mode }
    }

    pub fn members(&self) -> &'a [Member] {
        self.members
    }

    pub fn get(&self, key: &str) -> Option<&'a Value> {
        let member = self.members.iter().find(|m| m.key == key)?;
        Some(&member.value)
    }

    /// A whole number; those beyond 32 bits are clamped, as json-c does. `null` counts as absent.
    pub fn int(&self, key: &str, default: i32, remarks: &mut Remarks) -> Result<i32, Refusal> {
        match self.get(key) {
            None => Ok(default),
            Some(value) => match &value.kind {
                Kind::Null => Ok(default),
                Kind::Int(_) => Ok(clamped(key, value, remarks)),
                _ => Err(mismatch(key, value, "a whole number")),
            },
        }
    }

    /// A whole number that must be there.
    pub fn required_int(
        &self,
        key: &str,
        of: Place,
        remarks: &mut Remarks,
    ) -> Result<i32, Refusal> {
        match self.get(key).filter(|v| v.kind != Kind::Null) {
            None => Err(missing(key, of)),
            Some(_) => self.int(key, 0, remarks),
        }
    }

    pub fn boolean(&self, key: &str, default: bool) -> Result<bool, Refusal> {
        match self.get(key) {
            None => Ok(default),
            Some(value) => match value.kind {
                Kind::Null => Ok(default),
                Kind::Bool(value) => Ok(value),
                _ => Err(mismatch(key, value, "true or false")),
            },
        }
    }

    /// A string, `None` if the key is absent or `null`.
    pub fn string(&self, key: &str) -> Result<Option<Text<'a>>, Refusal> {
        match self.get(key) {
            None => Ok(None),
            Some(value) => match &value.kind {
                Kind::Null => Ok(None),
                Kind::String(text) => Ok(Some(Text {
                    text,
                    place: value.place,
                })),
                _ => Err(mismatch(key, value, "a string")),
            },
        }
    }

    /// A list of numbers. In [`Mode::Rtapp`] other values count as json-c converts them.
    pub fn numbers(&self, key: &str, remarks: &mut Remarks) -> Result<Option<Numbers>, Refusal> {
        let Some(value) = self.get(key).filter(|v| v.kind != Kind::Null) else {
            return Ok(None);
        };
        let Kind::Array(items) = &value.kind else {
            return Err(mismatch(key, value, "an array of numbers"));
        };
        let mut numbers = Vec::with_capacity(items.len());
        for item in items {
            let number = match (&item.kind, self.mode) {
                (Kind::Int(_), _) => clamped(key, item, remarks),
                (_, Mode::Workgen) => return Err(mismatch(key, item, "a whole number")),
                (other, Mode::Rtapp) => {
                    let number = converted(other);
                    remarks.warn(
                        item.place,
                        format!("json-c takes this for {number}; write a whole number"),
                    );
                    number
                }
            };
            numbers.push((number, item.place));
        }
        Ok(Some(Numbers {
            place: value.place,
            numbers,
        }))
    }
}

/// A list of numbers, each with its place.
pub(super) struct Numbers {
    pub place: Place,
    pub numbers: Vec<(i32, Place)>,
}

/// The whole number of `value`, clamped to 32 bits.
pub(super) fn clamped(key: &str, value: &Value, remarks: &mut Remarks) -> i32 {
    let Kind::Int(number) = value.kind else {
        return 0;
    };
    let clamped = number.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32;
    if i64::from(clamped) != number {
        remarks.warn(
            value.place,
            format!("`{key}` is beyond 32 bits; rt-app takes it for {clamped}"),
        );
    }
    clamped
}

/// `json_object_get_int()` of what is no whole number.
fn converted(kind: &Kind) -> i32 {
    match kind {
        Kind::Bool(true) => 1,
        Kind::Float(text) => text.parse::<f64>().map_or(0, |number| number as i32),
        Kind::String(text) => {
            let text = text.trim_start();
            let sign = usize::from(text.starts_with(['-', '+']));
            let digits = text[sign..].bytes().take_while(u8::is_ascii_digit).count();
            let number: i64 = text[..sign + digits].parse().unwrap_or(0);
            number.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
        }
        _ => 0,
    }
}

pub(super) fn mismatch(key: &str, value: &Value, expected: &str) -> Refusal {
    Refusal::new(
        value.place,
        format!("`{key}` is {}, expected {expected}", value.kind.describe()),
    )
}

pub(super) fn missing(key: &str, of: Place) -> Refusal {
    Refusal::new(of, format!("the key `{key}` is missing; add it"))
}
