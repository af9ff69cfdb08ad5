//! How options are spelled on the command line.

use crate::args::long_name;
use dshap_words::Speech;

/// The spelling of the command line.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CommandLine {
    /// Whether methods are named by `--methods`.
    pub(crate) several: bool,
}

impl CommandLine {
    fn flag(self, name: &str) -> String {
        match name {
            "method" if self.several => "--methods".into(),
            _ => format!("--{}", long_name(name)),
        }
    }
}

impl Speech for CommandLine {
    fn option(&self, name: &str) -> String {
        format!("`{}`", self.flag(name))
    }

    fn set(&self, name: &str, value: &str) -> String {
        format!("`{} {value}`", self.flag(name))
    }

    fn leave_out(&self, column: &str) -> String {
        format!("leave it out with `--exclude {column}`")
    }

    fn leave_columns_out(&self) -> String {
        "leave it out with `--exclude`".into()
    }

    fn fewer_columns(&self) -> String {
        "fewer columns (`--features`, `--exclude`)".into()
    }

    fn check_features(&self) -> String {
        "check `--features` and `--exclude`".into()
    }

    fn other_target(&self) -> String {
        "name another `--target`".into()
    }

    fn task(&self, name: &str) -> String {
        format!("`--task {name}`")
    }

    fn test_rows(&self) -> String {
        "`--test FILE`".into()
    }

    fn missing_cell(&self) -> String {
        "leave the cell empty".into()
    }
}
