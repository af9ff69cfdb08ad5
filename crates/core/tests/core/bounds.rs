//! Theorem 3: tables, identities, and that the bounds hold.

use crate::common::{CENTRED, Data, cases as property_cases, fit};
use dshap::linear::{
    Bound, BoundForm, Convention, GaussianForm, LinearMethod, LinearValuer, PointStats, Side,
};
use dshap::{Sizes, Valuer, Warning};
use dshap_testkit::{Case, Draws, Sample, cases, relative_error};
use faer::Mat;
use faer::prelude::Solve;
use proptest::prelude::*;

fn stats(case: &Case) -> PointStats {
    PointStats { dist_sq: case.number("d2"), resid_sq: case.number("e2"), noise_var: case.number("sigma2") }
}

fn form(case: &Case, side: Side, convention: Convention) -> BoundForm {
    let sizes = Sizes::new(case.count("q"), case.count("m"));
    let bound = Bound {
        tail: case.number("c"),
        edge: case.number("C"),
        ridge: case.number("gamma"),
        ..Bound::new(side, convention)
    };
    let lambda = (case.number("lambda_min_SigmaInv"), case.number("lambda_max_SigmaInv"));
    BoundForm::new(case.count("p"), sizes, bound, lambda).unwrap()
}

#[test]
fn bounds_match_the_table() {
    let mut n_checked = 0;
    for case in cases("reference/bounds.json") {
        for (side, name) in [(Side::Lower, "lower"), (Side::Upper, "upper")] {
            for (convention, table) in
                [(Convention::Definition, "valid_joint"), (Convention::Authors, "authors")]
            {
                let Some(expected) = case.optional(&format!("{table}/{name}")) else { continue };
                let found = form(&case, side, convention).value(stats(&case));
                if expected.is_infinite() {
                    assert_eq!(found, expected, "{table} {name} of {case:?}");
                } else {
                    // Terms of both signs: the sum may be small compared with them.
                    let error = relative_error(found, expected);
                    assert!(error < 1e-10, "{table} {name} of {case:?}: {found:e}, error {error:.1e}");
                }
                n_checked += 1;
            }
        }
    }
    assert!(n_checked >= 50, "{n_checked} numbers");
}

/// One set at a time, from first principles: the largest and smallest gain over all
/// positions of the eigenvalues in `[L, U]`, found by trying many.
fn tried(row: PointStats, low: f64, high: f64) -> (f64, f64) {
    let PointStats { dist_sq: a, resid_sq: e2, noise_var: sigma2 } = row;
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    // Weights of the row's position on the ends; ℓ = Σ aᵢlᵢ and Q = Σ aᵢlᵢ².
    for k in 0..=2000 {
        let share = f64::from(k) / 2000.0;
        let l = a * ((1.0 - share) * low + share * high);
        let q = a * ((1.0 - share) * low * low + share * high * high);
        let gain = q * ((2.0 + l) * sigma2 - e2) / (1.0 + l).powi(2);
        (least, most) = (least.min(gain), most.max(gain));
    }
    for k in 0..=2000 {
        let l = low + (high - low) * f64::from(k) / 2000.0;
        let gain = a * l * l * ((2.0 + a * l) * sigma2 - e2) / (1.0 + a * l).powi(2);
        (least, most) = (least.min(gain), most.max(gain));
    }
    (least, most)
}

