//! Regression on merged moments.

use super::game::Game;
use crate::factor::Factor;
use crate::{Error, Moments};
use faer::Par;
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Mat, MatRef};

/// Which owners hold which parts of the rows. Usually each owner has one part of its own;
/// where rows that several owners have count once, such rows are parts of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parts {
    n_parts: usize,
    /// The parts of each owner.
    held: Vec<Vec<usize>>,
}

impl Parts {
    /// One part for each owner.
    pub fn one_each(n_owners: usize) -> Self {
        Self { n_parts: n_owners, held: (0..n_owners).map(|owner| vec![owner]).collect() }
    }

    /// Parts with the owners that hold them.
    ///
    /// # Panics
    ///
    /// If a part names an owner beyond `n_owners`.
    pub fn held_by(n_owners: usize, holders: &[Vec<usize>]) -> Self {
        let mut held = vec![Vec::new(); n_owners];
        for (part, owners) in holders.iter().enumerate() {
            owners.iter().for_each(|&owner| held[owner].push(part));
        }
        Self { n_parts: holders.len(), held }
    }

    /// Number of parts.
    pub fn n_parts(&self) -> usize {
        self.n_parts
    }

    /// Number of owners.
    pub fn n_owners(&self) -> usize {
        self.held.len()
    }

    /// The parts that an owner holds.
    pub fn of(&self, owner: usize) -> &[usize] {
        &self.held[owner]
    }
}

/// Rows to train on and rows to test on. Cross-fitting has several of these, each with
/// other test rows.
#[derive(Debug, Clone)]
pub struct LinearFold {
    /// The moments of each part; nothing for a part without rows.
    pub parts: Vec<Option<Moments>>,
    /// The moments of the buyer's rows, which every coalition trains on.
    pub own: Option<Moments>,
    /// The moments of the test rows.
    pub test: Moments,
}

/// Ridge regression with an intercept that is not penalised:
///
/// ```text
/// U(C) = − mean over test rows of (y − xᵀβ_C)²,   β_C = (Σ_{g∈C} G_g + γR)⁻¹ Σ_{g∈C} h_g
/// ```
///
/// Only moments are needed: those of each owner, and those of the test rows. A coalition
/// without rows predicts the mean of the test rows. A coalition costs one merge of moments,
/// `O(p²)`, and one Cholesky factorisation, `O(p³)`.
#[derive(Debug, Clone)]
pub struct LinearGame {
    parts: Parts,
    folds: Vec<LinearFold>,
    ridge: f64,
    n_features: usize,
    n_test: f64,
    /// Columns are seen from here, the target last, so that traces keep their digits.
    centre: Vec<f64>,
    /// The mean of the target over all test rows.
    test_mean: f64,
}

/// Merged moments of some owners.
#[derive(Debug, Clone)]
pub struct Merged {
    has_part: Vec<bool>,
    /// Fold by fold; nothing where there is no row.
    moments: Vec<Option<Moments>>,
}

impl LinearGame {
    /// The game of owners that hold `parts`, with the penalty `ridge`.
    ///
    /// # Errors
    ///
    /// [`Error::NoTestRows`], [`Error::FeatureCount`]; [`Error::TooLarge`] where rows are
    /// too far apart for their squares.
    ///
    /// # Panics
    ///
    /// Unless every fold has a place for each part.
    pub fn new(parts: Parts, folds: Vec<LinearFold>, ridge: f64) -> Result<Self, Error> {
        let Some(first) = folds.first() else { return Err(Error::NoTestRows) };
        let n_features = first.test.n_features();
        for fold in &folds {
            assert_eq!(fold.parts.len(), parts.n_parts(), "a fold has a place for each part");
            let all = fold.parts.iter().chain([&fold.own]).flatten().chain([&fold.test]);
            for moments in all {
                let found = moments.n_features();
                if found != n_features {
                    return Err(Error::FeatureCount { found, expected: n_features });
                }
            }
        }
        // Merged once here, so that what is too large is found before the game begins.
        let mut all = first.test.clone();
        for fold in &folds[1..] {
            all.merge(&fold.test)?;
        }
        let n_test = all.n_rows() as f64;
        let test_mean = all.mean(n_features);
        let centre = (0..=n_features).map(|column| all.mean(column)).collect();
        for fold in &folds {
            let mut whole = fold.test.clone();
            for moments in fold.parts.iter().chain([&fold.own]).flatten() {
                whole.merge(moments)?;
            }
        }
        Ok(Self { parts, folds, ridge, n_features, n_test, centre, test_mean })
    }

    /// Number of features.
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// Number of folds.
    pub fn n_folds(&self) -> usize {
        self.folds.len()
    }

    /// Where columns are seen from, the target last.
    pub fn centre(&self) -> &[f64] {
        &self.centre
    }

