// SPDX-License-Identifier: GPL-2.0-only
//! Where machines come from: the built-in ones, files, this host. The built-in
//! files are part of the program, so that it works anywhere.

use std::path::{Path, PathBuf};

use crate::calibration::{self, Factors, StatedCost};
use crate::document::{Document, Kind, Node, Parsed, Sources, overlay};
use crate::draft::Draft;
use crate::error::{Error, Place, nearest};
use crate::model::Machine;
use crate::reader::{Ledger, Reader};
use crate::resolve::DataSheet;
use crate::written::written;
use crate::{capture, schema};

/// Name that stands for the machine the program runs on.
pub const HOST: &str = "host";

macro_rules! built_in {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../../machines/", $name, ".toml")))),+]
    };
}

/// Built-in machines with their files, in the order they are listed.
const MACHINES: &[(&str, &str)] = built_in![
    "juno-r0",
    "juno-r2",
    "tc2",
    "ca9x4",
    "hikey620",
    "sdm845",
    "sdm845-phantom",
    "rk3588",
    "gs101",
    "epyc-9654-2s",
    "rk3399",
    "rk3399-bin3",
    "mt8183",
    "bcm2711",
    "bcm2712",
    "sm8250",
    "sm8550",
    "zumapro",
    "zumapro-em",
    "t8103",
    "x1e80100",
    "i7-1370p",
    "i7-12700",
    "i9-13900k",
    "ultra7-155h",
    "ultra7-258v",
    "ryzen-hx370",
    "ryzen-7840u",
    "ryzen-7950x",
    "epyc-7763-2s",
    "xeon-8480-2s",
    "xeon-64-2s",
    "graviton3-c7g",
    "graviton4-c8g",
];

/// Cost classes that every machine file may refer to.
const COSTS_FILE: &str = "machines/costs.toml";
const COSTS: &str = include_str!("../../../machines/costs.toml");

/// Longest chain of files that inherit from each other.
const LONGEST_CHAIN: usize = 8;

/// Names of the built-in machines, in the order they are listed.
pub fn names() -> Vec<&'static str> {
    MACHINES.iter().map(|(name, _)| *name).collect()
}

/// Loads a machine, with the source of each of its figures. `name_or_path` is a built-in name
/// ([`names`]), a file whose name ends in `.toml`, a copied tree of sysfs ([`is_tree`](crate::is_tree)),
/// or `host` ([`HOST`]).
///
/// # Errors
/// The name is unknown; the file cannot be read or is not well formed; the machine cannot be
/// ([`Error::Impossible`]).
pub fn load(name_or_path: &str) -> Result<DataSheet, Error> {
    open(name_or_path)?.resolve()
}

/// As [`load`], without check and without resolution: the input of [`check`](crate::check()).
///
/// # Errors
/// As [`load`], without [`Error::Impossible`].
pub fn open(name_or_path: &str) -> Result<Draft, Error> {
    if name_or_path == HOST {
        return capture::host()?.draft();
    }
    if capture::is_tree(name_or_path) {
        return capture::capture_tree(Path::new(name_or_path))?.draft();
    }
    let origin = Origin::named(name_or_path, None)?;
    let text = origin.text()?;
    schema::read(&assemble(&origin, &text, Fitted::Read, LONGEST_CHAIN)?)
}

/// As [`open`], without costs that were fitted to measurements, of this machine or of the one that
/// it has its costs from. `alight calibrate` begins with it.
///
/// # Errors
/// As [`open`].
pub fn open_bare(name_or_path: &str) -> Result<Draft, Error> {
    let origin = Origin::named(name_or_path, None)?;
    let text = origin.text()?;
    schema::read(&assemble(&origin, &text, Fitted::Ignored, LONGEST_CHAIN)?)
}

/// The text of a machine file with `costs`, fitted to `rows` by `factors`, in place of an earlier
/// calibration; `also`: machines that have their costs from it, some of whose rows these are.
///
/// # Errors
/// Unknown names, files that cannot be read.
pub fn calibrated(
    name_or_path: &str,
    also: &[String],
    rows: &[String],
    factors: &Factors,
    costs: &[StatedCost],
) -> Result<String, Error> {
    let text_of = |name: &str| Origin::named(name, None)?.text();
    let text = text_of(name_or_path)?;
    let name = open_bare(name_or_path)?.name;
    let mut others = vec![];
    for machine in also {
        others.push((machine.clone(), text_of(machine)?));
    }
    Ok(calibration::write(
        &text, COSTS, &name, &others, rows, factors, costs,
    ))
}

/// True if `text` differs from the machine that this program knows by this name. Costs that were
/// fitted do not count.
pub fn is_edited(name_or_path: &str, text: &str) -> bool {
    let own = Origin::named(name_or_path, None).and_then(|origin| origin.text());
    own.is_ok_and(|own| calibration::bare(&own).trim_end() != calibration::bare(text).trim_end())
}

/// Reads the text of a machine file. Messages call it `file`. It may inherit from built-in machines
/// and from files that it names by path.
///
/// # Errors
/// As [`open`].
pub fn parse(file: &str, text: &str) -> Result<Draft, Error> {
    schema::read(&document(file, text)?)
}

/// The tree of a machine file, laid over those that it inherits from.
///
/// # Errors
/// As [`open`].
pub(crate) fn document(file: &str, text: &str) -> Result<Document, Error> {
    let origin = Origin::Text(file.to_owned());
    assemble(&origin, text, Fitted::Read, LONGEST_CHAIN)
}

