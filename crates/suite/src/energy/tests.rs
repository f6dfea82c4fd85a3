// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use proptest::prelude::*;

fn big_little() -> Vec<Domain> {
    let little = vec![(200, 50), (446, 200)];
    let big = vec![(512, 500), (1024, 1600)];
    vec![
        Domain {
            cpus: vec![0, 1, 2],
            points: little,
        },
        Domain {
            cpus: vec![3, 4],
            points: big,
        },
    ]
}

/// Every task on every CPU.
fn brute_force(domains: &[Domain], tasks: &[u32]) -> Option<u64> {
    let homes: Vec<(usize, u32)> = (domains.iter())
        .flat_map(|domain| domain.cpus.iter().map(|&cpu| (cpu, domain.usable())))
        .collect();
    let placements = homes.len().pow(tasks.len() as u32);
    let cost = |mut code: usize| {
        let mut utils = vec![0; homes.len()];
        for task in tasks {
            utils[homes[code % homes.len()].0] += task;
            code /= homes.len();
        }
        let fits = homes.iter().all(|&(cpu, usable)| utils[cpu] <= usable);
        fits.then(|| power_nw(domains, &utils))
    };
    (0..placements).filter_map(cost).min()
}

#[test]
fn the_busiest_cpu_sets_the_clock_of_all() {
    let domains = big_little();
    // 100 of 200 at 50 uW.
    assert_eq!(power_nw(&domains, &[100, 0, 0, 0, 0]), 25_000);
    // 300 needs 446 at 200 uW, which the other CPU's 100 pays too.
    assert_eq!(
        power_nw(&domains, &[300, 100, 0, 0, 0]),
        200_000 * 400 / 446
    );
}

#[test]
fn what_does_not_fit_a_little_cpu_goes_to_a_big_one() {
    // 357 is more than 80 % of 446, 356 is not.
    assert_eq!(optimum_nw(&big_little(), &[357]), Some(500_000 * 357 / 512));
    assert_eq!(optimum_nw(&big_little(), &[356]), Some(200_000 * 356 / 446));
}

#[test]
fn there_is_no_optimum_where_every_placement_is_overutilized() {
    assert_eq!(optimum_nw(&big_little(), &[820]), None);
    assert_eq!(optimum_nw(&big_little(), &[600, 600, 600]), None);
}

proptest! {
    #[test]
    fn nothing_is_cheaper_than_the_optimum(
        sizes in prop::collection::vec(1u32..700, 3),
        of in prop::collection::vec(0_usize..3, 0..6),
        mut power in prop::collection::vec(1u64..2000, 4),
    ) {
        // Few sizes, so that some tasks are equal.
        let tasks: Vec<u32> = of.into_iter().map(|size| sizes[size]).collect();
        // A unit of work costs more at a faster point: domains() leaves no others.
        power[..2].sort_unstable();
        power[2..].sort_unstable();
        let mut domains = big_little();
        for (point, uw) in domains.iter_mut().flat_map(|d| &mut d.points).zip(power) {
            point.1 = uw * u64::from(point.0);
        }
        prop_assert_eq!(optimum_nw(&domains, &tasks), brute_force(&domains, &tasks));
    }
}
