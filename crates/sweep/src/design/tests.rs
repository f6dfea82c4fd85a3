// SPDX-License-Identifier: GPL-2.0-only

use super::*;

fn points(design: Design, sizes: &[u64], seed: u64) -> Vec<Vec<u64>> {
    let count = design.points(sizes) as u64;
    (0..count)
        .map(|index| design.point(sizes, seed, index))
        .collect()
}

#[test]
fn a_grid_has_every_point_once() {
    let all = points(Design::Grid, &[2, 1, 3], 0);
    let expected = [
        [0, 0, 0],
        [0, 0, 1],
        [0, 0, 2],
        [1, 0, 0],
        [1, 0, 1],
        [1, 0, 2],
    ];
    assert_eq!(all, expected);
    assert_eq!(points(Design::Grid, &[], 0), [Vec::<u64>::new()]);
    assert_eq!(Design::Grid.points(&[u64::MAX; 3]), u128::MAX);
}

#[test]
fn a_row_of_saltelli_is_a_b_and_a_with_one_column_of_b() {
    let (design, sizes) = (Design::Sobol { samples: 32 }, [1000, 7, 513]);
    let all = points(design, &sizes, 5);
    assert_eq!(all.len(), 32 * 5);
    for row in all.chunks(5) {
        let [a, b, rest @ ..] = row else {
            panic!("five points")
        };
        for (factor, mixed) in rest.iter().enumerate() {
            for other in 0..3 {
                let from = if other == factor { b } else { a };
                assert_eq!(mixed[other], from[other], "factor {factor}");
            }
        }
    }
    // Every eighth of a range has its share of a Sobol' sequence.
    for factor in [0, 2] {
        let mut counts = [0; 8];
        for row in all.chunks(5) {
            counts[(row[0][factor] * 8 / sizes[factor]) as usize] += 1;
        }
        assert!(
            counts.iter().all(|count| (3..=5).contains(count)),
            "{counts:?}"
        );
    }
}

#[test]
fn a_trajectory_moves_each_factor_once() {
    let (design, sizes) = (Design::Morris { trajectories: 50 }, [2, 3, 4, 9, 1024]);
    let all = points(design, &sizes, 5);
    assert_eq!(all.len(), 50 * 6);
    let mut first = vec![0; sizes.len()];
    for trajectory in all.chunks(6) {
        let mut moved: Vec<usize> = vec![];
        for pair in trajectory.windows(2) {
            let differs = (0..sizes.len()).filter(|factor| pair[0][*factor] != pair[1][*factor]);
            let differs: Vec<usize> = differs.collect();
            assert_eq!(differs.len(), 1, "{pair:?}");
            moved.extend(differs);
        }
        first[moved[0]] += 1;
        moved.sort_unstable();
        assert_eq!(moved, [0, 1, 2, 3, 4]);
        for (factor, size) in sizes.iter().enumerate() {
            assert!(trajectory.iter().all(|point| point[factor] < *size));
        }
    }
    assert!(
        first.iter().all(|count| *count > 0),
        "some factor never moves first: {first:?}"
    );
}

#[test]
fn points_are_those_of_the_seed() {
    let sizes = [100, 100];
    for design in [
        Design::Sobol { samples: 8 },
        Design::Morris { trajectories: 8 },
    ] {
        assert_eq!(points(design, &sizes, 1), points(design, &sizes, 1));
        assert_ne!(points(design, &sizes, 1), points(design, &sizes, 2));
    }
    // The same on every machine.
    let sobol = points(Design::Sobol { samples: 2 }, &sizes, 1);
    let morris = points(Design::Morris { trajectories: 2 }, &sizes, 1);
    assert_eq!(format!("{sobol:?}"), SOBOL);
    assert_eq!(format!("{morris:?}"), MORRIS);
}

const SOBOL: &str =
    "[[12, 56], [14, 15], [14, 56], [12, 15], [72, 44], [81, 68], [81, 44], [72, 68]]";
const MORRIS: &str = "[[33, 33], [33, 99], [99, 99], [0, 0], [0, 66], [66, 66]]";
