// SPDX-License-Identifier: GPL-2.0-only
//! The arrows of the simulator: a room uses the rooms below it and no other. Read from the source, since
//! the rooms are one crate.
//!
//! A room is a folder of `src`. Held here, file by file: what a file names of other rooms, whose layer its
//! methods are methods of, which methods these call; how long files and functions are; and that a file
//! says in its first lines what it is.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The rooms, lowest first, each with the layer whose methods stand in it, if it has one of its own.
const ROOMS: [(&str, &str); 13] = [
    ("base", ""),
    ("face", ""),
    ("kernel", ""),
    ("world", "World"),
    ("power", "Power"),
    ("queues", "Queues"),
    ("place", "Place"),
    ("balance", "Balancer"),
    ("program", "Programs"),
    ("dispatch", "Sim"),
    ("observe", ""),
    ("setup", ""),
    ("run", ""),
];

/// By which field a layer holds the one below.
const STEPS_DOWN: [&str; 6] = ["world", "power", "queues", "place", "balancer", "programs"];

/// Longest file and longest function, lines.
const LONGEST: (usize, usize) = (500, 60);

/// How far up a room is.
fn rank(room: &str) -> Option<usize> {
    ROOMS.iter().position(|(name, _)| *name == room)
}

/// How far up the room of a layer is.
fn rank_of_layer(layer: &str) -> Option<usize> {
    ROOMS
        .iter()
        .position(|(_, of)| *of == layer && !layer.is_empty())
}

/// A file of the simulator.
struct Source {
    /// Below `src`.
    path: String,
    /// Without comments; a chain of calls is in one line.
    code: String,
    text: String,
}

impl Source {
    fn new(path: &str, text: &str) -> Self {
        let lines = text
            .lines()
            .map(|line| line.split("//").next().unwrap_or(""));
        let mut code = String::new();
        for line in lines {
            if !line.trim_start().starts_with('.') {
                code.push('\n');
            }
            code.push_str(match line.trim_start().starts_with('.') {
                true => line.trim_start(),
                false => line.trim_end(),
            });
        }
        Source {
            path: path.to_owned(),
            code,
            text: text.to_owned(),
        }
    }

    /// How far up its room is; `None` for what stands beside the rooms: the crate's front page, and what
    /// tests are built on.
    fn rank(&self) -> Option<usize> {
        let first = self.path.split('/').next()?;
        rank(first.strip_suffix(".rs").unwrap_or(first))
    }

    /// Names of rooms in paths from the crate's root.
    fn named_rooms(&self) -> impl Iterator<Item = &str> {
        let paths = self.code.split("crate::").skip(1);
        paths.filter_map(|path| {
            path.split(|c: char| !c.is_alphanumeric() && c != '_')
                .next()
        })
    }

    /// Methods of layers: name, layer and body.
    fn methods(&self) -> Vec<Method<'_>> {
        let mut methods = vec![];
        let mut layer = None;
        let mut at = 0;
        for line in self.code.split_inclusive('\n') {
            let start = at;
            at += line.len();
            if !line.starts_with([' ', '\n', '}']) {
                layer = layer_of(line).or(layer.filter(|_| !line.starts_with("impl")));
            }
            if line.starts_with('}') {
                layer = None;
            }
            let Some((layer, name)) = layer.zip(declared(line)) else {
                continue;
            };
            let rest = &self.code[start..];
            let end = rest.find("\n    }\n").unwrap_or(rest.len());
            methods.push(Method {
                name,
                layer,
                body: &rest[..end],
            });
        }
        methods
    }
}

struct Method<'a> {
    name: &'a str,
    layer: &'a str,
    body: &'a str,
}

/// The layer of whose methods a block that begins with `line` consists.
fn layer_of(line: &str) -> Option<&str> {
    if line.contains("trait ") && line.contains(": Stopper<") || line.contains("trait Stopper<") {
        return Some("Balancer");
    }
    let head = line.strip_prefix("impl")?;
    let of = match head.split_once(" for ") {
        Some((_, of)) => of,
        None => head.split_once(' ')?.1,
    };
    let name = of.split(['<', ' ']).next()?;
    rank_of_layer(name).map(|_| name)
}

/// The method that a line declares.
fn declared(line: &str) -> Option<&str> {
    let line = line
        .strip_prefix("    ")
        .filter(|line| !line.starts_with(' '))?;
    let line = line.split_once("fn ").filter(|(before, _)| {
        before.is_empty() || before.starts_with("pub") || *before == "const "
    })?;
    line.1.split(['(', '<']).next()
}

/// What `body` calls of its own layer or of one below.
fn calls(body: &str) -> impl Iterator<Item = &str> {
    let of_self = body.split("self.").skip(1);
    of_self.filter_map(|chain| {
        let mut rest = chain;
        loop {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_')?;
            match (&rest[..end], rest.as_bytes()[end]) {
                (name, b'(') => return Some(name),
                (name, b'.') if STEPS_DOWN.contains(&name) => rest = &rest[end + 1..],
                _ => return None,
            }
        }
    })
}

/// Where each method of a layer stands: the lowest room, if one room declares what another does.
fn homes(sources: &[Source]) -> BTreeMap<&str, usize> {
    let mut homes = BTreeMap::new();
    for source in sources {
        let Some(rank) = source.rank() else { continue };
        for method in source.methods() {
            let home = homes.entry(method.name).or_insert(rank);
            *home = rank.min(*home);
        }
    }
    homes
}

