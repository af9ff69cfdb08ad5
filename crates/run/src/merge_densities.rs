//! `merge` for densities: the rows of all, smoothed anew.

use crate::Error;
use crate::fit::{Fitted, common_choice, levels_beyond, summarise};
use crate::fitted::{ColumnStats, DensityModel, FittedModel, Reservoir, smooth};
use crate::observer::Observer;
use crate::request::SizeChoice;
use crate::saved::SavedValuer;
use crate::warnings;
use dshap::Rows;
use dshap::density::{Bandwidth, DensityBuilder};
use dshap_table::Derived;
use faer::Mat;
use std::path::Path;
use std::sync::Arc;

/// Rows that are scaled back at a time.
const BLOCK: usize = 1024;

/// Makes one valuer of several densities: scaling and bandwidth are found anew
/// for all rows, as they were for each part. Where parts are samples, so many of
/// each are taken that all have the same share.
pub(crate) fn merge_densities(
    parts: Vec<(&Path, SavedValuer)>,
    sizes: SizeChoice,
    observer: &dyn Observer,
) -> Result<Fitted, Error> {
    let choice = common_choice(&parts, sizes)?;
    let (first_path, first) = parts.first().ok_or(Error::NothingToMerge)?;
    let first_model = model_of(first)?;
    let mut design = first.design.clone();
    let mut columns = first_model.columns.clone();
    let mut n_reference = 0;
    let (mut new_levels, mut history) = (Vec::new(), Vec::new());
    for (i, (path, part)) in parts.iter().enumerate() {
        let cannot = |what: String| Error::CannotMerge {
            first: first_path.display().to_string(),
            second: path.display().to_string(),
            what,
        };
        let model = model_of(part)?;
        if let Some(what) = difference(first_model, model) {
            return Err(cannot(what));
        }
        if part.method != first.method {
            return Err(cannot("they value rows by different methods".into()));
        }
        if i > 0 {
            let (n_first, n_second) = (n_reference as f64, model.n_reference as f64);
            let both = design.merged(n_first, &part.design, n_second);
            let both = both.map_err(|error| cannot(error.to_string()))?;
            new_levels.extend(levels_beyond(&both.design, &design));
            columns = pooled(
                (&moved(&columns, &both.from_first), n_first),
                (&moved(&model.columns, &both.from_second), n_second),
            );
            design = both.design;
        }
        n_reference += model.n_reference;
        history.extend(part.history.iter().cloned());
    }

    let core = |error| Error::core(error, &design);
    let share = |model: &DensityModel| model.fit.n_rows() as f64 / model.n_reference as f64;
    let mut least_share = 1.0_f64;
    for (_, part) in &parts {
        least_share = least_share.min(share(model_of(part)?));
    }
    let mut builder = DensityBuilder::new(design.n_columns());
    for (path, part) in &parts {
        // How the columns of the whole follow from those of this part.
        let both = design.merged(1.0, &part.design, 1.0).map_err(|error| Error::CannotMerge {
            first: first_path.display().to_string(),
            second: path.display().to_string(),
            what: error.to_string(),
        })?;
        add_rows(model_of(part)?, &both.from_second, least_share, &mut builder).map_err(core)?;
    }
    let n_held = builder.n_rows();
    if n_held < n_reference {
        builder = builder.scaled_by(&columns.mean, &columns.std_dev).map_err(core)?;
    }
    let fit = smooth(builder, first_model.choice.options(), observer).map_err(core)?;
    let model =
        DensityModel { fit: Arc::new(fit), choice: first_model.choice, columns, n_reference, sampled: None };
    let mut said = warnings::of_repeated_files(&history);
    let valuer = SavedValuer {
        design,
        model: FittedModel::Density(model),
        choice,
        history,
        written_by: env!("CARGO_PKG_VERSION").into(),
        ..first.clone()
    };
    said.extend(warnings::of_filled_cells(&valuer.design, &valuer.history));
    let n_before: usize = parts.iter().map(|(_, part)| part.model.n_rows_held()).sum();
    if n_held < n_before {
        said.push(format!(
            "the parts are samples of different shares of their references: {n_held} of the {n_before} rows \
             they hold were kept, so that all have the same"
        ));
    }
    let mut summary = summarise(&valuer, said)?;
    summary.new_levels = new_levels;
    Ok(Fitted::new(valuer, summary))
}