/// As [`parse`], with the keys of `over`, the text of another file, in place of its own.
///
/// # Errors
/// As [`open`].
pub fn parse_under(file: &str, text: &str, over: &str) -> Result<Draft, Error> {
    let origin = Origin::Text(file.to_owned());
    let base = assemble(&origin, text, Fitted::Read, LONGEST_CHAIN)?;
    let own = Parsed::new(file, over)?.settle(&base.sources)?;
    let root = overlay(base.root, own.root);
    schema::read(&Document {
        text: written(&root),
        root,
        ..base
    })
}

impl Machine {
    /// The machine called `name_or_path`: a built-in name, a file whose name
    /// ends in `.toml`, or `host`.
    ///
    /// # Errors
    /// As [`load`].
    pub fn load(name_or_path: &str) -> Result<Self, Error> {
        load(name_or_path).map(|sheet| sheet.machine)
    }
}

/// Where a text comes from.
enum Origin {
    BuiltIn(&'static str, &'static str),
    File(PathBuf),
    Text(String),
}

impl Origin {
    /// The origin of a name or path; paths are relative to the folder of the
    /// file that names them.
    fn named(name: &str, inheritor: Option<&Self>) -> Result<Self, Error> {
        if let Some(&(name, text)) = MACHINES.iter().find(|(known, _)| *known == name) {
            return Ok(Self::BuiltIn(name, text));
        }
        if name.ends_with(".toml") {
            let folder = match inheritor {
                Some(Self::File(path)) => path.parent(),
                _ => None,
            };
            return Ok(Self::File(folder.unwrap_or(Path::new("")).join(name)));
        }
        if Path::new(name).is_file() {
            return Err(Error::NoMachineFile { path: name.into() });
        }
        let valid = names().into_iter().chain([HOST]);
        Err(Error::Unknown {
            name: name.to_owned(),
            hint: nearest(name, valid),
        })
    }

    /// The file's name in messages.
    fn file(&self) -> String {
        match self {
            Self::BuiltIn(name, _) => format!("machines/{name}.toml"),
            Self::File(path) => path.display().to_string(),
            Self::Text(file) => file.clone(),
        }
    }

    fn text(&self) -> Result<String, Error> {
        match self {
            Self::BuiltIn(_, text) => Ok((*text).to_owned()),
            Self::File(path) => alight_text::read(path).map_err(|source| Error::Read {
                path: path.clone(),
                source,
            }),
            Self::Text(_) => Ok(String::new()),
        }
    }
}

/// Whether what `alight calibrate` wrote into files is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fitted {
    Read,
    Ignored,
}

/// A file laid over what it inherits; every chain ends at the cost classes.
fn assemble(origin: &Origin, text: &str, fitted: Fitted, depth: usize) -> Result<Document, Error> {
    let whole = text;
    let text = match fitted {
        Fitted::Read => whole,
        Fitted::Ignored => calibration::bare(whole),
    };
    let parsed = Parsed::new(&origin.file(), text)?;
    let mut base = match parsed.other("inherits")? {
        None => Parsed::new(COSTS_FILE, COSTS)?.settle(&Sources::new())?,
        Some((name, place)) => other(&name, &place, origin, fitted, depth)?,
    };
    if let Some((name, place)) = parsed.other("costs_from")? {
        // Somebody else's fit: a core type has one set of costs, whatever board it is on.
        let from = other(&name, &place, origin, fitted, depth)?;
        base.root = overlay(base.root, from.root.only("costs"));
        base.calibration = from.calibration;
    }
    let own = parsed.settle(&base.sources)?;
    check_own_schema(&own)?;
    let text_of = |name: &str| Origin::named(name, Some(origin))?.text();
    let calibration = calibration::read(&own.root, whole, COSTS, text_of)?;
    if own.root.has("costs")
        && let Some(inherited) = &mut base.calibration
    {
        inherited.matches = false;
    }
    let names_files = names_files(&own.root);
    let root = overlay(base.root, own.root);
    Ok(Document {
        text: match names_files {
            true => written(&root),
            false => own.text,
        },
        root,
        sources: own.sources,
        calibration: calibration.or(base.calibration),
    })
}

/// Does a file need others beside the built-in ones?
fn names_files(root: &Node) -> bool {
    let is_file = |node: &Node| matches!(&node.kind, Kind::Text(name) if name.ends_with(".toml"));
    let of = |node: &Node| match &node.kind {
        Kind::Array(items) => items.iter().any(is_file),
        _ => is_file(node),
    };
    let at = |path: &[&str]| {
        let found = path.iter().try_fold(root, |node, key| match &node.kind {
            Kind::Table(table) => table.get(*key).map(|entry| &entry.node),
            _ => None,
        });
        found.is_some_and(of)
    };
    at(&["inherits"]) || at(&["costs_from"]) || at(&["calibration", "also"])
}

/// The machine that a file names.
fn other(
    name: &str,
    place: &Place,
    origin: &Origin,
    fitted: Fitted,
    depth: usize,
) -> Result<Document, Error> {
    if depth == 0 {
        let message = format!(
            "`{name}` is the end of a chain of more than {LONGEST_CHAIN} files, or part of a circle"
        );
        return Err(Error::written(place, message));
    }
    let base = Origin::named(name, Some(origin))
        .map_err(|error| Error::written(place, error.to_string()))?;
    assemble(&base, &base.text()?, fitted, depth - 1)
}

/// Every file of a chain states the schema that it is written in.
fn check_own_schema(document: &Document) -> Result<(), Error> {
    let unrecorded = Ledger::default();
    if let Some(mut root) = Reader::new(&document.root, "", &unrecorded) {
        schema::check_schema(&mut root);
    }
    unrecorded.verdict()
}
