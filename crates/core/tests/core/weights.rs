//! Reference rows with weights: a share in the reference, whose scale does not matter.

use crate::common;
use crate::common::{CENTRED, Data, UNCENTRED, cases};
use dshap::linear::{FitOptions, LinearFit, LinearMethod, LinearValuer};
use dshap::{Error, Moments, MomentsBuilder, Part, Rows, Sizes, Valuer, Values};
use dshap_testkit::{Draws, MeanEstimate, Sample, assert_close, assert_same_bits, seeds};
use proptest::prelude::*;

struct Weighted {
    data: Data,
    weights: Vec<f64>,
}

impl Weighted {
    fn new(sample: &Sample, weights: Vec<f64>) -> Self {
        Self { data: Data::of(sample), weights }
    }

    fn rows(&self) -> Rows<'_> {
        self.data.rows().with_weights(&self.weights).unwrap()
    }

    fn fit(&self, options: FitOptions) -> LinearFit {
        LinearFit::new(&Moments::of(self.rows()).unwrap(), options).unwrap()
    }

    fn valuer(&self, options: FitOptions) -> LinearValuer {
        let sizes = Sizes::new(14, 60);
        LinearValuer::new(self.fit(options), sizes, LinearMethod::default()).unwrap().with_std_error(true)
    }
}

fn uneven(seed: u64, n: usize) -> Vec<f64> {
    let mut draws = Draws::new(seed);
    (0..n).map(|_| (0.8 * draws.normal()).exp()).collect()
}

fn assert_values_close(found: &Values, expected: &Values, tolerance: f64) {
    for (found, expected) in found.value.iter().zip(&expected.value) {
        assert_close(*found, *expected, tolerance);
    }
    let errors = |values: &Values| values.std_error.clone().unwrap();
    for (found, expected) in errors(found).iter().zip(&errors(expected)) {
        assert_close(*found, *expected, tolerance);
    }
}

#[test]
fn weights_of_one_change_no_bit() {
    let sample = Sample::gaussian(1, 10_000, 3, 1.0);
    let ones = Weighted::new(&sample, vec![1.0; 10_000]);
    assert_eq!(Moments::of(ones.rows()).unwrap(), common::moments(&sample));
    for options in [CENTRED, UNCENTRED] {
        let plain = common::gain_valuer(&sample, options, Sizes::new(14, 60));
        let (found, expected) = (ones.valuer(options), plain);
        let found = found.leave_one_out(ones.rows(), 0).unwrap();
        let expected = expected.leave_one_out(ones.data.rows(), 0).unwrap();
        assert_same_bits(&found.value, &expected.value, "values");
        assert_same_bits(&found.std_error.unwrap(), &expected.std_error.unwrap(), "standard errors");
    }
}

#[test]
fn only_ratios_of_weights_matter() {
    let sample = Sample::gaussian(2, 300, 3, 1.0);
    let weights = uneven(3, 300);
    let base = Weighted::new(&sample, weights.clone());
    for scale in [0.25, 7.3, 1e-30, 1e30] {
        let scaled = Weighted::new(&sample, weights.iter().map(|w| w * scale).collect());
        for options in [CENTRED, UNCENTRED] {
            let found = scaled.valuer(options).leave_one_out(scaled.rows(), 0).unwrap();
            let expected = base.valuer(options).leave_one_out(base.rows(), 0).unwrap();
            assert_values_close(&found, &expected, 1e-10);
        }
    }
}

