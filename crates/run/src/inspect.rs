//! `inspect`: what a valuer holds.

use crate::Error;
use crate::general::Held;
use crate::saved::{SavedValuer, Step};
use crate::summary::Facts;
use crate::warnings;
use dshap_table::{Encoding, Missing, Unseen};
use serde::Serialize;
use std::path::Path;

/// What a valuer holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Inspection {
    /// The file.
    pub file: String,
    /// Its length.
    pub bytes: u64,
    /// Version of its format.
    pub format_version: u32,
    /// The dshap that wrote it.
    pub written_by: String,
    /// The reference and the method.
    #[serde(flatten)]
    pub facts: Facts,
    /// The fitted target where all features are 0, if there is an intercept.
    pub intercept_value: Option<f64>,
    /// Missing cells of points.
    pub missing: Missing,
    /// Unknown levels of points.
    pub unseen: Unseen,
    /// The columns of the design, dropped ones included.
    pub columns: Vec<ColumnFacts>,
    /// The levels of text features.
    pub levels: Vec<(String, Vec<String>)>,
    /// Reference rows that the valuer carries.
    pub rows_held: usize,
    /// Decimal digits left in the moments of the column that lost most.
    pub digits: f64,
    /// Where the reference rows came from.
    pub history: Vec<Step>,
    /// Everything doubtful.
    pub warnings: Vec<String>,
}

/// A column of the design.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnFacts {
    /// Its name, such as `age` or `city=Rome`.
    pub name: String,
    /// Its mean over the reference.
    pub mean: f64,
    /// Its standard deviation over the reference.
    pub std_dev: f64,
    /// Its coefficient; absent for a column that was dropped.
    pub coefficient: Option<f64>,
    /// What stands for a missing cell, if something does.
    pub fill: Option<f64>,
}

/// Reads a valuer and tells what it holds.
///
/// # Errors
///
/// As [`SavedValuer::load`].
pub fn inspect(path: &Path) -> Result<Inspection, Error> {
    let valuer = SavedValuer::load(path)?;
    let bytes = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    let SavedValuer { design, moments, fit, .. } = &valuer;
    let fills = design.parts().encodings.iter().flat_map(|encoding| match encoding {
        Encoding::Number { fill } => vec![*fill],
        Encoding::OneHot { levels, fill } => {
            (1..levels.len()).map(|level| fill.as_ref().map(|fill| fill[level - 1])).collect()
        }
    });
    let column = |(column, fill): (usize, Option<f64>)| ColumnFacts {
        name: design.column_name(column).into(),
        mean: moments.mean(column),
        std_dev: (moments.centred(column, column) / moments.weight()).sqrt(),
        coefficient: fit.kept().binary_search(&column).ok().map(|k| fit.coef()[k]),
        fill,
    };
    let levels =
        design.features().zip(&design.parts().encodings).filter_map(|(name, encoding)| match encoding {
            Encoding::OneHot { levels, .. } => Some((name.to_string(), levels.clone())),
            Encoding::Number { .. } => None,
        });
    Ok(Inspection {
        file: path.display().to_string(),
        bytes,
        format_version: valuer.format_version,
        written_by: valuer.written_by.clone(),
        facts: Facts::of(&valuer, valuer.method, valuer.choice)?,
        intercept_value: fit.intercept_value(),
        missing: design.parts().missing,
        unseen: design.parts().unseen,
        columns: fills.enumerate().map(column).collect(),
        levels: levels.collect(),
        rows_held: valuer.rows.as_ref().map_or(0, Held::n_rows),
        digits: moments.digits(),
        history: valuer.history.clone(),
        warnings: warnings::in_words(&valuer.doubts()?, design),
    })
}
