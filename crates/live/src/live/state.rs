// SPDX-License-Identifier: GPL-2.0-only
//! The kernel's state of the scheduler that it runs. Only this may be reported as running.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// Name of the scheduler in the kernel (`alight_ops.name`).
const NAME: &str = "alight";
/// How long the kernel may take from the request to `enabled`; it visits every task.
const PATIENCE: Duration = Duration::from_secs(30);
/// Time between two reads of the state while it is enabling.
const STEP: Duration = Duration::from_millis(10);

/// sched_ext's directory in sysfs.
pub(super) struct SchedExt {
    directory: PathBuf,
}

impl SchedExt {
    /// Below `root`, which is `/` except in tests.
    pub fn of(root: &Path) -> Self {
        SchedExt {
            directory: root.join("sys/kernel/sched_ext"),
        }
    }

    /// Checks that the kernel runs this program's scheduler. The error is what the kernel says.
    pub fn ours(&self) -> Result<(), String> {
        let state = self.text("state");
        let name = self.text("root/ops");
        match (state.as_str(), name.as_str()) {
            ("enabled", NAME) => Ok(()),
            ("enabled", other) => Err(format!("enabled, with the scheduler '{other}'")),
            ("", _) => Err("nothing, because its state cannot be read".to_owned()),
            (state, _) => Err(state.to_owned()),
        }
    }

    /// Waits until the kernel does. `ended`: it has ended the scheduler meanwhile.
    pub fn wait(&self, ended: impl Fn() -> bool) -> Result<(), String> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let state = self.ours();
            if state.is_ok() || ended() || Instant::now() >= deadline {
                return state;
            }
            thread::sleep(STEP);
        }
    }

    fn text(&self, file: &str) -> String {
        let text = fs::read_to_string(self.directory.join(file));
        text.map_or(String::new(), |text| text.trim().to_owned())
    }
}

#[cfg(test)]
mod tests;
