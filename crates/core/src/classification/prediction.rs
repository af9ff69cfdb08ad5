//! What a logistic fit predicts for a row: its probabilities, also without the row itself.

use super::fit::{LogisticFit, PanelWork};
use super::logit::Logit;
use crate::values::{Part, Values};
use crate::{Error, Rows};

/// A leverage this close to 1 leaves no digits for the row's own coefficient.
const LEVERAGE_ROOM: f64 = 1e-10;

/// The label of a row, and what the fit makes of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LabelFacts {
    /// The class.
    pub(crate) given: f64,
    /// Its probability.
    pub(crate) prob: f64,
    /// The most probable class.
    pub(crate) predicted: f64,
}

impl Default for LabelFacts {
    fn default() -> Self {
        Self::NONE
    }
}

impl LabelFacts {
    /// For a row about whose model nothing is known.
    pub(crate) const NONE: Self = Self { given: f64::NAN, prob: f64::NAN, predicted: f64::NAN };

    /// The label of two that a row has, under its model.
    fn of(label: f64, model: Option<Logit>) -> Self {
        let Some(model) = model else { return Self { given: label, ..Self::NONE } };
        let prob = (-model.loss).exp();
        Self { given: label, prob, predicted: if prob >= 0.5 { label } else { 1.0 - label } }
    }

    /// The label of several that a row has, by the probabilities of all classes. Those need not
    /// add up to 1.
    pub(crate) fn of_classes(given: usize, prob: &[f64]) -> Self {
        let total: f64 = prob.iter().sum();
        let likelier = |best: usize, class: usize| if prob[class] > prob[best] { class } else { best };
        // At equal probabilities the given label is not doubted.
        let predicted = (0..prob.len()).fold(given, likelier);
        match total > 0.0 {
            true => Self { given: given as f64, prob: prob[given] / total, predicted: predicted as f64 },
            false => Self { given: given as f64, ..Self::NONE },
        }
    }

    /// One of [`Part::OF_LABEL`].
    pub(crate) fn part(&self, part: Part) -> f64 {
        match part {
            Part::GivenLabel => self.given,
            Part::LabelProb => self.prob,
            _ => self.predicted,
        }
    }

    /// The parts of many rows.
    pub(crate) fn parts(rows: &[Self]) -> Vec<(Part, Vec<f64>)> {
        let column = |part: Part| (part, rows.iter().map(|row| row.part(part)).collect());
        Part::OF_LABEL.into_iter().map(column).collect()
    }
}

impl LogisticFit {
    /// The model of row `i` of a solved panel. With `own`, the weight of the row in the
    /// reference, that of the reference without it, by one step of Newton's method; `None`
    /// if the row alone determines a coefficient.
    pub(crate) fn logit_of(
        &self,
        panel: &PanelWork,
        i: usize,
        label: f64,
        own: Option<f64>,
    ) -> Option<Logit> {
        let row = panel.row[i];
        // A row of weight 0 is in the table but not in the reference.
        let Some(own) = own.map(|own| own * self.weight_scale()).filter(|&own| own > 0.0) else {
            return Some(row);
        };
        let reach = own * panel.damped[i];
        let room = 1.0 - row.weight * reach;
        (room >= LEVERAGE_ROOM).then(|| Logit::new(panel.eta()[i] - row.surprise * reach / room, label))
    }

    /// The same as what it says about the label.
    pub(super) fn label_of(&self, panel: &PanelWork, i: usize, label: f64, own: Option<f64>) -> LabelFacts {
        LabelFacts::of(label, self.logit_of(panel, i, label, own))
    }

    /// The labels of rows, of which those of the reference are `left_out`.
    pub(crate) fn label_parts(&self, rows: Rows<'_>, left_out: bool) -> Result<Vec<(Part, Vec<f64>)>, Error> {
        let mut out = vec![LabelFacts::NONE; rows.len()];
        self.for_panels(rows, left_out, &mut out, |work, start, out| {
            for (i, out) in out.iter_mut().enumerate() {
                let own = left_out.then(|| rows.weights().map_or(1.0, |weights| weights[start + i]));
                *out = self.label_of(work, i, rows.y()[start + i], own);
            }
        })?;
        Ok(LabelFacts::parts(&out))
    }

    /// What each feature of a row contributes to its squared distance on the working variables
    /// is the product of two numbers: how far it is from the weighted mean of the reference, and
    /// the pull of all deviations on it. Both are returned for every feature; those left out have
    /// no pull. With an intercept, the products add up to the squared distance but for what every
    /// row of its weight has.
    ///
    /// # Errors
    ///
    /// As for [`stats`](Self::stats).
    pub fn deviations(&self, row: Rows<'_>) -> Result<Vec<(f64, f64)>, Error> {
        self.check_width(row)?;
        let mut work = PanelWork::new(self);
        self.solve_panel(row, 0, 1, false, &mut work)?;
        let weight = work.row[0].weight * self.n_rows() as f64;
        let solved: Vec<f64> = (0..self.dim()).map(|k| work.panel.x[(0, k)]).collect();
        let pull = self.solved_back(&solved);
        self.design().fill(row, 0, 1, &mut work.panel);
        let first = self.design().first();
        let mut out = vec![(0.0, 0.0); self.n_features()];
        for (k, &feature) in self.kept().iter().enumerate() {
            let column = first + k;
            let deviation = work.panel.x[(0, column)] - self.weighted_mean(column);
            let scale = self.design().scale[k];
            out[feature] = (deviation / scale, weight * pull[column] * scale);
        }
        Ok(out)
    }
}

/// The labels of rows by one fit for each class against the others, from the values that each
/// gives them; nothing if these say nothing about labels.
pub(crate) fn label_parts_of_classes(by_class: &[Values]) -> Option<Vec<(Part, Vec<f64>)>> {
    let columns = |part: Part| by_class.iter().map(|values| values.part(part)).collect::<Option<Vec<_>>>();
    let (given, prob) = (columns(Part::GivenLabel)?, columns(Part::LabelProb)?);
    let n_rows = by_class.first()?.len();
    let of_row = |i: usize| {
        let label = given.iter().position(|given| given[i] == 1.0)?;
        let of_class = |class: usize| if class == label { prob[class][i] } else { 1.0 - prob[class][i] };
        let probs: Vec<f64> = (0..by_class.len()).map(of_class).collect();
        Some(LabelFacts::of_classes(label, &probs))
    };
    let rows: Vec<LabelFacts> = (0..n_rows).map(|i| of_row(i).unwrap_or(LabelFacts::NONE)).collect();
    Some(LabelFacts::parts(&rows))
}
