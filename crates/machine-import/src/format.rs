// SPDX-License-Identifier: GPL-2.0-only
//! What a description is.

use std::fmt;
use std::path::Path;

use crate::error::Error;

/// A form of description.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A flattened device tree.
    Dtb,
    /// The source of a device tree.
    Dts,
    /// XML of hwloc.
    Hwloc,
    /// The platform information of LISA, YAML.
    Lisa,
    /// A copied tree of sysfs: folder, tar archive, or dump of `grep -r`.
    Sysfs,
}

impl Format {
    /// Every format, by name.
    pub const ALL: [Self; 5] = [Self::Dtb, Self::Dts, Self::Hwloc, Self::Lisa, Self::Sysfs];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dtb => "dtb",
            Self::Dts => "dts",
            Self::Hwloc => "hwloc",
            Self::Lisa => "lisa",
            Self::Sysfs => "sysfs",
        }
    }

    /// Whether the figures of such a file were read from the running machine, or published.
    pub(crate) fn confidence(self) -> &'static str {
        match self {
            Self::Dtb | Self::Dts => "published",
            Self::Hwloc | Self::Lisa | Self::Sysfs => "measured",
        }
    }

    /// What the content of a file shows it to be.
    ///
    /// # Errors
    /// It shows nothing.
    pub(crate) fn of(path: &Path, bytes: &[u8]) -> Result<Self, Error> {
        if bytes.starts_with(&DTB_MAGIC) {
            return Ok(Self::Dtb);
        }
        if alight_machine::is_archive(bytes) {
            return Ok(Self::Sysfs);
        }
        let start = String::from_utf8_lossy(&bytes[..bytes.len().min(SEEN)]);
        let lines = start.lines().map(str::trim_start);
        let begins = |mark: &str| lines.clone().any(|line| line.starts_with(mark));
        let named = path.extension().and_then(|ending| ending.to_str());
        if begins("/dts-v1/") || matches!(named, Some("dts" | "dtsi")) {
            return Ok(Self::Dts);
        }
        if begins("<?xml") || begins("<topology") || begins("<!DOCTYPE") {
            return Ok(Self::Hwloc);
        }
        if begins("/sys/") || begins("/proc/") {
            return Ok(Self::Sysfs);
        }
        if begins("platform-info:") || matches!(named, Some("yml" | "yaml")) {
            return Ok(Self::Lisa);
        }
        let message = if bytes.is_empty() {
            "the file is empty"
        } else {
            "the content shows no known format"
        };
        Err(Error::whole(
            path,
            format!(
                "{message}, expected a device tree (.dtb, or .dts with `/dts-v1/;`), XML of hwloc, \
                 YAML of LISA with `platform-info:`, a tar archive of sysfs or a dump of it with lines \
                 such as `/sys/devices/system/cpu/online:0-7`; `--format` names the format"
            ),
        ))
    }
}

const DTB_MAGIC: [u8; 4] = [0xd0, 0x0d, 0xfe, 0xed];
/// Bytes of a file that are looked at.
const SEEN: usize = 1 << 16;

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
