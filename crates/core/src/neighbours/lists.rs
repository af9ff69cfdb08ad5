//! The work for one test row: its list, and values from it.

use super::distances::{Way, Work};
use super::index::Index;
use super::labels::{LabelSums, Labels};
use super::list::{List, Ranked, Run};
use super::numbers::{NumberSums, Numbers};
use super::sort::Order;
use super::space::{Placed, TestRow};
use super::valuer::{NeighbourValuer, Test};
use super::weights::WeightTable;
use crate::Error;

/// How a list becomes values.
#[derive(Debug)]
pub(super) enum Utility<'a> {
    Labels(Labels<'a>),
    Numbers(Numbers),
}

/// Memory of a thread.
#[derive(Debug, Default)]
pub(super) struct ListWork {
    pub(super) distances: Work,
    of_reference: Vec<f64>,
    pub(super) list: List,
    /// Points from near to far.
    pub(super) order: Order,
    pub(super) labels: LabelSums,
    pub(super) numbers: NumberSums,
}

/// A test row, its target, and its number if it is a reference row.
#[derive(Debug)]
pub(super) struct OneTest {
    pub(super) row: TestRow,
    pub(super) y: f64,
    pub(super) own: Option<usize>,
}

impl NeighbourValuer<'_> {
    /// A test row.
    pub(super) fn test(&self, t: usize) -> OneTest {
        match &self.test {
            Test::Given(placed, y) => OneTest { row: self.space.test_row(placed, t), y: y[t], own: None },
            Test::Reference(numbers) => {
                let own = numbers[t];
                let row = self.space.test_row(&self.placed, own);
                OneTest { row, y: self.reference.y()[own], own: Some(own) }
            }
        }
    }

    /// Distances of the reference to each of some test rows.
    pub(super) fn measure(&self, tests: &[&TestRow], work: &mut ListWork) {
        work.of_reference.resize(tests.len() * self.placed.len(), 0.0);
        work.distances.fill(self.way, &self.space, tests, &self.placed, &mut work.of_reference);
    }

    /// The list of the `b`-th of them.
    pub(super) fn list(
        &self,
        test: &OneTest,
        b: usize,
        keep: usize,
        work: &mut ListWork,
    ) -> Result<(), Error> {
        let n = self.placed.len();
        let distances = &work.of_reference[b * n..(b + 1) * n];
        let precision = self.way.precision(&self.space, &test.row);
        let direct = |row: usize| self.direct(test, row, Some(distances));
        if work.list.sort(distances, test.own, keep, precision, direct) {
            Ok(())
        } else {
            Err(Error::TooLarge)
        }
    }

    /// The list of a test row by the index, which only measures distances of rows near
    /// it.
    pub(super) fn indexed_list(
        &self,
        index: &Index,
        test: &OneTest,
        keep: usize,
        work: &mut ListWork,
    ) -> Result<(), Error> {
        if index.can_visit(&test.row) {
            work.list.sort_near(index, &test.row, test.own, keep, |row| self.direct(test, row, None));
            return Ok(());
        }
        self.measure(&[&test.row], work);
        self.list(test, 0, keep, work)
    }

    /// Values of reference rows from the current list. Rows that are not listed are not
    /// mentioned: their value is 0.
    pub(super) fn own_values(
        &self,
        test: &OneTest,
        table: &WeightTable,
        work: &mut ListWork,
        say: impl FnMut(usize, f64),
    ) {
        match &self.utility {
            Utility::Labels(labels) => labels.own_values(work.list.ranked(), table, test.y, say),
            Utility::Numbers(numbers) => {
                numbers.own_values(work.list.ranked(), table, test.y, &mut work.numbers, say);
            }
        }
    }

    /// Values of points from one list, written over their distances. `measured` is the
    /// measured test row that the list belongs to, if there is one.
    pub(super) fn point_values(
        &self,
        test: &OneTest,
        measured: Option<usize>,
        table: &WeightTable,
        points: &Placed<'_>,
        y: &[f64],
        work: &mut ListWork,
        out: &mut [f64],
    ) -> Result<(), Error> {
        let n = self.placed.len();
        let ListWork { of_reference, list, labels: label_sums, numbers: number_sums, order, .. } = work;
        let distances = measured.map(|b| &of_reference[b * n..(b + 1) * n]);
        let list = list.ranked();
        match &self.utility {
            Utility::Labels(labels) => {
                labels.sums(list, table, test.y, label_sums);
                self.place_points(test, list, distances, points, order, out, |point, run| {
                    labels.value(list, table, test.y, label_sums, run, y[point])
                })
            }
            Utility::Numbers(numbers) => {
                numbers.sums(list, table, test.y, number_sums);
                self.place_points(test, list, distances, points, order, out, |point, run| {
                    numbers.value(list, table, test.y, number_sums, run, y[point])
                })
            }
        }
    }

    /// Finds the place of each point in a list and writes its value there over its distance.
    pub(super) fn place_points(
        &self,
        test: &OneTest,
        list: Ranked<'_>,
        distances: Option<&[f64]>,
        points: &Placed<'_>,
        order: &mut Order,
        out: &mut [f64],
        mut value: impl FnMut(usize, Run) -> f64,
    ) -> Result<(), Error> {
        if out.iter().any(|distance| !distance.is_finite()) {
            return Err(Error::TooLarge);
        }
        let precision = self.way.precision(&self.space, &test.row);
        // Points in the order of their distances find their places one after the other. A
        // nearly correct order is enough: it only saves time, and the list decides.
        let mut hint = 0;
        for point in order.of(out) {
            let distance = out[point];
            let own = || {
                if self.way == Way::Direct { distance } else { self.space.direct(&test.row, points, point) }
            };
            let direct = |row: usize| self.direct(test, row, distances);
            let run = list.find(hint, distance, precision, own, direct);
            hint = run.start;
            out[point] = value(point, run);
        }
        Ok(())
    }

    /// The direct distance of a reference row: measured, or computed again.
    #[inline]
    fn direct(&self, test: &OneTest, row: usize, measured: Option<&[f64]>) -> f64 {
        match measured {
            Some(distances) if self.way == Way::Direct => distances[row],
            _ => self.space.direct(&test.row, &self.placed, row),
        }
    }
}
