//! Rows and utilities for tests, without any of the crate's arithmetic.

use dshap::Rows;
use dshap_baselines::{Row, Utility};
use dshap_testkit::Draws;
use faer::Mat;

/// Never stops.
pub(crate) fn patient(_done: usize, _all: usize) -> bool {
    true
}

/// Rows and their targets.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub(crate) x: Mat<f64>,
    pub(crate) y: Vec<f64>,
}

impl Table {
    pub(crate) fn new(rows: &[(&[f64], f64)]) -> Self {
        let x = Mat::from_fn(rows.len(), rows[0].0.len(), |i, j| rows[i].0[j]);
        Self { x, y: rows.iter().map(|(_, y)| *y).collect() }
    }

    /// `n` rows of `p` normal features; the target is `2x₀ − x₁ + …` and noise.
    pub(crate) fn regression(seed: u64, n: usize, p: usize) -> Self {
        let mut draws = Draws::new(seed);
        let x = Mat::from_fn(n, p, |_, _| draws.normal());
        let coef = |j: usize| [2.0, -1.0, 0.5][j % 3];
        let y = (0..n).map(|i| (0..p).map(|j| coef(j) * x[(i, j)]).sum::<f64>() + 0.7 * draws.normal());
        let y = y.collect();
        Self { x, y }
    }

    /// The same with labels below `n_classes` that depend on the first feature.
    pub(crate) fn labels(seed: u64, n: usize, p: usize, n_classes: usize) -> Self {
        let mut draws = Draws::new(seed);
        let x = Mat::from_fn(n, p, |_, _| draws.normal());
        let label = |lean: f64| (lean * n_classes as f64).floor().clamp(0.0, n_classes as f64 - 1.0);
        let y = (0..n).map(|i| label(0.5 + 0.3 * x[(i, 0)] + 0.25 * draws.normal())).collect();
        Self { x, y }
    }

    pub(crate) fn rows(&self) -> Rows<'_> {
        Rows::new(self.x.as_ref(), &self.y).expect("one target per row")
    }

    pub(crate) fn len(&self) -> usize {
        self.y.len()
    }

    pub(crate) fn row(&self, i: usize) -> (Vec<f64>, f64) {
        ((0..self.x.ncols()).map(|j| self.x[(i, j)]).collect(), self.y[i])
    }

    pub(crate) fn select(&self, rows: &[usize]) -> Self {
        let x = Mat::from_fn(rows.len(), self.x.ncols(), |i, j| self.x[(rows[i], j)]);
        Self { x, y: rows.iter().map(|&row| self.y[row]).collect() }
    }

    pub(crate) fn with(&self, more: &Table) -> Self {
        let n = self.len();
        let cell = |i, j| if i < n { self.x[(i, j)] } else { more.x[(i - n, j)] };
        let x = Mat::from_fn(n + more.len(), self.x.ncols(), cell);
        Self { x, y: self.y.iter().chain(&more.y).copied().collect() }
    }
}

/// The utility of a set of rows, by its definition.
pub(crate) type Game<'a> = &'a dyn Fn(&Table) -> f64;

/// A utility that is a function of the rows, refitted every time.
pub(crate) struct Plain<'a> {
    pub(crate) n_features: usize,
    pub(crate) worth: &'a (dyn Fn(&Table) -> f64 + Sync),
}

impl Utility for Plain<'_> {
    type Set = Vec<(Vec<f64>, f64)>;

    fn n_features(&self) -> usize {
        self.n_features
    }

    fn empty(&self) -> Self::Set {
        Vec::new()
    }

    fn push(&self, set: &mut Self::Set, row: Row<'_>) {
        set.push((row.x.to_vec(), row.y));
    }

    fn value(&self, set: &mut Self::Set) -> f64 {
        if set.is_empty() {
            return 0.0;
        }
        let rows: Vec<(&[f64], f64)> = set.iter().map(|(x, y)| (x.as_slice(), *y)).collect();
        (self.worth)(&Table::new(&rows))
    }

    fn loss(&self, set: &Self::Set, index: usize, _row: Row<'_>) -> f64 {
        let (mut all, mut rest) = (set.clone(), set.clone());
        rest.remove(index);
        self.value(&mut all) - self.value(&mut rest)
    }
}

/// The utility of `set` of `table`; the empty set is worth 0.
pub(crate) fn worth(game: Game<'_>, table: &Table, set: &[usize]) -> f64 {
    if set.is_empty() { 0.0 } else { game(&table.select(set)) }
}