/// What points up.
fn turned_arrows(sources: &[Source]) -> Vec<String> {
    let homes = homes(sources);
    let mut turned = vec![];
    for source in sources {
        let Some(own) = source.rank() else { continue };
        let path = &source.path;
        for room in source.named_rooms() {
            if rank(room).is_some_and(|rank| rank > own) {
                turned.push(format!("{path} names {room}"));
            }
        }
        for Method { name, layer, body } in source.methods() {
            if rank_of_layer(layer).is_some_and(|rank| rank > own) {
                turned.push(format!("{path}: {name}() is a method of {layer}"));
            }
            for called in calls(body) {
                if homes.get(called).is_some_and(|home| *home > own) {
                    turned.push(format!("{path}: {name}() calls {called}()"));
                }
            }
        }
    }
    turned
}

/// All files but those of tests.
fn sources() -> Vec<Source> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = vec![];
    let mut folders: Vec<PathBuf> = vec![src.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of src") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ext| ext == "rs") {
                let below = path.strip_prefix(&src).expect("below src");
                let text = fs::read_to_string(&path).expect("a source file");
                found.push(Source::new(&below.to_string_lossy(), &text));
            }
        }
    }
    let tests: Vec<String> = found.iter().flat_map(test_modules).collect();
    found.retain(|source| {
        let path = source.path.as_str();
        !tests.iter().any(|test| {
            path.strip_prefix(test.as_str())
                .is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
        })
    });
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// Modules of a file that are built for tests only, as paths below `src` without `.rs`.
fn test_modules(source: &Source) -> Vec<String> {
    let folder = match source.path.as_str() {
        "lib.rs" => String::new(),
        path => format!("{}/", path.trim_end_matches(".rs")),
    };
    let mut modules = vec![];
    let mut lines = source.text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("#[cfg(test)]")
            && let Some(module) = lines.next().and_then(|line| line.split_once("mod "))
        {
            modules.push(format!("{folder}{}", module.1.trim_end_matches(';')));
        }
    }
    modules
}

#[test]
fn no_arrow_points_up() {
    let sources = sources();
    assert!(sources.len() > 150, "{} files", sources.len());
    let methods: usize = sources.iter().map(|source| source.methods().len()).sum();
    assert!(methods > 700, "{methods} methods of layers");
    let turned = turned_arrows(&sources);
    assert!(turned.is_empty(), "point up:\n{}", turned.join("\n"));
}

/// What the test above is worth: each kind of arrow, turned.
#[test]
fn an_arrow_that_turns_is_found() {
    let power = "\
impl Power<'_> {
    pub fn idle_left(&mut self, cpu: usize) {
        self.world
            .settle(cpu);
    }
}
";
    for (path, text, found) in [
        ("world/clock.rs", "use crate::base::queue::NEVER;\n", None),
        (
            "world/clock.rs",
            "use crate::power::Power;\n",
            Some("world/clock.rs names power"),
        ),
        (
            "world/clock.rs",
            "impl<'a> Stopper<'a> for Programs<'a> {\n    fn go(&self) {\n    }\n}\n",
            Some("world/clock.rs: go() is a method of Programs"),
        ),
        (
            "world/clock.rs",
            "impl World<'_> {\n    fn go(&self) {\n        self.idle_left(3);\n    }\n}\n",
            Some("world/clock.rs: go() calls idle_left()"),
        ),
        (
            "dispatch/idle.rs",
            "impl Power<'_> {\n    fn settle(&self) {\n    }\n}\n",
            Some("power/idle.rs: idle_left() calls settle()"),
        ),
    ] {
        let sources = [Source::new("power/idle.rs", power), Source::new(path, text)];
        assert_eq!(
            turned_arrows(&sources),
            Vec::from_iter(found.map(str::to_owned)),
            "{text}"
        );
    }
}

/// Counts are for reports: what decides cannot depend on them.
#[test]
fn only_reports_read_counts() {
    for source in sources() {
        let reads = source.code.contains(".reported()") || source.code.contains("Count::reported");
        let may = source.path.starts_with("observe/") || source.path == "base/count.rs";
        assert!(!reads || may, "{} reads a count", source.path);
    }
}

#[test]
fn files_say_what_they_are_and_are_short() {
    let mut wrong = vec![];
    for Source { path, text, .. } in sources() {
        let lines = text.lines().count();
        if lines > LONGEST.0 {
            wrong.push(format!("{path} has {lines} lines"));
        }
        if !text
            .lines()
            .nth(1)
            .is_some_and(|line| line.starts_with("//! "))
        {
            wrong.push(format!("{path} does not say what it is"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn functions_are_short() {
    let mut wrong = vec![];
    for Source { path, text, .. } in sources() {
        let mut begun: Option<(usize, usize, &str)> = None;
        for (nr, line) in text.lines().enumerate() {
            let code = line.trim_start();
            let indent = line.len() - code.len();
            match begun {
                None if begins_function(code) => begun = Some((nr, indent, code)),
                Some((first, of, name)) if indent == of && code == "}" => {
                    let lines = nr + 1 - first;
                    if lines > LONGEST.1 {
                        wrong.push(format!("{path}: {lines} lines: {name}"));
                    }
                    begun = None;
                }
                _ => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Does a line begin a function that has a body of several lines?
fn begins_function(code: &str) -> bool {
    let named = code.split_once("fn ").is_some_and(|(before, _)| {
        before.is_empty() || before.starts_with("pub") || matches!(before, "const " | "unsafe ")
    });
    named && !code.ends_with([';', '}'])
}
