//! Nearest neighbours: the reference rows themselves, and test rows.

use super::hold::{Reading, Share};
use super::neighbour_sizes::NeighbourSizes;
use super::{ColumnStats, ColumnSums};
use crate::Error;
use crate::general::Held;
use crate::memory::Budget;
use crate::neighbour_choice::{NO_SIZES, NeighbourChoice, TestTable};
use crate::observer::{Observer, Quiet, Stage};
use crate::reference::{RowCounts, each_batch};
use crate::request::{Method, SizeChoice, Task};
use crate::summary::InputFile;
use crate::warnings::in_words;
use dshap::neighbours::{NeighbourOptions, NeighbourTask, NeighbourValuer, TestRows, sample_rows};
use dshap::{Sizes, Warning};
use dshap_io::Source;
use dshap_table::{Design, Labels};
use std::sync::Arc;

/// Bytes of test rows that are held at a time while they are read.
const TEST_BLOCK_BYTES: u64 = 64 << 20;

/// What is wrong with a reference of one row whose columns are to be scaled.
const ONE_ROW: &str =
    "there is 1 reference row, which has no spread: distances are in standard deviations of the reference";

const ONE_ROW_HINT: &str =
    "give more rows; where others are valued by a single one, `--scale none` takes columns as they are";

/// A reference that neighbours are found in.
#[derive(Debug, Clone)]
pub(crate) struct NeighbourModel {
    pub(crate) reference: Arc<Held>,
    pub(crate) task: NeighbourTask,
    pub(crate) tests: Tests,
    /// The files of test rows that are no reference rows.
    pub(crate) test_files: Vec<InputFile>,
    /// Of these, rows left out for a missing cell.
    pub(crate) n_tests_left_out: u64,
    /// What was asked for.
    pub(crate) choice: NeighbourChoice,
    pub(crate) columns: ColumnStats,
    /// Design columns that are left out because they do not vary.
    pub(crate) constant: Vec<usize>,
}

/// The rows that utility is measured on.
#[derive(Debug, Clone)]
pub(crate) enum Tests {
    /// Rows apart from the reference.
    Given(Arc<Held>),
    /// Reference rows, by their numbers.
    Reference(Arc<[usize]>),
    /// Rows apart from the reference that are read whenever they are needed.
    Streamed(Source),
}

impl NeighbourModel {
    /// Reads a reference. Test rows that are not part of it are left for later.
    pub(crate) fn learn(
        source: &Source,
        test: Option<TestTable>,
        design: &Design,
        choice: &NeighbourChoice,
        budget: Budget,
        observer: &dyn Observer,
    ) -> Result<(Self, RowCounts), Error> {
        let (reference, counts) = Reading { source, design, budget, observer }.reference()?;
        if reference.n_rows() == 0 {
            return Err(Error::NothingLeft);
        }
        let (tests, test_files) = match test {
            None => {
                let seed = choice.seed.unwrap_or(0);
                let numbers = sample_rows(reference.n_rows(), choice.most_tests(), seed);
                (Tests::Reference(numbers.into()), Vec::new())
            }
            Some(TestTable { source, files }) => {
                refuse_other_columns(&source, design)?;
                (Tests::Streamed(source), files)
            }
        };
        let n_classes = design.labels().map(Labels::n_classes);
        let model = Self::of(reference, n_classes, tests, choice.clone());
        let mut model = model.map_err(|error| match error {
            dshap::Error::FewRows { .. } => {
                let hint = Some(ONE_ROW_HINT.into());
                Error::Core { message: ONE_ROW.into(), hint, error }
            }
            error => Error::core(error, design),
        })?;
        model.test_files = test_files;
        Ok((model, counts))
    }

    /// Rows, and what can be computed of them.
    pub(crate) fn of(
        reference: Held,
        n_classes: Option<usize>,
        tests: Tests,
        choice: NeighbourChoice,
    ) -> Result<Self, dshap::Error> {
        let rows = reference.rows()?;
        let mut columns = ColumnSums::new(rows.n_features());
        columns.add(rows);
        let task = match n_classes {
            Some(n_classes) => NeighbourTask::Classification { n_classes },
            None => NeighbourTask::Regression,
        };
        let mut model = Self {
            reference: Arc::new(reference),
            task,
            tests,
            test_files: Vec::new(),
            n_tests_left_out: 0,
            choice,
            columns: columns.finish(),
            constant: Vec::new(),
        };
        // Whichever the test rows and sizes are.
        let first = TestRows::Given(model.reference.rows()?.slice(0, 1));
        let constant = model.valuer(first, 1, Sizes::new(2, 2))?.constant_columns().to_vec();
        model.constant = constant;
        Ok(model)
    }

    pub(crate) fn task(&self) -> Task {
        match self.task {
            NeighbourTask::Classification { .. } => Task::Classification,
            NeighbourTask::Regression => Task::Regression,
        }
    }

