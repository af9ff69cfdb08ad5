//! Identities of density values, for any numbers.

use crate::common::density;

use density::{fit, given, normal_rows, plain_value, valuer};
use dshap::density::{
    Algorithm5, Bandwidth, DensityBuilder, DensityFit, DensityMethod, DensityOptions, DensityValuer, Kernel,
    PairIntegrals, Scaling, Search, SetValuer, TREE_TOLERANCE,
};
use dshap::{Part, Rows, Valuer, Values};
use dshap_testkit::{Draws, MeanEstimate, assert_close, assert_same_bits, on_threads};
use faer::Mat;

fn part(values: &Values, part: Part) -> &[f64] {
    values.part(part).unwrap()
}

/// Pieces of polynomials between multiples of ½ and of `u`: Simpson's rule is exact
/// to degree 3 and otherwise fine enough at 4000 steps; for the Gaussian the trapezoid
/// sum is exact to rounding.
#[test]
fn convolutions_are_convolutions() {
    for kernel in Kernel::ALL {
        let reach = kernel.reach().min(9.0);
        for i in 0..=24 {
            let u = 0.13 * f64::from(i);
            let mut breaks = vec![-reach, reach, 0.0, u, u - reach, u + reach];
            breaks.retain(|t| t.abs() <= reach);
            breaks.sort_by(f64::total_cmp);
            let simpson = |a: f64, b: f64| {
                let n = 4000;
                let (step, nudge) = ((b - a) / f64::from(n), 1e-13 * (b - a));
                let at = |k: i32| {
                    let t = (a + step * f64::from(k)).clamp(a + nudge, b - nudge);
                    let weight = if k == 0 || k == n { 1.0 } else { 2.0 + 2.0 * f64::from(k % 2) };
                    weight * kernel.at(t) * kernel.at(u - t)
                };
                (0..=n).map(at).sum::<f64>() * step / 3.0
            };
            let integral: f64 =
                breaks.windows(2).filter(|p| p[1] > p[0] + 1e-12).map(|p| simpson(p[0], p[1])).sum();
            let found = kernel.convolved_at(u);
            assert!((found - integral).abs() < 1e-12, "{kernel:?} at {u}: {found} against {integral}");
            assert_eq!(found, kernel.convolved_at(-u));
            assert_eq!(kernel.at(u), kernel.at(-u));
        }
        assert_close(kernel.at(0.0), kernel.peak(), 1e-15);
        assert_close(kernel.convolved_at(0.0), kernel.convolved_peak(), 1e-15);
    }
}

/// In 1 to 100 dimensions, every kernel, more rows than a tile holds. An exponent of
/// size L is rounded to Lε, in either way of computing it, after as many roundings of its
/// parts; sums of 300 add a few more.
#[test]
fn values_are_what_adding_up_term_after_term_gives() {
    let m = 321;
    for (dim, h, h_compact) in [(1, 0.3, 0.9), (2, 0.4, 1.7), (32, 0.9, 7.0), (100, 1.0, 11.0)] {
        let (rows, points) = (normal_rows(1, 300, dim), normal_rows(2, 7, dim));
        for kernel in Kernel::ALL {
            let h = if kernel == Kernel::Gaussian { h } else { h_compact };
            let valuer = valuer(&rows, given(kernel, h), m).with_std_error(true);
            let values = valuer.values(Rows::new(points.as_ref(), &[0.0; 7]).unwrap()).unwrap();
            for i in 0..points.nrows() {
                let plain = plain_value(kernel, h, m, &points, i, &rows, None);
                let (relative, log) = (part(&values, Part::Relative)[i], part(&values, Part::LogDensity)[i]);
                let what = format!("{kernel:?} in {dim} dimensions");
                let exponent = if plain.log_density.is_finite() { plain.log_density.abs() } else { 250.0 };
                let tolerance = 8.0 * f64::EPSILON * (20.0 + exponent);
                assert!(
                    (relative - plain.relative).abs() <= tolerance * plain.scale,
                    "{what}: {relative:e}, {:e}",
                    plain.relative
                );
                assert!(
                    log == plain.log_density || (log - plain.log_density).abs() < 1e-13 * log.abs().max(1.0),
                    "{what}: {log}, {}",
                    plain.log_density
                );
                // A variance from sums of squares: where all rows are nearly as far
                // away, what is left is a small part of them.
                let std_error = values.std_error.as_ref().unwrap()[i];
                let lost = 16.0 * f64::EPSILON * plain.scale.powi(2) / 300.0 / plain.std_error;
                let close = (std_error - plain.std_error).abs() <= 1e-9 * plain.std_error + lost;
                assert!(
                    plain.std_error == 0.0 && std_error == 0.0 || close,
                    "{what}: ± {std_error:e}, {:e}",
                    plain.std_error
                );
                assert_eq!(values.value[i], valuer.constant() + relative);
            }
        }
    }
}

