// SPDX-License-Identifier: GPL-2.0-only
//! Where a file is written whose name may be that of a symbolic link. Whoever gives a new file its
//! name when it is complete would replace the link by it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Links that are followed, one after another, as the kernel does (`MAXSYMLINKS`).
const MOST_LINKS: usize = 40;

/// The file that `path` names: the target of its last symbolic link, which need not exist. A path
/// that is no link names itself.
///
/// # Errors
/// More than 40 links follow one another, as they do in a circle.
pub fn place(path: &Path) -> io::Result<PathBuf> {
    let mut place = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        let Ok(target) = fs::read_link(&place) else {
            return Ok(place);
        };
        // A relative target starts from the link's own directory.
        place = place.parent().unwrap_or(Path::new("")).join(target);
    }
    Err(io::Error::other(format!(
        "the path follows more than {MOST_LINKS} symbolic links"
    )))
}

#[cfg(test)]
mod tests;
