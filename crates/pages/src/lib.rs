// SPDX-License-Identifier: GPL-2.0-only
//! Manual pages and shell completions, made from a program's command line.
//!
//! The pages have the text of `--help`, because both are made from the same source. [`write()`] writes
//! them below a directory, in the layout of `/usr/share` of Debian.
//!
//! # Who may use it
//!
//! `xtask`, which knows all programs (`cargo run -p xtask`). This crate uses no other crate of the
//! project.
//!
//! # Example
//!
//! ```
//! use alight_pages::{Program, write};
//! use clap::{Arg, Command};
//!
//! # let directory = tempfile::tempdir()?;
//! # let share = directory.path();
//! let program = Program {
//!     command: Command::new("hello").about("Greets").arg(Arg::new("name").help("Whom")),
//!     section: 1,
//!     see_also: vec!["true(1)"],
//! };
//! write(program, share)?;
//! let page = std::fs::read_to_string(share.join("man/man1/hello.1"))?;
//! assert!(page.contains("true(1)"));
//! assert!(share.join("fish/vendor_completions.d/hello.fish").exists());
//! # Ok::<(), std::io::Error>(())
//! ```

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use std::path::Path;
use std::{fs, io};

/// A program whose pages are made.
pub struct Program {
    /// Its command line.
    pub command: Command,
    /// Section of the manual: 1 for users' programs, 8 for administrators'.
    pub section: u8,
    /// Pages for SEE ALSO, such as `alight(1)`. The pages of its subcommands are added.
    pub see_also: Vec<&'static str>,
}

/// Shells, with the place where they look for completions and what surrounds the program's name.
const SHELLS: [(Shell, &str, &str, &str); 3] = [
    (Shell::Bash, "bash-completion/completions", "", ""),
    (Shell::Zsh, "zsh/vendor-completions", "_", ""),
    (Shell::Fish, "fish/vendor_completions.d", "", ".fish"),
];

/// Writes the manual pages of `program` and its subcommands, and its completions for bash, zsh and
/// fish, below `directory`. The layout is that of `/usr/share` in Debian.
///
/// # Errors
/// A file cannot be written. The error names it.
pub fn write(program: Program, directory: &Path) -> io::Result<()> {
    let mut command = program.command;
    let name = command.get_name().to_string();
    for (shell, place, before, after) in SHELLS {
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut command.clone(), &name, &mut text);
        let file = format!("{before}{name}{after}");
        put(&directory.join(place), &file, &text)?;
    }
    // A page on "help" would only say that it is one.
    command = command.disable_help_subcommand(true);
    command.build();
    let place = directory.join(format!("man/man{}", program.section));
    write_page(&command, program.section, &program.see_also, &place)
}

fn write_page(
    command: &Command,
    section: u8,
    see_also: &[&str],
    directory: &Path,
) -> io::Result<()> {
    let title = title(command);
    let subcommands: Vec<_> = (command.get_subcommands())
        .filter(|subcommand| !subcommand.is_hide_set())
        .collect();
    let mut others: Vec<String> = see_also.iter().map(|page| (*page).to_string()).collect();
    for subcommand in &subcommands {
        others.push(format!("{}({section})", self::title(subcommand)));
    }
    let text = page(command, section, &others)?;
    put(directory, &format!("{title}.{section}"), &text)?;
    let parent = format!("{title}({section})");
    for subcommand in subcommands {
        write_page(subcommand, section, &[&parent], directory)?;
    }
    Ok(())
}

/// `alight-simulate` for `alight simulate`.
fn title(command: &Command) -> &str {
    (command.get_display_name()).unwrap_or_else(|| command.get_name())
}

fn page(command: &Command, section: u8, see_also: &[String]) -> io::Result<Vec<u8>> {
    let has_arguments = command
        .get_arguments()
        .any(|argument| !argument.is_hide_set());
    let has_subcommands = (command.get_subcommands()).any(|subcommand| !subcommand.is_hide_set());
    let version = env!("CARGO_PKG_VERSION");
    let man = Man::new(command.clone())
        .section(section.to_string())
        .source(format!("Alight {version}"))
        .manual("Alight");
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    if has_arguments {
        man.render_options_section(&mut text)?;
    }
    if has_subcommands {
        man.render_subcommands_section(&mut text)?;
    }
    let after = command
        .get_after_long_help()
        .or_else(|| command.get_after_help());
    let mut roff = Roff::new();
    if let Some(after) = after {
        after_help(&mut roff, &after.to_string());
    }
    if !see_also.is_empty() {
        roff.control("SH", ["SEE ALSO"]);
        roff.text([roman(see_also.join(", "))]);
    }
    roff.to_writer(&mut text)?;
    Ok(text)
}

/// What `--help` shows last: `Examples:` becomes a section, indented lines stay as they are
/// and others are filled.
fn after_help(roff: &mut Roff, text: &str) {
    let mut in_section = false;
    let mut literal = false;
    for line in text.lines() {
        // A short line: sentences may end in a colon too.
        let heading = (line.strip_suffix(':')).filter(|heading| heading.split(' ').count() <= 2);
        let indented = line.starts_with("  ");
        if literal && !indented {
            roff.control("fi", []);
            literal = false;
        }
        match heading {
            Some(heading) if !indented => {
                roff.control("SH", [heading.to_uppercase().as_str()]);
                in_section = true;
                continue;
            }
            _ => {}
        }
        if line.trim().is_empty() {
            if in_section {
                roff.control("PP", []);
            }
            continue;
        }
        if !in_section {
            roff.control("SH", ["NOTES"]);
            in_section = true;
        }
        if indented && !literal {
            roff.control("nf", []);
            literal = true;
        }
        roff.text([roman(line)]);
    }
    if literal {
        roff.control("fi", []);
    }
}

/// Nothing half-written stands under the file's name.
fn put(directory: &Path, name: &str, text: &[u8]) -> io::Result<()> {
    let path = directory.join(name);
    let unfinished = directory.join(format!(".{name}.new"));
    fs::create_dir_all(directory)
        .and_then(|()| fs::write(&unfinished, text))
        .and_then(|()| fs::rename(&unfinished, &path))
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

#[cfg(test)]
mod tests;
