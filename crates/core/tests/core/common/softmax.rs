//! A small population of several classes whose refits are cheap, and drawn rows.

use dshap::Rows;
use dshap_testkit::Draws;
use faer::Mat;

/// Rows with features and a class.
#[derive(Debug, Clone)]
pub(crate) struct Classes {
    pub(crate) x: Mat<f64>,
    pub(crate) y: Vec<f64>,
}

impl Classes {
    /// `n` rows of two normal features, and classes drawn from a softmax model
    /// whose log-odds against class 0 have these coefficients, the intercept first.
    pub(crate) fn new(seed: u64, n: usize, theta: &[[f64; 3]]) -> Self {
        let mut draws = Draws::new(seed);
        let x = Mat::from_fn(n, 2, |_, _| draws.normal());
        let class = |i: usize| {
            let score = |t: &[f64; 3]| (t[0] + t[1] * x[(i, 0)] + t[2] * x[(i, 1)]).exp();
            let shares: Vec<f64> = std::iter::once(1.0).chain(theta.iter().map(score)).collect();
            let mut u = draws.uniform() * shares.iter().sum::<f64>();
            let found = shares.iter().position(|share| {
                u -= share;
                u < 0.0
            });
            found.unwrap_or(theta.len()) as f64
        };
        let y = (0..n).map(class).collect();
        Self { x, y }
    }

    pub(crate) fn rows(&self) -> Rows<'_> {
        Rows::new(self.x.as_ref(), &self.y).unwrap_or_else(|error| panic!("{error}"))
    }

    pub(crate) fn select(&self, rows: &[usize]) -> Self {
        Self {
            x: Mat::from_fn(rows.len(), self.x.ncols(), |i, j| self.x[(rows[i], j)]),
            y: rows.iter().map(|&row| self.y[row]).collect(),
        }
    }

    /// The same rows with class `k` called `names[k]`.
    pub(crate) fn renamed(&self, names: &[usize]) -> Self {
        Self { x: self.x.clone(), y: self.y.iter().map(|&class| names[class as usize] as f64).collect() }
    }
}

/// Rows of a few kinds: positions, every class at each.
pub(crate) struct ClassKinds {
    /// The intercept first.
    pub(crate) x: Vec<Vec<f64>>,
    pub(crate) class: Vec<usize>,
    pub(crate) prob: Vec<f64>,
    pub(crate) n_classes: usize,
}

impl ClassKinds {
    /// Log-odds of a softmax model moved by up to `off` (misspecified if > 0).
    pub(crate) fn new(seed: u64, n_kinds: usize, theta: &[Vec<f64>], off: f64) -> Self {
        let mut draws = Draws::new(seed);
        let (mut x, mut class, mut prob) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..n_kinds {
            let mut row = vec![1.0];
            row.extend((1..theta[0].len()).map(|_| draws.normal().clamp(-2.0, 2.0)));
            let mut shares = vec![1.0];
            for theta in theta {
                let eta: f64 = row.iter().zip(theta).map(|(x, t)| x * t).sum::<f64>() + off * draws.normal();
                shares.push(eta.exp());
            }
            let total: f64 = shares.iter().sum();
            for (k, share) in shares.iter().enumerate() {
                x.push(row.clone());
                class.push(k);
                prob.push(share / total / n_kinds as f64);
            }
        }
        Self { x, class, prob, n_classes: theta.len() + 1 }
    }

    pub(crate) fn features(&self) -> Mat<f64> {
        Mat::from_fn(self.x.len(), self.x[0].len() - 1, |i, j| self.x[i][j + 1])
    }

    pub(crate) fn labels(&self) -> Vec<f64> {
        self.class.iter().map(|&class| class as f64).collect()
    }

    /// How often a set of `s` rows has each kind.
    pub(crate) fn draw(&self, s: usize, draws: &mut Draws) -> Vec<f64> {
        let mut edges = Vec::with_capacity(self.prob.len());
        let mut cumulative = 0.0;
        for prob in &self.prob {
            cumulative += prob;
            edges.push(cumulative);
        }
        let mut counts = vec![0.0; self.prob.len()];
        for _ in 0..s {
            let u = draws.uniform();
            // The last edge is 1 up to rounding.
            counts[edges.partition_point(|edge| *edge <= u).min(edges.len() - 1)] += 1.0;
        }
        counts
    }

    /// The softmax fit to a set, by Newton's method from `start` on.
    pub(crate) fn refit(&self, counts: &[f64], start: &[f64]) -> Vec<f64> {
        let p = self.x[0].len();
        let size = start.len();
        let mut theta = start.to_vec();
        for _ in 0..60 {
            let mut gradient = vec![0.0; size];
            let mut hessian = vec![vec![0.0; size]; size];
            for (i, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0.0) {
                let prob = self.probabilities(i, &theta);
                for k in 0..size {
                    let (a, j) = (k / p + 1, k % p);
                    let y = f64::from(u8::from(self.class[i] == a));
                    gradient[k] += count * (y - prob[a]) * self.x[i][j];
                    for (l, cell) in hessian[k].iter_mut().enumerate() {
                        let (b, m) = (l / p + 1, l % p);
                        let weight = if a == b { prob[a] * (1.0 - prob[a]) } else { -prob[a] * prob[b] };
                        *cell += count * weight * self.x[i][j] * self.x[i][m];
                    }
                }
            }
            let step = super::second_order::solve(hessian, gradient);
            theta.iter_mut().zip(&step).for_each(|(t, step)| *t += step);
            if step.iter().all(|step| step.abs() < 1e-11) {
                return theta;
            }
        }
        panic!("a set has no fit: it is too small for this test");
    }

    pub(crate) fn probabilities(&self, i: usize, theta: &[f64]) -> Vec<f64> {
        let p = self.x[0].len();
        let eta = |theta: &[f64]| self.x[i].iter().zip(theta).map(|(x, t)| x * t).sum::<f64>();
        let shares: Vec<f64> = std::iter::once(1.0).chain(theta.chunks(p).map(|t| eta(t).exp())).collect();
        let total: f64 = shares.iter().sum();
        shares.iter().map(|share| share / total).collect()
    }

    /// Minus the expected log-loss.
    pub(crate) fn utility(&self, theta: &[f64]) -> f64 {
        let of_kind = |i: usize| self.prob[i] * self.probabilities(i, theta)[self.class[i]].ln();
        (0..self.prob.len()).map(of_kind).sum()
    }
}
