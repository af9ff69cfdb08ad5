//! The structure of linear values: identities that hold for any numbers.

use crate::common::{CENTRED, Data, UNCENTRED, cases, gain_valuer, theorem, valuer};
use dshap::linear::{
    Algorithm3, Constant, Convention, FitOptions, GaussianForm, Intercept, LinearMethod, LinearValuer,
    PointStats,
};
use dshap::numeric::{SizeSums, Sums};
use dshap::{Error, Note, Part, Rows, Sizes, Valuer, Values};
use dshap_testkit::{Draws, Sample, assert_close, assert_same_bits, on_threads, relative_error};
use faer::{Mat, MatRef};
use proptest::prelude::*;

fn form(p: usize, q: usize, m: usize, constant: Constant) -> GaussianForm {
    GaussianForm::new(p, Sizes::new(q, m), constant, Convention::Definition).unwrap()
}

fn stats(dist_sq: f64, resid_sq: f64, noise_var: f64) -> PointStats {
    PointStats { dist_sq, resid_sq, noise_var }
}

/// `p`, `q ≥ p + 3` and `m ≥ q`.
fn sizes() -> impl Strategy<Value = (usize, usize, usize)> {
    (1..40_usize, 3..60_usize, 0..3000_usize).prop_map(|(p, above, more)| (p, p + above, p + above + more))
}

/// Log-uniform between `10^from` and `10^to`.
fn log_uniform(from: f64, to: f64) -> impl Strategy<Value = f64> {
    (from..to).prop_map(|exponent| 10_f64.powf(exponent))
}

/// Largest difference of two columns of values, in units of potential and
/// penalty: a value is their difference and may be far smaller than either.
fn value_error(found: &Values, expected: &Values) -> f64 {
    assert_eq!(found.len(), expected.len());
    let part = |part, i: usize| expected.part(part).unwrap()[i];
    (0..found.len())
        .map(|i| {
            let scale = part(Part::Potential, i).abs() + part(Part::Penalty, i);
            (found.value[i] - expected.value[i]).abs() / scale
        })
        .fold(0.0, f64::max)
}

#[track_caller]
fn assert_all_bits(found: &Values, expected: &Values, what: &str) {
    assert_same_bits(&found.value, &expected.value, what);
    assert_eq!(found.std_error.is_some(), expected.std_error.is_some(), "{what}");
    if let (Some(found), Some(expected)) = (&found.std_error, &expected.std_error) {
        assert_same_bits(found, expected, what);
    }
    for ((name, found), (_, expected)) in found.parts.iter().zip(&expected.parts) {
        assert_same_bits(found, expected, &format!("{what}, {}", name.name()));
    }
    assert_eq!(found.notes, expected.notes, "{what}");
}

/// The rows of `values` with these indices.
fn select(values: &Values, rows: &[usize]) -> Values {
    let pick = |column: &[f64]| rows.iter().map(|&row| column[row]).collect::<Vec<_>>();
    let note = |row| values.notes.iter().find(|(noted, _)| *noted == row).map(|(_, note)| *note);
    Values {
        value: pick(&values.value),
        std_error: values.std_error.as_deref().map(pick),
        parts: values.parts.iter().map(|(part, column)| (*part, pick(column))).collect(),
        notes: rows.iter().enumerate().filter_map(|(i, &row)| Some((i, note(row)?))).collect(),
        truncation: values.truncation.as_ref().map(|all| rows.iter().map(|&row| all[row]).collect()),
        draws: values.draws,
    }
}

