//! How a form names what people can change.

use dshap_words::Speech;

/// The spelling of the form and of its JSON: options by their names.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Form;

impl Speech for Form {
    fn option(&self, name: &str) -> String {
        format!("`{name}`")
    }

    fn set(&self, name: &str, value: &str) -> String {
        format!("`{name}` = `{value}`")
    }

    fn leave_out(&self, column: &str) -> String {
        format!("leave it out with `exclude` = `{column}`")
    }

    fn leave_columns_out(&self) -> String {
        "leave it out with `exclude`".into()
    }

    fn fewer_columns(&self) -> String {
        "fewer columns (`features`, `exclude`)".into()
    }

    fn check_features(&self) -> String {
        "check `features` and `exclude`".into()
    }

    fn other_target(&self) -> String {
        "choose another `target`".into()
    }

    fn task(&self, name: &str) -> String {
        format!("`task` = `{name}`")
    }

    fn test_rows(&self) -> String {
        "a `test` table".into()
    }

    fn missing_cell(&self) -> String {
        "leave the cell empty".into()
    }

    fn name_target(&self) -> String {
        "choose the column to predict as `target`".into()
    }

    fn numeric_target(&self) -> String {
        "choose a column of numbers as `target`".into()
    }

    fn name_a_file(&self) -> String {
        "choose a table in it".into()
    }

    fn working_folder(&self) -> String {
        "the folder of the tables".into()
    }
}
