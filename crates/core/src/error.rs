//! Why a valuation could not be made, and what is doubtful about one that was.

/// Why a valuation could not be made.
///
/// Rows and columns are counted from 0. Front ends know the file and turn them into
/// names and line numbers.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Rows with another number of features than the reference.
    #[error("rows have {found} features, expected {expected}")]
    FeatureCount {
        /// Features of the rows at hand.
        found: usize,
        /// Features of the reference.
        expected: usize,
    },

    /// Features and targets, or features and weights, of different length.
    #[error("{features} rows of features but {targets} targets or weights")]
    RowCount {
        /// Rows of the feature matrix.
        features: usize,
        /// Number of targets or weights.
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

    /// A weight that is negative, not finite, or out of range.
    #[error("the weight of row {row} is neither 0 nor between 1e-100 and 1e100")]
    BadWeight {
        /// Row of the weight.
        row: usize,
    },

    /// Weights that leave too few rows for a fit.
    #[error(
        "the weights leave an effective sample of {effective:.1} rows, too few for {dim} features; at least {needed} are needed"
    )]
    TooFewEffectiveRows {
        /// `(Σw)² / Σw²`.
        effective: f64,
        /// Features of the design.
        dim: usize,
        /// Effective rows needed at least.
        needed: usize,
    },

    /// More principal components than the rows have.
    #[error("{n_rows} rows with {n_features} columns have fewer than {wanted} principal components")]
    TooManyComponents {
        /// Components asked for.
        wanted: usize,
        /// Features of the rows.
        n_features: usize,
        /// Rows.
        n_rows: usize,
    },

    /// Rows to forget that are not part of the reference, or are all of it.
    #[error("the rows to forget are not part of the reference, or are all of it")]
    NotAmong {
        /// A column whose sum of squares would become negative; none if there are too
        /// many rows.
        column: Option<usize>,
    },

    /// Numbers from a file, or rows, that contradict the fit they belong to.
    #[error("{what}")]
    Contradiction {
        /// What contradicts what.
        what: &'static str,
    },

    /// Finite numbers whose squares are not finite.
    #[error("some numbers are too large to square (above about 1e150)")]
    TooLarge,

    /// A column that varies by so little that its squares vanish.
    #[error("column {column} varies by less than about 1e-150, and its squares vanish")]
    TooSmall {
        /// The column; the target is the last.
        column: usize,
    },

    /// No reference rows.
    #[error("the reference has no rows")]
    NoRows,

    /// Every feature is constant, or there are no features.
    #[error("none of the {n_features} features varies")]
    NoFeatures {
        /// Features before any were dropped.
        n_features: usize,
    },

    /// Fewer reference rows than the fit and its noise variance need.
    #[error("{n_rows} reference rows are too few for {dim} features; at least {needed} are needed")]
    TooFewRows {
        /// Reference rows.
        n_rows: usize,
        /// Features of the design.
        dim: usize,
        /// Rows needed at least.
        needed: usize,
    },

    /// The target is the same in every reference row.
    #[error("the target is constant ({value})")]
    ConstantTarget {
        /// Its value.
        value: f64,
    },

    /// The features determine the target up to rounding.
    #[error("the target is a linear function of the features, up to rounding; values need some noise in it")]
    NoNoise,

    /// Features that are linear functions of earlier ones, if the caller refuses that.
    #[error("features {columns:?} are constant or linear functions of earlier ones")]
    Dependent {
        /// The dependent features.
        columns: Vec<usize>,
    },

    /// Features that the weights of a logistic fit make dependent, in a method that cannot
    /// leave them out.
    #[error("with the weights of the fit, features {columns:?} are linear functions of earlier ones")]
    DependentByWeight {
        /// The dependent features.
        columns: Vec<usize>,
    },

    /// A label that is neither 0 nor 1.
    #[error("the label of row {row} is neither 0 nor 1")]
    NotBinary {
        /// Row of the label.
        row: usize,
    },

    /// A label that is not a whole number from 0 to one less than the number of
    /// classes.
    #[error("the label of row {row} is not one of the {n_classes} classes")]
    NotAClass {
        /// Row of the label.
        row: usize,
        /// Number of classes.
        n_classes: usize,
    },

    /// The reference has only one class.
    #[error("every reference row has the label {label}; at least two labels are needed")]
    OneClass {
        /// The label, 0 or 1.
        label: u8,
    },

    /// A combination of the features separates the classes, so the likelihood has no
    /// maximum: the coefficients do not converge.
    #[error(
        "{}, so the logistic coefficients do not converge without a ridge; feature {column} contributes most",
        if *.complete {
            "the labels are perfectly separated by the features".to_owned()
        } else {
            format!("{n_apart} {} perfectly separated by the features", if *n_apart == 1 { "row is" } else { "rows are" })
        }
    )]
    Separated {
        /// Whether every row is on its side. Otherwise some lie on the border.
        complete: bool,
        /// The feature that contributes most to the combination, in units of its
        /// standard deviation.
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

    /// A class without reference rows.
    #[error("no reference row has class {class}")]
    EmptyClass {
        /// The class.
        class: usize,
    },

    /// A combination of the features separates some classes, so the likelihood of a model
    /// of all classes has no maximum.
    #[error(
        "some classes are perfectly separated by the features, so the softmax coefficients do not converge; feature {column} contributes most"
    )]
    ClassesSeparated {
        /// The feature that contributes most, in units of its standard deviation.
        column: usize,
    },

    /// An error about one class against all others.
    #[error("class {class} against the others: {error}")]
    InClass {
        /// The class.
        class: usize,
        /// The error.
        error: Box<Error>,
    },

    /// Newton's method did not converge.
    #[error("the logistic fit did not converge in {n_passes} passes")]
    NotConverged {
        /// Passes over the reference.
        n_passes: usize,
    },

    /// A set size above 1e15.
    #[error("m = {max} is too large; the limit is 1e15")]
    TooLargeSize {
        /// `m`, the largest set size.
        max: usize,
    },

    /// Sets so small that the bound is infinite.
    #[error("the bound is infinite for sets of fewer than {first} rows, and m = {max}")]
    SilentBound {
        /// The smallest `q` for which it is finite.
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

    /// Set sizes that the shift reduces to nothing.
    #[error("set sizes must satisfy {least} ≤ q ≤ m with a shift of {shift} rows, got q = {min}, m = {max}")]
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
    #[error("the moments were summed for set sizes with {min} ≤ q and m ≤ {max}, and do not fit others")]
    OtherSizes {
        /// The smallest possible `q`.
        min: usize,
        /// The largest possible `m`.
        max: usize,
    },

    /// Sets that cannot be drawn without replacement.
    #[error(
        "m = {max} is too large: sets are drawn from the reference without replacement, so m is at most {most}"
    )]
    SetsTooLarge {
        /// `m`, the largest set size.
        max: usize,
        /// The largest possible `m`.
        most: usize,
    },

    /// Almost no set of some size determines the coefficients.
    #[error("sets of {size} reference rows almost never determine the coefficients")]
    SingularSets {
        /// Rows of the sets, without the point.
        size: usize,
    },

    /// Set sizes that leave no set with `k` neighbours and a point.
    #[error("no set size is left: q ≤ m and k + 1 ≤ m are needed, got k = {k}, q = {min}, m = {max}")]
    NeighbourSizes {
        /// The number of neighbours averaged over.
        k: usize,
        /// `q`, the smallest set whose utility counts.
        min: usize,
        /// `m`, the largest set size.
        max: usize,
    },

    /// Fewer reference rows than the smallest set has.
    #[error("sets of {needed} rows cannot be drawn from {n_rows} reference rows")]
    FewNeighbours {
        /// Rows that sets are drawn from: the reference without the test row
        /// and the valued row, if they belong to it.
        n_rows: usize,
        /// Rows of the smallest set.
        needed: usize,
    },

    /// No rows to measure utility on.
    #[error("there are no test rows")]
    NoTestRows,

    /// The number of a test row that is not one of a reference row, or comes twice.
    #[error("test row {row} is not one of the {n_rows} reference rows, or is given twice")]
    NotAReferenceRow {
        /// The number given.
        row: usize,
        /// Reference rows.
        n_rows: usize,
    },

    /// An error about the rows that utility is measured on.
    #[error("in the test rows: {error}")]
    InTest {
        /// The error.
        error: Box<Error>,
    },

    /// Weights for a method that does not support them.
    #[error("the method does not support weights")]
    Weighted,

    /// A bandwidth out of range.
    #[error("the bandwidth must be between 1e-30 and 1e30, got {bandwidth}")]
    BadBandwidth {
        /// The bandwidth.
        bandwidth: f64,
    },

    /// A bandwidth so small that no reference row is near another.
    #[error(
        "with bandwidth {bandwidth} no reference row is near another, so every density is 0; with {enough:.3e} about half of them have a neighbour"
    )]
    NoDensity {
        /// The bandwidth.
        bandwidth: f64,
        /// A bandwidth with which about half of the rows have a neighbour.
        enough: f64,
    },

    /// Fewer reference rows than a method needs, whatever the features.
    #[error("{n_rows} reference rows are too few; at least {needed} are needed")]
    FewRows {
        /// Reference rows.
        n_rows: usize,
        /// Rows needed at least.
        needed: usize,
    },

    /// A set of all reference rows, with none left to value it against.
    #[error("a set contains all {n_rows} reference rows, so none is left to value it against")]
    NobodyLeft {
        /// Reference rows.
        n_rows: usize,
    },

    /// Numbers of reference rows beyond the last one.
    #[error("reference rows {first} to {} do not exist; there are {n_rows}", first.saturating_add(len.saturating_sub(1)))]
    RowRange {
        /// The first of them.
        first: usize,
        /// How many.
        len: usize,
        /// Reference rows.
        n_rows: usize,
    },

    /// Some rows of the reference, where a method values all of them at once.
    #[error("{found} rows were given, but the method values all {n_rows} reference rows at once")]
    PartOfReference {
        /// Rows given.
        found: usize,
        /// Reference rows.
        n_rows: usize,
    },

    /// An option out of range, or options that contradict each other.
    #[error("{what}")]
    BadOption {
        /// What is allowed.
        what: &'static str,
    },

    /// The caller stopped the work.
    #[error("interrupted")]
    Interrupted,
}