/// Shapley values as the mean gain over all orders of the rows.
pub(crate) fn shapley_by_orders(game: Game<'_>, table: &Table) -> Vec<f64> {
    let n = table.len();
    let mut sums = vec![0.0; n];
    let mut n_orders = 0.0;
    each_order(n, &mut |order| {
        let mut before = 0.0;
        for taken in 1..=n {
            let after = worth(game, table, &order[..taken]);
            sums[order[taken - 1]] += after - before;
            before = after;
        }
        n_orders += 1.0;
    });
    sums.iter().map(|sum| sum / n_orders).collect()
}

/// `(1/m) Σ_{s=q−1}^{m−1}` of the mean gain of row `point` over all sets of `s` of
/// the rows `others`.
pub(crate) fn distributional(
    game: Game<'_>,
    table: &Table,
    others: &[usize],
    point: usize,
    q: usize,
    m: usize,
) -> f64 {
    let mut sums = vec![(0.0, 0.0); others.len() + 1];
    for set in 0_u32..1 << others.len() {
        let members: Vec<usize> =
            others.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1).map(|(_, &row)| row).collect();
        let joined: Vec<usize> = members.iter().copied().chain([point]).collect();
        let sum = &mut sums[members.len()];
        sum.0 += worth(game, table, &joined) - worth(game, table, &members);
        sum.1 += 1.0;
    }
    sums[q - 1..m].iter().map(|(sum, count)| sum / count).sum::<f64>() / m as f64
}

/// All orders of `0..n` (Heap's algorithm).
pub(crate) fn each_order(n: usize, see: &mut dyn FnMut(&[usize])) {
    fn go(order: &mut [usize], len: usize, see: &mut dyn FnMut(&[usize])) {
        if len <= 1 {
            return see(order);
        }
        for i in 0..len {
            go(order, len - 1, see);
            order.swap(if len.is_multiple_of(2) { i } else { 0 }, len - 1);
        }
    }
    go(&mut (0..n).collect::<Vec<_>>(), n, see);
}

/// Squared error saved on `test` by least squares through the origin, solved by
/// elimination with pivoting; 0 if the rows do not determine it.
pub(crate) fn squared_error_saved(set: &Table, test: &Table, least_rows: usize, ridge: f64) -> f64 {
    let p = set.x.ncols();
    if set.len() < least_rows {
        return 0.0;
    }
    let sum = |of: &dyn Fn(usize) -> f64| (0..set.len()).map(of).sum::<f64>();
    let equation = |i: usize| -> Vec<f64> {
        let penalty = |j: usize| if i == j { ridge } else { 0.0 };
        let products = (0..p).map(|j| sum(&|r| set.x[(r, i)] * set.x[(r, j)]) + penalty(j));
        products.chain([sum(&|r| set.x[(r, i)] * set.y[r])]).collect()
    };
    let a = (0..p).map(equation).collect();
    let Some(beta) = eliminate(a) else { return 0.0 };
    let mean = |error: &dyn Fn(usize) -> f64| (0..test.len()).map(error).sum::<f64>() / test.len() as f64;
    let fitted = |r: usize| (0..p).map(|j| test.x[(r, j)] * beta[j]).sum::<f64>();
    mean(&|r| test.y[r].powi(2)) - mean(&|r| (test.y[r] - fitted(r)).powi(2))
}

/// Gauss and Jordan, with pivoting; `None` for a singular system.
pub(crate) fn eliminate(mut a: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let p = a.len();
    for k in 0..p {
        let pivot = (k..p).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs()))?;
        a.swap(k, pivot);
        if a[k][k].abs() < 1e-9 {
            return None;
        }
        for i in (0..p).filter(|&i| i != k) {
            let factor = a[i][k] / a[k][k];
            let pivot = a[k].clone();
            a[i].iter_mut().zip(&pivot).for_each(|(cell, pivot)| *cell -= factor * pivot);
        }
    }
    Some((0..p).map(|k| a[k][p] / a[k][k]).collect())
}

#[track_caller]
pub(crate) fn assert_all_near(found: &[f64], exact: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), exact.len(), "{what}");
    for (row, (found, exact)) in found.iter().zip(exact).enumerate() {
        let scale = exact.abs().max(1.0);
        assert!(
            (found - exact).abs() <= tolerance * scale,
            "{what}, row {row}: found {found}, expected {exact}"
        );
    }
}
