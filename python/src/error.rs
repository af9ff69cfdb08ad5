//! Every decision about exceptions.

use crate::words::Spelling;
use dshap_models::{Error, Warning};
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

/// The exception for an error of the engine.
pub(crate) fn raise(py: Python<'_>, error: &Error) -> PyErr {
    raise_about(py, error, Spelling::default())
}

/// The exception for an error of the engine about a table.
pub(crate) fn raise_about(py: Python<'_>, error: &Error, spelling: Spelling<'_>) -> PyErr {
    let mut text = dshap_words::error(error, &spelling);
    // scikit-learn looks for these words, and so do people who know it.
    match error {
        Error::Table { error: dshap_table::Error::Missing { .. }, .. } => text += " (NaN, None or null)",
        Error::Core { error: dshap::Error::TooFewRows { n_rows, .. }, .. } => {
            text += &format!(" (n_samples = {n_rows})");
        }
        Error::Table { error: dshap_table::Error::OneLabel { .. }, .. } => text += " (one class)",
        _ => {}
    }
    if let Some(hint) = dshap_words::hint(error, &spelling) {
        text += &format!("\nhint: {hint}");
    }
    made(py, class(error), &text)
}

/// An `InputError` with this message.
pub(crate) fn input_error(message: &str) -> PyErr {
    Python::attach(|py| made(py, Class::Input, message))
}

/// The sentences of warnings.
pub(crate) fn sentences(warnings: &[Warning], spelling: Spelling<'_>) -> Vec<String> {
    warnings.iter().map(|warning| dshap_words::warning(warning, &spelling)).collect()
}

fn class(error: &Error) -> Class<'_> {
    use dshap_io::ContainerError as Container;
    // The system itself does not report a missing folder.
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
        Error::Incomplete { .. } | Error::FixedReference { .. } => Class::Plain,
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
        // As Python's own: number, message, name of the file.
        Class::File { errno, file } => {
            PyErr::from_type(class_object, (errno, text.to_owned(), file.to_owned()))
        }
        Class::Plain | Class::Input => PyErr::from_type(class_object, text.to_owned()),
    }
}
