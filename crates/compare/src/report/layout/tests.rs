// SPDX-License-Identifier: GPL-2.0-only

use super::*;

#[test]
fn a_long_command_is_continued_where_a_shell_goes_on() {
    let long = "-w 'sysbench --max-time=5 --max-requests=-1 --test=threads --num-threads=6 run'";
    let command = format!("alight compare -m juno-r0 {long} linux-5.5 --runs 20");
    let lines = continued(&command);
    assert_eq!(lines[0], "alight compare -m juno-r0 \\");
    assert!(lines[1].starts_with("-w 'sysbench"), "{lines:?}");
    assert!(
        lines.iter().all(|line| line.chars().count() <= 86),
        "{lines:?}"
    );
    let joined = lines.join("\n").replace("\\\n", "");
    assert_eq!(shell_words::split(&joined), shell_words::split(&command));
}

#[test]
fn columns_are_as_wide_as_their_widest_cell() {
    let mut columns = Columns::new(1, 1);
    columns.row(["", "mean"]);
    columns.row(["linux-5.5", "1.25"]);
    columns.row(["b", "100.25", ""]);
    let expected = "              mean\n linux-5.5    1.25\n b          100.25\n";
    assert_eq!(columns.render(), expected);
}
