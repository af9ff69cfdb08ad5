//! Why a valuation could not be made, and what is doubtful about one that was.

use std::fmt;

/// Why a valuation could not be made.
///
/// Rows and columns are counted from 0. Front ends, which know the file, turn
/// them into names and line numbers.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Rows that do not fit the rows seen before, or the fit.
    #[error("rows have {found} features, expected {expected}")]
    FeatureCount {
        /// Features of the rows at hand.
        found: usize,
        /// Features of the reference.
        expected: usize,
    },

    /// Features and targets of different length.
    #[error("{features} rows of features but {targets} targets")]
    RowCount {
        /// Rows of the feature matrix.
        features: usize,
        /// Length of the target.
        targets: usize,
    },

    /// A NaN or an infinity. The target is the column after the last feature.
    #[error("row {row}, column {column} is not finite")]
    NotFinite {
        /// Row of the cell.
        row: usize,
        /// Column of the cell.
        column: usize,
    },

    /// A weight that is negative, not finite, or beyond all reason.
    #[error("the weight of row {row} is neither 0 nor a number from 1e-100 to 1e100")]
    BadWeight {
        /// Row of the weight.
        row: usize,
    },

    /// Weights that leave too few rows to tell anything.
    #[error(
        "weights leave an effective sample of {effective:.1} rows, too few for {dim} features; at least {needed} are needed"
    )]
    TooFewEffectiveRows {
        /// `(Σw)² / Σw²`.
        effective: f64,
        /// Features of the design.
        dim: usize,
        /// Effective rows that would do.
        needed: usize,
    },

    /// Principal components that there are not.
    #[error("{n_rows} rows of {n_features} columns do not have {wanted} principal components")]
    TooManyComponents {
        /// Components asked for.
        wanted: usize,
        /// Features of the rows.
        n_features: usize,
        /// Rows.
        n_rows: usize,
    },

    /// Rows to be taken away that cannot have been there, or that are all
    /// there are.
    #[error("the rows to be forgotten are not a part of the reference")]
    NotAmong {
        /// A column whose sum of squares would become negative; none if there
        /// are simply too many rows.
        column: Option<usize>,
    },

    /// Plain numbers that cannot be those of what they claim to be.
    #[error("{what}")]
    Contradiction {
        /// What contradicts what.
        what: &'static str,
    },

    /// Finite numbers whose squares are not.
    #[error("some numbers are too large to square (above about 1e150); rescale their columns")]
    TooLarge,

    /// Not one reference row.
    #[error("the reference has no rows")]
    NoRows,

    /// Every feature is constant, or there was none to begin with.
    #[error("none of the {n_features} features varies")]
    NoFeatures {
        /// Features before any was dropped.
        n_features: usize,
    },

    /// Fewer reference rows than the fit and its noise variance need.
    #[error("{n_rows} reference rows are too few for {dim} features; at least {needed} are needed")]
    TooFewRows {
        /// Reference rows.
        n_rows: usize,
        /// Features of the design.
        dim: usize,
        /// Rows that would do.
        needed: usize,
    },

    /// The target is the same in every reference row.
    #[error("the target is constant ({value})")]
    ConstantTarget {
        /// Its value.
        value: f64,
    },

    /// The features determine the target up to rounding.
    #[error(
        "the target is a linear function of the features, up to rounding; there is no noise to value rows against"
    )]
    NoNoise,

    /// Features that depend on earlier ones, where the caller refuses that.
    #[error("features {columns:?} depend on earlier ones")]
    Dependent {
        /// The dependent features.
        columns: Vec<usize>,
    },

    /// A label that is neither 0 nor 1.
    #[error("the label of row {row} is neither 0 nor 1")]
    NotBinary {
        /// Row of the label.
        row: usize,
    },

    /// A label that is no class: not a whole number from 0 to one less than
    /// the number of classes.
    #[error("the label of row {row} is none of the {n_classes} classes")]
    NotAClass {
        /// Row of the label.
        row: usize,
        /// Number of classes.
        n_classes: usize,
    },

    /// The reference holds one class only.
    #[error("every reference row has the label {label}; two are needed")]
    OneClass {
        /// The label, 0 or 1.
        label: u8,
    },

    /// A combination of the features tells the classes apart, so that the
    /// likelihood has no maximum: coefficients would grow for ever.
    #[error(
        "{}, so the logistic fit has no finite coefficients without a ridge; feature {column} has the largest part in it",
        if *.complete {
            "a combination of the features tells all rows of one label from those of the other".to_owned()
        } else {
            format!("a combination of the features tells the labels of {n_apart} rows, and is the same for the other {n_between}")
        }
    )]
    Separated {
        /// Whether every row is on its side; otherwise some lie on the border.
        complete: bool,
        /// The feature with the largest part in the combination, in units of
        /// its standard deviation.
        column: usize,
        /// The combination: a coefficient for each feature as given. It is not
        /// negative on rows of label 1 and not positive on the others.
        coef: Vec<f64>,
        /// The constant of the combination; 0 without an intercept.
        intercept: f64,
        /// Rows that lie clearly on their side.
        n_apart: usize,
        /// Rows that lie on the border.
        n_between: usize,
    },

    /// Not one reference row of a class.
    #[error("no reference row is of class {class}")]
    EmptyClass {
        /// The class.
        class: usize,
    },

    /// A combination of the features tells classes apart, so that the likelihood
    /// of a model of all classes has no maximum.
    #[error(
        "combinations of the features tell classes apart without an error, so the softmax fit has no finite coefficients; feature {column} has the largest part in them"
    )]
    ClassesSeparated {
        /// The feature with the largest part, in units of its standard
        /// deviation.
        column: usize,
    },

    /// What went wrong with one class against all others.
    #[error("class {class} against the others: {error}")]
    InClass {
        /// The class.
        class: usize,
        /// What went wrong.
        error: Box<Error>,
    },

    /// Newton's method did not come to an end.
    #[error("the logistic fit did not converge in {n_passes} passes; a ridge, or a larger one, helps")]
    NotConverged {
        /// Passes over the reference.
        n_passes: usize,
    },

    /// A set size beyond all reason.
    #[error("m = {max} is too large; 1e15 is the limit")]
    TooLargeSize {
        /// `m`, the largest set size.
        max: usize,
    },

    /// Sets too small for a bound to say anything.
    #[error("the bound says nothing about sets of fewer than {first} rows, and m = {max}")]
    SilentBound {
        /// The smallest `q` with which it says something.
        first: usize,
        /// `m`, the largest set size.
        max: usize,
    },

    /// Set sizes for which the sums do not exist.
    #[error("set sizes must satisfy {least} ≤ q ≤ m for {dim} design columns, got q = {min}, m = {max}")]
    Sizes {
        /// `q`, the smallest set whose utility counts.
        min: usize,
        /// `m`, the largest set size.
        max: usize,
        /// The smallest possible `q`.
        least: usize,
        /// Columns of the design.
        dim: usize,
    },

    /// Set sizes of which the shift leaves nothing.
    #[error("set sizes must satisfy {least} ≤ q ≤ m for a shift of {shift} rows, got q = {min}, m = {max}")]
    ShiftedSizes {
        /// `q`, the smallest set whose utility counts.
        min: usize,
        /// `m`, the largest set size.
        max: usize,
        /// The smallest possible `q`.
        least: usize,
        /// `κ`.
        shift: f64,
    },

    /// Set sizes that an expansion was not made for.
    #[error("the moments were summed for set sizes with {min} ≤ q ≤ m ≤ {max}, and change with the size")]
    OtherSizes {
        /// The smallest `q` there is.
        min: usize,
        /// The largest `m` there is.
        max: usize,
    },

    /// Sets that cannot be drawn without replacement.
    #[error(
        "m = {max} is too large: sets are drawn from the reference without replacement, which allows m ≤ {most}"
    )]
    SetsTooLarge {
        /// `m`, the largest set size.
        max: usize,
        /// The largest possible `m`.
        most: usize,
    },

    /// Hardly any set of some size determines the coefficients.
    #[error("sets of {size} reference rows hardly ever determine the coefficients")]
    SingularSets {
        /// Rows of the sets, without the point.
        size: usize,
    },

    /// Set sizes that leave no set with `k` neighbours and a point.
    #[error("no set size counts: q ≤ m and k + 1 ≤ m are needed, got k = {k}, q = {min}, m = {max}")]
    NeighbourSizes {
        /// Neighbours that are averaged over.
        k: usize,
        /// `q`, the smallest set whose utility counts.
        min: usize,
        /// `m`, the largest set size.
        max: usize,
    },

    /// Fewer reference rows than the smallest set has.
    #[error(
        "sets of {needed} rows cannot be drawn from {n_rows} reference rows; more of them are needed, or a smaller k or q"
    )]
    FewNeighbours {
        /// Rows that sets are drawn from: the reference without the test row
        /// and the row that is valued, where they are among it.
        n_rows: usize,
        /// Rows of the smallest set.
        needed: usize,
    },

    /// No row to measure utility on.
    #[error("there are no test rows")]
    NoTestRows,

    /// A test row that was said to be a reference row and cannot be one.
    #[error("test row {row} is not one of the {n_rows} reference rows, or is named twice")]
    NotAReferenceRow {
        /// The number given.
        row: usize,
        /// Reference rows.
        n_rows: usize,
    },

    /// What is wrong with a row that utility is measured on.
    #[error("in the test rows: {error}")]
    InTest {
        /// What is wrong.
        error: Box<Error>,
    },

    /// Weights where a method knows none.
    #[error("the method draws sets of reference rows and knows no weights")]
    Weighted,

    /// A bandwidth that is none.
    #[error("the bandwidth must be a number from 1e-30 to 1e30, got {bandwidth}")]
    BadBandwidth {
        /// The bandwidth.
        bandwidth: f64,
    },

    /// A bandwidth with which every reference row is alone.
    #[error(
        "with bandwidth {bandwidth} no reference row is near another and every density is 0; with {enough:.3e} half of them are"
    )]
    NoDensity {
        /// The bandwidth.
        bandwidth: f64,
        /// One with which about half of the rows have a neighbour.
        enough: f64,
    },

    /// Fewer reference rows than a method needs, whatever the features.
    #[error("{n_rows} reference rows are too few; at least {needed} are needed")]
    FewRows {
        /// Reference rows.
        n_rows: usize,
        /// Rows that would do.
        needed: usize,
    },

    /// A set of all reference rows, with nobody left to value it against.
    #[error("a set has all {n_rows} reference rows, and none is left to value it against")]
    NobodyLeft {
        /// Reference rows.
        n_rows: usize,
    },

    /// Rows of the reference that it does not have.
    #[error("rows {first} to {} were asked for, and the reference has {n_rows}", first.saturating_add(*len))]
    RowRange {
        /// The first of them.
        first: usize,
        /// How many.
        len: usize,
        /// Reference rows.
        n_rows: usize,
    },

    /// A setting that makes no sense.
    #[error("{what}")]
    BadOption {
        /// What it must be.
        what: &'static str,
    },

    /// The caller wanted no more.
    #[error("interrupted")]
    Interrupted,
}

