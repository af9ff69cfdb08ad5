//! The distributional value of each owner's rows together, from moments alone.

use crate::run::Played;
use crate::sums::merged;
use dshap::linear::{FitOptions, JointForm, LinearFit, SetGeometry};
use dshap::owners::Parts;
use dshap::{Moments, Sizes};
use dshap_catalogue::Measures;
use dshap_models::Facts;
use dshap_run::SizesUsed;
use rayon::prelude::*;

/// The rows that owners bring: moments of parts, and who holds which.
pub(crate) struct Joining {
    pub(crate) parts: Parts,
    /// None for a part without rows.
    pub(crate) moments: Vec<Option<Moments>>,
}

impl Joining {
    /// The moments of each owner's rows, and those of all rows that it does not have.
    fn each_and_others(&self) -> Option<(Vec<Moments>, Vec<Option<Moments>>)> {
        let n_owners = self.parts.n_owners();
        if self.parts.n_parts() == n_owners {
            let each: Vec<Moments> = self.moments.iter().cloned().collect::<Option<_>>()?;
            let (before, after) = (running(&each), running_back(&each));
            let others = before.iter().zip(&after);
            let others =
                others.map(|(before, after)| merged([before, after].into_iter().flatten()).ok().flatten());
            let others = others.collect();
            return Some((each, others));
        }
        // Where copies count once, an owner's rows are its part and those it shares.
        let some = |owner: usize, has: bool| {
            let held = self.parts.of(owner);
            let parts = self.moments.iter().enumerate();
            merged(parts.filter(|(part, _)| held.contains(part) == has).filter_map(|(_, of)| of.as_ref()))
                .ok()
                .flatten()
        };
        let each: Option<Vec<Moments>> = (0..n_owners).map(|owner| some(owner, true)).collect();
        Some((each?, (0..n_owners).into_par_iter().map(|owner| some(owner, false)).collect()))
    }
}

/// The joint value of each owner in a regression, against the rows of all other owners:
/// what leaving one row out is for rows. Nothing for an owner whose others have no fit.
/// Each has one value for each of `sizes`, which are those of row values.
pub(crate) fn values(played: &Played, facts: &Facts, sizes: &[SizesUsed]) -> Option<Vec<Vec<Option<f64>>>> {
    let joining = played.joining.as_ref()?;
    // A refitted intercept, a bound, a printed convention, another constant or other weights of sizes ask
    // for another sum.
    let is_plain = facts.described().entry.measures == Measures::SquaredError
        && !facts.refit_intercept
        && facts.weight.is_none()
        && facts.convention == "definition"
        && facts.constant.as_deref() == Some("gain")
        && facts.semivalue.is_none();
    if !is_plain || facts.ridge.is_some_and(|ridge| ridge > 0.0) {
        return None;
    }
    let (moments, others) = joining.each_and_others()?;
    let fitted = |owner: usize| {
        let options = FitOptions { intercept: facts.intercept, ..FitOptions::default() };
        let fit = LinearFit::new(others[owner].as_ref()?, options).ok()?;
        let set = SetGeometry::of(&fit, &moments[owner]).ok()?;
        Some((fit, set))
    };
    let one = |owner: usize| {
        let fitted = fitted(owner);
        let at = |used: &SizesUsed| {
            let (fit, set) = fitted.as_ref()?;
            let form = JointForm::new(fit.dim(), Sizes::new(used.q, used.m)).ok()?;
            Some(form.value(set, fit.noise_var()).value)
        };
        sizes.iter().map(at).collect()
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
