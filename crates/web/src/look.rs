//! The columns of a table, at a glance: what its first rows hold.

use crate::problem::Problem;
use crate::speech::Form;
use crate::store::Store;
use crate::wire::{ColumnView, TableView};
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef};
use arrow_cast::display::array_value_to_string;
use dshap_io::{ScanOptions, Source};
use dshap_table::{Kind, RawColumn, ReadAs, Wanted};
use std::collections::HashSet;
use std::path::Path;

/// Rows that are looked at.
const LOOKED_AT: u64 = 10_000;

/// Rows that are shown.
const SHOWN_ROWS: usize = 8;

/// Cells that are shown of a column.
const EXAMPLES: usize = 4;

/// More different cells are not counted.
const MOST_COUNTED: usize = 1000;

/// More categories than this are hardly categories.
const MOST_CATEGORIES: usize = 256;

/// Longest cell that is shown, in characters.
const LONGEST: usize = 60;

/// Looks at a table.
pub(crate) fn look(store: &Store, name: &str, path: &Path) -> Result<TableView, Problem> {
    let source = Source::open(&[path.display().to_string()])?;
    let problems = source.notes().iter().map(|note| store.public(&dshap_words::io_note(note, &Form)));
    let problems: Vec<String> = problems.collect();
    let schema = source.schema().clone();
    let wanted: Vec<Wanted> = schema.columns.iter().map(wanted).collect();
    let options = ScanOptions { limit_rows: Some(LOOKED_AT + 1), ..ScanOptions::default() };
    let mut seen: Vec<Seen> = schema.columns.iter().map(|_| Seen::default()).collect();
    let mut first_rows: Vec<Vec<Option<String>>> = Vec::new();
    let mut n_rows = 0;
    for batch in source.scan(&wanted, options)? {
        let rows = batch?.rows;
        let n_left = (LOOKED_AT - n_rows.min(LOOKED_AT)) as usize;
        let n_taken = rows.num_rows().min(n_left);
        for (seen, column) in seen.iter_mut().zip(rows.columns()) {
            seen.add(&column.slice(0, n_taken));
        }
        for row in 0..n_taken.min(SHOWN_ROWS.saturating_sub(first_rows.len())) {
            first_rows.push(rows.columns().iter().map(|column| text(column, row)).collect());
        }
        n_rows += rows.num_rows() as u64;
    }
    let rows_seen = n_rows.min(LOOKED_AT);
    let columns = schema.columns.iter().zip(seen).map(|(column, seen)| seen.view(column, rows_seen));
    let mut columns: Vec<ColumnView> = columns.collect();
    // One column names the rows; others like it are left out.
    for column in columns.iter_mut().filter(|column| column.suggested == Some("id")).skip(1) {
        column.suggested = Some("exclude");
    }
    Ok(TableView {
        name: name.into(),
        bytes: source.n_bytes(),
        rows_seen,
        is_whole: n_rows <= LOOKED_AT,
        columns,
        problems,
        first_rows,
    })
}

fn wanted(column: &RawColumn) -> Wanted {
    let read_as = match column.kind {
        Kind::Number => ReadAs::Number,
        Kind::Boolean => ReadAs::Boolean,
        Kind::Text => ReadAs::Text,
        _ => ReadAs::AsIs,
    };
    Wanted { name: column.name.clone(), read_as }
}

/// A cell as text, shortened.
fn text(column: &ArrayRef, row: usize) -> Option<String> {
    if column.is_null(row) {
        return None;
    }
    let text = array_value_to_string(column, row).unwrap_or_default();
    // Whole numbers are read as doubles; nobody wrote the `.0`.
    let text = text.strip_suffix(".0").map(String::from).unwrap_or(text);
    match text.chars().count() > LONGEST {
        true => Some(text.chars().take(LONGEST - 1).chain(['…']).collect()),
        false => Some(text),
    }
}

/// What was seen of a column.
#[derive(Debug, Default)]
struct Seen {
    n_missing: u64,
    n_cells: u64,
    sum: f64,
    least: Option<f64>,
    most: Option<f64>,
    numbers: HashSet<u64>,
    texts: HashSet<String>,
    /// Whether a text occurs twice among those that were counted.
    has_repeats: bool,
    examples: Vec<String>,
}

impl Seen {
    fn add(&mut self, column: &ArrayRef) {
        let numbers = column.as_primitive_opt::<Float64Type>();
        for row in 0..column.len() {
            if column.is_null(row) {
                self.n_missing += 1;
                continue;
            }
            self.n_cells += 1;
            let is_new = match numbers {
                Some(cells) => self.add_number(cells.value(row)),
                None if self.texts.len() > MOST_COUNTED => false,
                None => {
                    let is_new = self.texts.insert(array_value_to_string(column, row).unwrap_or_default());
                    self.has_repeats |= !is_new;
                    is_new
                }
            };
            if is_new && self.examples.len() < EXAMPLES {
                self.examples.extend(text(column, row));
            }
        }
    }

