//! Ridge regression from its definition, in plain loops that share no code
//! with core: coefficients, expected risks, and values by enumeration.

use dshap::linear::FitOptions;
use dshap_testkit::Sample;

pub(crate) type Matrix = Vec<Vec<f64>>;

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub(crate) fn times(a: &Matrix, x: &[f64]) -> Vec<f64> {
    a.iter().map(|row| dot(row, x)).collect()
}

/// `aᵀCa`.
pub(crate) fn quadratic(c: &Matrix, a: &[f64]) -> f64 {
    dot(a, &times(c, a))
}

/// `Σ xxᵀ`.
pub(crate) fn gram(rows: &[Vec<f64>], p: usize) -> Matrix {
    (0..p).map(|i| (0..p).map(|j| rows.iter().map(|x| x[i] * x[j]).sum()).collect()).collect()
}

/// The inverse by Gauss and Jordan, with pivots; `None` if there is none.
pub(crate) fn inverse(a: &Matrix) -> Option<Matrix> {
    let p = a.len();
    let mut a: Matrix = a
        .iter()
        .enumerate()
        .map(|(i, row)| row.iter().copied().chain((0..p).map(|j| f64::from(u8::from(i == j)))).collect())
        .collect();
    for k in 0..p {
        let pivot = (k..p).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs()))?;
        a.swap(k, pivot);
        let scale = a[k][k];
        if scale.abs() < 1e-12 {
            return None;
        }
        a[k].iter_mut().for_each(|cell| *cell /= scale);
        let row = a[k].clone();
        for other in (0..p).filter(|&other| other != k) {
            let factor = a[other][k];
            a[other].iter_mut().zip(&row).for_each(|(cell, from)| *cell -= factor * from);
        }
    }
    Some(a.into_iter().map(|row| row[p..].to_vec()).collect())
}

/// The population, and the ridge of each column.
#[derive(Debug, Clone)]
pub(crate) struct Truth {
    pub(crate) sigma: Matrix,
    pub(crate) beta: Vec<f64>,
    pub(crate) noise_var: f64,
    pub(crate) ridge: Vec<f64>,
}

impl Truth {
    fn normal_inverse(&self, gram: &Matrix) -> Option<Matrix> {
        let mut normal = gram.clone();
        (0..normal.len()).for_each(|j| normal[j][j] += self.ridge[j]);
        inverse(&normal)
    }

    /// The coefficients of ridge regression.
    pub(crate) fn refit(&self, rows: &[Vec<f64>], y: &[f64]) -> Option<Vec<f64>> {
        let p = self.beta.len();
        let xy: Vec<f64> = (0..p).map(|j| rows.iter().zip(y).map(|(x, y)| x[j] * y).sum()).collect();
        Some(times(&self.normal_inverse(&gram(rows, p))?, &xy))
    }

    /// Minus the squared error of coefficients, up to the noise.
    pub(crate) fn utility(&self, coef: &[f64]) -> f64 {
        let off: Vec<f64> = coef.iter().zip(&self.beta).map(|(c, b)| c - b).collect();
        -quadratic(&self.sigma, &off)
    }

    /// The expected utility of `set`, with noise in its targets only, after
    /// the point `(x, xᵀβ + e)` has joined, if there is one: bias and variance,
    /// from the normal equations themselves.
    fn expected_utility(&self, set: &[Vec<f64>], point: Option<(&[f64], f64)>) -> Option<f64> {
        let p = self.beta.len();
        let noisy = gram(set, p);
        let mut all = noisy.clone();
        let mut xy = times(&noisy, &self.beta);
        if let Some((x, e)) = point {
            let y = dot(x, &self.beta) + e;
            for i in 0..p {
                xy[i] += x[i] * y;
                (0..p).for_each(|j| all[i][j] += x[i] * x[j]);
            }
        }
        let b = self.normal_inverse(&all)?;
        let mean = times(&b, &xy);
        let variance: f64 = (0..p)
            .map(|j| {
                let unit: Vec<f64> = (0..p).map(|i| f64::from(u8::from(i == j))).collect();
                let moved = times(&b, &times(&self.sigma, &times(&b, &unit)));
                times(&noisy, &moved)[j]
            })
            .sum();
        Some(self.utility(&mean) - self.noise_var * variance)
    }

