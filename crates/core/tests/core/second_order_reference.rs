//! Second-order expansions against a table with 22 digits: every moment, every
//! derivative, the law itself.

use dshap::classification::{LogisticFit, LogisticOptions, LogisticParts};
use dshap::second_order::{Expansion, RowTerms, SecondOrderOptions, SecondOrderValuer, Utility};
use dshap::{Rows, Sizes};
use dshap_testkit::{Case, cases};
use faer::linalg::solvers::DenseSolveCore;
use faer::{Col, Mat};

/// The fit is good to about 1e-13 (see `classification_reference.rs`); inverses
/// of matrices whose condition is below 100 and a dozen sums cost two digits.
const TOLERANCE: f64 = 1e-11;

/// Which of the interpolated sizes gets the ridge of the table.
const NODE: usize = 3;

struct Reference {
    case: Case,
    x: Mat<f64>,
    y: Vec<f64>,
    /// Labels that are probabilities are two rows with these weights.
    weights: Vec<f64>,
    intercept: bool,
    utility: Utility,
}

impl Reference {
    fn all() -> Vec<Self> {
        let binary = |case: &Case| case.text("kind") != "logloss_softmax";
        cases("reference/second_order.json").into_iter().filter(binary).map(Self::read).collect()
    }

    fn read(case: Case) -> Self {
        let (rows, prob) = (case.matrix("X"), case.list("p1"));
        // Only a column that is not penalised needs to be an intercept.
        let intercept = case.list("pen")[0] == 0.0;
        let skip = usize::from(intercept);
        let cells: Vec<(&[f64], f64, f64)> = rows
            .iter()
            .zip(&prob)
            .flat_map(|(x, &p)| [(&x[skip..], 1.0, p), (&x[skip..], 0.0, 1.0 - p)])
            .filter(|(_, _, weight)| *weight > 0.0)
            .collect();
        let utility = if case.text("kind") == "brier" { Utility::Brier } else { Utility::LogLoss };
        Self {
            x: Mat::from_fn(cells.len(), rows[0].len() - skip, |i, j| cells[i].0[j]),
            y: cells.iter().map(|cell| cell.1).collect(),
            weights: cells.iter().map(|cell| cell.2).collect(),
            intercept,
            utility,
            case,
        }
    }

    fn rows(&self) -> Rows<'_> {
        Rows::new(self.x.as_ref(), &self.y).unwrap().with_weights(&self.weights).unwrap()
    }

    fn valuer(&self, ridge: f64, small_ridge: f64) -> SecondOrderValuer {
        let logistic = LogisticOptions { intercept: self.intercept, ridge, ..LogisticOptions::default() };
        let fit = LogisticFit::of(self.rows(), logistic).unwrap();
        let options = SecondOrderOptions { utility: self.utility, small_ridge, ..Default::default() };
        SecondOrderValuer::of(fit, self.rows(), Sizes::new(40, 300), options).unwrap()
    }

    /// A valuer one of whose expansions has the ridge of the table, and which.
    fn at_table_ridge(&self) -> (SecondOrderValuer, usize) {
        let lambda = self.case.number("lam");
        if lambda == 0.0 {
            return (self.valuer(0.0, 1.0), 0);
        }
        let size = self.valuer(1.0, 0.0).expansions().nth(NODE).unwrap().1.size;
        (self.valuer(lambda * (size + 1.0), 0.0), NODE)
    }

    #[track_caller]
    fn close(&self, name: &str, found: &[f64], exact: &[f64], scale: f64) {
        assert_eq!(found.len(), exact.len(), "{name}");
        for (found, exact) in found.iter().zip(exact) {
            let error = (found - exact).abs() / scale;
            assert!(error < TOLERANCE, "{}, {name}: {found:e}, exact {exact:e}", self.case.text("name"));
        }
    }
}

/// From the coordinates of an expansion to those of the table: `x = Bz`.
struct Coordinates {
    forward: Mat<f64>,
    back: Mat<f64>,
}

impl Coordinates {
    fn of(parts: &LogisticParts) -> Self {
        let p = parts.beta.len();
        let mut packed = parts.lower.iter();
        let mut lower = Mat::<f64>::zeros(p, p);
        for j in 0..p {
            for i in j..p {
                lower[(i, j)] = packed.next().unwrap() / (parts.n_rows as f64).sqrt();
            }
        }
        let first = usize::from(parts.intercept);
        let unscale = Mat::from_fn(p, p, |i, j| match i.checked_sub(first) {
            None => f64::from(u8::from(j == 0)),
            Some(k) if i == j => 1.0 / parts.scale[k],
            Some(k) if j < first => parts.shift[k] + parts.offset[k],
            Some(_) => 0.0,
        });
        let forward = unscale * lower;
        let back = forward.partial_piv_lu().inverse();
        Self { forward, back }
    }

    fn like_x(&self, v: &Col<f64>) -> Vec<f64> {
        (&self.forward * v).iter().copied().collect()
    }

    fn like_beta(&self, v: &Col<f64>) -> Vec<f64> {
        (self.back.transpose() * v).iter().copied().collect()
    }

    fn like_hessian(&self, m: &Mat<f64>) -> Vec<f64> {
        flat(&(&self.forward * m * self.forward.transpose()))
    }

