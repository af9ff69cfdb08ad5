//! Values of the points of a split, by each method.

use crate::Error;
use crate::data::{Part, Split, Task};
use dshap::classification::{
    AuthorsMoments, AuthorsValuer, ClassificationMethod, ClassificationValuer, LogisticFit, LogisticOptions,
};
use dshap::density::{
    Algorithm5, Bandwidth, DensityFit, DensityMethod, DensityOptions, DensityValuer, Scaling,
};
use dshap::linear::{Algorithm3, Bound, Convention, FitOptions, LinearFit, LinearMethod, LinearValuer, Side};
use dshap::{Part as Column, Sizes, Valuer};

/// Reference rows of a density, as in the authors' code.
pub(crate) const DENSITY_ROWS: usize = 2000;

/// `ρ` of Algorithm 4.
const STOP: f64 = 0.005;

/// A way to value points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    /// This project's default: every sum in closed form.
    Closed,
    /// The paper's algorithm of the task: 3 (regression), 2 with the lower bound of 4
    /// as in the authors' program (classification), 5 (density).
    Paper,
    /// A bound of Theorem 3: valid, as in the authors' program, or as printed.
    Bound(Side, Convention),
}

impl Method {
    /// Its name in tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Method::Closed => "closed",
            Method::Paper => "paper",
            Method::Bound(Side::Lower, Convention::Authors) => "authors-lower",
            Method::Bound(Side::Upper, Convention::Authors) => "authors-upper",
            Method::Bound(Side::Lower, Convention::Printed) => "printed-lower",
            Method::Bound(Side::Upper, Convention::Printed) => "printed-upper",
            Method::Bound(Side::Lower, Convention::Definition) => "lower",
            Method::Bound(Side::Upper, Convention::Definition) => "upper",
        }
    }
}

/// What is needed to value points, besides the rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms {
    pub(crate) task: Task,
    /// The smallest set whose utility counts.
    pub(crate) q: usize,
    /// The largest set, the point included.
    pub(crate) m: usize,
    /// For methods that draw.
    pub(crate) seed: u64,
}

/// The values of the points of `split`, in their order.
pub(crate) fn values(method: Method, terms: Terms, split: &Split) -> Result<Vec<f64>, Error> {
    let values = match terms.task {
        Task::Regression => regression(method, terms, &split.reference, &split.points),
        Task::Classification => classification(method, terms, &split.reference, &split.points),
        Task::Density => density(method, terms, &split.reference, &split.points),
    };
    values.map_err(Error::valuing(format!("value points by `{}`", method.name())))
}

fn regression(
    method: Method,
    terms: Terms,
    reference: &Part,
    points: &Part,
) -> Result<Vec<f64>, dshap::Error> {
    let fit = LinearFit::of(dshap::Rows::new(reference.x.as_ref(), &reference.y)?, FitOptions::default())?;
    let sizes = Sizes::new(terms.q, terms.m);
    let (sizes, method) = match method {
        Method::Closed => (sizes, LinearMethod::default()),
        Method::Paper => {
            (sizes, LinearMethod::Algorithm3(Algorithm3 { seed: terms.seed, ..Algorithm3::default() }))
        }
        Method::Bound(side, convention) => {
            let ridge = match convention {
                // The authors' γ is 1/m.
                Convention::Printed | Convention::Authors => 1.0 / terms.m as f64,
                Convention::Definition => 0.0,
            };
            let bound = bound(side, convention, ridge);
            (bound_sizes(bound, fit.model_dim(), sizes), LinearMethod::Bound(bound))
        }
    };
    let valuer = LinearValuer::new(fit, sizes, method)?;
    Ok(valuer.values(dshap::Rows::new(points.x.as_ref(), &points.y)?)?.value)
}

fn classification(
    method: Method,
    terms: Terms,
    reference: &Part,
    points: &Part,
) -> Result<Vec<f64>, dshap::Error> {
    let reference = dshap::Rows::new(reference.x.as_ref(), &reference.y)?;
    let points = dshap::Rows::new(points.x.as_ref(), &points.y)?;
    let fit = LogisticFit::of(reference, LogisticOptions::default())?;
    let sizes = Sizes::new(terms.q, terms.m);
    let side = match method {
        Method::Paper => Some(Side::Lower),
        Method::Bound(side, Convention::Authors) => Some(side),
        Method::Closed | Method::Bound(..) => None,
    };
    if let Some(side) = side {
        let mut moments = AuthorsMoments::new(&fit);
        moments.push(reference)?;
        let moments = moments.finish()?;
        let bound = bound(side, Convention::Authors, 0.0);
        return Ok(AuthorsValuer::new(fit, &moments, sizes, bound)?.values(points)?.value);
    }
    let (sizes, method) = match method {
        Method::Bound(side, convention) => {
            let bound = bound(side, convention, 0.0);
            (bound_sizes(bound, fit.dim(), sizes), ClassificationMethod::Bound(bound))
        }
        _ => (sizes, ClassificationMethod::default()),
    };
    Ok(ClassificationValuer::new(fit, sizes, method)?.values(points)?.value)
}

pub(crate) fn bound(side: Side, convention: Convention, ridge: f64) -> Bound {
    let stop = (convention != Convention::Definition).then_some(STOP);
    Bound { ridge, stop, ..Bound::new(side, convention) }
}

/// A valid bound without a ridge says nothing about sets that are too small.
fn bound_sizes(bound: Bound, dim: usize, sizes: Sizes) -> Sizes {
    if bound.convention != Convention::Definition {
        return sizes;
    }
    let first = bound.first_size(dim, sizes.max()) + 1;
    Sizes::new(sizes.min().max(first).min(sizes.max()), sizes.max())
}

/// The smoothed reference of a density: its first 2000 rows, with the best bandwidth of the
/// authors' grid and the columns as the split scaled them.
pub(crate) fn density_fit(reference: &Part) -> Result<DensityFit, dshap::Error> {
    let rows = reference.x.subrows(0, reference.x.nrows().min(DENSITY_ROWS));
    let options =
        DensityOptions { bandwidth: Bandwidth::Grid, scaling: Scaling::None, ..DensityOptions::default() };
    DensityFit::of(rows, options)
}

fn density(method: Method, terms: Terms, reference: &Part, points: &Part) -> Result<Vec<f64>, dshap::Error> {
    let fit = density_fit(reference)?;
    let method = match method {
        Method::Paper => DensityMethod::Algorithm5(Algorithm5 { seed: terms.seed }),
        Method::Closed | Method::Bound(..) => DensityMethod::Closed,
    };
    let valuer = DensityValuer::new(fit, terms.m, method)?;
    let values = valuer.values_from(points.x.as_ref(), 0)?;
    // In many dimensions the constant shared by all rows swamps their differences.
    Ok(values.part(Column::Relative).map_or(values.value.clone(), <[f64]>::to_vec))
}
