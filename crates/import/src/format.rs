// SPDX-License-Identifier: GPL-2.0-only
//! The description of a tracepoint that the kernel gives in its file `format`, as text: where each
//! field lies. trace.dat and perf.data carry these texts.

/// A tracepoint's layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Format {
    /// Its name, without the system.
    pub name: String,
    /// The number that events carry.
    pub id: u16,
    /// Its fields.
    pub fields: Vec<Named>,
    /// How the kernel prints it.
    pub print: String,
}

/// A field with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    pub name: String,
    pub field: Field,
}

/// Where a field lies, and what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Field {
    /// Bytes from the start of the event.
    pub offset: u16,
    /// Its length, bytes.
    pub size: u16,
    pub signed: bool,
    /// The field is the place and the length of a string elsewhere in the event.
    pub elsewhere: Elsewhere,
}

/// Whether a field is a string that lies elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Elsewhere {
    /// It is there itself.
    #[default]
    No,
    /// `__data_loc`: the place counts from the start of the event.
    FromStart,
    /// `__rel_loc`: the place counts from the end of the field.
    FromField,
}

impl Format {
    /// Reads the text of a file `format`.
    ///
    /// # Errors
    /// What is missing, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut name = None;
        let mut id = None;
        let mut fields = Vec::new();
        let mut print = String::new();
        for line in text.lines() {
            let line = line.trim_start();
            if let Some(rest) = line.strip_prefix("name:") {
                name = name.or(Some(rest.trim().to_owned()));
            } else if let Some(rest) = line.strip_prefix("ID:") {
                let number = rest.trim();
                id = Some((number.parse::<u16>()).map_err(|_| {
                    format!("a tracepoint has the ID '{number}', expected 0 to 65535")
                })?);
            } else if line.starts_with("field:") {
                fields.extend(field(line));
            } else if let Some(rest) = line.strip_prefix("print fmt:") {
                print = rest.trim().to_owned();
            }
        }
        Ok(Format {
            name: name.ok_or("the description of a tracepoint has no line 'name:'")?,
            id: id.ok_or("the description of a tracepoint has no line 'ID:'")?,
            fields,
            print,
        })
    }

    /// The field of this name.
    pub fn field(&self, name: &str) -> Option<Field> {
        (self.fields.iter()).find_map(|one| (one.name == name).then_some(one.field))
    }
}

/// A line such as `field:char comm[16]; offset:8; size:16; signed:1;`.
fn field(line: &str) -> Option<Named> {
    let mut parts = line.split(';').map(str::trim);
    let declaration = parts.next()?.strip_prefix("field:")?;
    let elsewhere = match declaration.split_whitespace().next()? {
        "__data_loc" => Elsewhere::FromStart,
        "__rel_loc" => Elsewhere::FromField,
        _ => Elsewhere::No,
    };
    let plain = declaration.split('[').next()?.trim_end();
    let name = match elsewhere {
        // `__data_loc char[] name`
        Elsewhere::FromStart | Elsewhere::FromField => declaration.split_whitespace().last()?,
        Elsewhere::No => plain.rsplit([' ', '*']).next()?,
    };
    let mut found = Field {
        elsewhere,
        ..Field::default()
    };
    for part in parts {
        let Some((key, value)) = part.split_once(':') else {
            continue;
        };
        match key {
            "offset" => found.offset = value.parse().ok()?,
            "size" => found.size = value.parse().ok()?,
            "signed" => found.signed = value == "1",
            _ => {}
        }
    }
    Some(Named {
        name: name.to_owned(),
        field: found,
    })
}

impl Field {
    /// The byte behind it.
    pub fn end(self) -> usize {
        usize::from(self.offset) + usize::from(self.size)
    }

    /// Its value as a number; a negative one has its bits above extended.
    pub fn number(self, event: &[u8]) -> u64 {
        let at = usize::from(self.offset);
        let bytes = event.get(at..).unwrap_or_default();
        match (self.size, self.signed) {
            (1, false) => bytes.first().copied().unwrap_or(0).into(),
            (1, true) => i64::from(bytes.first().copied().unwrap_or(0) as i8).cast_unsigned(),
            (2, false) => crate::bytes::le16(bytes, 0).into(),
            (2, true) => i64::from(crate::bytes::le16(bytes, 0) as i16).cast_unsigned(),
            (4, false) => crate::bytes::le32(bytes, 0).into(),
            (4, true) => i64::from(crate::bytes::le32(bytes, 0) as i32).cast_unsigned(),
            _ => crate::bytes::le64(bytes, 0),
        }
    }

    /// Its bytes, as a string that may have zeros behind it.
    pub fn string(self, event: &[u8]) -> &[u8] {
        let at = usize::from(self.offset);
        let place = crate::bytes::le32(event, at);
        let (start, length) = match self.elsewhere {
            Elsewhere::No => (at, usize::from(self.size)),
            Elsewhere::FromStart => ((place & 0xffff) as usize, (place >> 16) as usize),
            Elsewhere::FromField => (
                (place & 0xffff) as usize + self.end(),
                (place >> 16) as usize,
            ),
        };
        event.get(start..start + length).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
