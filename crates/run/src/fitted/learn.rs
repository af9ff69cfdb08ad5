//! The passes of a logistic fit: one for the columns, then one for each step of
//! Newton's method.

use super::{ColumnStats, LogisticModel};
use crate::Error;
use crate::memory::Budget;
use crate::observer::{Observer, Stage};
use crate::reference::{RowCounts, each_batch};
use crate::sample::{LabelSample, RowSample};
use dshap::classification::{
    Irls, LogisticFit, LogisticOptions, OneVsRestIrls, OneVsRestPass, PassBuilder, Step,
};
use dshap::{MomentsBuilder, Rows};
use dshap_io::Source;
use dshap_table::Design;

/// Fits a design with labels; also returns some rows, evenly spread, and how
/// often the reference was read.
pub(crate) fn learn_logistic(
    source: &Source,
    design: &Design,
    options: LogisticOptions,
    budget: Budget,
    observer: &dyn Observer,
) -> Result<(LogisticModel, RowSample, RowCounts, usize), Error> {
    let core = |error| Error::core(error, design);
    let n_classes = design.labels().map_or(2, dshap_table::Labels::n_classes);
    let mut fitting = Fitting::new(design.n_columns(), n_classes, options).map_err(core)?;
    let budget = budget.for_fits(fitting.n_fits() + 1);
    let mut even = RowSample::new(design.n_columns());
    let mut sample = LabelSample::new(design.n_columns(), n_classes);
    let mut moments = MomentsBuilder::new(design.n_columns());

    let mut pass = fitting.begin_pass();
    let counts = each_batch(source, design, budget, Stage::Fit, observer, |rows| {
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
        let again = each_batch(source, design, budget, Stage::Refine, observer, |rows| pass.push(rows))?;
        if again != counts {
            return Err(Error::Changed { before: counts.n_usable, after: again.n_usable });
        }
        n_passes += 1;
        fits = fitting.finish_pass(pass).map_err(core)?;
    }
    let fits = fits.unwrap_or_default();
    let model = LogisticModel {
        fits,
        options,
        columns,
        sample,
        distances: None,
        authors: None,
        rows: None,
        second_order: None,
    };
    Ok((model, even, counts, n_passes))
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
