//! What is doubtful about a result of the arithmetic, without advice.

use dshap::Warning;

/// From this rank correlation on, two sets of values order rows nearly alike.
const SAME_ORDER: f64 = 0.98;

/// The fact, with columns called by `name` and classes by `label`.
pub(super) fn fact(
    warning: &Warning,
    name: &dyn Fn(usize) -> String,
    label: &dyn Fn(usize) -> String,
) -> String {
    let list = |columns: &[usize]| columns.iter().map(|&column| name(column)).collect::<Vec<_>>().join(", ");
    let plural = |n: usize, one: &'static str, many: &'static str| if n == 1 { one } else { many };
    match warning {
        Warning::FewSizes { n_sizes } | Warning::FewNeighbourSizes { n_sizes, .. } => {
            format!("values average over only {n_sizes} set {}", plural(*n_sizes, "size", "sizes"))
        }
        Warning::WeightBelow { share } => format!(
            "sets of fewer than q − 1 rows have {:.0} % of the weight of this semivalue; their gain counts as 0",
            100.0 * share
        ),
        Warning::Shifted { min, shift, first } if *first < *min as f64 => format!(
            "with a shift of {shift:.1} rows, the smallest sets (q = {min}) count as {first:.1} rows and dominate \
             the values"
        ),
        Warning::Shifted { min, shift, first } => format!(
            "with a shift of {shift:.1} rows, the smallest sets (q = {min}) count as {first:.1} rows, so values \
             are those of much larger sets"
        ),
        Warning::RidgeNotSmall { ridge, share } => format!(
            "a small ridge of {ridge} is {:.0} % of the curvature of the smallest sets in some direction, too \
             much for a first-order correction",
            100.0 * share
        ),
        Warning::LostDraws { n_lost, n_drawn, has_errors } => format!(
            "{n_lost} of {n_drawn} references drawn for standard errors do not determine the coefficients{}",
            if *has_errors { " and were left out" } else { "; standard errors are left empty" }
        ),
        Warning::DroppedColumns { columns } if columns.len() == 1 => format!(
            "{} was dropped: it is constant or a linear function of columns before it",
            list(columns)
        ),
        Warning::DroppedColumns { columns } => format!(
            "{} columns were dropped, which are constant or linear functions of columns before them: {}",
            columns.len(),
            list(columns)
        ),
        Warning::IllConditioned { column, digits } => format!(
            "{} is nearly a linear function of other columns: about {digits} {} of the values can be trusted",
            name(*column),
            plural(*digits as usize, "digit", "digits")
        ),
        Warning::LittleNoise { digits } => format!(
            "the features explain the target almost exactly: about {digits} {} of the values can be trusted",
            plural(*digits as usize, "digit", "digits")
        ),
        Warning::LeverageOne { n_rows } => format!(
            "{n_rows} {} no value: {} alone determines a coefficient, up to rounding (leverage 1)",
            plural(*n_rows, "row has", "rows have"),
            plural(*n_rows, "it", "each of them"),
        ),
        Warning::TooFar { n_rows, min } => format!(
            "{n_rows} {} no value: in a set of {min} rows {} would move its own log-odds by more than {:.0}, too \
             far for a second-order expansion",
            plural(*n_rows, "row has", "rows have"),
            plural(*n_rows, "it", "each of them"),
            dshap::second_order::LARGEST_MOVE
        ),
        Warning::SilentBound { first } => {
            format!(
                "the bound is infinite, because it says nothing about sets this small (q below {first})"
            )
        }
        Warning::NotGaussian { share, ranks } if *ranks < SAME_ORDER => format!(
            "the inputs are not Gaussian: calibrated values order rows differently (rank correlation {ranks:.3}) and \
             differ by {:.0} % of the spread of values, more than their standard errors",
            100.0 * share
        ),
        Warning::NotGaussian { share, ranks } => format!(
            "the inputs are not Gaussian: use these values to order rows (rank correlation {ranks:.3} with calibrated \
             values), but not as amounts, which differ by {:.0} % of the spread of values",
            100.0 * share
        ),
        Warning::BoundWithRidge => {
            "with a ridge, the bound covers only the main term, not what the ridge itself changes".into()
        }
        Warning::SmallReference { dim, n_rows } => format!(
            "values are too close to zero, by about {:.0} % or more (more if inputs have heavy tails): sets are \
             drawn from only {n_rows} rows for {dim} {}",
            300.0 * *dim as f64 / *n_rows as f64,
            plural(*dim, "column", "columns")
        ),
        Warning::ConstantColumns { columns } => format!(
            "{} {} the same in every reference row and {} left out",
            list(columns),
            plural(columns.len(), "is", "are"),
            plural(columns.len(), "was", "were"),
        ),
        Warning::BandwidthAtEdge { bandwidth } => format!(
            "cross-validation chose bandwidth {bandwidth}, the {} it tries",
            if *bandwidth < 1.0 { "smallest" } else { "largest" }
        ),
        Warning::SizesLeftOut { n_sizes, n_rows } => format!(
            "{n_sizes} set {} left out of the average: sets are drawn without replacement from {n_rows} {}",
            plural(*n_sizes, "size was", "sizes were"),
            plural(*n_rows, "row", "rows")
        ),
        Warning::NotABound => {
            "the coefficients of this bound are those of the paper, and they bound nothing: values lie on either \
             side of it"
                .into()
        }
        Warning::Truncated { n_visited, n_sizes, share, range } => format!(
            "the algorithm stopped after {n_visited} of {n_sizes} set sizes (median over rows) and kept {:.0} % of \
             the sum ({:.0} to {:.0} % for nine rows in ten)",
            100.0 * share,
            100.0 * range.0,
            100.0 * range.1
        ),
        Warning::InClass { class, warning } => {
            format!("label `{}` against the others: {}", label(*class), fact(warning, name, label))
        }
    }
}
