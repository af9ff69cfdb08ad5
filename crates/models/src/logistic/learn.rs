//! The passes of a logistic fit: one for the columns, then one for each step of
//! Newton's method. Some methods need one more for something else.

use super::LogisticModel;
use crate::Error;
use crate::columns::ColumnStats;
use crate::how::{How, LogisticRidge};
use crate::model::Learned;
use crate::observer::Stage;
use crate::reference::{ExtraPass, Pass, Reference, Sums};
use crate::sample::{LabelSample, RowSample};
use crate::second_order::SecondOrder;
use dshap::classification::{
    AuthorsMoments, Irls, LogisticFit, LogisticOptions, OneVsRestIrls, OneVsRestPass, PassBuilder, Step,
    with_class,
};
use dshap::linear::DistanceTable;
use dshap::{Moments, MomentsBuilder, Rows};
use dshap_catalogue::options::DEPENDENT;
use dshap_table::Labels;

/// How a logistic model is fitted with these settings.
fn fit_options(how: &How) -> LogisticOptions {
    let LogisticRidge { ridge, standardised } = how.logistic_ridge();
    LogisticOptions {
        intercept: how.intercept(),
        allow_dependent: !how.given.is(&DEPENDENT, "error"),
        ridge,
        standardised,
        ..LogisticOptions::default()
    }
}

/// Fits a reference with labels.
///
/// # Errors
///
/// [`Error`].
pub fn learn(how: &How, reference: &dyn Reference) -> Result<Learned, Error> {
    let (design, options) = (reference.design(), fit_options(how));
    let core = |error| Error::core(error, design);
    let n_classes = design.labels().map_or(2, Labels::n_classes);
    let later = SecondOrder::of(how).map_or(Sums::ONE, |choice| {
        let most_rows = how.sizes().max.map_or_else(|| reference.most_rows(), |m| m as u64);
        choice.sums(n_classes, design.n_columns(), options.ridge, most_rows)
    });
    let mut fitting = Fitting::new(design.n_columns(), n_classes, options).map_err(core)?;
    let sums = Sums::of_fits(fitting.n_fits() + 1);
    let mut even = RowSample::new(design.n_columns());
    let mut sample = LabelSample::new(design.n_columns(), n_classes);
    let mut moments = MomentsBuilder::new(design.n_columns());

    let mut pass = fitting.begin_pass();
    let counts = reference.each(Pass { sums, later, ..Pass::new(Stage::Fit) }, &mut |rows, _| {
        even.look_at(rows);
        sample.look_at(rows);
        moments.push(rows)?;
        pass.push(rows)
    })?;
    let mut n_passes = 1;
    let columns = ColumnStats::of(&moments.finish().map_err(core)?);
    let mut fits = fitting.finish_pass(pass).map_err(core)?;
    while fits.is_none() {
        let mut pass = fitting.begin_pass();
        let again = Pass { sums, later, ..Pass::new(Stage::Refine) };
        let again = reference.each(again, &mut |rows, _| pass.push(rows))?;
        if again != counts {
            return Err(Error::Changed { before: counts.n_usable, after: again.n_usable });
        }
        n_passes += 1;
        fits = fitting.finish_pass(pass).map_err(core)?;
    }
    let model = LogisticModel {
        fits: fits.unwrap_or_default(),
        options,
        columns,
        sample,
        distances: None,
        authors: None,
        rows: None,
        second_order: None,
    };
    Ok(Learned {
        model: Box::new(model),
        rows: counts,
        n_passes,
        extra_passes: vec![ExtraPass::Steps],
        sample: Some(even),
    })
}

