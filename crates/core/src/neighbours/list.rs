//! The rows of one test row in the order of their distances.

use super::distances::Precision;
use super::index::{Index, LEAF_ROWS};
use super::sort::{numbers_mask, sort};
use super::space::TestRow;
use std::cell::OnceCell;
use std::cmp::Ordering;

/// Rows from near to far.
///
/// A place is stored as one number: the leading bits of a distance, which order like the
/// distance itself, and the number of the row in the bits below. Such numbers sort fast.
/// If two distances are too close for those bits, or for the precision of the distance,
/// direct distances decide; equal ones are ties.
#[derive(Debug, Default)]
pub(super) struct List {
    places: Vec<u64>,
    mask: u64,
    /// Memory for sorting.
    spare: Vec<u64>,
    /// Memory for places that are ordered by direct distances.
    doubtful: Vec<(f64, u64)>,
}

/// Set in a place that is tied with the one before it: the sign of a distance, which none
/// needs.
const TIED: u64 = 1 << 63;

/// A list to be read: places, and which of their bits are the number of a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ranked<'a> {
    pub(super) places: &'a [u64],
    pub(super) mask: u64,
}

/// Rows at the same distance: places `start..start + len`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) start: usize,
    pub(super) len: usize,
}

impl List {
    /// Sorts rows by `distance`, without row `own`. At least the `keep` nearest are
    /// listed, with all that are tied with the last of them; others may be missing.
    /// Returns whether all distances are finite.
    pub(super) fn sort(
        &mut self,
        distance: &[f64],
        own: Option<usize>,
        keep: usize,
        precision: Precision,
        direct: impl Fn(usize) -> f64,
    ) -> bool {
        self.mask = numbers_mask(distance.len());
        let mask = self.mask;
        self.places.clear();
        self.places.extend(distance.iter().zip(0_u64..).map(|(d, row)| (d.to_bits() & !mask) | row));
        // The bits of finite non-negative numbers are below those of infinity.
        if self.places.iter().any(|&place| place & !mask >= f64::INFINITY.to_bits() & !mask) {
            return false;
        }
        if let Some(own) = own {
            self.places.swap_remove(own);
        }
        self.arrange(keep, precision, direct);
        true
    }

    /// The same list, from rows that the index finds near a test row.
    pub(super) fn sort_near(
        &mut self,
        index: &Index,
        test: &TestRow,
        own: Option<usize>,
        keep: usize,
        direct: impl Fn(usize) -> f64,
    ) {
        self.mask = numbers_mask(index.n_rows());
        self.places.clear();
        // The more rows are collected before a selection, the less a row costs, but the
        // later it is known how near it must be.
        let waiting = |n_kept: usize| 2 * n_kept.max(LEAF_ROWS);
        let (mut reach, mut most) = (f64::INFINITY, waiting(keep));
        index.visit(test, |rows, distances| {
            for (&row, &distance) in rows.iter().zip(distances) {
                if distance <= reach && Some(row as usize) != own {
                    self.places.push((distance.to_bits() & !self.mask) | u64::from(row));
                }
            }
            if self.places.len() > most {
                reach = self.select(keep, Precision::EXACT);
                // Ties may leave more rows than requested.
                most = waiting(self.places.len());
            }
            reach
        });
        self.arrange(keep, Precision::EXACT, direct);
    }

    /// Sorts the collected rows, and drops those after the first `keep` that are not tied
    /// with the last of them.
    fn arrange(&mut self, keep: usize, precision: Precision, direct: impl Fn(usize) -> f64) {
        let cut = keep.min(self.places.len());
        if cut < self.places.len() {
            self.select(cut, precision);
        }
        sort(&mut self.places, &mut self.spare);
        self.settle(precision, direct);
        let end = self.ranked().first(cut).len();
        self.places.truncate(end);
    }

