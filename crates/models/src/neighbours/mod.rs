//! Nearest neighbours: the reference rows themselves, and test rows.
//!
//! | file | holds |
//! |---|---|
//! | `mod.rs` | the model: how it is learned, what it knows |
//! | `options.rs` | the options of nearest neighbours |
//! | `sizes.rs` | which set sizes count, and what helps where none does |
//! | `rows.rs` | what values the points of a run |
//! | `lists.rs` | the reference in the order of distance from each test row, kept for unseen rows |
//! | `blocks.rs` | how many points at once, and the memory that takes |
//! | `facts.rs`, `document.rs` | what is known about it; its part of the valuer file |

mod blocks;
mod document;
mod facts;
mod lists;
mod options;
mod rows;
mod sizes;

pub use blocks::Blocks;
pub(crate) use document::{NeighbourDocument, parse};
pub use facts::NeighbourFacts;
pub use options::DEFAULT_TESTS;

use crate::Error;
use crate::columns::{ColumnStats, ColumnSums};
use crate::facts::Facts;
use crate::file::{Arrays, Document, InputFile};
use crate::held_rows::HeldRows;
use crate::how::How;
use crate::model::{Ask, Learned, Model};
use crate::observer::Stage;
use crate::reference::{Pass, Reference, RowCounts};
use crate::row_valuer::RowValuer;
use crate::warning::Warning;
use dshap::neighbours::{
    KeptLists, NeighbourOptions, NeighbourTask, NeighbourValuer, ReferenceSpace, Search, TestMeans, TestRows,
    sample_rows,
};
use dshap::{Sizes, Valuer};
use dshap_catalogue::options::{SAMPLES, TOLERANCE};
use dshap_catalogue::{Given, Task};
use dshap_table::{Design, Labels};
use options::{is_finite, metric, most_tests, of_fit, scale, seed, tolerance};
use rows::NeighbourRows;
use sizes::NeighbourSizes;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A label of fewer reference rows is a warning.
const FEW_ROWS_OF_A_LABEL: usize = 5;

/// A reference that neighbours are found in.
#[derive(Debug, Clone)]
pub struct NeighbourModel {
    /// The reference rows.
    pub reference: Arc<HeldRows>,
    /// The rows that utility is measured on.
    pub tests: Tests,
    /// The files of test rows that are not reference rows.
    pub test_files: Vec<InputFile>,
    /// Rows of these files that were left out for a missing cell.
    pub n_tests_left_out: u64,
    /// The options of the fit, as given.
    pub given: Given,
    task: NeighbourTask,
    columns: ColumnStats,
    /// Design columns that are left out because they do not vary.
    constant: Vec<usize>,
    /// How cells become coordinates, which takes passes over all of them.
    space: ReferenceSpace,
    /// The reference in the order of distance from each test row, if it was sorted. Copies of
    /// the model share it.
    lists: Arc<OnceLock<KeptLists>>,
}

/// The rows that utility is measured on.
#[derive(Debug, Clone)]
pub enum Tests {
    /// Rows apart from the reference.
    Given(Arc<HeldRows>),
    /// Reference rows, by their numbers.
    Reference(Arc<[usize]>),
    /// Rows apart from the reference that are read while points are valued.
    Later,
}

/// Reads a reference. Test rows apart from it are left for later; without them,
/// they are reference rows.
///
/// # Errors
///
/// [`Error`].
pub fn learn(how: &How, reference: &dyn Reference, tests: Option<&dyn Reference>) -> Result<Learned, Error> {
    let (held, rows) = reference.hold(Stage::Fit)?;
    match tests {
        None => learned_of(how, reference.design(), held, rows, None),
        Some(tests) => learned_of(how, reference.design(), held, rows, Some((Tests::Later, tests.files()))),
    }
}