/// A doubt about a result that was computed all the same.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// The average over set sizes has few terms.
    FewSizes {
        /// Number of set sizes.
        n_sizes: usize,
    },
    /// The average over set sizes of nearest neighbours has few terms, and what
    /// alone would give it more.
    FewNeighbourSizes {
        /// Number of set sizes.
        n_sizes: usize,
        /// Whether a smaller `k` does, where `q` is `k + 1` or less.
        smaller_k: bool,
        /// Whether a smaller `q` does.
        smaller_min: bool,
        /// Whether a larger `m` does.
        larger_max: bool,
        /// Whether more reference rows do.
        more_rows: bool,
    },
    /// Features left out because they depend on earlier ones.
    DroppedColumns {
        /// Indices of the features.
        columns: Vec<usize>,
    },
    /// Features so nearly dependent that digits are lost.
    IllConditioned {
        /// The feature with the smallest share of variation of its own.
        column: usize,
        /// Decimal digits that distances and residuals keep.
        digits: u32,
    },
    /// Features that explain so much of the target that the noise variance
    /// loses digits.
    LittleNoise {
        /// Decimal digits that the noise variance keeps.
        digits: u32,
    },
    /// Rows that alone determine a coefficient and have no leave-one-out value.
    LeverageOne {
        /// Number of such rows.
        n_rows: usize,
    },
    /// Rows too far out for an expansion in the size of sets, which have no value.
    TooFar {
        /// Number of such rows.
        n_rows: usize,
        /// The smallest set whose utility counts.
        min: usize,
    },
    /// A bound that says nothing about the smallest sets.
    SilentBound {
        /// The smallest `q` with which it says something.
        first: usize,
    },
    /// A bound for ridge regression, which leaves terms out.
    BoundWithRidge,
    /// Inputs so far from Gaussian that values are off by more than their
    /// standard errors.
    NotGaussian {
        /// Difference to calibrated values, as a share of the spread of values.
        share: f64,
    },
    /// A reference so small that sets drawn from it resemble it too much.
    SmallReference {
        /// Columns of the design.
        dim: usize,
        /// Reference rows.
        n_rows: usize,
    },
    /// Features left out because they are the same in every reference row: they
    /// say nothing of density or distance.
    ConstantColumns {
        /// Indices of the features.
        columns: Vec<usize>,
    },
    /// Cross-validation chose the narrowest or the widest bandwidth it tried.
    BandwidthAtEdge {
        /// The bandwidth.
        bandwidth: f64,
    },
    /// Set sizes left out because no sets that large can be drawn.
    SizesLeftOut {
        /// How many sizes.
        n_sizes: usize,
        /// Rows that sets are drawn from.
        n_rows: usize,
    },
    /// A shift of set sizes that leaves little of the smallest sets, or makes much
    /// larger ones of them.
    Shifted {
        /// `q`, the smallest set whose utility counts.
        min: usize,
        /// `κ`.
        shift: f64,
        /// The rows that such a set counts as.
        first: f64,
    },
    /// A ridge that is not small, of which only the first order is known.
    RidgeNotSmall {
        /// `γ`.
        ridge: f64,
        /// Its share of the curvature of the smallest sets, where it is largest.
        share: f64,
    },
    /// References drawn for standard errors whose sums are singular.
    LostDraws {
        /// How many of them.
        n_lost: usize,
        /// References drawn.
        n_drawn: usize,
        /// Whether those left are enough.
        has_errors: bool,
    },
    /// Algorithm 3 stopped before the sum was complete.
    Truncated {
        /// Median number of set sizes visited.
        n_visited: usize,
        /// Number of set sizes in the sum.
        n_sizes: usize,
        /// Median share of the complete sum that was kept.
        share: f64,
    },
}

