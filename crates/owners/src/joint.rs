//! The distributional value of each owner's rows together, from moments alone.

use crate::run::Played;
use crate::sums::merged;
use dshap::linear::{FitOptions, JointForm, LinearFit, SetGeometry};
use dshap::{Moments, Sizes};
use dshap_models::Facts;
use rayon::prelude::*;

/// The joint value of each owner in a regression, against the rows of all other owners:
/// what leaving one row out is for rows. Nothing for an owner whose others have no fit.
/// The sizes of sets are those of row values.
pub(crate) fn values(played: &Played, facts: &Facts) -> Option<Vec<Option<f64>>> {
    let moments = played.moments.as_ref()?;
    // A refitted intercept, a bound or a printed convention asks for another sum.
    let is_plain = matches!(facts.method, "gaussian" | "calibrated" | "general")
        && !facts.refit_intercept
        && facts.weight.is_none()
        && facts.convention == "definition";
    if !is_plain || facts.ridge.is_some_and(|ridge| ridge > 0.0) {
        return None;
    }
    let (sizes, before, after) = (Sizes::new(facts.q, facts.m), running(moments), running_back(moments));
    let one = |owner: usize| {
        let others = merged([&before[owner], &after[owner]].into_iter().flatten()).ok()??;
        let options = FitOptions { intercept: facts.intercept, ..FitOptions::default() };
        let fit = LinearFit::new(&others, options).ok()?;
        let form = JointForm::new(fit.dim(), sizes).ok()?;
        let set = SetGeometry::of(&fit, &moments[owner]).ok()?;
        Some(form.value(&set, fit.noise_var()).value)
    };
    Some((0..moments.len()).into_par_iter().map(one).collect())
}

/// Moments of all owners before each one, so that leaving one out costs no subtraction.
fn running(moments: &[Moments]) -> Vec<Option<Moments>> {
    let mut sum: Option<Moments> = None;
    let mut found = Vec::with_capacity(moments.len());
    for each in moments {
        found.push(sum.clone());
        sum = merged(sum.iter().chain([each])).ok().flatten();
    }
    found
}

/// Moments of all owners after each one.
fn running_back(moments: &[Moments]) -> Vec<Option<Moments>> {
    let backwards: Vec<Moments> = moments.iter().rev().cloned().collect();
    let mut found = running(&backwards);
    found.reverse();
    found
}
