//! Logistic fits and classification values against tables with 22 digits.

use dshap::classification::{
    AuthorsMoments, AuthorsValuer, ClassificationMethod, ClassificationValuer, LogisticFit, LogisticOptions,
};
use dshap::linear::{Bound, Convention, Side};
use dshap::{Part, Rows, Sizes, Valuer};
use dshap_testkit::{Case, cases, relative_error};
use faer::Mat;

/// The documented accuracy is 1e-8. Measured errors are 8e-13 or better; the worst case
/// has separated classes and a small ridge, so that weights span many orders.
const TOLERANCE: f64 = 1e-11;

struct Reference {
    case: Case,
    x: Mat<f64>,
    y: Vec<f64>,
    weights: Option<Vec<f64>>,
    options: LogisticOptions,
}

impl Reference {
    fn all() -> Vec<Self> {
        let read = |case: Case| {
            let rows = case.matrix("x");
            Self {
                x: Mat::from_fn(rows.len(), rows[0].len(), |i, j| rows[i][j]),
                y: case.list("y"),
                weights: case.optional_list("weights"),
                options: LogisticOptions {
                    standardised: false,
                    intercept: case.optional("intercept_value").is_some(),
                    ridge: case.number("ridge"),
                    ..LogisticOptions::default()
                },
                case,
            }
        };
        cases("reference/logistic.json").into_iter().map(read).collect()
    }

    fn rows(&self) -> Rows<'_> {
        let rows = Rows::new(self.x.as_ref(), &self.y).unwrap();
        match &self.weights {
            Some(weights) => rows.with_weights(weights).unwrap(),
            None => rows,
        }
    }

    fn fit(&self) -> LogisticFit {
        LogisticFit::of(self.rows(), self.options).unwrap()
    }

    /// Compares as many numbers as the table has; returns the largest error.
    #[track_caller]
    fn check(&self, name: &str, found: &[f64]) -> f64 {
        let exact = self.case.list(name);
        assert!(!exact.is_empty());
        let mut worst: f64 = 0.0;
        for (i, (found, exact)) in found.iter().zip(&exact).enumerate() {
            let error = relative_error(*found, *exact);
            assert!(
                error < TOLERANCE,
                "{name} {i}: {found:e}, exact {exact:e}, {error:.1e}\n{:?}",
                self.case
            );
            worst = worst.max(error);
        }
        worst
    }
}

#[test]
fn coefficients_and_deviance_match_the_table() {
    let mut worst: f64 = 0.0;
    for reference in Reference::all() {
        let fit = reference.fit();
        worst = worst.max(reference.check("coef", fit.coef()));
        let error = relative_error(fit.deviance(), reference.case.number("deviance"));
        assert!(error < TOLERANCE, "deviance {error:.1e} {:?}", reference.case);
        if let Some(exact) = reference.case.optional("intercept_value") {
            let error = relative_error(fit.intercept_value().unwrap(), exact);
            assert!(error < TOLERANCE, "intercept {error:.1e} {:?}", reference.case);
            worst = worst.max(error);
        }
        println!("{} passes, worst so far {worst:.1e}", fit.n_passes());
    }
}

#[test]
fn statistics_of_rows_match_the_table() {
    let mut worst: f64 = 0.0;
    for reference in Reference::all() {
        let stats = reference.fit().stats(reference.rows()).unwrap();
        let column = |of: fn(&dshap::classification::WorkingStats) -> f64| -> Vec<f64> {
            stats.iter().map(of).collect()
        };
        for (name, found) in [
            ("prob", column(|row| row.prob)),
            ("weight", column(|row| row.weight)),
            ("dist_sq", column(|row| row.dist_sq)),
            ("product", column(|row| row.product)),
        ] {
            worst = worst.max(reference.check(name, &found));
        }
    }
    println!("worst {worst:.1e}");
}

/// With one set size `q = m` the penalty is `a·e²·H2(a)/m`, which gives the
/// product back.
#[test]
fn rows_left_out_match_the_table() {
    for reference in Reference::all() {
        let fit = reference.fit();
        let q = fit.dim() + 9;
        let valuer =
            ClassificationValuer::new(fit, Sizes::new(q, q), ClassificationMethod::default()).unwrap();
        let sums = dshap::numeric::SizeSums::new(q - 9, 9, 9);
        let values = valuer.leave_one_out(reference.rows()).unwrap();
        let dist_sq = values.part(Part::DistSq).unwrap();
        reference.check("left_out_dist_sq", dist_sq);
        let penalty = values.part(Part::Penalty).unwrap();
        let product: Vec<f64> =
            penalty.iter().zip(dist_sq).map(|(penalty, a)| penalty * q as f64 / sums.at(*a).h2).collect();
        reference.check("left_out_product", &product);
    }
}

#[test]
fn gains_match_the_table() {
    let mut n = 0;
    for reference in Reference::all() {
        let Some(exact) = reference.case.optional_list("gain") else { continue };
        let sizes = Sizes::new(reference.case.count("q"), reference.case.count("m"));
        let valuer =
            ClassificationValuer::new(reference.fit(), sizes, ClassificationMethod::default()).unwrap();
        let values = valuer.values(reference.rows()).unwrap();
        let potential = values.part(Part::Potential).unwrap();
        for (i, exact) in exact.iter().enumerate() {
            // A value is a difference of two sides.
            let error = (values.value[i] - exact).abs() / potential[i];
            assert!(error < TOLERANCE, "row {i}: {error:.1e} {:?}", reference.case);
            n += 1;
        }
    }
    assert!(n >= 25, "only {n} values in the table");
}

#[test]
fn printed_bounds_match_the_table() {
    let mut n = 0;
    for reference in Reference::all() {
        if reference.case.optional_list("printed_lower").is_none() {
            continue;
        }
        let sizes = Sizes::new(reference.case.count("q"), reference.case.count("m"));
        let fit = reference.fit();
        let mut moments = AuthorsMoments::new(&fit);
        for start in (0..reference.y.len()).step_by(7) {
            moments.push(reference.rows().slice(start, 7.min(reference.y.len() - start))).unwrap();
        }
        let moments = moments.finish().unwrap();
        for (name, side, stop) in [
            ("printed_lower", Side::Lower, None),
            ("printed_upper", Side::Upper, None),
            ("printed_lower_stopped", Side::Lower, Some(0.005)),
        ] {
            let bound = Bound { stop, ..Bound::new(side, Convention::Authors) };
            let valuer = AuthorsValuer::new(fit.clone(), &moments, sizes, bound).unwrap();
            let exact = reference.case.list(name);
            let values = valuer.values(reference.rows()).unwrap();
            for (i, exact) in exact.iter().enumerate() {
                let error = relative_error(values.value[i], *exact);
                assert!(error < 1e-9, "{name} {i}: {error:.1e} {:?}", reference.case);
                n += 1;
            }
        }
    }
    assert!(n >= 40, "only {n} bounds in the table");
}
