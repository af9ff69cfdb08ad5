//! An expansion and a sum over set sizes: everything needed to value rows.

use super::bootstrap::{BootstrapOptions, replicates, std_errors};
use super::expansion::Expansion;
use super::left_out::logit_of;
use super::nodes::{NodeWeight, SizeNodes};
use super::options::SecondOrderOptions;
use super::passes::{SecondOrderPasses, SecondOrderStep};
use super::resummed::ShiftedSizes;
use super::row_value::{RowValue, collect};
use super::terms::{RowForm, RowTerms, TermsWork};
use crate::classification::blocks::check_labels;
use crate::classification::fit::PanelWork;
use crate::classification::{LogisticFit, LogisticOptions};
use crate::linear::fit::PANEL_ROWS;
use crate::values::{Note, Part, Values};
use crate::{Error, Rows, Sizes, Valuer, Warning};
use rayon::prelude::*;
use std::sync::Arc;

/// Values any row, seen or unseen, for a logistic model that is refitted on
/// each set.
#[derive(Debug, Clone)]
pub struct SecondOrderValuer {
    pub(super) fit: Arc<LogisticFit>,
    /// The sizes that expansions were made for; those that are summed over are
    /// among them where expansions change with the size.
    pub(super) made_for: Sizes,
    sizes: Sizes,
    pub(super) options: SecondOrderOptions,
    /// One for each size at which the expansion was made.
    pub(super) rows: Arc<[RowForm]>,
    form: Form,
    /// Valuers of drawn references, if standard errors were asked for.
    replicates: Arc<[SecondOrderValuer]>,
}

/// How the sum over set sizes is made.
#[derive(Debug, Clone)]
pub(super) enum Form {
    /// Log-loss without the ridge of a fit.
    Resummed { sizes: ShiftedSizes, shift: f64 },
    /// What each expansion counts for.
    Nodes(Vec<NodeWeight>),
}

impl Form {
    fn new(fit: &LogisticFit, made_for: Sizes, sizes: Sizes, options: SecondOrderOptions) -> Self {
        if options.is_resummed(fit.ridge()) {
            let shift = options.shift_for(fit.dim());
            let first = sizes.min() as f64 - 0.5 - shift;
            return Form::Resummed { sizes: ShiftedSizes::new(first, sizes.count()), shift };
        }
        Form::Nodes(SizeNodes::new(made_for, options.depends_on_size(fit.ridge())).weights_for(sizes))
    }
}

impl SecondOrderValuer {
    /// A valuer of rows against `fit`; `reference` are the rows that it was made
    /// of, in memory. See [`SecondOrderPasses`] for others.
    ///
    /// # Errors
    ///
    /// As for [`SecondOrderPasses`].
    pub fn of(
        fit: LogisticFit,
        reference: Rows<'_>,
        sizes: Sizes,
        options: SecondOrderOptions,
    ) -> Result<Self, Error> {
        let mut passes = SecondOrderPasses::new(fit, sizes, options)?;
        loop {
            let mut pass = passes.begin_pass();
            pass.push(reference)?;
            if let SecondOrderStep::Done(valuer) = passes.finish_pass(pass)? {
                return Ok(*valuer);
            }
        }
    }

    /// From expansions that were made for `sizes`, which were checked.
    pub(super) fn new(
        fit: Arc<LogisticFit>,
        sizes: Sizes,
        options: SecondOrderOptions,
        rows: Vec<RowForm>,
    ) -> Self {
        let form = Form::new(&fit, sizes, sizes, options);
        let replicates = Arc::from([]);
        Self { fit, made_for: sizes, sizes, options, rows: rows.into(), form, replicates }
    }

    /// The same valuer for other set sizes, without standard errors. Where the
    /// expansion changes with the size of the sets (accuracy, the ridge of a
    /// fit) only sizes among those that it was made for can be summed over.
    ///
    /// # Errors
    ///
    /// [`Error::Sizes`] when the sums do not exist for these sizes,
    /// [`Error::OtherSizes`] when the expansion was not made for them.
    pub fn with_sizes(&self, sizes: Sizes) -> Result<Self, Error> {
        self.options.check_sizes(&self.fit, sizes)?;
        let made_for = self.made_for;
        let is_within = sizes.min() >= made_for.min() && sizes.max() <= made_for.max();
        if self.options.depends_on_size(self.fit.ridge()) && !is_within {
            return Err(Error::OtherSizes { min: made_for.min(), max: made_for.max() });
        }
        let form = Form::new(&self.fit, made_for, sizes, self.options);
        Ok(Self { sizes, form, replicates: Arc::from([]), ..self.clone() })
    }

