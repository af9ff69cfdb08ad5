//! Regression: from a list to the values of rows with numbers.

use super::kept::STEP;
use super::list::{Ranked, Run};
use super::weights::{RunWeights, WeightTable};

/// The targets of the reference.
#[derive(Debug)]
pub(super) struct Numbers {
    /// Minus their mean: values do not depend on the origin, but rounding does.
    u: Vec<f64>,
    centre: f64,
    k: f64,
}

/// What the value of an unseen point needs from a list, by place.
#[derive(Debug, Default)]
pub(super) struct NumberSums {
    /// The quadratic of the rows from a place on.
    beyond: Vec<Quadratic>,
    /// The sum of targets before a place.
    nearer: Vec<f64>,
    /// Sums of a run, where it starts.
    runs: Vec<RunSums>,
}

/// Every [`STEP`]-th of these sums.
#[derive(Debug)]
pub(super) struct NumberMarks {
    /// From the first run on that does not start before that place.
    beyond: Box<[Quadratic]>,
    /// Before that place.
    nearer: Box<[f64]>,
}

impl NumberMarks {
    /// Bytes of a mark.
    pub(super) const BYTES: usize = size_of::<Quadratic>() + size_of::<f64>();
}

/// `squared·u² + linear·u + constant`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Quadratic {
    squared: f64,
    linear: f64,
    constant: f64,
}

/// Targets of rows that are tied.
#[derive(Debug, Clone, Copy, Default)]
struct RunSums {
    sum: f64,
    squares: f64,
}

impl Numbers {
    pub(super) fn new(y: &[f64], k: usize) -> Self {
        // A first mean and its error, so that a large offset costs no digits.
        let n = y.len() as f64;
        let shift = y.first().copied().unwrap_or(0.0);
        let centre = shift + y.iter().map(|y| y - shift).sum::<f64>() / n;
        Self { u: y.iter().map(|y| y - centre).collect(), centre, k: k as f64 }
    }

    /// Whether the targets differ, but their squares vanish.
    pub(super) fn are_too_small(&self) -> bool {
        let largest = self.u.iter().fold(0.0_f64, |largest, u| largest.max(u.abs()));
        largest > 0.0 && largest < 1e-150
    }

    /// Values of the reference rows, each against the others: the list without it.
    /// `table` is for one row fewer than the list has.
    ///
    /// ```text
    /// ν = −(1/k²) Σ_{i>a} w_i [ y² − y_(i)² + 2((k−1)μ_i − k·y_t)(y − y_(i)) ]      a rows are nearer
    /// ```
    ///
    /// with `μ_i` the mean of `y_(1) … y_(i−1)`, and the mean of that over all
    /// orders of tied rows. It is a quadratic in `y` whose coefficients are sums
    /// over the rows further away.
    pub(super) fn own_values(
        &self,
        list: Ranked<'_>,
        table: &WeightTable,
        y_t: f64,
        sums: &mut NumberSums,
        mut say: impl FnMut(usize, f64),
    ) {
        let u_t = y_t - self.centre;
        let k_sq = self.k * self.k;
        self.add_nearer(list, sums);
        let mut beyond = Quadratic::default();
        for run in list.runs_from_far() {
            let (a, nearer) = (run.start, sums.nearer[run.start]);
            if run.len == 1 {
                let row = list.row(a);
                let u = self.u[row];
                say(row, beyond.gain(u, list.len() - a) / k_sq);
                if a > 0 {
                    // Without a nearer row, this one moves up by one place.
                    let weights = self.single_weights(table, a);
                    beyond.add(&self.single(weights, u, nearer, u_t));
                    beyond.without_point(weights.wc, u);
                }
                continue;
            }
            let tied = self.run_sums(list, run);
            let weights = table.run_with_point(a, run.len - 1);
            for row in list.rows(run) {
                let u = self.u[row];
                let others = RunSums { sum: tied.sum - u, squares: tied.squares - u * u };
                let among = self.several(weights, others, run.len - 1, nearer, u_t);
                let mut all = beyond;
                all.add(&among);
                say(row, all.gain(u, list.len() - a) / k_sq);
            }
            if a > 0 {
                let weights = table.run(a - 1, run.len);
                beyond.add(&self.several(weights, tied, run.len, nearer, u_t));
                beyond.without_point(weights.wc, tied.sum / run.len as f64);
            }
        }
    }

