//! Several outputs with one design: sums of single outputs, other combinations, refits.
//!
//! `DSHAP_SEEDS=100` runs every simulation with that many seeds, for nightly runs.

use crate::common::general::{KINDS, REFITTED};
use crate::common::ridge::{inverse, times};
use crate::common::{CENTRED, UNCENTRED};
use dshap::linear::{ErrorUnits, FitOptions, LinearFit, LinearMethod, LinearValuer, OutputsValuer};
use dshap::{Error, Moments, Note, Part, Place, Rows, Semivalue, Sizes, Valuer, Values};
use dshap_testkit::{Draws, MAX_ABS_Z, MeanEstimate, assert_close, assert_same_bits, seeds};
use faer::Mat;

/// Features and all outputs of rows, and perhaps weights.
#[derive(Clone)]
struct Table {
    x: Vec<Vec<f64>>,
    y: Vec<Vec<f64>>,
    weights: Option<Vec<f64>>,
}

/// The last outputs as core wants them: columns, then the target.
struct Packed {
    x: Mat<f64>,
    y: Vec<f64>,
    weights: Option<Vec<f64>>,
}

impl Packed {
    fn rows(&self) -> Rows<'_> {
        let rows = Rows::new(self.x.as_ref(), &self.y).unwrap();
        match &self.weights {
            Some(weights) => rows.with_weights(weights).unwrap(),
            None => rows,
        }
    }
}

impl Table {
    /// Features of unlike units, correlated and off centre; the noise of outputs is correlated.
    fn drawn(seed: u64, n: usize, p: usize, k: usize) -> Self {
        let mut draws = Draws::new(seed);
        let (mut x, mut y) = (Vec::new(), Vec::new());
        for _ in 0..n {
            let common = draws.normal();
            let row: Vec<f64> =
                (0..p).map(|j| [1.0, 30.0, 0.2][j % 3] * (draws.normal() + 0.6 * common + 0.3)).collect();
            let shared = draws.normal();
            let outputs = (0..k).map(|j| {
                let slope = 1.0 - 0.7 * j as f64;
                slope * row[0]
                    + 0.8
                    + 0.05 * row[p - 1]
                    + 0.9 * shared
                    + (0.5 + 0.4 * j as f64) * draws.normal()
            });
            y.push(outputs.collect());
            x.push(row);
        }
        Self { x, y, weights: None }
    }

    fn packed(&self) -> Packed {
        let (p, k) = (self.x[0].len(), self.y[0].len());
        let cell = |i: usize, j: usize| if j < p { self.x[i][j] } else { self.y[i][j - p] };
        Packed {
            x: Mat::from_fn(self.x.len(), p + k - 1, cell),
            y: self.y.iter().map(|outputs| outputs[k - 1]).collect(),
            weights: self.weights.clone(),
        }
    }

    /// With other outputs, made from those here.
    fn with_outputs(&self, make: impl Fn(&[f64]) -> Vec<f64>) -> Self {
        Self { y: self.y.iter().map(|outputs| make(outputs)).collect(), ..self.clone() }
    }

    fn without(&self, row: usize) -> Self {
        let mut rest = self.clone();
        rest.x.remove(row);
        rest.y.remove(row);
        if let Some(weights) = &mut rest.weights {
            weights.remove(row);
        }
        rest
    }

    fn only(&self, row: usize) -> Self {
        Self { x: vec![self.x[row].clone()], y: vec![self.y[row].clone()], weights: None }
    }

    fn moments(&self) -> Moments {
        Moments::of(self.packed().rows()).unwrap()
    }

    fn try_valuer(&self, how: FitOptions, sizes: Sizes, units: ErrorUnits) -> Result<OutputsValuer, Error> {
        OutputsValuer::new(&self.moments(), self.y[0].len(), how, sizes, units)
    }

    #[track_caller]
    fn valuer(&self, how: FitOptions, sizes: Sizes, units: ErrorUnits) -> OutputsValuer {
        self.try_valuer(how, sizes, units).unwrap_or_else(|error| panic!("{error}")).with_std_error(true)
    }

