//! Least squares: a set is worth the squared error it saves on test rows.
//!
//! ```text
//! U(S) = MSE of no model − MSE of the least squares fit to S          |S| ≥ least_rows
//!      = 0                                                            otherwise
//! ```
//!
//! The error on test rows is a quadratic form in the coefficients, so test rows are
//! needed only for their [moments](TestMoments), once. A row that joins or leaves a set
//! changes the inverse of its Gram matrix by a matrix of rank one: a gain, a loss and a
//! step of a chain cost `O(p²)` each, for any number of test rows.
//!
//! A set that does not determine the coefficients is worth 0, like the empty set: no
//! model is fitted to it. With a ridge every set determines them.
//!
//! No model is the prediction that [`Centre`] names: the mean of the reference,
//! or 0.

mod moments;
mod set;

pub use moments::TestMoments;
pub use set::LeastSquaresSet;

use crate::utility::{Row, Utility, check};
use crate::{Error, symmetric};
use dshap::Rows;

/// If less than this share of a direction is left without a row, the row alone determines
/// it.
const LEAST_LEFT: f64 = 1e-10;

/// What is subtracted from features and target first.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Centre {
    /// Nothing: the model goes through the origin.
    #[default]
    Origin,
    /// Known means, one for each feature, and one of the target.
    Means {
        /// Of the features.
        x: Vec<f64>,
        /// Of the target.
        y: f64,
    },
}

/// How a set is fitted.
///
/// | field | default | purpose |
/// |---|---|---|
/// | `least_rows` | 1 | sets of fewer rows have no model |
/// | `ridge` | 0 | `γ`, added to `X_SᵀX_S`, in the units of the features as given |
/// | `centre` | origin | what is subtracted from features and target |
/// | `intercept` | no | whether every set fits its own intercept, never penalised |
#[derive(Debug, Clone, PartialEq)]
pub struct LeastSquaresOptions {
    /// Sets of fewer rows have no model.
    pub least_rows: usize,
    /// `γ`.
    pub ridge: f64,
    /// What is subtracted from features and target.
    pub centre: Centre,
    /// Whether every set fits its own intercept.
    pub intercept: bool,
}

impl Default for LeastSquaresOptions {
    fn default() -> Self {
        Self { least_rows: 1, ridge: 0.0, centre: Centre::Origin, intercept: false }
    }
}

/// The utility: squared error saved on test rows.
#[derive(Debug, Clone)]
pub struct LeastSquares {
    n_features: usize,
    options: LeastSquaresOptions,
    /// Of the model's columns: scaled features, then 1 if there is an intercept.
    test: TestMoments,
    /// What features are multiplied by, so that columns have similar sizes.
    scale: Vec<f64>,
    /// What is added to the diagonal of a Gram matrix.
    penalty: Vec<f64>,
}

impl LeastSquares {
    /// The error is measured on `test`.
    ///
    /// # Errors
    ///
    /// [`dshap::Error::NoTestRows`], [`dshap::Error::InTest`],
    /// [`dshap::Error::BadOption`], [`dshap::Error::NoFeatures`].
    ///
    /// ```
    /// use dshap::Rows;
    /// use dshap_baselines::{LeastSquares, LeastSquaresOptions, Row, Utility};
    /// use faer::mat;
    ///
    /// // Tested on y = 2x; one row of slope 1 leaves half of the target.
    /// let x = mat![[1.0], [3.0_f64]];
    /// let utility = LeastSquares::new(Rows::new(x.as_ref(), &[2.0, 6.0])?, LeastSquaresOptions::default())?;
    /// let mut set = utility.empty();
    /// utility.push(&mut set, Row { x: &[5.0], y: 5.0, memo: 0.0 });
    /// assert!((utility.value(&mut set) - (20.0 - 5.0)).abs() < 1e-12);
    /// # Ok::<(), dshap_baselines::Error>(())
    /// ```
    pub fn new(test: Rows<'_>, options: LeastSquaresOptions) -> Result<Self, Error> {
        check(test, test.n_features()).map_err(Error::in_test)?;
        if test.is_empty() {
            return Err(dshap::Error::NoTestRows.into());
        }
        let n_features = test.n_features();
        let mut utility = Self::unscaled(n_features, options)?;
        // From the test rows, which are available here; any scale gives the same values
        // up to rounding.
        utility.scale = moments::scales(test, &utility.options.centre);
        let mut design = vec![0.0; utility.dim()];
        let mut x = vec![0.0; n_features];
        let mut sums = TestMoments::zero(utility.dim());
        for row in 0..test.len() {
            crate::utility::gather(test, row, &mut x);
            let y = utility.design(&x, test.y()[row], &mut design);
            sums.add(&design, y);
        }
        sums.divide(test.len() as f64);
        if !sums.is_finite() {
            return Err(Error::in_test(dshap::Error::TooLarge));
        }
        Ok(utility.tested_by(sums))
    }

    /// The error is that on a whole population, whose second moments are known.
    /// The model has no intercept and nothing is centred.
    ///
    /// # Errors
    ///
    /// [`dshap::Error::BadOption`], [`dshap::Error::NoFeatures`].
    pub fn on_population(test: TestMoments, least_rows: usize, ridge: f64) -> Result<Self, Error> {
        let options = LeastSquaresOptions { least_rows, ridge, ..LeastSquaresOptions::default() };
        Ok(Self::unscaled(test.dim(), options)?.tested_by(test))
    }