// ---- The closed form -------------------------------------------------------

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn a_row_at_the_centre_gains_nothing(
        (p, q, m) in sizes(),
        e2 in log_uniform(-3.0, 3.0),
        sigma2 in log_uniform(-3.0, 3.0),
    ) {
        let found = form(p, q, m, Constant::Gain).value(stats(0.0, e2, sigma2));
        prop_assert_eq!((found.value, found.potential, found.penalty), (0.0, 0.0, 0.0));
    }

    /// Strictly, and along a straight line.
    #[test]
    fn values_fall_as_the_residual_grows(
        (p, q, m) in sizes(),
        a in log_uniform(-6.0, 6.0),
        e2 in log_uniform(-3.0, 3.0),
        factor in 1.001..50.0_f64,
        sigma2 in log_uniform(-3.0, 3.0),
    ) {
        for constant in [Constant::Gain, Constant::Theorem, Constant::Full(1.3)] {
            let form = form(p, q, m, constant);
            let at = |e2| form.value(stats(a, e2, sigma2));
            let (less, more) = (at(e2), at(factor * e2));
            prop_assert_eq!(less.potential, more.potential);
            prop_assert!(more.penalty > less.penalty);
            // Strict unless the penalty is lost in the rounding of the potential.
            if more.penalty - less.penalty > 1e-14 * less.potential.abs() {
                prop_assert!(more.value < less.value);
            }
            assert_close(more.penalty / less.penalty, factor, 1e-14);
        }
    }

    #[test]
    fn value_is_potential_minus_penalty(
        (p, q, m) in sizes(),
        a in log_uniform(-6.0, 6.0),
        e2 in log_uniform(-3.0, 3.0),
        sigma2 in log_uniform(-3.0, 3.0),
    ) {
        for constant in [Constant::Gain, Constant::Theorem, Constant::Full(1.3)] {
            let form = form(p, q, m, constant);
            let found = form.value(stats(a, e2, sigma2));
            prop_assert_eq!(found.value, found.potential - found.penalty);
            prop_assert!(found.penalty >= 0.0);
            prop_assert_eq!(found.potential, form.value(stats(a, 0.0, sigma2)).value);
        }
    }

    /// Values are linear in `(e², σ²)`, so scaling both scales them.
    #[test]
    fn values_are_in_units_of_the_squared_target(
        (p, q, m) in sizes(),
        a in log_uniform(-6.0, 6.0),
        e2 in log_uniform(-3.0, 3.0),
        sigma2 in log_uniform(-3.0, 3.0),
        c in log_uniform(-5.0, 5.0),
    ) {
        let form = form(p, q, m, Constant::Gain);
        let plain = form.value(stats(a, e2, sigma2));
        let scaled = form.value(stats(a, e2 * c * c, sigma2 * c * c));
        assert_close(scaled.potential / (c * c), plain.potential, 1e-14);
        assert_close(scaled.penalty / (c * c), plain.penalty, 1e-14);
    }

    /// Shorter sums are the differences of longer ones. What is left after
    /// the subtraction carries the rounding of what was subtracted.
    #[test]
    fn consecutive_sizes_differ_by_the_gain_at_one_size(
        (p, q, m) in sizes(),
        a in log_uniform(-6.0, 6.0),
        e2 in log_uniform(-3.0, 3.0),
        sigma2 in log_uniform(-3.0, 3.0),
    ) {
        let m = m + 1;
        let at = |q, m| form(p, q, m, Constant::Gain).value(stats(a, e2, sigma2));
        let (long, short, single) = (at(q, m), at(q, m - 1), at(m, m));
        let difference = m as f64 * long.value - (m - 1) as f64 * short.value;
        let scale = m as f64 * (long.potential + long.penalty);
        prop_assert!((difference - m as f64 * single.value).abs() <= 2e-14 * scale);
    }

    #[test]
    fn the_printed_sum_is_the_definition_one_size_on(
        (p, q, m) in sizes(),
        a in log_uniform(-6.0, 6.0),
        e2 in log_uniform(-3.0, 3.0),
        sigma2 in log_uniform(-3.0, 3.0),
    ) {
        let row = stats(a, e2, sigma2);
        let printed = GaussianForm::new(p, Sizes::new(q, m), Constant::Theorem, Convention::Printed).unwrap();
        let shifted = form(p, q + 1, m + 1, Constant::Theorem).value(row).value * (m + 1) as f64 / m as f64;
        // One more multiplication and division; both sides sum negative terms.
        assert_close(printed.value(row).value, shifted, 1e-15);
    }

    /// Also against the constants of MATH.md §2, harmonic numbers added up one by one.
    #[test]
    fn constants_are_the_same_for_every_point(
        (p, q, m) in sizes(),
        rows in prop::collection::vec((log_uniform(-4.0, 4.0), log_uniform(-2.0, 2.0)), 5),
        sigma2 in 0.1..4.0_f64,
        c in -3.0..9.0_f64,
    ) {
        let [gain, simple, full] =
            [Constant::Gain, Constant::Theorem, Constant::Full(c)].map(|constant| form(p, q, m, constant));
        let harmonic = |n: usize| (1..=n).rev().map(|j| 1.0 / j as f64).sum::<f64>();
        let by_size = harmonic(m - p - 2) - harmonic(q - p - 2) - (p - 1) as f64 / (m - p - 1) as f64;
        let full_less_simple = (c - sigma2 + sigma2 * by_size) / m as f64;
        let full_less_gain = (c - sigma2 - sigma2 * p as f64 / (q - p - 2) as f64) / m as f64;
        for (a, e2) in rows {
            let at = |form: &GaussianForm| form.value(stats(a, e2, sigma2));
            let (gain, simple, full) = (at(&gain), at(&simple), at(&full));
            // Everything the three share, and the numbers of the constants.
            let scale = gain.potential + gain.penalty - simple.potential
                + (c.abs() + sigma2 * (10.0 + 2.0 * p as f64)) / m as f64;
            prop_assert!((full.value - simple.value - full_less_simple).abs() < 1e-13 * scale);
            prop_assert!((full.value - gain.value - full_less_gain).abs() < 1e-13 * scale);
        }
    }

    /// `T/(a+T)² = 1/T − a/(a+T)² − a/(T(a+T))`, under the sum and the expectation.
    #[test]
    fn the_three_sums_add_up(
        (p, q, m) in sizes(),
        a in log_uniform(-20.0, 20.0),
    ) {
        let (first, last) = (q - p, m - p);
        let sums = SizeSums::new(p, first as u64, last as u64);
        let reciprocals: f64 = (first..=last)
            .rev()
            .map(|nu| (1.0 + (p - 1) as f64 / (nu as f64 - 1.0)) / (nu as f64 - 2.0))
            .sum();
        for found in [sums.at(a), sums.integrated_at(a)] {
            assert_close(found.a_h2 + found.h3 + found.h4, reciprocals, 1e-13);
        }
    }
}