    /// A valuer of one output alone.
    fn single(&self, how: FitOptions, sizes: Sizes, output: usize) -> (LinearValuer, Packed) {
        let packed = self.with_outputs(|outputs| vec![outputs[output]]).packed();
        let fit = LinearFit::new(&Moments::of(packed.rows()).unwrap(), how).unwrap();
        let valuer = LinearValuer::new(fit, sizes, LinearMethod::default()).unwrap();
        (valuer.with_std_error(true), packed)
    }
}

fn values(valuer: &dyn Valuer, table: &Table, in_reference: bool) -> Values {
    let place = if in_reference { Place::of_reference(0) } else { Place::default() };
    valuer.values_at(table.packed().rows(), place, &|_, _| true).unwrap()
}

fn scales(of: &[f64]) -> ErrorUnits {
    ErrorUnits::Scales(of.to_vec())
}

#[test]
fn values_in_given_scales_are_sums_over_outputs() {
    let sizes = [Sizes::new(12, 40), Sizes::new(12, 40).with_semivalue(Semivalue::Banzhaf)];
    let mut weighted = Table::drawn(501, 60, 3, 3);
    weighted.weights = Some((0..60).map(|i| if i == 5 { 0.0 } else { 0.4 + 0.1 * (i % 9) as f64 }).collect());
    for reference in [Table::drawn(500, 60, 3, 3), weighted] {
        let points = Table::drawn(502, 9, 3, 3);
        for (how, sizes) in KINDS.into_iter().flat_map(|how| sizes.map(|sizes| (how, sizes))) {
            let of_outputs = [0.5, 1.0, 3.0];
            let valuer = reference.valuer(how, sizes, scales(&of_outputs));
            for (table, in_reference) in [(&points, false), (&reference, true)] {
                let found = values(&valuer, table, in_reference);
                let alone: Vec<Values> = (0..3)
                    .map(|output| {
                        let (single, _) = reference.single(how, sizes, output);
                        let own = table.with_outputs(|outputs| vec![outputs[output]]);
                        values(&single, &own, in_reference)
                    })
                    .collect();
                for i in 0..found.len() {
                    let sum = |of: &dyn Fn(&Values) -> f64| -> f64 {
                        alone.iter().zip(of_outputs).map(|(values, scale)| of(values) / (scale * scale)).sum()
                    };
                    let potential = sum(&|values| values.part(Part::Potential).unwrap()[i]);
                    let off = found.value[i] - sum(&|values| values.value[i]);
                    assert!(
                        off.abs() < 1e-12 * potential,
                        "{how:?} row {i}: off by {off:e} of {potential:e}"
                    );
                    assert_close(
                        found.part(Part::ResidSq).unwrap()[i],
                        sum(&|v| v.part(Part::ResidSq).unwrap()[i]),
                        1e-11,
                    );
                    assert_close(
                        found.part(Part::DistSq).unwrap()[i],
                        alone[0].part(Part::DistSq).unwrap()[i],
                        1e-12,
                    );
                }
                let residuals = valuer.residuals(table.packed().rows(), in_reference).unwrap();
                for (j, alone) in alone.iter().enumerate() {
                    for (i, exact) in alone.part(Part::Residual).unwrap().iter().enumerate() {
                        assert!((residuals[(i, j)] - exact).abs() < 1e-11 * exact.abs().max(1e-3));
                    }
                }
            }
        }
    }
}

