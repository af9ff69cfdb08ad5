//! Parameters of Python as options of the catalogue, and back.
//!
//! An estimator has its parameters as attributes, a function hands over its
//! keywords as those of an object; both have their defaults in `_DEFAULTS`. What
//! values an option takes is known from the catalogue, and nowhere else.

use crate::error::input_error;
use crate::table::Table;
use dshap_catalogue::options::{self, CATEGORICAL, M, NO_INTERCEPT, POSITIVE, Q, TARGET, TASK, WEIGHT};
use dshap_catalogue::{Given, Kind, OptionEntry, Task, Value, Word};
use dshap_models::{FittedValuer, Method, SizeChoice, methods};
use dshap_table::{Design, Labels, Missing, Unseen};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};

/// The options that an estimator or a function gives for the rows of a table.
/// Parameters that have their default are not given.
pub(crate) fn given(
    object: &Bound<'_, PyAny>,
    task: Option<Task>,
    table: &Table,
    categorical: &[String],
) -> PyResult<Given> {
    let mut given = changed(object)?;
    let word = |word: &str| Value::Word(word.into());
    if let Some(target) = table.target() {
        given = given.with(&TARGET, word(target));
    }
    if let Some(weight) = table.weight() {
        given = given.with(&WEIGHT, word(weight));
    }
    let categorical = table.categorical(categorical)?;
    if !categorical.is_empty() {
        given = given.with(&CATEGORICAL, Value::List(categorical));
    }
    let nothing_to_predict = table.target().is_none().then_some(Task::Density);
    match task.or(nothing_to_predict) {
        Some(task) => Ok(given.with(&TASK, word(task.name()))),
        None => Ok(given),
    }
}

/// The options whose parameters do not have their default, without those that name columns.
pub(crate) fn changed(object: &Bound<'_, PyAny>) -> PyResult<Given> {
    let defaults = object.getattr("_DEFAULTS")?;
    let mut given = Given::new();
    // Columns are named in the words of a table, not in those of the user.
    for option in options::all().filter(|option| option.name != CATEGORICAL.name) {
        let name = parameter(option);
        if !defaults.contains(name)? {
            continue;
        }
        let value = read(option, &object.getattr(name)?)?;
        if value != read(option, &defaults.get_item(name)?)?
            && let Some(value) = value
        {
            given = given.with(option, value);
        }
    }
    Ok(given)
}

/// The options that a function without rows gives.
pub(crate) fn options_of(object: &Bound<'_, PyAny>) -> PyResult<Given> {
    let defaults = object.getattr("_DEFAULTS")?;
    let mut given = Given::new();
    for option in options::all() {
        let name = parameter(option);
        if defaults.contains(name)?
            && let Some(value) = read(option, &object.getattr(name)?)?
        {
            given = given.with(option, value);
        }
    }
    Ok(given)
}

/// The method of an estimator, which must leave something fitted.
pub(crate) fn method(estimator: &Bound<'_, PyAny>, task: Task) -> PyResult<&'static Method> {
    let is_possible = |method: &&Method| method.entry.is_for(task) && method.baseline().is_none();
    let possible: Vec<&'static Method> = methods::METHODS.iter().copied().filter(is_possible).collect();
    let value = estimator.getattr("method")?;
    let name: Option<String> = value.extract().ok();
    match possible.iter().find(|method| name.as_deref() == Some(method.name())) {
        Some(&method) => Ok(method),
        None => {
            let names: Vec<&str> = possible.iter().map(|method| method.name()).collect();
            Err(refused("method", &value, &alternatives(&names, None)))
        }
    }
}

/// What an estimator is for.
pub(crate) fn task(estimator: &Bound<'_, PyAny>) -> PyResult<Task> {
    let name: String = estimator.getattr("_TASK")?.extract()?;
    Task::parse(&name).ok_or_else(|| input_error(&format!("`{name}` is not a task")))
}

/// Set sizes in place of those of a fit.
pub(crate) fn sizes(m: Option<usize>, q: Option<usize>) -> SizeChoice {
    SizeChoice { min: q, max: m }
}

/// The same as options.
pub(crate) fn given_sizes(sizes: SizeChoice) -> Given {
    let each = [(&M, sizes.max), (&Q, sizes.min)];
    let known = each.into_iter().filter_map(|(option, size)| Some((option, size?)));
    known.fold(Given::new(), |given, (option, size)| given.with(option, Value::Count(size as u64)))
}

/// What Python calls an option.
pub(crate) fn parameter(option: &OptionEntry) -> &'static str {
    if option.name == NO_INTERCEPT.name { "intercept" } else { option.name }
}