    /// Reports standard errors too: the spread of values over references that
    /// are drawn from `reference`, the rows that the fit was made of.
    ///
    /// Nothing is assumed of the inputs or of the model. Every drawn reference
    /// is fitted and summed like the reference itself, and values then cost as
    /// many times more as there are.
    ///
    /// # Errors
    ///
    /// [`Error::BadOption`] for fewer than two, [`Error::NoRows`],
    /// [`Error::BadWeight`], and as for [`LogisticFit::of`] if more than one in
    /// ten drawn references has no fit.
    pub fn with_std_error(self, reference: Rows<'_>, bootstrap: BootstrapOptions) -> Result<Self, Error> {
        self.with_std_error_of(reference, None, bootstrap)
    }

    /// The same from a sample of the reference, each row of which `stands_for`
    /// so many rows: it is given the weight that so many rows have in a drawn
    /// reference on average, and as much spread about it.
    ///
    /// # Errors
    ///
    /// As for [`with_std_error`](Self::with_std_error); [`Error::RowCount`] and
    /// [`Error::BadOption`] unless there is a number from 1 on for each row.
    pub fn with_std_error_of(
        mut self,
        sample: Rows<'_>,
        stands_for: Option<&[f64]>,
        bootstrap: BootstrapOptions,
    ) -> Result<Self, Error> {
        let logistic = self.logistic_options();
        let (sizes, options) = (self.sizes, self.options);
        let make = |rows: Rows<'_>| Self::of(LogisticFit::of(rows, logistic)?, rows, sizes, options);
        self.replicates = replicates(sample, stands_for, bootstrap, make)?.into();
        Ok(self)
    }

    /// How a drawn reference is fitted.
    fn logistic_options(&self) -> LogisticOptions {
        let (intercept, ridge) = (self.fit.intercept(), self.fit.ridge());
        LogisticOptions { intercept, ridge, ..LogisticOptions::default() }
    }

    /// The parts that values come with, in order: `value = potential − penalty
    /// + correction`.
    pub const PARTS: [Part; 6] =
        [Part::Potential, Part::Penalty, Part::Correction, Part::DistSq, Part::Prob, Part::Weight];

    /// The fit of the reference.
    pub fn fit(&self) -> &LogisticFit {
        &self.fit
    }

    /// The set sizes averaged over.
    pub fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// How values are computed.
    pub fn options(&self) -> SecondOrderOptions {
        self.options
    }

    /// `κ`, where the sum over sizes has one.
    pub fn shift(&self) -> Option<f64> {
        match self.form {
            Form::Resummed { shift, .. } => Some(shift),
            Form::Nodes(_) => None,
        }
    }

    /// The fits and expansions at which sizes are summed, by size: one if the
    /// expansion is the same for all.
    pub fn expansions(&self) -> impl ExactSizeIterator<Item = (&LogisticFit, &Expansion)> {
        self.rows.iter().map(|row| (&*row.fit, &row.expansion))
    }