/// One output is the single target: the same bits in its own unit, and values over its noise
/// variance in units of the noise. Standard errors are the same in the former.
#[test]
fn one_output_is_the_single_target() {
    let (reference, points) = (Table::drawn(503, 50, 3, 1), Table::drawn(504, 20, 3, 1));
    let sizes = Sizes::new(13, 40);
    for how in KINDS {
        let (single, _) = reference.single(how, sizes, 0);
        for (table, in_reference) in [(&points, false), (&reference, true)] {
            let exact = values(&single, table, in_reference);
            let found = values(&reference.valuer(how, sizes, scales(&[1.0])), table, in_reference);
            assert_same_bits(&found.value, &exact.value, "one output in its own unit");
            let (errors, exact_errors) = (found.std_error.unwrap(), exact.std_error.as_ref().unwrap());
            if !in_reference {
                errors.iter().zip(exact_errors).for_each(|(one, other)| assert_close(*one, *other, 1e-12));
            }
            let relative = values(&reference.valuer(how, sizes, ErrorUnits::Noise), table, in_reference);
            for i in 0..table.x.len() {
                let noise_var = match in_reference {
                    false => single.fit().noise_var(),
                    true => reference.without(i).single(how, sizes, 0).0.fit().noise_var(),
                };
                let potential = exact.part(Part::Potential).unwrap()[i];
                let off = relative.value[i] * noise_var - exact.value[i];
                assert!(off.abs() < 1e-10 * potential, "{how:?} row {i}: {off:e} of {potential:e}");
            }
        }
    }
}

/// In units of the noise, which combinations of the outputs are given does not matter. In given
/// scales it does.
#[test]
fn values_in_units_of_the_noise_do_not_depend_on_the_combination_of_outputs() {
    let (reference, points) = (Table::drawn(505, 60, 2, 3), Table::drawn(506, 20, 2, 3));
    let turned = |table: &Table| {
        table.with_outputs(|y| vec![2.0 * y[0] - y[1] + 7.0, 100.0 * y[2], y[0] + y[1] - 0.5 * y[2]])
    };
    let sizes = Sizes::new(12, 40);
    for how in KINDS {
        // A constant added to an output is not linear without an intercept.
        if !how.intercept {
            continue;
        }
        for units in [ErrorUnits::Noise, scales(&[1.0, 1.0, 1.0])] {
            let is_invariant = units == ErrorUnits::Noise;
            let (plain, other) =
                (reference.valuer(how, sizes, units.clone()), turned(&reference).valuer(how, sizes, units));
            for (table, in_reference) in [(&points, false), (&reference, true)] {
                let (one, two) =
                    (values(&plain, table, in_reference), values(&other, &turned(table), in_reference));
                let pairs = || one.value.iter().zip(&two.value).zip(one.part(Part::Potential).unwrap());
                let most =
                    pairs().map(|((one, two), potential)| (one - two).abs() / potential).fold(0.0, f64::max);
                assert_eq!(most < 1e-9, is_invariant, "{how:?}: {most:e}");
                if is_invariant {
                    let errors = one.std_error.unwrap().into_iter().zip(two.std_error.unwrap());
                    errors.for_each(|(one, two)| assert_close(one, two, 1e-8));
                }
            }
        }
    }
}

/// An output that comes twice counts twice in given scales. There is no inverse covariance then.
#[test]
fn an_output_that_comes_twice() {
    let reference = Table::drawn(507, 40, 2, 1);
    let twice = reference.with_outputs(|y| vec![y[0], y[0]]);
    let sizes = Sizes::new(12, 30);
    let once = values(&reference.valuer(CENTRED, sizes, scales(&[1.0])), &reference, true);
    let found = values(&twice.valuer(CENTRED, sizes, scales(&[1.0, 1.0])), &twice, true);
    found.value.iter().zip(&once.value).for_each(|(twice, once)| assert_close(*twice, 2.0 * once, 1e-10));
    assert!(matches!(twice.try_valuer(CENTRED, sizes, ErrorUnits::Noise), Err(Error::BadOption { .. })));
}

/// A row of the reference is valued as if it were not part of it, units included.
#[test]
fn left_out_rows_are_valued_by_fits_of_the_others() {
    let plain = Table::drawn(508, 30, 2, 3);
    let mut weighted = plain.clone();
    weighted.weights = Some((0..30).map(|i| 0.3 + 0.2 * (i % 7) as f64).collect());
    let sizes = Sizes::new(12, 25);
    for reference in [plain, weighted] {
        for (how, units) in
            KINDS.into_iter().flat_map(|how| [(how, ErrorUnits::Noise), (how, scales(&[1.0, 0.5, 2.0]))])
        {
            let found = values(&reference.valuer(how, sizes, units.clone()), &reference, true);
            for row in 0..30 {
                let others = reference.without(row).valuer(how, sizes, units.clone());
                let exact = values(&others, &reference.only(row), false);
                let potential = exact.part(Part::Potential).unwrap()[0];
                let off = found.value[row] - exact.value[0];
                assert!(
                    off.abs() < 1e-9 * potential,
                    "{how:?} {units:?} row {row}: {off:e} of {potential:e}"
                );
            }
        }
    }
}

