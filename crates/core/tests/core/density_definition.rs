//! Theorem 5 against its definition: sets are drawn, estimates made and errors
//! integrated.

use crate::common::density;

use density::{fit, given, log_kernels, normal_rows, valuer};
use dshap::density::{Kernel, PairIntegrals, SetValuer, SizeWeights};
use dshap_testkit::{Draws, MeanEstimate, normal_density, seeds};
use faer::{Mat, mat};

/// `C_den − ∫(p̂_S − p)²` for `p = N(0, 1)` and a Gaussian kernel, integrated over the line;
/// 0 for the empty set.
fn utility(set: &[f64], h2: f64, c_den: f64) -> f64 {
    if set.is_empty() {
        return 0.0;
    }
    let n = set.len() as f64;
    let mut square = n * normal_density(0.0, 2.0 * h2);
    for (i, x) in set.iter().enumerate() {
        square += 2.0 * set[..i].iter().map(|y| normal_density(x - y, 2.0 * h2)).sum::<f64>();
    }
    let fit = set.iter().map(|&x| normal_density(x, 1.0 + h2)).sum::<f64>() / n;
    c_den - (square / (n * n) - 2.0 * fit + normal_density(0.0, 2.0))
}

/// The closed form of the same, every integral known.
fn closed_form(set: &[f64], h2: f64, m: usize, c_den: f64) -> f64 {
    let weights = SizeWeights::new(set.len(), m).unwrap();
    let n = set.len() as f64;
    let integrals = PairIntegrals {
        cross: normal_density(0.0, 2.0 + h2),
        smoothed_square: normal_density(0.0, 2.0 + 2.0 * h2),
        kernel_square: normal_density(0.0, 2.0 * h2),
    };
    let mean = |var: f64| set.iter().map(|&z| normal_density(z, var)).sum::<f64>() / n;
    let within: f64 = set.iter().flat_map(|x| set.iter().map(move |y| normal_density(x - y, 2.0 * h2))).sum();
    -weights.own * (within / (n * n) - 2.0 * mean(1.0 + h2))
        + weights.joint * (mean(1.0 + h2) - mean(1.0 + 2.0 * h2))
        + integrals.constant(weights, c_den - normal_density(0.0, 2.0))
}

/// Sets of one, two and three points join sets of 0 … m − 1 drawn ones. False alarms:
/// 6e-7 per comparison. Power: summing over sizes 1 … m instead, one more row in every
/// set, must be more than 15 standard errors away.
#[test]
fn values_are_mean_gains_over_drawn_sets_and_one_row_more_is_noticed() {
    let (h2, m, c_den) = (0.45_f64.powi(2), 6, 0.3);
    for set in [vec![0.3], vec![2.1], vec![-0.4, 0.9], vec![0.5, 0.55], vec![-1.1, 0.2, 1.7]] {
        for seed in seeds(51) {
            let mut draws = Draws::new(seed);
            let mut gain = MeanEstimate::default();
            for i in 0..400_000 {
                // Sizes in turn, so that only the sets are random.
                let mut joined: Vec<f64> = (0..i % m).map(|_| draws.normal()).collect();
                let before = utility(&joined, h2, c_den);
                joined.extend(&set);
                gain.push(utility(&joined, h2, c_den) - before);
            }
            let exact = closed_form(&set, h2, m, c_den);
            gain.assert_agrees(exact, &format!("{set:?}"));
            let first = utility(&set, h2, c_den);
            let shifted = ((m + 1) as f64 * closed_form(&set, h2, m + 1, c_den) - first) / m as f64;
            gain.assert_rejects(shifted, 15.0, &format!("{set:?}, sizes from 1 to m"));
        }
    }
}