/// A thousand columns: densities of e^-1500 and less are out of the range of doubles, but
/// not in their unit.
#[test]
fn a_thousand_columns_keep_their_digits_in_a_unit_of_their_own() {
    let (dim, h) = (1000, 1.5);
    let (rows, points) = (normal_rows(3, 150, dim), normal_rows(4, 3, dim));
    let valuer = valuer(&rows, given(Kernel::Gaussian, h), 50);
    let values = valuer.values_from(points.as_ref(), 0).unwrap();
    let unit = valuer.fit().log_unit();
    assert!(unit < -700.0, "{unit}");
    for i in 0..3 {
        // In logs: the sums as they are, the unit taken from each term.
        let weights = valuer.weights();
        let logs: Vec<[f64; 2]> = (0..150)
            .map(|b| density::log_kernels(Kernel::Gaussian, h, points.as_ref(), i, rows.as_ref(), b))
            .collect();
        let mean = |of: usize| logs.iter().map(|logs| (logs[of] - unit).exp()).sum::<f64>() / 150.0;
        let (plain, convolved) = ((2.0 * weights.own + weights.joint) * mean(0), weights.joint * mean(1));
        let relative = part(&values, Part::Relative)[i];
        // Exponents of some 2000 are rounded to 5e-13.
        assert!((relative - (plain - convolved)).abs() < 5e-12 * plain.max(convolved), "{relative:e}");
        assert!(relative != 0.0 && values.value[i].is_finite());
    }
}

/// Standard errors whose squares are out of the range of doubles: far below 1e-154 in 230
/// columns, far above 1e154 where rows of 100 columns are repeated and the bandwidth is
/// small.
#[test]
fn standard_errors_are_doubles_where_their_squares_are_not() {
    let repeated = {
        let rows = normal_rows(6, 10, 100);
        Mat::from_fn(80, 100, |i, j| rows[(i % 10, j)])
    };
    for (rows, h, squares_at) in [(normal_rows(5, 100, 230), 1.0, -340.0), (repeated, 0.01, 300.0)] {
        let (n, dim) = (rows.nrows(), rows.ncols());
        let valuer = valuer(&rows, given(Kernel::Gaussian, h), 50).with_std_error(true);
        let values = valuer.leave_one_out(0, n).unwrap();
        assert_eq!(valuer.fit().log_unit(), 0.0, "{dim}");
        let weights = valuer.weights();
        for own in [0, 3] {
            let others: Vec<usize> = (0..n).filter(|&row| row != own).collect();
            let logs: Vec<[f64; 2]> = others
                .iter()
                .map(|&b| density::log_kernels(Kernel::Gaussian, h, rows.as_ref(), own, rows.as_ref(), b))
                .collect();
            let top = logs.iter().flatten().fold(f64::NEG_INFINITY, |top, &log| top.max(log));
            let (k, kk) = (2.0 * weights.own + weights.joint, weights.joint);
            let terms: Vec<f64> =
                logs.iter().map(|log| k * (log[0] - top).exp() - kk * (log[1] - top).exp()).collect();
            let mut mean = MeanEstimate::default();
            terms.iter().for_each(|&term| mean.push(term));
            let expected: f64 = mean.std_error() * top.exp();
            assert!(
                (2.0 * expected.log10() - squares_at).abs() < 60.0,
                "{dim}: {expected:e} is no hard case"
            );
            let found = values.std_error.as_ref().unwrap()[own];
            assert!((found / expected - 1.0).abs() < 1e-11, "{dim}: {found:e} against {expected:e}");
        }
        // As sets of one row each they are the same numbers.
        let integrals = PairIntegrals::of(valuer.fit(), n, 0).unwrap();
        let set = SetValuer::new(valuer.fit(), integrals, 50, 0.0).unwrap().left_out(&[3]).unwrap();
        let single = values.std_error.as_ref().unwrap()[3];
        assert!((set.std_error / single - 1.0).abs() < 1e-11, "{dim}: {:e}", set.std_error);
    }
}