    /// Sums for unseen points. `table` is that of the whole list.
    pub(super) fn sums(&self, list: Ranked<'_>, table: &WeightTable, y_t: f64, sums: &mut NumberSums) {
        let u_t = y_t - self.centre;
        self.add_nearer(list, sums);
        sums.beyond.resize(list.len() + 1, Quadratic::default());
        sums.runs.resize(list.len() + 1, RunSums::default());
        let mut beyond = Quadratic::default();
        sums.beyond[list.len()] = beyond;
        for run in list.runs_from_far() {
            let own = self.run_sums(list, run);
            beyond.add(&self.of_run(table, run, own, sums.nearer[run.start], u_t));
            sums.beyond[run.start] = beyond;
            sums.runs[run.start] = own;
        }
    }

    /// Every [`STEP`]-th of the sums.
    pub(super) fn marks(list: Ranked<'_>, sums: &NumberSums) -> NumberMarks {
        let marks = 0..=list.len().div_ceil(STEP);
        NumberMarks {
            beyond: marks.clone().map(|mark| sums.beyond[list.run_from(mark * STEP)]).collect(),
            nearer: marks.map(|mark| sums.nearer[(mark * STEP).min(list.len())]).collect(),
        }
    }

    /// The value of an unseen point with target `y`, which belongs at `run`.
    pub(super) fn value(
        &self,
        list: Ranked<'_>,
        table: &WeightTable,
        y_t: f64,
        sums: &NumberSums,
        run: Run,
        y: f64,
    ) -> f64 {
        let beyond = sums.beyond[run.start + run.len];
        let own = (sums.runs[run.start], sums.nearer[run.start]);
        self.value_before(beyond, table, y_t, own, run, y, list.len())
    }

    /// The same from every [`STEP`]-th sum: the runs up to the next one are added again.
    /// `nearer` is memory.
    pub(super) fn value_by_marks(
        &self,
        list: Ranked<'_>,
        table: &WeightTable,
        y_t: f64,
        marks: &NumberMarks,
        run: Run,
        y: f64,
        nearer: &mut Vec<f64>,
    ) -> f64 {
        let end = run.start + run.len;
        let mark = end.div_ceil(STEP);
        let (first, last) = (run.start / STEP, list.run_from(mark * STEP));
        // The sum of targets before each of these places.
        let start = first * STEP;
        let mut so_far = marks.nearer[first];
        nearer.clear();
        for place in start..last {
            nearer.push(so_far);
            so_far += self.u[list.row(place)];
        }
        nearer.push(so_far);
        let mut beyond = marks.beyond[mark];
        for run in list.runs_between(end, last) {
            let own = self.run_sums(list, run);
            beyond.add(&self.of_run(table, run, own, nearer[run.start - start], y_t - self.centre));
        }
        let own = (self.run_sums(list, run), nearer[run.start - start]);
        self.value_before(beyond, table, y_t, own, run, y, list.len())
    }

    /// The value of a point among the rows of `run`, whose sums come with that of nearer
    /// rows, in front of all that count in `beyond`, with a list of `n_rows`.
    #[inline]
    fn value_before(
        &self,
        mut beyond: Quadratic,
        table: &WeightTable,
        y_t: f64,
        (own, nearer): (RunSums, f64),
        run: Run,
        y: f64,
        n_rows: usize,
    ) -> f64 {
        let (u, u_t) = (y - self.centre, y_t - self.centre);
        if run.len > 0 {
            let weights = table.run_with_point(run.start, run.len);
            beyond.add(&self.several(weights, own, run.len, nearer, u_t));
        }
        beyond.gain(u, n_rows + 1 - run.start) / (self.k * self.k)
    }

