//! Classification: from a list to the values of rows with labels.

use super::kept::STEP;
use super::list::{Ranked, Run};
use super::weights::WeightTable;

/// The labels of the reference.
#[derive(Debug, Clone, Copy)]
pub(super) struct Labels<'a> {
    pub(super) y: &'a [f64],
    pub(super) k: f64,
}

/// What the value of an unseen point needs from a list, by place.
#[derive(Debug, Default)]
pub(super) struct LabelSums {
    /// The rows from a place on.
    beyond: Vec<Sides>,
    /// The number of rows of a run that agree with the test row, at the start of a run of
    /// several.
    agreeing: Vec<f64>,
}

/// Weights of rows that agree with the test row and of those that do not.
///
/// `1[y = y_t]·G − Σ w·1[y_i = y_t]` is the weight of the rows that disagree if the point
/// agrees, and minus that of those that agree otherwise. Each sum has terms of one sign,
/// so rounding cannot change its sign, and it is exactly zero without terms.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sides {
    agreeing: f64,
    others: f64,
}

impl Sides {
    /// `w` shared by rows of which `share` agree.
    #[inline]
    fn of(w: f64, share: f64) -> Self {
        Self { agreeing: w * share, others: w * (1.0 - share) }
    }

    /// A run of rows of which `count` agree.
    #[inline]
    fn of_run(table: &WeightTable, run: Run, count: f64) -> Self {
        match run.len {
            1 => Self::of(table.weights()[run.start + 1], count),
            len => Self::of(table.run(run.start, len).w, count / len as f64),
        }
    }

    #[inline]
    fn add(&mut self, more: Self) {
        self.agreeing += more.agreeing;
        self.others += more.others;
    }

    /// What a row gains in front of all of them.
    #[inline]
    fn gain(&self, agrees: bool) -> f64 {
        if agrees { self.others } else { 0.0 - self.agreeing }
    }
}

impl Labels<'_> {
    /// Values of the reference rows, each against the others: the list without it.
    /// `table` is for one row fewer than the list has.
    ///
    /// ```text
    /// ν = (1/k) [ 1[y = y_t]·G_a − Σ_{i>a} w_i·1[y_(i) = y_t] ]          a rows are nearer
    /// ```
    ///
    /// and the mean of that over all orders of tied rows: they come in one of
    /// `g + 1` places among `g` others, each with the share `f` of agreeing labels.
    pub(super) fn own_values(
        &self,
        list: Ranked<'_>,
        table: &WeightTable,
        y_t: f64,
        mut say: impl FnMut(usize, f64),
    ) {
        let (w, k) = (table.weights(), self.k);
        // Without a row, those further away move up by one place.
        let mut beyond = Sides::default();
        for run in list.runs_from_far() {
            let a = run.start;
            if run.len == 1 {
                let row = list.row(a);
                let agrees = self.y[row] == y_t;
                say(row, beyond.gain(agrees) / k);
                *(if agrees { &mut beyond.agreeing } else { &mut beyond.others }) += w[a];
                continue;
            }
            let count = self.count(list, run, y_t);
            let g = run.len - 1;
            let among = table.run_with_point(a, g).w;
            for row in list.rows(run) {
                let agrees = self.y[row] == y_t;
                let share = (count - f64::from(u8::from(agrees))) / g as f64;
                say(row, (beyond.gain(agrees) + Sides::of(among, share).gain(agrees)) / k);
            }
            if a > 0 {
                beyond.add(Sides::of(table.run(a - 1, run.len).w, count / run.len as f64));
            }
        }
    }

    /// Sums for unseen points. `table` is that of the whole list.
    pub(super) fn sums(&self, list: Ranked<'_>, table: &WeightTable, y_t: f64, sums: &mut LabelSums) {
        sums.beyond.resize(list.len() + 1, Sides::default());
        sums.agreeing.resize(list.len() + 1, 0.0);
        let mut beyond = Sides::default();
        sums.beyond[list.len()] = beyond;
        for run in list.runs_from_far() {
            let count = self.count(list, run, y_t);
            if run.len > 1 {
                sums.agreeing[run.start] = count;
            }
            beyond.add(Sides::of_run(table, run, count));
            sums.beyond[run.start] = beyond;
        }
    }

    /// Every [`STEP`]-th of the sums: those from the first run on that does not start
    /// before that place.
    pub(super) fn marks(list: Ranked<'_>, sums: &LabelSums) -> Box<[Sides]> {
        (0..=list.len().div_ceil(STEP)).map(|mark| sums.beyond[list.run_from(mark * STEP)]).collect()
    }

    /// The value of an unseen point with label `y`, which belongs at `run`.
    pub(super) fn value(
        &self,
        list: Ranked<'_>,
        table: &WeightTable,
        y_t: f64,
        sums: &LabelSums,
        run: Run,
        y: f64,
    ) -> f64 {
        let count = || if run.len == 1 { self.count(list, run, y_t) } else { sums.agreeing[run.start] };
        self.value_before(sums.beyond[run.start + run.len], table, run, count, y == y_t)
    }

    /// The same from every [`STEP`]-th sum: the runs up to the next one are added again.
    pub(super) fn value_by_marks(
        &self,
        list: Ranked<'_>,
        table: &WeightTable,
        y_t: f64,
        marks: &[Sides],
        run: Run,
        y: f64,
    ) -> f64 {
        let end = run.start + run.len;
        let mark = end.div_ceil(STEP);
        let mut beyond = marks[mark];
        for run in list.runs_between(end, list.run_from(mark * STEP)) {
            beyond.add(Sides::of_run(table, run, self.count(list, run, y_t)));
        }
        self.value_before(beyond, table, run, || self.count(list, run, y_t), y == y_t)
    }

    /// The value of a point among the rows of `run`, of which `count` agree with the test
    /// row, in front of all that count in `beyond`.
    #[inline]
    fn value_before(
        &self,
        beyond: Sides,
        table: &WeightTable,
        run: Run,
        count: impl FnOnce() -> f64,
        agrees: bool,
    ) -> f64 {
        let beyond = beyond.gain(agrees);
        if run.len == 0 {
            return beyond / self.k;
        }
        let among = table.run_with_point(run.start, run.len).w;
        (beyond + Sides::of(among, count() / run.len as f64).gain(agrees)) / self.k
    }

    /// Rows of a run with label `y_t`.
    fn count(&self, list: Ranked<'_>, run: Run, y_t: f64) -> f64 {
        list.rows(run).filter(|&row| self.y[row] == y_t).count() as f64
    }
}
