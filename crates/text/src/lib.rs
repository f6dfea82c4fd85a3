// SPDX-License-Identifier: GPL-2.0-only
//! Text of unknown origin on its way in and out: encodings, names that are safe on a terminal, cells of
//! tables, and the target of a file name.
//!
//! # What it owns
//!
//! - [`read`] reads a file and names its encoding if it is not UTF-8 ([`mark`]).
//! - [`harmless`] and [`line()`] replace control characters, so that a name cannot steer a terminal.
//! - [`cell`], [`row`], [`widths`] and [`pad`] lay out tables by width on a terminal.
//! - [`place`] follows symbolic links to the file that is to be written.
//!
//! # Who may use it
//!
//! Every crate that reads files or prints names. It uses no other crate of the project.
//!
//! # Example
//!
//! ```
//! use alight_text::{Align, cell, line, pad};
//!
//! // A name with an escape sequence in it.
//! assert_eq!(line("task\u{1b}[2J"), r"task\u001b[2J");
//! // A cell has at most 120 columns.
//! assert!(cell(&"long ".repeat(100)).ends_with('…'));
//!
//! let mut row = String::new();
//! pad(&mut row, "cpu", 6, Align::Left);
//! pad(&mut row, "42", 4, Align::Right);
//! assert_eq!(row, "cpu     42");
//! ```

mod cell;
mod encoding;
mod place;
mod plain;
mod prose;

pub use cell::{Align, cell, pad, row, widths};
pub use encoding::{Mark, decode, mark, read};
pub use place::place;
pub use plain::{does_harm, harmless, line};
pub use prose::{item, paragraph};
