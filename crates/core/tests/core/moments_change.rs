//! Rows added later, rows removed, columns recombined, and moments saved and loaded.

use crate::common::{Data, cases, moments};
use dshap::linear::{FitOptions, LinearFit};
use dshap::{
    BLOCK_ROWS, BuilderParts, Combination, Error, Moments, MomentsBuilder, MomentsParts, Rows, Warning,
};
use dshap_testkit::{Sample, relative_error};
use faer::Mat;
use proptest::prelude::*;
use std::sync::LazyLock;

/// Largest difference of means and products, each relative to its own scale.
fn distance(found: &Moments, expected: &Moments) -> f64 {
    assert_eq!((found.n_rows(), found.n_features()), (expected.n_rows(), expected.n_features()));
    let k = expected.n_features() + 1;
    let scale = |j: usize| expected.centred(j, j).sqrt();
    let spread = |j: usize| scale(j) / (expected.weight()).sqrt();
    let means = (0..k).map(|j| (found.mean(j) - expected.mean(j)).abs() / spread(j));
    let products = (0..k)
        .flat_map(|i| (0..=i).map(move |j| (i, j)))
        .map(|(i, j)| (found.centred(i, j) - expected.centred(i, j)).abs() / (scale(i) * scale(j)));
    means.chain(products).fold(0.0, f64::max)
}

fn part(sample: &Sample, from: usize, to: usize) -> Moments {
    moments(&sample.select(&(from..to).collect::<Vec<_>>()))
}

proptest! {
    #![proptest_config(cases(40))]

    /// Rounding errors are proportional to the earlier sums, and the reported digits are
    /// correct.
    #[test]
    fn forgotten_rows_leave_the_moments_of_the_others(
        seed in 0..1000_u64,
        n_stay in 5..400_usize,
        n_go in 1..400_usize,
        far in prop_oneof![Just(0.0), 0.0..1e3_f64],
    ) {
        let mut sample = Sample::gaussian(seed, n_stay + n_go, 3, 0.7);
        // The removed rows are far from the others and take much variation with them.
        sample.columns[1].iter_mut().skip(n_stay).for_each(|cell| *cell += far);
        let mut found = moments(&sample);
        found.remove(&part(&sample, n_stay, n_stay + n_go)).unwrap();
        let expected = part(&sample, 0, n_stay);
        let error = distance(&found, &expected);
        prop_assert!(error < 32.0 * 10_f64.powf(-found.digits()), "{error:e} with {} digits", found.digits());
        prop_assert!(found.digits() <= 15.7 && found.digits() > 6.0);
        if far == 0.0 {
            prop_assert!(error < 1e-12, "{error:e}");
        }
    }

    /// Rows that are added and forgotten again leave no trace.
    #[test]
    fn adding_and_forgetting_cancel(seed in 0..1000_u64, n in 20..200_usize, rounds in 1..6_usize) {
        let sample = Sample::gaussian(seed, 3 * n, 2, 1.0);
        let start = part(&sample, 0, n);
        let mut found = start.clone();
        for _ in 0..rounds {
            found.merge(&part(&sample, n, 2 * n)).unwrap();
            found.merge(&part(&sample, 2 * n, 3 * n)).unwrap();
            found.remove(&part(&sample, n, 3 * n)).unwrap();
        }
        let error = distance(&found, &start);
        prop_assert!(error < 1e-13 * rounds as f64, "{error:e}");
    }

    /// A run that is saved at any row and resumed ends with the same bits.
    #[test]
    fn a_builder_survives_being_put_away(
        n in prop_oneof![0..50_usize, BLOCK_ROWS - 2..BLOCK_ROWS + 3, 3 * BLOCK_ROWS..4 * BLOCK_ROWS],
        stop in 0.0..1.0_f64,
        weighted in any::<bool>(),
    ) {
        let (rows, weights) = (LONG.rows().slice(0, n + 1), &WEIGHTS[..n + 1]);
        let rows = if weighted { rows.with_weights(weights).unwrap() } else { rows };
        let expected = Moments::of(rows).unwrap();
        let stop = (stop * (n + 1) as f64) as usize;
        let mut builder = MomentsBuilder::new(rows.n_features());
        builder.push(rows.slice(0, stop)).unwrap();
        let parts = builder.to_parts();
        let mut resumed = MomentsBuilder::from_parts(parts.clone()).unwrap();
        prop_assert_eq!(resumed.to_parts(), parts);
        resumed.push(rows.slice(stop, n + 1 - stop)).unwrap();
        prop_assert_eq!(resumed.finish().unwrap(), expected);
    }
}