fn model_of(valuer: &SavedValuer) -> Result<&DensityModel, Error> {
    if valuer.design.projection().is_some() {
        return Err(Error::FixedReference { what: "principal components".into() });
    }
    match &valuer.model {
        FittedModel::Density(model) => Ok(model),
        FittedModel::Linear(_) | FittedModel::Logistic(_) | FittedModel::Neighbours(_) => {
            Err(Error::NoUpdate)
        }
    }
}

/// What two densities do not have in common and must.
fn difference(one: &DensityModel, two: &DensityModel) -> Option<String> {
    let (kernels, options) =
        ([one.fit.kernel(), two.fit.kernel()], [one.choice.options(), two.choice.options()]);
    if kernels[0] != kernels[1] {
        return Some(format!("their kernels are `{}` and `{}`", kernels[0].name(), kernels[1].name()));
    }
    if options[0].scaling != options[1].scaling {
        return Some("only one of them scales its columns".into());
    }
    let word = |bandwidth: Bandwidth| match bandwidth {
        Bandwidth::CrossValidated => "cross-validated".into(),
        Bandwidth::Scott => "Scott's".into(),
        Bandwidth::Silverman => "Silverman's".into(),
        Bandwidth::Given(bandwidth) => bandwidth.to_string(),
    };
    let bandwidths = options.map(|options| options.bandwidth);
    (bandwidths[0] != bandwidths[1])
        .then(|| format!("their bandwidths are {} and {}", word(bandwidths[0]), word(bandwidths[1])))
}

/// Adds the rows of a part, in units of the features and in columns of the whole.
fn add_rows(
    model: &DensityModel,
    derived: &[Derived],
    share: f64,
    builder: &mut DensityBuilder,
) -> Result<(), dshap::Error> {
    let parts = model.fit.to_parts();
    let (n, dim) = (model.fit.n_rows(), parts.kept.len());
    let n_kept = ((share * model.n_reference as f64).round() as usize).clamp(1, n);
    let mut reservoir = Reservoir::new(derived.len(), n_kept, model.choice.seed.unwrap_or(0));
    for start in (0..n).step_by(BLOCK) {
        let len = BLOCK.min(n - start);
        let cell = |row: usize, column: usize| match parts.kept.binary_search(&column) {
            Ok(j) => parts.rows[(start + row) * dim + j] / parts.factor[j] + parts.centre[j],
            // A column that does not vary is its mean.
            Err(_) => model.columns.mean[column],
        };
        let of_whole = |row: usize, column: usize| match &derived[column] {
            Derived::Column(column) => cell(row, *column),
            Derived::Zero => 0.0,
            Derived::OneMinus(columns) => 1.0 - columns.iter().map(|&column| cell(row, column)).sum::<f64>(),
        };
        let x = Mat::from_fn(len, derived.len(), of_whole);
        reservoir.look_at(Rows::new(x.as_ref(), &vec![0.0; len])?);
    }
    reservoir.drain(|rows| builder.push(rows)).map(|_| ())
}

/// Means and deviations of columns that follow from others.
fn moved(columns: &ColumnStats, derived: &[Derived]) -> ColumnStats {
    let of = |derived: &Derived| match derived {
        Derived::Column(column) => (columns.mean[*column], columns.std_dev[*column]),
        Derived::Zero => (0.0, 0.0),
        Derived::OneMinus(others) => {
            let share = 1.0 - others.iter().map(|&column| columns.mean[column]).sum::<f64>();
            (share, (share * (1.0 - share)).max(0.0).sqrt())
        }
    };
    let (mean, std_dev) = derived.iter().map(of).unzip();
    ColumnStats { mean, std_dev }
}

/// Means and deviations over the rows of two tables.
fn pooled((one, n_one): (&ColumnStats, f64), (two, n_two): (&ColumnStats, f64)) -> ColumnStats {
    let (w1, w2) = (n_one / (n_one + n_two), n_two / (n_one + n_two));
    let columns = 0..one.mean.len();
    let std_dev = |j: usize| {
        let gap = two.mean[j] - one.mean[j];
        let within = w1 * one.std_dev[j].powi(2) + w2 * two.std_dev[j].powi(2);
        (within + w1 * w2 * gap * gap).sqrt()
    };
    ColumnStats {
        mean: columns.clone().map(|j| one.mean[j] + w2 * (two.mean[j] - one.mean[j])).collect(),
        std_dev: columns.map(std_dev).collect(),
    }
}
