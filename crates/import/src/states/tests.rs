// SPDX-License-Identifier: GPL-2.0-only

use super::*;

/// The end of the line `print fmt` of sched_switch of 6.1.
const PRINT: &str = "__print_flags(REC->prev_state & 0xff, \"|\", { 0x00000001, \"S\" }, \
    { 0x00000002, \"D\" }, { 0x00000004, \"T\" }, { 0x00000008, \"t\" }, { 0x00000010, \"X\" }, \
    { 0x00000020, \"Z\" }, { 0x00000040, \"P\" }, { 0x00000080, \"I\" }) : \"R\"";
/// Of 4.4.
const OLD: &str = "{ 1, \"S\"} , { 2, \"D\" }, { 4, \"T\" }, { 8, \"t\" }, { 16, \"Z\" }, \
    { 32, \"X\" }, { 64, \"x\" }, { 128, \"K\"}, { 256, \"W\" }, { 512, \"P\" }, { 1024, \"N\" }";

#[test]
fn bits_are_as_the_kernel_prints_them() {
    let new = States::of_print(PRINT);
    assert_eq!(new, States::new());
    for (bits, left) in [
        (0, Left::Runnable),
        (0x100, Left::Preempted),
        (0x01, Left::Asleep),
        (0x02, Left::Blocked),
        (0x04, Left::Blocked),
        (0x10, Left::Dead),
        (0x20, Left::Dead),
        (0x80, Left::Blocked),
        // Both: signals do not end that.
        (0x03, Left::Blocked),
    ] {
        assert_eq!(new.left(bits), left, "{bits:#x}");
    }
    let old = States::of_print(OLD);
    assert_eq!(old.left(2048), Left::Preempted);
    assert_eq!(old.left(256), Left::Blocked);
    assert_eq!(old.left(0x82), Left::Blocked);
    assert_eq!(States::of_print("\"no table\""), States::new());
    assert_eq!(States::before_4_14().left(4096), Left::Preempted);
}

#[test]
fn letters_are_as_the_kernel_prints_them() {
    for (text, left) in [
        ("R", Some(Left::Runnable)),
        ("R+", Some(Left::Preempted)),
        ("S", Some(Left::Asleep)),
        ("D|K", Some(Left::Blocked)),
        ("X", Some(Left::Dead)),
        ("", None),
        ("+", None),
        ("7?", None),
    ] {
        assert_eq!(States::of_letters(text), left, "{text}");
    }
}