/// `E[f(T)]` for `T ~ χ²(ν)`, by the trapezoidal rule for the density in `log t`,
/// which shares nothing with the integrals in core.
fn chi_squared_mean(nu: u32, f: impl Fn(f64) -> f64) -> f64 {
    // log Γ(ν/2) from Γ(1) = 1 or Γ(1/2) = √π upwards.
    let half = f64::from(nu) / 2.0;
    let (mut x, mut log_gamma) =
        if nu.is_multiple_of(2) { (1.0, 0.0) } else { (0.5, std::f64::consts::PI.ln() / 2.0) };
    while x < half {
        log_gamma += f64::ln(x);
        x += 1.0;
    }
    let step = 1.0 / 64.0;
    let density = |u: f64| (half * u - u.exp() / 2.0 - half * std::f64::consts::LN_2 - log_gamma).exp();
    (-64 * 60..64 * 8).map(|k| f64::from(k) * step).map(|u| step * density(u) * f(u.exp())).sum()
}

#[test]
fn the_gain_at_one_size_is_an_integral_over_the_chi_squared_density() {
    assert_close(chi_squared_mean(13, |_| 1.0), 1.0, 1e-13);
    assert_close(chi_squared_mean(14, |t| t), 14.0, 1e-13);
    for (p, m) in [(3, 17), (3, 18), (1, 9), (8, 41)] {
        let k = m - 1;
        let nu = (k - p + 1) as u32;
        let inflation = if p == 1 { 1.0 } else { (k - 1) as f64 / (k - p) as f64 };
        for (a, e2, sigma2) in [(3.02, 2.89, 0.8), (0.07, 11.0, 1.7), (41.0, 0.3, 0.2)] {
            let gain =
                inflation * chi_squared_mean(nu, |t| sigma2 / t - (a * e2 + t * sigma2) / (t + a).powi(2));
            let found = form(p, m, m, Constant::Gain).value(stats(a, e2, sigma2));
            let scale = found.potential + found.penalty;
            let error = (found.value - gain / m as f64).abs() / scale;
            assert!(error < 1e-12, "p = {p}, m = {m}, a = {a}: {found:?}, integral {gain:e}, {error:.1e}");
        }
    }
}

/// The sums of set sizes, one size after the other, by the same integral.
#[test]
fn the_value_averages_the_gains_at_all_sizes() {
    let (p, q, m, a, e2, sigma2) = (3, 8, 17, 2.3, 1.9, 0.8);
    let at = |k: usize| {
        let inflation = (k - 1) as f64 / (k - p) as f64;
        inflation
            * chi_squared_mean((k - p + 1) as u32, |t| sigma2 / t - (a * e2 + t * sigma2) / (t + a).powi(2))
    };
    let definition: f64 = (q - 1..=m - 1).map(at).sum::<f64>() / m as f64;
    let printed: f64 = (q..=m).map(at).sum::<f64>() / m as f64;
    let found = form(p, q, m, Constant::Gain).value(stats(a, e2, sigma2));
    assert!((found.value - definition).abs() < 1e-12 * (found.potential + found.penalty));
    assert!((found.value - printed).abs() > 1e-2 * found.value.abs(), "sizes one too large are told apart");
}

fn numbers(sums: Sums) -> [f64; 5] {
    [sums.h2, sums.a_h2, sums.h3, sums.h4, sums.neg_dh2]
}