/// The value of an option, or nothing: None, and a switch that is off.
fn read(option: &OptionEntry, value: &Bound<'_, PyAny>) -> PyResult<Option<Value>> {
    if value.is_none() {
        return Ok(None);
    }
    let is_boolean = boolean(value).is_some();
    let found = match option.takes {
        Kind::Switch => match boolean(value) {
            // The one parameter that is on by default.
            Some(is_on) if is_on == (option.name == NO_INTERCEPT.name) => return Ok(None),
            Some(_) => Some(Value::On),
            None => None,
        },
        Kind::Number { .. } if !is_boolean => number(value),
        Kind::Count { .. } if !is_boolean => value.extract().ok().map(Value::Count),
        Kind::Counts { .. } if !is_boolean => {
            let several = || value.extract().ok().map(Value::Counts);
            value.extract().ok().map(Value::Count).or_else(several)
        }
        Kind::WordOrNumber { .. } if !is_boolean => number(value).or_else(|| word(value)),
        Kind::Choice { .. } | Kind::Constant | Kind::Semivalue => word(value),
        // A label may be anything that can be written down.
        Kind::Text => Some(Value::Word(value.str()?.to_string())),
        _ => None,
    };
    match found.filter(|found| option.takes.accepts(found)) {
        Some(found) => Ok(Some(found)),
        None => Err(refused(parameter(option), value, &expected(option.takes))),
    }
}

/// A number; text that holds one is a slip.
fn number(value: &Bound<'_, PyAny>) -> Option<Value> {
    value.extract().ok().map(Value::Number)
}

fn word(value: &Bound<'_, PyAny>) -> Option<Value> {
    value.extract().ok().map(Value::Word)
}

/// True or false, of Python or of NumPy.
fn boolean(value: &Bound<'_, PyAny>) -> Option<bool> {
    let is_numpy = || value.get_type().name().is_ok_and(|name| name == "bool" || name == "bool_");
    (value.is_instance_of::<PyBool>() || is_numpy()).then(|| value.is_truthy().ok())?
}

fn refused(name: &str, value: &Bound<'_, PyAny>, expected: &str) -> PyErr {
    match value.repr() {
        Ok(shown) => input_error(&format!("`{name}` is {shown}; expected {expected}")),
        Err(error) => error,
    }
}

/// What a value has to be, in words for Python.
fn expected(kind: Kind) -> String {
    let listed = |words: &[Word], or: Option<String>| {
        alternatives(&words.iter().map(|word| word.word).collect::<Vec<_>>(), or)
    };
    match kind {
        Kind::Switch => "True or False".into(),
        Kind::Choice { words } => listed(words, None),
        Kind::WordOrNumber { words, least, most } if most < f64::MAX => {
            listed(words, Some(format!("a number from {least:e} to {most:e}")))
        }
        Kind::WordOrNumber { words, .. } => listed(words, Some("a number".into())),
        other => other.expected(),
    }
}

/// Words in quotes, and what else is possible: `'a', 'b' or a number`.
pub(crate) fn alternatives(words: &[&str], or: Option<String>) -> String {
    let all: Vec<String> = words.iter().map(|word| format!("'{word}'")).chain(or).collect();
    match all.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => all.concat(),
    }
}

/// The parameters of the estimator that would fit such a valuer; those that have
/// their default are left out.
pub(crate) fn of_valuer<'py>(py: Python<'py>, valuer: &FittedValuer) -> PyResult<Bound<'py, PyDict>> {
    let params = PyDict::new(py);
    let how = &valuer.how;
    for option in how.given.options() {
        let name = parameter(option);
        match how.given.value(option) {
            Some(Value::On) => params.set_item(name, option.name != NO_INTERCEPT.name)?,
            Some(Value::Number(number)) => params.set_item(name, number)?,
            Some(Value::Count(count)) => params.set_item(name, count)?,
            Some(Value::Word(word)) => params.set_item(name, word)?,
            Some(Value::List(_) | Value::Counts(_)) | None => {}
        }
    }
    params.set_item("method", how.method.name())?;
    let parts = valuer.design.parts();
    params.set_item("pca", parts.projection.as_ref().map(|projection| projection.axes.len()))?;
    params.set_item("categorical", categorical(py, valuer)?)?;
    params.set_item("rare_levels", parts.rare_levels)?;
    params.set_item(POSITIVE.name, positive(py, &valuer.design)?)?;
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
    Ok(params)
}

/// The features that were named as categories: by name, or by number where columns
/// have no names.
fn categorical<'py>(py: Python<'py>, valuer: &FittedValuer) -> PyResult<Option<Bound<'py, PyAny>>> {
    // Labels that are text are named among the categories too; they are no parameter.
    let is_feature = |name: &&String| valuer.design.target() != Some(name.as_str());
    let features: Vec<&String> = valuer.categorical.iter().filter(is_feature).collect();
    Ok(if features.is_empty() {
        None
    } else if valuer.has_names() {
        Some(features.into_pyobject(py)?.into_any())
    } else {
        let number = |name: &String| valuer.design.features().position(|have| have == name);
        Some(features.into_iter().filter_map(number).collect::<Vec<_>>().into_pyobject(py)?.into_any())
    })
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
