//! Lists that are kept, so that unseen rows are valued without sorting the reference again.

use super::labels::{Labels, Sides};
use super::list::Ranked;
use super::lists::{ListWork, Utility};
use super::numbers::{NumberMarks, Numbers};
use super::pass::{TestMeans, add_tests};
use super::sort::numbers_mask;
use super::space::TestRow;
use super::valuer::{NeighbourValuer, Test};
use super::weights::WeightTable;
use crate::valuer::go_on;
use crate::{Error, Rows, Sizes, Watch};
use rayon::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};

/// Of the sums along a list one in as many is kept, and the few in between are added again:
/// with the same bits, in a quarter of the memory.
pub(super) const STEP: usize = 8;

/// The reference in the order of distance from each test row.
///
/// A list depends on the rows and their distances alone: not on `k`, and on set sizes only
/// where these are so large that far rows have no weight and are not listed. A valuer of the
/// same rows values an unseen row by one distance and one search in each list, with the bits
/// of [`add_values`](NeighbourValuer::add_values).
#[derive(Debug)]
pub struct KeptLists {
    /// Rows that lists were made of, and are numbered in.
    n_reference: usize,
    /// Rows listed at least, unless there are fewer.
    keep: usize,
    /// Places as in [`Ranked`], test row by test row.
    lists: Vec<Box<[u64]>>,
    /// Sums along these lists, for the sizes they were last used with.
    marks: Mutex<Option<Arc<Marks>>>,
}

/// Sums along all lists.
#[derive(Debug)]
struct Marks {
    k: usize,
    sizes: Sizes,
    tolerance: f64,
    table: WeightTable,
    of_tests: Vec<MarksOf>,
}

/// Sums along a list.
#[derive(Debug)]
enum MarksOf {
    Labels(Box<[Sides]>),
    Numbers(NumberMarks),
}

impl KeptLists {
    /// Bytes in memory, with the sums along all lists.
    pub fn n_bytes(&self) -> u64 {
        self.lists.iter().map(|list| bytes_of(list.len())).sum()
    }

    /// Number of test rows.
    pub fn n_tests(&self) -> usize {
        self.lists.len()
    }

    /// Places of all lists.
    pub fn n_places(&self) -> usize {
        self.lists.iter().map(|list| list.len()).sum()
    }

    /// Rows of each list at least, the length of each list, and the places of all. The sign
    /// of a place says whether it is tied with the one before it; the rest is a distance, in
    /// whose last bits is the number of the row.
    pub fn to_parts(&self) -> (usize, Vec<f64>, Vec<f64>) {
        let lengths = self.lists.iter().map(|list| list.len() as f64).collect();
        let places = self.lists.iter().flat_map(|list| list.iter().map(|&place| f64::from_bits(place)));
        (self.keep, lengths, places.collect())
    }

    /// Lists from their numbers, for a reference of `n_reference` rows.
    ///
    /// # Errors
    ///
    /// [`Error::Contradiction`] when they cannot be lists of these rows.
    pub fn from_parts(
        n_reference: usize,
        keep: usize,
        lengths: &[f64],
        places: &[f64],
    ) -> Result<Self, Error> {
        let wrong = Error::Contradiction { what: "the lists of neighbours do not add up" };
        let mask = numbers_mask(n_reference);
        let mut rest = places;
        // The last list in which a row was seen.
        let mut seen = vec![0_usize; n_reference];
        let mut lists = Vec::with_capacity(lengths.len());
        for (list, &len) in lengths.iter().enumerate() {
            let is_len = len >= 0.0 && len.fract() == 0.0 && len <= rest.len() as f64;
            let Some((own, more)) = is_len.then(|| rest.split_at(len as usize)) else { return Err(wrong) };
            rest = more;
            let is_first_tied = own.first().is_some_and(|place| place.is_sign_negative());
            let has_all = own.len() >= keep.min(n_reference.saturating_sub(1));
            let each_once = own.iter().all(|place| {
                let row = (place.to_bits() & mask) as usize;
                place.is_finite()
                    && seen.get_mut(row).is_some_and(|seen| std::mem::replace(seen, list + 1) != list + 1)
            });
            if is_first_tied || !has_all || !each_once {
                return Err(wrong);
            }
            lists.push(own.iter().map(|place| place.to_bits()).collect());
        }
        if !rest.is_empty() {
            return Err(wrong);
        }
        Ok(Self { n_reference, keep, lists, marks: Mutex::default() })
    }