/// What is doubtful about a result that was computed all the same.
#[derive(Debug, Clone, PartialEq)]
pub enum Warning {
    /// The average over set sizes has few terms.
    FewSizes {
        /// Number of set sizes.
        n_sizes: usize,
    },
    /// Set sizes without utility have most of the weight of a semivalue.
    WeightBelow {
        /// Their share of the weight.
        share: f64,
    },
    /// The average over set sizes of nearest neighbours has few terms. Each flag says
    /// whether one change alone would give it more.
    FewNeighbourSizes {
        /// Number of set sizes.
        n_sizes: usize,
        /// Whether a smaller `k` does, if `q` is at most `k + 1`.
        smaller_k: bool,
        /// Whether a smaller `q` does.
        smaller_min: bool,
        /// Whether a larger `m` does.
        larger_max: bool,
        /// Whether more reference rows do.
        more_rows: bool,
    },
    /// Features left out because they are linear functions of earlier ones.
    DroppedColumns {
        /// Indices of the features.
        columns: Vec<usize>,
    },
    /// Features so nearly dependent that digits are lost.
    IllConditioned {
        /// The feature with the smallest share of its own variation.
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
    /// Rows without a leave-one-out value, because each alone determines a coefficient.
    LeverageOne {
        /// Number of such rows.
        n_rows: usize,
    },
    /// Rows without a value, because they are too far out for an expansion.
    TooFar {
        /// Number of such rows.
        n_rows: usize,
        /// The smallest set whose utility counts.
        min: usize,
    },
    /// A bound that is infinite, because it says nothing about the smallest sets.
    SilentBound {
        /// The smallest `q` for which it is finite.
        first: usize,
    },
    /// A bound for ridge regression, which leaves out some terms.
    BoundWithRidge,
    /// Inputs so far from Gaussian that values are off by more than their
    /// standard errors.
    NotGaussian {
        /// Difference from calibrated values, as a share of the spread of values.
        share: f64,
        /// Spearman's correlation with calibrated values: 1 if the order of rows is the same.
        ranks: f64,
    },
    /// A reference so small that sets drawn from it resemble it too much.
    SmallReference {
        /// Columns of the design.
        dim: usize,
        /// Reference rows.
        n_rows: usize,
    },
    /// Features left out because they are the same in every reference row and affect
    /// neither density nor distance.
    ConstantColumns {
        /// Indices of the features.
        columns: Vec<usize>,
    },
    /// Cross-validation chose the smallest or the largest bandwidth it tried.
    BandwidthAtEdge {
        /// The bandwidth.
        bandwidth: f64,
    },
    /// Set sizes left out because sets that large cannot be drawn.
    SizesLeftOut {
        /// Number of set sizes.
        n_sizes: usize,
        /// Rows that sets are drawn from.
        n_rows: usize,
    },
    /// A shift of set sizes that makes the smallest sets count as far fewer rows, or far
    /// more.
    Shifted {
        /// `q`, the smallest set whose utility counts.
        min: usize,
        /// `κ`.
        shift: f64,
        /// The number of rows that such a set counts as.
        first: f64,
    },
    /// A ridge too large for a first-order correction.
    RidgeNotSmall {
        /// `γ`.
        ridge: f64,
        /// Its share of the curvature of the smallest sets, in the direction where that is
        /// largest.
        share: f64,
    },
    /// References drawn for standard errors that do not determine the coefficients.
    LostDraws {
        /// Number of such references.
        n_lost: usize,
        /// References drawn.
        n_drawn: usize,
        /// Whether enough are left for standard errors.
        has_errors: bool,
    },
    /// A bound with the coefficients of the paper or its authors' program, which bounds nothing.
    NotABound,
    /// Algorithm 3, or 4 for a bound, stopped before the sum was complete.
    Truncated {
        /// Median number of set sizes visited.
        n_visited: usize,
        /// Number of set sizes in the sum.
        n_sizes: usize,
        /// Median share of the complete sum that was kept.
        share: f64,
        /// The shares that nine rows in ten lie between.
        range: (f64, f64),
    },
    /// A warning about one class against all others.
    InClass {
        /// The class.
        class: usize,
        /// The warning.
        warning: Box<Warning>,
    },
}
