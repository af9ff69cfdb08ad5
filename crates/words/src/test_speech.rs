//! A front end for tests, which spells nothing as a real one does.

use crate::Speech;

/// Puts everything a front end spells in angle brackets.
pub(crate) struct Angled;

impl Speech for Angled {
    fn option(&self, name: &str) -> String {
        format!("<{name}>")
    }

    fn set(&self, name: &str, value: &str) -> String {
        format!("<{name} is {value}>")
    }

    fn leave_out(&self, column: &str) -> String {
        format!("<leave out {column}>")
    }

    fn leave_columns_out(&self) -> String {
        "<leave columns out>".into()
    }

    fn fewer_columns(&self) -> String {
        "<fewer columns>".into()
    }

    fn check_features(&self) -> String {
        "<check features>".into()
    }

    fn other_target(&self) -> String {
        "<other target>".into()
    }

    fn task(&self, name: &str) -> String {
        format!("<task {name}>")
    }

    fn test_rows(&self) -> String {
        "<test rows>".into()
    }

    fn missing_cell(&self) -> String {
        "<missing cell>".into()
    }

    fn name_target(&self) -> String {
        "<name target>".into()
    }

    fn numeric_target(&self) -> String {
        "<numeric target>".into()
    }

    fn labels_as_text(&self, target: &str) -> String {
        format!("<labels of {target} as text>")
    }

    fn name_rows_by(&self, _column: &str) -> Option<String> {
        None
    }

    fn name_a_file(&self) -> String {
        "<name a file>".into()
    }

    fn working_folder(&self) -> String {
        "<working folder>".into()
    }

    fn make_folder(&self, folder: &str) -> String {
        format!("<make {folder}>")
    }

    fn command(&self, arguments: &str) -> String {
        format!("<dshap {arguments}>")
    }
}

/// Checks what all sentences have in common: lower case, no final period, no option
/// of the command line.
#[track_caller]
pub(crate) fn assert_is_house_style(sentence: &str) {
    let first = sentence.chars().next().unwrap_or('.');
    assert!(!sentence.ends_with('.') && !first.is_uppercase(), "{sentence}");
    assert!(!sentence.contains("--"), "{sentence}");
}
