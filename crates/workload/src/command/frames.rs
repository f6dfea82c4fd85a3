// SPDX-License-Identifier: GPL-2.0-only
//! `frames`: what scrolling on a phone does, and how many frames come late. There is no such tool;
//! the pipeline is that of Android, and the options are ours.
//!
//! At each vsync the UI thread computes a frame and hands it to the render thread; the compositor
//! works at each vsync as well. Two frames are in the making at most. A frame is late if it is
//! rendered later than two periods after its vsync. Scrolling comes in phases of 1 to 3 s with pauses
//! of 0.5 s, and background tasks do a little all the time.
//!
//! With `--boost` the threads have a feedback: after a late frame both have a lower clamp for some
//! periods. On a phone another process sets the clamps when it hears of the frame; here each thread
//! sets its own at the start of its next frame.

mod options;
mod script;

use super::getopt::Word;
use super::surroundings::Surroundings;
use crate::assembler::Assembler;
use crate::diagnostic::{Refusal, Remarks};
use crate::measures::tally_measures;
use crate::program::{
    Attributes, Better, CounterId, Deal, DealId, Instruments, Lateness, LatenessId, Measure,
    MeasureSource, Observation, Op, OptionalId, Program, TallyId, TaskSpec, TimerMode, TimerOrigin,
    Workload,
};
use crate::report::{Frames, Report, Span};
use options::Settings;
use script::{Script, Stream};

/// Frames rendered.
const FRAMES: CounterId = 0;
/// Of these the late ones.
const LATE: CounterId = 1;
/// Dealt to nobody: background tasks only ask it for the time.
const CLOCK: CounterId = 2;
/// What goes on until the time is over.
const TIME: DealId = 0;
/// A frame that missed its deadline.
const MISSED: LatenessId = 0;
/// From vsync to the end of rendering.
const FRAME_TIME: TallyId = 0;
/// Frames that wait for the render thread.
const QUEUED: u32 = 0;
/// Buffers that the render thread has given back.
const FREE: u32 = 1;
/// Frames in the making at most.
const BUFFERS: usize = 2;
/// Vsyncs remembered: of the frames in the making, and of the one that the UI thread waits with.
const STAMPS: usize = 4;
/// Periods after its vsync at which a frame is late.
const DEADLINE_PERIODS: u64 = 2;
const START: u32 = 0;
const STOP: u32 = 1;
/// Until when the clamp of a late frame holds; behind the stamps of frames.
const BOOSTED_UNTIL: u32 = STAMPS as u32;
/// Attributes while it holds, and else.
const BOOSTED: u32 = 0;
const USUAL: u32 = 1;

pub(super) fn compile(
    around: &Surroundings<'_>,
    words: &[Word],
    remarks: &mut Remarks,
) -> Result<Workload, Refusal> {
    let settings = options::read(words, remarks)?;
    Ok(build(around.line, &settings))
}

fn build(line: &str, settings: &Settings) -> Workload {
    let mut workload = Workload::empty(line);
    workload.semaphores = 2;
    workload.counters = 3;
    workload.marks = 2;
    workload.instruments = Instruments {
        stamps: STAMPS as u32 + 1,
        tallies: 1,
        desks: 0,
    };
    workload.deals = vec![Deal {
        counter: CLOCK,
        modulo: 0,
        limit: u64::MAX,
        until_ns: settings.duration_ns,
    }];
    workload.lateness = vec![Lateness {
        limit_ns: DEADLINE_PERIODS * settings.period_ns,
        hold_us: (settings.boost_periods * settings.period_ns / 1000) as u32,
    }];
    workload.measures = measures();
    workload.report = Some(Report::Frames(Frames {
        frames: FRAMES,
        late: LATE,
        frame_time: FRAME_TIME,
        elapsed: Span {
            from: START,
            to: STOP,
        },
    }));

    let script = Script::of(settings);
    let clamped = Attributes {
        uclamp_min: settings.util_min,
        ..Attributes::default()
    };
    let plain = Attributes::default();
    if let Some(boost) = settings.boost {
        let with = |clamp| Attributes {
            uclamp_min: Some(clamp),
            ..Attributes::default()
        };
        workload.attributes = vec![with(boost), with(settings.util_min.unwrap_or(0))];
    }
    let tasks = [
        ("frames".to_owned(), main_program(settings), plain.clone()),
        (
            "ui".to_owned(),
            ui_program(settings, &script),
            clamped.clone(),
        ),
        (
            "render".to_owned(),
            render_program(settings, &script),
            clamped,
        ),
        (
            "compositor".to_owned(),
            compositor_program(settings, &script),
            plain.clone(),
        ),
    ];
    let background = (0..settings.background).map(|task| {
        let program = background_program(&script, task);
        (format!("background-{task}"), program, plain.clone())
    });
    for (comm, program, attributes) in tasks.into_iter().chain(background) {
        let program = workload.add_program(program);
        workload.tasks.push(TaskSpec {
            comm,
            program,
            attributes,
            start_ns: (program == 0).then_some(0),
            process: 0,
            working_set_bytes: None,
            begins: None,
        });
    }
    workload
}

