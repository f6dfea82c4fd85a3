// SPDX-License-Identifier: GPL-2.0-only
//! Heat maps: counts from everything to everything, such as from CPU to CPU.
//!
//! Drawn by `js/heat.js`.

use maud::{Markup, PreEscaped, html};
use serde_json::{Value, json};

use crate::asset::{COMMON, embedded};
use crate::columns::Columns;
use crate::{Asset, Part, Table};

/// Maps on one scale of colours, side by side.
///
/// ```
/// use alight_html::heat::{Heat, Map};
/// use alight_html::{Page, Table};
///
/// let heat = Heat {
///     names: vec!["CPU 0".into(), "CPU 1".into()],
///     from: "previous CPU".into(),
///     to: "CPU chosen".into(),
///     counted: "wakeups".into(),
///     borders: vec![1],
///     strong_borders: vec![],
///     maps: vec![Map { name: "linux-6.1".into(), counts: vec![7, 1, 2, 9] }],
///     short: Table::new(["", "same CPU, %"]).row(["linux-6.1", "84.2"]),
/// };
/// assert!(Page::new("Wakeups").part("Where they go", &heat).render().contains("84.2"));
/// ```
#[derive(Debug, Clone)]
pub struct Heat {
    /// Names of the rows, and of the columns.
    pub names: Vec<String>,
    /// What rows are.
    pub from: String,
    /// What columns are.
    pub to: String,
    /// What is counted.
    pub counted: String,
    /// Before which rows and columns a group begins: a cache, a cluster.
    pub borders: Vec<usize>,
    /// Before which a group of groups begins: a package.
    pub strong_borders: Vec<usize>,
    /// The maps, from left to right.
    pub maps: Vec<Map>,
    /// The same in short, for example by distance. Always shown.
    pub short: Table,
}

/// A map.
#[derive(Debug, Clone)]
pub struct Map {
    /// Its name.
    pub name: String,
    /// Counts, row by row. What is missing is 0, what is too much is left out.
    pub counts: Vec<u32>,
}

const HEAT: Asset = Asset {
    script: concat!("(() => {\n", include_str!("js/heat.js"), "})();\n"),
    style: include_str!("css/heat.css"),
};

impl Heat {
    fn json(&self) -> Value {
        let names: Vec<&str> = self.maps.iter().map(|map| map.name.as_str()).collect();
        json!({ "names": self.names, "from": self.from, "to": self.to, "counted": self.counted,
            "borders": self.borders, "strong": self.strong_borders, "maps": names })
    }

    /// A column of counts for each map.
    fn packed(&self) -> String {
        let cells = self.names.len() * self.names.len();
        let mut columns = Columns::default();
        for map in &self.maps {
            let counts = map.counts.iter().copied().chain(std::iter::repeat(0));
            let counts: Vec<u64> = counts.take(cells).map(u64::from).collect();
            columns.push(&counts);
        }
        columns.text()
    }
}

impl Part for Heat {
    fn markup(&self) -> Markup {
        html! {
            div.heat {
                div.scripted hidden {
                    div.maps {
                        @for map in &self.maps {
                            figure {
                                figcaption { (map.name) }
                                canvas tabindex="0" role="application"
                                    aria-roledescription="heat map"
                                    aria-label={ (map.name) ": " (self.counted) } {}
                            }
                        }
                    }
                    div.scale {}
                    p.at role="status" { "Point at a map, or use the arrow keys, for counts." }
                }
                (self.short.markup())
                script.head type="application/json" { (PreEscaped(embedded(&self.json()))) }
                script.data type="application/octet-stream" { (self.packed()) }
            }
        }
    }

    fn assets(&self) -> &'static [Asset] {
        &[COMMON, HEAT]
    }
}

#[cfg(test)]
mod tests;
