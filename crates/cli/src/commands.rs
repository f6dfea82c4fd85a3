// SPDX-License-Identifier: GPL-2.0-only
//! One file a verb.

pub mod calibrate;
pub mod card;
pub mod compare;
pub mod explain;
pub mod import;
pub mod lint;
pub mod machine;
pub mod policy;
pub mod record;
pub mod run;
pub mod simulate;
pub mod study;
pub mod suite;
pub mod sweep;
pub mod top;
pub mod verify;
