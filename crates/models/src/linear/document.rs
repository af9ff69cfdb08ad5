//! What the valuer file of a regression holds: moments, and the fit itself.

use super::{KnownNoise, LinearModel};
use crate::file::{Arrays, Document, Reading, named};
use crate::kept_tests::KeptTests;
use crate::reference::ExtraPass;
use dshap::linear::{FitOptions, FitParts, LinearFit};
use dshap::{Moments, MomentsForm, MomentsParts};
use dshap_table::Design;
use serde::{Deserialize, Serialize};

/// Moments without their arrays.
#[derive(Serialize, Deserialize)]
pub struct MomentsDocument {
    n_rows: usize,
    weight: f64,
    weight_sq: f64,
    /// Whether rows were taken away, so that there is an array of peaks.
    forgotten: bool,
    /// What the triangle is. Files of version 1 hold products.
    #[serde(default)]
    form: FormWord,
}

/// How second moments are held.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FormWord {
    /// Sums of products.
    #[default]
    Products,
    /// A triangle.
    Triangle,
}

/// A fit without its arrays.
#[derive(Serialize, Deserialize)]
pub(crate) struct FitDocument {
    kept: Vec<usize>,
    dropped: Vec<usize>,
    weakest: Option<(usize, f64)>,
    target_centre: (f64, f64),
    rss: f64,
    total: f64,
    target_inflation: f64,
    weight_scale: f64,
    effective_rows: f64,
}

pub(super) fn write(model: &LinearModel, document: &mut Document) -> Arrays {
    let fit = model.fit.to_parts();
    let (moments, mut arrays) = write_moments("moments", &model.moments);
    arrays.extend([
        named("fit.coef", fit.coef),
        named("fit.factor", fit.lower),
        named("fit.offset", fit.offset),
        named("fit.scale", fit.scale),
        named("fit.shift", fit.shift),
        named("fit.target_row", fit.target_row),
    ]);
    arrays.extend(model.distances.as_ref().map(|table| named("distances", table.to_parts())));
    if let Some(rows) = &model.rows {
        let (x, y) = rows.to_parts();
        arrays.extend([named("rows.x", x), named("rows.y", y)]);
    }
    document.noise = model.noise.write(&model.fit, &mut arrays);
    document.tests = model.tests.as_ref().map(|tests| tests.write(&mut arrays));
    document.default_q = model.default_q;
    document.moments = Some(moments);
    document.fit = Some(FitDocument {
        kept: fit.kept,
        dropped: fit.dropped,
        weakest: fit.weakest,
        target_centre: fit.target_centre,
        rss: fit.rss,
        total: fit.total,
        target_inflation: fit.target_inflation,
        weight_scale: fit.weight_scale,
        effective_rows: fit.effective_rows,
    });
    (document.intercept, document.refit_intercept, document.allow_dependent) =
        (model.options.intercept, model.options.refit_intercept, model.options.allow_dependent);
    arrays
}

/// Moments, with arrays whose names begin with `prefix`.
pub fn write_moments(prefix: &str, moments: &Moments) -> (MomentsDocument, Arrays) {
    let parts = moments.to_parts();
    let document = MomentsDocument {
        n_rows: parts.n_rows,
        weight: parts.weight,
        weight_sq: parts.weight_sq,
        forgotten: parts.peak.is_some(),
        form: parts.form.into(),
    };
    let name = |array: &str| format!("{prefix}.{array}");
    let mut arrays = vec![
        (name(lower_name(parts.form)), parts.lower),
        (name("offset"), parts.offset),
        (name("shift"), parts.shift),
    ];
    arrays.extend(parts.peak.map(|peak| (name("peak"), peak)));
    (document, arrays)
}

/// Moments that were written.
///
/// # Errors
///
/// What does not fit together.
pub fn read_moments(
    prefix: &str,
    stored: MomentsDocument,
    arrays: &mut Reading<'_>,
) -> Result<Moments, String> {
    let form = MomentsForm::from(stored.form);
    let name = |array: &str| format!("{prefix}.{array}");
    Moments::from_parts(MomentsParts {
        n_rows: stored.n_rows,
        weight: stored.weight,
        weight_sq: stored.weight_sq,
        shift: arrays.take(&name("shift"))?,
        offset: arrays.take(&name("offset"))?,
        form,
        lower: arrays.take(&name(lower_name(form)))?,
        peak: if stored.forgotten { Some(arrays.take(&name("peak"))?) } else { None },
    })
    .map_err(|error| error.to_string())
}

pub(crate) fn parse(
    document: &mut Document,
    design: &Design,
    needs: Option<ExtraPass>,
    arrays: &mut Reading<'_>,
) -> Result<LinearModel, String> {
    if design.target().is_none() {
        return Err("its design has no target, but a regression has one".into());
    }
    if design.labels().is_some() {
        return Err("its design has labels, but a regression has none".into());
    }
    let moments = document.moments.take().ok_or("its document lacks `moments`")?;
    let stored = document.fit.take().ok_or("its document lacks `fit`")?;
    let moments = read_moments("moments", moments, arrays)?;
    let fit = LinearFit::from_parts(FitParts {
        n_rows: moments.n_rows(),
        n_features: moments.n_features(),
        intercept: document.intercept,
        refit_intercept: document.refit_intercept,
        kept: stored.kept,
        dropped: stored.dropped,
        weakest: stored.weakest,
        shift: arrays.take("fit.shift")?,
        offset: arrays.take("fit.offset")?,
        scale: arrays.take("fit.scale")?,
        target_centre: stored.target_centre,
        lower: arrays.take("fit.factor")?,
        target_row: arrays.take("fit.target_row")?,
        coef: arrays.take("fit.coef")?,
        rss: stored.rss,
        total: stored.total,
        target_inflation: stored.target_inflation,
        form: moments.form(),
        weight_scale: stored.weight_scale,
        effective_rows: stored.effective_rows,
    })
    .map_err(|error| error.to_string())?;
    if design.n_columns() != fit.n_features() {
        return Err("its design has other columns than its fit".into());
    }
    let distances = match needs {
        Some(ExtraPass::Calibration) => Some(arrays.distances("distances")?),
        _ => None,
    };
    let rows = match needs {
        Some(ExtraPass::Rows) => Some(arrays.rows(fit.n_features(), fit.n_rows())?),
        _ => None,
    };
    let options = FitOptions {
        intercept: document.intercept,
        refit_intercept: document.refit_intercept,
        allow_dependent: document.allow_dependent,
    };
    let tests = document.tests.take();
    let tests = tests.map(|tests| KeptTests::parse(tests, &[fit.n_features()], arrays)).transpose()?;
    let noise = document.noise.take().map(|noise| noise.parse(fit.dim(), arrays)).transpose()?;
    let noise = KnownNoise::of_shape(noise);
    let default_q = document.default_q;
    Ok(LinearModel { moments, fit, options, noise, distances, rows, tests, default_q })
}

/// The array of second moments.
fn lower_name(form: MomentsForm) -> &'static str {
    match form {
        MomentsForm::Products => "gram",
        MomentsForm::Triangle => "triangle",
    }
}

impl From<MomentsForm> for FormWord {
    fn from(form: MomentsForm) -> Self {
        match form {
            MomentsForm::Products => FormWord::Products,
            MomentsForm::Triangle => FormWord::Triangle,
        }
    }
}

impl From<FormWord> for MomentsForm {
    fn from(form: FormWord) -> Self {
        match form {
            FormWord::Products => MomentsForm::Products,
            FormWord::Triangle => MomentsForm::Triangle,
        }
    }
}
