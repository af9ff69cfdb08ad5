//! Logistic fits and values on real data.
//!
//! The files are not part of the project: see [`real_data`].

use crate::common::classification as setting;

use dshap::classification::{ClassificationMethod, ClassificationValuer, LogisticOptions, OneVsRest};
use dshap::{Error, Part, Rows, Sizes};
use dshap_testkit::{Sample, assert_close, real_data};
use setting::{PLAIN, logistic, table, try_logistic};

/// A table with a header, the target last.
pub(crate) fn data(file: &str) -> Option<Sample> {
    let text = std::fs::read_to_string(real_data(file)?).unwrap();
    let rows: Vec<Vec<f64>> = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect())
        .collect();
    let p = rows[0].len() - 1;
    let column = |j: usize| rows.iter().map(|row| row[j]).collect();
    Some(Sample { columns: (0..p).map(column).collect(), y: column(p) })
}

/// An independent implementation: `GLM(y, add_constant(X), family=Binomial())` of
/// statsmodels 0.15.0, fitted with `tol=1e-14`.
#[test]
fn pima_has_the_coefficients_of_statsmodels() {
    let Some(sample) = data("pima_diabetes.csv") else { return };
    let fit = logistic(&sample, PLAIN);
    let expected = [
        0.123_182_298_352_439_32,
        0.035_163_714_606_856_69,
        -0.013_295_546_904_306_066,
        0.000_618_964_364_875_549_5,
        -0.001_191_698_984_162_272,
        0.089_700_970_030_946_74,
        0.945_179_740_621_130_4,
        0.014_869_004_744_469_415,
    ];
    for (found, expected) in fit.coef().iter().zip(expected) {
        assert!((found / expected - 1.0).abs() < 1e-8, "{found} {expected}");
    }
    assert!((fit.intercept_value().unwrap() / -8.404_696_366_914_148 - 1.0).abs() < 1e-8);
    assert!((fit.deviance() / 723.445_377_774 - 1.0).abs() < 1e-11, "{}", fit.deviance());
}

/// The score equations hold, rows have values, and flipped labels are low.
#[test]
fn rows_whose_label_was_changed_have_low_values() {
    for file in ["pima_diabetes.csv", "australian_scale.csv"] {
        let Some(mut sample) = data(file) else { continue };
        let changed: Vec<usize> = (0..sample.n_rows()).filter(|row| row % 7 == 3).collect();
        changed.iter().for_each(|&row| sample.y[row] = 1.0 - sample.y[row]);
        let fit = logistic(&sample, LogisticOptions { ridge: 0.01, ..PLAIN });
        let n = sample.n_rows();
        let sizes = Sizes::new(Sizes::default_min(fit.dim(), n), n);
        let valuer = ClassificationValuer::new(fit, sizes, ClassificationMethod::default()).unwrap();
        let (x, y) = table(&sample);
        let values = valuer.leave_one_out(Rows::new(x.as_ref(), &y).unwrap()).unwrap();
        assert!(values.notes.is_empty() && values.value.iter().all(|value| value.is_finite()));
        // The area under the curve: how often a changed row is below another.
        let is_changed = |row: usize| row % 7 == 3;
        let pairs = changed.iter().flat_map(|&a| (0..n).filter(|&b| !is_changed(b)).map(move |b| (a, b)));
        let (mut below, mut all) = (0.0, 0.0);
        for (a, b) in pairs {
            below += f64::from(u8::from(values.value[a] < values.value[b]));
            all += 1.0;
        }
        println!("{file}: area {:.3}", below / all);
        assert!(below / all > 0.65, "{file}: {:.3}", below / all);
    }
}

/// Thirty features separate the 569 rows of breast_cancer.
#[test]
fn breast_cancer_is_separated_and_a_ridge_helps() {
    let Some(sample) = data("breast_cancer.csv") else { return };
    let error = try_logistic(&sample, PLAIN).unwrap_err();
    println!("{error}");
    let Error::Separated { complete: true, coef, intercept, .. } = &error else { panic!("{error:?}") };
    for i in 0..sample.n_rows() {
        let side = intercept + coef.iter().zip(&sample.columns).map(|(c, x)| c * x[i]).sum::<f64>();
        assert_eq!(side > 0.0, sample.y[i] == 1.0, "row {i}");
    }
    let fit = logistic(&sample, LogisticOptions { ridge: 1.0, ..PLAIN });
    println!("{} passes", fit.n_passes());
    let (x, y) = table(&sample);
    let stats = fit.stats(Rows::new(x.as_ref(), &y).unwrap()).unwrap();
    assert_close(stats.iter().map(|row| row.dist_sq).sum::<f64>() / 569.0, 31.0, 1e-8);
}

#[test]
fn digits_are_valued_one_against_the_rest() {
    let Some(sample) = data("digits.csv") else { return };
    let (x, y) = table(&sample);
    let rows = Rows::new(x.as_ref(), &y).unwrap();
    let n = rows.len();
    let fits = OneVsRest::fits(rows, 10, LogisticOptions { ridge: 1.0, ..PLAIN }).unwrap();
    println!(
        "{:?} passes, {} columns",
        fits.iter().map(|fit| fit.n_passes()).collect::<Vec<_>>(),
        fits[0].dim()
    );
    let sizes = Sizes::new(Sizes::default_min(fits[0].dim(), n), n);
    let valuer = OneVsRest::new(fits, sizes, ClassificationMethod::default()).unwrap();
    let (sum, by_class) = valuer.values_by_class(rows, true).unwrap();
    assert_eq!(by_class.len(), 10);
    assert!(sum.value.iter().filter(|value| value.is_finite()).count() > n * 9 / 10);
    let probs: Vec<&[f64]> = by_class.iter().map(|values| values.part(Part::Prob).unwrap()).collect();
    let right = (0..n)
        .filter(|&i| (0..10).max_by(|&a, &b| probs[a][i].total_cmp(&probs[b][i])).unwrap() == y[i] as usize)
        .count();
    assert!(right > n * 95 / 100, "{right} of {n}");
}