proptest! {
    #![proptest_config(property_cases(200))]

    /// A sum of one set size is the extreme over everything tried.
    #[test]
    fn one_size_is_the_extreme_of_all_positions(
        p in 1..12_usize,
        log_a in -3.0..4.0_f64,
        log_e2 in -3.0..4.0_f64,
        extra in 0..200_usize,
    ) {
        let row = PointStats { dist_sq: log_a.exp(), resid_sq: log_e2.exp(), noise_var: 0.8 };
        let bound = |side| Bound::new(side, Convention::Definition);
        let m = 500;
        let j = bound(Side::Lower).first_size(p, m) + extra;
        prop_assume!(j < m);
        let sizes = Sizes::new(j + 1, j + 1);
        let value = |side| BoundForm::new(p, sizes, bound(side), (1.0, 1.0)).unwrap().value(row);
        // The sum is divided by its own m = j + 1 here, which also enters δ.
        let size = (j + 1) as f64;
        let t = ((j as f64 * size.sqrt()).ln() / 0.5).sqrt();
        let delta = ((p as f64).sqrt() + t) / (j as f64).sqrt();
        prop_assume!(delta < 0.999);
        let (low, high) = (1.0 / (j as f64 * (1.0 + delta).powi(2)), 1.0 / (j as f64 * (1.0 - delta).powi(2)));
        let (least, most) = tried(row, low, high);
        let scale = least.abs().max(most.abs());
        prop_assert!(value(Side::Upper) * size >= most - 1e-12 * scale);
        prop_assert!(value(Side::Lower) * size <= least + 1e-12 * scale);
        // And no wider than necessary.
        prop_assert!(value(Side::Upper) * size <= most + 1e-4 * scale, "{} {most}", value(Side::Upper) * size);
        prop_assert!(value(Side::Lower) * size >= least - 1e-3 * scale, "{} {least}", value(Side::Lower) * size);
    }

    /// Adaptive sums against adding up, through every change of formula.
    #[test]
    fn sums_are_those_of_single_sizes(
        p in 1..20_usize,
        log_a in -4.0..6.0_f64,
        log_e2 in -4.0..6.0_f64,
        ridge in prop_oneof![Just(0.0), 0.01..50.0_f64],
        start in 2..300_usize,
        convention in prop_oneof![
            Just(Convention::Definition),
            Just(Convention::Printed),
            Just(Convention::Authors),
        ],
    ) {
        let row = PointStats { dist_sq: log_a.exp(), resid_sq: log_e2.exp(), noise_var: 1.3 };
        let m = 2500;
        for side in [Side::Lower, Side::Upper] {
            let bound = Bound { ridge, ..Bound::new(side, convention) };
            let whole = BoundForm::new(p, Sizes::new(start, m), bound, (0.5, 2.0)).unwrap().value(row);
            // A rule of a single size has no blocks; its m must be the same.
            let halves = [(start, 1000.max(start)), (1000.max(start) + 1, m)];
            let parts: f64 = halves
                .iter()
                .map(|&(from, to)| plain(p, from, to, m, bound, row))
                .sum();
            if whole.is_finite() {
                let scale: f64 = halves.iter().map(|&(f, t)| plain_abs(p, f, t, m, bound, row)).sum();
                prop_assert!((whole - parts).abs() <= 1e-11 * scale, "{side:?}: {whole} and {parts}, of {scale}");
            } else {
                prop_assert_eq!(whole, parts);
            }
        }
    }
}

/// Terms one by one, each from a rule that ends with it and one that ends before.
fn plain(p: usize, from: usize, to: usize, m: usize, bound: Bound, row: PointStats) -> f64 {
    terms(p, from, to, m, bound, row).iter().sum()
}

fn plain_abs(p: usize, from: usize, to: usize, m: usize, bound: Bound, row: PointStats) -> f64 {
    terms(p, from, to, m, bound, row).iter().map(|term| term.abs()).sum()
}

fn terms(p: usize, from: usize, to: usize, m: usize, bound: Bound, row: PointStats) -> Vec<f64> {
    (from..=to).map(|size| textbook_term(p, size - 1, m, bound, row) / m as f64).collect()
}

