//! A reference, test rows and a metric: everything needed to value rows.

use super::distances::Way;
use super::index::Index;
use super::labels::Labels;
use super::lists::{ListWork, Utility};
use super::numbers::Numbers;
use super::options::{NeighbourOptions, NeighbourTask, TestRows, check_numbers};
use super::pass::{Speaking, TestMeans, add_tests};
use super::search::Search;
use super::space::{Placed, ReferenceSpace, Space, TestRow};
use super::weights::WeightTable;
use crate::valuer::check_whole;
use crate::values::{Part, Values};
use crate::{Error, Place, Rows, Sizes, Valuer, Wants, Warning, Watch};
use std::sync::{Arc, OnceLock};

/// Values any row, seen or unseen, by its effect on predictions from neighbours.
///
/// Borrows reference and test rows without copying them. Every call goes through all test
/// rows and sorts the reference for each, `O(T·n(p + log n))` for `T` of them; `N` points
/// are sorted too and cost `O(T·N(p + log N))` more, so give unseen points in large
/// blocks. A thread holds 4 to 16 test rows at a time, two numbers for each of them and
/// each reference row (or point), 16 MB or `64·n` bytes if that is more, besides the
/// lists themselves.
#[derive(Debug)]
pub struct NeighbourValuer<'a> {
    pub(super) reference: Rows<'a>,
    pub(super) placed: Placed<'a>,
    pub(super) space: Arc<Space>,
    pub(super) way: Way,
    pub(super) test: Test<'a>,
    pub(super) sizes: Sizes,
    pub(super) options: NeighbourOptions,
    pub(super) utility: Utility<'a>,
    pub(super) with_std_error: bool,
    /// Weights of lists without the test row, made when first needed.
    unseen: OnceLock<WeightTable>,
    pub(super) search: Search,
    /// Made when first needed, too.
    pub(super) index: OnceLock<Index>,
}

/// Rows that utility is measured on.
#[derive(Debug)]
pub(super) enum Test<'a> {
    Given(Placed<'a>, &'a [f64]),
    Reference(&'a [usize]),
}

impl<'a> NeighbourValuer<'a> {
    /// A valuer against `reference`, with utility measured on `test`. The
    /// default sizes are `q = k + 1` and `m` the number of reference rows.
    ///
    /// # Errors
    ///
    /// [`Error::BadOption`], [`Error::NoRows`], [`Error::NoTestRows`],
    /// [`Error::NeighbourSizes`] and [`Error::FewNeighbours`] for sizes and rows that
    /// make no sets, [`Error::Weighted`], [`Error::FeatureCount`], [`Error::NotFinite`],
    /// [`Error::TooLarge`], [`Error::NotAClass`] and [`Error::NoFeatures`]; inside
    /// [`Error::InTest`] if they are about test rows, or [`Error::NotAReferenceRow`].
    pub fn new(
        reference: Rows<'a>,
        test: TestRows<'a>,
        sizes: Sizes,
        options: NeighbourOptions,
    ) -> Result<Self, Error> {
        Self::in_space(&ReferenceSpace::new(reference, options)?, reference, test, sizes, options)
    }

    /// The same with a reference that was checked before: `space` must be of these rows.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new).
    pub fn in_space(
        space: &ReferenceSpace,
        reference: Rows<'a>,
        test: TestRows<'a>,
        sizes: Sizes,
        options: NeighbourOptions,
    ) -> Result<Self, Error> {
        let valuer = Self::unchecked(space, reference, test, sizes, options)?;
        WeightTable::check(valuer.list_len(), options.k, sizes)?;
        Ok(valuer)
    }

    /// A valuer of a finite dataset, for [`finite_shapley`](Self::finite_shapley): there
    /// sets of every size count, for any `k`. It has the default set sizes, and refuses
    /// other values if these make no sets.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new), except for sizes.
    pub fn of_dataset(rows: Rows<'a>, test: TestRows<'a>, options: NeighbourOptions) -> Result<Self, Error> {
        let space = ReferenceSpace::new(rows, options)?;
        Self::unchecked(&space, rows, test, Self::default_sizes(options.k, rows.len()), options)
    }