#[test]
fn a_row_that_alone_determines_a_coefficient_has_no_value() {
    let mut reference = Table::drawn(509, 30, 2, 2);
    reference.x.iter_mut().enumerate().for_each(|(i, row)| row.push(f64::from(u8::from(i == 4))));
    let found = values(&reference.valuer(CENTRED, Sizes::new(12, 20), ErrorUnits::Noise), &reference, true);
    assert_eq!(found.notes, [(4, Note::LeverageOne)]);
    assert!(found.value[4].is_nan() && found.value.iter().filter(|value| value.is_nan()).count() == 1);
}

#[test]
fn moments_of_chunks_give_the_same_values() {
    let reference = Table::drawn(510, 90, 2, 2);
    let mut first = reference.clone();
    let rest = Table { x: first.x.split_off(40), y: first.y.split_off(40), weights: None };
    let mut merged = first.moments();
    merged.merge(&rest.moments()).unwrap();
    let sizes = Sizes::new(12, 40);
    let by_parts = OutputsValuer::new(&merged, 2, CENTRED, sizes, ErrorUnits::Noise).unwrap();
    let (one, two) = (
        values(&by_parts, &reference, true),
        values(&reference.valuer(CENTRED, sizes, ErrorUnits::Noise), &reference, true),
    );
    one.value.iter().zip(&two.value).for_each(|(one, two)| assert_close(*one, *two, 1e-9));
}

// ---- The definition ----------------------------------------------------------

/// Where sets come from: Gaussian features, and outputs by the fit of a reference with noise of its
/// covariance.
struct Population {
    /// A root of the covariance of features, and of noise.
    root: Vec<Vec<f64>>,
    noise_root: Vec<Vec<f64>>,
    sigma: Vec<Vec<f64>>,
    noise: Vec<Vec<f64>>,
    /// A row of coefficients for each output.
    coef: Vec<Vec<f64>>,
}

fn root_of(matrix: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let k = matrix.len();
    let mut lower = vec![vec![0.0; k]; k];
    for i in 0..k {
        for j in 0..=i {
            let left = matrix[i][j] - (0..j).map(|l| lower[i][l] * lower[j][l]).sum::<f64>();
            lower[i][j] = if i == j { left.sqrt() } else { left / lower[j][j] };
        }
    }
    lower
}

fn products(rows: &[Vec<f64>], others: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let sum = |i: usize, j: usize| rows.iter().zip(others).map(|(row, other)| row[i] * other[j]).sum();
    (0..rows[0].len()).map(|i| (0..others[0].len()).map(|j| sum(i, j)).collect()).collect()
}

/// Coefficients of each output by the normal equations.
fn refit(x: &[Vec<f64>], y: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let inverse = inverse(&products(x, x)).unwrap();
    let with_targets = products(x, y);
    let of_output = |j: usize| times(&inverse, &with_targets.iter().map(|row| row[j]).collect::<Vec<_>>());
    (0..y[0].len()).map(of_output).collect()
}

/// What is left of the outputs of rows.
fn left(x: &[Vec<f64>], y: &[Vec<f64>], coef: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let predicted = |row: &[f64], j: usize| coef[j].iter().zip(row).map(|(coef, x)| coef * x).sum::<f64>();
    x.iter().zip(y).map(|(row, y)| (0..y.len()).map(|j| y[j] - predicted(row, j)).collect()).collect()
}