    /// The list to be read.
    pub(super) fn ranked(&self) -> Ranked<'_> {
        Ranked { places: &self.places, mask: self.mask }
    }

    /// Drops places that are certainly after the first `cut`; returns how far away those
    /// can be.
    fn select(&mut self, cut: usize, precision: Precision) -> f64 {
        let Some(last) = cut.checked_sub(1) else {
            self.places.clear();
            return f64::NEG_INFINITY;
        };
        let (_, &mut last, _) = self.places.select_nth_unstable(last);
        let (_, high) = self.ranked().bounds(last, precision);
        let mask = self.mask;
        self.places.retain(|&place| precision.low(f64::from_bits(place & !mask)) <= high);
        high
    }

    /// Puts places in the order of direct distances wherever the order is uncertain.
    fn settle(&mut self, precision: Precision, direct: impl Fn(usize) -> f64) {
        let n = self.places.len();
        let mut start = 0;
        while start < n {
            // Both bounds rise from place to place, so what is certainly after one place
            // is after all places before it.
            let mut end = start + 1;
            let mut high = self.ranked().bounds(self.places[start], precision).1;
            while end < n {
                let (low, next_high) = self.ranked().bounds(self.places[end], precision);
                if low > high {
                    break;
                }
                high = next_high;
                end += 1;
            }
            if end - start > 1 {
                self.decide(start, end, &direct);
            }
            start = end;
        }
    }

    fn decide(&mut self, start: usize, end: usize, direct: &impl Fn(usize) -> f64) {
        let mask = self.mask;
        self.doubtful.clear();
        let places = &mut self.places[start..end];
        self.doubtful.extend(places.iter().map(|&place| (direct((place & mask) as usize), place)));
        // By row number among ties, so that the same sums are added in the same order.
        self.doubtful
            .sort_unstable_by(|(a, one), (b, other)| a.total_cmp(b).then((one & mask).cmp(&(other & mask))));
        for (at, (place, &(distance, decided))) in places.iter_mut().zip(&self.doubtful).enumerate() {
            let is_tied = at > 0 && self.doubtful[at - 1].0 == distance;
            *place = if is_tied { decided | TIED } else { decided };
        }
    }
}

impl<'a> Ranked<'a> {
    /// Number of places.
    pub(super) fn len(self) -> usize {
        self.places.len()
    }

    /// The row at a place.
    #[inline]
    pub(super) fn row(self, place: usize) -> usize {
        (self.places[place] & self.mask) as usize
    }

    /// Rows of a run.
    pub(super) fn rows(self, run: Run) -> impl Iterator<Item = usize> + use<'a> {
        self.places[run.start..run.start + run.len].iter().map(move |place| (place & self.mask) as usize)
    }

    /// Runs of rows at the same distance, from far to near.
    pub(super) fn runs_from_far(self) -> impl Iterator<Item = Run> + use<'a> {
        self.runs_between(0, self.len())
    }

    /// The same from where one run starts to where another ends.
    pub(super) fn runs_between(self, from: usize, mut end: usize) -> impl Iterator<Item = Run> + use<'a> {
        std::iter::from_fn(move || {
            let last = end.checked_sub(1).filter(|&last| last >= from)?;
            let mut start = last;
            while self.is_tied(start) {
                start -= 1;
            }
            end = start;
            Some(Run { start, len: last + 1 - start })
        })
    }

    /// Where the first run starts that is not before a place; where the list ends if none is.
    pub(super) fn run_from(self, place: usize) -> usize {
        let n = self.len();
        (place.min(n)..n).find(|&at| !self.is_tied(at)).unwrap_or(n)
    }

    /// Where a point at `distance` belongs: after `start` rows that are nearer and among
    /// `len` that are as far. `point` and `direct` are direct distances of the point and
    /// of a row, computed when needed. The closer `hint` is to the place, the sooner it
    /// is found: points sorted by distance, each with the place of the one before, take a
    /// single walk along the list.
    pub(super) fn find(
        self,
        hint: usize,
        distance: f64,
        precision: Precision,
        point: impl Fn() -> f64,
        direct: impl Fn(usize) -> f64,
    ) -> Run {
        let exact = OnceCell::new();
        let (lowest, highest) = (precision.low(distance), precision.high(distance));
        let compare = |at: usize| {
            let (low, high) = self.bounds(self.places[at], precision);
            if high < lowest {
                Ordering::Less
            } else if low > highest {
                Ordering::Greater
            } else {
                direct(self.row(at)).total_cmp(exact.get_or_init(&point))
            }
        };
        let start = self.search(hint, |at| compare(at) == Ordering::Less);
        // Usually there is no tie, and one comparison shows that.
        let is_tied = start < self.len() && compare(start) == Ordering::Equal;
        let end = if is_tied { self.search(start + 1, |at| compare(at) != Ordering::Greater) } else { start };
        Run { start, len: end - start }
    }

    /// The first place that is not before the target: from `hint` in doubling steps
    /// either way until the target is passed, then by bisection.
    fn search(self, hint: usize, is_before: impl Fn(usize) -> bool) -> usize {
        let n = self.len();
        let (mut from, mut to) = (hint.min(n), hint.min(n));
        let mut step = 1;
        if from < n && is_before(from) {
            // Everything before `from` is before, too.
            from += 1;
            to = n;
            while from + step <= n {
                if !is_before(from + step - 1) {
                    to = from + step - 1;
                    break;
                }
                from += step;
                step *= 2;
            }
        } else {
            from = 0;
            while to > 0 {
                let at = to.saturating_sub(step);
                if is_before(at) {
                    from = at + 1;
                    break;
                }
                to = at;
                step *= 2;
            }
        }
        while from < to {
            let at = from.midpoint(to);
            if is_before(at) { from = at + 1 } else { to = at }
        }
        from
    }

    /// The first `keep` places, with all that are tied with the last of them.
    pub(super) fn first(self, keep: usize) -> Self {
        Self { places: &self.places[..self.run_from(keep)], ..self }
    }

    /// Whether a place is tied with the one before it.
    #[inline]
    fn is_tied(self, place: usize) -> bool {
        self.places[place] & TIED != 0
    }

    /// Bounds on the direct distance of a place.
    #[inline]
    fn bounds(self, place: u64, precision: Precision) -> (f64, f64) {
        let place = place & !TIED;
        let (low, high) = (f64::from_bits(place & !self.mask), f64::from_bits(place | self.mask));
        (precision.low(low), precision.high(high))
    }
}

