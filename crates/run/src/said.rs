//! What was said about methods, whichever of them it is for.
//!
//! A front end collects what was said once. One method takes all of it or refuses
//! ([`Said::model`], [`Said::baseline`]); of several, each takes what it knows, and
//! what none of them knows is refused (`Said::among`). That a method knows an
//! option is found out by asking it, so that there is no second table of what goes
//! with what.

use crate::Error;
use crate::baseline::{Baseline, BaselineChoice, UtilityName};
use crate::choice::{MethodChoice, MethodName};
use crate::evaluate::AnyMethod;
use crate::request::{Model, Task};
use crate::second_order_choice::{UTILITIES, word};
use dshap::density::Scaling;
use dshap::neighbours::Scale;
use dshap::second_order::Utility;

/// What was said about columns, the fit and methods, as far as anything was.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// Columns, the task, set sizes and the fit, and what only densities and
    /// neighbours have. Its method is not looked at, nor is what the other fields
    /// here say.
    pub model: Model,
    /// What was said about the method, and its name if one was named. Whether
    /// intercepts are refitted, the model says.
    pub choice: MethodChoice,
    /// How columns are made comparable.
    pub scale: Option<Scale>,
    /// Whether columns may depend on others.
    pub dependent: Option<bool>,
}

/// What each of several methods was told.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Told {
    /// Method by method.
    pub(crate) methods: Vec<Said>,
    /// What sets of rows are measured by, along the orders of a trial.
    pub(crate) trial: Said,
}

impl Said {
    /// The model of the method that was named, or of the default one.
    ///
    /// # Errors
    ///
    /// What does not go together, in words.
    pub fn model(&self) -> Result<Model, String> {
        let Said { model: plain, choice, scale, .. } = self;
        let by_neighbours = choice.name.is_some_and(|name| MethodName::OF_NEIGHBOURS.contains(&name));
        if !plain.neighbours.test.is_empty() && !by_neighbours {
            return Err(format!("`--test` goes with `--method knn`, `knn-shapley`, {OF_BASELINES} only"));
        }
        if choice.second_order.utility.is_some() && choice.name != Some(MethodName::SecondOrder) {
            return Err(format!("`--utility` goes with `--method second-order`, {OF_BASELINES} only"));
        }
        let (mut choice, mut model) = (*choice, self.plain());
        choice.refit_intercept = plain.fit.refit_intercept;
        let rows = |samples: u64| usize::try_from(samples).unwrap_or(usize::MAX);
        if by_neighbours {
            // Here samples are test rows.
            model.neighbours.scale = *scale;
            model.neighbours.samples = choice.samples.take().map(rows);
            model.neighbours.seed = choice.seed;
            self.refuse_dependent()?;
        } else {
            model.density.scaling = scale.map(scaling);
        }
        if plain.task == Some(Task::Density) && !by_neighbours {
            // Here samples are reference rows, whatever the method.
            model.density.samples = choice.samples.take().map(rows);
            model.density.seed = choice.seed;
            choice.name = choice.name.or(Some(MethodName::Closed));
            self.refuse_dependent()?;
        }
        let (method, ridge) = match plain.task {
            Some(Task::Regression | Task::Density) => (choice.settle()?, None),
            // The task may turn out to be classification, where every fit takes a ridge.
            _ => choice.settle_beside_ridge()?,
        };
        (model.method, model.ridge) = (method.unwrap_or_default(), ridge);
        Ok(model)
    }

