//! The parameters of an estimator, checked and turned into what the engine asks
//! for.

use crate::density;
use crate::error::input_error;
use crate::neighbours;
use crate::table::Table;
use dshap::linear::{self, Constant, Convention};
use dshap::second_order::{Spread, Utility};
use dshap_run::{
    Method, MethodChoice, MethodName, Model, SPREADS, SavedValuer, SecondOrderSaid, Shift, SizeChoice, Task,
    UTILITIES, parse_constant,
};
use dshap_table::{Design, Labels, Missing, Unseen};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};

/// The model that an estimator describes: its attributes are named like its
/// parameters, and `_TASK` says what it is for.
pub(crate) fn model(
    estimator: &Bound<'_, PyAny>,
    table: &Table,
    categorical: Vec<String>,
) -> PyResult<Model> {
    let read = Reader { estimator };
    let tasks = [Task::Regression, Task::Classification, Task::Density].map(|task| (task.name(), task));
    let task = read.word("_TASK", &tasks)?;
    let mut model = Model::density();
    model.task = Some(task);
    model.selection.target = table.target().map(String::from);
    model.selection.weight = table.weight().map(String::from);
    model.selection.categorical = categorical;
    model.missing =
        read.word("missing", &[("error", Missing::Error), ("drop", Missing::Drop), ("mean", Missing::Mean)])?;
    model.unseen = read.word("unseen", &[("error", Unseen::Error), ("zero", Unseen::Zero)])?;
    model.sizes.max = read.size("m")?;
    model.n_components = read.size("pca")?;
    if task != Task::Density {
        model.sizes.min = read.size("q")?;
        model.fit.intercept = read.get("intercept", "True or False")?;
        model.fit.allow_dependent = read.word("dependent", &[("drop", true), ("error", false)])?;
    }
    match task {
        Task::Density => {
            if table.__len__() == 1 {
                // Otherwise each of its columns would be left out, because nothing varies in it.
                return Err(input_error(
                    "one reference row is too few, since nothing varies (n_samples = 1)",
                ));
            }
            (model.method, model.density) = density::choice(&read)?;
        }
        Task::Regression => {
            model.fit.refit_intercept = read.get("refit_intercept", "True or False")?;
            if model.fit.refit_intercept && !model.fit.intercept {
                return Err(input_error(
                    "`--refit-intercept` needs an intercept; leave `intercept=False` out",
                ));
            }
            let (choice, neighbours) = neighbours::choice(
                &read,
                read.choice(&MethodName::ALL.into_iter().filter(is_of_numbers).collect::<Vec<_>>())?,
            )?;
            let choice = MethodChoice {
                stop_draws: read.number("stop_draws")?,
                refit_intercept: model.fit.refit_intercept,
                ..choice
            };
            model.method = settled(choice.settle())?.unwrap_or_default();
            model.neighbours = neighbours;
        }
        Task::Classification => {
            let names: Vec<_> =
                MethodName::ALL.into_iter().filter(|name| *name != MethodName::Algorithm3).collect();
            let (choice, neighbours) = neighbours::choice(&read, read.choice(&names)?)?;
            let choice = MethodChoice { second_order: read.second_order()?, ..choice };
            model.neighbours = neighbours;
            let (method, ridge) = settled(choice.settle_beside_ridge())?;
            (model.method, model.ridge) = (method.unwrap_or_default(), ridge);
            let positive = estimator.getattr("positive")?;
            if !positive.is_none() {
                model.positive = Some(positive.str()?.to_string());
            }
        }
    }
    Ok(model)
}

/// Whether a method predicts numbers.
fn is_of_numbers(name: &MethodName) -> bool {
    *name != MethodName::SecondOrder
}

/// What goes together, or an exception that says why not.
pub(crate) fn settled<T>(choice: Result<T, String>) -> PyResult<T> {
    choice.map_err(|message| input_error(&message))
}

/// Set sizes as they are said where rows are valued.
pub(crate) fn sizes(m: Option<i64>, q: Option<i64>) -> PyResult<SizeChoice> {
    Ok(SizeChoice { min: checked_size("q", q)?, max: checked_size("m", m)? })
}

fn checked_size(name: &str, size: Option<i64>) -> PyResult<Option<usize>> {
    match size {
        None => Ok(None),
        // Beyond this, sums of set sizes no longer fit the numbers they are counted with.
        Some(size @ 1..=1_000_000_000_000_000) => Ok(Some(size as usize)),
        Some(size) => {
            Err(input_error(&format!("`{name}` is {size}; expected a whole number from 1 to 1e15, or None")))
        }
    }
}

/// The attributes of an estimator, one by one.
pub(crate) struct Reader<'a, 'py> {
    pub(crate) estimator: &'a Bound<'py, PyAny>,
}

