//! Every decision about exceptions.
//!
//! The words are those of the engine where they fit; `words.rs` has the others.

use crate::words::{hint, in_python, message};
use dshap_run::Error;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// Which exception an error becomes.
enum Class<'a> {
    /// `DshapError` itself: the method cannot do what was asked.
    Plain,
    /// `InputError`, also a `ValueError`.
    Input,
    /// `FileError`, also an `OSError`.
    File { errno: Option<i32>, file: &'a str },
}

/// What the columns are in Python that are neither features.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct About<'a> {
    /// The name of the column that holds `y`.
    pub(crate) target: Option<&'a str>,
    /// The name of the one that holds `sample_weight`.
    pub(crate) weight: Option<&'a str>,
}

/// The exception for an error of the engine.
pub(crate) fn raise(py: Python<'_>, error: &Error) -> PyErr {
    raise_about(py, error, About::default())
}

/// The exception for an error of the engine about a table.
pub(crate) fn raise_about(py: Python<'_>, error: &Error, about: About<'_>) -> PyErr {
    let mut text = message(error, about);
    // scikit-learn looks for these words, and so do people who know it.
    match error {
        Error::Table { error: dshap_table::Error::Missing { .. }, .. } => text += " (NaN, None or null)",
        Error::Core { error: dshap::Error::TooFewRows { n_rows, .. }, .. } => {
            text += &format!(" (n_samples = {n_rows})");
        }
        Error::Table { error: dshap_table::Error::OneLabel { .. }, .. } => text += " (one class)",
        _ => {}
    }
    if let Some(hint) = hint(error) {
        text += &format!("\nhint: {hint}");
    }
    made(py, class(error), &text)
}

/// An `InputError` that says `message`.
pub(crate) fn input_error(message: &str) -> PyErr {
    Python::attach(|py| made(py, Class::Input, &in_python(message)))
}

/// A plain `DshapError` that says `message`.
pub(crate) fn refusal(py: Python<'_>, message: &str) -> PyErr {
    made(py, Class::Plain, &in_python(message))
}

fn class(error: &Error) -> Class<'_> {
    use dshap_io::ContainerError as Container;
    // Of a folder that is missing the system has not said so itself.
    const NO_SUCH_FILE: i32 = 2;
    match error {
        Error::Io(dshap_io::Error::Read { file, reason } | dshap_io::Error::Write { file, reason })
        | Error::Container(Container::Read { file, reason }) => {
            Class::File { errno: reason.raw_os_error(), file }
        }
        Error::Io(dshap_io::Error::NoFolder { file, .. }) => Class::File { errno: Some(NO_SUCH_FILE), file },
        // Whatever is wrong with a valuer file is caught in the same way.
        Error::Container(
            Container::Foreign { file, .. }
            | Container::Truncated { file, .. }
            | Container::Damaged { file, .. }
            | Container::OtherKind { file, .. }
            | Container::Newer { file, .. },
        )
        | Error::BadContents { file, .. } => Class::File { errno: None, file },
        Error::NoRowsToDraw | Error::FixedReference { .. } | Error::NotAtHand | Error::NotCalibrated => {
            Class::Plain
        }
        _ => Class::Input,
    }
}

fn made(py: Python<'_>, class: Class<'_>, text: &str) -> PyErr {
    static CLASSES: [PyOnceLock<Py<PyType>>; 3] = [const { PyOnceLock::new() }; 3];
    let (name, cell) = match class {
        Class::Plain => ("DshapError", &CLASSES[0]),
        Class::Input => ("InputError", &CLASSES[1]),
        Class::File { .. } => ("FileError", &CLASSES[2]),
    };
    let class_object = match cell.import(py, "dshap._errors", name) {
        Ok(class_object) => class_object.clone(),
        Err(error) => return error,
    };
    match class {
        // As Python's own: number, words, name of the file.
        Class::File { errno, file } => {
            PyErr::from_type(class_object, (errno, text.to_owned(), file.to_owned()))
        }
        Class::Plain | Class::Input => PyErr::from_type(class_object, text.to_owned()),
    }
}