/// MATH.md §4, line by line.
fn textbook_term(p: usize, j: usize, m: usize, bound: Bound, row: PointStats) -> f64 {
    let (j, m) = (j as f64, m as f64);
    let PointStats { dist_sq: a, resid_sq: e2, noise_var: sigma2 } = row;
    let t = match bound.convention {
        Convention::Printed => ((j * m).ln() / (2.0 * bound.tail)).sqrt(),
        _ => ((j * m.sqrt()).ln() / bound.tail).sqrt(),
    };
    let delta = (bound.edge * (p as f64).sqrt() + t) / j.sqrt();
    let printed = bound.convention != Convention::Definition;
    let (lambda_min, lambda_max) = (0.5, 2.0);
    let room = if printed { (1.0 - delta).powi(2) } else { (1.0 - delta).max(0.0).powi(2) };
    let l = 1.0 / (j * (1.0 + delta).powi(2) + bound.ridge * lambda_max);
    let u = 1.0 / (j * room + bound.ridge * lambda_min);
    if printed {
        let r = ((1.0 + a * l) / (1.0 + a * u)).powi(2);
        return match bound.side {
            Side::Lower => a * l * l / (1.0 + a * u).powi(2) * ((2.0 + a * l) * sigma2 - e2 / r),
            Side::Upper => a * u * u / (1.0 + a * l).powi(2) * ((2.0 + a * u) * sigma2 - r * e2),
        };
    }
    let g = |x: f64| a * x * x * ((2.0 + a * x) * sigma2 - e2) / (1.0 + a * x).powi(2);
    if u.is_infinite() {
        return if bound.side == Side::Lower { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    if bound.side == Side::Upper {
        return g(l).max(g(u));
    }
    let c = l + u + a * l * u;
    let v = 2.0 * c * (e2 - sigma2) / (sigma2 * a * l * u + e2 * (l + u));
    let mixed = sigma2 * (l + u - a * l * u / v - c / (v * v)) - e2 * ((l + u) * v - c) / (v * v);
    let inside = 1.0 + a * l < v && v < 1.0 + a * u && (1.0 + v) * sigma2 < e2;
    g(l).min(g(u)).min(if inside { mixed } else { f64::INFINITY })
}

/// On the event that the eigenvalues of a drawn set lie in the stated interval, the gain
/// lies between the bounds: always, not on average. The printed bounds fail.
#[test]
fn every_draw_on_the_event_lies_between_the_bounds() {
    let (p, m) = (4, 400);
    let mut draws = Draws::new(31);
    let (mut n_on_event, mut n_printed_wrong) = (0, 0);
    for draw in 0..400 {
        let j = 150 + draw % 200;
        let x = Mat::from_fn(j, p, |_, _| draws.normal());
        let point = Mat::from_fn(p, 1, |_, _| 1.5 * draws.normal());
        let gram = x.transpose() * &x;
        let inverse = gram.as_ref().partial_piv_lu().solve(Mat::<f64>::identity(p, p));
        let eigenvalues = inverse.self_adjoint_eigenvalues(faer::Side::Lower).unwrap();
        let spread = &inverse * &point;
        let ell = (point.transpose() * &spread)[(0, 0)];
        let quad = (spread.transpose() * &spread)[(0, 0)];
        let a = (point.transpose() * &point)[(0, 0)];
        for e2 in [0.0, 1.0, 4.0, 30.0] {
            let sigma2 = 1.0;
            let gain = quad * ((2.0 + ell) * sigma2 - e2) / (1.0 + ell).powi(2);
            let row = PointStats { dist_sq: a, resid_sq: e2, noise_var: sigma2 };
            let bound = |side, convention| textbook_term(p, j, m, Bound::new(side, convention), row);
            let delta =
                ((p as f64).sqrt() + ((j as f64 * (m as f64).sqrt()).ln() / 0.5).sqrt()) / (j as f64).sqrt();
            let (low, high) =
                (1.0 / (j as f64 * (1.0 + delta).powi(2)), 1.0 / (j as f64 * (1.0 - delta).powi(2)));
            if eigenvalues.iter().any(|&value| value < low || value > high) {
                continue;
            }
            n_on_event += 1;
            let (lower, upper) =
                (bound(Side::Lower, Convention::Definition), bound(Side::Upper, Convention::Definition));
            assert!(lower <= gain && gain <= upper, "draw {draw}, e² = {e2}: {lower} ≤ {gain} ≤ {upper}");
            let printed = (bound(Side::Lower, Convention::Printed), bound(Side::Upper, Convention::Printed));
            n_printed_wrong += usize::from(gain < printed.0 || gain > printed.1);
        }
    }
    assert!(n_on_event > 1500, "{n_on_event} on the event");
    assert!(n_printed_wrong > 50, "the printed bounds failed only {n_printed_wrong} times");
}

/// The exact value of Gaussian inputs lies between, and narrowing `c` is wider.
#[test]
fn exact_values_lie_between() {
    let (p, q, m) = (5, 120, 2000);
    let exact = GaussianForm::new(p, Sizes::new(q, m), Default::default(), Convention::Definition).unwrap();
    for (a, e2) in [(0.3, 0.1), (5.0, 1.0), (5.0, 20.0), (40.0, 2.0)] {
        let row = PointStats { dist_sq: a, resid_sq: e2, noise_var: 1.0 };
        let bound = |side, tail| {
            let bound = Bound { tail, ..Bound::new(side, Convention::Definition) };
            BoundForm::new(p, Sizes::new(q, m), bound, (1.0, 1.0)).unwrap().value(row)
        };
        let value = exact.value(row).value;
        assert!(bound(Side::Lower, 0.5) <= value && value <= bound(Side::Upper, 0.5), "a = {a}, e² = {e2}");
        assert!(bound(Side::Lower, 0.5) <= bound(Side::Lower, 1.0));
        assert!(bound(Side::Upper, 0.5) >= bound(Side::Upper, 1.0));
    }
}

#[test]
fn the_first_size_is_where_delta_falls_below_one() {
    for (p, m) in [(1, 20), (3, 100), (10, 1000), (100, 1_000_000)] {
        let bound = Bound::new(Side::Lower, Convention::Definition);
        let first = bound.first_size(p, m);
        let delta = |j: usize| {
            let t = ((j as f64 * (m as f64).sqrt()).ln() / 0.5).max(0.0).sqrt();
            ((p as f64).sqrt() + t) / (j as f64).sqrt()
        };
        assert!(delta(first) < 1.0 && delta(first - 1) >= 1.0, "p = {p}, m = {m}: {first}");
    }
}

#[test]
fn a_valuer_bounds_rows_and_warns() {
    let sample = Sample::gaussian(12, 500, 3, 1.0);
    let data = Data::of(&sample);
    let value = |method, q| {
        let valuer = LinearValuer::new(fit(&sample, CENTRED), Sizes::new(q, 500), method).unwrap();
        (valuer.values(data.rows()).unwrap(), valuer.warnings())
    };
    let bound = |side| LinearMethod::Bound(Bound::new(side, Convention::Definition));
    let (exact, _) = value(LinearMethod::default(), 60);
    let (lower, said) = value(bound(Side::Lower), 60);
    let (upper, _) = value(bound(Side::Upper), 60);
    assert!(said.is_empty(), "{said:?}");
    for row in 0..500 {
        assert!(lower.value[row] <= exact.value[row] && exact.value[row] <= upper.value[row]);
    }
    let (silent, said) = value(bound(Side::Upper), 10);
    assert!(silent.value.iter().all(|value| *value == f64::INFINITY));
    assert!(matches!(said[..], [Warning::SilentBound { first: 11.. }]), "{said:?}");
    let ridge = Bound { ridge: 3.0, ..Bound::new(Side::Upper, Convention::Definition) };
    let (penalised, said) = value(LinearMethod::Bound(ridge), 10);
    assert!(penalised.value.iter().all(|value| value.is_finite()));
    assert_eq!(said[0], Warning::BoundWithRidge);
}

/// Eigenvalues of Σ⁻¹ in the units of the features.
#[test]
fn the_precision_has_the_units_of_the_features() {
    let mut sample = Sample::gaussian(13, 400, 2, 1.0);
    let plain = fit(&sample, CENTRED).precision_range();
    sample.columns.iter_mut().for_each(|column| column.iter_mut().for_each(|cell| *cell *= 10.0));
    let scaled = fit(&sample, CENTRED).precision_range();
    assert!(relative_error(scaled.0, plain.0 / 100.0) < 1e-12);
    assert!(relative_error(scaled.1, plain.1 / 100.0) < 1e-12);
    assert!(plain.0 > 0.7 && plain.0 <= plain.1 && plain.1 < 1.4, "{plain:?}");
}

/// Worked by hand (in another language) from the page: the statement has log(jm)/(2c), the
/// authors' program log(j√m)/c.
#[test]
fn the_letter_of_the_paper_is_not_what_its_program_does() {
    let row = PointStats { dist_sq: 12.0, resid_sq: 2.0, noise_var: 1.0 };
    let value = |side, convention| {
        let bound = Bound::new(side, convention);
        BoundForm::new(10, Sizes::new(80, 1000), bound, (1.0, 1.0)).unwrap().value(row)
    };
    for (side, convention, expected) in [
        (Side::Upper, Convention::Printed, 0.003_492_791_310_427_048),
        (Side::Upper, Convention::Authors, 0.006_385_424_998_944_748),
        (Side::Lower, Convention::Printed, -1.739_631_789_619_694_6e-5),
        (Side::Lower, Convention::Authors, -1.775_996_172_300_755_3e-5),
    ] {
        let found = value(side, convention);
        assert!(relative_error(found, expected) < 1e-10, "{side:?} {convention:?}: {found}");
    }
}

/// To the letter the ridge is multiplied by eigenvalues of Σ⁻¹; the program adds it as it is.
#[test]
fn only_the_program_of_the_authors_takes_the_ridge_as_it_is() {
    let mut sample = Sample::gaussian(14, 400, 2, 1.0);
    sample.columns.iter_mut().for_each(|column| column.iter_mut().for_each(|cell| *cell *= 0.01));
    let fit = fit(&sample, CENTRED);
    let row = PointStats { dist_sq: 3.0, resid_sq: 1.0, noise_var: 1.0 };
    let value = |convention, lambda| {
        let bound = Bound { ridge: 0.1, ..Bound::new(Side::Upper, convention) };
        let sizes = Sizes::new(60, 400);
        let of_fit = BoundForm::of_fit(&fit, sizes, bound).unwrap().value(row);
        (of_fit, BoundForm::new(2, sizes, bound, lambda).unwrap().value(row))
    };
    let (found, expected) = value(Convention::Printed, fit.precision_range());
    assert_eq!(found, expected);
    let (program, expected) = value(Convention::Authors, (1.0, 1.0));
    assert_eq!(program, expected);
    assert!((found / program - 1.0).abs() > 0.1, "{found} {program}");
}

/// Algorithm 4 stops where a term is small and keeps less of the sum.
#[test]
fn the_stopping_rule_keeps_a_part_of_the_sum() {
    let row = PointStats { dist_sq: 10.0, resid_sq: 0.5, noise_var: 1.0 };
    let value = |stop| {
        let bound = Bound { stop, ..Bound::new(Side::Upper, Convention::Printed) };
        BoundForm::new(10, Sizes::new(60, 5000), bound, (1.0, 1.0)).unwrap().value(row)
    };
    let whole = value(None);
    assert!(relative_error(value(Some(0.0)), whole) < 1e-12);
    let share = value(Some(0.005)) / whole;
    assert!((0.05..0.95).contains(&share), "{share}");
    let bound = Bound { stop: Some(0.005), ..Bound::new(Side::Upper, Convention::Printed) };
    let (n_visited, kept) =
        BoundForm::new(10, Sizes::new(60, 5000), bound, (1.0, 1.0)).unwrap().truncation(row).unwrap();
    assert!(relative_error(kept, share) < 1e-9 && (2..4000).contains(&n_visited), "{n_visited} {kept}");
}

/// Terms of a lower bound as printed change sign with j, so what is kept may lie on the other
/// side of 0 or beyond the whole sum.
#[test]
fn the_share_that_the_stopping_rule_keeps_may_be_negative_or_above_one() {
    let bound = Bound { stop: Some(0.005), ..Bound::new(Side::Lower, Convention::Printed) };
    let form = BoundForm::new(5, Sizes::new(40, 300), bound, (1.0, 1.0)).unwrap();
    let whole = BoundForm::new(5, Sizes::new(40, 300), Bound { stop: None, ..bound }, (1.0, 1.0)).unwrap();
    let mut shares = Vec::new();
    for dist in 1..=20 {
        for resid in 0..=40 {
            let row =
                PointStats { dist_sq: f64::from(dist), resid_sq: 0.1 * f64::from(resid), noise_var: 1.0 };
            let share = form.truncation(row).unwrap().1;
            assert!(relative_error(form.value(row), share * whole.value(row)) < 1e-9, "{row:?}");
            shares.push(share);
        }
    }
    let n = |is: &dyn Fn(f64) -> bool| shares.iter().filter(|share| is(**share)).count();
    assert!(n(&|share| share < -0.1) > 5 && n(&|share| share > 1.1) > 5, "{shares:?}");
    assert!(n(&|share| (0.0..1.0).contains(&share)) > shares.len() / 2, "{shares:?}");
}

#[test]
fn published_bounds_of_a_regression_warn_that_they_bound_nothing() {
    let sample = Sample::gaussian(12, 500, 3, 1.0);
    for convention in [Convention::Printed, Convention::Authors] {
        for side in [Side::Lower, Side::Upper] {
            let method = LinearMethod::Bound(Bound::new(side, convention));
            let valuer = LinearValuer::new(fit(&sample, CENTRED), Sizes::new(60, 500), method).unwrap();
            assert!(valuer.warnings().contains(&Warning::NotABound), "{side:?} {convention:?}");
        }
    }
}

/// The interval holds for rows that are whitened. Units of columns move the eigenvalues of the
/// others out of it.
#[test]
fn the_interval_is_that_of_whitened_eigenvalues() {
    let (n, p, m) = (400.0_f64, 2.0_f64, 1000.0_f64);
    // c = ½ and C = 1.
    let delta = (p.sqrt() + (2.0 * (n * m.sqrt()).ln()).sqrt()) / n.sqrt();
    let interval = 1.0 / (n * (1.0 + delta).powi(2))..=1.0 / (n * (1.0 - delta).powi(2));
    let mut draws = Draws::new(3);
    for _ in 0..50 {
        let rows: Vec<(f64, f64)> = (0..400).map(|_| (draws.normal(), draws.normal())).collect();
        let eigenvalues = |scale: f64| {
            let sum =
                |of: &dyn Fn(f64, f64) -> f64| rows.iter().map(|row| of(scale * row.0, row.1)).sum::<f64>();
            let (xx, xy, yy) = (sum(&|x, _| x * x), sum(&|x, y| x * y), sum(&|_, y| y * y));
            let (middle, half) = ((xx + yy) / 2.0, (((xx - yy) / 2.0).powi(2) + xy * xy).sqrt());
            [1.0 / (middle + half), 1.0 / (middle - half)]
        };
        assert!(eigenvalues(1.0).iter().all(|value| interval.contains(value)));
        // A variance of 100.
        assert!(!eigenvalues(10.0).iter().all(|value| interval.contains(value)));
    }
}
