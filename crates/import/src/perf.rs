// SPDX-License-Identifier: GPL-2.0-only
//! perf.data, as `perf record` and `perf sched record` write it: to a file or to a pipe, compressed
//! or not (tools/perf/Documentation/perf.data-file-format.txt of Linux).

mod attr;
mod features;
mod records;
mod unpack;

use std::collections::{BTreeSet, HashMap};

use alight_recording::workload::Capability;

use crate::Error;
use crate::bytes::{Bytes, le16, le32, le64};
use crate::input::{Input, Stream};
use crate::origin::Origin;
use attr::Attr;
use features::{Features, clock_name, feature};

pub(crate) const MAGIC: &[u8] = b"PERFILE2";

/// Bytes of the header of a file, and of a pipe.
const FILE_HEADER: u64 = 104;
const PIPE_HEADER: u64 = 16;

/// No description is larger: kernels have a few thousand tracepoints of some 2 KB.
const MOST_DESCRIBED: u64 = 1 << 28;

/// Features of a file have numbers below this.
const FEATURES: u64 = 256;

/// `PERF_RECORD_*` of include/uapi/linux/perf_event.h and tools/lib/perf/include/perf/event.h.
mod record {
    pub const LOST: u32 = 2;
    pub const COMM: u32 = 3;
    pub const EXIT: u32 = 4;
    pub const FORK: u32 = 7;
    pub const SAMPLE: u32 = 9;
    pub const LOST_SAMPLES: u32 = 13;
    pub const CGROUP: u32 = 19;
    /// Kinds from here on are perf's own.
    pub const USER: u32 = 64;
    pub const HEADER_ATTR: u32 = 64;
    pub const TRACING_DATA: u32 = 66;
    pub const FINISHED_ROUND: u32 = 68;
    pub const ID_INDEX: u32 = 69;
    pub const AUXTRACE: u32 = 71;
    pub const HEADER_FEATURE: u32 = 80;
    pub const COMPRESSED: u32 = 81;
    pub const COMPRESSED2: u32 = 83;
}

/// A perf.data whose head was read.
#[derive(Debug)]
pub(crate) struct Perf {
    pub origin: Origin,
    attrs: Vec<Attr>,
    /// Which of the descriptions an identifier belongs to.
    ids: HashMap<u64, usize>,
    features: Features,
    /// Where the records are.
    data: (u64, u64),
}

impl Perf {
    /// Reads the head.
    pub fn open(input: &Input) -> Result<Self, Error> {
        let mut perf = Perf {
            origin: Origin {
                format: "perf.data",
                recorders: &["perf"],
                ..Origin::default()
            },
            attrs: Vec::new(),
            ids: HashMap::new(),
            features: Features::default(),
            data: (0, 0),
        };
        let head = input.section(0, PIPE_HEADER, PIPE_HEADER, "the header")?;
        match le64(&head, 8) {
            FILE_HEADER => perf.open_file(input)?,
            PIPE_HEADER => perf.open_pipe(input)?,
            other => {
                return Err(Error::at(
                    8,
                    format!(
                        "the header has {other} bytes, expected {FILE_HEADER} or {PIPE_HEADER}"
                    ),
                ));
            }
        }
        perf.settle()?;
        Ok(perf)
    }

    fn open_file(&mut self, input: &Input) -> Result<(), Error> {
        let head = input.section(0, FILE_HEADER, FILE_HEADER, "the header")?;
        let word = |at| le64(&head, at);
        let (attr_size, attrs, data) = (word(16), (word(24), word(32)), (word(40), word(48)));
        if data.1 == 0 {
            return Err(Error::at(
                48,
                "the size of the data is 0: perf was killed before it ended; record again and end \
                 perf by SIGINT",
            ));
        }
        let end = data
            .0
            .checked_add(data.1)
            .filter(|end| *end <= input.size());
        let Some(end) = end else {
            return Err(Error::at(
                40,
                format!(
                    "the data should be {} bytes from byte {} on, and the file ends at byte {}: it \
                     is cut short or damaged",
                    data.1,
                    data.0,
                    input.size()
                ),
            ));
        };
        self.data = (data.0, end);
        self.read_attrs(input, attr_size, attrs)?;
        self.read_features(input, &head[72..104], end)
    }

    fn read_attrs(&mut self, input: &Input, size: u64, place: (u64, u64)) -> Result<(), Error> {
        if !(80..=4096).contains(&size) || !place.1.is_multiple_of(size) {
            return Err(Error::at(
                16,
                format!(
                    "descriptions of events of {size} bytes each do not fill {} bytes",
                    place.1
                ),
            ));
        }
        let bytes = input.section(
            place.0,
            place.1,
            MOST_DESCRIBED,
            "the descriptions of events",
        )?;
        let mut bytes = Bytes::new(&bytes, place.0);
        while !bytes.rest().is_empty() {
            let attr = Attr::read(&mut bytes, size as usize - 16)?;
            let ids = (bytes.u64("identifiers")?, bytes.u64("identifiers")?);
            let ids = input.section(ids.0, ids.1, MOST_DESCRIBED, "identifiers")?;
            self.add_attr(attr, &ids);
        }
        Ok(())
    }

    fn add_attr(&mut self, attr: Attr, ids: &[u8]) {
        for id in ids.chunks_exact(8) {
            self.ids.insert(le64(id, 0), self.attrs.len());
        }
        self.attrs.push(attr);
    }

