// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use clap::Arg;

fn program() -> Program {
    let command = Command::new("lamp")
        .version("1.0")
        .about("Lights a room")
        .arg(
            Arg::new("room")
                .long("room")
                .help("Which room; '.' is this one"),
        )
        .subcommand(Command::new("dim").about("Less light"))
        .subcommand(Command::new("test").hide(true))
        .after_help(
            "Rooms are found by name.\n\nExit codes:\n  0  lit\n  1  dark\n\nExamples:\n  lamp \
                 --room hall",
        );
    Program {
        command,
        section: 8,
        see_also: vec!["sun(1)"],
    }
}

fn written() -> (tempfile::TempDir, Vec<String>) {
    let directory = tempfile::tempdir().unwrap();
    write(program(), directory.path()).unwrap();
    let mut files = Vec::new();
    let mut directories = vec![directory.path().to_path_buf()];
    while let Some(at) = directories.pop() {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else {
                let relative = path.strip_prefix(directory.path()).unwrap();
                files.push(relative.to_string_lossy().into_owned());
            }
        }
    }
    files.sort();
    (directory, files)
}

#[test]
fn every_visible_command_has_a_page_and_every_shell_its_completions() {
    assert_eq!(
        written().1,
        [
            "bash-completion/completions/lamp",
            "fish/vendor_completions.d/lamp.fish",
            "man/man8/lamp-dim.8",
            "man/man8/lamp.8",
            "zsh/vendor-completions/_lamp",
        ]
    );
}

#[test]
fn a_page_says_what_help_says() {
    let (directory, _) = written();
    let page = fs::read_to_string(directory.path().join("man/man8/lamp.8")).unwrap();
    for expected in [
        ".TH lamp 8",
        "lamp \\- Lights a room",
        "Which room; \\*(Aq.\\*(Aq is this one",
        ".SH NOTES\nRooms are found by name.",
        ".SH \"EXIT CODES\"\n.nf\n  0  lit\n  1  dark\n.fi",
        ".SH EXAMPLES\n.nf\n  lamp \\-\\-room hall\n.fi",
        ".SH \"SEE ALSO\"\nsun(1), lamp\\-dim(8)",
    ] {
        assert!(page.contains(expected), "{expected:?} in:\n{page}");
    }
    assert!(!page.contains("lamp\\-test"), "{page}");
    let dim = fs::read_to_string(directory.path().join("man/man8/lamp-dim.8")).unwrap();
    assert!(dim.contains(".SH \"SEE ALSO\"\nlamp(8)"), "{dim}");
}

#[test]
fn a_file_that_cannot_be_written_is_named() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("man"), "in the way").unwrap();
    let error = write(program(), directory.path()).unwrap_err().to_string();
    assert!(error.contains("man/man8/lamp.8"), "{error}");
}
