//! What makes a row unusual, feature by feature.

use super::Encoded;
use crate::value::Job;
use dshap_models::{Cell, Deviations, DistanceFacts, DistanceKind, Error, FeatureFacts, Model};
use dshap_table::{DatesAs, Design, Encoding, date_text};

/// How far a row is from others, and why.
pub(super) struct Unusual {
    pub(super) distance: Option<DistanceFacts>,
    pub(super) features: Vec<FeatureFacts>,
}

impl Unusual {
    /// `dist_sq` is the distance in the output, which is that from the other rows if the row
    /// is one of the reference.
    pub(super) fn of(job: &Job<'_>, row: &Encoded, dist_sq: Option<f64>) -> Result<Self, Error> {
        let (design, model) = (&job.prepared.design, job.prepared.valuer.model.as_ref());
        let found = row.with(job, |rows| model.deviations(rows))?;
        let deviations = found.unwrap_or_else(|| standard_scores(model, &row.x));
        let squared = dist_sq.unwrap_or(deviations.dist_sq);
        // Leaving the row out stretches all contributions alike.
        let stretch = if deviations.dist_sq > 0.0 { squared / deviations.dist_sq } else { 1.0 };
        let contributions: Vec<f64> =
            contributions(design, row, &deviations).into_iter().map(|each| stretch * each).collect();
        let mut features = of_features(design, model, row, &contributions);
        features.retain(|feature| feature.contribution != 0.0);
        features.sort_by(|a, b| b.contribution.abs().total_cmp(&a.contribution.abs()));
        let Deviations { average, kind, .. } = deviations;
        Ok(Self { distance: Some(DistanceFacts { squared, average, kind }), features })
    }
}

/// Squared standard scores, for families without a distance from the mean.
fn standard_scores(model: &dyn Model, x: &[f64]) -> Deviations {
    let of_column = |(column, &cell): (usize, &f64)| {
        let (deviation, spread) = (cell - model.mean(column), model.std_dev(column));
        // A column that does not vary says nothing.
        (deviation, if spread > 0.0 { deviation / (spread * spread) } else { 0.0 })
    };
    let of_columns: Vec<(f64, f64)> = x.iter().enumerate().map(of_column).collect();
    let varies = (0..x.len()).filter(|&column| model.std_dev(column) > 0.0).count();
    Deviations {
        dist_sq: of_columns.iter().map(|(deviation, pull)| deviation * pull).sum(),
        of_columns,
        average: varies as f64,
        kind: DistanceKind::StandardScores,
    }
}

/// What each encoded column contributes. Components hand their pull back to the columns that
/// they are made of.
fn contributions(design: &Design, row: &Encoded, deviations: &Deviations) -> Vec<f64> {
    let of_columns = &deviations.of_columns;
    let Some(projection) = design.projection() else {
        return of_columns.iter().map(|(deviation, pull)| deviation * pull).collect();
    };
    let back = |of: &dyn Fn(usize) -> f64, j: usize| -> f64 {
        projection.axes.iter().enumerate().map(|(k, axis)| axis[j] * of(k)).sum()
    };
    (0..row.plain.len())
        .map(|j| {
            // Where the centre lies along the components.
            let centre = back(&|k| row.x[k] - of_columns[k].0, j);
            let deviation = row.plain[j] - projection.mean[j] - centre;
            deviation * back(&|k| of_columns[k].1, j)
        })
        .collect()
}

/// Contributions of features as given, and what the row has there.
fn of_features(
    design: &Design,
    model: &dyn Model,
    row: &Encoded,
    contributions: &[f64],
) -> Vec<FeatureFacts> {
    let is_plain = design.projection().is_none();
    let mean = |column: usize| match design.projection() {
        Some(projection) => projection.mean[column],
        None => model.mean(column),
    };
    let (parts, mut next) = (design.parts(), 0);
    let mut features = Vec::with_capacity(parts.features.len());
    for (feature, encoding) in parts.features.iter().zip(&parts.encodings) {
        let (width, cell) = match encoding {
            Encoding::Number { .. } => {
                let std_dev = is_plain.then(|| model.std_dev(next));
                (1, Cell::Number { value: row.plain[next], mean: mean(next), std_dev })
            }
            Encoding::Date { form, has_hour, .. } => {
                let value = match form {
                    DatesAs::Days => date_text(row.plain[next]),
                    DatesAs::Parts => format!("{}-{:02}", row.plain[next], row.plain[next + 1]),
                };
                (form.n_columns(*has_hour), Cell::Date { value })
            }
            Encoding::OneHot { levels, .. } => {
                let width = levels.len().saturating_sub(parts.first_level());
                let columns = next..next + width;
                let chosen = columns.clone().find(|&column| row.plain[column] == 1.0);
                let cell = match chosen {
                    Some(column) => Cell::Category {
                        value: levels[column - next + parts.first_level()].clone(),
                        share: mean(column),
                    },
                    // The first level has no column.
                    None => Cell::Category {
                        value: levels.first().cloned().unwrap_or_default(),
                        share: 1.0 - columns.map(mean).sum::<f64>(),
                    },
                };
                (width, cell)
            }
        };
        let contribution = contributions[next..next + width].iter().sum();
        features.push(FeatureFacts { feature: feature.name.clone(), cell, contribution });
        next += width;
    }
    features
}