    /// What a baseline is told, and the model whose columns and sizes it has.
    ///
    /// # Errors
    ///
    /// What does not go together, in words.
    pub fn baseline(&self, baseline: Baseline) -> Result<(Model, BaselineChoice), String> {
        let Said { model: plain, choice, scale, .. } = self;
        let name = baseline.word();
        choice.check_ranges()?;
        // A density in closed form knows none of what baselines do not know.
        let mut others = MethodChoice {
            name: Some(MethodName::Closed),
            ridge: None,
            stop: None,
            samples: None,
            refit_intercept: false,
            ..*choice
        };
        others.second_order.utility = None;
        others.settle()?;
        if plain.neighbours.metric.is_some() {
            return Err("`--metric` goes with `--method knn` and `knn-shapley` only".into());
        }
        if let (false, Some(flag)) = (baseline.measures(), self.first_measured_by()) {
            return Err(format!("`{flag}` does not go with `--method {name}`, which looks at no row"));
        }
        let utility = match choice.second_order.utility {
            None => None,
            Some(Utility::Accuracy) => Some(UtilityName::Accuracy),
            Some(Utility::LogLoss) => Some(UtilityName::LogLoss),
            Some(other) => {
                let other = word(&UTILITIES, &other);
                return Err(format!("`--utility {other}` does not go with `--method {name}`"));
            }
        };
        let mut model = self.plain();
        model.density.scaling = scale.map(scaling);
        let choice = BaselineChoice {
            utility,
            ridge: choice.ridge,
            samples: choice.samples.map(|samples| usize::try_from(samples).unwrap_or(usize::MAX)),
            stop: choice.stop,
            seed: choice.seed.unwrap_or(0),
            ..BaselineChoice::new(baseline)
        };
        Ok((model, choice))
    }

    /// The model without a method.
    fn plain(&self) -> Model {
        let mut model = self.model.clone();
        model.fit.allow_dependent = self.dependent.unwrap_or(true);
        model
    }

    /// The seed of everything that is left to chance.
    pub(crate) fn seed(&self) -> u64 {
        self.choice.seed.unwrap_or(0)
    }

    /// Hands each method what it knows; with `has_trial` there is something beside
    /// them that measures sets of rows.
    ///
    /// # Errors
    ///
    /// [`Error::Misplaced`] for a method that does not go with the task, for an
    /// option that none of them knows, and for options that do not go together.
    pub(crate) fn among(&self, methods: &[AnyMethod], has_trial: bool, task: Task) -> Result<Told, Error> {
        let all = Said { model: Model { task: Some(task), ..self.model.clone() }, ..self.clone() };
        let takers: Vec<Taker> =
            methods.iter().copied().map(Taker::Method).chain(has_trial.then_some(Taker::Trial)).collect();
        let nothing = all.with_only(|_| false);
        for &taker in &takers {
            taker.takes(&nothing, task)?;
        }
        let mut told: Vec<Said> = vec![all.clone(); takers.len()];
        for option in OPTIONS.iter().filter(|option| (option.is_said)(&all)) {
            let refused = takers.iter().map(|taker| taker.refusal(&all, option, task)).collect::<Vec<_>>();
            if refused.iter().all(Option::is_some) {
                // Chance has the least to say about what an option is for.
                let knows_why = takers.iter().zip(refused).filter(|(taker, _)| !taker.is_chance());
                let why = knows_why.filter_map(|(_, refusal)| refusal).last();
                return Err(why.unwrap_or_else(|| option.refused_by_chance()));
            }
            for (said, _) in told.iter_mut().zip(&refused).filter(|(_, refusal)| refusal.is_some()) {
                (option.unsay)(said);
            }
        }
        for (&taker, said) in takers.iter().zip(&told) {
            taker.takes(said, task)?;
        }
        let trial = if has_trial { told.pop() } else { None };
        Ok(Told { methods: told, trial: trial.unwrap_or(nothing) })
    }

    /// The same with only some of what was said.
    fn with_only(&self, keep: impl Fn(&Opt) -> bool) -> Said {
        let mut said = self.clone();
        OPTIONS.iter().filter(|option| !keep(option)).for_each(|option| (option.unsay)(&mut said));
        said
    }

    /// The first thing said that is about models or what they are measured by.
    fn first_measured_by(&self) -> Option<&'static str> {
        let apart = ["--m", "--samples", "--stop", "--positive"];
        OPTIONS
            .iter()
            .filter(|option| !apart.contains(&option.flag))
            .find(|o| (o.is_said)(self))
            .map(|o| o.flag)
    }

    /// Neither way of treating dependent columns says anything about distances.
    fn refuse_dependent(&self) -> Result<(), String> {
        match self.dependent {
            None => Ok(()),
            Some(_) => {
                Err("`--dependent` goes neither with `--task density` nor with nearest neighbours: only \
                         constant columns are left out, and `--strict` makes that an error"
                    .into())
            }
        }
    }
}

const OF_BASELINES: &str = "`d-shapley`, `tmc-shapley`, `exact-shapley` and `loo`";

