//! The method, what it is fitted with, and what only some methods have.

use crate::option::{Group, OptionEntry, Scope};
use crate::value::{FROM_ZERO, Kind, SHARE, SIZE, SIZES, Word};

const OF_METHODS: OptionEntry = OptionEntry {
    name: "",
    placeholder: "N",
    takes: SIZE,
    group: Group::Method,
    help: "",
    details: "",
    default: "",
    daily: false,
    scope: Scope::Method,
};

const SWITCH: OptionEntry = OptionEntry { placeholder: "", takes: Kind::Switch, ..OF_METHODS };

/// What is predicted.
pub static TASK: OptionEntry = OptionEntry {
    name: "task",
    placeholder: "TASK",
    takes: Kind::Choice {
        words: &[
            Word { word: "regression", means: "a number is predicted" },
            Word { word: "classification", means: "a label is predicted" },
            Word { word: "density", means: "nothing is predicted: a density is estimated" },
        ],
    },
    help: "What is predicted",
    details: "Guessed from the target: classification if it is text, boolean or two-valued, else regression.",
    daily: true,
    scope: Scope::Fit,
    ..OF_METHODS
};

/// The largest set size.
pub static M: OptionEntry = OptionEntry {
    name: "m",
    takes: SIZES,
    help: "Largest set size, the row included",
    details: "Several sizes, such as 100,1000,10000, show what rows are worth to buyers who have little data and to \
              those who have much (`dshap value` and `dshap owners`). There is one column for each size: \
              `value_m100` and so on. The column `value` has the first.",
    default: "the number of reference rows",
    daily: true,
    ..OF_METHODS
};

/// The smallest set whose utility counts.
pub static Q: OptionEntry = OptionEntry {
    name: "q",
    help: "Smallest set whose utility counts",
    details: "The default is p + max(p, 10) for p design columns, at most m and at least p + 3. It is larger, up to \
              m/2, in two cases. In a regression, sets of q rows should have five rows on average with the rarest \
              category, one or zero. For labels, sets should be large enough if the fit is nearly certain of most \
              rows: these tell little about the coefficients.",
    default: "p + max(p, 10), or more with rare categories or a fit that is nearly certain",
    ..OF_METHODS
};

/// No intercept.
pub static NO_INTERCEPT: OptionEntry = OptionEntry {
    name: "no_intercept",
    help: "Fit a model without an intercept",
    details: "Regression does not centre, and classification has no column of ones.",
    scope: Scope::MethodFit,
    ..SWITCH
};

/// An intercept for each set.
pub static REFIT_INTERCEPT: OptionEntry = OptionEntry {
    name: "refit_intercept",
    help: "Value a model that refits its intercept on each set",
    details: "By default the reference means are taken as known.",
    scope: Scope::MethodFit,
    ..SWITCH
};

/// A ridge penalty.
pub static RIDGE: OptionEntry = OptionEntry {
    name: "ridge",
    placeholder: "G",
    takes: Kind::WordOrNumber {
        words: &[Word { word: "auto", means: "1, for features divided by their standard deviations" }],
        least: 0.0,
        most: f64::MAX,
    },
    help: "Ridge penalty for features as given, or auto; the intercept is not penalised",
    details: "Classification always has one unless it is set to 0: labels that can be told apart without a mistake have \
              no fit otherwise. The automatic penalty does not depend on the units of the columns.",
    daily: true,
    ..OF_METHODS
};

/// The constant that all rows share.
pub static CONSTANT: OptionEntry = OptionEntry {
    name: "constant",
    placeholder: "WHICH",
    takes: Kind::Constant,
    help: "The row-independent constant: gain, theorem or full:C",
    ..OF_METHODS
};

/// How much each set size counts.
pub static SEMIVALUE: OptionEntry = OptionEntry {
    name: "semivalue",
    placeholder: "WHICH",
    takes: Kind::Semivalue,
    help: "How much each set size counts: shapley, banzhaf, beta:A,B or at-m",
    details: "shapley: all sizes count alike. banzhaf: all sets count alike, so sizes near m/2 count. beta:A,B: \
              Beta(A,B)-Shapley; beta:1,16 favours large sets, beta:16,1 small ones. at-m: only sets of m − 1 rows \
              count. The weight of sizes below q − 1 is lost; the rest is not scaled up.",
    ..OF_METHODS
};

/// Which targets drawn sets have.
pub static TARGETS: OptionEntry = OptionEntry {
    name: "targets",
    placeholder: "WHICH",
    takes: Kind::Choice {
        words: &[
            Word { word: "expected", means: "the mean over the noise of a linear model" },
            Word { word: "observed", means: "those of the drawn rows" },
        ],
    },
    help: "Which targets the rows of drawn sets have",
    details: "observed needs no linear mean and no equal noise, and is nearer to refits on most real tables. expected \
              leaves less to chance where the linear model holds.",
    ..OF_METHODS
};

