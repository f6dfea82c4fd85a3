// SPDX-License-Identifier: GPL-2.0-only
//! A table by the numbers of tasks, as quick as an array and no larger than the numbers in use.

/// Numbers are below this on every Linux (`PID_MAX_LIMIT` of include/linux/threads.h).
pub(crate) const PID_LIMIT: u32 = 4 << 20;

/// Entries that are made together.
const PAGE: usize = 1 << 10;

/// An entry for each task, made when it is first asked for.
#[derive(Debug)]
pub(crate) struct Pids<T> {
    pages: Vec<Option<Box<[T]>>>,
}

impl<T: Default + Clone> Pids<T> {
    /// No entries.
    pub fn new() -> Self {
        Pids { pages: Vec::new() }
    }

    /// The entry of a task.
    ///
    /// # Panics
    /// If the number is not below [`PID_LIMIT`]; [`checked`] numbers are.
    pub fn entry(&mut self, pid: u32) -> &mut T {
        assert!(pid < PID_LIMIT, "numbers of tasks are checked before");
        let (page, at) = (pid as usize / PAGE, pid as usize % PAGE);
        if self.pages.len() <= page {
            self.pages.resize(page + 1, None);
        }
        let page = &mut self.pages[page];
        &mut page.get_or_insert_with(|| vec![T::default(); PAGE].into())[at]
    }

    /// All entries that were made, with their numbers.
    pub fn all(&self) -> impl Iterator<Item = (u32, &T)> {
        self.pages.iter().enumerate().flat_map(|(n, page)| {
            let entries = page.as_deref().unwrap_or_default().iter().enumerate();
            entries.map(move |(at, entry)| ((n * PAGE + at) as u32, entry))
        })
    }
}

/// A number of a task.
///
/// # Errors
/// No task has this number.
pub(crate) fn checked(number: u64, what: &str) -> Result<u32, String> {
    u32::try_from(number)
        .ok()
        .filter(|pid| *pid < PID_LIMIT)
        .ok_or_else(|| {
            format!(
                "{what} is {}, expected a number of a task, 0 to {}",
                number.cast_signed(),
                PID_LIMIT - 1
            )
        })
}