    fn unscaled(n_features: usize, options: LeastSquaresOptions) -> Result<Self, Error> {
        if !(options.ridge.is_finite() && options.ridge >= 0.0) {
            return Err(Error::option("the ridge must be a finite number of at least 0"));
        }
        if let Centre::Means { x, y } = &options.centre {
            if x.len() != n_features {
                return Err(dshap::Error::FeatureCount { found: x.len(), expected: n_features }.into());
            }
            if !x.iter().chain([y]).all(|mean| mean.is_finite()) {
                return Err(Error::option("the means must be finite"));
            }
        }
        if n_features == 0 && !options.intercept {
            return Err(dshap::Error::NoFeatures { n_features }.into());
        }
        let scale = vec![1.0; n_features];
        Ok(Self { n_features, options, test: TestMoments::zero(0), scale, penalty: Vec::new() })
    }

    fn tested_by(mut self, test: TestMoments) -> Self {
        self.test = test;
        self.penalty = self.scale.iter().map(|scale| self.options.ridge * scale * scale).collect();
        self.penalty.resize(self.dim(), 0.0);
        self
    }

    /// Columns of the model.
    pub fn dim(&self) -> usize {
        self.n_features + usize::from(self.options.intercept)
    }

    /// The squared error without a model, per test row.
    pub fn error_without_model(&self) -> f64 {
        self.test.target_sq
    }

    /// The row in the columns of the model; returns its target.
    fn design(&self, x: &[f64], y: f64, design: &mut [f64]) -> f64 {
        match &self.options.centre {
            Centre::Origin => {
                for ((out, x), scale) in design.iter_mut().zip(x).zip(&self.scale) {
                    *out = x * scale;
                }
            }
            Centre::Means { x: means, .. } => {
                for (((out, x), mean), scale) in design.iter_mut().zip(x).zip(means).zip(&self.scale) {
                    *out = (x - mean) * scale;
                }
            }
        }
        if self.options.intercept {
            design[self.n_features] = 1.0;
        }
        match self.options.centre {
            Centre::Origin => y,
            Centre::Means { y: mean, .. } => y - mean,
        }
    }

    /// The gain in test error when the coefficients change by `scale·u`: `−(δᵀGδ + 2δᵀ(Gβ
    /// − c))`.
    fn improvement(&self, set: &LeastSquaresSet, scale: f64, u: &[f64], work: &mut [f64]) -> f64 {
        symmetric::multiply(&self.test.gram, u, work);
        -scale * (scale * symmetric::dot(u, work) + 2.0 * symmetric::dot(u, set.gradient()))
    }
}

impl Utility for LeastSquares {
    type Set = LeastSquaresSet;

    fn n_features(&self) -> usize {
        self.n_features
    }

    fn least_rows(&self) -> usize {
        self.options.least_rows
    }

    fn empty(&self) -> LeastSquaresSet {
        LeastSquaresSet::new(self.dim())
    }

    fn push(&self, set: &mut LeastSquaresSet, row: Row<'_>) {
        let mut design = std::mem::take(set.scratch());
        let y = self.design(row.x, row.y, &mut design);
        set.add(&design, y);
        *set.scratch() = design;
    }

    fn value(&self, set: &mut LeastSquaresSet) -> f64 {
        if set.n_rows() < self.options.least_rows {
            return 0.0;
        }
        if !set.settle(&self.penalty) {
            return set.worth_without_fit();
        }
        set.measure(&self.test)
    }

    fn gain(&self, set: &LeastSquaresSet, row: Row<'_>) -> f64 {
        let Some((inverse, beta)) = set.fit().filter(|_| set.n_rows() >= self.options.least_rows) else {
            let mut joined = set.clone();
            self.push(&mut joined, row);
            return self.value(&mut joined);
        };
        let p = self.dim();
        let mut room = Room::new(p);
        let (x, u, work) = room.thirds(p);
        let y = self.design(row.x, row.y, x);
        symmetric::multiply(inverse, x, u);
        let (leverage, residual) = (symmetric::dot(x, u), y - symmetric::dot(x, beta));
        self.improvement(set, residual / (1.0 + leverage), u, work)
    }

    fn loss(&self, set: &LeastSquaresSet, _index: usize, row: Row<'_>) -> f64 {
        let Some((inverse, beta)) = set.fit().filter(|_| set.n_rows() >= self.options.least_rows) else {
            return 0.0;
        };
        let p = self.dim();
        if set.n_rows() == self.options.least_rows || set.n_rows() == p && self.options.ridge == 0.0 {
            return set.worth();
        }
        let mut room = Room::new(p);
        let (x, u, work) = room.thirds(p);
        let y = self.design(row.x, row.y, x);
        symmetric::multiply(inverse, x, u);
        let (leverage, residual) = (symmetric::dot(x, u), y - symmetric::dot(x, beta));
        if 1.0 - leverage <= LEAST_LEFT {
            // The row alone determines a coefficient: without it there is no model.
            return set.worth();
        }
        -self.improvement(set, -residual / (1.0 - leverage), u, work)
    }

    fn is_undetermined(&self, set: &LeastSquaresSet) -> bool {
        set.n_rows() >= self.options.least_rows && set.fit().is_none()
    }
}

/// Room for three short vectors, on the stack for most models.
struct Room {
    near: [f64; Room::NEAR],
    far: Vec<f64>,
}

impl Room {
    const NEAR: usize = 96;

    fn new(p: usize) -> Self {
        let far = if 3 * p > Self::NEAR { vec![0.0; 3 * p] } else { Vec::new() };
        Self { near: [0.0; Self::NEAR], far }
    }

    fn thirds(&mut self, p: usize) -> (&mut [f64], &mut [f64], &mut [f64]) {
        let all = if self.far.is_empty() { &mut self.near[..3 * p] } else { &mut self.far[..] };
        let (first, rest) = all.split_at_mut(p);
        let (second, third) = rest.split_at_mut(p);
        (first, second, third)
    }
}