/// A sample that is scaled by the moments of all rows keeps a column that is constant in
/// the sample.
#[test]
fn a_sample_is_scaled_by_what_is_known_of_all_rows() {
    let mut rows = normal_rows(7, 60, 2);
    for i in 0..60 {
        rows[(i, 1)] = f64::from(i >= 50);
    }
    let sample = rows.as_ref().subrows(0, 50);
    let share: f64 = 10.0 / 60.0;
    let (means, std_devs) = ([0.25, share], [2.0, (share * (1.0 - share)).sqrt()]);
    let mut builder = DensityBuilder::new(2).scaled_by(&means, &std_devs).unwrap();
    builder.push(sample).unwrap();
    let options = DensityOptions { scaling: Scaling::Standard, ..given(Kernel::Gaussian, 0.5) };
    let fit = builder.finish(options).unwrap();
    assert_eq!(fit.kept(), [0, 1]);
    let by_hand = Mat::from_fn(50, 2, |i, j| (sample[(i, j)] - means[j]) / std_devs[j]);
    let point = Mat::from_fn(1, 2, |_, j| [0.5, 1.0][j]);
    let scaled = Mat::from_fn(1, 2, |_, j| (point[(0, j)] - means[j]) / std_devs[j]);
    let found = DensityValuer::new(fit, 20, DensityMethod::Closed).unwrap();
    let found = part(&found.values_from(point.as_ref(), 0).unwrap(), Part::Relative)[0];
    let expected = plain_value(Kernel::Gaussian, 0.5, 20, &scaled, 0, &by_hand, None);
    assert!((found - expected.relative).abs() < 1e-13 * expected.scale, "{found} {}", expected.relative);
    assert!(DensityBuilder::new(2).scaled_by(&[0.0], &[1.0]).is_err());
}

#[test]
fn leaving_a_row_out_is_valuing_it_against_the_others() {
    for (kernel, dim, h, search) in [
        (Kernel::Gaussian, 3, 0.5, Search::All),
        (Kernel::Gaussian, 1, 0.1, Search::Tree),
        (Kernel::Epanechnikov, 2, 1.4, Search::Tree),
        (Kernel::Triangular, 2, 1.4, Search::All),
    ] {
        let rows = normal_rows(5, 300, dim);
        let options = DensityOptions { search, ..given(kernel, h) };
        let left_out = valuer(&rows, options, 99).with_std_error(true).leave_one_out(0, 300).unwrap();
        for row in [0, 1, 127, 128, 255, 299] {
            let others = Mat::from_fn(299, dim, |i, j| rows[(i + usize::from(i >= row), j)]);
            let point = rows.as_ref().subrows(row, 1);
            let values = valuer(&others, options, 99).with_std_error(true).values_from(point, 0).unwrap();
            // Sums of 299 numbers in another order.
            let plain = plain_value(kernel, h, 99, &rows, row, &rows, Some(row));
            let close = |a: f64, b: f64| (a - b).abs() <= 3e-12 * plain.scale;
            assert!(
                close(part(&left_out, Part::Relative)[row], part(&values, Part::Relative)[0]),
                "{kernel:?} {row}"
            );
            assert!(close(part(&left_out, Part::Relative)[row], plain.relative), "{kernel:?} {row}");
            assert!((left_out.std_error.as_ref().unwrap()[row] / plain.std_error - 1.0).abs() < 1e-9);
        }
        let some = valuer(&rows, options, 99).leave_one_out(130, 3).unwrap();
        assert_same_bits(&some.value, &left_out.value[130..133], "some rows of all");
    }
}

