//! Every decision about exceptions, and words for Python.

use dshap_run::Error;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// Which exception an error becomes.
enum Class {
    /// `DshapError` itself: the method cannot do what was asked.
    Plain,
    /// `InputError`, also a `ValueError`.
    Input,
    /// `FileError`, also an `OSError`.
    File,
}

/// The exception for an error of the engine.
pub(crate) fn raise(py: Python<'_>, error: &Error) -> PyErr {
    let class = match error {
        Error::Io(dshap_io::Error::Read { .. } | dshap_io::Error::Write { .. })
        | Error::Io(dshap_io::Error::NoFolder { .. })
        | Error::Container(dshap_io::ContainerError::Read { .. }) => Class::File,
        Error::NoRowsToDraw | Error::FixedReference { .. } | Error::NotAtHand | Error::NotCalibrated => {
            Class::Plain
        }
        _ => Class::Input,
    };
    let mut text = error.to_string();
    // scikit-learn looks for these words, and so do people who know it.
    match error {
        Error::Table { error: dshap_table::Error::Missing { .. }, .. } => text += " (NaN, None or null)",
        Error::Core { error: dshap::Error::TooFewRows { n_rows, .. }, .. } => {
            text += &format!(" (n_samples = {n_rows})");
        }
        _ => {}
    }
    let hint = match error {
        Error::FixedReference { .. } => {
            Some("fit the whole reference anew, or use `--method gaussian`".into())
        }
        Error::OtherColumns { suggestion: None, .. } => None,
        Error::CannotMerge { .. } => Some("fit the parts with the same columns and parameters".into()),
        other => other.hint(),
    };
    if let Some(hint) = hint {
        text += &format!("\nhint: {hint}");
    }
    made(py, class, &in_python(&text))
}

/// An `InputError` that says `message`.
pub(crate) fn input_error(message: &str) -> PyErr {
    Python::attach(|py| made(py, Class::Input, &in_python(message)))
}

fn made(py: Python<'_>, class: Class, text: &str) -> PyErr {
    static CLASSES: [PyOnceLock<Py<PyType>>; 3] = [const { PyOnceLock::new() }; 3];
    let (name, cell) = match class {
        Class::Plain => ("DshapError", &CLASSES[0]),
        Class::Input => ("InputError", &CLASSES[1]),
        Class::File => ("FileError", &CLASSES[2]),
    };
    match cell.import(py, "dshap._errors", name) {
        Ok(class) => PyErr::from_type(class.clone(), text.to_owned()),
        Err(error) => error,
    }
}

/// Says in parameters of Python what the engine says in flags.
pub(crate) fn in_python(text: &str) -> String {
    let mut said = text.to_owned();
    for (flags, words) in PHRASES {
        said = said.replace(flags, words);
    }
    let mut out = String::with_capacity(said.len());
    let mut rest = said.as_str();
    while let Some(start) = rest.find("`--") {
        let (before, flag) = rest.split_at(start);
        out += before;
        let Some(end) = flag[3..].find('`') else { break };
        out += &parameter(&flag[3..3 + end]);
        rest = &flag[3 + end + 1..];
    }
    out + rest
}

/// `missing drop` as `` `missing='drop'` ``.
fn parameter(flag: &str) -> String {
    let (name, word) = match flag.split_once(' ') {
        Some((name, word)) => (name, Some(word)),
        None => (flag, None),
    };
    match (name, word) {
        ("exclude", Some(column)) => format!("`X.drop(columns='{column}')`"),
        ("categorical", Some(column)) => format!("`categorical=['{column}']`"),
        ("weight", _) => "`sample_weight`".into(),
        ("target", _) => "`y`".into(),
        (name, None) => format!("`{}`", name.replace('-', "_")),
        (name, Some(word)) => format!("`{}='{word}'`", name.replace('-', "_")),
    }
}

/// Where a flag has no counterpart.
const PHRASES: &[(&str, &str)] = &[
    (", or fewer columns: `--features`, `--exclude`", ", or fewer columns"),
    ("check `--features` and `--exclude`", "check the columns of X"),
    ("leave them out with `--exclude`", "leave them out of X"),
    ("`--exclude` leaves a column out", "leave it out of X"),
    ("name another `--target`", "give another y"),
    ("name a column of numbers with `--target`", "give numbers as y"),
    ("`--task regression` takes the two values as numbers", "give numbers as y"),
    (
        ", or leave out `--dependent error` to have them dropped",
        ", or have them dropped with `--dependent drop`",
    ),
];
