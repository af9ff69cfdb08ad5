//! Expansions about a drawn reference, from those about the reference.

use super::expansion::ExpansionBuilder;
use super::options::SecondOrderOptions;
use super::sums::JointSweep;
use super::terms::RowForm;
use crate::blocks::BlockSums;
use crate::classification::one_step::OneStep;
use crate::{Error, Rows};
use std::sync::Arc;

/// What stays the same for all drawn references.
#[derive(Debug)]
pub(super) struct DrawnStart {
    /// One if all expansions are about the same fit, else one for each.
    fits: Vec<OneStep>,
    /// The sizes that expansions are made for.
    sizes: Vec<f64>,
    options: SecondOrderOptions,
}

impl DrawnStart {
    /// From the expansions about the reference, for `rows` that stand for it with average
    /// weights.
    pub(super) fn new(forms: &[RowForm], options: SecondOrderOptions, rows: Rows<'_>) -> Result<Self, Error> {
        let has_own_fits = forms.first().is_some_and(|form| form.fit.ridge() > 0.0);
        let with_fits = if has_own_fits { forms } else { &forms[..1] };
        let fits = with_fits.iter().map(|form| OneStep::new(Arc::clone(&form.fit), rows));
        Ok(Self {
            fits: fits.collect::<Result<_, _>>()?,
            sizes: forms.iter().map(|form| form.expansion.size).collect(),
            options,
        })
    }

    /// The expansions about the same rows with other weights.
    pub(super) fn with_weights(&self, rows: Rows<'_>) -> Result<Vec<RowForm>, Error> {
        let build = |(fit, &size): (&OneStep, &f64)| {
            ExpansionBuilder::new(Arc::new(fit.with_weights(rows)?), size, &self.options)
        };
        let mut builders =
            self.fits.iter().zip(&self.sizes).map(build).collect::<Result<Vec<ExpansionBuilder>, Error>>()?;
        loop {
            if builders.len() < self.sizes.len() && builders[0].is_about_size() {
                // Up to here they are the same.
                builders = self.sizes.iter().map(|&size| builders[0].for_size(size)).collect();
            }
            let task = |builder: &ExpansionBuilder| Some((Arc::clone(&builder.fit), builder.task()?));
            let tasks: Vec<_> = builders.iter().filter_map(task).collect();
            if tasks.is_empty() {
                break;
            }
            let sweep = JointSweep { spread: self.options.spread, tasks };
            let mut sums = BlockSums::new(rows.n_features(), sweep);
            sums.push(rows)?;
            builders.iter_mut().zip(sums.finish()?).for_each(|(builder, sums)| builder.take(sums));
        }
        let form = |builder: ExpansionBuilder| {
            let (fit, expansion) = builder.finish();
            RowForm::new(fit, expansion, self.options).for_values_only()
        };
        Ok(builders.into_iter().map(form).collect())
    }
}