    /// Whether the targets are two numbers, and labels rather than numbers.
    pub(crate) fn has_two_targets(&self) -> bool {
        let y = self.reference.targets();
        let second = y.iter().find(|&&target| target != y[0]);
        second.is_some_and(|second| y.iter().all(|target| *target == y[0] || target == second))
    }

    /// Reference rows of each label.
    pub(crate) fn label_rows(&self) -> Vec<usize> {
        let NeighbourTask::Classification { n_classes } = self.task else { return Vec::new() };
        let mut rows = vec![0; n_classes];
        self.reference.targets().iter().for_each(|&class| rows[class as usize] += 1);
        rows
    }

    /// Bytes of the rows it holds in memory.
    pub(crate) fn held_bytes(&self) -> u64 {
        let tests = match &self.tests {
            Tests::Given(held) => held.n_bytes(),
            Tests::Reference(numbers) => 8 * numbers.len() as u64,
            Tests::Streamed(_) => 0,
        };
        self.reference.n_bytes() + tests
    }

    /// Bytes of the index that may find near rows. None is made where the smallest sets
    /// are as small as can be, since far rows have weight then.
    pub(crate) fn index_bytes(&self, method: Method, sizes: Sizes) -> u64 {
        match method {
            Method::Knn { k } if sizes.min() > k + 1 => {
                NeighbourValuer::index_bytes(self.reference.n_rows(), self.reference.x().ncols())
            }
            _ => 0,
        }
    }

    /// Bytes of test rows that are read as they are needed, twice while they are
    /// joined.
    pub(crate) fn streamed_bytes(&self, budget: Budget) -> u64 {
        match &self.tests {
            Tests::Streamed(source) => 2 * budget.share_of(TEST_BLOCK_BYTES).min(64 * source.n_bytes()),
            Tests::Given(_) | Tests::Reference(_) => 0,
        }
    }

    /// Test rows from which on there are standard errors: no test row tells of
    /// itself.
    pub(crate) fn fewest_for_errors(&self) -> u64 {
        2 + u64::from(matches!(self.tests, Tests::Reference(_)))
    }

    /// Reads the test rows that are still to be read, and keeps them.
    pub(crate) fn complete(
        &mut self,
        design: &Design,
        budget: Budget,
        observer: &dyn Observer,
    ) -> Result<(), Error> {
        let Tests::Streamed(source) = &self.tests else { return Ok(()) };
        let budget = budget.reserving(self.reference.n_bytes());
        let (held, counts) = Reading { source, design, budget, observer }.tests()?;
        if held.n_rows() == 0 {
            return Err(Error::core(dshap::Error::NoTestRows, design));
        }
        self.n_tests_left_out = counts.n_left_out();
        self.tests = Tests::Given(Arc::new(held));
        Ok(())
    }

