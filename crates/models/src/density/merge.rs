//! One density made of several: the rows of all, smoothed again.

use super::options::options;
use super::{DensityModel, density_method, smooth};
use crate::Error;
use crate::columns::ColumnStats;
use crate::error::{Fixed, MergeConflict};
use crate::levels::levels_beyond;
use crate::model::Model;
use crate::observer::Observer;
use crate::reservoir::Reservoir;
use crate::valuer::FittedValuer;
use crate::warning::Warning;
use dshap::Rows;
use dshap::density::{Bandwidth, DensityBuilder};
use dshap_table::{Derived, Design};
use faer::Mat;
use std::path::Path;
use std::sync::Arc;

/// Rows that are scaled back at a time.
const BLOCK: usize = 1024;

/// The design and the model of the whole, what is doubtful, and levels that are new.
pub type MergedDensity = (Design, Box<dyn Model>, Vec<Warning>, Vec<String>);

/// Merges densities of disjoint references: scaling and bandwidth are found again
/// for all rows, as they were for each part. Where parts are samples, as many rows
/// of each are taken as give all parts the same share.
///
/// Returns the design, the model, what is doubtful about the shares, and the text
/// levels that the first part did not have.
///
/// # Errors
///
/// [`Error::NothingToMerge`], [`Error::CannotMerge`], [`Error::FixedReference`] for
/// principal components, [`Error::Core`] for rows that cannot be smoothed.
pub fn merge(parts: &[(&Path, &FittedValuer)], observer: &dyn Observer) -> Result<MergedDensity, Error> {
    let (first_path, first) = parts.first().ok_or(Error::NothingToMerge)?;
    let cannot = |path: &Path, why: MergeConflict| Error::CannotMerge {
        first: first_path.display().to_string(),
        second: path.display().to_string(),
        why,
    };
    let models = mergeable(parts, cannot)?;
    let first_model = models[0];

    let mut design = first.design.clone();
    let mut columns = first_model.columns.clone();
    let mut n_reference = 0;
    let mut new_levels = Vec::new();
    for (i, ((path, part), model)) in parts.iter().zip(&models).enumerate() {
        if i > 0 {
            let (n_first, n_second) = (n_reference as f64, model.n_reference as f64);
            let both = design.merged(n_first, &part.design, n_second);
            let both = both.map_err(|error| cannot(path, MergeConflict::Columns(error)))?;
            new_levels.extend(levels_beyond(&both.design, &design));
            columns = pooled(
                (&moved(&columns, &both.from_first), n_first),
                (&moved(&model.columns, &both.from_second), n_second),
            );
            design = both.design;
        }
        n_reference += model.n_reference;
    }

    let core = |error| Error::core(error, &design);
    let mut builder = DensityBuilder::new(design.n_columns());
    for ((path, part), model) in parts.iter().zip(&models) {
        // How the columns of the whole follow from those of this part.
        let both = design.merged(1.0, &part.design, 1.0);
        let both = both.map_err(|error| cannot(path, MergeConflict::Columns(error)))?;
        add_rows(model, &both.from_second, least_share(&models), &mut builder).map_err(core)?;
    }
    let n_kept = builder.n_rows();
    if n_kept < n_reference {
        builder = builder.scaled_by(&columns.mean, &columns.std_dev).map_err(core)?;
    }
    let given = first_model.given.clone();
    let fit = smooth(builder, options(&given), observer).map_err(core)?;
    let n_held: usize = models.iter().map(|model| model.fit.n_rows()).sum();
    let unequal = (n_kept < n_held).then_some(Warning::UnequalShares { n_kept, n_held });
    let model = DensityModel { fit: Arc::new(fit), given, columns, n_reference, sampled: None };
    Ok((design, Box::new(model), unequal.into_iter().collect(), new_levels))
}

/// The smallest share of its reference that a part holds.
fn least_share(models: &[&DensityModel]) -> f64 {
    let share = |model: &&DensityModel| model.fit.n_rows() as f64 / model.n_reference as f64;
    models.iter().map(share).fold(1.0_f64, f64::min)
}

/// The models of densities that can be merged: of the same kernel and options, and with columns of
/// their own.
fn mergeable<'a>(
    parts: &[(&Path, &'a FittedValuer)],
    cannot: impl Fn(&Path, MergeConflict) -> Error,
) -> Result<Vec<&'a DensityModel>, Error> {
    let (_, first) = parts.first().ok_or(Error::NothingToMerge)?;
    let mut models: Vec<&DensityModel> = Vec::with_capacity(parts.len());
    for (path, part) in parts {
        if part.design.projection().is_some() {
            return Err(Error::FixedReference { why: Fixed::Components });
        }
        let model = part.model.of::<DensityModel>();
        let model = model.ok_or_else(|| cannot(path, MergeConflict::Tasks(first.task(), part.task())))?;
        if let Some(why) = difference(models.first().unwrap_or(&model), model) {
            return Err(cannot(path, why));
        }
        if density_method(&part.how) != density_method(&first.how) {
            return Err(cannot(path, MergeConflict::Methods));
        }
        models.push(model);
    }
    Ok(models)
}

/// A difference between two densities that keeps them from being merged.
fn difference(one: &DensityModel, two: &DensityModel) -> Option<MergeConflict> {
    let (kernels, options) =
        ([one.fit.kernel(), two.fit.kernel()], [options(&one.given), options(&two.given)]);
    if kernels[0] != kernels[1] {
        return Some(MergeConflict::Kernels(kernels[0].name(), kernels[1].name()));
    }
    if options[0].scaling != options[1].scaling {
        return Some(MergeConflict::Scaling);
    }
    let word = |bandwidth: Bandwidth| match bandwidth {
        Bandwidth::CrossValidated => "cross-validated".into(),
        Bandwidth::Grid => "the best of a grid".into(),
        Bandwidth::Scott => "Scott's".into(),
        Bandwidth::Silverman => "Silverman's".into(),
        Bandwidth::Given(bandwidth) => bandwidth.to_string(),
    };
    let [first, second] = options.map(|options| options.bandwidth);
    (first != second).then(|| MergeConflict::Bandwidths(word(first), word(second)))
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
    let mut reservoir = Reservoir::new(derived.len(), n_kept, model.seed());
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