    /// What a run contributes to the rows in front of it.
    #[inline]
    fn of_run(&self, table: &WeightTable, run: Run, own: RunSums, nearer: f64, u_t: f64) -> Quadratic {
        match run.len {
            1 => self.single(self.single_weights(table, run.start + 1), own.sum, nearer, u_t),
            len => self.several(table.run(run.start, len), own, len, nearer, u_t),
        }
    }

    fn add_nearer(&self, list: Ranked<'_>, sums: &mut NumberSums) {
        sums.nearer.clear();
        let mut so_far = 0.0;
        for place in 0..list.len() {
            sums.nearer.push(so_far);
            so_far += self.u[list.row(place)];
        }
        sums.nearer.push(so_far);
    }

    fn run_sums(&self, list: Ranked<'_>, run: Run) -> RunSums {
        list.rows(run)
            .map(|row| self.u[row])
            .fold(RunSums::default(), |sums, u| RunSums { sum: sums.sum + u, squares: sums.squares + u * u })
    }

    /// Weights of the row at place `i`, counted from 1.
    #[inline]
    fn single_weights(&self, table: &WeightTable, i: usize) -> RunWeights {
        let w = table.weights()[i];
        // The first place counts only for k = 1, which needs no mean of others.
        let wc = if i > 1 { (self.k - 1.0) * w / (i - 1) as f64 } else { 0.0 };
        RunWeights { w, wc, wcr: 0.0 }
    }

    /// What one row with target `u` contributes, behind rows with the sum `nearer`.
    #[inline]
    fn single(&self, weights: RunWeights, u: f64, nearer: f64, u_t: f64) -> Quadratic {
        let RunWeights { w, wc, .. } = weights;
        let pull = 2.0 * (wc * nearer - self.k * w * u_t);
        Quadratic { squared: w, linear: pull, constant: -u * (w * u + pull) }
    }

    /// What `len` tied rows contribute, on average over their orders: at place `r` of
    /// them is a random row, and before it `r − 1` random others.
    fn several(&self, weights: RunWeights, sums: RunSums, len: usize, nearer: f64, u_t: f64) -> Quadratic {
        let RunWeights { w, wc, wcr } = weights;
        let len = len as f64;
        let mean = sums.sum / len;
        let mean_square = sums.squares / len;
        // The mean product of two different rows.
        let cross = if len > 1.0 { (sums.sum * mean - mean_square) / (len - 1.0) } else { 0.0 };
        let pull = 2.0 * (wc * nearer - self.k * w * u_t);
        Quadratic {
            squared: w,
            linear: pull + 2.0 * wcr * mean,
            constant: -(w * mean_square + pull * mean + 2.0 * wcr * cross),
        }
    }
}

impl Quadratic {
    /// Minus the quadratic at `u`, whose coefficients are sums over `n_rows` rows.
    ///
    /// If these rows have the target `u` themselves, its terms cancel and what is left is
    /// rounding, up to `ε` of the terms for each row and the few steps of the evaluation:
    /// such a remainder counts as 0.
    #[inline]
    fn gain(&self, u: f64, n_rows: usize) -> f64 {
        let (squared, linear) = (self.squared * u * u, self.linear * u);
        let sum = squared + linear + self.constant;
        let terms = squared.abs() + linear.abs() + self.constant.abs();
        if sum.abs() <= (n_rows + 4) as f64 * f64::EPSILON * terms { 0.0 } else { -sum }
    }

    #[inline]
    fn add(&mut self, other: &Self) {
        self.squared += other.squared;
        self.linear += other.linear;
        self.constant += other.constant;
    }

    /// Removes the valued point from the rows nearer than one with (mean) target `u`,
    /// where `wc` is their share: `2wc·(−y)(y − u)`.
    #[inline]
    fn without_point(&mut self, wc: f64, u: f64) {
        self.squared -= 2.0 * wc;
        self.linear += 2.0 * wc * u;
    }
}
