//! Means and standard errors of contributions to test rows.

use faer::Mat;

/// The most owners whose joint errors are kept: a table of 64 × 64.
pub const MOST_JOINT: usize = 64;

/// Contributions of owners, summed over test rows that arrive in blocks.
#[derive(Debug, Clone)]
pub struct Contributions {
    n_rows: usize,
    /// Deviations are from these: the values of the owners.
    about: Vec<f64>,
    sums: Vec<f64>,
    squares: Vec<f64>,
    /// Sums of products of deviations, while there are few owners.
    products: Option<Mat<f64>>,
}

impl Contributions {
    /// For owners whose values, the means of their contributions, are known already.
    pub fn new(values: &[f64]) -> Self {
        let n = values.len();
        Self {
            n_rows: 0,
            about: values.to_vec(),
            sums: vec![0.0; n],
            squares: vec![0.0; n],
            products: (n <= MOST_JOINT).then(|| Mat::zeros(n, n)),
        }
    }

    /// Adds the contributions to some test rows: a row for each, a column per owner.
    pub fn add(&mut self, contributions: &Mat<f64>) {
        let n_owners = self.about.len();
        self.n_rows += contributions.nrows();
        let mut deviations = vec![0.0; n_owners];
        for row in 0..contributions.nrows() {
            for (owner, deviation) in deviations.iter_mut().enumerate() {
                *deviation = contributions[(row, owner)] - self.about[owner];
                self.sums[owner] += *deviation;
                self.squares[owner] += *deviation * *deviation;
            }
            if let Some(products) = &mut self.products {
                for (j, d) in deviations.iter().enumerate() {
                    let cells = products.col_as_slice_mut(j)[j..].iter_mut();
                    cells.zip(&deviations[j..]).for_each(|(sum, e)| *sum += d * e);
                }
            }
        }
    }

    /// Number of test rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// The mean contribution of each owner.
    pub fn means(&self) -> Vec<f64> {
        let n = self.n_rows.max(1) as f64;
        self.about.iter().zip(&self.sums).map(|(about, sum)| about + sum / n).collect()
    }

    /// Standard errors of the means, from the spread over test rows; none with fewer than
    /// two rows.
    pub fn std_errors(&self) -> Option<Vec<f64>> {
        let n = self.n_rows as f64;
        (self.n_rows > 1).then(|| {
            let each = self.sums.iter().zip(&self.squares);
            each.map(|(sum, sq)| ((sq - sum * sum / n).max(0.0) / (n * (n - 1.0))).sqrt()).collect()
        })
    }

    /// Covariances of the means, row by row, if they were kept.
    pub fn covariance(&self) -> Option<Vec<Vec<f64>>> {
        let products = self.products.as_ref().filter(|_| self.n_rows > 1)?;
        let (n, k) = (self.n_rows as f64, self.about.len());
        let entry = |i: usize, j: usize| {
            let product = products[(i.max(j), i.min(j))] - self.sums[i] * self.sums[j] / n;
            product / (n * (n - 1.0))
        };
        Some((0..k).map(|i| (0..k).map(|j| entry(i, j)).collect()).collect())
    }
}
