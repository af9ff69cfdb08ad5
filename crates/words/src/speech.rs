//! How a front end spells what a user can change.

use dshap_io::Location;

/// The spelling of options, methods and tables by one front end.
///
/// Sentences are written once, in this crate, and ask a `Speech` wherever they
/// name something the user typed: the command line says `--ridge 1`, Python
/// says `ridge=1`. Every method returns a phrase that fits into a sentence.
pub trait Speech {
    /// An option by its name: `` `--metric` ``, `` `metric` ``. Names have underscores.
    fn option(&self, name: &str) -> String;

    /// An option with a value: `` `--ridge 1` ``, `` `ridge=1` ``. The value of
    /// `categorical` is one column: `` `--categorical age` ``, `` `categorical=['age']` ``.
    fn set(&self, name: &str, value: &str) -> String;

    /// What to do about a column that should be no feature: "leave it out with
    /// `--exclude age`", "leave it out of X".
    fn leave_out(&self, column: &str) -> String;

    /// The same for several columns or one that has no name: "leave it out with
    /// `--exclude`", "leave it out of X".
    fn leave_columns_out(&self) -> String;

    /// How to get by with fewer columns: "fewer columns (`--features`,
    /// `--exclude`)", "fewer columns".
    fn fewer_columns(&self) -> String;

    /// Where the choice of features is made: "check `--features` and
    /// `--exclude`", "check the columns of X".
    fn check_features(&self) -> String;

    /// How to predict something else: "name another `--target`", "give another y".
    fn other_target(&self) -> String;

    /// A task that has to be chosen: `` `--task classification` ``,
    /// `` `ClassificationValuer` ``.
    fn task(&self, name: &str) -> String;

    /// Test rows of their own: `` `--test FILE` ``, `` `test=(X_test, y_test)` ``.
    fn test_rows(&self) -> String;

    /// How a missing cell is written: "leave the cell empty", "make it None".
    fn missing_cell(&self) -> String;

    // What follows has a default that suits tables in files and a command line.

    /// How to name a target at all: "name the column to predict with `--target`",
    /// "give y".
    fn name_target(&self) -> String {
        format!("name the column to predict with {}", self.option("target"))
    }

    /// How to predict numbers instead of something else: "name a column of numbers
    /// with `--target`", "give numbers as y".
    fn numeric_target(&self) -> String {
        format!("name a column of numbers with {}", self.option("target"))
    }

    /// How dates become numbers: "`--dates days` or `--dates parts` turns dates into numbers"; none in
    /// Python, where frames do that themselves.
    fn dates_as_numbers(&self) -> Option<String> {
        Some(format!(
            "{} or {} turns dates into numbers",
            self.set("dates", "days"),
            self.set("dates", "parts")
        ))
    }

    /// How to have numeric labels read as text: "read the labels as text with
    /// `--categorical grade`", "give the labels as text".
    fn labels_as_text(&self, target: &str) -> String {
        format!("read the labels as text with {}", self.set("categorical", target))
    }

    /// How to keep a column as the name of each row: "keep it as the name of each
    /// row with `--id name`"; none in Python, which returns values in row order.
    fn name_rows_by(&self, column: &str) -> Option<String> {
        Some(format!("keep it as the name of each row with {}", self.set("id", column)))
    }

    /// A cell as the subject of a sentence, with its place if that is known:
    /// "`wine.csv` line 3, column `age`", "a cell of column `age`". Python says
    /// "`y` row 3" where the column holds `y`.
    fn cell(&self, at: Option<&Location>, column: &str) -> String {
        match at {
            Some(at) => format!("{at}, column `{column}`"),
            None => format!("a cell of column `{column}`"),
        }
    }

    /// What to give instead of a folder: "name the files in it, for example with a
    /// pattern such as `*.csv`", "give the name of a file in it".
    fn name_a_file(&self) -> String {
        "name the files in it, for example with a pattern such as `*.csv`".into()
    }

    /// Where relative names begin: "the folder the command runs in", "the working
    /// directory, `os.getcwd()`".
    fn working_folder(&self) -> String {
        "the folder the command runs in".into()
    }

    /// What makes a folder, ready to be copied: `` `mkdir -p out` ``,
    /// `` `os.makedirs('out')` ``.
    fn make_folder(&self, folder: &str) -> String {
        format!("`mkdir -p {}`", shell_word(folder))
    }

    /// A command of the program: `` `dshap dataset wine` ``.
    fn command(&self, arguments: &str) -> String {
        format!("`dshap {arguments}`")
    }

    /// A method that has to be chosen: `` `--method general` ``, `` `method='general'` ``.
    /// Python says `` `tmc_shapley` `` where a method is a function.
    fn method(&self, name: &str) -> String {
        self.set("method", name)
    }

    /// How to value rows against each other instead of against what `option` gave
    /// (`reference`, `valuer`): "leave out `--reference` to value each row against the
    /// others", "use `value_training` to value each row against the others".
    fn against_each_other(&self, option: &str) -> String {
        format!("leave out {} to value each row against the others", self.option(option))
    }

    /// How to value rows that are not in the reference: "give a `--reference` that
    /// does not contain them", "fit other rows and value these with `value`".
    fn separate_reference(&self) -> String {
        format!("give a {} that does not contain them", self.option("reference"))
    }

    /// Where standard errors are seen: `` `--stderr` ``, `` `values.stderr` ``.
    fn standard_errors(&self) -> String {
        self.option("stderr")
    }

    /// Where the columns of a valuer are listed: "`dshap inspect wine.dshap` lists the
    /// columns it needs", "`feature_names_in_` lists the columns it needs".
    fn columns_of(&self, valuer: &str) -> String {
        format!("{} lists the columns it needs", self.command(&format!("inspect {valuer}")))
    }

    /// How to turn numbers that are text into numbers: "write the numbers with a
    /// decimal point and nothing else …", "give numbers, such as
    /// `X['age'].astype(float)`".
    fn as_numbers(&self, _column: &str) -> String {
        "write the numbers with a decimal point and nothing else (no comma, no currency or percent sign; in Parquet \
         use a number type)"
            .into()
    }
}

/// A word as a shell takes it, in quotes if it needs them.
pub fn in_shell(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,:@%=".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.into(),
        false => in_quotes(word),
    }
}

fn in_quotes(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A name after a command.
fn shell_word(word: &str) -> String {
    match word.starts_with('-') {
        // `--` keeps the command from reading the name as an option.
        true => format!("-- {}", in_quotes(word)),
        false => in_shell(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_for_a_shell_only_if_they_must_be() {
        assert_eq!(shell_word("out/2024-01"), "out/2024-01");
        assert_eq!(shell_word("my results"), "'my results'");
        assert_eq!(shell_word("it's"), r"'it'\''s'");
        assert_eq!(shell_word("-x"), "-- '-x'");
        assert_eq!(shell_word("résumé"), "résumé");
    }
}
