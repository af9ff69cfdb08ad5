//! Theorem 5 and Examples 1 and 2 against tables with 22 digits.

use crate::common::density;

use density::{fit, given, valuer};
use dshap::density::{Border, Kernel, PairIntegrals, SetValuer, SizeWeights, UniformExample};
use dshap_testkit::{Case, assert_close, cases, cases_under, normal_density, relative_error};
use faer::Mat;

fn matrix(case: &Case, name: &str) -> Mat<f64> {
    let rows = case.matrix(name);
    Mat::from_fn(rows.len(), rows[0].len(), |i, j| rows[i][j])
}

fn kernel(case: &Case) -> Kernel {
    let name = case.text("kernel");
    Kernel::ALL.into_iter().find(|kernel| kernel.name() == name).expect("the table has known kernels only")
}

/// Nothing cancels in any of the three, for n and m from 1 to 1e7 and beyond.
#[test]
fn weights_of_set_sizes_hold_fourteen_digits() {
    let mut worst: f64 = 0.0;
    for case in cases("size_weights.json") {
        let weights = SizeWeights::new(case.count("n"), case.count("m")).unwrap();
        for (name, found) in [("A", weights.own), ("B", weights.joint), ("D", weights.spread)] {
            let error = relative_error(found, case.number(name));
            assert!(error < 1e-14, "{name} of {case:?}: found {found:e}, error {error:.1e}");
            worst = worst.max(error);
        }
    }
    println!("largest relative error {worst:.1e}");
}

/// Values are differences, so errors are measured against the largest part. Cells and
/// bandwidths are doubles, used exactly by the table.
#[test]
fn values_of_points_and_sets_match_the_table() {
    let mut kernels = Vec::new();
    for case in cases("reference/kde_reference_sample.json") {
        let (rows, members, m) = (matrix(&case, "reference"), matrix(&case, "S_star"), case.count("m"));
        let options = given(kernel(&case), case.number("h"));
        let fit = fit(&rows, options);
        let integrals = PairIntegrals::of(&fit, 100, 0).unwrap();
        let found = SetValuer::new(&fit, integrals, m, 0.0).unwrap().value(members.as_ref()).unwrap();
        let (a, b) = (case.number("A"), case.number("B"));
        let parts = [
            a * case.number("int_phat2"),
            (2.0 * a + b) * case.number("mean_phat_at_reference"),
            b * case.number("mean_kconvk"),
        ];
        let scale = parts.into_iter().fold(0.0, f64::max);
        let error = (found.without_constant - case.number("nu")).abs() / scale;
        assert!(error < 4e-15, "{case:?}: found {found:?}, error {error:.1e}");
        let relative = case.number("nu")
            + a * fit.kernel().log_convolved_peak(fit.bandwidth(), fit.dim()).exp() / members.nrows() as f64;
        assert!((found.relative - relative).abs() < 1e-14 * scale, "{case:?}: {found:?}");
        if members.nrows() == 1 {
            let values = valuer(&rows, options, m).values_from(members.as_ref(), 0).unwrap();
            assert!((values.value[0] - case.number("nu")).abs() < 4e-15 * scale, "{case:?}: {values:?}");
            // A set of one row has the value of that row.
            assert_close(found.sum_of_members, found.value, 1e-13);
        }
        kernels.push(kernel(&case));
    }
    assert!(Kernel::ALL.iter().all(|kernel| kernels.contains(kernel)), "{kernels:?}");
}

/// With every integral known, the value of Eq. 3 itself.
#[test]
fn values_of_a_known_density_match_the_definition() {
    for case in cases("reference/kde_population.json") {
        let (h2, members) = (case.number("h").powi(2), case.list("S_star"));
        let n = members.len() as f64;
        let weights = SizeWeights::new(members.len(), case.count("m")).unwrap();
        let integrals = PairIntegrals {
            cross: normal_density(0.0, 2.0 + h2),
            smoothed_square: normal_density(0.0, 2.0 + 2.0 * h2),
            kernel_square: normal_density(0.0, 2.0 * h2),
        };
        let mean = |var: f64| members.iter().map(|&z| normal_density(z, var)).sum::<f64>() / n;
        let (plain, convolved) = (mean(1.0 + h2), mean(1.0 + 2.0 * h2));
        let within: f64 = members
            .iter()
            .flat_map(|x| members.iter().map(move |y| normal_density(x - y, 2.0 * h2)))
            .sum::<f64>()
            / (n * n);
        let value = -weights.own * (within - 2.0 * plain)
            + weights.joint * (plain - convolved)
            + integrals.constant(weights, case.number("C_den") - normal_density(0.0, 2.0));
        let scale = weights.own * within;
        assert!((value - case.number("nu")).abs() < 1e-14 * scale, "{case:?}: found {value:e}");
    }
}