#[test]
fn moving_and_shuffling_the_rows_changes_nothing_but_rounding() {
    let (rows, points) = (normal_rows(6, 500, 3), normal_rows(7, 20, 3));
    let order = Draws::new(8).shuffled(500);
    let shuffled = Mat::from_fn(500, 3, |i, j| rows[(order[i], j)]);
    let move_by =
        |x: &Mat<f64>| Mat::from_fn(x.nrows(), 3, |i, j| 1000.0 * (j as f64 + 1.0) * x[(i, j)] - 5e4);
    for kernel in Kernel::ALL {
        let h = if kernel == Kernel::Gaussian { 0.4 } else { 1.5 };
        let options = DensityOptions { scaling: Scaling::Standard, search: Search::All, ..given(kernel, h) };
        let values = |rows: &Mat<f64>, points: &Mat<f64>| {
            valuer(rows, options, 77).values_from(points.as_ref(), 0).unwrap().value
        };
        let expected = values(&rows, &points);
        for (found, what) in
            [(values(&shuffled, &points), "shuffled"), (values(&move_by(&rows), &move_by(&points)), "moved")]
        {
            for (found, expected) in found.iter().zip(&expected) {
                // Cells of 5e4 are rounded to 7e-12, relative to their spread 7e-15.
                assert!(
                    (found - expected).abs() < 1e-11 * expected.abs().max(1e-3),
                    "{kernel:?} {what}: {found:e} {expected:e}"
                );
            }
        }
    }
}

#[test]
fn threads_and_chunks_do_not_change_a_bit() {
    // 20 000 rows are three segments; 131 points are chunks of 64, 64 and 3.
    let (rows, points) = (normal_rows(9, 20_000, 2), normal_rows(10, 131, 2));
    for search in [Search::All, Search::Tree] {
        for kernel in [Kernel::Gaussian, Kernel::Uniform] {
            let options = DensityOptions { search, scaling: Scaling::Standard, ..given(kernel, 0.25) };
            let run = || {
                let mut builder = DensityBuilder::new(2);
                builder.push(rows.as_ref()).unwrap();
                let fit = builder.finish(options).unwrap();
                let valuer =
                    DensityValuer::new(fit, 500, DensityMethod::Closed).unwrap().with_std_error(true);
                let sets =
                    SetValuer::new(valuer.fit(), PairIntegrals::of(valuer.fit(), 500, 1).unwrap(), 500, 0.0);
                let set = sets.unwrap().value(points.as_ref()).unwrap();
                let values = valuer.values_from(points.as_ref(), 0).unwrap();
                let left_out = valuer.leave_one_out(5, 100).unwrap();
                (values, left_out, [set.value, set.std_error, set.relative])
            };
            let (values, left_out, set) = on_threads(1, run);
            for threads in [2, 5] {
                let found = on_threads(threads, run);
                assert_same_bits(&found.0.value, &values.value, "values");
                assert_same_bits(
                    found.0.std_error.as_ref().unwrap(),
                    values.std_error.as_ref().unwrap(),
                    "errors",
                );
                assert_same_bits(&found.1.value, &left_out.value, "left out");
                assert_same_bits(&found.2, &set, "a set");
            }
            let mut builder = DensityBuilder::new(2);
            for start in (0..20_000).step_by(777) {
                builder.push(rows.as_ref().subrows(start, 777.min(20_000 - start))).unwrap();
            }
            let valuer =
                DensityValuer::new(builder.finish(options).unwrap(), 500, DensityMethod::Closed).unwrap();
            for chunk in [1, 3, 64, 100] {
                let mut found = Vec::new();
                for start in (0..131).step_by(chunk) {
                    let points = points.as_ref().subrows(start, chunk.min(131 - start));
                    found.extend(valuer.values_from(points, 0).unwrap().value);
                }
                assert_same_bits(&found, &values.value, "chunks");
            }
        }
    }
}

