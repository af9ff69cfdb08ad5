//! Errors and warnings of the arithmetic, in words.

mod warnings;

use crate::Speech;
use dshap::{Error, Warning};
use dshap_table::Names;

/// Fewer rows than this are too few for principal components too.
const FEWEST_TO_REDUCE: usize = 40;

/// What is wrong.
pub fn core_error(error: &Error, names: &Names, speech: &dyn Speech) -> String {
    match error {
        Error::FeatureCount { found, expected } => {
            format!("rows have {}, but the reference has {expected}", counted(*found, "column"))
        }
        Error::RowCount { features, targets } => {
            format!("there are {} but {targets} targets or weights", counted(*features, "row"))
        }
        Error::NotFinite { column, .. } => {
            format!("column `{}` holds a value that is not finite", names.column(*column))
        }
        Error::BadWeight { .. } => "a weight is neither 0 nor between 1e-100 and 1e100".into(),
        Error::TooFewEffectiveRows { effective, dim, .. } => format!(
            "the weights leave an effective sample of {effective:.1} rows, too few for {}",
            counted(*dim, "design column")
        ),
        Error::TooManyComponents { wanted, n_features, n_rows } => format!(
            "{} with {} {} fewer than {}",
            counted(*n_rows, "reference row"),
            counted(*n_features, "column"),
            if *n_rows == 1 { "has" } else { "have" },
            counted(*wanted, "principal component")
        ),
        Error::NotAmong { column: Some(column) } => format!(
            "the rows to forget are not part of the reference: column `{}` varies more in them than in the whole \
             reference",
            names.column(*column)
        ),
        Error::NotAmong { column: None } => "the rows to forget would leave no reference".into(),
        Error::TooLarge => "some numbers are too large to square (above about 1e150)".into(),
        Error::TooSmall { column } => format!(
            "column `{}` varies by less than about 1e-150, and the squares of such numbers vanish",
            names.column(*column)
        ),
        Error::NoRows => "no reference row has a positive weight".into(),
        Error::NoFeatures { .. } => "no usable feature is left: none varies in the reference".into(),
        Error::TooFewRows { n_rows, dim, .. } => format!(
            "{} too few for {}",
            agreed(*n_rows, "reference row", "is", "are"),
            counted(*dim, "design column")
        ),
        Error::ConstantTarget { value } => format!("{} is constant ({value})", names.subject()),
        Error::NoNoise => format!(
            "{} is a linear function of the features, up to rounding; values need some noise in it",
            names.subject()
        ),
        Error::Dependent { columns } => dependent(columns, names),
        Error::DependentByWeight { columns } => {
            format!("with the weights of the logistic fit, {}", dependent(columns, names))
        }
        Error::NotBinary { .. } => format!("{} holds a label that is neither 0 nor 1", names.subject()),
        Error::NotAClass { n_classes, .. } => {
            format!("{} holds a label that is not one of the {n_classes} of the reference", names.subject())
        }
        Error::OneClass { label } => format!(
            "every reference row has the label `{}` in {}; classification needs at least two labels",
            names.label(usize::from(*label)),
            names.subject()
        ),
        Error::EmptyClass { class } => format!("no reference row has the label `{}`", names.label(*class)),
        Error::Separated { complete, column, n_apart, .. } => format!(
            "{}, so the coefficients do not converge; column `{}` contributes most",
            if *complete {
                format!("the labels of {} are perfectly separated by the features", names.subject())
            } else {
                format!("{} perfectly separated by the features", agreed(*n_apart, "row", "is", "are"))
            },
            names.column(*column)
        ),
        Error::ClassesSeparated { column } => format!(
            "some labels of {} are perfectly separated by the features, so the coefficients do not converge; column \
             `{}` contributes most",
            names.subject(),
            names.column(*column)
        ),
        Error::InClass { class, error } => {
            format!(
                "label `{}` against the others: {}",
                names.label(*class),
                core_error(error, names, speech)
            )
        }
        Error::NotConverged { n_passes } => {
            format!("the logistic fit did not converge in {}", several(*n_passes, "pass", "passes"))
        }
        Error::TooLargeSize { max } => format!("m = {max} is too large: the limit is 1e15"),
        Error::SilentBound { first, max } => {
            format!("the bound is infinite for sets of fewer than {first} rows, and m = {max}")
        }
        Error::Sizes { min, max, least, dim } => format!(
            "set sizes q = {min}, m = {max} are impossible for {}: {least} ≤ q ≤ m is needed",
            counted(*dim, "design column")
        ),
        Error::ShiftedSizes { min, max, least, shift } => format!(
            "a shift of κ = {shift:.1} rows leaves nothing of sets of q = {min} rows: {least} ≤ q ≤ m is needed, and \
             m = {max}"
        ),
        Error::OtherSizes { min, max } => {
            format!(
                "the moments were summed for set sizes with {min} ≤ q and m ≤ {max}, and do not fit others"
            )
        }
        Error::SetsTooLarge { max, most } => format!(
            "m = {max} is too large: sets are drawn from the reference without replacement, so m is at most {most}"
        ),
        Error::SingularSets { size } => {
            format!("sets of {} almost never determine the coefficients", counted(*size, "reference row"))
        }
        Error::NeighbourSizes { k, min, max } => format!(
            "no set size is left: q ≤ m and k + 1 ≤ m are needed, but k = {k}, q = {min} and m = {max}"
        ),
        Error::FewNeighbours { n_rows, needed } => format!(
            "sets of {} cannot be drawn from {}",
            counted(*needed, "row"),
            counted(*n_rows, "reference row")
        ),
        Error::NoTestRows => "there are no test rows".into(),
        Error::NotAReferenceRow { row, n_rows } => format!(
            "test row {row} is not one of the {}, or is given twice",
            counted(*n_rows, "reference row")
        ),
        Error::InTest { error } => format!("in the test rows: {}", core_error(error, names, speech)),
        Error::Weighted => "this method does not support weights".into(),
        Error::BadBandwidth { bandwidth } => {
            format!("{} must be between 1e-30 and 1e30, but is {bandwidth}", speech.option("bandwidth"))
        }
        Error::NoDensity { bandwidth, .. } => {
            format!("with bandwidth {bandwidth} no reference row is near another, so every density is 0")
        }
        Error::FewRows { n_rows, needed } => {
            format!("{} too few: at least {needed} are needed", agreed(*n_rows, "reference row", "is", "are"))
        }
        Error::NobodyLeft { n_rows } => format!(
            "a set contains all {}, so none is left to value it against",
            counted(*n_rows, "reference row")
        ),
        Error::PartOfReference { found, n_rows } => format!(
            "{} given, but this method values all {n_rows} reference rows at once",
            agreed(*found, "row", "was", "were")
        ),
        // Contradictions in files, and options that core checks itself, come as sentences.
        other => other.to_string(),
    }
}

