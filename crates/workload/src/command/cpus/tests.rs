// SPDX-License-Identifier: GPL-2.0-only

use super::*;

/// CPUs, or words of the refusal.
type Expected = Result<&'static [u32], &'static str>;

fn text(text: &str) -> Text<'_> {
    Text {
        text,
        place: Place::default(),
        of: "taskset",
    }
}

/// Each line as taskset of util-linux 2.38 answers it.
#[test]
fn lists_and_masks_of_util_linux() {
    type Parse = fn(Text<'_>) -> Result<Vec<u32>, Refusal>;
    let table: [(Parse, &str, Expected); 22] = [
        (list, "0", Ok(&[0])),
        (list, "3,0-1", Ok(&[0, 1, 3])),
        (list, "0-6:2", Ok(&[0, 2, 4, 6])),
        (list, "0-7:3,1", Ok(&[0, 1, 3, 6])),
        (list, "8190-4294967295", Ok(&[8190, 8191])),
        (list, "99999", Ok(&[])),
        (list, "", Err("`` is no CPU")),
        (list, "0,", Err("`` is no CPU")),
        (list, "0-", Err("`` is no CPU")),
        (list, "1-0", Err("runs backwards; write 0-1")),
        (list, "0-3:0", Err("the stride of 0-3:0 is 0")),
        (list, "a", Err("`a` is no CPU")),
        (list, "-1", Err("`` is no CPU")),
        (mask, "3", Ok(&[0, 1])),
        (mask, "0x3", Ok(&[0, 1])),
        (mask, "c", Ok(&[2, 3])),
        (mask, "1,00000001", Ok(&[0, 32])),
        (mask, "F0", Ok(&[4, 5, 6, 7])),
        (mask, "0", Ok(&[])),
        (mask, "", Ok(&[])),
        (mask, "0,1", Ok(&[0])),
        (mask, "0-3", Err("`-` is no hexadecimal digit")),
    ];
    for (parse, given, expected) in table {
        match (parse(text(given)), expected) {
            (Ok(cpus), Ok(expected)) => assert_eq!(cpus, expected, "{given}"),
            (Err(refusal), Err(words)) => {
                assert!(
                    refusal.message.contains(words),
                    "{given}: {}",
                    refusal.message
                );
            }
            (found, _) => panic!("{given}: {found:?}"),
        }
    }
}

/// Each line as numactl and cyclictest read it (libnuma 2.0).
#[test]
fn lists_of_libnuma() {
    let (allowed, all) = ([0, 1, 4, 5], [0, 1, 2, 3, 4, 5]);
    let known = Numbered {
        what: "CPU",
        allowed: Some(&allowed),
        all: Some(&all),
    };
    let unknown = Numbered {
        what: "CPU",
        allowed: None,
        all: None,
    };
    let table: [(Numbered<'_>, &str, Expected); 16] = [
        (known, "0", Ok(&[0])),
        (known, "0-5", Ok(&[0, 1, 4, 5])),
        (known, "all", Ok(&[0, 1, 4, 5])),
        (known, "+2", Ok(&[4])),
        (known, "+0-2", Ok(&[0, 1, 4])),
        (known, "!0-1", Ok(&[2, 3, 4, 5])),
        (known, "0x4,01", Ok(&[1, 4])),
        (known, "2", Err("CPU 2 is out of range; there are 0-1, 4-5")),
        (known, "0-9", Err("CPU 9 is out of range")),
        (known, "+4", Err("CPU 4 is out of range")),
        (known, "0,", Err("`` is no CPU")),
        (known, "a", Err("`a` is no CPU")),
        (known, "5-4", Err("runs backwards; write 4-5")),
        (unknown, "3,0-1", Ok(&[0, 1, 3])),
        (unknown, "all", Err("`all` needs the machine")),
        (unknown, "!0", Err("`!` needs the machine")),
    ];
    for (of, given, expected) in table {
        match (libnuma(text(given), of), expected) {
            (Ok(cpus), Ok(expected)) => assert_eq!(cpus, expected, "{given}"),
            (Err(refusal), Err(words)) => {
                assert!(
                    refusal.message.contains(words),
                    "{given}: {}",
                    refusal.message
                );
            }
            (found, _) => panic!("{given}: {found:?}"),
        }
    }
}
