//! Figures 3 and 4, in which nothing is random, against independent numbers.

use crate::common::{csv, done, number};
use dshap::Sizes;
use dshap::linear::{Constant, Convention, GaussianForm, PointStats};
use dshap_experiments::{Error, Experiment, Settings, ShownConstant, Unwatched};
use dshap_testkit::{assert_close, cases_under};
use std::collections::HashMap;

fn quick() -> Settings {
    Settings { quick: true, ..Settings::default() }
}

#[test]
fn figure_3_has_the_thresholds_of_the_high_precision_table() {
    let folder = done(Experiment::Fig3, &quick());
    let (header, rows) = csv(&folder.path().join("fig3.csv"));
    assert_eq!(header, "h,m,c_den,threshold,probability_printed,probability_inside,probability_exact");
    let mut compared = 0;
    for case in cases_under("reference/examples_1_2.json", "synergy_thresholds") {
        let h = case.number("h");
        let row = rows.iter().find(|row| (number(&row[0]) - h).abs() < 1e-12).expect("every h of the table");
        assert_eq!((number(&row[1]), number(&row[2])), (case.number("m"), case.number("C_den")));
        // Thresholds are differences of terms a hundred times as large.
        assert_close(number(&row[3]), case.number("threshold_domain_01_g0"), 1e-12);
        // Two points of an interval of length L are further than t apart with probability (1 − t/L)².
        let t = number(&row[3]);
        assert_close(number(&row[4]), (1.0 - t / (1.0 - h)).powi(2), 1e-12);
        assert_close(number(&row[5]), (1.0 - t / (1.0 - 2.0 * h)).powi(2), 1e-12);
        if h == 0.35 {
            assert_eq!(
                (format!("{:.3}", number(&row[4])), format!("{:.3}", number(&row[6]))),
                ("0.873".into(), "0.862".into())
            );
        }
        compared += 1;
    }
    assert_eq!(compared, rows.len());
}

#[test]
fn figure_4_has_the_values_of_theorem_2_on_its_whole_grid() {
    let folder = done(Experiment::Fig4, &quick());
    let (header, rows) = csv(&folder.path().join("fig4.csv"));
    assert_eq!(header, "p,m,q,e2,d2,gain,theorem,printed");
    assert_eq!(rows.len(), 2 * 3 * 5 * 60);
    let mut forms: HashMap<(usize, usize), [GaussianForm; 3]> = HashMap::new();
    for row in rows {
        let cells: Vec<f64> = row.iter().map(|cell| number(cell)).collect();
        let (p, m) = (cells[0] as usize, cells[1] as usize);
        let sizes = Sizes::new(cells[2] as usize, m);
        let form = |constant, convention| GaussianForm::new(p, sizes, constant, convention).unwrap();
        let forms = forms.entry((p, m)).or_insert_with(|| {
            [
                form(Constant::Gain, Convention::Definition),
                form(Constant::Theorem, Convention::Definition),
                form(Constant::Theorem, Convention::Printed),
            ]
        });
        let stats = PointStats { resid_sq: cells[3], dist_sq: cells[4], noise_var: 1.0 };
        for (form, cell) in forms.iter().zip(&cells[5..]) {
            assert_eq!(*cell, form.value(stats).value);
        }
    }
}

#[test]
fn figure_4_shows_the_constant_that_is_asked_for() {
    let title = |settings: &Settings| {
        let folder = done(Experiment::Fig4, settings);
        std::fs::read_to_string(folder.path().join("fig4.svg")).unwrap()
    };
    assert!(title(&quick()).contains("Value against distance: `gain`"));
    let theorem = Settings { constant: ShownConstant::Theorem, ..quick() };
    assert!(title(&theorem).contains("Value against distance: constant of Theorem 2"));
    let folder = tempfile::tempdir().unwrap();
    let refused = dshap_experiments::run(Experiment::Fig3, &theorem, folder.path(), &Unwatched);
    assert!(matches!(refused, Err(Error::NoUse { .. })), "{refused:?}");
}

/// The gain by its definition for one row of the grid: the mean over sizes of
/// `w·E[σ²/T − (d²e² + Tσ²)/(T + d²)²]`, `T ~ χ²`, by a sum over a fine grid of T.
#[test]
fn figure_4_agrees_with_a_plain_sum() {
    let (p, m, q, e2) = (10_usize, 100_usize, 50_usize, 4.0);
    let folder = done(Experiment::Fig4, &quick());
    let (_, rows) = csv(&folder.path().join("fig4.csv"));
    let row = rows
        .iter()
        .find(|row| row[0] == "10" && row[1] == "100" && number(&row[3]) == e2 && number(&row[4]) == 12.0)
        .expect("d² = 12 is on the grid");
    let d2 = 12.0;
    let mut total = 0.0;
    for s in q - 1..m {
        let nu = (s - p + 1) as f64;
        let density = |t: f64| ((nu / 2.0 - 1.0) * t.ln() - t / 2.0).exp();
        let gain = |t: f64| 1.0 / t - (d2 * e2 + t) / (t + d2).powi(2);
        // The midpoint rule is practically exact: the integrand is smooth and ends in
        // zeros.
        let steps = 40_000;
        let width = 10.0 * nu / steps as f64;
        let at = |i: usize| (i as f64 + 0.5) * width;
        let mass: f64 = (0..steps).map(|i| density(at(i))).sum();
        let mean: f64 = (0..steps).map(|i| density(at(i)) * gain(at(i))).sum();
        total += (s - 1) as f64 / (s - p) as f64 * mean / mass;
    }
    assert_close(number(&row[5]), total / m as f64, 1e-9);
}
