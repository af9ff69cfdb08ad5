//! What is doubtful about a result, as facts.
//!
//! Sentences are made from these facts in `dshap-words`.

use dshap_catalogue::Task;
use dshap_table::{Design, Missing, Names};

/// A model that predicts a smaller share of the variance of rows left out says next to
/// nothing about the target.
const WEAK_R_SQUARED: f64 = 0.02;

/// Something a user should know about a result that was computed all the same.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// A warning of the arithmetic, with what columns and labels are called.
    Core(dshap::Warning, Box<Names>),
    /// Something a reader noticed.
    Reader(dshap_io::Note),
    /// A warning about one of several methods.
    OfMethod(String, Box<Warning>),

    /// A file is both points and reference.
    PointsAreReference {
        /// The file.
        file: String,
    },
    /// Points are part of the reference of a valuer.
    PointsInValuer {
        /// The file.
        file: String,
        /// The valuer.
        valuer: String,
    },
    /// Points are also test rows.
    PointsAreTests {
        /// The file.
        file: String,
        /// The valuer that holds the test rows, if one does.
        valuer: Option<String>,
    },
    /// A file is both test rows and reference.
    TestsAreReference {
        /// The file.
        file: String,
        /// Whether the test rows have targets.
        have_targets: bool,
    },
    /// Rows with a missing cell or target were left out.
    RowsLeftOut {
        /// Which rows.
        role: RowRole,
        /// How many.
        n_rows: u64,
        /// What is missing.
        lack: Lack,
    },
    /// Text columns with one level.
    ConstantText {
        /// Their names.
        columns: Vec<String>,
    },

    /// A target of few whole numbers that was taken for a quantity.
    FewNumbers {
        /// Its name.
        target: String,
        /// How many numbers it has.
        n_numbers: usize,
    },

    /// A model that predicts rows left out hardly better than their mean.
    WeakModel {
        /// Share of the target's variance that it predicts.
        r_squared: f64,
    },

    /// A model that predicts labels of rows left out hardly better than their shares.
    WeakLabels {
        /// Its log-loss.
        log_loss: f64,
        /// That of the shares.
        constant: f64,
    },

    /// Columns that are no features because they only name rows.
    SetAside {
        /// A first column without a name that counts rows.
        index: Option<String>,
        /// Numbers padded with zeros, most of them different.
        identifiers: Vec<String>,
    },

    /// Text columns whose levels are all rare, so that one pooled level is left.
    AllLevelsRare {
        /// Their names.
        columns: Vec<String>,
    },

    /// A label of very few rows.
    RareLabel {
        /// The label.
        label: String,
        /// Its rows.
        n_rows: usize,
    },
    /// The fit is so sure that small sets amount to few rows.
    SureFit {
        /// Rows of the smallest sets.
        size: usize,
        /// Rows they amount to.
        amounts_to: f64,
        /// Columns of the model.
        dim: usize,
        /// A `q` that is large enough.
        enough: usize,
        /// The largest `q` there can be, `m`.
        most: usize,
    },
    /// Columns of zeros and ones, or levels, that small sets have too few rows of.
    RareDummies {
        /// Such as `town=Rome`, the rarest first.
        levels: Vec<String>,
        /// Rows that have the rarest.
        n_rows: usize,
        /// Rows of the smallest sets.
        size: usize,
        /// How many of these have the rarest on average.
        expected: f64,
        /// What helps.
        cure: RareCure,
    },
    /// Accuracy with more than two labels.
    AccuracyOfMany,
    /// Small sets on which no model can be fitted.
    SetsWithoutFit {
        /// Sets drawn.
        n_drawn: usize,
        /// Rows of each.
        size: usize,
        /// Those without a fit.
        n_without: usize,
        /// A `q` with which few are without, and how many.
        cure: Option<(usize, usize)>,
        /// Whether a larger `q` is possible at all.
        larger_q: bool,
        /// Whether the fit has a ridge.
        has_ridge: bool,
    },
    /// One model tells all labels apart, so that values are no sums over labels.
    WholeValues,
    /// Values by class were asked for, and there are two labels.
    PerClassOfTwo,
    /// Sets too large for rows valued against each other by accuracy.
    LargeSets {
        /// `m`.
        m: usize,
        /// Rows.
        n_rows: usize,
        /// The largest `m` that is small enough.
        most: f64,
    },
    /// Standard errors from few rows of a rare label.
    RoughErrors {
        /// Share of the rarer label.
        share: f64,
    },

    /// Standard errors of a valuer that does not know how residuals vary.
    AssumedNoise,

    /// A file counts twice in the reference.
    RepeatedFile {
        /// Its name.
        file: String,
    },
    /// Rows were forgotten before.
    ForgottenAgain {
        /// Their file.
        file: String,
    },
    /// Cells were filled with the means of a part of the reference.
    FilledCells {
        /// How many.
        n_cells: u64,
    },
    /// Rare levels were pooled when the valuer was fitted, and that is kept although
    /// there are other rows now.
    PoolIsKept {
        /// The features.
        columns: Vec<String>,
    },
    /// Changing the reference cost digits.
    LostDigits,

    /// A constant outweighs what tells values apart.
    SwallowedDigits,
    /// Values are against a sample of the reference.
    ReferenceSample {
        /// Rows of the reference.
        n_reference: usize,
        /// Rows used.
        n_used: usize,
        /// The seed of the sample.
        seed: u64,
    },
    /// Values are in units of a power of e.
    LogUnit {
        /// The power.
        power: f64,
    },
    /// Parts of a merged density are samples of different shares.
    UnequalShares {
        /// Rows kept.
        n_kept: usize,
        /// Rows that the parts hold.
        n_held: usize,
    },
    /// Rows in no set.
    RowsInNoSet {
        /// How many.
        n_rows: u64,
        /// The column that is empty there.
        column: String,
    },

    /// Utility is measured on a sample of the reference.
    TestSample {
        /// Rows of the reference.
        n_reference: usize,
        /// Test rows.
        n_tests: usize,
        /// The seed of the sample.
        seed: u64,
    },
    /// A `q` of no more than `k` counts as `k + 1`.
    SmallQ {
        /// `q` as given.
        q: usize,
        /// What it counts as.
        least: usize,
        /// Neighbours.
        k: usize,
    },
    /// Too few test rows for standard errors.
    NoTestErrors {
        /// Test rows.
        n_tests: usize,
    },

    /// A tolerance leaves so few near rows that most values are 0.
    MostlyZero {
        /// Rows whose value is exactly 0.
        n_zero: u64,
        /// Rows with a value.
        n_valued: u64,
        /// The tolerance.
        tolerance: f64,
    },

    /// Draws ended before their errors were small enough.
    RoughDraws {
        /// Rounds.
        n_rounds: usize,
        /// Errors wanted, as a share of the spread of values.
        tolerance: f64,
    },
    /// Sets that determine no coefficients were drawn again.
    SingularSets {
        /// Their share.
        share: f64,
        /// Whether a ridge of the sets helps.
        ridge_helps: bool,
    },

    /// Rows that measure utility have no value.
    RowsMeasure {
        /// How many.
        n_rows: usize,
    },
    /// The average over set sizes has few terms. The flags say which options the method
    /// takes that would give it more.
    FewSetSizes {
        /// Number of set sizes.
        n_sizes: usize,
        /// Whether it takes a larger `m`.
        larger_m: bool,
        /// Whether it takes a smaller `q`.
        smaller_q: bool,
    },
    /// Only all rows together have a model.
    OnlyWholeSet {
        /// Rows.
        n_rows: usize,
        /// The method, which gives every row the same value then.
        method: &'static str,
    },
    /// Too few iterations to judge convergence.
    FewIterations {
        /// Iterations.
        n_iterations: usize,
        /// Iterations that would do.
        needed: usize,
    },
    /// Means still moved at the last iteration.
    StillMoving {
        /// Iterations.
        n_iterations: usize,
        /// By more than this share in a hundred iterations.
        tolerance: f64,
    },
    /// All rows together have no model that could be lost.
    NoModelToLose,
    /// Sets without a model.
    SetsWithoutModel {
        /// Their share.
        share: f64,
        /// The task.
        task: Task,
    },

    /// Methods that have no Brier score, where that was asked for.
    NoBrier {
        /// The methods.
        methods: Vec<&'static str>,
        /// Whether curves are among them.
        curves: bool,
    },
    /// All targets are the same, so that none can be made wrong.
    EqualTargets,
    /// All rows together are worth no more than no model.
    WorthlessWhole,

    /// What is doubtful about owners or payouts.
    Owners(crate::OwnersWarning),
}