    /// A table of places behind the data: one for each bit that is set.
    fn read_features(&mut self, input: &Input, bits: &[u8], table: u64) -> Result<(), Error> {
        let set = |number: &u64| bits[(number / 8) as usize] >> (number % 8) & 1 != 0;
        let present: Vec<u64> = (0..FEATURES).filter(set).collect();
        let length = 16 * present.len() as u64;
        let places = input.section(table, length, length, "the table of features")?;
        for (number, place) in present.iter().zip(places.chunks_exact(16)) {
            let (offset, size) = (le64(place, 0), le64(place, 8));
            let content = input.section(offset, size, MOST_DESCRIBED, "a feature")?;
            self.features
                .read(*number, Bytes::new(&content, offset), &mut self.origin)?;
        }
        Ok(())
    }

    /// Features and descriptions are records in front of all others.
    fn open_pipe(&mut self, input: &Input) -> Result<(), Error> {
        self.origin.variant = "pipe".into();
        let mut stream = input.stream(PIPE_HEADER, input.size());
        loop {
            let start = stream.offset();
            self.data = (start, input.size());
            if stream.left() == 0 {
                return Ok(());
            }
            let header = next_header(&mut stream)?;
            match header.kind {
                kind if kind < record::USER => return Ok(()),
                record::FINISHED_ROUND | record::COMPRESSED | record::COMPRESSED2 => return Ok(()),
                _ => {}
            }
            let content = stream.peek(header.size)?[8..header.size].to_vec();
            stream.advance(header.size);
            self.head_record(header.kind, &content, start + 8, &mut stream)?;
        }
    }

    /// A record that belongs to the head.
    fn head_record(
        &mut self,
        kind: u32,
        content: &[u8],
        offset: u64,
        stream: &mut Stream,
    ) -> Result<(), Error> {
        let mut bytes = Bytes::new(content, offset);
        match kind {
            record::HEADER_ATTR => {
                let size = le32(content, 4) as usize;
                let attr = Attr::read(&mut bytes, size)?;
                self.add_attr(attr, bytes.rest());
            }
            record::HEADER_FEATURE => {
                let number = bytes.u64("the number of a feature")?;
                self.features.read(number, bytes, &mut self.origin)?;
            }
            record::TRACING_DATA => {
                let length = u64::from(le32(content, 0));
                let start = stream.offset();
                let data = take(stream, length)?;
                let bytes = Bytes::new(&data, start);
                self.features
                    .read(feature::TRACING_DATA, bytes, &mut self.origin)?;
                stream.skip(length.next_multiple_of(8) - length);
            }
            record::AUXTRACE => stream.skip(le64(content, 0)),
            _ => {}
        }
        Ok(())
    }

    /// What follows from all parts of the head.
    fn settle(&mut self) -> Result<(), Error> {
        let tracepoints: Vec<&Attr> = self
            .attrs
            .iter()
            .filter(|one| one.is_tracepoint())
            .collect();
        if let Some(missing) = tracepoints.iter().find_map(|attr| attr.missing()) {
            return Err(Error::Asked(format!(
                "the samples have no {missing}: record again"
            )));
        }
        let name = |attr: &&Attr| {
            let formats = self.features.tracing.formats.iter();
            let found = formats.clone().find(|one| u64::from(one.id) == attr.config);
            found.map(|format| format.name.clone())
        };
        let asked: BTreeSet<String> = tracepoints.iter().filter_map(name).collect();
        let told = &mut self.origin.told;
        told.insert(Capability::Losses);
        if asked.contains("sched_waking") {
            told.insert(Capability::Context);
        }
        if self.attrs.iter().any(Attr::tells_tasks) {
            told.extend([Capability::Forks, Capability::Exits]);
        }
        if self.attrs.iter().any(Attr::tells_groups) {
            told.insert(Capability::Cgroups);
        }
        let clock = tracepoints.first().and_then(|attr| attr.clock());
        self.origin.clock = clock_name(clock).to_owned();
        self.origin.cpus = self.features.cpus();
        self.origin
            .last_names
            .clone_from(&self.features.tracing.names);
        self.origin.asked = Some(asked);
        Ok(())
    }
}

/// The head of a record.
#[derive(Debug, Clone, Copy)]
struct RecordHeader {
    kind: u32,
    size: usize,
}

/// The next record's head. The whole record is in the window then.
fn next_header(stream: &mut Stream) -> Result<RecordHeader, Error> {
    let (offset, left) = (stream.offset(), stream.left());
    let window = stream.peek(8)?;
    let size = usize::from(le16(window, 6));
    if window.len() < 8 || size as u64 > left {
        return Err(Error::at(
            offset,
            format!(
                "a record should have {} bytes here, and {left} are left: the file is cut short or \
                 damaged",
                size.max(8)
            ),
        ));
    }
    let kind = le32(window, 0);
    if size < 8 {
        return Err(Error::at(
            offset,
            format!("a record of kind {kind} has {size} bytes, expected at least 8"),
        ));
    }
    stream.peek(size)?;
    Ok(RecordHeader { kind, size })
}

/// Takes so many bytes.
fn take(stream: &mut Stream, length: u64) -> Result<Vec<u8>, Error> {
    let (offset, left) = (stream.offset(), stream.left());
    if length > left || length > MOST_DESCRIBED {
        return Err(Error::at(
            offset,
            format!("descriptions should have {length} bytes here, and {left} are left"),
        ));
    }
    let bytes = stream.peek(length as usize)?[..length as usize].to_vec();
    stream.advance(length as usize);
    Ok(bytes)
}