impl Precision {
    #[inline]
    fn low(self, distance: f64) -> f64 {
        distance - (self.absolute + self.relative * distance)
    }

    #[inline]
    fn high(self, distance: f64) -> f64 {
        distance + (self.absolute + self.relative * distance)
    }
}

#[cfg(test)]
mod tests {
    use super::super::distances::{Way, Work};
    use super::super::options::{Metric, Scale};
    use super::super::space::Space;
    use super::*;
    use crate::Rows;
    use dshap_testkit::Draws;
    use faer::Mat;

    /// The list of every tenth row of `x`, computed both ways, and how often the order of
    /// distances from products alone would have been different.
    fn check(x: &Mat<f64>, metric: Metric, scale: Scale, keep: usize) -> usize {
        let y = vec![0.0; x.nrows()];
        let rows = Rows::new(x.as_ref(), &y).expect("one target per row");
        let space = Space::new(rows, metric, scale).expect("features vary");
        let placed = space.place(rows).expect("cells are finite");
        let index = (!placed.has_null()).then(|| Index::new(&space, &placed));
        let mut n_wrong = 0;
        let mut distances = vec![0.0; x.nrows()];
        for t in (0..x.nrows()).step_by(10) {
            let test = space.test_row(&placed, t);
            let direct = |row: usize| space.direct(&test, &placed, row);
            let mut expected: Vec<usize> = (0..x.nrows()).filter(|&row| row != t).collect();
            expected.sort_by(|&a, &b| direct(a).total_cmp(&direct(b)).then(a.cmp(&b)));
            for way in [Way::Direct, Way::Products] {
                Work::default().fill(way, &space, &[&test], &placed, &mut distances);
                let precision = way.precision(&space, &test);
                for (row, &distance) in distances.iter().enumerate() {
                    let (low, high) = (precision.low(distance), precision.high(distance));
                    assert!(low <= direct(row) && direct(row) <= high, "{metric:?}, {way:?}: {t}, {row}");
                }
                let mut list = List::default();
                assert!(list.sort(&distances, Some(t), keep, precision, direct));
                let list = list.ranked();
                let found: Vec<usize> = (0..list.len()).map(|place| list.row(place)).collect();
                assert!(found.len() >= keep.min(expected.len()), "{metric:?}, {way:?}");
                assert_eq!(found, expected[..found.len()], "{metric:?}, {way:?}, test row {t}");
                for place in 1..found.len() {
                    let is_tied = direct(found[place - 1]) == direct(found[place]);
                    assert_eq!(list.is_tied(place), is_tied, "{metric:?}, {way:?}: {t}, place {place}");
                }
                if let (Some(&last), Some(&next)) = (found.last(), expected.get(found.len())) {
                    assert!(direct(last) < direct(next), "a tie was cut in two");
                }
                // A point like one of the rows is tied with that row.
                for row in [0, 1, 17] {
                    let before = expected.iter().filter(|&&other| direct(other) < direct(row)).count();
                    let same = expected.iter().filter(|&&other| direct(other) == direct(row)).count();
                    // From any start of the search.
                    for hint in [0, 1, before / 2, before, before + same, 60, found.len(), usize::MAX] {
                        let run = list.find(hint, distances[row], precision, || direct(row), direct);
                        let expected = Run { start: before, len: same };
                        assert!(
                            before >= found.len() || run == expected,
                            "{metric:?}, {way:?}: {t}, {row}, {hint}"
                        );
                    }
                }
                if let Some(index) = index.as_ref().filter(|index| index.can_visit(&test)) {
                    let mut near = List::default();
                    near.sort_near(index, &test, Some(t), keep, direct);
                    let near = near.ranked();
                    let rows: Vec<usize> = (0..near.len()).map(|place| near.row(place)).collect();
                    let ties =
                        |list: Ranked<'_>| (0..list.len()).map(|at| list.is_tied(at)).collect::<Vec<_>>();
                    assert_eq!((rows, ties(near)), (found.clone(), ties(list)), "{metric:?}, test row {t}");
                }
                let by_products = |place: usize| distances[found[place - 1]] <= distances[found[place]];
                n_wrong += (1..found.len()).filter(|&place| !by_products(place)).count();
            }
        }
        n_wrong
    }

