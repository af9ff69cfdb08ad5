//! `explain`: why rows are worth what they are worth.
//!
//! | file | holds |
//! |---|---|
//! | `mod.rs` | the passes: values of all rows, the rows to be explained, the rows like them |
//! | `picked.rs` | output rows, and which rows are ordinary |
//! | `features.rs` | what makes a row unusual, feature by feature |
//! | `nearest.rs` | the rows most like a row |

mod features;
mod nearest;
mod picked;

use crate::inputs;
use crate::look;
use crate::points::Points;
use crate::prepare::{Against, Prepared};
use crate::request::ValueRequest;
use crate::summary::Summary;
use crate::value::Job;
use dshap::Rows;
use dshap_catalogue::options::STDERR;
use dshap_io::Source;
use dshap_models::linear::LinearModel;
use dshap_models::logistic::LogisticModel;
use dshap_models::neighbours::NeighbourModel;
use dshap_models::{Error, Extras, Observer, Quiet, RowExplanation, TargetFacts};
use dshap_table::{Design, DesignParts};
use faer::Mat;
use features::Unusual;
use nearest::{Nearest, Ruler};
use picked::Picked;

/// Rows, explained.
#[derive(Debug, Clone)]
pub struct Explained {
    /// What ran.
    pub summary: Summary,
    /// The explanations, in the order asked for.
    pub rows: Vec<RowExplanation>,
}

/// Explains the values of some rows of a table, counted from 0.
///
/// # Errors
///
/// [`Error::NoSuchRow`], and as for [`value`](crate::value()).
pub fn explain(request: &ValueRequest, rows: &[u64], observer: &dyn Observer) -> Result<Explained, Error> {
    explain_request(request, rows, observer).map_err(|error| look::all_problems(error, request))
}

fn explain_request(
    request: &ValueRequest,
    rows: &[u64],
    observer: &dyn Observer,
) -> Result<Explained, Error> {
    let points = inputs::open_given(&request.points, &request.given, &request.outputs)?;
    let prepared = Prepared::of(request, &points, observer)?;
    let job = Job {
        prepared: &prepared,
        points: &points,
        in_reference: matches!(prepared.against, Against::Themselves),
        extras: Extras { std_error: request.given.has(&STDERR), by_class: false },
        judges: false,
        digests: request.digests,
        resources: &request.resources,
        observer,
    };
    explain_job(&job, rows)
}

/// A row to be explained, as numbers.
struct Encoded {
    row: u64,
    /// The columns before they are reduced to components.
    plain: Vec<f64>,
    /// The columns of the design.
    x: Vec<f64>,
    y: f64,
    weight: Option<f64>,
}

/// Explains rows of the points of a job.
pub(crate) fn explain_job(job: &Job<'_>, rows: &[u64]) -> Result<Explained, Error> {
    let mut picked = Picked::of(job.prepared, rows);
    let summary = job.value(&mut picked)?;
    if let Some(&row) = rows.iter().find(|row| **row >= summary.n_points) {
        return Err(Error::NoSuchRow { row, n_rows: summary.n_points });
    }
    let quiet = Quiet(job.observer);
    let encoded = encoded_rows(job, rows, &quiet)?;
    let ordinary = ordinary_of_reference(job, &quiet)?;
    let nearest = Nearest::of(job, &encoded, ordinary.as_deref().unwrap_or(picked.ordinary()), &quiet)?;
    let of_row = |&row: &u64| {
        let found = encoded.iter().position(|encoded| encoded.row == row);
        explanation(job, &picked, row, found.map(|at| (&encoded[at], &nearest[at])))
    };
    let explained = rows.iter().map(of_row).collect::<Result<_, _>>()?;
    Ok(Explained { summary, rows: explained })
}

/// Which rows of a separate reference are ordinary. They are valued for that.
fn ordinary_of_reference(job: &Job<'_>, observer: &dyn Observer) -> Result<Option<Vec<bool>>, Error> {
    let model = &job.prepared.valuer.model;
    let predicts = model.of::<LinearModel>().is_some() || model.of::<LogisticModel>().is_some();
    let Some(reference) = job.prepared.against.reference().filter(|_| predicts) else { return Ok(None) };
    let of_reference = Job { points: reference, in_reference: true, observer, ..*job };
    let mut picked = Picked::of(job.prepared, &[]);
    of_reference.value(&mut picked)?;
    Ok(Some(picked.ordinary().to_vec()))
}