/// Interpolation costs little more than rounding: 14 nodes give 12.6⁻¹⁴ of flattened
/// sums, and as many nested steps some dozens of `ε`.
#[test]
fn the_table_agrees_with_the_integral() {
    let mut draws = Draws::new(61);
    let mut worst: f64 = 0.0;
    for _ in 0..40 {
        let mut up_to = |most: f64| most.powf(draws.uniform());
        let (p, first, count) = (up_to(2000.0) as usize, 1 + up_to(500.0) as u64, up_to(1e6) as u64);
        let sums = SizeSums::new(p, first.max(2), first.max(2) + count);
        for _ in 0..400 {
            let a = 10_f64.powf(82.0 * draws.uniform() - 41.0);
            for (table, integral) in numbers(sums.at(a)).into_iter().zip(numbers(sums.integrated_at(a))) {
                // Sums that do not exist (ν = 2) are infinite both ways.
                let error = if table == integral { 0.0 } else { relative_error(table, integral) };
                assert!(error < 1e-13, "p = {p}, ν from {first}, {count} more, a = {a:e}: {error:.1e}");
                worst = worst.max(error);
            }
        }
    }
    println!("largest relative difference {worst:.1e}");
}

/// Beyond the table one term of an expansion takes over; at the seams both must
/// agree. No sum falls faster than `a⁻³`: a step of 2e-12 moves none by more than 6e-12.
#[test]
fn the_table_meets_its_continuations() {
    for first in 2..=9 {
        let sums = SizeSums::new(5, first, first + 100);
        for seam in [1e-40, 1e40] {
            let (below, above) = (sums.at(seam * (1.0 - 1e-12)), sums.at(seam * (1.0 + 1e-12)));
            for (below, above) in numbers(below).into_iter().zip(numbers(above)) {
                assert!(
                    below == above || relative_error(below, above) < 1e-11,
                    "ν from {first}, a = {seam:e}: {below:e} and {above:e}"
                );
            }
        }
    }
}

#[test]
fn sums_are_monotone_in_the_distance() {
    for first in [3, 4, 7, 40] {
        let sums = SizeSums::new(6, first, first + 300);
        let at: Vec<Sums> = (-500..=500).map(|k| sums.at(10_f64.powf(f64::from(k) / 10.0))).collect();
        for pair in at.windows(2) {
            // Where a sum has reached its limit, rounding may move it either way.
            let slack = 1.0 + 1e-13;
            assert!(pair[1].h2 < pair[0].h2 * slack && pair[1].h3 < pair[0].h3 * slack);
            assert!(pair[1].h4 * slack > pair[0].h4 && pair[1].a_h2.is_finite());
        }
        assert!(at[1000].h2 < 1e-90 * at[0].h2 && at[0].h4 < 1e-20 * at[1000].h4);
    }
}

// ---- Fits and rows ---------------------------------------------------------

/// Multiplying by a power of two rounds nothing, so there even the bits agree.
/// Otherwise each target is rounded once, and `σ²` is a difference of sums 18
/// times as large as itself.
#[test]
fn scaling_the_target_by_c_scales_values_by_c_squared() {
    let sample = Sample::gaussian(62, 83, 3, 0.9);
    for options in [CENTRED, UNCENTRED] {
        let valued = |c: f64| {
            let scaled = Sample { y: sample.y.iter().map(|y| c * y).collect(), ..sample.clone() };
            let mut values =
                gain_valuer(&scaled, options, Sizes::new(13, 40)).leave_one_out(Data::of(&scaled).rows(), 0);
            let values = values.as_mut().unwrap();
            values.value.iter_mut().for_each(|value| *value /= c * c);
            values.clone()
        };
        let plain = valued(1.0);
        assert_same_bits(&valued(-8.0).value, &plain.value, "c = −8");
        for c in [-3.7, 1e-40, 7e60] {
            let error = value_error(&valued(c), &plain);
            assert!(error < 1e-13, "c = {c}: {error:.1e}");
        }
    }
}

fn with_features(sample: &Sample, change: impl Fn(&[f64]) -> Vec<f64>) -> Sample {
    let rows: Vec<Vec<f64>> = (0..sample.n_rows())
        .map(|i| change(&sample.columns.iter().map(|column| column[i]).collect::<Vec<_>>()))
        .collect();
    let columns = (0..rows[0].len()).map(|j| rows.iter().map(|row| row[j]).collect()).collect();
    Sample { columns, y: sample.y.clone() }
}

