// SPDX-License-Identifier: GPL-2.0-only
//! Text that comes from others and goes to others: which encoding a file has, names that do no harm on
//! a terminal, cells that fit into tables, and where a file is written that is named by a symbolic link.

mod cell;
mod encoding;
mod place;
mod plain;
mod prose;

pub use cell::{Align, cell, pad, row, widths};
pub use encoding::{Mark, mark, read};
pub use place::place;
pub use plain::{does_harm, harmless, line};
pub use prose::{item, paragraph};