#[test]
fn examples_1_and_2_match_the_table() {
    for case in cases("reference/examples_1_2.json") {
        let example = |border| {
            UniformExample::new(case.number("h"), case.count("m"), case.number("C_den"), border).unwrap()
        };
        let (z1, z2) = (case.number("z1"), case.number("z2"));
        let (printed, exact) = (example(Border::Printed), example(Border::Exact));
        for (found, name) in [
            (printed.pair(z1, z2), "nu_set_printed"),
            (exact.pair(z1, z2), "nu_set_exact"),
            (printed.point(z1), "nu_point1_printed"),
            (exact.point(z1), "nu_point1_exact"),
            (exact.point(z2), "nu_point2_exact"),
        ] {
            // Of terms of size 1/h/10 at most.
            let error = (found.clone().unwrap() - case.number(name)).abs() * case.number("h");
            assert!(error < 2e-15, "{name} of {case:?}: found {found:?}, error {error:.1e}");
        }
    }
}

#[test]
fn synergy_thresholds_match_the_table() {
    for case in cases_under("reference/examples_1_2.json", "synergy_thresholds") {
        let h = case.number("h");
        let example = UniformExample::new(h, case.count("m"), case.number("C_den"), Border::Exact).unwrap();
        // The threshold is a ratio of differences: h times some tens of roundings.
        assert_close(example.threshold().unwrap(), case.number("threshold_domain_01_g0"), 1e-12);
        let near = example.threshold_near(h / 2.0, h / 2.0).unwrap().unwrap();
        assert_close(near, case.number("threshold_domain_01_both_points_at_h_over_2_from_border"), 1e-12);
    }
}

/// At the threshold two points have the same value together and apart.
#[test]
fn pairs_beyond_the_threshold_have_synergy_and_others_have_not() {
    for (h, c_den) in [(0.05, 0.2), (0.2, 0.2), (0.35, 0.2), (0.2, 1.5)] {
        let example = UniformExample::new(h, 37, c_den, Border::Exact).unwrap();
        let synergy = |distance: f64| {
            let (z1, z2) = (h, h + distance);
            example.pair(z1, z2).unwrap() - example.point(z1).unwrap() - example.point(z2).unwrap()
        };
        match example.threshold() {
            Some(threshold) => {
                assert!(synergy(threshold + 1e-9) > 0.0 && synergy(threshold - 1e-9) < 0.0, "{h} {c_den}");
                assert!(synergy(threshold).abs() < 1e-13);
            }
            None => assert!(synergy(h.min(1.0 - 2.0 * h)) < 0.0, "{h} {c_den}"),
        }
    }
}

/// The exact probability against counting pairs on a grid: cells that the border of
/// the region cuts are a share of about 4/grid.
#[test]
fn probabilities_of_synergy_are_areas() {
    for h in [0.1, 0.25, 0.4] {
        for border in [Border::Printed, Border::Exact] {
            let example = UniformExample::new(h, 100, 0.2, border).unwrap();
            let low = if border == Border::Printed { h } else { h / 2.0 };
            let grid = 1000;
            let at = |i: usize| low + (1.0 - 2.0 * low) * (i as f64 + 0.5) / grid as f64;
            let points: Vec<f64> = (0..grid).map(|i| example.point(at(i)).unwrap()).collect();
            let mut count = 0;
            for i in 0..grid {
                for l in 0..grid {
                    count += usize::from(example.pair(at(i), at(l)).unwrap() >= points[i] + points[l]);
                }
            }
            let share = count as f64 / (grid * grid) as f64;
            let found = example.synergy_probability();
            assert!((found - share).abs() < 4e-3, "{h} {border:?}: {found} against {share}");
        }
    }
}

/// With m = 1 a set joins the empty set, so borders do not matter and areas are squares.
#[test]
fn probabilities_of_synergy_are_exact_where_they_are_known() {
    let cases = [0.1, 0.2, 0.25, 0.35, 0.5].map(|h| [(h, 0.2), (h, 5.0)]);
    for (h, c_den) in cases.into_iter().flatten() {
        let example = UniformExample::new(h, 1, c_den, Border::Exact).unwrap();
        // Infinitely far, if there is no such distance.
        let threshold = example.threshold().unwrap_or(f64::INFINITY);
        let expected = (1.0 - threshold / (1.0 - h)).max(0.0).powi(2);
        let found = example.synergy_probability();
        assert!((found - expected).abs() < 1e-11 && found <= 1.0, "{h}: {found} against {expected}");
        let printed = UniformExample::new(h, 1, c_den, Border::Printed).unwrap().synergy_probability();
        let room = 1.0 - 2.0 * h;
        let expected = if threshold == 0.0 { 1.0 } else { (1.0 - threshold / room).max(0.0).powi(2) };
        assert_close(printed, expected, 1e-14);
    }
}