proptest! {
    #![proptest_config(cases(60))]

    /// The change has a condition number below 7 (its diagonal dominates) and
    /// shifts of up to 100 round cells to 1e-14 of their spread; together a few
    /// hundred `ε`.
    #[test]
    fn a_linear_change_of_features_leaves_values_alone(
        seed in any::<u64>(),
        change in prop::collection::vec(-0.5..0.5_f64, 9),
        shift in prop::collection::vec(-100.0..100.0_f64, 4),
        centred in any::<bool>(),
    ) {
        let options = if centred { CENTRED } else { UNCENTRED };
        let sample = Sample::gaussian(seed, 57, 3, 0.9);
        let mut changed = with_features(&sample, |x| {
            (0..3).map(|i| 2.0 * x[i] + (0..3).map(|j| change[3 * i + j] * x[j]).sum::<f64>()).collect()
        });
        // Without centring the origin is where it is.
        if centred {
            for (column, shift) in changed.columns.iter_mut().chain([&mut changed.y]).zip(&shift) {
                column.iter_mut().for_each(|cell| *cell += shift);
            }
        }
        for method in [LinearMethod::default(), theorem()] {
            let value = |sample: &Sample| {
                let valuer = valuer(sample, options, Sizes::new(13, 40), method);
                valuer.leave_one_out(Data::of(sample).rows(), 0).unwrap()
            };
            let error = value_error(&value(&changed), &value(&sample));
            prop_assert!(error < 2e-11, "{:e}", error);
        }
    }

    /// Adding the rows of the reference in another order rounds differently:
    /// `√n·ε` on every moment, times 18 for `σ²`.
    #[test]
    fn the_order_of_the_reference_does_not_matter(seed in any::<u64>(), n in 20..6000_usize) {
        let sample = Sample::gaussian(seed, n, 3, 0.9);
        let shuffled = sample.select(&Draws::new(seed).shuffled(n));
        let points = Data::of(&Sample::gaussian(63, 40, 3, 1.1));
        for options in [CENTRED, UNCENTRED] {
            let value = |s: &Sample| gain_valuer(s, options, Sizes::new(9, 17)).values(points.rows()).unwrap();
            let error = value_error(&value(&shuffled), &value(&sample));
            prop_assert!(error < 1e-12, "{:e}", error);
        }
    }

    /// With the fit held fixed a row's numbers do not depend on other rows: not on its
    /// place in a panel of 256, nor on the rows before it.
    #[test]
    fn any_selection_of_rows_has_the_selected_values(
        seed in any::<u64>(),
        count in 1..700_usize,
        leave_one_out in any::<bool>(),
    ) {
        let sample = Sample::gaussian(64, 600, 5, 0.9);
        let valuer = gain_valuer(&sample, CENTRED, Sizes::new(15, 60));
        let value = |rows: Rows<'_>| {
            if leave_one_out { valuer.leave_one_out(rows, 0) } else { valuer.values(rows) }.unwrap()
        };
        let all = value(Data::of(&sample).rows());
        let mut draws = Draws::new(seed);
        let picked: Vec<usize> = (0..count).map(|_| (600.0 * draws.uniform()) as usize).collect();
        let found = value(Data::of(&sample.select(&picked)).rows());
        assert_all_bits(&found, &select(&all, &picked), "picked with repetition");

        let order = draws.shuffled(600);
        let found = value(Data::of(&sample.select(&order)).rows());
        assert_all_bits(&found, &select(&all, &order), "permuted");
    }
}

#[test]
fn threads_slices_and_layout_do_not_change_a_bit_of_a_value() {
    let sample = Sample::gaussian(65, 1500, 4, 0.9);
    let data = Data::of(&sample);
    for method in [LinearMethod::default(), LinearMethod::Algorithm3(Algorithm3::default())] {
        let valuer = valuer(&sample, CENTRED, Sizes::new(15, 60), method);
        let all = on_threads(1, || valuer.values(data.rows()).unwrap());
        for n_threads in [2, 3] {
            let found = on_threads(n_threads, || valuer.values(data.rows()).unwrap());
            assert_all_bits(&found, &all, &format!("{n_threads} threads"));
        }
        for (start, len) in [(0, 1), (255, 2), (300, 700), (1499, 1)] {
            let found = valuer.values_from(data.rows().slice(start, len), start as u64).unwrap();
            let rows: Vec<usize> = (start..start + len).collect();
            assert_all_bits(&found, &select(&all, &rows), &format!("{len} rows from {start}"));
            assert_eq!(found.truncation, select(&all, &rows).truncation);
        }
        let by_row: Vec<f64> =
            (0..1500).flat_map(|i| (0..4).map(move |j| (i, j))).map(|c| data.x[c]).collect();
        let rows = Rows::new(MatRef::from_row_major_slice(&by_row, 1500, 4), &data.y).unwrap();
        assert_all_bits(&valuer.values(rows).unwrap(), &all, "row-major");
    }
}