impl<'py> Reader<'_, 'py> {
    pub(crate) fn get<T>(&self, name: &str, expected: &str) -> PyResult<T>
    where
        T: for<'a> FromPyObject<'a, 'py>,
    {
        let value = self.estimator.getattr(name)?;
        match value.extract::<T>() {
            Ok(found) => Ok(found),
            Err(_) => Err(input_error(&format!("`{name}` is {}; expected {expected}", value.repr()?))),
        }
    }

    pub(crate) fn word<T: Copy>(&self, name: &str, words: &[(&str, T)]) -> PyResult<T> {
        let listed = || words.iter().map(|(word, _)| format!("'{word}'")).collect::<Vec<_>>().join(" or ");
        let word: String = self.get(name, &listed())?;
        match words.iter().find(|(have, _)| *have == word) {
            Some((_, value)) => Ok(*value),
            None => Err(input_error(&format!("`{name}` is '{word}'; expected {}", listed()))),
        }
    }

    /// One of some words, or None.
    pub(crate) fn word_or_none<T: Copy>(&self, name: &str, words: &[(&str, T)]) -> PyResult<Option<T>> {
        match self.estimator.getattr(name)?.is_none() {
            true => Ok(None),
            false => self.word(name, words).map(Some),
        }
    }

    pub(crate) fn size(&self, name: &str) -> PyResult<Option<usize>> {
        checked_size(name, self.get(name, "a whole number, or None")?)
    }

    /// A number that is left out when it is the default, whatever the method.
    pub(crate) fn number(&self, name: &str) -> PyResult<Option<f64>> {
        self.get(name, "a number, or None")
    }

    /// What was said about second-order values; defaults go with every method.
    fn second_order(&self) -> PyResult<SecondOrderSaid> {
        let utility = self.word("utility", &UTILITIES)?;
        let spread = self.word("spread", &SPREADS)?;
        let shift = self.estimator.getattr("shift")?;
        // Python takes True for 1, which is no number of rows.
        let number = shift.extract::<Option<f64>>().ok().filter(|_| !shift.is_instance_of::<PyBool>());
        let shift = match number {
            Some(number) => number.map(Shift::Given),
            None if shift.extract::<String>().is_ok_and(|word| word == "measured") => Some(Shift::Measured),
            None => {
                let message = format!("`shift` is {}; expected a number, 'measured', or None", shift.repr()?);
                return Err(input_error(&message));
            }
        };
        Ok(SecondOrderSaid {
            utility: Some(utility).filter(|utility| *utility != Utility::default()),
            spread: Some(spread).filter(|spread| *spread != Spread::default()),
            small_ridge: self.number("small_ridge")?.filter(|ridge| *ridge != 0.0),
            shift,
        })
    }

    /// What was said about the method, as far as all tasks have it.
    fn choice(&self, names: &[MethodName]) -> PyResult<MethodChoice> {
        let names: Vec<_> = names.iter().map(|name| (name.word(), *name)).collect();
        let name: MethodName = self.word("method", &names)?;
        let word: String = self.get("constant", "'gain', 'theorem' or 'full:C'")?;
        let constant = parse_constant(&word)
            .map_err(|expected| input_error(&format!("`constant` is '{word}'; {expected}")))?;
        let convention = self.word(
            "convention",
            &[("definition", Convention::Definition), ("printed", Convention::Printed)],
        )?;
        Ok(MethodChoice {
            name: Some(name),
            ridge: self.number("ridge")?.filter(|ridge| *ridge != 0.0),
            bound_c: self.number("bound_c")?,
            bound_edge: self.number("bound_C")?,
            constant: Some(constant).filter(|constant| *constant != Constant::default()),
            convention: Some(convention).filter(|convention| *convention != Convention::default()),
            stop: self.number("stop")?,
            samples: self.get("samples", "a whole number, or None")?,
            seed: Some(self.get("seed", "a whole number from 0 on")?),
            ..MethodChoice::default()
        })
    }
}

