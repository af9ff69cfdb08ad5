//! Classification: a logistic fit, or one for each class against the others.

use super::second_order::default_min_above;
use super::{Drawer, Extras, RowValuer, SecondOrderModel};
use crate::Error;
use crate::general::Held;
use crate::memory::Budget;
use crate::observer::{Observer, Stage};
use crate::reference::each_batch;
use crate::request::Method;
use crate::sample::LabelSample;
use crate::second_order_choice::Shift;
use dshap::classification::{
    AuthorsMoments, ClassificationMethod, ClassificationValuer, GeneralClassificationValuer,
    GeneralOneVsRest, LogisticFit, LogisticOptions, OneVsRest, PrintedOneVsRest, PrintedValuer, with_class,
};
use dshap::linear::{Bound, DistanceTable, GeneralOptions};
use dshap::{Moments, Rows, Sizes};
use dshap_io::Source;
use dshap_table::Design;
use std::sync::Arc;

/// Logistic regression: of two classes one fit, of more one for each against
/// all others.
#[derive(Debug, Clone)]
pub(crate) struct LogisticModel {
    pub(crate) fits: Vec<LogisticFit>,
    pub(crate) options: LogisticOptions,
    pub(crate) columns: ColumnStats,
    /// Some reference rows, which standard errors are computed from.
    pub(crate) sample: LabelSample,
    /// How far reference rows are from the centre, fit by fit, for calibrated
    /// values.
    pub(crate) distances: Option<Vec<DistanceTable>>,
    /// Moments of the authors' variables, fit by fit, for bounds as printed.
    pub(crate) authors: Option<Vec<Moments>>,
    /// The reference rows, for values by drawing sets.
    pub(crate) rows: Option<Held>,
    /// The expansion that second-order values are made of.
    pub(crate) second_order: Option<Arc<SecondOrderModel>>,
}

/// Means and standard deviations over the reference, of the design columns and
/// of the target: all that is kept of its moments.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ColumnStats {
    pub(crate) mean: Vec<f64>,
    pub(crate) std_dev: Vec<f64>,
}

impl ColumnStats {
    pub(crate) fn of(moments: &Moments) -> Self {
        let columns = 0..=moments.n_features();
        let std_dev = |j: usize| (moments.centred(j, j) / moments.weight()).sqrt();
        Self {
            mean: columns.clone().map(|j| moments.mean(j)).collect(),
            std_dev: columns.map(std_dev).collect(),
        }
    }
}

impl LogisticModel {
    /// The first fit, which knows what all have in common.
    pub(crate) fn first(&self) -> &LogisticFit {
        self.fits.first().expect("a model has at least one fit")
    }

    /// The fit of two classes.
    pub(crate) fn only(&self) -> Option<&LogisticFit> {
        match self.fits.as_slice() {
            [fit] => Some(fit),
            _ => None,
        }
    }

    pub(crate) fn dim(&self, method: Method) -> usize {
        // The authors' variables have no column for the intercept.
        let of = |fit: &LogisticFit| if method.is_printed_bound() { fit.kept().len() } else { fit.dim() };
        self.fits.iter().map(of).max().unwrap_or(0)
    }

    /// The default `q`: one that leaves sets enough rows for all coefficients of a
    /// model, and for the shift, of second-order values.
    pub(crate) fn default_min(&self, method: Method, max: usize) -> usize {
        let p = self.dim(method);
        let Method::SecondOrder(choice) = method else { return Sizes::default_min(p, max) };
        let shift = match (choice.shift, &self.second_order) {
            (Shift::Given(shift), _) => Some(shift),
            (Shift::Measured, Some(model)) => model.shift(),
            _ => None,
        };
        let n_coefficients = match self.fits.len() {
            n @ 3.. if choice.takes_softmax(n, p, self.options.ridge) => (n - 1) * p,
            _ => p,
        };
        let least = shift.map_or(0, |shift| default_min_above(shift, p));
        Sizes::default_min(n_coefficients, usize::MAX).max(least).min(max).max(p + 2)
    }