    fn like_inverse(&self, m: &Mat<f64>) -> Vec<f64> {
        flat(&(self.back.transpose() * m * &self.back))
    }
}

fn flat(m: &Mat<f64>) -> Vec<f64> {
    (0..m.nrows()).flat_map(|i| (0..m.ncols()).map(move |j| m[(i, j)])).collect()
}

fn size_of(numbers: &[f64]) -> f64 {
    numbers.iter().fold(1.0, |largest, x| largest.max(x.abs()))
}

#[test]
fn every_moment_matches_the_table() {
    let mut n = 0;
    for reference in Reference::all() {
        let (valuer, node) = reference.at_table_ridge();
        let (fit, expansion) = valuer.expansions().nth(node).unwrap();
        let at = Coordinates::of(&fit.to_parts());
        let exact = reference.case.field("intermediates");
        let Expansion { inverse, noise, spread, curvature, .. } = expansion;
        let identity = Mat::identity(fit.dim(), fit.dim());
        let mut matrices = vec![
            ("H0", at.like_hessian(&identity)),
            ("Hinv", at.like_inverse(inverse)),
            ("J", at.like_hessian(noise)),
            ("V", at.like_inverse(spread)),
        ];
        let mut vectors = vec![
            ("g0", at.like_x(&expansion.pull)),
            ("kV", at.like_x(&expansion.skew)),
            ("h", at.like_x(&expansion.feedback)),
            ("b", at.like_beta(&expansion.bias)),
        ];
        let mut numbers = Vec::new();
        // A utility that is not offered: what does not depend on it is compared.
        if reference.case.text("kind") != "quad" {
            matrices.extend([
                ("D", at.like_hessian(curvature)),
                ("Kr", at.like_hessian(&expansion.turned_skew)),
                ("Dtilde", at.like_hessian(&expansion.net_curvature)),
                ("W", at.like_inverse(&expansion.position)),
                ("N", at.like_inverse(&expansion.turned_position)),
            ]);
            vectors.extend([
                ("q", at.like_x(&expansion.slope)),
                ("r", at.like_beta(&expansion.turn)),
                ("Q3V", at.like_x(&expansion.third)),
                ("l4", at.like_x(&expansion.fourth)),
                ("m_r", at.like_x(&expansion.turned_feedback)),
                ("HHH", at.like_x(&expansion.turned_weight)),
                ("v3", at.like_x(&expansion.along_influence)),
            ]);
            numbers.extend([("c3", expansion.constant), ("Ephi2", expansion.mean_second)]);
        }
        for (name, found) in &matrices {
            let exact: Vec<f64> = exact.matrix(name).concat();
            reference.close(name, found, &exact, size_of(&exact));
        }
        for (name, found) in &vectors {
            let exact = exact.list(name);
            reference.close(name, found, &exact, size_of(&exact));
        }
        for (name, found) in &numbers {
            let exact = exact.number(name);
            reference.close(name, &[*found], &[exact], size_of(&[exact]));
        }
        // Differences of the exact functional, not of the formula.
        reference.close("fd_b", &vectors[3].1, &reference.case.list("fd_b"), size_of(&vectors[3].1));
        n += matrices.len() + vectors.len() + numbers.len();
    }
    assert!(n >= 110, "only {n} moments in the table");
}

#[test]
fn derivatives_and_gains_of_rows_match_the_table() {
    let mut n = 0;
    for reference in Reference::all() {
        if reference.case.text("kind") == "quad" {
            continue;
        }
        let (valuer, node) = reference.at_table_ridge();
        for point in reference.case.cases("points") {
            let x = point.list("x");
            let skip = usize::from(reference.intercept);
            let x = Mat::from_fn(1, x.len() - skip, |_, j| x[j + skip]);
            let rows = [point.number("y")];
            let terms = valuer.terms(Rows::new(x.as_ref(), &rows).unwrap()).unwrap()[node][0];
            let RowTerms { second_square, second_linear, third_position, third_linear, .. } = terms;
            let (phi2, phi3) = (second_square + second_linear, third_position + third_linear);
            let scale = size_of(&[phi2, phi3]);
            // The table does not include the ridge.
            let plain = RowTerms { ridge: 0.0, ..terms };
            for (name, found, scale) in [
                ("fd_phi1", terms.first, scale),
                ("fd_phi2zz", phi2, scale),
                ("fd_Ephi2", terms.mean_second, scale),
                ("fd_Ephi3z", phi3, scale),
                ("c", plain.coefficient(), scale),
                ("M_50", plain.gain(50.0), scale / 2500.0),
                ("M_200", plain.gain(200.0), scale / 40_000.0),
                ("pi", terms.prob, 1.0),
                ("w", terms.weight, 1.0),
            ] {
                reference.close(name, &[found], &[point.number(name)], scale);
                n += 1;
            }
            let spread = point.number("w") * point.number("xVx");
            reference.close("w·xVx", &[terms.spread], &[spread], size_of(&[spread]));
            if let Some(ridge) = point.optional("gamma_term_coef") {
                reference.close("gamma_term_coef", &[terms.ridge], &[ridge], scale);
                n += 1;
            }
        }
    }
    assert!(n >= 150, "only {n} numbers in the table");
}