/// What helps where levels are too rare for a closed form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RareCure {
    /// This `q`.
    LargerSets(usize),
    /// Levels of fewer rows than this can be pooled, and then have enough together.
    Pool(usize),
    /// Only drawing sets.
    Drawing,
}

/// What is missing in rows that were left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lack {
    /// A cell.
    Cell,
    /// The target.
    Target,
    /// Either.
    CellOrTarget,
}

/// What rows are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowRole {
    /// Reference rows of a fit.
    Reference,
    /// Reference rows that neighbours are found among.
    Neighbour,
    /// Rows to be valued.
    Point,
    /// Rows to be valued in sets.
    SetMember,
    /// Rows that measure utility.
    Test,
    /// Rows added to a reference.
    Added,
    /// Rows of a trial.
    Trial,
}

impl Warning {
    /// Whether small sets are too small for any closed form, so that another one helps no more.
    pub fn is_beyond_closed_forms(&self) -> bool {
        matches!(self, Warning::SureFit { .. } | Warning::RareDummies { .. })
    }

    /// Warnings of core, with the names of a design.
    pub fn of_core(warnings: Vec<dshap::Warning>, design: &Design) -> Vec<Warning> {
        let named = |warning| Warning::Core(warning, Box::new(design.names()));
        warnings.into_iter().map(named).collect()
    }

    /// A model that predicts rows left out hardly better than their mean, if it is one.
    pub fn of_weak_model(r_squared: f64) -> Option<Warning> {
        (r_squared < WEAK_R_SQUARED).then_some(Warning::WeakModel { r_squared })
    }

    /// A model that predicts labels of rows left out hardly better than their shares, if it is
    /// one.
    pub fn of_weak_labels(log_loss: f64, constant: f64) -> Option<Warning> {
        (log_loss > (1.0 - WEAK_R_SQUARED) * constant).then_some(Warning::WeakLabels { log_loss, constant })
    }

    /// Rows of a design left out for a missing cell or target, if there are any.
    pub fn rows_left_out(role: RowRole, n_rows: u64, design: &Design) -> Option<Warning> {
        let lack = match (design.parts().missing, design.target()) {
            (Missing::Drop, Some(_)) => Lack::CellOrTarget,
            (Missing::Drop, None) => Lack::Cell,
            // Other missing cells are filled, or an error.
            _ => Lack::Target,
        };
        (n_rows > 0).then_some(Warning::RowsLeftOut { role, n_rows, lack })
    }
}
