//! What the engine says about files and flags, in words about arrays, frames
//! and parameters.

use crate::error::About;
use dshap_io::{Location, Place};
use dshap_run::Error;
use dshap_table::Kind;

/// What is wrong. Cells of `y` and `sample_weight` are called so, whatever the
/// engine calls their columns.
pub(crate) fn message(error: &Error, about: About<'_>) -> String {
    match cell_at_fault(error) {
        Some((row, column, what)) if about.target == Some(column) => format!("`y` row {row} {what}"),
        Some((row, column, what)) if about.weight == Some(column) => {
            format!("`sample_weight` row {row} {what}")
        }
        _ => in_python(&error.to_string()),
    }
}

/// Row, column and what is wrong with the cell.
fn cell_at_fault(error: &Error) -> Option<(u64, &str, String)> {
    use dshap_io::Error as Io;
    use dshap_table::Error as Table;
    let row = |at: &Location| match at.place {
        Place::Row(row) | Place::Line(row) => row,
    };
    match error {
        Error::Table { location: Some(at), error } => {
            let (name, what) = match error {
                Table::Missing { name, .. } => (name, "is missing".into()),
                Table::NotFinite { name, .. } => (name, "is not a finite number".into()),
                Table::UnknownLabel { unknown, .. } => {
                    let labels = unknown.labels.iter().map(|label| format!("`{label}`")).collect::<Vec<_>>();
                    let what = format!(
                        "is `{}`, none of the labels of the reference: {}",
                        unknown.label,
                        labels.join(", ")
                    );
                    (&unknown.name, what)
                }
                Table::BadWeight { name, weight, .. } => {
                    (name, format!("is {weight:?}; weights are 0 or from 1e-100 to 1e100"))
                }
                _ => return None,
            };
            Some((row(at), name, what))
        }
        Error::Io(Io::NotFinite { at, column, text }) => {
            Some((row(at), column, format!("is `{text}`, which is not finite")))
        }
        Error::Io(Io::NotANumber { at, column, text }) => {
            Some((row(at), column, format!("is `{text}`, which is not a number")))
        }
        _ => None,
    }
}

/// What to try instead.
pub(crate) fn hint(error: &Error) -> Option<String> {
    use dshap_io::Error as Io;
    use dshap_table::Error as Table;
    use std::io::ErrorKind;
    match error {
        Error::Io(Io::Read { reason, .. } | Io::Write { reason, .. })
        | Error::Container(dshap_io::ContainerError::Read { reason, .. }) => match reason.kind() {
            ErrorKind::NotFound => Some("check the name, and the working directory, `os.getcwd()`".into()),
            ErrorKind::IsADirectory => Some("give the name of a file in it".into()),
            ErrorKind::PermissionDenied => Some("check who may read and write there".into()),
            _ => None,
        },
        Error::Io(Io::NoFolder { folder, .. }) => Some(format!("make it with `os.makedirs({folder:?})`")),
        Error::Io(Io::NoRows { .. }) => None,
        Error::Io(Io::DuplicateColumn { .. }) => Some("give each column a name of its own".into()),
        Error::Io(Io::NotFinite { .. }) => Some("put NaN where a value is unknown; see `missing`".into()),
        Error::Io(Io::NotANumber { column, .. }) => Some(format!(
            "`{column}` was fitted as numbers; give numbers, and NaN or None where a value is unknown"
        )),
        Error::Io(Io::WrongKind { .. }) => Some(
            "leave it out of X, or give it as text or numbers, as it was when the reference was fitted"
                .into(),
        ),
        Error::NumbersAsText { name, .. } => Some(format!(
            "give numbers, such as `X[{name:?}].astype(float)`, or `categorical=[{name:?}]` if the column holds categories"
        )),
        Error::MixedColumn { name, .. } => Some(format!(
            "correct the cell, make it None if it is missing, or say `categorical=[{name:?}]` if the column holds categories"
        )),
        Error::Table { error: Table::TooManyLevels { .. } | Table::AllMissing { .. }, .. } => {
            Some("leave it out of X".into())
        }
        Error::Table { error: Table::UnusableKind { kind, .. }, .. } => Some(match kind {
            Kind::Date => "leave it out of X, or give numbers, such as days since a fixed date".into(),
            Kind::Duration => "leave it out of X, or give numbers, such as hours".into(),
            _ => "leave it out of X".into(),
        }),
        Error::FixedReference { what } if what == "principal components" => {
            Some("fit the whole reference anew, or leave `pca` out".into())
        }
        Error::FixedReference { .. } => {
            Some("fit the whole reference anew, or use `method='gaussian'`".into())
        }
        Error::OtherColumns { suggestion: None, .. } => None,
        Error::CannotMerge { .. } => Some("fit the parts with the same columns and parameters".into()),
        other => other.hint().map(|hint| in_python(&hint)),
    }
}