/// The parameters of the estimator that would fit such a valuer.
pub(crate) fn of_valuer<'py>(py: Python<'py>, valuer: &SavedValuer) -> PyResult<Bound<'py, PyDict>> {
    let params = PyDict::new(py);
    let parts = valuer.design().parts();
    params.set_item("method", valuer.method().name())?;
    params.set_item("m", valuer.choice().max)?;
    params.set_item("pca", parts.projection.as_ref().map(|projection| projection.axes.len()))?;
    match valuer.task() {
        Task::Regression => params.set_item("refit_intercept", valuer.options().refit_intercept)?,
        Task::Classification => {
            params.set_item("positive", positive(py, valuer.design())?)?;
        }
        Task::Density => {}
    }
    match valuer.density_choice() {
        Some(choice) => density::add_params(&params, choice)?,
        None => {
            params.set_item("q", valuer.choice().min)?;
            params.set_item("intercept", valuer.options().intercept)?;
            params.set_item("dependent", if valuer.options().allow_dependent { "drop" } else { "error" })?;
        }
    }
    // Labels that are text are named among the categories too; they are no parameter.
    let is_feature = |name: &&String| valuer.design().target() != Some(name.as_str());
    let features = || valuer.categorical().iter().filter(is_feature);
    let categorical = if features().next().is_none() {
        None
    } else if valuer.has_names() {
        Some(features().collect::<Vec<_>>().into_pyobject(py)?.into_any())
    } else {
        // Columns without names are numbered.
        let number = |name: &String| valuer.design().features().position(|have| have == name);
        Some(features().filter_map(number).collect::<Vec<_>>().into_pyobject(py)?.into_any())
    };
    params.set_item("categorical", categorical)?;
    params.set_item(
        "missing",
        match parts.missing {
            Missing::Error => "error",
            Missing::Drop => "drop",
            Missing::Mean => "mean",
        },
    )?;
    params.set_item(
        "unseen",
        match parts.unseen {
            Unseen::Error => "error",
            Unseen::Zero => "zero",
        },
    )?;
    let convention = |convention| match convention {
        Convention::Definition => "definition",
        Convention::Printed => "printed",
    };
    match valuer.method() {
        Method::Gaussian { constant, convention: said } => {
            params.set_item(
                "constant",
                match constant {
                    Constant::Gain => "gain".to_owned(),
                    Constant::Theorem => "theorem".to_owned(),
                    Constant::Full(c) => format!("full:{c:?}"),
                },
            )?;
            params.set_item("convention", convention(said))?;
        }
        // What else there is to say about a density, it was asked for.
        Method::Calibrated | Method::Closed | Method::MonteCarlo(_) => {}
        Method::Knn { k } | Method::KnnShapley { k } => params.set_item("k", k)?,
        Method::SecondOrder(choice) => {
            let utility = UTILITIES.iter().find(|(_, utility)| *utility == choice.utility);
            let spread = SPREADS.iter().find(|(_, spread)| *spread == choice.spread);
            params.set_item("utility", utility.map(|(word, _)| *word))?;
            params.set_item("spread", spread.map(|(word, _)| *word))?;
            params.set_item("small_ridge", choice.small_ridge)?;
            match choice.shift {
                Shift::Default => params.set_item("shift", py.None())?,
                Shift::Given(shift) => params.set_item("shift", shift)?,
                Shift::Measured => params.set_item("shift", "measured")?,
            }
            params.set_item("seed", choice.seed)?;
        }
        Method::General(options) => {
            params.set_item("ridge", options.ridge)?;
            params.set_item("stop", options.tolerance)?;
            params.set_item("samples", options.max_rounds)?;
            params.set_item("seed", options.seed)?;
        }
        Method::Algorithm3(options) => {
            params.set_item("stop", options.outer_tolerance)?;
            params.set_item("stop_draws", options.inner_tolerance)?;
            params.set_item("samples", options.max_draws)?;
            params.set_item("seed", options.seed)?;
        }
        Method::Bound(linear::Bound { convention: said, tail, edge, ridge, stop, .. }) => {
            params.set_item("convention", convention(said))?;
            params.set_item("bound_c", tail)?;
            params.set_item("bound_C", edge)?;
            params.set_item("ridge", ridge)?;
            params.set_item("stop", stop)?;
        }
    }
    if let Some(choice) = valuer.neighbour_choice() {
        neighbours::add_params(&params, choice)?;
    }
    if let [fit, ..] = valuer.logistic_fits() {
        // Of the fit, whatever the method.
        params.set_item("ridge", fit.ridge())?;
    }
    Ok(params)
}

/// The label that counts as 1, where it is not the later one.
fn positive<'py>(py: Python<'py>, design: &Design) -> PyResult<Option<Bound<'py, PyAny>>> {
    Ok(match design.labels() {
        Some(Labels::Text(labels)) => match labels.as_slice() {
            [zero, one] if zero > one => Some(one.into_pyobject(py)?.into_any()),
            _ => None,
        },
        Some(Labels::Numbers(labels)) => match *labels.as_slice() {
            [zero, one] if zero > one => Some(one.into_pyobject(py)?.into_any()),
            _ => None,
        },
        Some(Labels::Booleans(labels)) => match *labels.as_slice() {
            [true, one] => Some(one.into_pyobject(py)?.to_owned().into_any()),
            _ => None,
        },
        None => None,
    })
}
