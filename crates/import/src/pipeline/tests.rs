// SPDX-License-Identifier: GPL-2.0-only

use super::*;

fn exit(time: u64, cpu: u16) -> Item {
    Item {
        time,
        cpu,
        body: Body::What(What::Exit { pid: 7 }),
        names: [0; 2],
    }
}

#[test]
fn a_clock_that_steps_back_ends_a_window() {
    let mut pipeline = Pipeline::new(&Origin::default(), &Options::default(), None);
    for time in [100, 50, 60, 120] {
        pipeline.pass(exit(time, 0)).unwrap();
    }
    let tally = pipeline.end().unwrap().tally;
    assert_eq!((tally.late, tally.latest_step), (2, 50));
    // Two events that are in order, and the loss of the others between them.
    assert_eq!((tally.cpus[0].events, tally.losses), (3, 1));
    assert_eq!((tally.first, tally.last), (Some(100), 120));
}

#[test]
fn a_loss_that_is_told_late_is_kept() {
    let mut pipeline = Pipeline::new(&Origin::default(), &Options::default(), None);
    pipeline.pass(exit(100, 0)).unwrap();
    let lost = What::Lost {
        count: 3,
        of_cpu_only: true,
    };
    let late = Item {
        body: Body::What(lost),
        ..exit(50, 1)
    };
    pipeline.pass(late).unwrap();
    let tally = pipeline.end().unwrap().tally;
    assert_eq!((tally.late, tally.losses, tally.cpus[1].lost), (0, 1, 3));
}

#[test]
fn an_end_is_that_of_the_interrupt_which_began() {
    let mut pipeline = Pipeline::new(&Origin::default(), &Options::default(), None);
    let stage = &mut pipeline.stage;
    let mut step = |what| stage.of_cpu(0, what);
    let begin = |interrupt| What::InterruptBegin {
        interrupt,
        late_ns: 0,
    };
    let end = |interrupt| What::InterruptEnd { interrupt };
    step(begin(Interrupt::Device(5)));
    step(begin(Interrupt::Tick));
    let timer = end(Interrupt::Hrtimer(0));
    assert_eq!(step(timer), Some(end(Interrupt::Tick)));
    assert_eq!(
        step(end(Interrupt::Device(5))),
        Some(end(Interrupt::Device(5)))
    );
    // Whose begin was not recorded stays as it is.
    assert_eq!(step(timer), Some(timer));
}