    /// `(ΣW)²/(n ΣW²)`: the share of rows that those of a set amount to, in the
    /// fit where it is least.
    pub(crate) fn weight_share(&self) -> Option<f64> {
        let share = |class: usize, fit: &LogisticFit| {
            self.sample.with_rows(|rows, counts| {
                let stats = match self.only() {
                    Some(fit) => fit.stats(rows),
                    None => with_class(rows, class, |rows| fit.stats(rows)),
                };
                let stats = stats.ok()?;
                let sums = stats.iter().zip(counts).fold([0.0; 3], |[n, sum, square], (row, count)| {
                    [n + count, sum + count * row.weight, square + count * row.weight * row.weight]
                });
                Some(sums[1] * sums[1] / (sums[0] * sums[2])).filter(|share| share.is_finite())
            })?
        };
        let shares = self.fits.iter().enumerate().filter_map(|(class, fit)| share(class, fit));
        shares.min_by(f64::total_cmp)
    }

    pub(super) fn dropped(&self) -> Vec<usize> {
        let mut dropped: Vec<usize> =
            self.fits.iter().flat_map(|fit| fit.dropped().iter().copied()).collect();
        dropped.sort_unstable();
        dropped.dedup();
        dropped
    }

    pub(super) fn calibrate(
        &mut self,
        source: &Source,
        design: &Design,
        budget: Budget,
        observer: &dyn Observer,
    ) -> Result<(), Error> {
        let mut tables = vec![DistanceTable::new(); self.fits.len()];
        each_batch(source, design, budget, Stage::Calibrate, observer, |rows| {
            // Distances have nothing to do with labels, but are told of two.
            let (n_classes, labels) = (self.fits.len(), vec![0.0; rows.len()]);
            let any = if n_classes == 1 { rows } else { with_targets(rows, &labels)? };
            for (fit, table) in self.fits.iter().zip(&mut tables) {
                table.add(&fit.distances(any)?, rows.weights());
            }
            Ok(())
        })?;
        self.distances = Some(tables);
        Ok(())
    }

    pub(super) fn learn_authors(
        &mut self,
        source: &Source,
        design: &Design,
        budget: Budget,
        observer: &dyn Observer,
    ) -> Result<(), Error> {
        let mut moments: Vec<AuthorsMoments<'_>> = self.fits.iter().map(AuthorsMoments::new).collect();
        each_batch(source, design, budget, Stage::Calibrate, observer, |rows| {
            match moments.as_mut_slice() {
                [only] => only.push(rows),
                each => {
                    let mut each = each.iter_mut().enumerate();
                    each.try_for_each(|(class, moments)| with_class(rows, class, |rows| moments.push(rows)))
                }
            }
        })?;
        let finished: Result<Vec<Moments>, _> = moments.into_iter().map(AuthorsMoments::finish).collect();
        self.authors = Some(finished.map_err(|e| Error::core(e, design))?);
        Ok(())
    }

    pub(super) fn row_valuer(
        &self,
        design: &Design,
        method: Method,
        sizes: Sizes,
        extras: Extras,
    ) -> Result<RowValuer, Error> {
        let core = |error| Error::core(error, design);
        if let Method::Bound(bound) = method
            && method.is_printed_bound()
        {
            return self.printed(design, bound, sizes, extras);
        }
        if let Method::SecondOrder(choice) = method {
            return self.second_order_valuer(design, choice, sizes, extras);
        }
        let mut classes = Vec::with_capacity(self.fits.len());
        for (class, fit) in self.fits.iter().enumerate() {
            classes.push(self.of_class(class, fit.clone(), method, sizes, design)?);
        }
        let std_error = extras.std_error && method.has_std_error();
        if self.only().is_some() {
            let valuer = classes.pop().expect("there is a valuer for each fit");
            let valuer = if std_error {
                self.with_errors(|rows, counts| valuer.with_std_error_of(rows, Some(counts)))
            } else {
                Ok(valuer)
            };
            return Ok(RowValuer::Binary(Box::new(valuer.map_err(core)?)));
        }
        let all = OneVsRest::of(classes).map_err(core)?;
        let all = if extras.by_class { all.with_parts_by_class() } else { all };
        let all = if std_error {
            self.with_errors(|rows, counts| all.with_std_error_of(rows, Some(counts)))
        } else {
            Ok(all)
        };
        Ok(RowValuer::OneVsRest(all.map_err(core)?))
    }

