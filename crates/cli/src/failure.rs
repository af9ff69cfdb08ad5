//! How the program ends when it cannot do what was asked.

use crate::speech::CommandLine;
use std::io::{self, Write};

/// Why the program ends early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The input cannot be valued. Exit code 1.
    Input { doing: String, causes: Vec<String>, hint: Option<String> },
    /// Wrong usage. Exit code 2.
    Usage { message: String, hint: Option<String> },
    /// Nobody reads the output any more. Exit code 0, without a word.
    ClosedPipe,
}

impl Failure {
    /// A failed run; `doing` says what was tried.
    pub(crate) fn run(doing: impl Into<String>, error: &dshap_run::Error, speech: CommandLine) -> Self {
        if error.is_broken_pipe() {
            return Failure::ClosedPipe;
        }
        if let dshap_run::Error::Several(errors) = error {
            let causes = errors.iter().map(|one| dshap_words::error_with_hint(one, &speech)).collect();
            let hint = Some("`dshap look` shows all columns, and these problems".into());
            return Failure::Input { doing: doing.into(), causes, hint };
        }
        let (message, hint) = (dshap_words::error(error, &speech), dshap_words::hint(error, &speech));
        match error.is_usage() {
            true => Failure::Usage { message, hint },
            false => Failure::Input { doing: doing.into(), causes: vec![message], hint },
        }
    }

    /// A file that cannot be read or written; `doing` says what was tried.
    pub(crate) fn file(doing: impl Into<String>, error: dshap_io::Error) -> Self {
        Failure::run(doing, &error.into(), CommandLine::default())
    }

    /// An experiment or a dataset that failed; `doing` says what was tried.
    #[cfg(feature = "experiments")]
    pub(crate) fn experiment(doing: impl Into<String>, error: &dshap_experiments::Error) -> Self {
        use dshap_experiments::Error;
        let speech = CommandLine::default();
        let message = dshap_words::experiment_error(error, &speech);
        let hint = dshap_words::experiment_hint(error, &speech);
        match error {
            Error::UnknownDataset { .. } | Error::UnknownPanel { .. } | Error::NoUse { .. } => {
                Failure::Usage { message, hint }
            }
            _ => {
                let causes = std::iter::once(message).chain(sources(error)).collect();
                Failure::Input { doing: doing.into(), causes, hint }
            }
        }
    }

    /// Options that contradict each other.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Failure::Usage { message: message.into(), hint: None }
    }

    /// Standard output could not be written to.
    pub(crate) fn output(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Failure::ClosedPipe;
        }
        Failure::Input {
            doing: "cannot write to standard output".into(),
            causes: vec![error.to_string()],
            hint: None,
        }
    }

    /// Tells the user, on standard error. Returns the exit code.
    pub(crate) fn report(&self) -> u8 {
        let mut text = String::new();
        let (code, hint) = match self {
            Failure::ClosedPipe => return 0,
            Failure::Usage { message, hint } => {
                text += &format!("error: {message}\n");
                (2, hint)
            }
            Failure::Input { doing, causes, hint } => {
                text += &format!("error: {doing}\n");
                for cause in causes {
                    text += &format!("  caused by: {cause}\n");
                }
                (1, hint)
            }
        };
        if let Some(hint) = hint {
            text += &format!("\nhint: {hint}\n");
        }
        if code == 2 {
            text += "\nFor more information, try '--help'.\n";
        }
        let text = crate::table::visible(&text);
        // Nobody is left to tell if standard error is closed too.
        let _ = io::stderr().write_all(text.as_bytes());
        code
    }
}

/// What caused an error, outermost first.
#[cfg(feature = "experiments")]
fn sources(error: &dyn std::error::Error) -> impl Iterator<Item = String> {
    std::iter::successors(error.source(), |cause| cause.source()).map(|cause| cause.to_string())
}