/// Says in parameters of Python what the engine says in flags.
pub(crate) fn in_python(text: &str) -> String {
    let mut said = text.to_owned();
    for (flags, words) in PHRASES {
        said = said.replace(flags, words);
    }
    let mut out = String::with_capacity(said.len());
    let mut rest = said.as_str();
    while let Some(start) = rest.find("`--") {
        let (before, flag) = rest.split_at(start);
        out += before;
        let Some(end) = flag[3..].find('`') else { break };
        out += &parameter(&flag[3..3 + end]);
        rest = &flag[3 + end + 1..];
    }
    out + rest
}

/// `missing drop` as `` `missing='drop'` ``, `ridge 1` as `` `ridge=1` ``.
fn parameter(flag: &str) -> String {
    let (name, word) = match flag.split_once(' ') {
        Some((name, word)) => (name, Some(word)),
        None => (flag, None),
    };
    let keyword = name.replace('-', "_");
    match (name, word) {
        ("categorical", Some(column)) => format!("`categorical=['{column}']`"),
        ("weight", _) => "`sample_weight`".into(),
        ("target", _) => "`y`".into(),
        ("no-intercept", _) => "`intercept=False`".into(),
        (_, None) => format!("`{keyword}`"),
        (_, Some(word)) if word.parse::<f64>().is_ok() => format!("`{keyword}={word}`"),
        (_, Some(word)) => format!("`{keyword}='{word}'`"),
    }
}

/// Where a flag has no counterpart.
const PHRASES: &[(&str, &str)] = &[
    (", or fewer columns: `--features`, `--exclude`", ", or fewer columns"),
    ("check `--features` and `--exclude`", "check the columns of X"),
    ("leave them out with `--exclude`", "leave them out of X"),
    ("`--exclude` leaves a column out", "leave it out of X"),
    ("numbers are for `--task regression`; or name another `--target`", "numbers are for `RegressionValuer`"),
    ("text is for `--task classification`; or name", "text is for `ClassificationValuer`; or name"),
    ("name another `--target`", "give another y"),
    ("`--samples N` says how many", "`samples` says how many"),
    (", `d-shapley`, `tmc-shapley` and `--task density` only", " and `DensityValuer` only"),
    (
        "Leave `--reference` out to value rows against each other, or say",
        "`value_training` values the rows that were fitted; or say",
    ),
    ("; `--exclude` leaves a feature out", ""),
    ("`--method tmc-shapley` estimates", "`tmc_shapley` estimates"),
    ("`--stderr` shows how far off they may be", "`values.stderr` shows how far off they may be"),
    ("`--test FILE` gives rows for that", "`test=(X_test, y_test)` gives rows for that"),
    ("`--test FILE` takes other rows", "`fit(X, y, test=(X_test, y_test))` takes other rows"),
    ("with `--test` all rows of that file are", "with `test` all of its rows are"),
    ("; or give a `--reference`", "; or give `value` other rows"),
    ("name a column of numbers with `--target`", "give numbers as y"),
    ("`--task regression` takes the two values as numbers", "give numbers as y"),
    (
        ", or leave out `--dependent error` to have them dropped",
        ", or have them dropped with `--dependent drop`",
    ),
];