/// How far the reference rows are from the centre, fit by fit.
pub(super) fn distances_of(
    fits: &[LogisticFit],
    reference: &dyn Reference,
) -> Result<Vec<DistanceTable>, Error> {
    let mut tables = vec![DistanceTable::new(); fits.len()];
    reference.each(Pass::new(Stage::Calibrate), &mut |rows, _| {
        // Distances do not depend on labels, but a fit expects two of them.
        let labels = vec![0.0; rows.len()];
        let any = if fits.len() == 1 { rows } else { with_targets(rows, &labels)? };
        for (fit, table) in fits.iter().zip(&mut tables) {
            table.add(&fit.distances(any)?, rows.weights());
        }
        Ok(())
    })?;
    Ok(tables)
}

/// Moments of the authors' variables, fit by fit.
pub(super) fn authors_of(fits: &[LogisticFit], reference: &dyn Reference) -> Result<Vec<Moments>, Error> {
    let mut moments: Vec<AuthorsMoments<'_>> = fits.iter().map(AuthorsMoments::new).collect();
    reference.each(Pass::new(Stage::Calibrate), &mut |rows, _| match moments.as_mut_slice() {
        [only] => only.push(rows),
        each => {
            let mut each = each.iter_mut().enumerate();
            each.try_for_each(|(class, moments)| with_class(rows, class, |rows| moments.push(rows)))
        }
    })?;
    let finished: Result<Vec<Moments>, _> = moments.into_iter().map(AuthorsMoments::finish).collect();
    finished.map_err(|error| Error::core(error, reference.design()))
}

/// The same rows with other targets.
fn with_targets<'a>(rows: Rows<'a>, targets: &'a [f64]) -> Result<Rows<'a>, dshap::Error> {
    let relabelled = Rows::new(rows.x(), targets)?;
    match rows.weights() {
        Some(weights) => relabelled.with_weights(weights),
        None => Ok(relabelled),
    }
}

/// One fit for two classes, one for each of more.
enum Fitting {
    One(Irls),
    Each { irls: Option<OneVsRestIrls>, n_classes: usize },
}

enum FittingPass {
    One(PassBuilder),
    Each(OneVsRestPass),
}

impl Fitting {
    fn new(n_features: usize, n_classes: usize, options: LogisticOptions) -> Result<Self, dshap::Error> {
        Ok(match n_classes {
            2 => Fitting::One(Irls::new(n_features, options)?),
            _ => {
                let irls = OneVsRestIrls::new(n_features, n_classes, options)?;
                Fitting::Each { irls: Some(irls), n_classes }
            }
        })
    }

    fn n_fits(&self) -> usize {
        match self {
            Fitting::One(_) => 1,
            Fitting::Each { n_classes, .. } => *n_classes,
        }
    }

    fn begin_pass(&self) -> FittingPass {
        match self {
            Fitting::One(irls) => FittingPass::One(irls.begin_pass()),
            Fitting::Each { irls, .. } => {
                let irls = irls.as_ref().expect("no pass begins after the last one");
                FittingPass::Each(irls.begin_pass())
            }
        }
    }

    /// The fits, if that was the last pass.
    fn finish_pass(&mut self, pass: FittingPass) -> Result<Option<Vec<LogisticFit>>, dshap::Error> {
        match (self, pass) {
            (Fitting::One(irls), FittingPass::One(pass)) => match irls.finish_pass(pass)? {
                Step::Again => Ok(None),
                Step::Converged(fit) => Ok(Some(vec![*fit])),
            },
            (Fitting::Each { irls, .. }, FittingPass::Each(pass)) => {
                let again = irls.as_mut().map_or(Ok(false), |irls| irls.finish_pass(pass))?;
                if again {
                    return Ok(None);
                }
                irls.take().map(OneVsRestIrls::finish).transpose()
            }
            _ => Err(dshap::Error::Contradiction { what: "a pass is finished by the fit that began it" }),
        }
    }
}

impl FittingPass {
    fn push(&mut self, rows: Rows<'_>) -> Result<(), dshap::Error> {
        match self {
            FittingPass::One(pass) => pass.push(rows),
            FittingPass::Each(pass) => pass.push(rows),
        }
    }
}
