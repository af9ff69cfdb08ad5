//! `inspect`: what a valuer holds.

use dshap::Moments;
use dshap_models::linear::LinearModel;
use dshap_models::{Error, Facts, FittedValuer, OwnerMoments, Step, Warning};
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
    /// The fitted target where all features are 0, if there is an intercept; in
    /// classification the log-odds of the positive label.
    pub intercept_value: Option<f64>,
    /// Missing cells of points.
    pub missing: Missing,
    /// Unknown levels of points.
    pub unseen: Unseen,
    /// The columns of the design, dropped ones included.
    pub columns: Vec<ColumnFacts>,
    /// The levels of text features.
    pub levels: Vec<(String, Vec<String>)>,
    /// Levels that fewer reference rows have were pooled, if rare ones were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rare_levels: Option<usize>,
    /// The level that rare ones were pooled into, by feature.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pooled: Vec<(String, String)>,
    /// The owners whose moments it keeps, if it keeps any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owners: Option<OwnersHeld>,
    /// Reference rows that the valuer carries.
    pub rows_held: usize,
    /// Decimal digits left in the moments of the column that lost most, where
    /// there are moments.
    pub digits: Option<f64>,
    /// Where the reference rows came from.
    pub history: Vec<Step>,
    /// What is doubtful; front ends make the sentences.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

/// The owners whose moments a valuer keeps.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OwnersHeld {
    /// The column that names them.
    pub by: String,
    /// Their names, and how many rows each has.
    pub rows: Vec<(String, usize)>,
    /// Bytes of their moments.
    pub bytes: u64,
}

impl OwnersHeld {
    fn of(owners: &OwnerMoments) -> Self {
        let rows = owners.owners.iter().map(|(name, moments)| (name.clone(), moments.n_rows())).collect();
        let of_one = |moments: &Moments| {
            // A triangle of products and a mean for each column and the target.
            let k = moments.n_features() as u64 + 1;
            8 * (k * (k + 1) / 2 + k)
        };
        Self { by: owners.by.clone(), rows, bytes: owners.owners.values().map(of_one).sum() }
    }
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
    /// Its coefficient; absent for a column that was dropped, and where each
    /// class has its own.
    pub coefficient: Option<f64>,
    /// Whether it was left out of the fit.
    #[serde(skip)]
    pub dropped: bool,
    /// What stands for a missing cell, if something does.
    pub fill: Option<f64>,
}

/// Reads a valuer and reports what it holds.
///
/// # Errors
///
/// As [`FittedValuer::load`].
pub fn inspect(path: &Path) -> Result<Inspection, Error> {
    let valuer = FittedValuer::load(path)?;
    let bytes = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    let FittedValuer { design, model, .. } = &valuer;
    let fills = design.parts().encodings.iter().flat_map(|encoding| match encoding {
        Encoding::Number { fill } => vec![*fill],
        Encoding::Date { fill: Some(fill), .. } => fill.iter().copied().map(Some).collect(),
        Encoding::Date { form, has_hour, fill: None } => vec![None; form.n_columns(*has_hour)],
        Encoding::OneHot { levels, fill } => {
            let first = design.parts().first_level();
            (first..levels.len()).map(|level| fill.as_ref().map(|fill| fill[level - first])).collect()
        }
    });
    let fills: Vec<Option<f64>> = match design.projection() {
        None => fills.collect(),
        // A cell is filled before it becomes part of a component.
        Some(_) => vec![None; design.n_columns()],
    };
    let dropped = model.dropped();
    let column = |(column, fill): (usize, Option<f64>)| ColumnFacts {
        name: design.column_name(column).into(),
        // Components are about the mean; what is left of it is rounding.
        mean: if design.projection().is_some() { 0.0 } else { model.mean(column) },
        std_dev: model.std_dev(column),
        coefficient: model.coefficient(column),
        dropped: dropped.contains(&column),
        fill,
    };
    let levels =
        design.features().zip(&design.parts().encodings).filter_map(|(name, encoding)| match encoding {
            Encoding::OneHot { levels, .. } => Some((name.to_string(), levels.clone())),
            Encoding::Number { .. } | Encoding::Date { .. } => None,
        });
    Ok(Inspection {
        file: path.display().to_string(),
        bytes,
        format_version: valuer.format_version,
        written_by: valuer.written_by.clone(),
        facts: valuer.facts()?,
        intercept_value: model.intercept_value(),
        missing: design.parts().missing,
        unseen: design.parts().unseen,
        columns: fills.into_iter().enumerate().map(column).collect(),
        levels: levels.collect(),
        rare_levels: design.parts().rare_levels,
        pooled: design.pooled_features().map(|(name, pool)| (name.into(), pool.level.clone())).collect(),
        owners: valuer.owners.as_ref().map(OwnersHeld::of),
        rows_held: model.n_rows_held(),
        digits: model.of::<LinearModel>().map(|model| model.moments.digits()),
        history: valuer.history.clone(),
        warnings: valuer.warnings()?,
    })
}