/// Keeps rows that are held already, and test rows with their files; without these, test
/// rows are reference rows.
///
/// # Errors
///
/// [`Error`].
pub fn learned_of(
    how: &How,
    design: &Design,
    held: HeldRows,
    rows: RowCounts,
    tests: Option<(Tests, Vec<InputFile>)>,
) -> Result<Learned, Error> {
    let given = of_fit(&how.given);
    if held.n_rows() == 0 {
        return Err(Error::NothingLeft);
    }
    let (tests, test_files) = tests.unwrap_or_else(|| {
        let numbers = sample_rows(held.n_rows(), most_tests(&given), seed(&given));
        (Tests::Reference(numbers.into()), Vec::new())
    });
    let n_classes = design.labels().map(Labels::n_classes);
    let model = NeighbourModel::of(held, n_classes, tests, given);
    let model = model.map_err(|error| match error {
        dshap::Error::FewRows { .. } => Error::OneNeighbour,
        error => Error::core(error, design),
    })?;
    let model = Box::new(NeighbourModel { test_files, ..model });
    Ok(Learned { model, rows, n_passes: 1, extra_passes: Vec::new(), sample: None })
}

impl NeighbourModel {
    /// Rows, and what can be computed from them. Targets are numbers, or the numbers
    /// of `n_classes` classes.
    ///
    /// # Errors
    ///
    /// [`dshap::Error`] for rows that have no distances, or too few to scale them by.
    pub fn of(
        reference: HeldRows,
        n_classes: Option<usize>,
        tests: Tests,
        given: Given,
    ) -> Result<Self, dshap::Error> {
        let rows = reference.rows()?;
        let mut columns = ColumnSums::new(rows.n_features());
        columns.add(rows);
        let task = match n_classes {
            Some(n_classes) => NeighbourTask::Classification { n_classes },
            None => NeighbourTask::Regression,
        };
        let (metric, scale) = (metric(&given), scale(&given));
        let space =
            ReferenceSpace::new(rows, NeighbourOptions { metric, scale, ..NeighbourOptions::new(task) })?;
        let mut model = Self {
            reference: Arc::new(reference),
            tests,
            test_files: Vec::new(),
            n_tests_left_out: 0,
            given: of_fit(&given),
            task,
            columns: columns.finish(),
            constant: Vec::new(),
            space,
            lists: Arc::default(),
        };
        // Test rows and sizes do not matter for that.
        let first = TestRows::Given(model.reference.rows()?.slice(0, 1));
        let constant = model.valuer_by(first, 1, Sizes::new(2, 2))?.constant_columns().to_vec();
        model.constant = constant;
        Ok(model)
    }

    /// What is known about it, by how rows are valued.
    pub fn facts(&self, design: &Design, how: &How) -> NeighbourFacts {
        NeighbourFacts::of(self, design, options::k(how))
    }

    /// Whether the targets are two numbers, so that they may be labels.
    pub fn has_two_targets(&self) -> bool {
        let y = self.reference.y();
        let second = y.iter().find(|&&target| target != y[0]);
        second.is_some_and(|second| y.iter().all(|target| *target == y[0] || target == second))
    }

    /// Reference rows of each label; none for a regression.
    pub fn label_rows(&self) -> Vec<usize> {
        let NeighbourTask::Classification { n_classes } = self.task else { return Vec::new() };
        let mut rows = vec![0; n_classes];
        self.reference.y().iter().for_each(|&class| rows[class as usize] += 1);
        rows
    }

    /// The share of all weight that far rows may have and not count, if it was given.
    pub fn tolerance(&self) -> Option<f64> {
        self.given.number(&TOLERANCE)
    }

    /// Whether far rows do not count although they have weight.
    pub(crate) fn wants_short_lists(&self) -> bool {
        self.tolerance().is_some()
    }

    /// Bytes of the index that may find near rows. None is made where the smallest sets
    /// are as small as can be and all weight counts, since far rows have weight then.
    fn index_bytes(&self, how: &How, sizes: Sizes) -> u64 {
        let all_count = sizes.min() <= options::k(how).saturating_add(1) && !self.wants_short_lists();
        if is_finite(how.method) || all_count {
            return 0;
        }
        NeighbourValuer::index_bytes(self.reference.n_rows(), self.reference.x().ncols())
    }

    /// Test rows from which on there are standard errors: a test row does not value
    /// itself.
    fn fewest_for_errors(&self) -> u64 {
        2 + u64::from(matches!(self.tests, Tests::Reference(_)))
    }

    /// What was asked for, for rows that are part of the reference or not.
    fn asked(&self, how: &How, without_point: bool) -> NeighbourSizes {
        NeighbourSizes {
            k: options::k(how),
            choice: how.sizes(),
            semivalue: how.semivalue(),
            n_reference: self.reference.n_rows(),
            without_test: matches!(self.tests, Tests::Reference(_)),
            without_point,
        }
    }