    fn list(&self, t: usize) -> Ranked<'_> {
        Ranked { places: &self.lists[t], mask: numbers_mask(self.n_reference) }
    }
}

/// Bytes of a list of `n_rows`, with the sums along it.
fn bytes_of(n_rows: usize) -> u64 {
    let of_sums = size_of::<Sides>().max(NumberMarks::BYTES);
    (n_rows * size_of::<u64>()
        + (n_rows / STEP + 2) * of_sums
        + size_of::<MarksOf>()
        + size_of::<Ranked<'_>>()) as u64
}

impl NeighbourValuer<'_> {
    /// Bytes that [`keep_lists`](Self::keep_lists) would take in memory, with the sums along
    /// all lists.
    ///
    /// # Errors
    ///
    /// As for [`add_values`](Self::add_values).
    pub fn lists_bytes(&self) -> Result<u64, Error> {
        let keep = self.unseen_table()?.cut_off(self.options.tolerance);
        Ok((self.n_tests() as u64).saturating_mul(bytes_of(keep.min(self.list_len()))))
    }

    /// Sorts the reference by distance from each test row and keeps the order; `watch` as in
    /// [`leave_one_out`](Self::leave_one_out).
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`], [`Error::Interrupted`].
    pub fn keep_lists(&self, watch: Watch<'_>) -> Result<KeptLists, Error> {
        let keep = self.unseen_table()?.cut_off(self.options.tolerance);
        let index = self.index_for(keep);
        let (n_tests, task_tests) = (self.n_tests(), self.speaking(self.placed.len()).task_tests());
        let n_threads = rayon::current_num_threads();
        let mut works: Vec<ListWork> = (0..n_threads).map(|_| ListWork::default()).collect();
        let mut lists: Vec<Box<[u64]>> = vec![Box::default(); n_tests];
        let wave_tests = task_tests * n_threads;
        for (wave, lists) in lists.chunks_mut(wave_tests).enumerate() {
            go_on(watch, wave * wave_tests, n_tests)?;
            let tasks = lists.par_chunks_mut(task_tests).zip(&mut works).enumerate();
            tasks.try_for_each(|(at, (lists, work))| {
                let first = wave * wave_tests + at * task_tests;
                let tests: Vec<_> = (first..first + lists.len()).map(|t| self.test(t)).collect();
                if index.is_none() {
                    self.measure(&tests.iter().map(|test| &test.row).collect::<Vec<_>>(), work);
                }
                for (b, (test, kept)) in tests.iter().zip(lists).enumerate() {
                    match index {
                        Some(index) => self.indexed_list(index, test, keep, work),
                        None => self.list(test, b, keep, work),
                    }?;
                    *kept = work.list.ranked().places.into();
                }
                Ok(())
            })?;
        }
        Ok(KeptLists { n_reference: self.placed.len(), keep, lists, marks: Mutex::default() })
    }

    /// Whether unseen rows can be valued by such lists: they are of as many rows, and not
    /// shorter than these set sizes need.
    ///
    /// # Errors
    ///
    /// As for [`add_values`](Self::add_values).
    pub fn can_use(&self, kept: &KeptLists) -> Result<bool, Error> {
        let are_of_these = kept.n_tests() == self.n_tests() && kept.n_reference == self.placed.len();
        Ok(are_of_these && {
            let known = kept.marks.lock().unwrap_or_else(PoisonError::into_inner);
            let is_known = known.as_deref().is_some_and(|marks| self.is_of(marks));
            is_known || self.unseen_table()?.cut_off(self.options.tolerance) <= kept.keep
        })
    }

    /// As [`add_values`](Self::add_values), with the same bits, by lists that were kept: those
    /// of the same reference and test rows, with the same metric and scale.
    ///
    /// # Errors
    ///
    /// As for [`add_values`](Self::add_values), and [`Error::Contradiction`] for lists that
    /// this valuer [cannot use](Self::can_use).
    ///
    /// # Panics
    ///
    /// If `so_far` has another number of rows than `points`.
    pub fn add_values_by(
        &self,
        kept: &KeptLists,
        points: Rows<'_>,
        so_far: &mut TestMeans,
        watch: Watch<'_>,
    ) -> Result<(), Error> {
        if !self.can_use(kept)? {
            return Err(Error::Contradiction { what: "the lists are those of other rows or sizes" });
        }
        so_far.assert_of(points.len());
        let placed = self.space.place(points)?;
        self.options.task.check(points)?;
        let marks = self.marks_of(kept)?;
        let Marks { table, of_tests, .. } = marks.as_ref();
        let keep = table.cut_off(self.options.tolerance);
        let y = points.y();
        add_tests(so_far, self.speaking(placed.len()), watch, KeptWork::default, |work, tests, out| {
            let KeptWork { lists: work, nearer } = work;
            let first = tests.start;
            let tests: Vec<_> = tests.map(|t| self.test(t)).collect();
            let rows: Vec<&TestRow> = tests.iter().map(|test| &test.row).collect();
            work.distances.fill(self.way, &self.space, &rows, &placed, out);
            for (t, (test, out)) in tests.iter().zip(out.chunks_exact_mut(points.len().max(1))).enumerate() {
                let list = kept.list(first + t).first(keep);
                let order = &mut work.order;
                match (&self.utility, &of_tests[first + t]) {
                    (Utility::Labels(labels), MarksOf::Labels(marks)) => {
                        self.place_points(test, list, None, &placed, order, out, |point, run| {
                            labels.value_by_marks(list, table, test.y, marks, run, y[point])
                        })
                    }
                    (Utility::Numbers(numbers), MarksOf::Numbers(marks)) => {
                        self.place_points(test, list, None, &placed, order, out, |point, run| {
                            numbers.value_by_marks(list, table, test.y, marks, run, y[point], nearer)
                        })
                    }
                    _ => Err(Error::Contradiction { what: "the lists are those of another task" }),
                }?;
            }
            Ok(())
        })
    }

    /// The sums along kept lists for the sizes of this valuer: made if they were not the last
    /// to be used.
    fn marks_of(&self, kept: &KeptLists) -> Result<Arc<Marks>, Error> {
        let known = || kept.marks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(marks) = known().as_ref().filter(|marks| self.is_of(marks)) {
            return Ok(Arc::clone(marks));
        }
        // Not under the lock: a thread that waits for it could be needed for the sums.
        let table = self.unseen_table()?.clone();
        let keep = table.cut_off(self.options.tolerance);
        let of_tests = (0..kept.n_tests()).into_par_iter().map_init(ListWork::default, |work, t| {
            let (list, y) = (kept.list(t).first(keep), self.test_target(t));
            match &self.utility {
                Utility::Labels(labels) => {
                    labels.sums(list, &table, y, &mut work.labels);
                    MarksOf::Labels(Labels::marks(list, &work.labels))
                }
                Utility::Numbers(numbers) => {
                    numbers.sums(list, &table, y, &mut work.numbers);
                    MarksOf::Numbers(Numbers::marks(list, &work.numbers))
                }
            }
        });
        let of_tests = of_tests.collect();
        let (k, sizes, tolerance) = (self.options.k, self.sizes, self.options.tolerance);
        let marks = Arc::new(Marks { k, sizes, tolerance, table, of_tests });
        *known() = Some(Arc::clone(&marks));
        Ok(marks)
    }

    /// Whether sums along lists are those of this valuer.
    fn is_of(&self, marks: &Marks) -> bool {
        (marks.k, marks.sizes, marks.tolerance) == (self.options.k, self.sizes, self.options.tolerance)
    }

    fn test_target(&self, t: usize) -> f64 {
        match &self.test {
            Test::Given(_, y) => y[t],
            Test::Reference(numbers) => self.reference.y()[numbers[t]],
        }
    }
}

/// Memory of a thread.
#[derive(Debug, Default)]
struct KeptWork {
    lists: ListWork,
    nearer: Vec<f64>,
}