/// The documented bound is `Σ̃ ≤ Σ ≤ (1 + 1e-12) Σ̃` for both sums, apart from rounding:
/// sums of 30 000 terms in another order, and exponents of some 100, are worth 3e-14.
#[test]
fn the_tree_keeps_its_promise_and_the_ranks() {
    for (kernel, dim, h) in [
        (Kernel::Gaussian, 1, 0.01),
        (Kernel::Gaussian, 2, 0.1),
        (Kernel::Gaussian, 4, 0.2),
        (Kernel::Uniform, 2, 0.3),
        (Kernel::Epanechnikov, 3, 0.5),
        (Kernel::Triangular, 1, 0.05),
    ] {
        let rows = normal_rows(11, 30_000, dim);
        // Some points far outside, where only the nearest rows matter.
        let mut points = normal_rows(12, 60, dim);
        for i in 0..10 {
            points[(i, 0)] += 2.0 * i as f64;
        }
        let with = |search| {
            let valuer = valuer(&rows, DensityOptions { search, ..given(kernel, h) }, 30_000);
            assert_eq!(valuer.fit().has_tree(), search == Search::Tree);
            valuer.values_from(points.as_ref(), 0).unwrap()
        };
        let (all, tree) = (with(Search::All), with(Search::Tree));
        let tolerance = TREE_TOLERANCE + 3e-14;
        for i in 0..60 {
            let (all, tree) = (part(&all, Part::LogDensity)[i], part(&tree, Part::LogDensity)[i]);
            // A difference of logs is a relative difference; large logs have their own rounding.
            let rounding = 4.0 * f64::EPSILON * all.abs();
            assert!(
                all == tree || (all - tree).abs() < tolerance + rounding,
                "{kernel:?} {dim} {i}: {all} {tree}"
            );
            let short = all - tree;
            assert!(
                all == tree || short > -3e-14 - rounding,
                "{kernel:?} {dim} {i}: the tree counts what is not there"
            );
        }
        // Both sums of a value, where the convolution's is recovered from the kernel's.
        let weights = dshap::density::SizeWeights::new(1, 30_000).unwrap();
        for i in 0..60 {
            let plain = (2.0 * weights.own + weights.joint) * part(&all, Part::LogDensity)[i].exp();
            let (all, tree) = (part(&all, Part::Relative)[i], part(&tree, Part::Relative)[i]);
            let scale = plain + (plain - all).abs();
            assert!((all - tree).abs() <= 2.0 * tolerance * scale, "{kernel:?} {dim} {i}: {all:e} {tree:e}");
        }
        assert_eq!(all.ranking(), tree.ranking(), "{kernel:?} {dim}");
    }
}

#[test]
fn the_tree_is_taken_where_it_wins() {
    let has_tree = |n: usize, dim: usize, h: f64| {
        let options = DensityOptions { search: Search::Auto, ..given(Kernel::Gaussian, h) };
        fit(&normal_rows(13, n, dim), options).has_tree()
    };
    assert!(has_tree(20_000, 1, 0.01));
    assert!(has_tree(20_000, 2, 0.03));
    assert!(!has_tree(20_000, 2, 3.0), "every row matters");
    assert!(!has_tree(20_000, 9, 0.5), "too many columns");
    assert!(!has_tree(1000, 1, 0.01), "too few rows");
}