    /// What values rows, by some of the test rows or all.
    fn valuer_by<'a>(
        &'a self,
        tests: TestRows<'a>,
        k: usize,
        sizes: Sizes,
    ) -> Result<NeighbourValuer<'a>, dshap::Error> {
        NeighbourValuer::in_space(&self.space, self.reference.rows()?, tests, sizes, self.options(k))
    }

    /// The same for the reference as a finite dataset.
    fn dataset_valuer_by<'a>(
        &'a self,
        tests: TestRows<'a>,
        k: usize,
    ) -> Result<NeighbourValuer<'a>, dshap::Error> {
        NeighbourValuer::of_dataset(self.reference.rows()?, tests, self.options(k))
    }

    fn options(&self, k: usize) -> NeighbourOptions {
        let (metric, scale) = (metric(&self.given), scale(&self.given));
        let tolerance = tolerance(&self.given);
        NeighbourOptions { k, metric, scale, tolerance, ..NeighbourOptions::new(self.task) }
    }

    /// What values the points of a run.
    fn rows<'a>(&'a self, ask: Ask<'a>) -> Result<NeighbourRows<'a>, Error> {
        let sizes = self.sizes(ask.how, ask.design)?;
        Ok(NeighbourRows {
            model: self,
            k: options::k(ask.how),
            sizes,
            warnings: self.doubts(&ask, sizes)?,
            search: Search::Auto,
            own: None,
            tests: None,
            has_valued: false,
            ask,
        })
    }

    /// Test rows that are held.
    pub fn n_tests(&self) -> usize {
        match &self.tests {
            Tests::Given(held) => held.n_rows(),
            Tests::Reference(numbers) => numbers.len(),
            Tests::Later => 0,
        }
    }

    /// What some of the test rows say about all reference rows, each against the others.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub fn own_means(&self, ask: Ask<'_>, tests: Range<usize>) -> Result<TestMeans, Error> {
        let design = ask.design;
        let core = |error| Error::core(error, design);
        let tests = tests.start.min(self.n_tests())..tests.end.min(self.n_tests());
        let rows = self.rows(ask)?;
        match &self.tests {
            Tests::Given(held) => {
                let held = held.rows().map_err(core)?.slice(tests.start, tests.len());
                rows.means_by(TestRows::Given(held)).map_err(core)
            }
            Tests::Reference(numbers) => rows.means_by(TestRows::Reference(&numbers[tests])).map_err(core),
            Tests::Later => Err(rows.ask.incomplete()),
        }
    }

    /// Whether rows can be valued, and what is doubtful about it.
    fn doubts(&self, ask: &Ask<'_>, sizes: Sizes) -> Result<Vec<Warning>, Error> {
        let core = |error| Error::core(error, ask.design);
        let (how, k, n_rows) = (ask.how, options::k(ask.how), self.reference.n_rows());
        // One row stands for test rows that are not there yet.
        let first = self.reference.rows().map_err(core)?.slice(0, 1);
        let tests = match &self.tests {
            Tests::Given(held) => TestRows::Given(held.rows().map_err(core)?),
            Tests::Reference(numbers) => TestRows::Reference(numbers),
            Tests::Later => TestRows::Given(first),
        };
        let (asked, choice) = (self.asked(how, ask.in_reference), how.sizes());
        let is_finite = is_finite(how.method);
        let valuer = if is_finite {
            self.dataset_valuer_by(tests, k).map_err(core)?
        } else {
            asked.check()?;
            self.valuer_by(tests, k, sizes).map_err(core)?
        };
        let mut warnings = valuer.warnings(ask.in_reference);
        warnings.retain_mut(|warning| match warning {
            // The default `m` is the number of rows, so nothing that was asked for is left out.
            dshap::Warning::SizesLeftOut { .. } => choice.max.is_some_and(|m| m > n_rows),
            dshap::Warning::FewNeighbourSizes { smaller_k, more_rows, .. } => {
                // By default `m` is the number of rows, and `q` is k + 1.
                *more_rows |= choice.max.is_none();
                *smaller_k &= choice.min.is_none_or(|q| q <= k);
                !is_finite
            }
            _ => true,
        });
        let mut warnings = Warning::of_core(warnings, ask.design);
        warnings.extend(asked.warning().filter(|_| !is_finite));
        if let Tests::Reference(numbers) = &self.tests
            && numbers.len() < n_rows
            && !self.given.has(&SAMPLES)
        {
            let (n_tests, seed) = (numbers.len(), seed(&self.given));
            warnings.push(Warning::TestSample { n_reference: n_rows, n_tests, seed });
        }
        Ok(warnings)
    }
}

