//! Classification: what a list says of rows with labels.

use super::list::{List, Run};
use super::weights::WeightTable;

/// The labels of the reference.
#[derive(Debug, Clone, Copy)]
pub(super) struct Labels<'a> {
    pub(super) y: &'a [f64],
    pub(super) k: f64,
}

/// What an unseen point needs to know of a list, by place.
#[derive(Debug, Default)]
pub(super) struct LabelSums {
    /// Weight of the rows from a place on that agree with the test row.
    beyond: Vec<f64>,
    /// Rows of a run that agree with the test row, where a run of several starts.
    agreeing: Vec<f64>,
}

impl Labels<'_> {
    /// Values of the reference rows, each against the others: the list without it.
    /// `table` is that of one row less than the list was made of.
    ///
    /// ```text
    /// ν = (1/k) [ 1[y = y_t]·G_a − Σ_{i>a} w_i·1[y_(i) = y_t] ]          a rows are nearer
    /// ```
    ///
    /// and the mean of that over all orders of tied rows: they come in one of
    /// `g + 1` places among `g` others, each with the share `f` of agreeing labels.
    pub(super) fn own_values(&self, list: &List, table: &WeightTable, y_t: f64, out: &mut [f64]) {
        let (w, tail, k) = (table.weights(), table.tails(), self.k);
        // Seen from a row, those further away are one place nearer: without it.
        let mut beyond = 0.0;
        for run in list.runs_from_far() {
            let a = run.start;
            if run.len == 1 {
                let row = list.row(a);
                let agrees = self.y[row] == y_t;
                out[row] = (if agrees { tail[a] } else { 0.0 } - beyond) / k;
                if agrees {
                    beyond += w[a];
                }
                continue;
            }
            let count = self.count(list, run, y_t);
            let g = run.len - 1;
            let among = table.run_with_point(a, g).w;
            for row in list.rows(run) {
                let agrees = f64::from(u8::from(self.y[row] == y_t));
                let f = (count - agrees) / g as f64;
                out[row] = (agrees * (tail[a + g] + among) - f * among - beyond) / k;
            }
            if a > 0 {
                beyond += table.run(a - 1, run.len).w * (count / run.len as f64);
            }
        }
    }

    /// Sums for unseen points. `table` is that of the whole list.
    pub(super) fn sums(&self, list: &List, table: &WeightTable, y_t: f64, sums: &mut LabelSums) {
        sums.beyond.resize(list.len() + 1, 0.0);
        sums.agreeing.resize(list.len() + 1, 0.0);
        let mut beyond = 0.0;
        sums.beyond[list.len()] = 0.0;
        for run in list.runs_from_far() {
            let count = self.count(list, run, y_t);
            if run.len == 1 {
                beyond += count * table.weights()[run.start + 1];
            } else {
                beyond += table.run(run.start, run.len).w * (count / run.len as f64);
                sums.agreeing[run.start] = count;
            }
            sums.beyond[run.start] = beyond;
        }
    }

    /// The value of an unseen point with label `y`, which belongs at `run`.
    pub(super) fn value(
        &self,
        list: &List,
        table: &WeightTable,
        y_t: f64,
        sums: &LabelSums,
        run: Run,
        y: f64,
    ) -> f64 {
        let agrees = f64::from(u8::from(y == y_t));
        let end = run.start + run.len;
        let (tail, beyond) = (table.tail(end), sums.beyond[end]);
        if run.len == 0 {
            return (agrees * tail - beyond) / self.k;
        }
        let count = if run.len == 1 { self.count(list, run, y_t) } else { sums.agreeing[run.start] };
        let among = table.run_with_point(run.start, run.len).w;
        (agrees * (tail + among) - count / run.len as f64 * among - beyond) / self.k
    }

    /// Rows of a run with label `y_t`.
    fn count(&self, list: &List, run: Run, y_t: f64) -> f64 {
        list.rows(run).filter(|&row| self.y[row] == y_t).count() as f64
    }
}