/// As defined or as printed.
pub static CONVENTION: OptionEntry = OptionEntry {
    name: "convention",
    placeholder: "WHICH",
    takes: Kind::Choice {
        words: &[
            Word { word: "definition", means: "the sum as defined" },
            Word { word: "printed", means: "the sum as printed in the paper, to the letter" },
            Word { word: "authors", means: "bounds only: the sum of the authors' program" },
        ],
    },
    help: "The sum as defined, as printed in the paper, or of its authors' program",
    ..OF_METHODS
};

/// `c` of a bound.
pub static BOUND_C: OptionEntry = OptionEntry {
    name: "bound_c",
    placeholder: "NUMBER",
    takes: Kind::Number { least: 0.0, above: true, below: f64::INFINITY },
    help: "Constant c of the tail of the eigenvalues",
    ..OF_METHODS
};

/// `C` of a bound.
pub static BOUND_EDGE: OptionEntry = OptionEntry {
    name: "bound_C",
    placeholder: "NUMBER",
    takes: FROM_ZERO,
    help: "Constant C of the edge of the eigenvalues",
    ..OF_METHODS
};

/// When to stop.
pub static STOP: OptionEntry = OptionEntry {
    name: "stop",
    placeholder: "RHO",
    takes: SHARE,
    group: Group::Draws,
    help: "Tolerance at which a method stops drawing or summing",
    ..OF_METHODS
};

/// When to stop drawing for one set size.
pub static STOP_DRAWS: OptionEntry = OptionEntry {
    name: "stop_draws",
    placeholder: "RHO",
    takes: SHARE,
    group: Group::Draws,
    help: "Tolerance at which draws for one set size stop (ρ₁)",
    ..OF_METHODS
};

/// The most draws.
pub static SAMPLES: OptionEntry = OptionEntry {
    name: "samples",
    placeholder: "T",
    takes: Kind::Count { least: 1, most: u64::MAX },
    group: Group::Draws,
    help: "Maximum number of draws, or of rows drawn from the reference",
    ..OF_METHODS
};

/// The seed.
pub static SEED: OptionEntry = OptionEntry {
    name: "seed",
    takes: Kind::Count { least: 0, most: u64::MAX },
    group: Group::Draws,
    help: "Seed of everything that is drawn",
    default: "0",
    scope: Scope::Always,
    ..OF_METHODS
};

/// What a refitted model is judged by.
pub static UTILITY: OptionEntry = OptionEntry {
    name: "utility",
    placeholder: "WHAT",
    takes: Kind::Choice {
        words: &[
            Word { word: "log-loss", means: "the mean log-loss" },
            Word { word: "accuracy", means: "the share of labels predicted right" },
            Word { word: "brier", means: "the Brier score" },
        ],
    },
    group: Group::SecondOrder,
    help: "How a classifier fitted to a set is judged",
    scope: Scope::MethodFit,
    ..OF_METHODS
};

/// How the spread of coefficients is known.
pub static SPREAD: OptionEntry = OptionEntry {
    name: "spread",
    placeholder: "HOW",
    takes: Kind::Choice {
        words: &[
            Word { word: "sandwich", means: "from the residuals; right even where the model is wrong" },
            Word { word: "model", means: "from the model; less noise where the model is right" },
        ],
    },
    group: Group::SecondOrder,
    help: "How the spread of the coefficients is estimated",
    scope: Scope::MethodFit,
    ..OF_METHODS
};

/// A small ridge of the sets.
pub static SMALL_RIDGE: OptionEntry = OptionEntry {
    name: "small_ridge",
    placeholder: "G",
    takes: FROM_ZERO,
    group: Group::SecondOrder,
    help: "Ridge penalty of the sets only, to first order; {ridge} is for larger penalties",
    scope: Scope::MethodFit,
    ..OF_METHODS
};

/// The shift of set sizes.
pub static SHIFT: OptionEntry = OptionEntry {
    name: "shift",
    placeholder: "ROWS",
    takes: Kind::WordOrNumber {
        words: &[Word { word: "measured", means: "measured on a thousand refitted sets" }],
        least: f64::MIN,
        most: f64::MAX,
    },
    group: Group::SecondOrder,
    help: "Number of rows by which sets count as smaller, under log-loss without a ridge",
    scope: Scope::MethodFit,
    ..OF_METHODS
};

/// The kernel.
pub static KERNEL: OptionEntry = OptionEntry {
    name: "kernel",
    placeholder: "KERNEL",
    takes: Kind::Choice {
        words: &[
            Word { word: "gaussian", means: "Gaussian" },
            Word { word: "uniform", means: "constant on an interval of the bandwidth" },
            Word { word: "epanechnikov", means: "a parabola" },
            Word { word: "triangular", means: "a triangle" },
        ],
    },
    group: Group::Density,
    help: "The kernel that smooths each reference row",
    scope: Scope::MethodFit,
    ..OF_METHODS
};