    /// A valuer whose sizes may make no sets.
    fn unchecked(
        space: &ReferenceSpace,
        reference: Rows<'a>,
        test: TestRows<'a>,
        sizes: Sizes,
        options: NeighbourOptions,
    ) -> Result<Self, Error> {
        options.check()?;
        if !space.fits(reference, options) {
            return Err(Error::Contradiction { what: "the space is that of other rows or options" });
        }
        let (placed, space) = (space.placed(reference), Arc::clone(&space.space));
        let in_test = |error| Error::InTest { error: Box::new(error) };
        let test = match test {
            TestRows::Given(rows) if rows.is_empty() => return Err(Error::NoTestRows),
            TestRows::Given(rows) => {
                let placed = space.place(rows).map_err(in_test)?;
                options.task.check(rows).map_err(in_test)?;
                Test::Given(placed, rows.y())
            }
            TestRows::Reference(numbers) => {
                check_numbers(numbers, reference.len())?;
                Test::Reference(numbers)
            }
        };
        let utility = match options.task {
            NeighbourTask::Classification { .. } => {
                Utility::Labels(Labels { y: reference.y(), k: options.k as f64 })
            }
            NeighbourTask::Regression => {
                let numbers = Numbers::new(reference.y(), options.k);
                if numbers.are_too_small() {
                    return Err(Error::TooSmall { column: reference.n_features() });
                }
                Utility::Numbers(numbers)
            }
        };
        let way = Way::of(&space);
        Ok(Self {
            reference,
            placed,
            space,
            way,
            test,
            sizes,
            options,
            utility,
            with_std_error: false,
            unseen: OnceLock::new(),
            search: Search::default(),
            index: OnceLock::new(),
        })
    }

    /// The default set sizes: `q = k + 1`, and `m` the number of reference rows.
    pub fn default_sizes(k: usize, n_reference: usize) -> Sizes {
        Sizes::new(k.saturating_add(1), n_reference)
    }

    /// Also reports standard errors of the mean over test rows, for a fixed reference.
    /// They need at least two test rows (three, if they are reference rows).
    pub fn with_std_error(mut self, yes: bool) -> Self {
        self.with_std_error = yes;
        self
    }

    /// How neighbours are found and used.
    pub fn options(&self) -> NeighbourOptions {
        self.options
    }

    /// Number of test rows.
    pub fn n_tests(&self) -> usize {
        match &self.test {
            Test::Given(_, y) => y.len(),
            Test::Reference(numbers) => numbers.len(),
        }
    }