    /// 150 rows: some the same, some apart by 1e-12, all far from zero.
    fn hard(seed: u64, p: usize, offset: f64) -> Mat<f64> {
        let mut draws = Draws::new(seed);
        let mut x = Mat::from_fn(150, p, |_, _| draws.normal());
        for row in 50..100 {
            for j in 0..p {
                let nudge = if row < 75 { 0.0 } else { 1e-12 * draws.normal() };
                x[(row, j)] = x[(row - 50, j)] + nudge;
            }
        }
        Mat::from_fn(150, p, |i, j| x[(i, j)] + offset)
    }

    #[test]
    fn lists_have_the_order_of_direct_distances() {
        let mut n_wrong = 0;
        for p in [1, 5, 40] {
            for offset in [0.0, 1e8] {
                let x = hard(p as u64, p, offset);
                for metric in [Metric::Euclidean, Metric::Cosine] {
                    for scale in [Scale::Standard, Scale::AsGiven] {
                        n_wrong += check(&x, metric, scale, 150);
                        check(&x, metric, scale, 12);
                    }
                }
            }
        }
        assert!(n_wrong > 1000, "products alone would have done, {n_wrong}");
    }

    /// Rows far from all others must neither make the rest uncertain nor be lost; rows
    /// without direction are at a right angle.
    #[test]
    fn outliers_and_rows_of_zeros_are_in_order_too() {
        let mut x = hard(7, 30, 0.0);
        for j in 0..30 {
            x[(3, j)] = 1e12;
            x[(90, j)] = 0.0;
            x[(91, j)] = 0.0;
        }
        for metric in [Metric::Euclidean, Metric::Cosine] {
            check(&x, metric, Scale::AsGiven, 150);
            check(&x, metric, Scale::Standard, 150);
        }
    }

    #[test]
    fn distances_that_are_not_finite_are_noticed() {
        let sort = |distance: &[f64]| {
            let precision = Precision { relative: 0.0, absolute: 0.0 };
            List::default().sort(distance, None, 3, precision, |row| distance[row])
        };
        assert!(sort(&[1.0, f64::MAX, 0.0]));
        assert!(!sort(&[1.0, f64::INFINITY, 0.0]));
        assert!(!sort(&[1.0, 0.0, f64::NAN]));
    }
}
