// SPDX-License-Identifier: GPL-2.0-only
//! A writer of flattened device trees.

/// A node: name, properties, children.
pub struct Node(pub String, pub Vec<(&'static str, Vec<u8>)>, pub Vec<Node>);

impl Node {
    pub fn new(name: &str) -> Self {
        Self(name.to_owned(), Vec::new(), Vec::new())
    }

    pub fn text(mut self, name: &'static str, text: &str) -> Self {
        self.1.push((name, format!("{text}\0").into_bytes()));
        self
    }

    pub fn cells(mut self, name: &'static str, cells: &[u32]) -> Self {
        self.1.push((
            name,
            cells.iter().flat_map(|cell| cell.to_be_bytes()).collect(),
        ));
        self
    }

    pub fn child(mut self, node: Node) -> Self {
        self.2.push(node);
        self
    }
}

/// The tree below `root` as a blob of version 17.
pub fn blob(root: &Node) -> Vec<u8> {
    blob_booted_by(root, 0)
}

/// The same, with the hardware number of the CPU that boots.
pub fn blob_booted_by(root: &Node, boot_cpuid_phys: u32) -> Vec<u8> {
    let (mut structure, mut strings) = (Vec::new(), Vec::new());
    write(root, &mut structure, &mut strings);
    word(&mut structure, 9);
    const HEADER: u32 = 40;
    const RESERVATIONS: u32 = 16;
    let at = HEADER + RESERVATIONS;
    let total = at + (structure.len() + strings.len()) as u32;
    let mut blob = Vec::new();
    for value in [
        0xd00d_feed,
        total,
        at,
        at + structure.len() as u32,
        HEADER,
        17,
        16,
        boot_cpuid_phys,
        strings.len() as u32,
        structure.len() as u32,
    ] {
        word(&mut blob, value);
    }
    blob.extend([0; RESERVATIONS as usize]);
    blob.extend(structure);
    blob.extend(strings);
    blob
}

fn write(node: &Node, structure: &mut Vec<u8>, strings: &mut Vec<u8>) {
    let Node(name, properties, children) = node;
    word(structure, 1);
    structure.extend(name.bytes());
    structure.push(0);
    pad(structure);
    for (name, value) in properties {
        word(structure, 3);
        word(structure, value.len() as u32);
        word(structure, strings.len() as u32);
        strings.extend(name.bytes());
        strings.push(0);
        structure.extend(value);
        pad(structure);
    }
    children
        .iter()
        .for_each(|child| write(child, structure, strings));
    word(structure, 2);
}

fn word(bytes: &mut Vec<u8>, value: u32) {
    bytes.extend(value.to_be_bytes());
}

fn pad(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(4), 0);
}
