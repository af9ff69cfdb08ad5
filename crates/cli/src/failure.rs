//! How the program ends when it cannot do what was asked.

use std::io::{self, Write};
use std::process::ExitCode;

/// Exit code after Ctrl-C, as shells count: 128 + SIGINT.
pub(crate) const INTERRUPTED: i32 = 130;

/// Why the program ends early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The input cannot be valued. Exit code 1.
    Input { doing: String, causes: Vec<String>, hint: Option<String> },
    /// Wrong usage. Exit code 2.
    Usage { message: String },
    /// Nobody reads the output any more. Exit code 0, without a word.
    ClosedPipe,
}

impl Failure {
    /// A failed run; `doing` says what was tried.
    pub(crate) fn run(doing: impl Into<String>, error: &dshap_run::Error) -> Self {
        if error.is_broken_pipe() {
            return Failure::ClosedPipe;
        }
        if let dshap_run::Error::OutputIsInput { .. } | dshap_run::Error::Misplaced { .. } = error {
            return Failure::Usage { message: error.to_string() };
        }
        Failure::Input { doing: doing.into(), causes: causes(error), hint: error.hint() }
    }

    /// An experiment or a dataset that failed; `doing` says what was tried.
    pub(crate) fn experiment(doing: impl Into<String>, error: &dshap_experiments::Error) -> Self {
        use dshap_experiments::Error;
        match error {
            Error::UnknownDataset { .. } | Error::UnknownPanel { .. } | Error::NoUse { .. } => {
                let hint = error.hint().map_or(String::new(), |hint| format!("; {hint}"));
                Failure::Usage { message: format!("{error}{hint}") }
            }
            _ => Failure::Input { doing: doing.into(), causes: causes(error), hint: error.hint() },
        }
    }

    /// The same of a command whose methods are named by `--methods`.
    pub(crate) fn of_several_methods(self) -> Self {
        let named = |words: String| words.replace("`--method ", "`--methods ");
        match self {
            Failure::Usage { message } => Failure::Usage { message: named(message) },
            Failure::Input { doing, causes, hint } => {
                let causes = causes.into_iter().map(named).collect();
                Failure::Input { doing, causes, hint: hint.map(named) }
            }
            Failure::ClosedPipe => Failure::ClosedPipe,
        }
    }

    /// Words that contradict each other.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Failure::Usage { message: message.into() }
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

    /// Tells the user, on standard error.
    pub(crate) fn report(&self) -> ExitCode {
        let mut text = String::new();
        let code = match self {
            Failure::ClosedPipe => return ExitCode::SUCCESS,
            Failure::Usage { message } => {
                text += &format!("error: {message}\n\nFor more information, try '--help'.\n");
                2
            }
            Failure::Input { doing, causes, hint } => {
                text += &format!("error: {doing}\n");
                for cause in causes {
                    text += &format!("  caused by: {cause}\n");
                }
                if let Some(hint) = hint {
                    text += &format!("\nhint: {hint}\n");
                }
                1
            }
        };
        let text = crate::table::visible(&text);
        // There is no one left to tell if standard error is closed too.
        let _ = io::stderr().write_all(text.as_bytes());
        ExitCode::from(code)
    }
}

/// An error and what caused it, outermost first.
fn causes(error: &dyn std::error::Error) -> Vec<String> {
    let mut causes = vec![error.to_string()];
    let mut source = error.source();
    while let Some(cause) = source {
        causes.push(cause.to_string());
        source = cause.source();
    }
    causes
}