impl Population {
    /// As an uncentred fit of a table sees it.
    fn of(table: &Table) -> Self {
        let (n, p) = (table.x.len() as f64, table.x[0].len());
        let coef = refit(&table.x, &table.y);
        let rest = left(&table.x, &table.y, &coef);
        let over = |matrix: Vec<Vec<f64>>, by: f64| -> Vec<Vec<f64>> {
            matrix.into_iter().map(|row| row.into_iter().map(|cell| cell / by).collect()).collect()
        };
        let sigma = over(products(&table.x, &table.x), n);
        let noise = over(products(&rest, &rest), n - p as f64);
        Self { root: root_of(&sigma), noise_root: root_of(&noise), sigma, noise, coef }
    }

    fn draw(&self, draws: &mut Draws) -> (Vec<f64>, Vec<f64>) {
        let mut of = |root: &[Vec<f64>]| {
            let normal: Vec<f64> = root.iter().map(|_| draws.normal()).collect();
            times(&root.to_vec(), &normal)
        };
        let (x, noise) = (of(&self.root), of(&self.noise_root));
        let y = self
            .coef
            .iter()
            .zip(noise)
            .map(|(coef, noise)| coef.iter().zip(&x).map(|(coef, x)| coef * x).sum::<f64>() + noise);
        let y = y.collect();
        (x, y)
    }

    /// Minus the expected error of coefficients, with errors of outputs added by `omega`.
    fn utility(&self, coef: &[Vec<f64>], omega: &[Vec<f64>]) -> f64 {
        let k = coef.len();
        let off: Vec<Vec<f64>> = (0..k)
            .map(|j| coef[j].iter().zip(&self.coef[j]).map(|(found, true_one)| found - true_one).collect())
            .collect();
        let along = |i: usize, j: usize| -> f64 {
            off[i].iter().zip(times(&self.sigma, &off[j])).map(|(a, b)| a * b).sum()
        };
        -(0..k).map(|i| (0..k).map(|j| omega[i][j] * along(i, j)).sum::<f64>()).sum::<f64>()
    }
}

/// Sets are drawn from the population that the fit describes, all outputs refitted with and without
/// the point. Eight comparisons at five standard errors: a false alarm once in 200 000 runs. Units of
/// the noise without its correlations are rejected by more than ten.
#[test]
fn values_are_those_of_refits_of_all_outputs() {
    let (q, m) = (7, 10);
    let reference = Table::drawn(511, 40, 2, 2);
    let population = Population::of(&reference);
    // Their errors go against the correlation of the noise.
    let points = Table::drawn(512, 4, 2, 2).with_outputs(|y| vec![y[0] + 1.5, y[1] - 1.5]);
    let given = vec![vec![1.0 / 0.49, 0.0], vec![0.0, 1.0 / 2.25]];
    let cases = [(ErrorUnits::Noise, inverse(&population.noise).unwrap()), (scales(&[0.7, 1.5]), given)];
    for seed in seeds(9700) {
        let mut draws = Draws::new(seed);
        let mut found = [[MeanEstimate::default(); 4]; 2];
        for _ in 0..20_000 {
            let mut gains = [[0.0; 4]; 2];
            let (mut x, mut y) = (Vec::new(), Vec::new());
            for size in 1..m {
                let (row, outputs) = population.draw(&mut draws);
                x.push(row);
                y.push(outputs);
                if size < q - 1 {
                    continue;
                }
                let before = refit(&x, &y);
                for point in 0..4 {
                    let (mut grown, mut targets) = (x.clone(), y.clone());
                    grown.push(points.x[point].clone());
                    targets.push(points.y[point].clone());
                    let after = refit(&grown, &targets);
                    for (gains, (_, omega)) in gains.iter_mut().zip(&cases) {
                        gains[point] +=
                            population.utility(&after, omega) - population.utility(&before, omega);
                    }
                }
            }
            for (found, gains) in found.iter_mut().flatten().zip(gains.into_iter().flatten()) {
                found.push(gains / m as f64);
            }
        }
        for ((units, _), estimates) in cases.iter().zip(&found) {
            let exact = values(&reference.valuer(UNCENTRED, Sizes::new(q, m), units.clone()), &points, false);
            for (point, estimate) in estimates.iter().enumerate() {
                println!(
                    "{units:?}, point {point}: {:.4}, z = {:.1}",
                    exact.value[point],
                    estimate.z(exact.value[point])
                );
                estimate.assert_agrees(exact.value[point], &format!("{units:?}, point {point}, seed {seed}"));
            }
        }
        let mistaken = [population.noise[0][0].sqrt(), population.noise[1][1].sqrt()];
        let wrong = values(&reference.valuer(UNCENTRED, Sizes::new(q, m), scales(&mistaken)), &points, false);
        let power = found[0]
            .iter()
            .zip(&wrong.value)
            .map(|(estimate, wrong)| estimate.z(*wrong).abs())
            .fold(0.0, f64::max);
        assert!(power > 2.0 * MAX_ABS_Z, "without correlations only {power:.1} away");
    }
}