    /// The expected gain of a point with residual `e`.
    pub(crate) fn gain(&self, set: &[Vec<f64>], x: &[f64], e: f64) -> Option<f64> {
        Some(self.expected_utility(set, Some((x, e)))? - self.expected_utility(set, None)?)
    }
}

/// A reference in the terms of the definition: design rows and what they estimate.
pub(crate) struct Reference {
    pub(crate) rows: Matrix,
    pub(crate) truth: Truth,
    means: Option<(Vec<f64>, f64)>,
    has_ones: bool,
}

impl Reference {
    pub(crate) fn new(sample: &Sample, options: FitOptions, ridge: f64) -> Self {
        let n = sample.n_rows() as f64;
        let mean = |column: &[f64]| column.iter().sum::<f64>() / n;
        let means = options
            .intercept
            .then(|| (sample.columns.iter().map(|column| mean(column)).collect(), mean(&sample.y)));
        let has_ones = options.refit_intercept;
        let mut penalty = vec![ridge; sample.columns.len()];
        if has_ones {
            penalty.push(0.0);
        }
        let p = penalty.len();
        let truth = Truth { sigma: vec![], beta: vec![0.0; p], noise_var: 0.0, ridge: vec![0.0; p] };
        let mut out = Self { rows: vec![], truth, means, has_ones };
        out.rows = (0..sample.n_rows()).map(|i| out.design(sample, i).0).collect();
        let y: Vec<f64> = (0..sample.n_rows()).map(|i| out.design(sample, i).1).collect();
        out.truth.beta = out.truth.refit(&out.rows, &y).expect("the reference is not singular");
        let rss: f64 = out.rows.iter().zip(&y).map(|(x, y)| (y - dot(x, &out.truth.beta)).powi(2)).sum();
        let used = sample.columns.len() + usize::from(options.intercept);
        out.truth.noise_var = rss / (n - used as f64);
        out.truth.sigma = gram(&out.rows, p)
            .into_iter()
            .map(|row| row.into_iter().map(|cell| cell / n).collect())
            .collect();
        out.truth.ridge = penalty;
        out
    }

    /// A row of the design, and its target.
    pub(crate) fn design(&self, sample: &Sample, i: usize) -> (Vec<f64>, f64) {
        let mut x: Vec<f64> = sample.columns.iter().map(|column| column[i]).collect();
        let mut y = sample.y[i];
        if let Some((means, target)) = &self.means {
            x.iter_mut().zip(means).for_each(|(x, mean)| *x -= mean);
            y -= target;
        }
        x.extend(self.has_ones.then_some(1.0));
        (x, y)
    }

    /// The value of a row of `points`: the mean over all sets of each size that
    /// are not singular, summed over sizes `q − 1 … m − 1`, over `m`.
    pub(crate) fn value(&self, points: &Sample, i: usize, q: usize, m: usize) -> f64 {
        let (x, y) = self.design(points, i);
        let e = y - dot(&x, &self.truth.beta);
        let mut sums = vec![(0.0, 0.0); m];
        let n = self.rows.len();
        let mut visit = |members: &[usize]| {
            let set: Matrix = members.iter().map(|&row| self.rows[row].clone()).collect();
            if let Some(gain) = self.truth.gain(&set, &x, e) {
                sums[members.len()].0 += gain;
                sums[members.len()].1 += 1.0;
            }
        };
        if q > n {
            visit(&(0..n).collect::<Vec<_>>());
        } else {
            assert!(n <= 12, "there are too many sets to visit all of them");
            for mask in 0_u32..1 << n {
                let members: Vec<usize> = (0..n).filter(|row| mask & (1 << row) != 0).collect();
                if (q - 1..m).contains(&members.len()) {
                    visit(&members);
                }
            }
        }
        (q - 1..m).map(|size| sums[size].0 / sums[size].1).sum::<f64>() / m as f64
    }
}
