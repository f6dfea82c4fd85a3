// SPDX-License-Identifier: GPL-2.0-only
//! Trees in one file: a tar archive, packed with gzip or not, or a dump of lines `path:content`, which
//! `grep -r "" /sys/devices/system/cpu` prints on a phone or a board.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::files::Files;
use crate::error::Error;

/// The folder that every tree has.
const MARK: &str = "sys/devices/system/cpu/";
/// What is read of a tree; the rest of an archive is passed over.
const READ: [&str; 8] = [
    "sys/devices/system/cpu/",
    "sys/devices/system/node/",
    "sys/devices/cpu_core/",
    "sys/devices/cpu_atom/",
    "sys/devices/cpu_lowpower/",
    "sys/kernel/debug/energy_model/",
    "proc/cpuinfo",
    "proc/sys/kernel/",
];
/// Bytes of one file of sysfs that are kept: a page; /proc/cpuinfo is longer.
const MOST_BYTES: u64 = 1 << 20;
/// Bytes of an unpacked archive, against those that grow without end.
const MOST_UNPACKED: u64 = 1 << 30;
/// Files and links of a tree: a machine of 1024 CPUs has fewer than 200000.
const MOST_FILES: usize = 1_000_000;

/// Bytes of a file that is no tree, once it is unpacked.
const MOST_PLAIN: u64 = 256 << 20;
/// Bytes in which a dump must show what it is.
const SEEN: usize = 1 << 16;
/// Characters of a first line that a message shows.
const SHOWN: usize = 40;

const GZIP: &[u8] = b"\x1f\x8b";
/// Bytes of the header of a tar archive, and where it has its sum and its magic.
const BLOCK: usize = 512;
const SUM: Range<usize> = 148..156;
const MAGIC: Range<usize> = 257..265;

/// Folders of several trees that a message names.
const NAMED: usize = 4;

/// How other archives begin, what they are called, and what unpacks them.
const FOREIGN: [(&[u8], &str, &str); 4] = [
    (b"BZh", "bzip2", "bzip2 -dk"),
    (b"\xfd7zXZ\0", "xz", "xz -dk"),
    (b"\x28\xb5\x2f\xfd", "zstd", "zstd -d"),
    (b"PK\x03\x04", "zip", "unzip"),
];

/// The content of the file `name`: `bytes`, or what they unpack to if they are packed with gzip. A tar
/// archive that is packed stays as it is: its reader unpacks it piece by piece.
///
/// # Errors
/// It is packed in another form, damaged, or too large.
pub fn ungzipped<'b>(name: &Path, bytes: &'b [u8]) -> Result<Cow<'b, [u8]>, Error> {
    let refused = |message: String| Error::Archive {
        path: name.to_owned(),
        message,
    };
    if let Some((_, kind, command)) = FOREIGN.iter().find(|(mark, ..)| bytes.starts_with(mark)) {
        return Err(refused(format!(
            "is packed with {kind}, expected a plain file or one packed with gzip: unpack it first \
             (`{command} {}`)",
            name.display()
        )));
    }
    if !bytes.starts_with(GZIP) {
        return Ok(Cow::Borrowed(bytes));
    }
    let damaged =
        |_| refused("is packed with gzip and cut off or damaged: copy it again".to_owned());
    let start = gunzipped(bytes, BLOCK as u64).map_err(damaged)?;
    if is_tar(&start) {
        return Ok(Cow::Borrowed(bytes));
    }
    let all = gunzipped(bytes, MOST_PLAIN + 1).map_err(damaged)?;
    if all.len() as u64 > MOST_PLAIN {
        return Err(refused(format!(
            "unpacks to more than {MOST_PLAIN} bytes, expected at most as many"
        )));
    }
    Ok(Cow::Owned(all))
}

/// At most the first `most` bytes of what is packed.
fn gunzipped(bytes: &[u8], most: u64) -> io::Result<Vec<u8>> {
    let mut unpacked = Vec::new();
    let mut packed = MultiGzDecoder::new(bytes).take(most);
    packed.read_to_end(&mut unpacked)?;
    Ok(unpacked)
}

/// The files of the tree in the archive or dump `name`, whose content is `bytes`.
///
/// # Errors
/// It is none, or is damaged; it holds no `sys/devices/system/cpu`, or several.
pub(crate) fn unpacked(name: &Path, bytes: &[u8]) -> Result<Files, Error> {
    let refused = |message: String| Error::Archive {
        path: name.to_owned(),
        message,
    };
    let bytes = ungzipped(name, bytes)?;
    let found = if bytes.starts_with(GZIP) {
        of_tar(MultiGzDecoder::new(&*bytes))
    } else if is_tar(&bytes) {
        of_tar(&*bytes)
    } else if is_dump(&bytes) {
        Ok(of_dump(&String::from_utf8_lossy(&bytes)))
    } else {
        Err(format!(
            "{}, expected a tar archive of sysfs, plain or packed with gzip, or a dump of it with \
             lines such as `/sys/devices/system/cpu/online:0-7`",
            beginning(&bytes)
        ))
    };
    found.and_then(rooted).map_err(refused)
}

/// Is it an archive, after [`ungzipped`]? What is still packed then is one.
pub fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(GZIP) || is_tar(bytes)
}