    /// What a coalition is worth to a buyer: see [`Game::utility`].
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`].
    pub fn utility_of(&self, owners: &[usize]) -> Result<f64, Error> {
        let mut coalition = self.nobody();
        owners.iter().for_each(|&owner| self.join(&mut coalition, owner));
        self.utility(&coalition, &mut vec![0.0; self.trace_len()])
    }

    /// Intercept at the centre, and slopes. Without rows: the mean of the test rows.
    fn coefficients(&self, moments: Option<&Moments>) -> Vec<f64> {
        let p = self.n_features;
        let Some(moments) = moments else {
            let mut constant = vec![0.0; p + 1];
            constant[0] = self.test_mean - self.centre[p];
            return constant;
        };
        let slopes = ridge_slopes(moments, self.ridge);
        let rest: f64 = slopes.iter().enumerate().map(|(j, b)| b * (moments.mean(j) - self.centre[j])).sum();
        let mut coef = Vec::with_capacity(p + 1);
        coef.push(moments.mean(p) - self.centre[p] - rest);
        coef.extend(slopes);
        coef
    }

    /// Sum of squared errors over the test rows of a fold.
    fn squared_errors(&self, test: &Moments, coef: &[f64]) -> f64 {
        let (p, slopes) = (self.n_features, &coef[1..]);
        let mut rest = test.mean(p) - self.centre[p] - coef[0];
        let mut about_mean = test.centred(p, p);
        for (i, b) in slopes.iter().enumerate() {
            rest -= b * (test.mean(i) - self.centre[i]);
            let mut products = 0.5 * b * test.centred(i, i) - test.centred(p, i);
            for (j, c) in slopes[..i].iter().enumerate() {
                products += c * test.centred(i, j);
            }
            about_mean += 2.0 * b * products;
        }
        about_mean.max(0.0) + test.weight() * rest * rest
    }
}

/// The slopes of a ridge regression. Columns that depend on others are left out where the
/// penalty is too small to tell them apart.
pub(super) fn ridge_slopes(moments: &Moments, ridge: f64) -> Vec<f64> {
    let p = moments.n_features();
    let diagonal = |j: usize| moments.centred(j, j) + ridge;
    let scale: Vec<f64> = (0..p)
        .map(|j| {
            let d = diagonal(j);
            // Scaling by a power of two rounds nothing.
            if d > 0.0 && d.is_finite() { (-0.5 * d.log2()).round().exp2() } else { 0.0 }
        })
        .collect();
    let entry = |i: usize, j: usize| {
        let product = moments.centred(i, j) + if i == j { ridge } else { 0.0 };
        product * scale[i] * scale[j]
    };
    let Factor { lower, kept, .. } = Factor::of_products(p, |j| scale[j] > 0.0, |_| 1.0, entry);
    let mut solved = Mat::from_fn(kept.len(), 1, |k, _| moments.centred(p, kept[k]) * scale[kept[k]]);
    solve_lower_triangular_in_place(lower.as_ref(), solved.as_mut(), Par::Seq);
    let upper: MatRef<'_, f64> = lower.transpose();
    solve_upper_triangular_in_place(upper, solved.as_mut(), Par::Seq);
    let mut slopes = vec![0.0; p];
    for (k, &column) in kept.iter().enumerate() {
        slopes[column] = solved[(k, 0)] * scale[column];
    }
    slopes
}

/// Numbers in the trace of one fold: products of coefficients, then coefficients.
pub(super) fn fold_trace_len(n_features: usize) -> usize {
    let k = n_features + 1;
    k * (k + 1) / 2 + k
}

impl Game for LinearGame {
    type Coalition = Merged;

    fn n_owners(&self) -> usize {
        self.parts.n_owners()
    }

    fn nobody(&self) -> Merged {
        Merged {
            has_part: vec![false; self.parts.n_parts()],
            moments: self.folds.iter().map(|fold| fold.own.clone()).collect(),
        }
    }

    fn join(&self, coalition: &mut Merged, owner: usize) {
        for &part in self.parts.of(owner) {
            if std::mem::replace(&mut coalition.has_part[part], true) {
                continue;
            }
            for (sum, fold) in coalition.moments.iter_mut().zip(&self.folds) {
                let Some(moments) = &fold.parts[part] else { continue };
                match sum {
                    Some(sum) => sum.merge(moments).expect("all moments together are finite"),
                    None => *sum = Some(moments.clone()),
                }
            }
        }
    }

    fn trace_len(&self) -> usize {
        self.folds.len() * fold_trace_len(self.n_features)
    }

    fn utility(&self, coalition: &Merged, trace: &mut [f64]) -> Result<f64, Error> {
        let mut errors = 0.0;
        let len = fold_trace_len(self.n_features);
        for ((fold, moments), trace) in self.folds.iter().zip(&coalition.moments).zip(trace.chunks_mut(len)) {
            let coef = self.coefficients(moments.as_ref());
            errors += self.squared_errors(&fold.test, &coef);
            let (products, linear) = trace.split_at_mut(len - coef.len());
            linear.copy_from_slice(&coef);
            let pairs = (0..coef.len()).flat_map(|j| (j..coef.len()).map(move |i| (i, j)));
            products.iter_mut().zip(pairs).for_each(|(cell, (i, j))| *cell = coef[i] * coef[j]);
        }
        let utility = -errors / self.n_test;
        if utility.is_finite() { Ok(utility) } else { Err(Error::TooLarge) }
    }
}
