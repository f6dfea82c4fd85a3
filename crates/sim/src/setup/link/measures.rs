// SPDX-License-Identifier: GPL-2.0-only
//! Links measures and observations: shifts their ids to the run's tables.

use super::Base;
use alight_workload::program::{MeasureSource, Observation};

/// Shifts the ids of a measure to the run's tables.
pub(crate) fn relocate_source(source: MeasureSource, base: Base) -> MeasureSource {
    match source {
        MeasureSource::Elapsed { from, to } => MeasureSource::Elapsed {
            from: from + base.mark,
            to: to + base.mark,
        },
        MeasureSource::Counter { counter } => MeasureSource::Counter {
            counter: counter + base.counter,
        },
        MeasureSource::LeftCluster { first, count } => MeasureSource::LeftCluster {
            first: first + base.task,
            count,
        },
        MeasureSource::OnBiggest { first, count } => MeasureSource::OnBiggest {
            first: first + base.task,
            count,
        },
        MeasureSource::CounterPerSecond { counter, seconds } => MeasureSource::CounterPerSecond {
            counter: counter + base.counter,
            seconds,
        },
        MeasureSource::CounterPercent { counter, of } => MeasureSource::CounterPercent {
            counter: counter + base.counter,
            of: of + base.counter,
        },
        MeasureSource::SinceStart { workload, to } => MeasureSource::SinceStart {
            workload: workload + base.workload,
            to: to + base.mark,
        },
        MeasureSource::Lifetime { workload } => MeasureSource::Lifetime {
            workload: workload + base.workload,
        },
        MeasureSource::Logged { log, what } => MeasureSource::Logged {
            log: log + base.log,
            what,
        },
        MeasureSource::HistogramMean { .. }
        | MeasureSource::HistogramMax { .. }
        | MeasureSource::HistogramMin { .. }
        | MeasureSource::HistogramStd { .. }
        | MeasureSource::HistogramQuantile { .. }
        | MeasureSource::TallyPercentile { .. }
        | MeasureSource::TallySorted { .. } => relocate_spread(source, base),
    }
}

/// The same for a measure of a histogram or a tally.
fn relocate_spread(source: MeasureSource, base: Base) -> MeasureSource {
    match source {
        MeasureSource::HistogramMean { histogram } => MeasureSource::HistogramMean {
            histogram: histogram + base.histogram,
        },
        MeasureSource::HistogramMax { histogram } => MeasureSource::HistogramMax {
            histogram: histogram + base.histogram,
        },
        MeasureSource::HistogramMin { histogram } => MeasureSource::HistogramMin {
            histogram: histogram + base.histogram,
        },
        MeasureSource::HistogramStd { histogram } => MeasureSource::HistogramStd {
            histogram: histogram + base.histogram,
        },
        MeasureSource::HistogramQuantile {
            histogram,
            per_mille,
        } => MeasureSource::HistogramQuantile {
            histogram: histogram + base.histogram,
            per_mille,
        },
        MeasureSource::TallyPercentile { tally, per_mille } => MeasureSource::TallyPercentile {
            tally: tally + base.tally,
            per_mille,
        },
        MeasureSource::TallySorted { tally, per_mille } => MeasureSource::TallySorted {
            tally: tally + base.tally,
            per_mille,
        },
        _ => unreachable!(),
    }
}

/// Shifts the ids of an observation to the run's tables.
pub(super) fn relocate_observation(observation: Observation, base: Base) -> Observation {
    match observation {
        Observation::Stamp { stamp } => Observation::Stamp {
            stamp: stamp + base.stamp,
        },
        Observation::StampTimer { stamp, slot } => Observation::StampTimer {
            stamp: stamp + base.stamp,
            slot,
        },
        Observation::Lapse { stamp, tally } => Observation::Lapse {
            stamp: stamp + base.stamp,
            tally: tally + base.tally,
        },
        Observation::LapseAboveZero { stamp, tally } => Observation::LapseAboveZero {
            stamp: stamp + base.stamp,
            tally: tally + base.tally,
        },
        Observation::AddLapse { stamp, counter } => Observation::AddLapse {
            stamp: stamp + base.stamp,
            counter: counter + base.counter,
        },
        Observation::TakeShare {
            counter,
            parts,
            tally,
        } => Observation::TakeShare {
            counter: counter + base.counter,
            parts,
            tally: tally + base.tally,
        },
        Observation::Rate { counter, tally } => Observation::Rate {
            counter: counter + base.counter,
            tally: tally + base.tally,
        },
        Observation::CountLate {
            stamp,
            lateness,
            counter,
        } => Observation::CountLate {
            stamp: stamp + base.stamp,
            lateness: lateness + base.lateness,
            counter: counter + base.counter,
        },
        Observation::HoldIfLate {
            stamp,
            lateness,
            until,
        } => Observation::HoldIfLate {
            stamp: stamp + base.stamp,
            lateness: lateness + base.lateness,
            until: until + base.stamp,
        },
        Observation::Clear { tally } => Observation::Clear {
            tally: tally + base.tally,
        },
    }
}