/// Reference of 41 rows, with a copy, a constant and a sum among the columns if asked.
fn reference(extended: bool) -> Sample {
    let mut sample = Sample::gaussian(66, 41, 3, 0.9);
    sample.columns[1].iter_mut().for_each(|cell| *cell += 2.5);
    sample.y.iter_mut().for_each(|cell| *cell -= 3.1);
    if extended {
        let sum = (0..41).map(|i| sample.columns[0][i] - 0.7 * sample.columns[1][i]).collect();
        sample.columns.insert(0, vec![0.0; 41]);
        let copy = sample.columns[1].clone();
        sample.columns.insert(2, copy);
        sample.columns.push(sum);
    }
    sample
}

/// The closed form of MATH.md §2 against 41 actual fits. A refit solves another system,
/// and `RSS₋` is a difference: 1e-12 leaves a factor of ten.
#[test]
fn leave_one_out_is_refitting_without_the_row() {
    for (options, extended) in [(CENTRED, false), (UNCENTRED, false), (CENTRED, true), (UNCENTRED, true)] {
        let sample = reference(extended);
        for method in [LinearMethod::default(), theorem()] {
            let value = |sample: &Sample| valuer(sample, options, Sizes::new(9, 30), method);
            let whole = value(&sample);
            assert_eq!((whole.fit().dim(), whole.fit().dropped().len()), (3, if extended { 3 } else { 0 }));
            let found = whole.leave_one_out(Data::of(&sample).rows(), 0).unwrap();
            let plain = whole.values(Data::of(&sample).rows()).unwrap();
            assert_eq!(found.notes, []);
            for row in 0..41 {
                let point = Data::of(&sample.select(&[row]));
                let refitted = value(&sample.without(row)).values(point.rows()).unwrap();
                let found = select(&found, &[row]);
                assert!(value_error(&found, &refitted) < 1e-12, "{options:?}, row {row}");
                for part in [Part::DistSq, Part::ResidSq] {
                    let (found, refitted) = (found.part(part).unwrap()[0], refitted.part(part).unwrap()[0]);
                    // The residual itself, not its square, has an absolute error.
                    assert!(
                        (found.sqrt() - refitted.sqrt()).abs() < 1e-12,
                        "{options:?}, row {row}, {part:?}"
                    );
                }
                assert!(value_error(&select(&plain, &[row]), &refitted) > 1e-5, "it makes a difference");
                assert_close(found.std_error.unwrap()[0], refitted.std_error.unwrap()[0], 1e-10);
            }
        }
    }
}

/// With `needed` rows minus one, a single degree of freedom is left.
#[test]
fn leave_one_out_works_with_the_fewest_rows() {
    for (options, n) in [(CENTRED, 6), (UNCENTRED, 5)] {
        let sample = Sample::gaussian(67, n, 3, 0.9);
        let valuer = gain_valuer(&sample, options, Sizes::new(6, 9));
        let values = valuer.leave_one_out(Data::of(&sample).rows(), 0).unwrap();
        assert!(values.value.iter().all(|value| value.is_finite()), "{values:?}");
        // Refitting needs one more row, so residuals are checked by their sum of squares
        // instead: Σ e₋²(1−h)² = RSS, with h from a₋.
        let rss: f64 = (0..n)
            .map(|i| {
                let (a, e2) = (values.part(Part::DistSq).unwrap()[i], values.part(Part::ResidSq).unwrap()[i]);
                let rest = n as f64 - 1.0;
                // 1/(1 − h) = 1 + a₋/(n−1), and one more row when centred.
                let room = 1.0 / (1.0 + a / rest + if options.intercept { 1.0 / rest } else { 0.0 });
                e2 * room * room
            })
            .sum();
        assert_close(rss, valuer.fit().rss(), 1e-9);
    }
}

/// Only row 5 has anything in the last column, so only this row determines its
/// coefficient.
#[test]
fn a_row_with_leverage_one_has_no_value() {
    for options in [CENTRED, UNCENTRED] {
        for cell in [1.0, -3.7, 1e6] {
            let mut sample = Sample::gaussian(68, 30, 3, 0.9);
            sample.columns[2] = (0..30).map(|i| if i == 5 { cell } else { 0.0 }).collect();
            let valuer = gain_valuer(&sample, options, Sizes::new(9, 20));
            let values = valuer.leave_one_out(Data::of(&sample).rows(), 0).unwrap();
            assert_eq!(values.notes, [(5, Note::LeverageOne)], "{options:?}, {cell}");
            assert!(values.value[5].is_nan() && values.std_error.as_ref().unwrap()[5].is_nan());
            assert!(values.parts.iter().all(|(_, column)| column[5].is_nan()));
            assert_eq!(values.value.iter().filter(|value| value.is_nan()).count(), 1);
            assert_eq!(values.ranking()[29], 5, "it comes last");
            // As a new row it has one: the fit goes through it.
            let values = valuer.values(Data::of(&sample).rows()).unwrap();
            assert!(values.value[5].is_finite() && values.notes.is_empty());
        }
    }
}