proptest! {
    #![proptest_config(cases(25))]

    /// A whole weight is a number of copies, except for the degrees of freedom: copies
    /// are not new rows.
    #[test]
    fn a_weight_is_a_number_of_copies(seed in 0..1000_u64, n in 30..120_usize, centred in any::<bool>()) {
        let options = if centred { CENTRED } else { UNCENTRED };
        let sample = Sample::gaussian(seed, n, 2, 1.0);
        let counts: Vec<usize> = (0..n).map(|i| (i * 7 + seed as usize) % 4).collect();
        let copied: Vec<usize> = counts.iter().enumerate().flat_map(|(i, &k)| vec![i; k]).collect();
        let weighted = Weighted::new(&sample, counts.iter().map(|&k| k as f64).collect());
        let (found, expected) = (weighted.fit(options), common::fit(&sample.select(&copied), options));
        for (found, expected) in found.coef().iter().zip(expected.coef()) {
            prop_assert!((found - expected).abs() < 1e-12 * (1.0 + expected.abs()));
        }
        prop_assert_eq!(found.n_rows(), counts.iter().filter(|&&k| k > 0).count());
        // Distances are the same; so is the mean squared residual.
        let value = |fit: LinearFit| {
            let valuer = LinearValuer::new(fit, Sizes::new(9, 40), LinearMethod::default()).unwrap();
            valuer.values(weighted.data.rows()).unwrap()
        };
        let share = |fit: &LinearFit| fit.rss() / fit.n_rows() as f64;
        assert_close(share(&found), share(&expected), 1e-12);
        let (found, expected) = (value(found), value(expected));
        for part in [Part::DistSq, Part::ResidSq] {
            for (found, expected) in found.part(part).unwrap().iter().zip(expected.part(part).unwrap()) {
                assert_close(*found, *expected, 1e-9);
            }
        }
    }

    /// Leave-one-out against a fit without the row.
    #[test]
    fn leaving_a_weighted_row_out_is_a_refit_without_it(
        seed in 0..1000_u64,
        centred in any::<bool>(),
        row in 0..50_usize,
    ) {
        let options = if centred { CENTRED } else { UNCENTRED };
        let sample = Sample::gaussian(seed, 50, 3, 1.0);
        let mut weights = uneven(seed + 7, 50);
        weights[(row + 1) % 50] = 0.0;
        let all = Weighted::new(&sample, weights.clone());
        let found = all.valuer(options).leave_one_out(all.rows().slice(row, 1), 0).unwrap();
        let mut without = weights;
        without.remove(row);
        let rest = Weighted::new(&sample.without(row), without);
        let expected = rest.valuer(options).values(all.data.rows().slice(row, 1)).unwrap();
        assert_values_close(&found, &expected, 1e-9);
    }
}

#[test]
fn rows_of_weight_zero_are_not_in_the_reference() {
    let sample = Sample::gaussian(4, 100, 2, 1.0);
    let mut weights = uneven(5, 100);
    weights.iter_mut().step_by(3).for_each(|w| *w = 0.0);
    let all = Weighted::new(&sample, weights.clone());
    let kept: Vec<usize> = (0..100).filter(|i| i % 3 != 0).collect();
    let rest = Weighted::new(&sample.select(&kept), kept.iter().map(|&i| weights[i]).collect());
    let (found, expected) = (all.fit(CENTRED), rest.fit(CENTRED));
    assert_eq!(found.n_rows(), 66);
    assert_close(found.noise_var(), expected.noise_var(), 1e-12);
    assert_close(found.effective_rows(), expected.effective_rows(), 1e-14);
    // Row 0 is valued as an unseen row.
    let left_out = all.valuer(CENTRED).leave_one_out(all.rows().slice(0, 1), 0).unwrap();
    let unseen = all.valuer(CENTRED).values(all.data.rows().slice(0, 1)).unwrap();
    assert_same_bits(&left_out.value, &unseen.value, "weight 0");
}

#[test]
fn blocks_without_any_weight_do_no_harm() {
    let n = 3 * dshap::BLOCK_ROWS;
    let sample = Sample::gaussian(6, n, 2, 1.0);
    let middle = dshap::BLOCK_ROWS..2 * dshap::BLOCK_ROWS;
    for zero in [0..dshap::BLOCK_ROWS, middle, 2 * dshap::BLOCK_ROWS..n] {
        let mut weights = vec![2.0; n];
        weights[zero.clone()].fill(0.0);
        let found = Moments::of(Weighted::new(&sample, weights).rows()).unwrap();
        let kept: Vec<usize> = (0..n).filter(|i| !zero.contains(i)).collect();
        let expected = common::moments(&sample.select(&kept));
        assert_eq!((found.n_rows(), found.weight()), (expected.n_rows(), 2.0 * expected.weight()));
        assert_close(found.centred(1, 0), 2.0 * expected.centred(1, 0), 1e-12);
    }
    let none = Weighted::new(&sample, vec![0.0; n]);
    assert_eq!(Moments::of(none.rows()), Err(Error::NoRows));
}

