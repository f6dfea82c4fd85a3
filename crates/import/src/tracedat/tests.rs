// SPDX-License-Identifier: GPL-2.0-only
//! Pages of the ring buffer, made here.

use super::page::{Layout, Lost, Walk};

const PAGE: usize = 4096;

fn layout() -> Layout {
    let mut layout = Layout::default();
    layout.size = PAGE as u32;
    let description = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
        \tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\
        \tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\
        \tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";
    layout.read(description).unwrap();
    layout
}

/// A page of these words, which begins at 1000 ns.
fn page(words: &[u32], flags: u64) -> Vec<u8> {
    let mut page = vec![0; PAGE];
    page[..8].copy_from_slice(&1000u64.to_le_bytes());
    page[8..16].copy_from_slice(&((words.len() as u64 * 4) | flags).to_le_bytes());
    for (place, word) in page[16..].chunks_exact_mut(4).zip(words) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    page
}

/// Times and lengths of the events of a page.
fn walk(words: &[u32]) -> Result<Vec<(u64, usize)>, String> {
    let page = page(words, 0);
    let (mut walk, lost) = Walk::begin(&page, layout(), 0).unwrap();
    assert_eq!(lost, None);
    let mut found = vec![];
    while let Some((_, length)) = walk.next(&page, 0).map_err(|error| error.to_string())? {
        found.push((walk.time, length));
    }
    Ok(found)
}

#[test]
fn events_of_all_forms() {
    let words = [
        5 << 5 | 1, // 4 bytes, 5 ns later
        7,
        10 << 5, // a length of its own: 12 bytes
        16,
        1,
        2,
        3,
        3 << 5 | 30, // time extend: 2^27 + 3 ns
        1,
        1 << 5 | 2,
        0,
        0,
        2 << 5 | 29, // padding of 4 bytes
        4,
        1 << 5 | 1,
        0,
        29, // the rest of the page
        0,
    ];
    let late = 1015 + (1 << 27) + 3;
    let expected = [(1005, 4), (1015, 12), (late + 1, 8), (late + 4, 4)];
    assert_eq!(walk(&words).unwrap(), expected);
}

#[test]
fn an_absolute_time_replaces_the_lower_59_bits() {
    let words = [4 << 5 | 31, 2, 1 << 5 | 1, 0];
    assert_eq!(walk(&words).unwrap(), [((2 << 27) + 5, 4)]);
}

#[test]
fn an_event_beyond_its_page_is_an_error_with_its_place() {
    assert_eq!(
        walk(&[28]).unwrap_err(),
        "at byte 16: an event has 112 bytes, and 0 are left of its page"
    );
    assert!(walk(&[0, 0xffff_ffff, 1]).is_err());
    assert!(walk(&[0, 1, 1]).is_err());
}

#[test]
fn lost_events_stand_in_the_head_of_the_page() {
    const MISSED: u64 = 1 << 31;
    const COUNTED: u64 = 1 << 30;
    let words = [1 << 5 | 1, 0];
    for (flags, count) in [(0, None), (MISSED, Some(0)), (MISSED | COUNTED, Some(77))] {
        let mut page = page(&words, flags);
        page[24..32].copy_from_slice(&77u64.to_le_bytes());
        let (_, lost) = Walk::begin(&page, layout(), 0).unwrap();
        assert_eq!(lost, count.map(|count| Lost { count }));
    }
    let mut page = page(&words, 0);
    page[8..16].copy_from_slice(&5000u64.to_le_bytes());
    let error = Walk::begin(&page, layout(), 300).unwrap_err().to_string();
    assert_eq!(
        error,
        "at byte 308: a page has 5000 bytes of events, expected at most 4080"
    );
}
