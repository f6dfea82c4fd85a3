// SPDX-License-Identifier: GPL-2.0-only
//! Numbers and integer expressions in cells, with the operators of C.

use super::lexer::Cursor;
use crate::error::Error;

/// Depth of parentheses, against files that are made to exhaust the stack.
const DEEPEST: usize = 64;

/// Operators of two sides, the longer spelling first, with how strongly they bind.
const OPERATORS: [(&str, u32); 18] = [
    ("||", 1),
    ("&&", 2),
    ("==", 6),
    ("!=", 6),
    ("<<", 8),
    (">>", 8),
    ("<=", 7),
    (">=", 7),
    ("|", 3),
    ("^", 4),
    ("&", 5),
    ("<", 7),
    (">", 7),
    ("+", 9),
    ("-", 9),
    ("*", 10),
    ("/", 10),
    ("%", 10),
];

/// A number, a character, or an expression in parentheses.
pub(super) fn operand(cursor: &mut Cursor, depth: usize) -> Result<u64, Error> {
    cursor.space()?;
    if depth > DEEPEST {
        return Err(cursor.error(format!(
            "the expression nests deeper than {DEEPEST}, expected less"
        )));
    }
    if cursor.take("(") {
        let value = whole(cursor, depth + 1)?;
        cursor.expect(')')?;
        return Ok(value);
    }
    if depth > 0 {
        for (sign, apply) in [
            ("-", u64::wrapping_neg as fn(u64) -> u64),
            ("~", |value| !value),
            ("!", |value| u64::from(value == 0)),
        ] {
            if cursor.take(sign) {
                return operand(cursor, depth + 1).map(apply);
            }
        }
    }
    if cursor.take("'") {
        return character(cursor);
    }
    number(cursor)
}

fn character(cursor: &mut Cursor) -> Result<u64, Error> {
    let value = match cursor.advance() {
        Some('\\') => u64::from(cursor.escaped()?),
        Some(c) if c.is_ascii() => u64::from(u32::from(c)),
        _ => return Err(cursor.error("a character is not one of ASCII")),
    };
    cursor.expect('\'')?;
    Ok(value)
}

fn number(cursor: &mut Cursor) -> Result<u64, Error> {
    let word = cursor.word(|c| c.is_ascii_alphanumeric() || c == '_');
    let digits = word.trim_end_matches(['u', 'U', 'l', 'L']);
    let value = match (
        digits.strip_prefix("0x").or(digits.strip_prefix("0X")),
        digits,
    ) {
        (Some(digits), _) => u64::from_str_radix(digits, 16),
        (None, "0") => Ok(0),
        (None, digits) if digits.starts_with('0') => u64::from_str_radix(digits, 8),
        (None, digits) => digits.parse(),
    };
    value.map_err(|_| match word {
        "" => cursor.error(format!("{} stands here, expected a number", cursor.found())),
        word if word.starts_with(|c: char| c.is_ascii_digit()) => {
            cursor.error(format!("`{word}` is no number of 64 bits"))
        }
        word => cursor.error(format!(
            "`{word}` stands here, expected a number: it is a name that the preprocessor replaces, so \
             run that first"
        )),
    })
}

fn whole(cursor: &mut Cursor, depth: usize) -> Result<u64, Error> {
    let condition = binary(cursor, 0, depth)?;
    cursor.space()?;
    if !cursor.take("?") {
        return Ok(condition);
    }
    if depth > DEEPEST {
        return Err(cursor.error(format!(
            "the expression nests deeper than {DEEPEST}, expected less"
        )));
    }
    let yes = whole(cursor, depth + 1)?;
    cursor.expect(':')?;
    let no = whole(cursor, depth + 1)?;
    Ok(if condition != 0 { yes } else { no })
}

fn binary(cursor: &mut Cursor, least: u32, depth: usize) -> Result<u64, Error> {
    let mut left = operand(cursor, depth)?;
    loop {
        cursor.space()?;
        let here = OPERATORS.iter().find(|(text, _)| cursor.starts_with(text));
        let Some((text, strength)) = here.filter(|(_, strength)| *strength > least) else {
            return Ok(left);
        };
        cursor.take(text);
        let right = binary(cursor, *strength, depth)?;
        left = applied(text, left, right)
            .ok_or_else(|| cursor.error(format!("`{left} {text} {right}` has no value")))?;
    }
}

fn applied(operator: &str, left: u64, right: u64) -> Option<u64> {
    let shift = u32::try_from(right).ok();
    Some(match operator {
        "||" => u64::from(left != 0 || right != 0),
        "&&" => u64::from(left != 0 && right != 0),
        "==" => u64::from(left == right),
        "!=" => u64::from(left != right),
        "<=" => u64::from(left <= right),
        ">=" => u64::from(left >= right),
        "<" => u64::from(left < right),
        ">" => u64::from(left > right),
        "<<" => left.checked_shl(shift?)?,
        ">>" => left.checked_shr(shift?)?,
        "|" => left | right,
        "^" => left ^ right,
        "&" => left & right,
        "+" => left.wrapping_add(right),
        "-" => left.wrapping_sub(right),
        "*" => left.wrapping_mul(right),
        "/" => left.checked_div(right)?,
        "%" => left.checked_rem(right)?,
        _ => return None,
    })
}