/// The bandwidth.
pub static BANDWIDTH: OptionEntry = OptionEntry {
    name: "bandwidth",
    placeholder: "H",
    takes: Kind::WordOrNumber {
        words: &[
            Word { word: "auto", means: "the best of 0.01 … 10 by five-fold cross-validation, refined" },
            Word { word: "grid", means: "the best of 0.01, 0.03, 0.1 … 10, without refining it" },
            Word { word: "scott", means: "Scott's rule" },
            Word { word: "silverman", means: "Silverman's rule" },
        ],
        least: 1e-30,
        most: 1e30,
    },
    group: Group::Density,
    help: "Width of the kernel, in units of the scaled columns",
    scope: Scope::MethodFit,
    ..OF_METHODS
};

/// How columns are made comparable.
pub static SCALE: OptionEntry = OptionEntry {
    name: "scale",
    placeholder: "HOW",
    takes: Kind::Choice {
        words: &[
            Word { word: "std", means: "divided by their standard deviations" },
            Word { word: "none", means: "as given" },
        ],
    },
    group: Group::Density,
    help: "How columns are made comparable",
    scope: Scope::MethodFit,
    ..OF_METHODS
};

/// Sums over every row.
pub static EVERY_ROW: OptionEntry = OptionEntry {
    name: "every_row",
    group: Group::Density,
    help: "Sum over every reference row, even those that together add less than 1e-12 of a sum",
    scope: Scope::MethodFit,
    ..SWITCH
};

/// Groups of rows valued as sets.
pub static SETS: OptionEntry = OptionEntry {
    name: "sets",
    placeholder: "COLUMN",
    takes: Kind::Text,
    group: Group::Density,
    help: "Value sets of rows: those with the same cell in this column, which is not a feature",
    details: "The output has one row per set: set, n, value (comparable between sizes) and sum_of_members, the sum \
              of the values of single rows.",
    ..OF_METHODS
};

/// What two sets are worth together.
pub static SYNERGY: OptionEntry = OptionEntry {
    name: "synergy",
    placeholder: "A,B",
    takes: Kind::Names,
    group: Group::Density,
    help: "Show only the synergy of two of the {sets}: their value together minus their values apart",
    ..OF_METHODS
};

/// The number of neighbours.
pub static K: OptionEntry = OptionEntry {
    name: "k",
    group: Group::Neighbours,
    help: "Number of nearest rows that predict",
    ..OF_METHODS
};

/// The metric.
pub static METRIC: OptionEntry = OptionEntry {
    name: "metric",
    placeholder: "METRIC",
    takes: Kind::Choice {
        words: &[
            Word { word: "euclidean", means: "Euclidean distance" },
            Word { word: "manhattan", means: "sum of absolute differences" },
            Word { word: "cosine", means: "1 minus the cosine of the angle" },
        ],
    },
    group: Group::Neighbours,
    help: "How far apart rows are",
    details: "Cosine is seen from the mean of the reference, or from 0 with {scale=none}.",
    scope: Scope::MethodFit,
    ..OF_METHODS
};

/// Lists of neighbours in the valuer file.
pub static LISTS: OptionEntry = OptionEntry {
    name: "lists",
    group: Group::Neighbours,
    help: "Save the rows in order of distance too, so that the valuer need not sort them for each unseen row",
    details: "Values have the same bits. The lists take 8 bytes in the file, and up to 12 in memory, for each \
              reference row and test row.",
    scope: Scope::MethodFit,
    ..SWITCH
};

/// Far rows that do not count.
pub static TOLERANCE: OptionEntry = OptionEntry {
    name: "tolerance",
    placeholder: "SHARE",
    takes: SHARE,
    group: Group::Neighbours,
    help: "Ignore the furthest rows that together have at most this share of all weight",
    details: "Each test row then lists only the rows nearest to it. With 0.001, lists of a large reference are short \
              and values hardly change; the default counts every row.",
    scope: Scope::MethodFit,
    ..OF_METHODS
};

pub(super) const ALL: &[&OptionEntry] = &[
    &TASK,
    &M,
    &Q,
    &NO_INTERCEPT,
    &REFIT_INTERCEPT,
    &RIDGE,
    &CONSTANT,
    &SEMIVALUE,
    &TARGETS,
    &CONVENTION,
    &BOUND_C,
    &BOUND_EDGE,
    &STOP,
    &STOP_DRAWS,
    &SAMPLES,
    &SEED,
    &UTILITY,
    &SPREAD,
    &SMALL_RIDGE,
    &SHIFT,
    &KERNEL,
    &BANDWIDTH,
    &SCALE,
    &EVERY_ROW,
    &SETS,
    &SYNERGY,
    &K,
    &METRIC,
    &TOLERANCE,
    &LISTS,
];
