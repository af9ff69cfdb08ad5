//! Which options go to which method.
//!
//! Each method gets the options that it takes. An option that no method takes is
//! refused.

use crate::entrant::Entrant;
use dshap_catalogue::options::{CONVENTION, Q, RIDGE, SAMPLES, STOP, TEST};
use dshap_catalogue::{Given, MethodEntry, Misuse, OptionEntry, Task, check, check_several};
use dshap_models::sets::Baseline;
use dshap_models::{Method, methods};

/// The options of each method, and those of the curves.
#[derive(Debug)]
pub(crate) struct HandedOut {
    /// Method by method.
    pub(crate) methods: Vec<Given>,
    /// What sets of rows are measured by, along the orders of a trial.
    pub(crate) trial: Given,
}

/// The method of a baseline.
pub(crate) fn method_of(baseline: Baseline) -> &'static Method {
    let found = methods::METHODS.iter().copied().find(|method| method.baseline() == Some(baseline));
    found.expect("every baseline is a method")
}

/// Hands each method the options it takes. With `has_trial`, sets of rows are
/// measured along curves as well, which takes the options of `loo`.
///
/// # Errors
///
/// A method that is not for the task, an option that no method takes, or options
/// that do not go together.
pub(crate) fn hand_out(
    tried: &[Entrant],
    has_trial: bool,
    task: Task,
    given: &Given,
) -> Result<HandedOut, Misuse> {
    let all = methods::entries();
    let trial = has_trial.then(|| method_of(Baseline::LeaveOneOut));
    let named: Vec<&'static MethodEntry> = tried.iter().map(|entrant| &entrant.method.entry).collect();
    let entries: Vec<&'static MethodEntry> =
        named.iter().copied().chain(trial.map(|method| &method.entry)).collect();
    for entry in &entries {
        check(entry, Some(task), &Given::new(), &all)?;
    }
    let own_of = |entry: &MethodEntry| {
        given.only(|option| !option.is_of_methods() || is_usable(option, entry, task, given, &all))
    };
    let mut own: Vec<Given> = entries.iter().map(|entry| own_of(entry)).collect();
    // Curves begin at `q` rows, but they alone are no reason to give it.
    let is_lost = |option: &OptionEntry| {
        let users = if option.name == Q.name { &own[..named.len()] } else { &own[..] };
        option.is_of_methods() && !users.iter().any(|own| own.has(option))
    };
    if let Some(lost) = given.options().find(|option| is_lost(option)) {
        if lost.name == TEST.name {
            // Closed forms take test rows as another question, which is not that of a trial.
            let takers = all.iter().filter(|entry| entry.takes(&TEST, Some(task)).is_some());
            let takers = takers.filter(|entry| measures_by_tests(entry)).map(|entry| entry.name).collect();
            return Err(Misuse::NotTakenByAny { option: TEST.name, takers, only_task: None });
        }
        if lost.name == Q.name {
            check_several(&named, task, &given.only(|option| option.name == Q.name), &all)?;
        } else {
            own = check_several(&entries, task, given, &all)?;
        }
    }
    for (own, entrant) in own.iter_mut().zip(tried) {
        *own = entrant.options(std::mem::take(own));
    }
    for (entry, own) in entries.iter().zip(&own) {
        check(entry, Some(task), own, &all)?;
    }
    let trial = trial.and_then(|_| own.pop()).unwrap_or_default().without(&Q);
    Ok(HandedOut { methods: own, trial })
}

