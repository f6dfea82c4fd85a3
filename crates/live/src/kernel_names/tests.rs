// SPDX-License-Identifier: GPL-2.0-only
//! Tests of the kernel's symbols, read from a text.

use super::*;

#[test]
fn symbols_are_found_by_name_and_modules_do_not_hide_the_kernels() {
    let text = "ffffffff81000000 T schedule\n\
                0000000000021740 d sd_llc\n\
                ffffffffc0000000 d sd_llc\t[module]\n\
                broken\n\
                xyz d runqueues\n";
    let symbols = Symbols::parse(text, &["schedule", "sd_llc", "runqueues", "absent"]);
    assert_eq!(symbols.address("sd_llc"), 0x21740);
    assert_eq!(symbols.address("schedule"), 0xffff_ffff_8100_0000);
    assert_eq!(
        symbols.address("runqueues"),
        0,
        "an address that is no number"
    );
    assert_eq!(symbols.address("absent"), 0);
    assert!(symbols.has("schedule") && !symbols.has("absent"));
}