/// Standard errors against the spread of values over 400 drawn references of 300 rows. The spread is
/// known to 4 %, and the delta method is within 10 %.
#[test]
fn standard_errors_are_the_spread_over_references() {
    let population = Population::of(&Table::drawn(513, 60, 2, 2));
    let points = Table::drawn(514, 3, 2, 2);
    for seed in seeds(9750) {
        let mut draws = Draws::new(seed);
        for (how, units) in [
            (UNCENTRED, ErrorUnits::Noise),
            (CENTRED, ErrorUnits::Noise),
            (CENTRED, scales(&[0.7, 1.5])),
            (REFITTED, scales(&[0.7, 1.5])),
        ] {
            let mut found = [MeanEstimate::default(); 3];
            let mut reported = [MeanEstimate::default(); 3];
            for _ in 0..400 {
                let (x, y) = (0..300).map(|_| population.draw(&mut draws)).unzip();
                let reference = Table { x, y, weights: None };
                let values =
                    values(&reference.valuer(how, Sizes::new(15, 60), units.clone()), &points, false);
                for i in 0..3 {
                    found[i].push(values.value[i]);
                    reported[i].push(values.std_error.as_ref().unwrap()[i]);
                }
            }
            for (found, reported) in found.iter().zip(&reported) {
                let ratio = reported.mean() / found.std_dev();
                println!("{units:?} intercept {}: ratio {ratio:.3}", how.intercept);
                assert!((ratio - 1.0).abs() < 0.15, "{how:?} {units:?} seed {seed}: {ratio:.3}");
            }
        }
    }
}

// ---- What is refused ----------------------------------------------------------

#[test]
fn wrong_outputs_are_refused() {
    let reference = Table::drawn(515, 30, 2, 2);
    let (moments, sizes) = (reference.moments(), Sizes::new(12, 20));
    let refused =
        |n_outputs, units| OutputsValuer::new(&moments, n_outputs, CENTRED, sizes, units).unwrap_err();
    for n_outputs in [0, 4, 9] {
        assert!(
            matches!(refused(n_outputs, ErrorUnits::Noise), Error::BadOption { .. }),
            "{n_outputs} outputs"
        );
    }
    for wrong in [
        vec![],
        vec![1.0],
        vec![1.0; 3],
        vec![1.0, 0.0],
        vec![1.0, -2.0],
        vec![1.0, f64::NAN],
        vec![1.0, 1e-320],
    ] {
        assert!(matches!(refused(2, scales(&wrong)), Error::BadOption { .. }), "{wrong:?}");
    }
    let exact = reference.with_outputs(|y| vec![y[0], 3.0]);
    assert!(matches!(exact.try_valuer(CENTRED, sizes, ErrorUnits::Noise), Err(Error::ConstantTarget { .. })));
    let few = OutputsValuer::new(&moments, 2, CENTRED, Sizes::new(4, 20), ErrorUnits::Noise);
    assert!(matches!(few, Err(Error::Sizes { .. })));
    let valuer = reference.valuer(CENTRED, sizes, ErrorUnits::Noise);
    let wide = Table::drawn(516, 5, 3, 2);
    assert!(matches!(
        valuer.values(wide.packed().rows()),
        Err(Error::FeatureCount { found: 4, expected: 3 })
    ));
    let mut missing = Table::drawn(517, 5, 2, 2);
    missing.y[3][0] = f64::NAN;
    assert!(matches!(valuer.values(missing.packed().rows()), Err(Error::NotFinite { .. })));
}
