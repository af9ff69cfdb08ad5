//! An expansion and a sum over set sizes: everything needed to value rows.

use super::bootstrap::{BootstrapOptions, Deviations, replicates};
use super::expansion::Expansion;
use super::left_out::logit_of;
use super::nodes::NodeWeight;
use super::options::{SecondOrderOptions, Utility};
use super::passes::{SecondOrderPasses, SecondOrderStep};
use super::resummed::ShiftedSizes;
use super::terms::{RowForm, RowTerms, TermsWork};
use crate::classification::LogisticFit;
use crate::classification::blocks::check_labels;
use crate::classification::fit::PanelWork;
use crate::linear::fit::PANEL_ROWS;
use crate::values::{Note, Part, Values};
use crate::{Error, Rows, Sizes, Valuer, Warning};
use rayon::prelude::*;
use std::sync::Arc;

/// Values any row, seen or unseen, for a logistic model that is refitted on
/// each set.
#[derive(Debug)]
pub struct SecondOrderValuer {
    fit: Arc<LogisticFit>,
    sizes: Sizes,
    options: SecondOrderOptions,
    /// One for each size at which the expansion was made.
    rows: Vec<RowForm>,
    form: Form,
    /// Valuers of drawn references, if standard errors were asked for.
    replicates: Vec<SecondOrderValuer>,
}

/// How the sum over set sizes is made.
#[derive(Debug)]
pub(super) enum Form {
    /// Log-loss without the ridge of a fit.
    Resummed { sizes: ShiftedSizes, shift: f64 },
    /// What each expansion counts for.
    Nodes(Vec<NodeWeight>),
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

    pub(super) fn new(
        fit: Arc<LogisticFit>,
        sizes: Sizes,
        options: SecondOrderOptions,
        rows: Vec<RowForm>,
        form: Form,
    ) -> Self {
        Self { fit, sizes, options, rows, form, replicates: Vec::new() }
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
    pub fn with_std_error(mut self, reference: Rows<'_>, bootstrap: BootstrapOptions) -> Result<Self, Error> {
        self.replicates = replicates(&self.fit, reference, self.sizes, self.options, bootstrap)?;
        Ok(self)
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
        if !self.replicates.is_empty() {
            let mut deviations = vec![Deviations::default(); rows.len()];
            for replicate in &self.replicates {
                let drawn = replicate.value_rows(rows, left_out)?;
                deviations.iter_mut().zip(drawn.value).for_each(|(all, value)| all.push(value));
            }
            let missing = |value: &f64| if value.is_nan() { f64::NAN } else { 1.0 };
            let errors =
                deviations.iter().zip(&values.value).map(|(all, value)| all.std_dev() * missing(value));
            values.std_error = Some(errors.collect());
        }
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

/// All that is known of a valued row.
#[derive(Debug, Clone, Copy, Default)]
struct RowValue {
    potential: f64,
    penalty: f64,
    correction: f64,
    dist_sq: f64,
    prob: f64,
    weight: f64,
    note: Option<Note>,
}

impl RowValue {
    fn value(&self) -> f64 {
        self.potential - self.penalty + self.correction
    }

    /// Adds what one expansion contributes.
    fn add(
        &mut self,
        node: usize,
        terms: &RowTerms,
        form: &Form,
        row: &RowForm,
        sizes: Sizes,
        utility: Utility,
    ) {
        match form {
            Form::Resummed { sizes: shifted, .. } => {
                let m = sizes.max() as f64;
                let (s1, s2) = shifted.sums(terms.dist_sq);
                self.potential = 0.5 * terms.spread * (s1 + s2) / m;
                self.penalty = -0.5 * terms.second_square * s2 / m;
                self.correction = (0.5 * terms.third_linear + terms.ridge) * s2 / m;
            }
            Form::Nodes(weights) => {
                let weight = &weights[node];
                self.potential +=
                    weight.third * terms.third_position - weight.mean_second * terms.mean_second;
                self.potential += free_gain(row, weight, utility);
                self.penalty -= weight.second * terms.second_square;
                self.correction += weight.first * terms.first
                    + weight.second * (terms.second_linear + 2.0 * terms.ridge)
                    + weight.third * terms.third_linear;
            }
        }
        if row.fit.ridge() == 0.0 {
            (self.dist_sq, self.prob, self.weight) = (terms.dist_sq, terms.prob, terms.weight);
        }
    }
}

/// What every row gains alike because the ridge weighs less in a set that is
/// one row larger: `U(β_λ)`, and the mean of what sets fall short of it, change
/// from `λ = γ/s` to `γ/(s + 1)`. With `dU/dλ = rᵀPβ` the first is
/// `−γrᵀPβ/(s(s + 1))`.
fn free_gain(row: &RowForm, weight: &NodeWeight, utility: Utility) -> f64 {
    let expansion = &row.expansion;
    if row.fit.ridge() == 0.0 {
        return 0.0;
    }
    let pull: f64 = expansion.turn.transpose() * &expansion.pull;
    // Smoothed accuracy counts the spread of sets already.
    let mean_change = if utility == Utility::Accuracy { 0.0 } else { weight.mean_change };
    mean_change * expansion.mean_second - weight.target * (expansion.size + 1.0) * pull
}

fn collect(rows: &[RowValue]) -> Values {
    let column = |field: fn(&RowValue) -> f64| -> Vec<f64> {
        rows.iter().map(|row| if row.note.is_some() { f64::NAN } else { field(row) }).collect()
    };
    let parts = SecondOrderValuer::PARTS.map(|part| {
        let cells = match part {
            Part::Potential => column(|row| row.potential),
            Part::Penalty => column(|row| row.penalty),
            Part::Correction => column(|row| row.correction),
            Part::DistSq => column(|row| row.dist_sq),
            Part::Prob => rows.iter().map(|row| row.prob).collect(),
            _ => rows.iter().map(|row| row.weight).collect(),
        };
        (part, cells)
    });
    Values {
        value: column(RowValue::value),
        parts: parts.into(),
        notes: rows.iter().enumerate().filter_map(|(i, row)| Some((i, row.note?))).collect(),
        ..Values::default()
    }
}
