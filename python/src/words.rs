//! Sentences of the engine in the words of Python: arrays, frames and parameters.

use dshap_io::{Location, Place};
use dshap_models::methods;
use dshap_words::Speech;

/// How Python spells what a user can change.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Spelling<'a> {
    /// The name of the column that holds `y`.
    pub(crate) target: Option<&'a str>,
    /// The name of the one that holds `sample_weight`.
    pub(crate) weight: Option<&'a str>,
    /// Whether a function was called, which has a parameter `task`; else an estimator
    /// stands for its task.
    pub(crate) in_function: bool,
}

impl Spelling<'_> {
    /// The same for a function.
    pub(crate) fn in_function(self) -> Self {
        Self { in_function: true, ..self }
    }
}

impl Speech for Spelling<'_> {
    fn option(&self, name: &str) -> String {
        let name = match name {
            "no_intercept" => "intercept=False",
            "output" => "path",
            "stderr" => "std_error",
            "strict" => "warnings.simplefilter('error')",
            "target" => "y",
            "threads" => "n_jobs",
            "weight" => "sample_weight",
            other => other,
        };
        format!("`{name}`")
    }

    fn set(&self, name: &str, value: &str) -> String {
        match name {
            "method" => self.method(value),
            "task" => self.task(value),
            "categorical" => format!("`categorical=['{value}']`"),
            "no_intercept" | "target" | "weight" => self.option(name),
            _ if value.parse::<f64>().is_ok() => format!("`{name}={value}`"),
            _ => format!("`{name}='{value}'`"),
        }
    }

    fn method(&self, name: &str) -> String {
        match name {
            "loo" => "`leave_one_out`".into(),
            _ if methods::find(name).is_some_and(|method| method.baseline().is_some()) => {
                format!("`{}`", name.replace('-', "_"))
            }
            _ => format!("`method='{name}'`"),
        }
    }

    fn task(&self, name: &str) -> String {
        if self.in_function {
            return format!("`task='{name}'`");
        }
        match name {
            "regression" => "`RegressionValuer`".into(),
            "classification" => "`ClassificationValuer`".into(),
            _ => "`DensityValuer`".into(),
        }
    }

    fn leave_out(&self, _column: &str) -> String {
        self.leave_columns_out()
    }

    fn leave_columns_out(&self) -> String {
        "leave it out of X".into()
    }

    fn fewer_columns(&self) -> String {
        "fewer columns".into()
    }

    fn check_features(&self) -> String {
        "check the columns of X".into()
    }

    fn other_target(&self) -> String {
        "give another y".into()
    }

    fn name_target(&self) -> String {
        "give y".into()
    }

    fn numeric_target(&self) -> String {
        "give numbers as y".into()
    }

    fn labels_as_text(&self, _target: &str) -> String {
        "give the labels as text".into()
    }

    fn dates_as_numbers(&self) -> Option<String> {
        None
    }

    fn name_rows_by(&self, _column: &str) -> Option<String> {
        None
    }

    fn test_rows(&self) -> String {
        "`test=(X_test, y_test)`".into()
    }

    fn missing_cell(&self) -> String {
        "make it None or NaN".into()
    }

    fn cell(&self, at: Option<&Location>, column: &str) -> String {
        let array = match column {
            _ if self.target == Some(column) => "y",
            _ if self.weight == Some(column) => "sample_weight",
            _ => {
                let place = at.map_or("a cell of `X`".to_string(), ToString::to_string);
                return format!("{place}, column `{column}`");
            }
        };
        match at.map(|at| at.place) {
            Some(Place::Row(row) | Place::Line(row)) => format!("`{array}` row {row}"),
            None => format!("a cell of `{array}`"),
        }
    }

    fn name_a_file(&self) -> String {
        "give the name of a file in it".into()
    }

    fn working_folder(&self) -> String {
        "the working directory, `os.getcwd()`".into()
    }

    fn make_folder(&self, folder: &str) -> String {
        format!("`os.makedirs({folder:?})`")
    }

    fn command(&self, arguments: &str) -> String {
        match arguments {
            "merge" => "`merge`".into(),
            _ => format!("`dshap {arguments}`"),
        }
    }

    fn against_each_other(&self, _option: &str) -> String {
        "use `value_training` to value each row against the others".into()
    }

    fn separate_reference(&self) -> String {
        "fit other rows and value these with `value`".into()
    }

    fn standard_errors(&self) -> String {
        "`values.stderr`".into()
    }

    fn columns_of(&self, _valuer: &str) -> String {
        "`feature_names_in_` lists the columns it needs".into()
    }

    fn as_numbers(&self, column: &str) -> String {
        format!("give numbers, such as `X[{column:?}].astype(float)`")
    }
}