    /// What is doubtful before any row is valued; for values of reference rows themselves
    /// if they are `left_out`, which leaves one row fewer to draw sets from.
    /// [`Valuer::warnings`] is about unseen points.
    pub fn warnings(&self, left_out: bool) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let columns = self.space.constant.clone();
        if !columns.is_empty() {
            warnings.push(Warning::ConstantColumns { columns });
        }
        let n_rows = self.list_len().saturating_sub(usize::from(left_out));
        let (k, q, m) = (self.options.k, self.sizes.min(), self.sizes.max());
        let m = m.max(1);
        let last = (m - 1).min(n_rows);
        let first = k.max(q.saturating_sub(1));
        if let Some(Warning::FewSizes { n_sizes }) = Sizes::new(first.saturating_add(1), last + 1).warning() {
            warnings.push(Warning::FewNeighbourSizes {
                n_sizes,
                smaller_k: k > 1 && k == first,
                smaller_min: first > k,
                larger_max: m - 1 < n_rows,
                more_rows: m - 1 > n_rows,
            });
        }
        let n_sizes = m - 1 - last;
        if n_sizes > 0 {
            warnings.push(Warning::SizesLeftOut { n_sizes, n_rows });
        }
        warnings
    }

    /// Design columns that are the same in every reference row and left out, if
    /// columns are standardised.
    pub fn constant_columns(&self) -> &[usize] {
        &self.space.constant
    }

    /// Values all reference rows, each against the others: as an unseen point
    /// against the reference without it.
    ///
    /// `watch` is called with the number of test rows done and their total, and returns
    /// whether to go on.
    ///
    /// # Errors
    ///
    /// [`Error::FewNeighbours`] if the others are too few, [`Error::TooLarge`],
    /// [`Error::Interrupted`].
    pub fn leave_one_out(&self, watch: Watch<'_>) -> Result<Values, Error> {
        let mut means = TestMeans::new(self.reference.len());
        self.add_leave_one_out(&mut means, watch)?;
        means.values(self.with_std_error)
    }

    /// As [`leave_one_out`](Self::leave_one_out) for some of the test rows: adds to the
    /// means so far. After an error the means must not be used.
    ///
    /// # Errors
    ///
    /// As for [`leave_one_out`](Self::leave_one_out).
    ///
    /// # Panics
    ///
    /// If `so_far` has another number of rows than the reference.
    pub fn add_leave_one_out(&self, so_far: &mut TestMeans, watch: Watch<'_>) -> Result<(), Error> {
        // Without the valued row a list may be empty.
        let n_rows = self.list_len().saturating_sub(1);
        let table = WeightTable::new(n_rows, self.options.k, self.sizes)?;
        // A list that still contains the row has one more place.
        let keep = table.cut_off(self.options.tolerance) + 1;
        match self.index_for(keep) {
            Some(index) => self.add_own_indexed(so_far, index, &table, keep, watch),
            None => self.add_own(so_far, Some((&table, keep)), watch, |_, _, _| {}),
        }
    }

    /// Values rows that are not part of the reference; `watch` as in
    /// [`leave_one_out`](Self::leave_one_out).
    ///
    /// # Errors
    ///
    /// [`Error::FeatureCount`], [`Error::NotFinite`], [`Error::TooLarge`],
    /// [`Error::NotAClass`], [`Error::Interrupted`].
    pub fn values_watched(&self, points: Rows<'_>, watch: Watch<'_>) -> Result<Values, Error> {
        let mut means = TestMeans::new(points.len());
        self.add_values(points, &mut means, watch)?;
        means.values(self.with_std_error)
    }

    /// As [`values_watched`](Self::values_watched) for some of the test rows: adds to the
    /// means so far. After an error the means must not be used.
    ///
    /// # Errors
    ///
    /// As for [`values_watched`](Self::values_watched).
    ///
    /// # Panics
    ///
    /// If `so_far` has another number of rows than `points`.
    pub fn add_values(
        &self,
        points: Rows<'_>,
        so_far: &mut TestMeans,
        watch: Watch<'_>,
    ) -> Result<(), Error> {
        so_far.assert_of(points.len());
        let placed = self.space.place(points)?;
        self.options.task.check(points)?;
        let table = self.unseen_table()?;
        let keep = table.cut_off(self.options.tolerance);
        let index = self.index_for(keep);
        let n_measured = if index.is_some() { 0 } else { self.placed.len() };
        let speaking = self.speaking(placed.len().max(n_measured));
        add_tests(so_far, speaking, watch, ListWork::default, |work, tests, out| {
            let tests: Vec<_> = tests.map(|t| self.test(t)).collect();
            let rows: Vec<&TestRow> = tests.iter().map(|test| &test.row).collect();
            if index.is_none() {
                self.measure(&rows, work);
            }
            work.distances.fill(self.way, &self.space, &rows, &placed, out);
            for (b, (test, out)) in tests.iter().zip(out.chunks_exact_mut(points.len().max(1))).enumerate() {
                let measured = match index {
                    Some(index) => self.indexed_list(index, test, keep, work).map(|()| None),
                    None => self.list(test, b, keep, work).map(|()| Some(b)),
                }?;
                self.point_values(test, measured, table, &placed, points.y(), work, out)?;
            }
            Ok(())
        })
    }

    /// Adds the values of reference rows, to which `more` may add, given the target of
    /// the test row and its number if it is a reference row. The table comes with the
    /// number of rows of a list that have weight; without a table, only `more` adds
    /// anything.
    pub(super) fn add_own(
        &self,
        so_far: &mut TestMeans,
        table: Option<(&WeightTable, usize)>,
        watch: Watch<'_>,
        more: impl Fn(f64, Option<usize>, &mut [f64]) + Sync,
    ) -> Result<(), Error> {
        let n = self.placed.len();
        so_far.assert_of(n);
        add_tests(so_far, self.speaking(n), watch, ListWork::default, |work, tests, out| {
            let tests: Vec<_> = tests.map(|t| self.test(t)).collect();
            if table.is_some() {
                let rows: Vec<&TestRow> = tests.iter().map(|test| &test.row).collect();
                self.measure(&rows, work);
            }
            for (b, (test, out)) in tests.iter().zip(out.chunks_exact_mut(n)).enumerate() {
                // Rows after the cut-off have the value 0.
                out.fill(0.0);
                if let Some((table, keep)) = table {
                    self.list(test, b, keep, work)?;
                    self.own_values(test, table, work, |row, value| out[row] = value);
                }
                more(test.y, test.own, out);
                if let Some(own) = test.own {
                    out[own] = f64::NAN;
                }
            }
            Ok(())
        })
    }

    pub(super) fn speaking(&self, n_wide: usize) -> Speaking {
        Speaking { n_tests: self.n_tests(), n_silent: self.placed.len() - self.list_len(), n_wide }
    }

    /// Reference rows that lists are made of: all but the test row itself.
    pub(super) fn list_len(&self) -> usize {
        self.placed.len() - usize::from(matches!(self.test, Test::Reference(_)))
    }

    pub(super) fn unseen_table(&self) -> Result<&WeightTable, Error> {
        if let Some(table) = self.unseen.get() {
            return Ok(table);
        }
        let table = WeightTable::new(self.list_len(), self.options.k, self.sizes)?;
        Ok(self.unseen.get_or_init(|| table))
    }
}

impl Valuer for NeighbourValuer<'_> {
    fn values_at(&self, rows: Rows<'_>, place: Place, watch: Watch<'_>) -> Result<Values, Error> {
        if !place.in_reference {
            return self.values_watched(rows, watch);
        }
        check_whole(rows, self.reference.len())?;
        self.leave_one_out(watch)
    }

    fn parts(&self) -> Vec<Part> {
        Vec::new()
    }

    fn sizes(&self) -> Sizes {
        self.sizes
    }

    fn warnings(&self) -> Vec<Warning> {
        self.warnings(false)
    }

    /// All rows of the reference at once. Unseen points may come in blocks, the larger
    /// the better: each block goes through all test rows.
    fn wants(&self) -> Wants {
        Wants::All
    }
}