impl Model for NeighbourModel {
    fn task(&self) -> Task {
        match self.task {
            NeighbourTask::Classification { .. } => Task::Classification,
            NeighbourTask::Regression => Task::Regression,
        }
    }

    fn n_rows(&self) -> usize {
        self.reference.n_rows()
    }

    fn dim(&self, _: &How) -> usize {
        self.columns.mean.len() - self.constant.len()
    }

    fn dropped(&self) -> Vec<usize> {
        self.constant.clone()
    }

    fn mean(&self, column: usize) -> f64 {
        self.columns.mean[column]
    }

    fn std_dev(&self, column: usize) -> f64 {
        self.columns.std_dev[column]
    }

    fn n_rows_held(&self) -> usize {
        self.reference.n_rows()
    }

    fn held_bytes(&self) -> u64 {
        let tests = match &self.tests {
            Tests::Given(held) => held.n_bytes(),
            Tests::Reference(numbers) => 8 * numbers.len() as u64,
            Tests::Later => 0,
        };
        self.reference.n_bytes() + tests + self.lists_bytes()
    }

    /// Whether any of the sizes counts is checked when rows are valued.
    fn sizes(&self, how: &How, _: &Design) -> Result<Sizes, Error> {
        match is_finite(how.method) {
            true => Ok(Sizes::new(1, self.reference.n_rows())),
            false => Ok(self.asked(how, false).sizes()),
        }
    }

    fn default_min(&self, how: &How, _: &Design, _: usize) -> usize {
        if is_finite(how.method) { 1 } else { options::k(how).saturating_add(1) }
    }

    fn keep_tests(&mut self, tests: &dyn Reference) -> Result<(), Error> {
        if !matches!(self.tests, Tests::Later) {
            return Ok(());
        }
        let (held, counts) = tests.hold(Stage::Fit)?;
        if held.n_rows() == 0 {
            return Err(Error::core(dshap::Error::NoTestRows, tests.design()));
        }
        self.n_tests_left_out = counts.n_left_out();
        self.tests = Tests::Given(Arc::new(held));
        self.lists = Arc::default();
        Ok(())
    }

    /// Neighbours are found for all rows at once.
    fn valuer(&self, _: &Ask<'_>) -> Result<Option<Box<dyn Valuer>>, Error> {
        Ok(None)
    }

    fn row_valuer<'a>(&'a self, ask: Ask<'a>) -> Result<Box<dyn RowValuer + 'a>, Error> {
        Ok(Box::new(self.rows(ask)?))
    }

    fn label_warnings(&self, _: &How, _: Sizes, design: &Design) -> Vec<Warning> {
        let rows = self.label_rows().into_iter().enumerate();
        rows.filter(|(_, n_rows)| *n_rows < FEW_ROWS_OF_A_LABEL)
            .map(|(class, n_rows)| {
                let label = design.labels().map(|labels| labels.word(class)).unwrap_or_default();
                Warning::RareLabel { label, n_rows }
            })
            .collect()
    }

    fn describe(&self, how: &How, design: &Design, facts: &mut Facts) {
        facts.neighbours = Some(self.facts(design, how));
        // Nothing is drawn but test rows, whose seed stands beside them.
        facts.seed = None;
    }

    fn write(&self, _: &How, document: &mut Document) -> Arrays {
        let (stored, arrays) = document::write(self);
        document.neighbours = Some(stored);
        arrays
    }

    fn is_of(&self, table: &dyn Reference) -> Result<bool, Error> {
        let reference = self.reference.rows().map_err(|error| Error::core(error, table.design()))?;
        let (mut start, mut same) = (0, true);
        table.each(Pass::new(Stage::Fit), &mut |rows, _| {
            same &= start + rows.len() <= reference.len() && {
                let own = reference.slice(start, rows.len());
                own.y() == rows.y() && own.x() == rows.x()
            };
            start += rows.len();
            Ok(())
        })?;
        Ok(same && start == reference.len())
    }

    fn boxed(&self) -> Box<dyn Model> {
        Box::new(self.clone())
    }
}
