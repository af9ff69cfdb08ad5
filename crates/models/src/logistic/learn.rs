//! The passes of a logistic fit: one for the columns, then one for each step of
//! Newton's method. Some methods need one more for something else.

use super::LogisticModel;
use crate::Error;
use crate::columns::ColumnStats;
use crate::how::{How, LogisticRidge};
use crate::kept_tests::KeptTests;
use crate::model::Learned;
use crate::observer::Stage;
use crate::reference::{ExtraPass, Pass, Reference, RowCounts, Sums};
use crate::sample::{LabelSample, RowSample};
use crate::second_order::{Probed, SecondOrder};
use crate::sizes::DefaultQ;
use dshap::classification::{
    AuthorsMoments, Irls, LogisticFit, LogisticOptions, OneVsRestIrls, OneVsRestPass, PassBuilder, PassPlan,
    PassSums, Step, WorkingMoments, with_class,
};
use dshap::linear::DistanceTable;
use dshap::{Moments, MomentsBuilder, Rows};
use dshap_catalogue::options::DEPENDENT;
use dshap_table::{Design, Labels};

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
        tests: None,
        default_q: DefaultQ::Enough,
        probed: Probed::default(),
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
    reference.each(Pass::new(Stage::Calibrate), &mut |rows, _| add_distances(fits, rows, &mut tables))?;
    Ok(tables)
}

/// Adds how far rows are from the centre, fit by fit.
///
/// # Errors
///
/// [`dshap::Error`] for rows that have no distance.
pub fn add_distances(
    fits: &[LogisticFit],
    rows: Rows<'_>,
    tables: &mut [DistanceTable],
) -> Result<(), dshap::Error> {
    // Distances do not depend on labels, but a fit expects two of them.
    let labels = vec![0.0; rows.len()];
    let any = if fits.len() == 1 { rows } else { with_targets(rows, &labels)? };
    for (fit, table) in fits.iter().zip(tables) {
        table.add(&fit.distances(any)?, rows.weights());
    }
    Ok(())
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

/// Moments of the working variables of test rows, fit by fit.
pub(super) fn tests_of(fits: &[LogisticFit], tests: &dyn Reference) -> Result<KeptTests, Error> {
    let mut moments: Vec<WorkingMoments<'_>> = fits.iter().map(WorkingMoments::new).collect();
    let rows = tests.each(Pass::new(Stage::Fit), &mut |rows, _| match moments.as_mut_slice() {
        [only] => only.push(rows),
        each => {
            let mut each = each.iter_mut().enumerate();
            each.try_for_each(|(class, moments)| with_class(rows, class, |rows| moments.push(rows)))
        }
    })?;
    let finished: Result<Vec<Moments>, _> = moments.into_iter().map(WorkingMoments::finish).collect();
    let finished = match finished {
        Err(dshap::Error::NoRows) => None,
        finished => Some(finished.map_err(|error| Error::core(error, tests.design()))?),
    };
    KeptTests::new(tests, finished, rows.n_left_out())
}

/// The same rows with other targets.
fn with_targets<'a>(rows: Rows<'a>, targets: &'a [f64]) -> Result<Rows<'a>, dshap::Error> {
    let relabelled = Rows::new(rows.x(), targets)?;
    match rows.weights() {
        Some(weights) => relabelled.with_weights(weights),
        None => Ok(relabelled),
    }
}

/// A logistic fit whose rows lie in several places: what each pass sums, and what follows
/// from the merged sums.
pub struct SpreadLogistic {
    options: LogisticOptions,
    fitting: Fitting,
    n_classes: usize,
    n_passes: usize,
    n_usable: Option<u64>,
    first: Option<FirstLook>,
    fits: Option<Vec<LogisticFit>>,
}

/// What the first pass of a logistic fit keeps beside its sums.
#[derive(Debug, Clone)]
pub struct FirstLook {
    /// Moments of columns and classes.
    pub moments: Moments,
    /// Some of the rows.
    pub even: RowSample,
    /// Some rows of each class.
    pub labels: LabelSample,
}

impl SpreadLogistic {
    /// A fit of rows with this design.
    ///
    /// # Errors
    ///
    /// [`Error::Core`].
    pub fn new(how: &How, design: &Design) -> Result<Self, Error> {
        let options = fit_options(how);
        let n_classes = design.labels().map_or(2, Labels::n_classes);
        let fitting =
            Fitting::new(design.n_columns(), n_classes, options).map_err(|e| Error::core(e, design))?;
        Ok(Self { options, fitting, n_classes, n_passes: 0, n_usable: None, first: None, fits: None })
    }

    /// Number of classes.
    pub fn n_classes(&self) -> usize {
        self.n_classes
    }

    /// Whether no pass was finished yet.
    pub fn is_new(&self) -> bool {
        self.n_passes == 0
    }

    /// What the next pass sums, fit by fit; nothing when all are done.
    pub fn plan(&self) -> Option<Vec<Option<PassPlan>>> {
        match &self.fitting {
            _ if self.fits.is_some() => None,
            Fitting::One(irls) => Some(vec![Some(irls.plan())]),
            Fitting::Each { irls, .. } => irls.as_ref().map(OneVsRestIrls::plan),
        }
    }

    /// Goes on with the merged sums of a pass.
    ///
    /// # Errors
    ///
    /// [`Error::Changed`] for other rows than before, [`Error::Core`].
    pub fn take(
        &mut self,
        sums: Vec<Option<PassSums>>,
        first: Option<FirstLook>,
        n_usable: u64,
        design: &Design,
    ) -> Result<(), Error> {
        let before = *self.n_usable.get_or_insert(n_usable);
        if before != n_usable {
            return Err(Error::Changed { before, after: n_usable });
        }
        self.n_passes += 1;
        self.first = self.first.take().or(first);
        self.fits = self.fitting.finish_sums(sums).map_err(|e| Error::core(e, design))?;
        Ok(())
    }

    /// The model, when all passes are done.
    pub fn finish(self, rows: RowCounts) -> Option<Learned> {
        let FirstLook { moments, even, labels } = self.first?;
        let model = LogisticModel {
            fits: self.fits?,
            options: self.options,
            columns: ColumnStats::of(&moments),
            sample: labels,
            distances: None,
            authors: None,
            rows: None,
            second_order: None,
            tests: None,
            default_q: DefaultQ::Enough,
            probed: Probed::default(),
        };
        let extra_passes = vec![ExtraPass::Steps];
        Some(Learned {
            model: Box::new(model),
            rows,
            n_passes: self.n_passes,
            extra_passes,
            sample: Some(even),
        })
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

    /// As [`finish_pass`](Self::finish_pass), with merged sums.
    fn finish_sums(
        &mut self,
        mut sums: Vec<Option<PassSums>>,
    ) -> Result<Option<Vec<LogisticFit>>, dshap::Error> {
        match self {
            Fitting::One(irls) => {
                let sums = sums.pop().flatten().ok_or(dshap::Error::NoRows)?;
                match irls.finish_sums(sums)? {
                    Step::Again => Ok(None),
                    Step::Converged(fit) => Ok(Some(vec![*fit])),
                }
            }
            Fitting::Each { irls, .. } => {
                let again = irls.as_mut().map_or(Ok(false), |irls| irls.finish_sums(sums))?;
                if again {
                    return Ok(None);
                }
                irls.take().map(OneVsRestIrls::finish).transpose()
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