/// Values of sets against sums written out, members in and out of the reference.
#[test]
fn sets_are_what_adding_up_term_after_term_gives() {
    let (m, h) = (60, 0.7);
    for kernel in Kernel::ALL {
        let h = if kernel == Kernel::Gaussian { h } else { 2.5 };
        let rows = normal_rows(14, 200, 2);
        let fit = fit(&rows, given(kernel, h));
        let sets = SetValuer::new(&fit, PairIntegrals::of(&fit, 500, 0).unwrap(), m, 0.1).unwrap();
        let chosen: Vec<usize> = (0..200).step_by(3).collect();
        let members = Mat::from_fn(chosen.len(), 2, |i, j| rows[(chosen[i], j)]);
        let found = sets.left_out(&chosen).unwrap();
        let weights = dshap::density::SizeWeights::new(chosen.len(), m).unwrap();
        let (a, b, n) = (weights.own, weights.joint, chosen.len() as f64);
        let pair = |i: usize, l: usize| {
            density::log_kernels(kernel, h, rows.as_ref(), i, rows.as_ref(), l).map(f64::exp)
        };
        let within: f64 =
            chosen.iter().flat_map(|&i| chosen.iter().map(move |&l| pair(i, l)[1])).sum::<f64>() / (n * n);
        let others: Vec<usize> = (0..200).filter(|row| row % 3 != 0).collect();
        let psi: Vec<f64> = others
            .iter()
            .map(|&b_row| {
                let sum = |of: usize| chosen.iter().map(|&i| pair(i, b_row)[of]).sum::<f64>() / n;
                (2.0 * a + b) * sum(0) - b * sum(1)
            })
            .collect();
        let mean = psi.iter().sum::<f64>() / others.len() as f64;
        let var = psi.iter().map(|p| (p - mean).powi(2)).sum::<f64>() / (others.len() - 1) as f64;
        let expected = mean - a * within;
        assert!((found.without_constant - expected).abs() < 1e-14, "{kernel:?}: {found:?} {expected:e}");
        assert_close(found.std_error, (var / others.len() as f64).sqrt(), 1e-10);

        // Against a reference without those rows the same set has the same value.
        let apart = Mat::from_fn(others.len(), 2, |i, j| rows[(others[i], j)]);
        let apart = density::fit(&apart, given(kernel, h));
        let sets = SetValuer::new(&apart, PairIntegrals::of(&fit, 500, 0).unwrap(), m, 0.1).unwrap();
        let again = sets.value(members.as_ref()).unwrap();
        assert_close(again.value, found.value, 1e-12);

        // Members one by one, added up.
        let singles: f64 =
            (0..members.nrows()).map(|i| sets.value(members.as_ref().subrows(i, 1)).unwrap().value).sum();
        assert_close(again.sum_of_members, singles, 1e-12);

        let (first, second) = (members.as_ref().subrows(0, 10), members.as_ref().subrows(10, 20));
        let synergy = sets.synergy(first, second).unwrap();
        assert_eq!(synergy.union, sets.value(members.as_ref().subrows(0, 30)).unwrap());
        assert_eq!(synergy.first, sets.value(first).unwrap());
        assert_eq!(synergy.synergy, synergy.union.value - synergy.first.value - synergy.second.value);
    }
}

/// Algorithm 5 draws two of the integrals: unbiased, and each row has its own stream.
/// False alarms: 6e-7 per comparison. Power: without the convolution's draws (as if it
/// were the kernel) it is more than 10 standard errors away.
#[test]
fn algorithm_5_is_unbiased() {
    let (rows, point) = (normal_rows(15, 50, 2), normal_rows(16, 1, 2));
    for kernel in Kernel::ALL {
        let h = if kernel == Kernel::Gaussian { 0.6 } else { 1.9 };
        let exact = valuer(&rows, given(kernel, h), 40);
        let values = exact.values_from(point.as_ref(), 0).unwrap();
        let drawn = |seed, first_row| {
            let method = DensityMethod::Algorithm5(Algorithm5 { seed });
            DensityValuer::new(fit(&rows, given(kernel, h)), 40, method)
                .unwrap()
                .values_from(point.as_ref(), first_row)
                .unwrap()
                .value[0]
        };
        let mut estimate = MeanEstimate::default();
        (0..4000).for_each(|seed| estimate.push(drawn(seed, 0)));
        estimate.assert_agrees(values.value[0], &format!("{kernel:?}"));
        let plain = plain_value(kernel, h, 40, &point, 0, &rows, None);
        let density = plain.log_density.exp();
        estimate.assert_rejects(
            exact.constant() + 2.0 * exact.weights().own * density,
            10.0,
            &format!("{kernel:?}"),
        );
        assert_eq!(drawn(3, 5).to_bits(), drawn(3, 5).to_bits());
        // The uniform kernel counts draws, and counts may be equal.
        assert!(kernel == Kernel::Uniform || drawn(3, 5) != drawn(3, 6), "{kernel:?}");
    }
}