/// A high leverage is not leverage 1.
#[test]
fn a_row_with_high_leverage_has_a_value() {
    let mut sample = Sample::gaussian(69, 30, 3, 0.9);
    sample.columns[2].iter_mut().for_each(|cell| *cell *= 1e-3);
    sample.columns[2][5] = 1.0;
    let value = |sample: &Sample| gain_valuer(sample, CENTRED, Sizes::new(9, 20));
    let found = value(&sample).leave_one_out(Data::of(&sample).rows(), 0).unwrap();
    let point = Data::of(&sample.select(&[5]));
    let refitted = value(&sample.without(5)).values(point.rows()).unwrap();
    assert!(found.part(Part::DistSq).unwrap()[5] > 1e5, "it is far out");
    // 1 − h is about 1e-4: four digits less.
    assert!(value_error(&select(&found, &[5]), &refitted) < 1e-9);
}

/// `H3` grows like `−log a` when the first `ν` is 2.
#[test]
fn the_centre_has_no_finite_value_when_q_is_p_plus_2() {
    let sample = Sample::gaussian(70, 40, 3, 0.9);
    let x = Mat::from_fn(3, 3, |i, j| [0.0, 1e-100, 0.4][i] * (j as f64 - 0.7));
    let points = Rows::new(x.as_ref(), &[0.3, 0.3, 0.3]).unwrap();
    let values = valuer(&sample, UNCENTRED, Sizes::new(5, 20), theorem()).values(points).unwrap();
    assert_eq!(values.notes, [(0, Note::Infinite)]);
    assert!(values.value[0].is_nan());
    assert!(values.value[1] < values.value[2] && values.value[1] > -1e3, "{values:?}");
    assert_eq!(values.part(Part::DistSq).unwrap()[0], 0.0, "what is known is told");

    let values = valuer(&sample, UNCENTRED, Sizes::new(6, 20), theorem()).values(points).unwrap();
    assert_eq!(values.notes, [], "from q = p + 3 on there is no such exception");
    assert!(values.value[0].is_finite());
}

/// The reference mean itself, in data whose mean is a double.
#[test]
fn a_point_at_the_reference_mean_gains_nothing() {
    let mut sample = Sample::gaussian(71, 50, 2, 0.9);
    for column in &mut sample.columns {
        // Pairs on both sides of 3.25, on a grid that keeps them exact.
        for i in 0..25 {
            let cell = (column[i] * 1024.0).round() / 1024.0;
            (column[i], column[i + 25]) = (3.25 + cell, 3.25 - cell);
        }
    }
    let x = Mat::from_fn(1, 2, |_, _| 3.25);
    let points = Rows::new(x.as_ref(), &[7.7]).unwrap();
    let values = gain_valuer(&sample, CENTRED, Sizes::new(9, 17)).values(points).unwrap();
    assert_eq!((values.value[0], values.part(Part::DistSq).unwrap()[0]), (0.0, 0.0));
    assert_eq!(values.std_error.unwrap()[0], 0.0, "whatever the reference, its mean gains nothing");
}

#[test]
fn a_noisy_twin_is_worth_less() {
    let sample = Sample::gaussian(72, 60, 3, 0.9);
    let points = Sample::gaussian(73, 40, 3, 0.0);
    let twins = Sample { y: points.y.iter().map(|y| y + 2.2).collect(), ..points.clone() };
    for options in [CENTRED, UNCENTRED] {
        let valuer = gain_valuer(&sample, options, Sizes::new(13, 60));
        let value = |sample: &Sample| valuer.values(Data::of(sample).rows()).unwrap();
        let (good, bad) = (value(&points), value(&twins));
        assert!(good.value.iter().zip(&bad.value).all(|(good, bad)| good > bad));
        for values in [good, bad] {
            let (potential, penalty) =
                (values.part(Part::Potential).unwrap(), values.part(Part::Penalty).unwrap());
            for i in 0..values.len() {
                assert_eq!(values.value[i], potential[i] - penalty[i]);
            }
        }
    }
}