static LONG: LazyLock<Data> = LazyLock::new(|| Data::of(&Sample::gaussian(5, 4 * BLOCK_ROWS, 2, 1.0)));
static WEIGHTS: LazyLock<Vec<f64>> =
    LazyLock::new(|| (0..4 * BLOCK_ROWS).map(|i| ((i + 1) % 7) as f64 / 2.0).collect());

#[test]
fn what_was_never_there_cannot_be_forgotten() {
    let sample = Sample::gaussian(1, 60, 2, 1.0);
    let all = moments(&sample);
    let mut found = all.clone();
    assert_eq!(found.remove(&all), Err(Error::NotAmong { column: None }), "nothing would be left");
    let mut wide = part(&sample, 0, 10);
    wide.merge(&wide.clone()).unwrap();
    let mut stretched = sample.select(&(0..20).collect::<Vec<_>>());
    stretched.columns[1].iter_mut().for_each(|cell| *cell *= 100.0);
    assert_eq!(found.remove(&moments(&stretched)), Err(Error::NotAmong { column: Some(1) }));
    assert_eq!(found, all, "an error changes nothing");
    let narrow = moments(&Sample::gaussian(1, 5, 1, 1.0));
    assert_eq!(found.remove(&narrow), Err(Error::FeatureCount { found: 1, expected: 2 }));
}

/// When nearly all variation of a column is forgotten, the fit warns.
#[test]
fn lost_digits_reach_the_warnings_of_the_fit() {
    let n = 200;
    let mut sample = Sample::gaussian(3, 2 * n, 2, 1.0);
    sample.columns[0].iter_mut().skip(n).for_each(|cell| *cell *= 3e6);
    let mut left = moments(&sample);
    left.remove(&part(&sample, n, 2 * n)).unwrap();
    assert!((2.0..3.5).contains(&left.digits()), "{}", left.digits());
    let fit = LinearFit::new(&left, FitOptions::default()).unwrap();
    let warnings = fit.warnings();
    // Solving takes two more digits.
    let is_of_digits =
        |warning: &Warning| matches!(warning, Warning::IllConditioned { column: 0, digits: 0 | 1 });
    assert!(warnings.iter().any(is_of_digits), "{warnings:?}");

    // With nothing left of the column but rounding errors it is dropped.
    sample.columns[0].iter_mut().skip(n).for_each(|cell| *cell *= 1e4);
    let mut left = moments(&sample);
    left.remove(&part(&sample, n, 2 * n)).unwrap();
    let fit = LinearFit::new(&left, FitOptions::default()).unwrap();
    assert_eq!(fit.dropped(), [0]);
}

#[test]
fn recombined_columns_are_those_of_the_recombined_rows() {
    let sample = Sample::gaussian(9, 500, 3, 1.0);
    let columns = [
        Combination::column(2),
        Combination { constant: 0.0, terms: vec![] },
        Combination { constant: 1.0, terms: vec![(0, -1.0), (1, -1.0)] },
        Combination::column(0),
    ];
    let (x, y) = (&sample.columns, sample.y.clone());
    let made = Sample {
        columns: vec![
            x[2].clone(),
            vec![0.0; 500],
            x[0].iter().zip(&x[1]).map(|(a, b)| 1.0 - a - b).collect(),
            x[0].clone(),
        ],
        y,
    };
    let found = moments(&sample).recombined(&columns);
    let expected = moments(&made);
    for i in 0..5 {
        assert!((found.mean(i) - expected.mean(i)).abs() < 1e-15, "mean {i}");
        for j in 0..=i {
            let close = (found.centred(i, j) - expected.centred(i, j)).abs() < 1e-12 * 500.0;
            assert!(close, "{i},{j}: {} and {}", found.centred(i, j), expected.centred(i, j));
        }
    }
    // Columns that stay keep their bits.
    let same: Vec<Combination> = (0..3).map(Combination::column).collect();
    assert_eq!(moments(&sample).recombined(&same), moments(&sample));
}