fn scaling(scale: Scale) -> Scaling {
    match scale {
        Scale::Standard => Scaling::Standard,
        Scale::AsGiven => Scaling::None,
    }
}

fn misplaced(what: String) -> Error {
    Error::Misplaced { what }
}

/// Something that options are for.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Taker {
    Method(AnyMethod),
    /// What sets of rows are measured by, along the orders of a trial.
    Trial,
}

impl Taker {
    /// Refuses what it does not know, and what does not go together.
    fn takes(self, said: &Said, task: Task) -> Result<(), Error> {
        match self {
            Taker::Method(AnyMethod::Valuer(name)) => {
                let choice = MethodChoice { name: Some(name), ..said.choice };
                let model = Said { choice, ..said.clone() }.model().map_err(misplaced)?;
                model.settled_for(task).map(|_| ())
            }
            Taker::Method(AnyMethod::Baseline(baseline)) => {
                let (model, choice) = said.baseline(baseline).map_err(misplaced)?;
                choice.check(false, &model)?;
                choice.check_task(task, &model)
            }
            Taker::Trial if said.model.sizes.min.is_some() => {
                Err(misplaced("`--q` goes with none of the methods that were named".into()))
            }
            Taker::Trial => Taker::Method(AnyMethod::Baseline(Baseline::LeaveOneOut)).takes(said, task),
        }
    }

    /// Why it does not know an option, if it does not.
    fn refusal(self, said: &Said, option: &Opt, task: Task) -> Option<Error> {
        let only = |flags: &[&str]| {
            let mut only = said.with_only(|other| other.flag == option.flag || flags.contains(&other.flag));
            // Whether it takes a ridge at all is asked, not whether it takes this one.
            only.choice.ridge = only.choice.ridge.map(|_| 1.0);
            only
        };
        // Printed bounds stop, others do not; neighbours draw test rows unless they are given.
        let context = match option.flag {
            "--stop" => Some("--convention"),
            "--samples" => Some("--test"),
            _ => None,
        };
        let is_taken = |flag: &&str| self.takes(&said.with_only(|other| other.flag == *flag), task).is_ok();
        self.takes(&only(context.filter(is_taken).as_slice()), task).err()
    }

    fn is_chance(self) -> bool {
        self == Taker::Method(AnyMethod::Baseline(Baseline::Random))
    }
}

/// An option as it is typed, whether it was, and how to forget it.
struct Opt {
    flag: &'static str,
    is_said: fn(&Said) -> bool,
    unsay: fn(&mut Said),
}

impl Opt {
    fn refused_by_chance(&self) -> Error {
        misplaced(format!("`{}` does not go with `--method random`, which looks at no row", self.flag))
    }
}

fn differs<T: PartialEq>(said: &T, unsaid: &T) -> bool {
    said != unsaid
}

macro_rules! options {
    ($($flag:literal: $($field:ident).+ = $none:expr;)*) => {
        [$(Opt {
            flag: $flag,
            is_said: |said| differs(&said.$($field).+, &$none),
            unsay: |said| said.$($field).+ = $none,
        }),*]
    };
}

/// All options that some methods know and others do not. Seeds go with every
/// method: that of one that draws nothing does no harm.
const OPTIONS: [Opt; 25] = options! {
    "--m": model.sizes.max = None;
    "--q": model.sizes.min = None;
    "--no-intercept": model.fit.intercept = true;
    "--refit-intercept": model.fit.refit_intercept = false;
    "--dependent": dependent = None;
    "--positive": model.positive = None;
    "--ridge": choice.ridge = None;
    "--bound-c": choice.bound_c = None;
    "--bound-C": choice.bound_edge = None;
    "--constant": choice.constant = None;
    "--convention": choice.convention = None;
    "--stop": choice.stop = None;
    "--stop-draws": choice.stop_draws = None;
    "--samples": choice.samples = None;
    "--utility": choice.second_order.utility = None;
    "--spread": choice.second_order.spread = None;
    "--small-ridge": choice.second_order.small_ridge = None;
    "--shift": choice.second_order.shift = None;
    "--kernel": model.density.kernel = None;
    "--bandwidth": model.density.bandwidth = None;
    "--every-row": model.density.every_row = false;
    "--scale": scale = None;
    "--k": choice.k = None;
    "--metric": model.neighbours.metric = None;
    "--test": model.neighbours.test = Vec::new();
};
