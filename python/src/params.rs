//! The parameters of an estimator, checked and turned into what the engine asks
//! for.

use crate::error::input_error;
use dshap::linear::{self, Constant, Convention, FitOptions};
use dshap_run::{
    DensityChoice, Method, MethodChoice, MethodName, Model, SavedValuer, SizeChoice, Task, parse_constant,
};
use dshap_table::{Missing, Selection, Unseen};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The model that an estimator describes: its attributes are named like its
/// parameters.
pub(crate) fn model(
    estimator: &Bound<'_, PyAny>,
    target: &str,
    weight: Option<&str>,
    categorical: Vec<String>,
) -> PyResult<Model> {
    let read = Reader { estimator };
    let fit = FitOptions {
        intercept: read.get("intercept", "True or False")?,
        refit_intercept: read.get("refit_intercept", "True or False")?,
        allow_dependent: read.word("dependent", &[("drop", true), ("error", false)])?,
    };
    if fit.refit_intercept && !fit.intercept {
        return Err(input_error("`--refit-intercept` needs an intercept; leave `intercept=False` out"));
    }
    Ok(Model {
        n_components: None,
        selection: Selection {
            target: Some(target.into()),
            weight: weight.map(String::from),
            categorical,
            ..Selection::default()
        },
        missing: read.word(
            "missing",
            &[("error", Missing::Error), ("drop", Missing::Drop), ("mean", Missing::Mean)],
        )?,
        unseen: read.word("unseen", &[("error", Unseen::Error), ("zero", Unseen::Zero)])?,
        task: Some(Task::Regression),
        method: read.method(fit.refit_intercept)?,
        ridge: None,
        positive: None,
        sizes: SizeChoice { min: read.size("q")?, max: read.size("m")? },
        fit,
        density: DensityChoice::default(),
    })
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

struct Reader<'a, 'py> {
    estimator: &'a Bound<'py, PyAny>,
}

impl<'py> Reader<'_, 'py> {
    fn get<T>(&self, name: &str, expected: &str) -> PyResult<T>
    where
        T: for<'a> FromPyObject<'a, 'py>,
    {
        let value = self.estimator.getattr(name)?;
        match value.extract::<T>() {
            Ok(found) => Ok(found),
            Err(_) => Err(input_error(&format!("`{name}` is {}; expected {expected}", value.repr()?))),
        }
    }

    fn word<T: Copy>(&self, name: &str, words: &[(&str, T)]) -> PyResult<T> {
        let listed = || words.iter().map(|(word, _)| format!("'{word}'")).collect::<Vec<_>>().join(" or ");
        let word: String = self.get(name, &listed())?;
        match words.iter().find(|(have, _)| *have == word) {
            Some((_, value)) => Ok(*value),
            None => Err(input_error(&format!("`{name}` is '{word}'; expected {}", listed()))),
        }
    }

    fn size(&self, name: &str) -> PyResult<Option<usize>> {
        checked_size(name, self.get(name, "a whole number, or None")?)
    }

    /// A number that is left out when it is the default, whatever the method.
    fn number(&self, name: &str) -> PyResult<Option<f64>> {
        self.get(name, "a number, or None")
    }

    fn method(&self, refit_intercept: bool) -> PyResult<Method> {
        let name: MethodName = self.word("method", &MethodName::ALL.map(|name| (name.word(), name)))?;
        let word: String = self.get("constant", "'gain', 'theorem' or 'full:C'")?;
        let constant = parse_constant(&word)
            .map_err(|expected| input_error(&format!("`constant` is '{word}'; {expected}")))?;
        let convention = self.word(
            "convention",
            &[("definition", Convention::Definition), ("printed", Convention::Printed)],
        )?;
        let choice = MethodChoice {
            name: Some(name),
            ridge: self.number("ridge")?.filter(|ridge| *ridge != 0.0),
            bound_c: self.number("bound_c")?,
            bound_edge: self.number("bound_C")?,
            constant: Some(constant).filter(|constant| *constant != Constant::default()),
            convention: Some(convention).filter(|convention| *convention != Convention::default()),
            stop: self.number("stop")?,
            stop_draws: self.number("stop_draws")?,
            samples: self.get("samples", "a whole number, or None")?,
            seed: Some(self.get("seed", "a whole number from 0 on")?),
            refit_intercept,
        };
        let settled = choice.settle().map_err(|message| input_error(&message))?;
        Ok(settled.unwrap_or_default())
    }
}

/// The parameters of the estimator that would fit such a valuer.
pub(crate) fn of_valuer<'py>(py: Python<'py>, valuer: &SavedValuer) -> PyResult<Bound<'py, PyDict>> {
    let params = PyDict::new(py);
    let parts = valuer.design().parts();
    params.set_item("method", valuer.method().name())?;
    params.set_item("m", valuer.choice().max)?;
    params.set_item("q", valuer.choice().min)?;
    params.set_item("intercept", valuer.options().intercept)?;
    params.set_item("refit_intercept", valuer.options().refit_intercept)?;
    params.set_item("dependent", if valuer.options().allow_dependent { "drop" } else { "error" })?;
    let categorical = match valuer.categorical() {
        [] => None,
        named if valuer.has_names() => Some(named.into_pyobject(py)?.into_any()),
        // Columns without names are numbered.
        named => {
            let number = |name: &String| valuer.design().features().position(|have| have == name);
            Some(named.iter().filter_map(number).collect::<Vec<_>>().into_pyobject(py)?.into_any())
        }
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
        // Densities have no estimator here yet.
        Method::Calibrated | Method::Closed | Method::MonteCarlo(_) => {}
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
    Ok(params)
}
