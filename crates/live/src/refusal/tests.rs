// SPDX-License-Identifier: GPL-2.0-only
//! Tests of the sentence about a refused program.

use super::*;

const REFUSED: &str = "\
libbpf: prog 'select_entered': BPF program load failed: -EINVAL
libbpf: prog 'select_entered': -- BEGIN PROG LOAD LOG --
0: R1=ctx() R10=fp0
; w->jiffies = bpf_jiffies64();
7: (85) call bpf_get_current_task_btf#158
unknown func bpf_get_current_task_btf#158
processed 8 insns (limit 1000000) max_states_per_insn 0 total_states 0 peak_states 0 mark_read 0
-- END PROG LOAD LOG --
libbpf: prog 'select_entered': failed to load: -EINVAL
libbpf: failed to load object 'record_decisions'
";

#[test]
fn a_refused_program_is_named_with_the_verifiers_last_line() {
    assert_eq!(
        in_words(REFUSED).as_deref(),
        Some(
            "the kernel refuses the program select_entered: \
             unknown func bpf_get_current_task_btf#158"
        )
    );
}

#[test]
fn of_an_explanation_its_head_is_told() {
    let said = "libbpf: prog 'select_entered': BPF program load failed: -EACCES\n\
                libbpf: prog 'select_entered': -- BEGIN PROG LOAD LOG --\n\
                R7 invalid mem access 'scalar'\n\n\
                Verification failed: Memory access: R7 is no pointer\n\n\
                Suggestion:\n  Reload the pointer.\n\n\
                processed 903 insns (limit 1000000)\n\
                -- END PROG LOAD LOG --\n";
    assert_eq!(
        in_words(said).as_deref(),
        Some("the kernel refuses the program select_entered: Memory access: R7 is no pointer")
    );
}

#[test]
fn a_program_that_cannot_be_attached_is_named() {
    let said = "libbpf: prog 'select_left': failed to attach: -ENOTSUPP\n\
                libbpf: prog 'select_left': failed to auto-attach: -ENOTSUPP\n";
    assert_eq!(
        in_words(said).as_deref(),
        Some("program select_left: failed to attach: -ENOTSUPP")
    );
}

#[test]
fn what_is_no_program_is_told_in_libbpfs_words() {
    let said = "libbpf: map 'wakeups': failed to create: -EINVAL\n\n";
    assert_eq!(
        in_words(said).as_deref(),
        Some("libbpf: map 'wakeups': failed to create: -EINVAL")
    );
    assert_eq!(in_words(""), None);
}
