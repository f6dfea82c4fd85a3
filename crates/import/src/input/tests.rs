// SPDX-License-Identifier: GPL-2.0-only

use super::*;

#[test]
fn a_stream_shows_a_part_of_the_file() {
    let input = Input::of((0..100).collect());
    let mut stream = input.stream(10, 20);
    assert_eq!((stream.offset(), stream.left()), (10, 10));
    assert_eq!(stream.peek(4).unwrap()[..4], [10, 11, 12, 13]);
    stream.advance(4);
    assert_eq!((stream.offset(), stream.left()), (14, 6));
    stream.skip(3);
    assert_eq!(stream.peek(100).unwrap(), [17, 18, 19]);
    stream.skip(100);
    assert_eq!((stream.left(), stream.peek(1).unwrap().len()), (0, 0));
}

#[test]
fn a_file_and_bytes_are_read_alike() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let bytes: Vec<u8> = (0..3 * WINDOW).map(|n| (n % 251) as u8).collect();
    std::fs::write(file.path(), &bytes).unwrap();
    let (file, memory) = (Input::open(file.path()).unwrap(), Input::of(bytes));
    for (offset, length) in [(0, 10), (WINDOW as u64 - 5, 10), (3 * WINDOW as u64 - 1, 1)] {
        assert_eq!(
            file.section(offset, length, 100, "x").unwrap(),
            memory.section(offset, length, 100, "x").unwrap()
        );
    }
    let (mut one, mut other) = (file.stream(3, u64::MAX), memory.stream(3, u64::MAX));
    while one.left() > 0 {
        assert_eq!(one.peek(9).unwrap()[0], other.peek(9).unwrap()[0]);
        one.skip(100_003);
        other.skip(100_003);
    }
    assert_eq!(other.left(), 0);
}

#[test]
fn a_section_that_is_not_there_is_an_error_with_its_place() {
    let input = Input::of(vec![0; 10]);
    for (offset, length) in [(5, 6), (11, 0), (u64::MAX, 2)] {
        let error = input
            .section(offset, length, 100, "the head")
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with(&format!("at byte {offset}: the head should have")),
            "{error}"
        );
    }
    let error = input.section(0, 10, 5, "the head").unwrap_err().to_string();
    assert_eq!(
        error,
        "at byte 0: the head has 10 bytes, expected at most 5"
    );
}
