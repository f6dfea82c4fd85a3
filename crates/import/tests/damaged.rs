// SPDX-License-Identifier: GPL-2.0-only
//! Captures that are cut short, flipped, or made of parts of each other: an error that says where,
//! or a result; never a panic.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use alight_import::{Error, Options, import_bytes};
use proptest::prelude::*;

/// All captures that are kept in the tree.
static CAPTURES: LazyLock<Vec<(String, Vec<u8>)>> = LazyLock::new(|| {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let mut all = Vec::new();
    let kernels = fs::read_dir(data)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    for kernel in kernels.filter(|path| path.is_dir()) {
        for file in fs::read_dir(kernel).unwrap() {
            let path = file.unwrap().path();
            let packed = fs::read(&path).unwrap();
            all.push((
                path.display().to_string(),
                zstd::decode_all(&packed[..]).unwrap(),
            ));
        }
    }
    all.sort();
    all
});

/// Errors of damage have a place; others say what the file is instead, or what it lacks.
fn is_told(name: &str, bytes: Vec<u8>) -> Result<(), TestCaseError> {
    match import_bytes(bytes, None, &Options::default()) {
        Ok(_) | Err(Error::Foreign(_) | Error::Asked(_)) => {}
        Err(error) => {
            let text = error.to_string();
            prop_assert!(text.starts_with("at byte "), "{name}: {text}");
        }
    }
    Ok(())
}

/// So much of a file that a case does not take long: heads are what can be damaged most.
fn capture(index: prop::sample::Index) -> (&'static str, &'static [u8]) {
    let (name, bytes) = index.get(&CAPTURES);
    (name, bytes)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn a_file_that_is_cut_short(which: prop::sample::Index, at: prop::sample::Index) {
        let (name, bytes) = capture(which);
        is_told(name, bytes[..at.index(bytes.len())].to_vec())?;
    }

    #[test]
    fn a_file_with_flipped_bits(
        which: prop::sample::Index,
        flips in prop::collection::vec((any::<prop::sample::Index>(), 1..=255u8), 1..8),
    ) {
        let (name, bytes) = capture(which);
        let mut bytes = bytes.to_vec();
        for (at, flip) in flips {
            let at = at.index(bytes.len());
            bytes[at] ^= flip;
        }
        is_told(name, bytes)?;
    }

    #[test]
    fn a_file_with_a_flipped_head(
        which: prop::sample::Index,
        flips in prop::collection::vec((0..4096usize, any::<u8>()), 1..8),
    ) {
        let (name, bytes) = capture(which);
        let mut bytes = bytes.to_vec();
        for (at, flip) in flips {
            let at = at % bytes.len();
            bytes[at] = flip;
        }
        is_told(name, bytes)?;
    }

    #[test]
    fn a_head_with_the_rest_of_another_file(
        first: prop::sample::Index,
        second: prop::sample::Index,
        at: prop::sample::Index,
    ) {
        let ((name, head), (_, rest)) = (capture(first), capture(second));
        let at = at.index(head.len());
        let mut bytes = head[..at].to_vec();
        bytes.extend(rest.get(at..).unwrap_or_default());
        is_told(name, bytes)?;
    }
}