    /// Whether the number is new.
    fn add_number(&mut self, cell: f64) -> bool {
        self.sum += cell;
        self.least = Some(self.least.map_or(cell, |least| least.min(cell)));
        self.most = Some(self.most.map_or(cell, |most| most.max(cell)));
        self.numbers.len() <= MOST_COUNTED && self.numbers.insert(cell.to_bits())
    }

    fn view(self, column: &RawColumn, n_rows: u64) -> ColumnView {
        let n_different = self.numbers.len().max(self.texts.len());
        let different = (n_different <= MOST_COUNTED).then_some(n_different);
        let is_number = column.kind == Kind::Number;
        let task = match column.kind {
            Kind::Text | Kind::Boolean if different.is_some_and(|n| n > 1) => Some("classification"),
            Kind::Number if different == Some(2) => Some("classification"),
            Kind::Number if different != Some(1) => Some("regression"),
            _ => None,
        };
        let suggested = suggested(&column.kind, self.n_cells, n_different, self.has_repeats);
        ColumnView {
            name: column.name.clone(),
            kind: column.kind.to_string(),
            missing: self.n_missing,
            different,
            least: self.least.filter(|_| is_number),
            most: self.most.filter(|_| is_number),
            mean: (is_number && self.n_cells > 0).then(|| self.sum / self.n_cells as f64),
            suggested,
            task,
            problems: problems(&column.kind, suggested, self.n_missing, self.n_cells, n_different, n_rows),
            examples: self.examples,
        }
    }
}

/// The option that sets a column aside, if it can hardly be a feature.
fn suggested(kind: &Kind, n_cells: u64, n_different: usize, has_repeats: bool) -> Option<&'static str> {
    match kind {
        Kind::Text if !has_repeats && n_cells > 20 => Some("id"),
        Kind::Text if n_different > MOST_CATEGORIES => Some("exclude"),
        Kind::Date | Kind::Duration | Kind::Other(_) => Some("exclude"),
        _ => None,
    }
}

/// What is odd about a column.
fn problems(
    kind: &Kind,
    suggested: Option<&str>,
    n_missing: u64,
    n_cells: u64,
    n_different: usize,
    n_rows: u64,
) -> Vec<String> {
    let mut problems = Vec::new();
    if n_cells == 0 {
        problems.push("It is empty.".into());
        return problems;
    }
    if n_missing > 0 {
        let share = 100.0 * n_missing as f64 / n_rows.max(1) as f64;
        problems.push(format!(
            "{share:.1} % of its cells are missing. As a feature it needs `missing`; rows without a target are left out."
        ));
    }
    if n_different == 1 {
        problems.push("All its cells are equal, so it teaches nothing.".into());
    }
    match suggested {
        _ if *kind == Kind::Date => problems.push(
            "It holds dates: `dates` turns them into numbers; otherwise leave it out with `exclude`.".into(),
        ),
        Some("id") => problems.push("All its cells differ: use it as `id`, or leave it out.".into()),
        Some(_) if n_different > MOST_CATEGORIES => {
            problems
                .push("It has many categories: leave it out, or pool rare ones with `rare_levels`.".into());
        }
        Some(_) => problems.push("It cannot be a feature as it is: leave it out with `exclude`.".into()),
        None => {}
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    fn looked_at(text: &str) -> TableView {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.csv");
        std::fs::write(&path, text).expect("written");
        let store = Store::open(&Settings::default()).expect("a temporary folder");
        look(&store, "data/t.csv", &path).expect("a table")
    }

    #[test]
    fn columns_are_counted_and_their_oddities_named() {
        let mut text = String::from("id,x,flat,label,y\n");
        for i in 0..40 {
            let x = if i % 4 == 0 { String::new() } else { i.to_string() };
            text += &format!("name-{i},{x},7,{},{}\n", if i % 2 == 0 { "a" } else { "b" }, i % 5);
        }
        let view = looked_at(&text);
        assert_eq!((view.rows_seen, view.is_whole, view.first_rows.len()), (40, true, 8));
        let [id, x, flat, label, y] = view.columns.as_slice() else { panic!("five columns") };
        assert_eq!((id.suggested, x.suggested), (Some("id"), None));
        assert!(id.problems[0].contains("`id`"), "{:?}", id.problems);
        assert_eq!((x.missing, x.least, x.most), (10, Some(1.0), Some(39.0)));
        assert_eq!(flat.task, None);
        assert_eq!((label.task, label.different), (Some("classification"), Some(2)));
        assert_eq!((y.task, y.mean), (Some("regression"), Some(2.0)));
        assert_eq!(y.examples, ["0", "1", "2", "3"]);
    }
}