/// Does it begin with the header of a tar archive? A header has the sum of its bytes, its own bytes
/// counted as blanks.
fn is_tar(bytes: &[u8]) -> bool {
    let Some(block) = bytes.get(..BLOCK) else {
        return false;
    };
    let counted = |(at, byte): (usize, &u8)| match SUM.contains(&at) {
        true => u32::from(b' '),
        false => u32::from(*byte),
    };
    let sum: u32 = block.iter().enumerate().map(counted).sum();
    let stated = tar::Header::from_byte_slice(block).cksum();
    block[MAGIC].starts_with(b"ustar") || stated.is_ok_and(|stated| stated == sum)
}

/// Has it, near its begin, a line such as `/sys/devices/system/cpu/online:0-7`? What `adb` or a shell
/// prints may stand before it.
fn is_dump(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(SEEN)];
    let text = String::from_utf8_lossy(start);
    !start.contains(&0) && text.lines().any(|line| path_and_content(line).is_some())
}

/// How something of unknown content begins, in words.
fn beginning(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(SEEN)]);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    match line {
        None => "is empty".to_owned(),
        Some(line) if line.chars().any(char::is_control) => "is binary".to_owned(),
        Some(line) => {
            let start: String = line.chars().take(SHOWN).collect();
            let more = if start.len() < line.len() { "..." } else { "" };
            format!("begins with `{start}{more}`")
        }
    }
}

fn of_tar(packed: impl Read) -> Result<Vec<(String, Content)>, String> {
    let damaged = |files: usize| {
        format!(
            "is a tar archive that is cut off or damaged behind {files} files of sysfs, or unpacks to \
             more than {MOST_UNPACKED} bytes: copy it again, and nothing but sysfs"
        )
    };
    let mut found = Vec::new();
    let mut archive = tar::Archive::new(packed.take(MOST_UNPACKED));
    for entry in archive.entries().map_err(|_| damaged(0))? {
        let mut entry = entry.map_err(|_| damaged(found.len()))?;
        let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let kind = entry.header().entry_type();
        if kind.is_symlink() {
            let target = entry.link_name_bytes().unwrap_or_default();
            let target = String::from_utf8_lossy(&target).into_owned();
            found.push((path, Content::Link(target)));
        } else if (kind.is_file() || kind.is_gnu_sparse()) && is_read(&path) {
            let mut bytes = Vec::new();
            let read = (&mut entry).take(MOST_BYTES).read_to_end(&mut bytes);
            read.map_err(|_| damaged(found.len()))?;
            found.push((path, Content::File(bytes)));
        }
        if found.len() > MOST_FILES {
            return Err(format!(
                "has more than {MOST_FILES} files and links, expected a copy of sysfs alone"
            ));
        }
    }
    Ok(found)
}

enum Content {
    File(Vec<u8>),
    Link(String),
}

/// Is the file of use, whatever folder the tree lies in?
fn is_read(path: &str) -> bool {
    READ.iter().any(|part| path.contains(part))
}

/// The tree without the folders that it lies in.
///
/// # Errors
/// There is none, or there are several.
fn rooted(found: Vec<(String, Content)>) -> Result<Files, String> {
    let folder = |path: &str| path.find(MARK).map(|at| path[..at].to_owned());
    let roots: BTreeSet<String> = found.iter().filter_map(|(path, _)| folder(path)).collect();
    let root = match roots.len() {
        0 => {
            return Err(format!(
                "has no file in `{MARK}`, expected a copy of sysfs with its path from the root"
            ));
        }
        1 => roots.into_iter().next().unwrap_or_default(),
        _ => {
            let named = roots.iter().map(|root| format!("`{root}`"));
            let named: Vec<String> = named.take(NAMED).collect();
            return Err(format!(
                "has {} folders with `{MARK}` ({}), expected the copy of one machine's sysfs: unpack \
                 it and import one of the folders",
                roots.len(),
                named.join(", ")
            ));
        }
    };
    let mut files = Files::default();
    for (path, content) in found {
        match (path.strip_prefix(&root), content) {
            (Some(path), Content::File(bytes)) => files.add(path, bytes),
            (Some(path), Content::Link(target)) => files.add_link(path, &target),
            (None, _) => {}
        }
    }
    Ok(files)
}

/// A file of several lines has a line for each of them.
fn of_dump(text: &str) -> Vec<(String, Content)> {
    let mut files: Vec<(String, Content)> = Vec::new();
    for (path, content) in text.lines().filter_map(path_and_content) {
        match files.last_mut() {
            Some((last, Content::File(bytes))) if last == path => {
                bytes.push(b'\n');
                bytes.extend(content.bytes());
            }
            _ => files.push((path.to_owned(), Content::File(content.into()))),
        }
    }
    files
}

/// The path ends at the first colon that is not of `ps:FREQUENCY`, a folder of the energy model.
fn path_and_content(line: &str) -> Option<(&str, &str)> {
    let colons = line.match_indices(':').map(|(at, _)| at);
    let end = colons
        .into_iter()
        .find(|&at| !line[..at].ends_with("/ps"))?;
    let path = line[..end].strip_prefix('/')?;
    is_read(path).then_some((path, &line[end + 1..]))
}

#[cfg(test)]
mod tests;
