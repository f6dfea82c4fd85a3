// SPDX-License-Identifier: GPL-2.0-only
//! Patterns of names, by the matcher of policy/glob.h.

unsafe extern "C" {
    fn alight_glob_matches(name: *const u8, nlen: u32, pattern: *const u8, plen: u32) -> i32;
}

/// Does the name match? `*` is any characters, also none, `?` is one. Both end at their first 0.
/// O(name * pattern).
pub fn matches(name: &[u8], pattern: &[u8]) -> bool {
    let length = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    // SAFETY: the matcher reads no byte beyond the lengths.
    let matches = unsafe {
        alight_glob_matches(
            name.as_ptr(),
            length(name),
            pattern.as_ptr(),
            length(pattern),
        )
    };
    matches != 0
}

#[cfg(test)]
mod tests;
