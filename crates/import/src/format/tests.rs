// SPDX-License-Identifier: GPL-2.0-only

use super::*;

const FORMAT: &str = "name: sched_migrate_task
ID: 309
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:__data_loc char[] comm;\toffset:8;\tsize:4;\tsigned:0;
\tfield:char old_comm[16];\toffset:12;\tsize:16;\tsigned:0;
\tfield:void * function;\toffset:28;\tsize:8;\tsigned:0;
\tfield:__rel_loc char[] path;\toffset:36;\tsize:4;\tsigned:0;

print fmt: \"comm=%s\", __get_str(comm)
";

#[test]
fn fields_are_where_the_description_says() {
    let format = Format::parse(FORMAT).unwrap();
    assert_eq!(
        (format.name.as_str(), format.id),
        ("sched_migrate_task", 309)
    );
    assert_eq!(format.print, "\"comm=%s\", __get_str(comm)");
    let names: Vec<&str> = format
        .fields
        .iter()
        .map(|field| field.name.as_str())
        .collect();
    let all = [
        "common_type",
        "common_pid",
        "comm",
        "old_comm",
        "function",
        "path",
    ];
    assert_eq!(names, all);

    let mut event = vec![0; 60];
    event[4..8].copy_from_slice(&(-1i32).to_le_bytes());
    event[8..12].copy_from_slice(&(4u32 << 16 | 40).to_le_bytes());
    event[12..17].copy_from_slice(b"older");
    event[28..36].copy_from_slice(&0xffff_ffff_8ab5_89c0u64.to_le_bytes());
    event[36..40].copy_from_slice(&(3u32 << 16 | 10).to_le_bytes());
    event[40..44].copy_from_slice(b"name");
    event[50..53].copy_from_slice(b"rel");
    let field = |name| format.field(name).unwrap();
    assert_eq!(field("common_pid").number(&event), u64::MAX);
    assert_eq!(field("function").number(&event), 0xffff_ffff_8ab5_89c0);
    assert_eq!(field("comm").string(&event), b"name");
    assert_eq!(&field("old_comm").string(&event)[..5], b"older");
    assert_eq!(field("path").string(&event), b"rel");
}

#[test]
fn a_string_beyond_the_event_is_empty() {
    let field = Format::parse(FORMAT).unwrap().field("comm").unwrap();
    let mut event = vec![0; 20];
    event[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(field.string(&event), b"");
}

#[test]
fn a_description_without_name_or_number_is_refused() {
    for (text, why) in [
        (
            "ID: 3",
            "the description of a tracepoint has no line 'name:'",
        ),
        (
            "name: a",
            "the description of a tracepoint has no line 'ID:'",
        ),
        (
            "name: a\nID: 70000",
            "a tracepoint has the ID '70000', expected 0 to 65535",
        ),
    ] {
        assert_eq!(Format::parse(text).unwrap_err(), why);
    }
}