fn measures() -> Vec<Measure> {
    let mut measures = vec![
        Measure {
            name: "jank_percent".to_owned(),
            unit: "percent",
            better: Some(Better::Lower),
            source: MeasureSource::CounterPercent {
                counter: LATE,
                of: FRAMES,
            },
        },
        Measure {
            name: "frames".to_owned(),
            unit: "",
            better: Some(Better::Higher),
            source: MeasureSource::Counter { counter: FRAMES },
        },
    ];
    measures.extend(tally_measures(
        "frame_time",
        FRAME_TIME,
        &[500, 900, 950, 990],
    ));
    measures
}

fn main_program(settings: &Settings) -> Program {
    let mut asm = Assembler::default();
    asm.op(Op::Mark { mark: START });
    for task in 1..4 + settings.background {
        asm.op(Op::Fork { task });
    }
    asm.op(Op::WaitChildren);
    asm.op(Op::Mark { mark: STOP });
    asm.finish()
}

/// Emits what a task does with each frame, by its number, with the pauses between phases.
fn each_frame(script: &Script, asm: &mut Assembler, mut frame: impl FnMut(&mut Assembler, usize)) {
    let mut number = 0;
    for (phase, &frames) in script.phases.iter().enumerate() {
        if phase > 0 {
            asm.op(Op::Sleep {
                ns: script::PAUSE_NS,
            });
        }
        for _ in 0..frames {
            frame(asm, number);
            number += 1;
        }
    }
}

/// The clamp that a frame begins with.
fn clamp(settings: &Settings, asm: &mut Assembler) {
    if settings.boost.is_some() {
        asm.op(Op::SetAttributesUntil {
            until: BOOSTED_UNTIL,
            before: BOOSTED,
            after: USUAL,
        });
    }
}

fn vsync(settings: &Settings) -> Op {
    Op::Timer {
        slot: 0,
        period_ns: settings.period_ns,
        mode: TimerMode::SkipMissed,
        origin: TimerOrigin::FirstUse,
        histogram: OptionalId::NONE,
    }
}

fn stamp_of(frame: usize) -> u32 {
    (frame % STAMPS) as u32
}

fn ui_program(settings: &Settings, script: &Script) -> Program {
    let mut asm = Assembler::default();
    each_frame(script, &mut asm, |asm, frame| {
        asm.op(vsync(settings));
        asm.op(Op::Observe(Observation::StampTimer {
            stamp: stamp_of(frame),
            slot: 0,
        }));
        if frame >= BUFFERS {
            asm.op(Op::SemWait { semaphore: FREE });
        }
        clamp(settings, asm);
        asm.op(Op::Run {
            ns: script.work_ns(Stream::Ui, frame, settings.ui_ns),
        });
        asm.op(Op::SemPost { semaphore: QUEUED });
    });
    asm.finish()
}

fn render_program(settings: &Settings, script: &Script) -> Program {
    let mut asm = Assembler::default();
    for frame in 0..script.frames() {
        let stamp = stamp_of(frame);
        asm.op(Op::SemWait { semaphore: QUEUED });
        clamp(settings, &mut asm);
        asm.op(Op::Run {
            ns: script.work_ns(Stream::Render, frame, settings.render_ns),
        });
        asm.op(Op::Observe(Observation::CountLate {
            stamp,
            lateness: MISSED,
            counter: LATE,
        }));
        if settings.boost.is_some() {
            asm.op(Op::Observe(Observation::HoldIfLate {
                stamp,
                lateness: MISSED,
                until: BOOSTED_UNTIL,
            }));
        }
        asm.op(Op::Observe(Observation::Lapse {
            stamp,
            tally: FRAME_TIME,
        }));
        asm.op(Op::Count { counter: FRAMES });
        asm.op(Op::SemPost { semaphore: FREE });
    }
    asm.finish()
}

fn compositor_program(settings: &Settings, script: &Script) -> Program {
    let mut asm = Assembler::default();
    each_frame(script, &mut asm, |asm, frame| {
        asm.op(vsync(settings));
        asm.op(Op::Run {
            ns: script.work_ns(Stream::Compositor, frame, settings.composition_ns),
        });
    });
    asm.finish()
}

fn background_program(script: &Script, task: u32) -> Program {
    let (work_ns, pause_ns) = script.background_ns(task);
    let mut asm = Assembler::default();
    let take = |done| Op::Take { deal: TIME, done };
    asm.while_given(take, |body| {
        body.op(Op::Run { ns: work_ns });
        body.op(Op::Sleep { ns: pause_ns });
    });
    asm.finish()
}