/// What to do about it.
pub fn core_hint(error: &Error, names: &Names, speech: &dyn Speech) -> Option<String> {
    let option = |name: &str| speech.option(name);
    let repeated = |column: Option<usize>| {
        let leave_out = match column {
            Some(column) => speech.leave_out(&names.column(column)),
            None => speech.leave_columns_out(),
        };
        format!("if a feature repeats the target, {leave_out}")
    };
    Some(match error {
        Error::BadWeight { .. } | Error::NoRows => format!("check {}", option("weight")),
        Error::TooFewEffectiveRows { needed, .. } => {
            format!("at least {needed} are needed; a few rows have nearly all the weight")
        }
        Error::TooManyComponents { n_features, n_rows, .. } => {
            match n_features.min(&n_rows.saturating_sub(1)) {
                0 => "give more rows and columns".into(),
                1 => format!("{} is the only possible number here", speech.set("pca", "1")),
                most => format!("set {} to a number between 1 and {most}", option("pca")),
            }
        }
        Error::NotAmong { .. } => {
            "only rows that were fitted or added can be forgotten, and not all of them".into()
        }
        Error::TooLarge => "rescale their columns".into(),
        Error::TooSmall { .. } => "write the column in a smaller unit, so that its numbers are larger".into(),
        Error::NoFeatures { .. } => speech.check_features(),
        Error::TooFewRows { needed, n_rows, dim } if dim >= n_rows && *n_rows >= FEWEST_TO_REDUCE => {
            let components = (n_rows / 4).min(32).to_string();
            format!(
                "give at least {needed} rows, reduce the columns with {}, or use {}, which needs no more rows than \
                 columns",
                speech.set("pca", &components),
                speech.method("knn")
            )
        }
        Error::TooFewRows { needed, .. } => {
            format!("give at least {needed} rows, or use {}", speech.fewer_columns())
        }
        Error::ConstantTarget { .. } => speech.other_target(),
        Error::NoNoise => repeated(None),
        Error::Dependent { columns } => {
            let refused = speech.set("dependent", "error");
            match columns.as_slice() {
                [column] => {
                    format!(
                        "{}, or leave out {refused}: dshap then drops the column",
                        speech.leave_out(&names.column(*column))
                    )
                }
                _ => {
                    format!(
                        "{}, or leave out {refused}: dshap then drops such columns",
                        speech.leave_columns_out()
                    )
                }
            }
        }
        Error::DependentByWeight { columns } => match columns.as_slice() {
            [column] => speech.leave_out(&names.column(*column)),
            _ => speech.leave_columns_out(),
        },
        Error::OneClass { .. } => format!("add rows with another label, or {}", speech.other_target()),
        Error::EmptyClass { class } => format!("add rows with the label `{}`", names.label(*class)),
        Error::Separated { column, .. } | Error::ClassesSeparated { column } => format!(
            "{} keeps the coefficients finite; {}",
            speech.set("ridge", "auto"),
            repeated(Some(*column))
        ),
        Error::NotConverged { .. } => format!(
            "use {}, or a larger one; columns of very different sizes are hard to fit",
            option("ridge")
        ),
        Error::InClass { error, .. } | Error::InTest { error } => core_hint(error, names, speech)?,
        Error::TooLargeSize { .. } => format!("use a smaller {}", option("m")),
        Error::SilentBound { first, .. } if names.is_classification() => {
            format!("set {} to at least {first}, or use {}", option("m"), speech.fewer_columns())
        }
        Error::SilentBound { first, .. } => format!(
            "give at least {first} reference rows or set {} to at least {first}, give {} together with {}, or use {}",
            option("m"),
            option("ridge"),
            option("q"),
            speech.fewer_columns()
        ),
        Error::Sizes { max, least, .. } if max < least => {
            format!("set {} to at least {least}; without it, m is the number of reference rows", option("m"))
        }
        Error::ShiftedSizes { max, least, .. } if max < least => {
            format!("use a smaller {}, or leave it out: κ is then p + 1", option("shift"))
        }
        Error::Sizes { max, least, .. } | Error::ShiftedSizes { max, least, .. } => {
            format!("set {} between {least} and {max}, or leave it out", option("q"))
        }
        Error::OtherSizes { min, max } => format!(
            "set {} to at least {min} and {} to at most {max}, or fit again for other sizes",
            option("q"),
            option("m")
        ),
        Error::SetsTooLarge { most, .. } => format!("set {} to at most {most}", option("m")),
        // In classification a ridge belongs to the fit, not to the sets.
        Error::SingularSets { .. } if names.is_classification() => {
            format!("use a larger {}, or leave out rare categories", option("q"))
        }
        Error::SingularSets { .. } => {
            format!("use {}, a larger {}, or leave out rare categories", option("ridge"), option("q"))
        }
        Error::NeighbourSizes { k, min, max } if max <= k => {
            let larger = format!("set {} to at least {}", option("m"), k.saturating_add(1).max(*min));
            // One neighbour is the fewest.
            if *k > 1 { format!("{larger}, or use a smaller {}", option("k")) } else { larger }
        }
        Error::NeighbourSizes { max, .. } => {
            format!("set {} to at most {max}, or use a larger {}", option("q"), option("m"))
        }
        Error::FewNeighbours { .. } => {
            format!("give more reference rows, or use a smaller {} or {}", option("k"), option("q"))
        }
        Error::Weighted => {
            format!("leave out {}, or use {}", option("weight"), speech.set("method", "calibrated"))
        }
        Error::NoDensity { enough, .. } => format!(
            "with {} about half of the rows have another near them",
            speech.set("bandwidth", &format!("{enough:.3e}"))
        ),
        Error::NobodyLeft { .. } => speech.separate_reference(),
        Error::FewRows { needed: 2, .. } if names.target.is_none() => {
            "give more rows: each is valued against the others, and their spread is the scale".into()
        }
        Error::FewRows { .. } if names.target.is_none() => format!(
            "cross-validation needs a row in each of its folds; {} or a number needs none",
            speech.set("bandwidth", "scott")
        ),
        Error::FewRows { .. } => "give more rows".into(),
        _ => return None,
    })
}