/// The delta method with numerical derivatives by `e`, `σ²` and `a`.
#[test]
fn standard_errors_are_the_delta_method() {
    let (a, e, sigma2, n, degrees): (f64, f64, f64, _, _) = (4.3, 1.7, 0.8, 137, 129);
    for constant in [Constant::Gain, Constant::Theorem, Constant::Full(2.1)] {
        let form = form(4, 11, 60, constant);
        let at = |a: f64, e: f64, sigma2: f64| form.value(stats(a, e * e, sigma2)).value;
        let h = 1e-5;
        let by_a = (at(a + h, e, sigma2) - at(a - h, e, sigma2)) / (2.0 * h);
        let by_e = (at(a, e + h, sigma2) - at(a, e - h, sigma2)) / (2.0 * h);
        let by_sigma2 = (at(a, e, sigma2 + h) - at(a, e, sigma2 - h)) / (2.0 * h);
        for (intercept, var_e, var_a) in [
            (Intercept::None, sigma2 * a, 2.0 * a * a),
            (Intercept::Known, sigma2 * (a + 1.0), 2.0 * a * a + 4.0 * a),
            // The distance from the mean is a − 1.
            (Intercept::Refitted, sigma2 * a, 2.0 * (a - 1.0).powi(2) + 4.0 * (a - 1.0)),
        ] {
            let variance = (by_e * by_e * var_e + by_a * by_a * var_a) / n as f64
                + by_sigma2 * by_sigma2 * 2.0 * sigma2 * sigma2 / degrees as f64;
            let found = form.std_error(stats(a, e * e, sigma2), n as f64, degrees as f64, intercept);
            // Central differences: h² and ε/h, about 1e-10 each.
            assert_close(found, variance.sqrt(), 1e-8);
        }
    }
}

#[test]
fn standard_errors_are_finite_at_every_distance() {
    for q in 7..12 {
        let form = form(4, q, 60, Constant::Gain);
        for exponent in -150..=150 {
            let a = 10_f64.powi(exponent);
            for intercept in [Intercept::None, Intercept::Known, Intercept::Refitted] {
                let error = form.std_error(stats(a, 1.7, 0.8), 137.0, 129.0, intercept);
                assert!(error.is_finite() && error >= 0.0, "q = {q}, a = {a:e}: {error}");
            }
        }
    }
}

#[test]
fn another_constant_on_the_same_sums_is_the_form_built_anew() {
    let row = stats(3.02, 2.89, 0.8);
    let built = |constant, convention| GaussianForm::new(3, Sizes::new(9, 17), constant, convention).unwrap();
    let definition = built(Constant::Gain, Convention::Definition);
    for constant in [Constant::Gain, Constant::Theorem, Constant::Full(1.3)] {
        let expected = built(constant, Convention::Definition);
        let found = definition.with_constant(constant).unwrap();
        assert_eq!((found.constant(), found.value(row)), (constant, expected.value(row)));
        let error = |form: &GaussianForm| form.std_error(row, 137.0, 129.0, Intercept::Known);
        assert_eq!(error(&found), error(&expected));
        // The printed sum keeps its own constant.
        let printed = built(Constant::Theorem, Convention::Printed);
        assert_eq!(printed.with_constant(constant).unwrap().value(row), printed.value(row));
    }
    let short = GaussianForm::new(3, Sizes::new(5, 17), Constant::Theorem, Convention::Definition).unwrap();
    let refused = short.with_constant(Constant::Gain).map(|_| ());
    assert_eq!(refused, Err(Error::Sizes { min: 5, max: 17, least: 6, dim: 3 }));
}

#[test]
fn a_valuer_tells_its_settings() {
    let sample = Sample::gaussian(74, 60, 3, 0.9);
    let valuer: LinearValuer = gain_valuer(&sample, FitOptions::default(), Sizes::new(9, 20));
    assert_eq!((valuer.sizes(), valuer.fit().dim()), (Sizes::new(9, 20), 3));
    assert!(valuer.warnings().is_empty());
    let values = valuer.with_std_error(false).values(Data::of(&sample).rows()).unwrap();
    assert_eq!((values.std_error, values.truncation), (None, None));
}

/// Far away and next to the centre, where squares would overflow or vanish.
#[test]
fn standard_errors_are_finite_at_any_distance() {
    let form = GaussianForm::new(3, Sizes::new(6, 40), Constant::Gain, Convention::Definition).unwrap();
    for exponent in (-300..=200).step_by(4) {
        let row =
            PointStats { dist_sq: 10_f64.powi(exponent), resid_sq: 10_f64.powi(exponent), noise_var: 0.8 };
        for intercept in [Intercept::None, Intercept::Known, Intercept::Refitted] {
            let error = form.std_error(row, 200.0, 190.0, intercept);
            assert!(error.is_finite() && error >= 0.0, "distance 1e{exponent}, {intercept:?}: {error}");
        }
    }
}
