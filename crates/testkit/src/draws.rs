//! Seeded draws from a generator whose stream does not change between releases.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};

/// A seeded source of random numbers.
#[derive(Debug, Clone)]
pub struct Draws(ChaCha8Rng);

impl Draws {
    /// The stream with this seed.
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// A standard normal number.
    pub fn normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.0)
    }

    /// A uniform number in `[0, 1)`.
    pub fn uniform(&mut self) -> f64 {
        use rand::RngExt;
        self.0.random()
    }
}

/// Rows of a linear model, column by column.
#[derive(Debug, Clone)]
pub struct Sample {
    /// One vector per feature.
    pub columns: Vec<Vec<f64>>,
    /// The target.
    pub y: Vec<f64>,
}

impl Sample {
    /// `n` rows with standard normal features, coefficients 1, −2, 3, … and
    /// noise of the given deviation.
    pub fn gaussian(seed: u64, n: usize, p: usize, noise_std: f64) -> Self {
        let mut draws = Draws::new(seed);
        let columns: Vec<Vec<f64>> = (0..p).map(|_| (0..n).map(|_| draws.normal()).collect()).collect();
        let coef = |j: usize| (j + 1) as f64 * if j.is_multiple_of(2) { 1.0 } else { -1.0 };
        let y = (0..n)
            .map(|i| (0..p).map(|j| coef(j) * columns[j][i]).sum::<f64>() + noise_std * draws.normal())
            .collect();
        Self { columns, y }
    }
    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.y.len()
    }

    /// The rows with these indices, in this order; an index may repeat.
    pub fn select(&self, rows: &[usize]) -> Self {
        let pick = |column: &Vec<f64>| rows.iter().map(|&row| column[row]).collect();
        Self { columns: self.columns.iter().map(pick).collect(), y: pick(&self.y) }
    }

    /// All rows but one.
    pub fn without(&self, row: usize) -> Self {
        let others: Vec<usize> = (0..self.n_rows()).filter(|&other| other != row).collect();
        self.select(&others)
    }

    /// The rows with one more feature after the others.
    #[track_caller]
    pub fn with_column(mut self, column: Vec<f64>) -> Self {
        assert_eq!(column.len(), self.n_rows(), "a column has one cell per row");
        self.columns.push(column);
        self
    }
}

impl Draws {
    /// A uniformly random order of `0..n` (Fisher and Yates).
    pub fn shuffled(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for last in (1..n).rev() {
            order.swap(last, (self.uniform() * (last + 1) as f64) as usize);
        }
        order
    }
}
