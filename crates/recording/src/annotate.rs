// SPDX-License-Identifier: GPL-2.0-only
//! Adds facts to the end of a finished recording.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::writer::temporary;
use crate::{End, Error, Reader, TAG_END};

/// Changes the end of the recording at `path`; its records stay. The file is replaced as a whole.
///
/// # Errors
/// The recording is not whole; its directory cannot be written to.
pub fn annotate(path: &Path, change: impl FnOnce(&mut End)) -> Result<(), Error> {
    let mut reader = Reader::open(path)?;
    while reader.next_record()?.is_some() {}
    let place = reader.place();
    let mut end = reader.end().cloned().unwrap_or_default();
    change(&mut end);
    replace(path, place.block, &end).map_err(Error::Write)
}

/// The recording with this end, which stands at byte `at`.
fn replace(path: &Path, at: u64, end: &End) -> io::Result<()> {
    let mut input = BufReader::new(File::open(path)?);
    let mode = path.metadata()?.permissions().mode();
    let (mut output, place_of_file) = temporary(path, mode & 0o777)?;
    io::copy(&mut input.by_ref().take(at), &mut output)?;
    let text = serde_json::to_vec(end)?;
    let length = u32::try_from(text.len()).map_err(|_| io::Error::other("the end is too long"))?;
    output.seek(SeekFrom::Start(at))?;
    output.write_all(&[TAG_END])?;
    output.write_all(&length.to_le_bytes())?;
    output.write_all(&text)?;
    output.as_file().sync_all()?;
    output
        .persist(&place_of_file)
        .map_err(|error| error.error)?;
    Ok(())
}