/// What is doubtful about a result that was computed all the same, and what helps.
pub fn core_warning(warning: &Warning, names: &Names, speech: &dyn Speech) -> String {
    if let Warning::InClass { class, warning } = warning {
        let warning = core_warning(warning, names, speech);
        return format!("label `{}` against the others: {warning}", names.label(*class));
    }
    let name = |column| format!("`{}`", names.column(column));
    let fact = warnings::fact(warning, &name, &|class| names.label(class));
    match core_advice(warning, speech) {
        Some(advice) => format!("{fact}; {advice}"),
        None => fact,
    }
}

/// What helps.
fn core_advice(warning: &Warning, speech: &dyn Speech) -> Option<String> {
    let option = |name: &str| speech.option(name);
    Some(match warning {
        Warning::FewSizes { .. } => {
            format!("give more rows, a larger {} or a smaller {}", option("m"), option("q"))
        }
        Warning::WeightBelow { .. } => {
            format!("give a semivalue that favours larger sets, or a smaller {}", option("q"))
        }
        Warning::FewNeighbourSizes { smaller_k, smaller_min, larger_max, more_rows, .. } => {
            let helps = [
                (*more_rows, "more rows".to_string()),
                (*larger_max, format!("a larger {}", option("m"))),
                // Sets hold all rows there are, and `m` allows no more.
                (!more_rows && !larger_max, format!("more rows with a larger {}", option("m"))),
                (*smaller_min, format!("a smaller {}", option("q"))),
                (*smaller_k, format!("a smaller {}", option("k"))),
            ];
            let helps: Vec<String> =
                helps.into_iter().filter(|(does, _)| *does).map(|(_, what)| what).collect();
            format!("give {}", helps.join(" or "))
        }
        Warning::TooFar { .. } => {
            format!("look for mistyped cells, or use a larger {} or {}", option("q"), option("ridge"))
        }
        Warning::SilentBound { first } => {
            format!("{} makes it finite", speech.set("q", &first.to_string()))
        }
        Warning::NotGaussian { .. } => {
            format!("{} allows for inputs of any distribution", speech.set("method", "calibrated"))
        }
        Warning::SmallReference { .. } => {
            format!("more reference rows help, a smaller {} does not", option("m"))
        }
        Warning::BandwidthAtEdge { bandwidth } => {
            let cause = if *bandwidth < 1.0 { "repeated rows" } else { "columns that are not scaled" };
            format!("the cause may be {cause}, and {} sets another", option("bandwidth"))
        }
        Warning::Shifted { min, first, .. } if *first < *min as f64 => {
            format!("a larger {} leaves them out", option("q"))
        }
        Warning::RidgeNotSmall { ridge, .. } => {
            format!("use {} instead, or a larger {}", speech.set("ridge", &ridge.to_string()), option("q"))
        }
        Warning::Truncated { .. } => format!("{} is exact", speech.set("method", "gaussian")),
        Warning::NotABound => format!("{} bounds values", speech.set("convention", "definition")),
        _ => return None,
    })
}

fn dependent(columns: &[usize], names: &Names) -> String {
    match columns {
        [column] => {
            format!("`{}` is constant or a linear function of columns before it", names.column(*column))
        }
        _ => format!(
            "{} columns are constant or linear functions of columns before them: {}",
            columns.len(),
            names.listed(columns)
        ),
    }
}

/// A number of things: "1 row", "2 rows".
fn counted(n: usize, thing: &str) -> String {
    several(n, thing, &format!("{thing}s"))
}

fn several(n: usize, one: &str, many: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {many}") }
}

/// The same with a verb: "1 row is", "2 rows are".
fn agreed(n: usize, thing: &str, one: &str, many: &str) -> String {
    format!("{} {}", counted(n, thing), if n == 1 { one } else { many })
}

#[cfg(test)]
mod tests;