    fn of_class(
        &self,
        class: usize,
        fit: LogisticFit,
        method: Method,
        sizes: Sizes,
        design: &Design,
    ) -> Result<ClassificationValuer, Error> {
        let valuer = match method {
            Method::Gaussian { constant, convention } => {
                ClassificationValuer::new(fit, sizes, ClassificationMethod::Gaussian { constant, convention })
            }
            Method::Bound(bound) => ClassificationValuer::new(fit, sizes, ClassificationMethod::Bound(bound)),
            Method::Calibrated => {
                let distances = self.distances.as_ref().and_then(|tables| tables.get(class));
                ClassificationValuer::calibrated(fit, sizes, distances.ok_or(Error::NotCalibrated)?)
            }
            Method::General(_)
            | Method::Algorithm3(_)
            | Method::SecondOrder(_)
            | Method::Closed
            | Method::MonteCarlo(_)
            | Method::Knn { .. }
            | Method::KnnShapley { .. } => {
                let what = format!("`--method {}` does not value labels row by row", method.name());
                return Err(Error::Misplaced { what });
            }
        };
        valuer.map_err(|e| Error::core(e, design))
    }

    fn printed(
        &self,
        design: &Design,
        bound: Bound,
        sizes: Sizes,
        extras: Extras,
    ) -> Result<RowValuer, Error> {
        let core = |error| Error::core(error, design);
        let authors = self.authors.as_ref().ok_or(Error::NoAuthorsMoments)?;
        let printed =
            |(fit, moments): (&LogisticFit, &Moments)| PrintedValuer::new(fit.clone(), moments, sizes, bound);
        let mut classes: Vec<PrintedValuer> =
            self.fits.iter().zip(authors).map(printed).collect::<Result<_, _>>().map_err(core)?;
        if self.only().is_some() {
            let valuer = classes.pop().expect("there is a valuer for each fit");
            return Ok(RowValuer::Printed(Box::new(valuer)));
        }
        let all = PrintedOneVsRest::of(classes).map_err(core)?;
        let all = if extras.by_class { all.with_parts_by_class() } else { all };
        Ok(RowValuer::PrintedOneVsRest(all))
    }

    pub(super) fn with_errors<T>(
        &self,
        then: impl FnOnce(Rows<'_>, &[f64]) -> Result<T, dshap::Error>,
    ) -> Result<T, dshap::Error> {
        self.sample.with_rows(then).unwrap_or(Err(dshap::Error::NoRows))
    }

    pub(super) fn drawer(
        &self,
        reference: Rows<'_>,
        sizes: Sizes,
        options: GeneralOptions,
        by_class: bool,
    ) -> Result<Drawer, dshap::Error> {
        let Some(fit) = self.only() else {
            let all = GeneralOneVsRest::new(self.fits.clone(), reference, sizes, options)?;
            return Ok(Drawer::OneVsRest(if by_class { all.with_parts_by_class() } else { all }));
        };
        let drawer = GeneralClassificationValuer::new(fit.clone(), reference, sizes, options)?;
        Ok(Drawer::Logistic(Box::new(drawer)))
    }
}

/// The same rows with other targets.
fn with_targets<'a>(rows: Rows<'a>, targets: &'a [f64]) -> Result<Rows<'a>, dshap::Error> {
    let relabelled = Rows::new(rows.x(), targets)?;
    match rows.weights() {
        Some(weights) => relabelled.with_weights(weights),
        None => Ok(relabelled),
    }
}
