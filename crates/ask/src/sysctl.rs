// SPDX-License-Identifier: GPL-2.0-only
//! Sysctls, as users type them.

use alight_sim::Sysctl;

/// One option with what it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SysctlOption {
    /// As typed.
    pub text: String,
    /// The sysctl.
    pub sysctl: Sysctl,
}

/// `NAME=VALUE`, with or without `kernel.` before it.
///
/// # Errors
/// Another sysctl, or no number.
pub fn parse(text: &str) -> Result<SysctlOption, String> {
    Ok(SysctlOption {
        text: text.to_owned(),
        sysctl: text.parse()?,
    })
}

#[cfg(test)]
mod tests;
