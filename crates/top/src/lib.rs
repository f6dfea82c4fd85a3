// SPDX-License-Identifier: GPL-2.0-only
//! `alight top`: the decisions of a running scheduler, live in a terminal.
//!
//! # What it owns
//!
//! - [`run`] asks the scheduler's socket again and again, and shows the answers until a key ends it.
//! - [`View`] holds what is shown: table, order, and the counts since the last look.
//! - [`draw()`] draws a [`View`].
//!
//! # Who may use it
//!
//! `alight`. It uses `alight-policy` and `alight-stats`.
//!
//! # Example
//!
//! A view needs no terminal.
//!
//! ```
//! use alight_policy::Scheduler;
//! use alight_stats::{Counters, Statistics};
//! use alight_top::{Key, Table, View};
//!
//! let scheduler = Scheduler::parse("linux-6.5").expect("a base");
//! let cpus = |decisions| vec![Counters { decisions, ..Counters::ZERO }];
//! let mut view = View::new(Statistics::new(&scheduler, 1_000_000_000, 1, cpus(100)));
//! view.update(Ok(Statistics::new(&scheduler, 2_000_000_000, 1, cpus(130))));
//! // The counts of the last second.
//! assert_eq!(view.shown().totals.decisions, 30);
//!
//! assert!(view.press(Key::Total));
//! assert_eq!(view.shown().totals.decisions, 130);
//! assert!(view.press(Key::Table));
//! assert_eq!(view.table, Table::Cpus);
//! assert!(!view.press(Key::Quit));
//! ```

mod draw;
mod view;

use alight_stats::Statistics;
use alight_stats::client::{self, fetch};
use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::DefaultTerminal;
use std::io::{self, IsTerminal, stdin, stdout};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

pub use draw::draw;
pub use view::{Key, Sort, Table, View};

/// The options of `alight top`.
#[derive(Debug, Clone)]
pub struct Options {
    /// Path of the scheduler's socket.
    pub socket: PathBuf,
    /// Time between two requests to the scheduler.
    pub interval: Duration,
}

/// Why a scheduler cannot be shown.
#[derive(Debug)]
pub enum Error {
    /// Standard input or output is no terminal.
    NoTerminal,
    /// No scheduler to watch.
    Client(client::Error),
    /// Signals cannot be caught.
    Signals(ctrlc::Error),
    /// The terminal failed.
    Terminal(io::Error),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::NoTerminal => f.write_str(
                "top needs a terminal as standard input and output; \
                 `alight run --monitor 1` prints the same as lines",
            ),
            Error::Client(error) => error.fmt(f),
            Error::Signals(error) => write!(f, "cannot catch signals: {error}"),
            Error::Terminal(error) => write!(f, "the terminal: {error}"),
        }
    }
}

impl std::error::Error for Error {}

/// Shows a running scheduler until a key or a signal ends it.
///
/// # Errors
/// There is no terminal, no scheduler at the start, or the terminal fails. A scheduler that ends later
/// is no error: the screen waits for the next one.
pub fn run(options: &Options) -> Result<(), Error> {
    if !stdin().is_terminal() || !stdout().is_terminal() {
        return Err(Error::NoTerminal);
    }
    let first = fetch(&options.socket).map_err(Error::Client)?;
    let stop = stop_on_signals().map_err(Error::Signals)?;
    let mut terminal = ratatui::try_init().map_err(Error::Terminal)?;
    let result = watch(&mut terminal, options, first, &stop);
    let restored = ratatui::try_restore();
    result.and(restored).map_err(Error::Terminal)
}

/// A flag that SIGINT, SIGTERM and SIGHUP raise: whatever ends it, the terminal is restored.
fn stop_on_signals() -> Result<Arc<AtomicBool>, ctrlc::Error> {
    let stop = Arc::new(AtomicBool::new(false));
    let raised = stop.clone();
    ctrlc::set_handler(move || raised.store(true, Ordering::Relaxed))?;
    Ok(stop)
}

type News = Result<Statistics, client::Error>;

/// Asks in a thread of its own: a scheduler that does not answer must not hold up the keys.
fn ask(socket: &Path, interval: Duration) -> Receiver<News> {
    let (news, received) = sync_channel(1);
    let socket = socket.to_owned();
    thread::spawn(move || {
        loop {
            thread::sleep(interval);
            if news.send(fetch(&socket)).is_err() {
                return;
            }
        }
    });
    received
}

fn watch(
    terminal: &mut DefaultTerminal,
    options: &Options,
    first: Statistics,
    stop: &AtomicBool,
) -> io::Result<()> {
    let news = ask(&options.socket, options.interval);
    let mut view = View::new(first);
    while !stop.load(Ordering::Relaxed) {
        terminal.draw(|frame| draw(frame, &view))?;
        let pause = options.interval.min(Duration::from_millis(100));
        let end = Instant::now() + pause;
        if event::poll(end.saturating_duration_since(Instant::now()))?
            && let Event::Key(event) = event::read()?
            && let Some(key) = key(event)
            && !view.press(key)
        {
            return Ok(());
        }
        for news in news.try_iter() {
            view.update(news);
        }
    }
    Ok(())
}

fn key(event: KeyEvent) -> Option<Key> {
    if event.kind == KeyEventKind::Release {
        return None;
    }
    match event.code {
        KeyCode::Char('c') if event.modifiers.contains(KeyModifiers::CONTROL) => Some(Key::Quit),
        KeyCode::Char('q') | KeyCode::Esc => Some(Key::Quit),
        KeyCode::Char('s') => Some(Key::Sort),
        KeyCode::Char('c') | KeyCode::Tab => Some(Key::Table),
        KeyCode::Char('t') => Some(Key::Total),
        KeyCode::Down | KeyCode::Char('j') => Some(Key::Down),
        KeyCode::Up | KeyCode::Char('k') => Some(Key::Up),
        _ => None,
    }
}