/// The same for sets, met and left out. Power: if members were drawn once for all, or the
/// square of the estimate were left out, means would be tens of standard errors away.
#[test]
fn algorithm_5_of_sets_is_unbiased() {
    let (rows, members) = (normal_rows(21, 50, 2), normal_rows(22, 4, 2));
    for kernel in [Kernel::Gaussian, Kernel::Epanechnikov] {
        let fit = fit(&rows, given(kernel, if kernel == Kernel::Gaussian { 0.6 } else { 1.9 }));
        let integrals = PairIntegrals::of(&fit, 50, 0).unwrap();
        let valuer = || SetValuer::new(&fit, integrals, 40, 0.0).unwrap();
        let drawn = |seed| valuer().by_drawing(Algorithm5 { seed });
        let (mut met, mut left_out) = (MeanEstimate::default(), MeanEstimate::default());
        for seed in 0..4000 {
            met.push(drawn(seed).value(members.as_ref()).unwrap().value);
            left_out.push(drawn(seed).left_out(&[3, 7, 8]).unwrap().value);
        }
        let exact = valuer().value(members.as_ref()).unwrap();
        met.assert_agrees(exact.value, &format!("{kernel:?}"));
        left_out
            .assert_agrees(valuer().left_out(&[3, 7, 8]).unwrap().value, &format!("{kernel:?}, left out"));
        // Without the squares of the kernels of members with themselves.
        met.assert_rejects(
            exact.value + (exact.relative - exact.without_constant),
            10.0,
            &format!("{kernel:?}"),
        );
        assert!(drawn(1).value(members.as_ref()).unwrap().std_error.is_nan());
        let numbered = |number| drawn(1).numbered(members.as_ref(), number).unwrap().value;
        assert_ne!(numbered(0).to_bits(), numbered(1).to_bits());
    }
}

/// The curve against held-out densities written out, for both criteria.
#[test]
fn cross_validation_is_what_leaving_folds_out_gives() {
    let n = 53;
    let rows = normal_rows(17, n, 2);
    for kernel in [Kernel::Gaussian, Kernel::Triangular] {
        let options = DensityOptions { bandwidth: Bandwidth::CrossValidated, ..given(kernel, 1.0) };
        let fit = DensityFit::of(rows.as_ref(), options).unwrap();
        let grid = [-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0].map(|power| 10.0_f64.powf(power));
        let of_grid = DensityOptions { bandwidth: Bandwidth::Grid, ..options };
        let of_grid = DensityFit::of(rows.as_ref(), of_grid).unwrap();
        assert_eq!((of_grid.curve().len(), fit.curve().len()), (7, 13));
        of_grid.curve().iter().zip(grid).for_each(|(trial, h)| assert_close(trial.bandwidth, h, 1e-15));
        assert!(of_grid.curve().iter().all(|trial| fit.curve().contains(trial)));
        for trial in fit.curve() {
            let h = trial.bandwidth;
            let pair =
                |i: usize, b: usize| density::log_kernels(kernel, h, rows.as_ref(), i, rows.as_ref(), b);
            let mut score = 0.0;
            for fold in 0..5 {
                let inside: Vec<usize> = (0..n).filter(|row| row % 5 == fold).collect();
                let outside: Vec<usize> = (0..n).filter(|row| row % 5 != fold).collect();
                let n_out = outside.len() as f64;
                for &i in &inside {
                    let most = outside.iter().map(|&b| pair(i, b)[0]).fold(f64::NEG_INFINITY, f64::max);
                    let shift = if most.is_finite() { most } else { 0.0 };
                    let sum: f64 = outside.iter().map(|&b| (pair(i, b)[0] - shift).exp()).sum();
                    score += match kernel {
                        Kernel::Gaussian => shift + (sum / n_out).ln(),
                        _ => 2.0 * shift.exp() * sum / n_out,
                    } / n as f64;
                }
                if kernel != Kernel::Gaussian {
                    let square: f64 =
                        outside.iter().flat_map(|&i| outside.iter().map(move |&b| pair(i, b)[1].exp())).sum();
                    score -= square / (n_out * n_out) * inside.len() as f64 / n as f64;
                }
            }
            assert!(
                (trial.score - score).abs() < 1e-12 * score.abs().max(1.0),
                "{kernel:?} {h}: {} {score}",
                trial.score
            );
        }
        let best = fit.curve().iter().max_by(|a, b| a.score.total_cmp(&b.score)).unwrap();
        assert_eq!(fit.bandwidth(), best.bandwidth);
    }
}

#[test]
fn rules_of_thumb_are_as_written() {
    let rows = normal_rows(18, 200, 3);
    let bandwidth =
        |bandwidth| fit(&rows, DensityOptions { bandwidth, ..given(Kernel::Gaussian, 1.0) }).bandwidth();
    assert_close(bandwidth(Bandwidth::Scott), 200.0_f64.powf(-1.0 / 7.0), 1e-15);
    assert_close(bandwidth(Bandwidth::Silverman), (200.0_f64 * 5.0 / 4.0).powf(-1.0 / 7.0), 1e-15);
}
