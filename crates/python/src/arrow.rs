// SPDX-License-Identifier: GPL-2.0-only
//! A table by the Arrow C stream interface, as the PyCapsule interface hands it over: polars, pyarrow,
//! DuckDB and others take it without a copy of its numbers.
//!
//! The structures are those of the [C data interface](https://arrow.apache.org/docs/format/CDataInterface.html)
//! and the [C stream interface](https://arrow.apache.org/docs/format/CStreamInterface.html).

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::Arc;

use alight_frames::{Column, Table, Values};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// `ARROW_FLAG_NULLABLE`.
const NULLABLE: i64 = 2;
/// What a callback returns that did its work.
const DONE: c_int = 0;

#[repr(C)]
struct ArrowSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut ArrowSchema,
    dictionary: *mut ArrowSchema,
    release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    private_data: *mut c_void,
}

#[repr(C)]
struct ArrowArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut ArrowArray,
    dictionary: *mut ArrowArray,
    release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    private_data: *mut c_void,
}

#[repr(C)]
struct ArrowArrayStream {
    get_schema: unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowSchema) -> c_int,
    get_next: unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowArray) -> c_int,
    get_last_error: unsafe extern "C" fn(*mut ArrowArrayStream) -> *const c_char,
    release: Option<unsafe extern "C" fn(*mut ArrowArrayStream)>,
    private_data: *mut c_void,
}

/// What a schema points to.
struct SchemaParts {
    _format: CString,
    _name: CString,
    children: Vec<*mut ArrowSchema>,
}

/// What an array points to.
struct ArrayParts {
    /// Keeps the numbers of the columns, which are not copied.
    _table: Arc<Table>,
    _owned: Vec<Vec<u8>>,
    buffers: Vec<*const c_void>,
    children: Vec<*mut ArrowArray>,
}

/// What a stream holds until its one batch is taken.
struct StreamParts {
    table: Arc<Table>,
    taken: bool,
}

/// The capsule `arrow_array_stream` of a table.
pub fn stream(py: Python<'_>, table: Arc<Table>) -> PyResult<Bound<'_, PyCapsule>> {
    let parts = Box::new(StreamParts {
        table,
        taken: false,
    });
    let stream = Owned(ArrowArrayStream {
        get_schema,
        get_next,
        get_last_error,
        release: Some(release_stream),
        private_data: Box::into_raw(parts).cast(),
    });
    PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
}

/// The stream in its capsule. A consumer moves it out and marks it as released; one that nobody took is
/// released with the capsule.
#[repr(transparent)]
struct Owned(ArrowArrayStream);

// SAFETY: the parts are a table that nobody changes and a flag; only who holds the stream calls it.
unsafe impl Send for Owned {}

impl Drop for Owned {
    fn drop(&mut self) {
        if let Some(release) = self.0.release {
            // SAFETY: not released yet, so the private data is the box of `stream`.
            unsafe { release(&raw mut self.0) };
        }
    }
}

unsafe extern "C" fn get_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    // SAFETY: the consumer passes a stream that is not released; its private data is `StreamParts`.
    let parts = unsafe { &*(*stream).private_data.cast::<StreamParts>() };
    let children = parts.table.columns().iter().map(column_schema).collect();
    // SAFETY: the consumer passes room for a schema.
    unsafe { out.write(schema("+s", "", 0, children, null_mut())) };
    DONE
}

unsafe extern "C" fn get_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
    // SAFETY: as in `get_schema`; a stream is used by one thread at a time.
    let parts = unsafe { &mut *(*stream).private_data.cast::<StreamParts>() };
    let next = match std::mem::replace(&mut parts.taken, true) {
        true => released(),
        false => batch(&parts.table),
    };
    // SAFETY: the consumer passes room for an array.
    unsafe { out.write(next) };
    DONE
}

/// No callback fails.
unsafe extern "C" fn get_last_error(_: *mut ArrowArrayStream) -> *const c_char {
    null()
}

unsafe extern "C" fn release_stream(stream: *mut ArrowArrayStream) {
    // SAFETY: called once, on a stream of `stream()`, whose private data is a box.
    unsafe {
        drop(Box::from_raw((*stream).private_data.cast::<StreamParts>()));
        (*stream).release = None;
    }
}

fn column_schema(column: &Column) -> *mut ArrowSchema {
    let (format, dictionary) = match column.values {
        Values::Time(_) => ("tDn", null_mut()),
        Values::Int(_) => ("l", null_mut()),
        Values::Whole(_) => ("L", null_mut()),
        Values::Float(_) => ("g", null_mut()),
        Values::Bool(_) => ("b", null_mut()),
        Values::Text { .. } => ("i", boxed(schema("u", "", NULLABLE, vec![], null_mut()))),
    };
    boxed(schema(format, &column.name, NULLABLE, vec![], dictionary))
}

fn schema(
    format: &str,
    name: &str,
    flags: i64,
    children: Vec<*mut ArrowSchema>,
    dictionary: *mut ArrowSchema,
) -> ArrowSchema {
    let text = |text: &str| CString::new(text.replace('\0', "")).expect("no byte is 0");
    let mut parts = Box::new(SchemaParts {
        _format: text(format),
        _name: text(name),
        children,
    });
    ArrowSchema {
        format: parts._format.as_ptr(),
        name: parts._name.as_ptr(),
        metadata: null(),
        flags,
        n_children: parts.children.len() as i64,
        children: parts.children.as_mut_ptr(),
        dictionary,
        release: Some(release_schema),
        private_data: Box::into_raw(parts).cast(),
    }
}

unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: called once, on a schema of `schema()`: its private data is a box, and so are children
    // and dictionary. A consumer that moved a child away has marked it as released.
    unsafe {
        let parts = Box::from_raw((*schema).private_data.cast::<SchemaParts>());
        let dictionary = Some((*schema).dictionary).filter(|dictionary| !dictionary.is_null());
        for child in parts.children.iter().copied().chain(dictionary) {
            if let Some(release) = (*child).release {
                release(child);
            }
            drop(Box::from_raw(child));
        }
        (*schema).release = None;
    }
}

/// The columns as one array of structures.
fn batch(table: &Arc<Table>) -> ArrowArray {
    let children = table
        .columns()
        .iter()
        .map(|column| column_array(table, column));
    let children: Vec<*mut ArrowArray> = children.map(boxed).collect();
    let rows = table.rows();
    array(table, rows, 0, vec![null()], vec![], children, null_mut())
}

fn column_array(table: &Arc<Table>, column: &Column) -> ArrowArray {
    let mut owned = vec![];
    let mut dictionary = null_mut();
    let missing: Option<Vec<bool>> = match (&column.values, &column.present) {
        (Values::Float(values), _) if values.iter().any(|value| value.is_nan()) => {
            Some(values.iter().map(|value| !value.is_nan()).collect())
        }
        (_, present) => present.clone(),
    };
    let nulls = missing
        .as_ref()
        .map_or(0, |there| there.iter().filter(|there| !**there).count());
    let mut kept = |bytes: Vec<u8>| -> *const c_void {
        owned.push(bytes);
        owned.last().map_or(null(), |bytes| bytes.as_ptr().cast())
    };
    let validity = missing.map_or(null(), |there| kept(bits(&there)));
    let (rows, data): (usize, *const c_void) = match &column.values {
        Values::Time(values) | Values::Int(values) => (values.len(), values.as_ptr().cast()),
        Values::Whole(values) => (values.len(), values.as_ptr().cast()),
        Values::Float(values) => (values.len(), values.as_ptr().cast()),
        Values::Bool(values) => (values.len(), kept(bits(values))),
        Values::Text { codes, words } => {
            dictionary = boxed(words_array(table, words));
            (codes.len(), codes.as_ptr().cast())
        }
    };
    array(
        table,
        rows,
        nulls,
        vec![validity, data],
        owned,
        vec![],
        dictionary,
    )
}

/// Words as an array of UTF-8.
fn words_array(table: &Arc<Table>, words: &[String]) -> ArrowArray {
    let mut ends = vec![0i32];
    for word in words {
        let end = ends.last().map_or(0, |end| end + word.len() as i32);
        ends.push(end);
    }
    let ends: Vec<u8> = ends.iter().flat_map(|end| end.to_ne_bytes()).collect();
    // A vector of bytes is aligned as the allocator does, to 8 bytes and more; the standard asks for no
    // more than a recommendation.
    let owned = vec![ends, words.concat().into_bytes()];
    let buffers = owned.iter().map(|bytes| bytes.as_ptr().cast());
    let buffers: Vec<*const c_void> = [null()].into_iter().chain(buffers).collect();
    array(table, words.len(), 0, buffers, owned, vec![], null_mut())
}

fn array(
    table: &Arc<Table>,
    rows: usize,
    nulls: usize,
    buffers: Vec<*const c_void>,
    owned: Vec<Vec<u8>>,
    children: Vec<*mut ArrowArray>,
    dictionary: *mut ArrowArray,
) -> ArrowArray {
    let mut parts = Box::new(ArrayParts {
        _table: Arc::clone(table),
        _owned: owned,
        buffers,
        children,
    });
    ArrowArray {
        length: rows as i64,
        null_count: nulls as i64,
        offset: 0,
        n_buffers: parts.buffers.len() as i64,
        n_children: parts.children.len() as i64,
        buffers: parts.buffers.as_mut_ptr(),
        children: parts.children.as_mut_ptr(),
        dictionary,
        release: Some(release_array),
        private_data: Box::into_raw(parts).cast(),
    }
}

/// What ends a stream.
fn released() -> ArrowArray {
    ArrowArray {
        length: 0,
        null_count: 0,
        offset: 0,
        n_buffers: 0,
        n_children: 0,
        buffers: null_mut(),
        children: null_mut(),
        dictionary: null_mut(),
        release: None,
        private_data: null_mut(),
    }
}

unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: as in `release_schema`.
    unsafe {
        let parts = Box::from_raw((*array).private_data.cast::<ArrayParts>());
        let dictionary = Some((*array).dictionary).filter(|dictionary| !dictionary.is_null());
        for child in parts.children.iter().copied().chain(dictionary) {
            if let Some(release) = (*child).release {
                release(child);
            }
            drop(Box::from_raw(child));
        }
        (*array).release = None;
    }
}

fn boxed<T>(value: T) -> *mut T {
    Box::into_raw(Box::new(value))
}

/// One bit a row, the first in the lowest bit.
fn bits(flags: &[bool]) -> Vec<u8> {
    let byte = |eight: &[bool]| {
        let bits = eight.iter().enumerate();
        bits.fold(0, |byte, (at, flag)| byte | u8::from(*flag) << at)
    };
    flags.chunks(8).map(byte).collect()
}