/// The same through the public interface: the reference itself is the distribution, sets
/// are drawn from its rows with replacement, and `∫p·p̂` is a mean over them. Pairs of a
/// row with itself then count in the integrals. False alarms: 6e-7 per comparison; power:
/// leaving `C₀` out, or sizes from 1 to m, is more than 15 standard errors away.
#[test]
fn values_of_sets_hold_for_drawn_sets_of_any_size() {
    let (n, m) = (40, 7);
    for (kernel, dim, h) in
        [(Kernel::Gaussian, 2, 0.6), (Kernel::Epanechnikov, 1, 0.9), (Kernel::Uniform, 1, 0.7)]
    {
        let rows = normal_rows(7, n, dim);
        let fit = fit(&rows, given(kernel, h));
        let unique = PairIntegrals::of(&fit, n, 0).unwrap();
        let share = 1.0 / n as f64;
        let own = (kernel.peak() / h).powi(dim as i32);
        let integrals = PairIntegrals {
            cross: (1.0 - share) * unique.cross + share * own,
            smoothed_square: (1.0 - share) * unique.smoothed_square + share * unique.kernel_square,
            ..unique
        };
        for n_members in [1, 3] {
            let members = normal_rows(8, n_members, dim);
            let value = |m| SetValuer::new(&fit, integrals, m, 0.0).unwrap().value(members.as_ref()).unwrap();
            // Kernels between members and rows, members first, once for all draws.
            let all =
                Mat::from_fn(
                    n + n_members,
                    dim,
                    |i, j| {
                        if i < n { rows[(i, j)] } else { members[(i - n, j)] }
                    },
                );
            let pair = |i, b| log_kernels(kernel, h, all.as_ref(), i, all.as_ref(), b).map(f64::exp);
            let convolved: Vec<Vec<f64>> =
                (0..n + n_members).map(|i| (0..n + n_members).map(|b| pair(i, b)[1]).collect()).collect();
            let density: Vec<f64> =
                (0..n + n_members).map(|i| (0..n).map(|b| pair(i, b)[0]).sum::<f64>() * share).collect();
            let utility = |set: &[usize]| {
                let k = set.len().max(1) as f64;
                let square: f64 = set
                    .iter()
                    .flat_map(|&i| set.iter().map(move |&b| (i, b)))
                    .map(|(i, b)| convolved[i][b])
                    .sum();
                2.0 * set.iter().map(|&i| density[i]).sum::<f64>() / k - square / (k * k)
            };
            for seed in seeds(52) {
                let mut draws = Draws::new(seed);
                let mut gain = MeanEstimate::default();
                for i in 0..300_000 {
                    let mut set: Vec<usize> =
                        (0..i % m).map(|_| (draws.uniform() * n as f64) as usize).collect();
                    let before = utility(&set);
                    set.extend(n..n + n_members);
                    gain.push(utility(&set) - before);
                }
                let what = format!("{kernel:?}, {n_members} members");
                let found = value(m);
                gain.assert_agrees(found.value, &what);
                gain.assert_rejects(found.without_constant, 15.0, &format!("{what}, without the constant"));
                let members: Vec<usize> = (n..n + n_members).collect();
                let shifted = ((m + 1) as f64 * value(m + 1).value - utility(&members)) / m as f64;
                gain.assert_rejects(shifted, 15.0, &format!("{what}, sizes from 1 to m"));
            }
        }
    }
}

/// The constant estimated from a reference against the known one, over drawn references:
/// unbiased, pairs being of different rows. False alarms: 6e-7 per comparison; power:
/// counting each row with itself is more than 8 standard errors away.
#[test]
fn integrals_from_pairs_are_unbiased() {
    let (h, n) = (0.5, 60);
    for seed in seeds(53) {
        let mut estimates = [MeanEstimate::default(); 3];
        for i in 0..1000 {
            let fit = fit(&normal_rows(seed + 7919 * i, n, 1), given(Kernel::Gaussian, h));
            let found = PairIntegrals::of(&fit, n, 0).unwrap();
            let sampled = PairIntegrals::of(&fit, 10, i).unwrap();
            estimates[0].push(found.cross);
            estimates[1].push(found.smoothed_square);
            estimates[2].push(sampled.cross);
        }
        let h2 = h * h;
        let (cross, square) = (normal_density(0.0, 2.0 + h2), normal_density(0.0, 2.0 + 2.0 * h2));
        estimates[0].assert_agrees(cross, "∫p·p_h");
        estimates[1].assert_agrees(square, "∫p_h²");
        estimates[2].assert_agrees(cross, "∫p·p_h from some rows");
        let with_itself = cross + (normal_density(0.0, h2) - cross) / n as f64;
        estimates[0].assert_rejects(with_itself, 8.0, "rows paired with themselves");
    }
}

/// Reported standard errors against the spread of values over drawn references. The
/// spread of 1500 values is known to 1.8 %, so 10 % are five standard errors; errors of
/// sums instead of means, or a divisor of n, would be off by factors.
#[test]
fn standard_errors_are_the_spread_over_references() {
    let points = mat![[0.2], [1.4], [-2.5]];
    for seed in seeds(54) {
        for (kernel, h) in [(Kernel::Gaussian, 0.4), (Kernel::Epanechnikov, 1.0)] {
            let mut values = [MeanEstimate::default(); 4];
            let mut squares = [MeanEstimate::default(); 4];
            for i in 0..1500 {
                let rows = normal_rows(seed + 7919 * i, 150, 1);
                let valuer = valuer(&rows, given(kernel, h), 80).with_std_error(true);
                let found = valuer.values_from(points.as_ref(), 0).unwrap();
                let sets = SetValuer::new(valuer.fit(), KNOWN, 80, 0.0).unwrap();
                let set = sets.value(points.as_ref()).unwrap();
                let errors = found.std_error.unwrap();
                for (k, (value, error)) in
                    found.value.iter().zip(&errors).chain([(&set.value, &set.std_error)]).enumerate()
                {
                    values[k].push(*value);
                    squares[k].push(error * error);
                }
            }
            for (k, (values, squares)) in values.iter().zip(&squares).enumerate() {
                let ratio = squares.mean().sqrt() / values.std_dev();
                assert!((ratio - 1.0).abs() < 0.1, "{kernel:?}, point {k}: {ratio:.3}");
            }
        }
    }
}

/// Integrals that are not those of a reference, so that the constant does not vary.
const KNOWN: PairIntegrals = PairIntegrals { cross: 0.3, smoothed_square: 0.2, kernel_square: 1.0 };