#[test]
fn recombined_columns_remember_what_was_forgotten() {
    let sample = Sample::gaussian(9, 300, 2, 1.0);
    let mut some = moments(&sample);
    some.remove(&part(&sample, 100, 300)).unwrap();
    let sum = Combination { constant: 0.0, terms: vec![(0, 1.0), (1, 1.0)] };
    let found = some.recombined(&[sum, Combination::column(1)]);
    assert!(found.inflation(0) > 1.5, "{}", found.inflation(0));
    assert!(relative_error(found.inflation(1), some.inflation(1)) < 1e-15);
}

fn moments_parts() -> MomentsParts {
    let mut all = moments(&Sample::gaussian(2, 40, 2, 1.0));
    all.remove(&moments(&Sample::gaussian(2, 40, 2, 1.0).select(&[3, 4]))).unwrap();
    all.to_parts()
}

#[test]
fn damaged_moments_are_told_from_sound_ones() {
    assert_eq!(Moments::from_parts(moments_parts()).unwrap().to_parts(), moments_parts());
    let damages: [fn(&mut MomentsParts); 12] = [
        |p| p.lower.truncate(5),
        |p| p.offset.truncate(2),
        |p| p.shift.clear(),
        |p| p.lower[1] = f64::NAN,
        |p| p.lower[0] = -1.0,
        |p| p.shift[0] = f64::INFINITY,
        |p| p.offset[0] = f64::NAN,
        |p| p.weight = 0.0,
        |p| p.weight_sq = f64::NAN,
        |p| p.n_rows = 0,
        |p| p.peak = Some(vec![1.0]),
        |p| p.peak = Some(vec![f64::NAN; 3]),
    ];
    for (i, damage) in damages.iter().enumerate() {
        let mut parts = moments_parts();
        damage(&mut parts);
        let found = Moments::from_parts(parts);
        assert!(matches!(found, Err(Error::Contradiction { .. })), "damage {i}: {found:?}");
    }
}

#[test]
fn damaged_builders_are_told_from_sound_ones() {
    let sound = || {
        let mut builder = MomentsBuilder::new(2);
        builder.push(LONG.rows().slice(0, BLOCK_ROWS + 3)).unwrap();
        builder.to_parts()
    };
    let damages: [fn(&mut BuilderParts); 8] = [
        |p| p.n_rows += 1,
        |p| _ = p.pending.pop(),
        |p| p.pending.truncate(6),
        |p| p.pending[0] = f64::NAN,
        |p| p.n_features = 3,
        |p| p.merged[0].0 = 60,
        |p| p.merged.push(p.merged[0].clone()),
        |p| p.pending_weights = Some(vec![1.0]),
    ];
    for (i, damage) in damages.iter().enumerate() {
        let mut parts = sound();
        damage(&mut parts);
        let found = MomentsBuilder::from_parts(parts);
        assert!(matches!(found, Err(Error::Contradiction { .. })), "damage {i}: {found:?}");
    }
}

#[test]
fn an_empty_chunk_changes_nothing() {
    let none = Mat::<f64>::zeros(0, 2);
    let mut builder = MomentsBuilder::new(2);
    builder.push(Rows::new(none.as_ref(), &[]).unwrap()).unwrap();
    assert_eq!(builder.to_parts().pending, Vec::<f64>::new());
    assert_eq!(builder.finish(), Err(Error::NoRows));
}