#[test]
fn bad_weights_are_refused() {
    let sample = Sample::gaussian(7, 20, 2, 1.0);
    for bad in [-1.0, f64::NAN, f64::INFINITY, 1e-170, 1e101] {
        let mut weights = vec![1.0; 20];
        weights[11] = bad;
        let found = Moments::of(Weighted::new(&sample, weights).rows());
        assert_eq!(found, Err(Error::BadWeight { row: 11 }));
    }
    let data = Data::of(&sample);
    assert!(data.rows().with_weights(&[1.0; 3]).is_err());
    // One row with nearly all the weight is a sample of little more than one row.
    let mut weights = vec![1.0; 20];
    weights[3] = 1e6;
    let found = LinearFit::new(&Moments::of(Weighted::new(&sample, weights).rows()).unwrap(), CENTRED);
    assert!(matches!(found, Err(Error::TooFewEffectiveRows { needed: 5, .. })), "{found:?}");
}

#[test]
fn rows_without_weights_count_as_one_among_weighted_ones() {
    let sample = Sample::gaussian(8, 30, 2, 1.0);
    let data = Data::of(&sample);
    let twos = vec![2.0; 20];
    let mut builder = MomentsBuilder::new(2);
    builder.push(data.rows().slice(0, 10)).unwrap();
    builder.push(data.rows().slice(10, 20).with_weights(&twos).unwrap()).unwrap();
    let weights: Vec<f64> = (0..30).map(|i| if i < 10 { 1.0 } else { 2.0 }).collect();
    let expected = Moments::of(Weighted::new(&sample, weights).rows()).unwrap();
    assert_eq!(builder.finish().unwrap(), expected);
}

/// `σ²` is unbiased if weights are independent of the rows; dividing by `n − p − 1`
/// instead, as without weights, is detected as wrong. False alarm 6e-7 per comparison.
#[test]
fn the_noise_variance_is_unbiased() {
    for seed in seeds(9100) {
        let (mut found, mut naive) = (MeanEstimate::default(), MeanEstimate::default());
        for draw in 0..4000 {
            let sample = Sample::gaussian(seed * 10_000 + draw, 150, 5, 0.5);
            let fit = Weighted::new(&sample, uneven(draw + 17, 150)).fit(CENTRED);
            found.push(fit.noise_var());
            naive.push(fit.rss() / 144.0);
        }
        found.assert_agrees(0.25, "noise variance");
        assert!(naive.z(0.25).abs() > 8.0, "no power: {} and {}", naive.z(0.25), found.z(0.25));
    }
}

/// Reported standard errors are the spread over reference samples. The
/// deviation of 2000 values is known to 1.6 %; ten per cent leave room for the
/// delta method at about 100 effective rows.
#[test]
fn standard_errors_are_those_of_the_effective_sample() {
    let points = Data::of(&Sample { columns: vec![vec![1.0, 2.0], vec![-0.5, 1.0]], y: vec![3.5, -2.0] });
    for seed in seeds(9200) {
        let none = || [MeanEstimate::default(); 2];
        let (mut spread, mut reported, mut naive) = (none(), none(), none());
        for draw in 0..2000 {
            let sample = Sample::gaussian(seed * 10_000 + draw, 200, 2, 1.0);
            let weighted = Weighted::new(&sample, uneven(draw + 5, 200));
            let values = weighted.valuer(CENTRED).values(points.rows()).unwrap();
            let share = (weighted.fit(CENTRED).effective_rows() / 200.0).sqrt();
            for k in 0..2 {
                spread[k].push(values.value[k]);
                reported[k].push(values.std_error.as_ref().unwrap()[k]);
                naive[k].push(values.std_error.as_ref().unwrap()[k] * share);
            }
        }
        for k in 0..2 {
            let ratio = reported[k].mean() / spread[k].std_dev();
            assert!((ratio - 1.0).abs() < 0.1, "point {k}: {ratio}");
            assert!(
                naive[k].mean() / spread[k].std_dev() < 0.85,
                "rows instead of effective rows would pass"
            );
        }
    }
}