/// Whether a method takes an option as it was given, whatever else was given. Two
/// options are judged with another one beside them: printed bounds stop and others
/// do not; neighbours draw test rows unless test rows are given.
fn is_usable(
    option: &OptionEntry,
    entry: &MethodEntry,
    task: Task,
    given: &Given,
    all: &[&'static MethodEntry],
) -> bool {
    let is_taken = |option: &OptionEntry| entry.takes(option, Some(task)).is_some();
    if option.name == RIDGE.name {
        // A method that takes a ridge may still refuse this one, with an error.
        return is_taken(option);
    }
    if option.name == TEST.name && !measures_by_tests(entry) {
        return false;
    }
    let pairs = [(&STOP, &CONVENTION), (&SAMPLES, &TEST)];
    let beside = pairs.into_iter().find(|(one, _)| one.name == option.name).map(|(_, other)| other);
    let beside = beside.filter(|other| is_taken(other)).map(|other| other.name);
    let few = given.only(|other| other.name == option.name || Some(other.name) == beside);
    check(entry, Some(task), &few, all).is_ok()
}

/// Whether test rows measure what the method values rows by. Closed forms take them, too, as
/// the data to predict; in a trial, all methods value rows for the same data.
fn measures_by_tests(entry: &MethodEntry) -> bool {
    let method = methods::find(entry.name);
    method.is_some_and(|method| method.baseline().is_some() || method.is_of_neighbours())
}

#[cfg(test)]
mod tests {
    use super::*;
    use dshap_catalogue::options::{CONSTANT, K, SEMIVALUE, TARGET, UTILITY};

    fn find(names: &[&str]) -> Vec<Entrant> {
        names.iter().map(|name| Entrant::parse(name).expect("a method")).collect()
    }

    fn given(options: &[(&'static OptionEntry, &str)]) -> Given {
        let with = |given: Given, (option, text): &(&'static OptionEntry, &str)| {
            given.with(option, option.parse(text).expect("a value"))
        };
        options.iter().fold(Given::new(), with)
    }

    #[test]
    fn each_method_gets_the_options_it_takes() {
        let given = given(&[(&TARGET, "y"), (&RIDGE, "2"), (&SAMPLES, "60"), (&K, "3"), (&TEST, "t.csv")]);
        let found = find(&["gaussian", "knn", "d-shapley", "random"]);
        let out = hand_out(&found, true, Task::Regression, &given).expect("goes together");
        let has = |own: &Given| [&RIDGE, &SAMPLES, &K, &TEST].map(|option| own.has(option));
        assert_eq!(has(&out.methods[0]), [false; 4]);
        // Test rows are given, so that none is drawn.
        assert_eq!(has(&out.methods[1]), [false, false, true, true]);
        assert_eq!(has(&out.methods[2]), [true, true, false, true]);
        assert_eq!(has(&out.methods[3]), [false; 4]);
        assert_eq!(has(&out.trial), [true, false, false, true]);
    }

    #[test]
    fn what_no_method_takes_is_refused() {
        let refused = |names: &[&str], has_trial, options: &[(&'static OptionEntry, &str)]| {
            let refused = hand_out(&find(names), has_trial, Task::Regression, &given(options));
            refused.expect_err("does not go together")
        };
        let none = |misuse| match misuse {
            Misuse::NotTakenByAny { option, .. } => option,
            other => panic!("{other:?}"),
        };
        assert_eq!(none(refused(&["loo"], false, &[(&CONSTANT, "gain")])), "constant");
        assert_eq!(none(refused(&["knn-shapley"], true, &[(&Q, "5")])), "q");
        assert_eq!(none(refused(&[], true, &[(&Q, "5")])), "q");
        let other_task = refused(&["closed"], false, &[(&TARGET, "y")]);
        assert!(matches!(other_task, Misuse::NotForTask { method: "closed", .. }), "{other_task:?}");
        let stop = refused(&["lower"], true, &[(&STOP, "0.1")]);
        assert!(matches!(stop, Misuse::Conflict { .. }), "{stop:?}");
    }

    #[test]
    fn a_method_leaves_out_what_another_one_uses() {
        let stop = given(&[(&STOP, "0.1")]);
        let out =
            hand_out(&find(&["lower", "tmc-shapley"]), true, Task::Regression, &stop).expect("is taken");
        assert_eq!(out.methods.iter().map(|own| own.has(&STOP)).collect::<Vec<_>>(), [false, true]);
        let brier = given(&[(&UTILITY, "brier")]);
        let out =
            hand_out(&find(&["second-order", "loo"]), true, Task::Classification, &brier).expect("is taken");
        let has = [&out.methods[0], &out.methods[1], &out.trial].map(|own| own.has(&UTILITY));
        assert_eq!(has, [true, false, false]);
    }

    #[test]
    fn own_options_are_checked_like_others() {
        let out = hand_out(&find(&["gaussian", "gaussian:banzhaf"]), true, Task::Regression, &Given::new());
        let words = out.expect("is taken").methods;
        assert_eq!(words.iter().map(|own| own.word(&SEMIVALUE)).collect::<Vec<_>>(), [None, Some("banzhaf")]);
        let refused = hand_out(&find(&["loo:banzhaf"]), true, Task::Regression, &Given::new());
        assert!(matches!(refused, Err(Misuse::NotTaken { option: "semivalue", .. })), "{refused:?}");
    }

    #[test]
    fn curves_begin_at_q_only_if_a_method_takes_it() {
        let q = given(&[(&Q, "20")]);
        let out = hand_out(&find(&["gaussian"]), true, Task::Regression, &q).expect("is taken");
        assert!(out.methods[0].has(&Q) && !out.trial.has(&Q));
    }
}
