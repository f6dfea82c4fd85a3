// SPDX-License-Identifier: GPL-2.0-only
//! What others get while the scheduler runs: the socket, the metrics, and messages to the service
//! manager.

use super::error::RunFailed;
use crate::say::say;
use alight_arguments::Options;
use alight_stats::{Source, http, server};
use sd_notify::NotifyState;

/// The servers, which run until this is dropped.
pub(super) struct Front {
    _socket: Option<server::Server>,
    _metrics: Option<http::Server>,
}

impl Front {
    /// Starts the servers. The scheduler runs without the socket if that fails; metrics were asked
    /// for, so that their failure is an error.
    pub fn open(options: &Options, source: &Source) -> Result<Self, RunFailed> {
        let metrics = options
            .metrics
            .map(|address| http::Server::start(address, source.clone()))
            .transpose()
            .map_err(|error| RunFailed::Metrics {
                address: options.metrics.map_or(String::new(), |at| at.to_string()),
                error,
            })?;
        if let Some(metrics) = &metrics {
            let open = if metrics.address.ip().is_loopback() {
                ""
            } else {
                ", to everyone who reaches this address"
            };
            say(&format!(
                "metrics at http://{}/metrics{open}",
                metrics.address
            ));
        }
        let socket = server::Server::start(&options.socket, source.clone());
        if let Err(error) = &socket {
            let path = options.socket.display();
            say(&format!(
                "no statistics at {path}: {error}; the scheduler runs without them"
            ));
        }
        Ok(Front {
            _socket: socket.ok(),
            _metrics: metrics,
        })
    }
}

/// Tells the service manager that the scheduler runs.
pub(super) fn running(scheduler: &str) {
    tell(&[NotifyState::Ready, NotifyState::Status(scheduler)]);
}

/// Tells the service manager that it is about to end.
pub(super) fn ending() {
    tell(&[NotifyState::Stopping]);
}

fn tell(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        say(&format!("cannot tell the service manager: {error}"));
    }
}