    /// Hands over the test rows, all at once where they are held and block by
    /// block where they are not.
    pub(crate) fn each_tests(
        &self,
        design: &Design,
        budget: Budget,
        observer: &dyn Observer,
        mut each: impl FnMut(TestRows<'_>, Share) -> Result<(), dshap::Error> + Send,
    ) -> Result<RowCounts, Error> {
        let core = |error| Error::core(error, design);
        let whole = Share { from: 0.0, to: 1.0 };
        let counts = |n: usize| RowCounts { n_read: n as u64, n_usable: n as u64, n_filled: 0 };
        match &self.tests {
            Tests::Given(held) => {
                held.rows().and_then(|rows| each(TestRows::Given(rows), whole)).map_err(core)?;
                Ok(counts(held.n_rows()))
            }
            Tests::Reference(numbers) => {
                each(TestRows::Reference(numbers), whole).map_err(core)?;
                Ok(counts(numbers.len()))
            }
            Tests::Streamed(source) => {
                let row_bytes = 8 * (design.n_columns() as u64 + 1);
                let most_rows = (budget.share_of(TEST_BLOCK_BYTES) / row_bytes).max(1) as usize;
                let reading = Reading { source, design, budget, observer: &Quiet(observer) };
                reading.tests_in_blocks(most_rows, |held, share| {
                    held.rows().and_then(|rows| each(TestRows::Given(rows), share)).map_err(core)
                })
            }
        }
    }

    /// Whether a table holds the reference rows, to the last bit.
    pub(crate) fn is_of(
        &self,
        table: &Source,
        design: &Design,
        observer: &dyn Observer,
    ) -> Result<bool, Error> {
        let reference = self.reference.rows().map_err(|e| Error::core(e, design))?;
        let (mut start, mut same) = (0, true);
        each_batch(table, design, Budget::new(None), Stage::Fit, observer, |rows| {
            same &= start + rows.len() <= reference.len() && {
                let own = reference.slice(start, rows.len());
                own.y() == rows.y() && own.x() == rows.x()
            };
            start += rows.len();
            Ok(())
        })?;
        Ok(same && start == reference.len())
    }

    /// The set sizes for a choice, defaults filled in; whether any of them counts
    /// is told by [`doubts`](Self::doubts).
    pub(crate) fn sizes(&self, method: Method, choice: SizeChoice) -> Result<Sizes, Error> {
        match method {
            Method::KnnShapley { .. } if choice == SizeChoice::default() => {
                Ok(Sizes::new(1, self.reference.n_rows()))
            }
            Method::KnnShapley { .. } => Err(Error::Misplaced { what: NO_SIZES.into() }),
            _ => Ok(self.asked(method.neighbours().unwrap_or(1), choice, false).sizes()),
        }
    }

    /// What was asked for, of rows that are part of the reference or not.
    fn asked(&self, k: usize, choice: SizeChoice, left_out: bool) -> NeighbourSizes {
        NeighbourSizes {
            k,
            choice,
            n_reference: self.reference.n_rows(),
            without_test: matches!(self.tests, Tests::Reference(_)),
            without_point: left_out,
        }
    }

    /// What values rows, by some of the test rows or all.
    pub(crate) fn valuer<'a>(
        &'a self,
        tests: TestRows<'a>,
        k: usize,
        sizes: Sizes,
    ) -> Result<NeighbourValuer<'a>, dshap::Error> {
        NeighbourValuer::new(self.reference.rows()?, tests, sizes, self.options(k))
    }

    /// The same for the reference as a finite dataset.
    pub(crate) fn dataset_valuer<'a>(
        &'a self,
        tests: TestRows<'a>,
        k: usize,
    ) -> Result<NeighbourValuer<'a>, dshap::Error> {
        NeighbourValuer::of_dataset(self.reference.rows()?, tests, self.options(k))
    }

    fn options(&self, k: usize) -> NeighbourOptions {
        NeighbourOptions {
            k,
            metric: self.choice.metric.unwrap_or_default(),
            scale: self.choice.scale.unwrap_or_default(),
            ..NeighbourOptions::new(self.task)
        }
    }

    /// Whether rows can be valued, and what is doubtful about that.
    pub(crate) fn doubts(
        &self,
        design: &Design,
        method: Method,
        choice: SizeChoice,
        left_out: bool,
    ) -> Result<Vec<String>, Error> {
        let core = |error| Error::core(error, design);
        let (k, sizes) = (method.neighbours().unwrap_or(1), self.sizes(method, choice)?);
        // One row stands for test rows that are not there yet.
        let first = self.reference.rows().map_err(core)?.slice(0, 1);
        let tests = match &self.tests {
            Tests::Given(held) => TestRows::Given(held.rows().map_err(core)?),
            Tests::Reference(numbers) => TestRows::Reference(numbers),
            Tests::Streamed(_) => TestRows::Given(first),
        };
        let asked = self.asked(k, choice, left_out);
        let is_shapley = matches!(method, Method::KnnShapley { .. });
        let valuer = if is_shapley {
            self.dataset_valuer(tests, k).map_err(core)?
        } else {
            asked.check()?;
            self.valuer(tests, k, sizes).map_err(core)?
        };
        let mut warnings = valuer.warnings(left_out);
        warnings.retain_mut(|warning| match warning {
            // The default `m` is the number of rows: of that nothing was asked that could be left out.
            Warning::SizesLeftOut { .. } => choice.max.is_some_and(|m| m > self.reference.n_rows()),
            Warning::FewNeighbourSizes { smaller_k, more_rows, .. } => {
                // What was not said follows: `m` the number of rows, and `q` is k + 1.
                *more_rows |= choice.max.is_none();
                *smaller_k &= choice.min.is_none_or(|q| q <= k);
                !is_shapley
            }
            _ => true,
        });
        let mut said = in_words(&warnings, design);
        said.extend(asked.doubt().filter(|_| !is_shapley));
        if let Tests::Reference(numbers) = &self.tests
            && numbers.len() < self.reference.n_rows()
            && self.choice.samples.is_none()
        {
            said.push(format!(
                "the reference has {} rows, and utility is measured on {} of them, drawn at random (seed {}); \
                 `--samples N` says how many, `--test FILE` takes other rows, and time grows with their number",
                self.reference.n_rows(),
                numbers.len(),
                self.choice.seed.unwrap_or(0)
            ));
        }
        Ok(said)
    }
}

/// Test rows need the columns of the reference.
fn refuse_other_columns(source: &Source, design: &Design) -> Result<(), Error> {
    let missing: Vec<String> = design
        .wanted()
        .into_iter()
        .map(|wanted| wanted.name)
        .filter(|name| source.schema().column(name).is_none())
        .collect();
    let Some(first) = missing.first() else { return Ok(()) };
    let suggestion = dshap_table::closest(first, source.schema().names()).map(String::from);
    let file = source.files().next().unwrap_or_default().to_string();
    Err(Error::OtherTest { file, missing, suggestion })
}