impl Warning {
    /// The warning in words, with features called by `name`.
    pub fn describe(&self, name: impl Fn(usize) -> String) -> String {
        let list = |columns: &[usize]| {
            columns.iter().map(|&column| format!("`{}`", name(column))).collect::<Vec<_>>().join(", ")
        };
        match self {
            Warning::FewSizes { n_sizes } => format!(
                "values average over only {n_sizes} set {}; give more rows, or a larger `m` or smaller `q`",
                if *n_sizes == 1 { "size" } else { "sizes" }
            ),
            Warning::Shifted { min, shift, first } if *first < *min as f64 => format!(
                "with a shift of {shift:.1} the smallest sets, q = {min}, count as {first:.1} rows, and values are \
                 mostly theirs; a larger `q` leaves them out"
            ),
            Warning::Shifted { min, shift, first } => format!(
                "with a shift of {shift:.1} the smallest sets, q = {min}, count as {first:.1} rows: values are \
                 those of far larger sets"
            ),
            Warning::RidgeNotSmall { ridge, share } => format!(
                "a ridge of {ridge} is {:.0} % of the curvature of the smallest sets along some direction, too much \
                 for its first order; fit with the ridge instead, or give a larger `q`",
                100.0 * share
            ),
            Warning::LostDraws { n_lost, n_drawn, has_errors } => format!(
                "{n_lost} of {n_drawn} references that were drawn for standard errors do not determine the \
                 coefficients{}",
                if *has_errors { " and were left out" } else { "; standard errors are left empty" }
            ),
            Warning::FewNeighbourSizes { n_sizes, smaller_k, smaller_min, larger_max, more_rows } => {
                let helps = [
                    (*more_rows, "more rows"),
                    (*larger_max, "a larger `m`"),
                    // Sets have all rows there are, and `m` allows no more.
                    (!more_rows && !larger_max, "more rows with a larger `m`"),
                    (*smaller_min, "a smaller `q`"),
                    (*smaller_k, "a smaller `k`"),
                ];
                let helps: Vec<_> = helps.iter().filter(|(does, _)| *does).map(|(_, what)| *what).collect();
                let sizes = if *n_sizes == 1 { "size" } else { "sizes" };
                format!("values average over only {n_sizes} set {sizes}; give {}", helps.join(" or "))
            }
            Warning::DroppedColumns { columns } if columns.len() == 1 => format!(
                "{} was dropped: it is constant or a linear function of columns before it",
                list(columns)
            ),
            Warning::DroppedColumns { columns } => format!(
                "{} columns were dropped, constant or linear functions of columns before them: {}",
                columns.len(),
                list(columns)
            ),
            Warning::IllConditioned { column, digits } => format!(
                "`{}` is nearly a linear function of other columns: about {digits} {} of the values can be trusted",
                name(*column),
                if *digits == 1 { "digit" } else { "digits" }
            ),
            Warning::LittleNoise { digits } => format!(
                "the features explain the target almost exactly: about {digits} {} of the values can be trusted",
                if *digits == 1 { "digit" } else { "digits" }
            ),
            Warning::LeverageOne { n_rows } => format!(
                "{n_rows} {} no value: {} alone, up to rounding, determines a coefficient (leverage 1)",
                if *n_rows == 1 { "row has" } else { "rows have" },
                if *n_rows == 1 { "it" } else { "each of them" },
            ),
            Warning::TooFar { n_rows, min } => format!(
                "{n_rows} {} no value: in a set of {min} {} alone would move its own log-odds by more than {:.0}, beyond what second order can tell; a mistyped cell? A larger `--q` or a `--ridge` brings rows within reach",
                if *n_rows == 1 { "row has" } else { "rows have" },
                if *n_rows == 1 { "it" } else { "each of them" },
                crate::second_order::LARGEST_MOVE
            ),
            Warning::SilentBound { first } => format!(
                "the bound says nothing about sets this small, so it is infinite; it speaks from q = {first} on"
            ),
            Warning::NotGaussian { share } => format!(
                "the inputs are not Gaussian: calibrated values differ by {:.0} % of the spread of values, more than their standard errors; consider `--method calibrated`",
                100.0 * share
            ),
            Warning::BoundWithRidge => {
                "with a ridge the bound covers the main term only, not what the ridge itself changes".into()
            }
            Warning::SmallReference { dim, n_rows } => format!(
                "values are too close to zero, by about {:.0} % or more (more where inputs have heavy tails): sets are drawn from only {n_rows} rows for {dim} columns; more reference rows help, a smaller `m` does not",
                300.0 * *dim as f64 / *n_rows as f64
            ),
            Warning::ConstantColumns { columns } => format!(
                "{} {} the same in every reference row and {} left out",
                list(columns),
                if columns.len() == 1 { "is" } else { "are" },
                if columns.len() == 1 { "was" } else { "were" },
            ),
            Warning::BandwidthAtEdge { bandwidth } => format!(
                "cross-validation chose bandwidth {bandwidth}, the end of what it tries; {} can cause that, and `--bandwidth` sets another",
                if *bandwidth < 1.0 { "repeated rows" } else { "columns that are not scaled" }
            ),
            Warning::SizesLeftOut { n_sizes, n_rows } => format!(
                "{n_sizes} set {} left out of the sum: sets are drawn without replacement from {n_rows} rows",
                if *n_sizes == 1 { "size was" } else { "sizes were" }
            ),
            Warning::Truncated { n_visited, n_sizes, share } => format!(
                "Algorithm 3 stopped after {n_visited} of {n_sizes} set sizes (median over rows) and kept {:.0} % of the sum; method `gaussian` is exact",
                100.0 * share
            ),
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe(|column| format!("feature {column}")))
    }
}