    /// What is doubtful before a single row was valued.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = self.fit.warnings();
        warnings.extend(self.sizes.warning());
        warnings
    }

    /// Terms of rows that are not part of the reference, for each expansion in
    /// turn.
    ///
    /// # Errors
    ///
    /// As for [`values`](Valuer::values).
    pub fn terms(&self, points: Rows<'_>) -> Result<Vec<Vec<RowTerms>>, Error> {
        self.check(points)?;
        let of_form = |form: &RowForm| {
            let mut out = vec![None; points.len()];
            let mut work = form.work();
            for (panel, out) in out.chunks_mut(PANEL_ROWS).enumerate() {
                form.panel(points, panel * PANEL_ROWS, false, &mut work, out)?;
            }
            Ok(out.into_iter().map(Option::unwrap_or_default).collect())
        };
        self.rows.iter().map(of_form).collect()
    }

    /// Values `rows`, which are some or all of the reference rows themselves:
    /// each is valued against the reference without it, by one step of Newton's
    /// method for its own probability. Moments of the others stay, which is a
    /// matter of `1/n`, but for the slope of the utility. `prob` and `weight` stay those of the full fit.
    ///
    /// # Errors
    ///
    /// As for [`values`](Valuer::values).
    pub fn leave_one_out(&self, rows: Rows<'_>) -> Result<Values, Error> {
        self.value_rows(rows, true)
    }

    fn check(&self, rows: Rows<'_>) -> Result<(), Error> {
        self.fit.check_width(rows)?;
        rows.check_weights()?;
        check_labels(rows)
    }

    fn value_rows(&self, rows: Rows<'_>, left_out: bool) -> Result<Values, Error> {
        self.check(rows)?;
        let mut out = vec![RowValue::default(); rows.len()];
        let valued = out.par_chunks_mut(PANEL_ROWS).enumerate().try_for_each_init(
            || (self.rows.iter().map(RowForm::work).collect::<Vec<_>>(), PanelWork::new(&self.fit)),
            |(work, reference), (panel, out)| {
                self.value_panel(rows, panel * PANEL_ROWS, left_out, work, out)?;
                self.describe_panel(rows, panel * PANEL_ROWS, left_out, reference, out)
            },
        );
        // Which panel fails first is chance; the cell that is named is not.
        valued.map_err(|_: Error| rows.explain_not_finite(0, rows.len()))?;
        let mut values = collect(&out);
        let drawn = self.replicates.iter().map(|drawn| Ok(drawn.value_rows(rows, left_out)?.value));
        values.std_error = std_errors(&values.value, drawn)?;
        Ok(values)
    }

    fn value_panel(
        &self,
        rows: Rows<'_>,
        start: usize,
        left_out: bool,
        work: &mut [TermsWork],
        out: &mut [RowValue],
    ) -> Result<(), Error> {
        let mut terms = vec![None; out.len()];
        for (node, (form, work)) in self.rows.iter().zip(work).enumerate() {
            form.panel(rows, start, left_out, work, &mut terms)?;
            for (out, terms) in out.iter_mut().zip(&terms) {
                let Some(terms) = terms else {
                    out.note = Some(Note::LeverageOne);
                    continue;
                };
                out.add(node, terms, &self.form, form, self.sizes, self.options.utility);
            }
        }
        let is_finite = |row: &RowValue| row.note.is_some() || row.value().is_finite();
        if out.iter().all(is_finite) { Ok(()) } else { Err(Error::TooLarge) }
    }

    /// What a row is to the fit of the reference. With a ridge that is none of
    /// the fits that sets are expanded about.
    fn describe_panel(
        &self,
        rows: Rows<'_>,
        start: usize,
        left_out: bool,
        work: &mut PanelWork,
        out: &mut [RowValue],
    ) -> Result<(), Error> {
        if self.fit.ridge() == 0.0 {
            return Ok(());
        }
        self.fit.solve_panel(rows, start, out.len(), left_out, work)?;
        for (i, out) in out.iter_mut().enumerate() {
            let own = left_out.then(|| rows.weights().map_or(1.0, |weights| weights[start + i]));
            (out.prob, out.weight) = (work.row[i].prob, work.row[i].weight);
            let weight = logit_of(&self.fit, work, i, rows.y()[start + i], own).map(|row| row.weight);
            out.dist_sq = weight.unwrap_or(f64::NAN) * self.fit.n_rows() as f64 * work.spread[i];
        }
        Ok(())
    }
}

impl Valuer for SecondOrderValuer {
    /// Values `points`, whose targets are labels, 0 or 1.
    ///
    /// # Errors
    ///
    /// [`Error::FeatureCount`], [`Error::NotBinary`], [`Error::NotFinite`] and
    /// [`Error::TooLarge`].
    fn values(&self, points: Rows<'_>) -> Result<Values, Error> {
        self.value_rows(points, false)
    }
}