/// Reads the rows once more, as numbers. Rows with a missing cell have none.
fn encoded_rows(job: &Job<'_>, rows: &[u64], observer: &dyn Observer) -> Result<Vec<Encoded>, Error> {
    let design = &job.prepared.design;
    let plain = without_projection(design);
    let points = Points::carrying(job.points, &plain, Vec::new(), job.in_reference);
    let options = points.scan_options(job.budget())?;
    let mut found = Vec::new();
    points.each(options, observer, |waiting| {
        let place = &waiting.place;
        let in_batch = |row: &u64| (place.first_row..place.first_row + place.n_rows as u64).contains(row);
        for &row in rows.iter().filter(|row| in_batch(row)) {
            let offset = (row - place.first_row) as usize;
            let at = match &place.remaining {
                Some(remaining) => remaining.binary_search(&offset).ok(),
                None => Some(offset),
            };
            let Some(at) = at else { continue };
            let encoded = &waiting.encoded;
            let plain: Vec<f64> = encoded.x.row(at).iter().copied().collect();
            found.push(Encoded {
                row,
                x: projected(design, &plain),
                plain,
                // A density has no target.
                y: encoded.y.get(at).copied().unwrap_or(f64::NAN),
                weight: encoded.weights.as_ref().map(|weights| weights[at]),
            });
        }
        Ok(waiting.encoded.x)
    })?;
    Ok(found)
}

/// The design with its encoded columns instead of their principal components.
fn without_projection(design: &Design) -> Design {
    let parts = DesignParts { projection: None, ..design.parts().clone() };
    Design::from_parts(parts).expect("a design without components is as sound as with them")
}

/// Encoded columns as columns of the design.
fn projected(design: &Design, plain: &[f64]) -> Vec<f64> {
    match design.projection() {
        None => plain.to_vec(),
        Some(projection) => {
            let centred: Vec<f64> =
                plain.iter().zip(&projection.mean).map(|(cell, mean)| cell - mean).collect();
            let along = |axis: &Vec<f64>| axis.iter().zip(&centred).map(|(a, cell)| a * cell).sum();
            projection.axes.iter().map(along).collect()
        }
    }
}

impl Encoded {
    /// Does something with the row as the arithmetic takes it.
    fn with<T>(
        &self,
        job: &Job<'_>,
        then: impl FnOnce(Rows<'_>) -> Result<T, dshap::Error>,
    ) -> Result<T, Error> {
        let x = Mat::from_fn(1, self.x.len(), |_, j| self.x[j]);
        let (y, weight) = ([self.y], self.weight.map(|weight| [weight]));
        let core = |error| Error::core(error, &job.prepared.design);
        let rows = Rows::new(x.as_ref(), &y).map_err(core)?;
        let rows = match &weight {
            Some(weight) => rows.with_weights(weight).map_err(core)?,
            None => rows,
        };
        then(rows).map_err(core)
    }
}

/// Everything about one row; one with a missing cell has no numbers.
fn explanation(
    job: &Job<'_>,
    picked: &Picked<'_>,
    row: u64,
    known: Option<(&Encoded, &Nearest)>,
) -> Result<RowExplanation, Error> {
    let mut explained = picked.explanation(row, job);
    let Some((encoded, nearest)) = known else { return Ok(explained) };
    let unusual = Unusual::of(job, encoded, picked.number(row, "dist_sq"))?;
    explained.distance = unusual.distance;
    explained.features = unusual.features;
    explained.nearest = nearest.rows(job);
    if explained.target.is_none() {
        explained.target = nearest.target(job, encoded);
    }
    explained.value_if_predicted = match &explained.target {
        Some(TargetFacts::Number { .. }) => explained.potential,
        Some(TargetFacts::Label { given, suggested: Some(suggested), .. }) if given != suggested => {
            value_with_label(job, encoded, suggested)?
        }
        _ => None,
    };
    Ok(explained)
}

/// The value of a row with another label, where that is known.
fn value_with_label(job: &Job<'_>, encoded: &Encoded, label: &str) -> Result<Option<f64>, Error> {
    let Prepared { valuer, design, .. } = job.prepared;
    let words = design.labels().map(|labels| labels.words()).unwrap_or_default();
    let Some(class) = words.iter().position(|word| word == label) else { return Ok(None) };
    let ask = job.ask(None);
    // A misuse of core would be a mistake here, so its errors pass through as they are.
    let mut result = Ok(None);
    encoded.with(job, |row| {
        result = valuer.model.value_with_label(&ask, row, class);
        Ok(())
    })?;
    result
}

/// A table whose rows are like those to be explained.
enum Pool<'a> {
    /// A table that can be read.
    Table(&'a Source),
    /// Rows that the valuer carries.
    Held(&'a NeighbourModel),
}

impl<'a> Pool<'a> {
    fn of(job: &Job<'a>) -> Self {
        let Prepared { valuer, against, .. } = job.prepared;
        match (against, valuer.model.of::<NeighbourModel>()) {
            (Against::Valuer(_), Some(model)) => Pool::Held(model),
            (Against::Fitted, Some(model)) if !job.in_reference => Pool::Held(model),
            _ => Pool::Table(against.reference().unwrap_or(job.points)),
        }
    }
}

/// How rows are compared for this job.
fn ruler(job: &Job<'_>) -> Ruler {
    let Prepared { valuer, how, design, .. } = job.prepared;
    let facts = valuer.model.of::<NeighbourModel>().map(|model| model.facts(design, how));
    let (metric, scale, k) = match &facts {
        Some(facts) => (facts.metric, facts.scale, Some(facts.k)),
        None => ("euclidean", "std", None),
    };
    Ruler::new(valuer.model.as_ref(), design.n_columns(), metric, scale, k)
}
