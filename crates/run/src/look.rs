//! `look`: the columns of a table, and everything that stands in the way of valuing it.

use crate::guess::{refuse_mixed_columns, settle_task};
use crate::inputs;
use crate::request::ValueRequest;
use crate::set_aside::SetAside;
use crate::settings;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef};
use dshap_catalogue::options::{CATEGORICAL, DATES, RARE_LEVELS, REFERENCE, TARGET};
use dshap_catalogue::{Given, Task};
use dshap_io::{ScanOptions, Source};
use dshap_models::{Error, Warning};
use dshap_table::{Kind, Missing, RawColumn, ReadAs, Roles, Selection, TargetAs, Wanted};
use serde::Serialize;
use std::collections::HashSet;

/// Different cells are counted up to this many.
const COUNTED: usize = 1000;

/// A text column with more levels is no category.
const MOST_LEVELS: usize = 256;

/// Cells that are shown of each column.
const EXAMPLES: usize = 3;

/// A table, looked at.
#[derive(Debug)]
pub struct Look {
    /// The files.
    pub files: Vec<String>,
    /// Rows, those that were looked at.
    pub n_rows: u64,
    /// Whether these are all rows.
    pub is_whole: bool,
    /// The task, if there is a target, and whether it was guessed.
    pub task: Option<(Task, bool)>,
    /// The columns, in their own order.
    pub columns: Vec<ColumnLook>,
    /// Everything that stands in the way of valuing the table, by column.
    pub problems: Vec<Problem>,
    /// What dshap deals with by itself.
    pub warnings: Vec<Warning>,
}

/// One column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnLook {
    /// Its name.
    pub name: String,
    /// What it holds: `number`, `text`, `boolean`, `date` …
    pub kind: String,
    /// What it is used as.
    pub role: ColumnRole,
    /// Missing cells.
    pub n_missing: u64,
    /// Different cells, up to a thousand.
    pub n_different: usize,
    /// Whether there are more.
    pub more_different: bool,
    /// The smallest and the largest number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<(f64, f64)>,
    /// The mean of the numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// A few cells.
    pub examples: Vec<String>,
}

/// What a column is used as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColumnRole {
    /// It is predicted.
    Target,
    /// It predicts.
    Feature,
    /// It names rows, or their owners.
    Name,
    /// It weights rows.
    Weight,
    /// It is not used.
    Unused,
}

/// Something that stands in the way.
#[derive(Debug)]
pub struct Problem {
    /// The column, if it is about one.
    pub column: Option<String>,
    /// What is wrong.
    pub error: Error,
}

/// Looks at a table with the options for valuing it.
///
/// # Errors
///
/// [`Error`] if the table cannot be read at all.
pub fn look(files: &[String], given: &Given) -> Result<Look, Error> {
    look_at(&inputs::open_given(files, given, &[])?, given, None)
}

/// As [`look`], for the first rows of a table.
///
/// # Errors
///
/// As [`look`].
pub fn look_first(source: &Source, given: &Given, most_rows: u64) -> Result<Look, Error> {
    look_at(source, given, Some(most_rows))
}

/// All that is wrong with the tables of a request, if that is more than the first error says.
pub(crate) fn all_problems(first: Error, request: &ValueRequest) -> Error {
    let files = match request.given.list(&REFERENCE) {
        [] => &request.points,
        reference => reference,
    };
    of_files(first, files, &request.given)
}

/// All that is wrong with some files whose columns are read as `given` says, if that is more than the first
/// error says.
pub fn of_files(first: Error, files: &[String], given: &Given) -> Error {
    // Standard input is gone once it is read.
    if !is_about_columns(&first) || files.iter().any(|file| file == "-") {
        return first;
    }
    match look(files, given) {
        Ok(found) if found.problems.len() > 1 => {
            Error::Several(found.problems.into_iter().map(|problem| problem.error).collect())
        }
        _ => first,
    }
}

/// Whether an error is about what columns hold.
fn is_about_columns(error: &Error) -> bool {
    match error {
        Error::Table { .. } | Error::MixedColumn { .. } | Error::NumbersAsText { .. } => true,
        Error::Io(error) => column_of(error).is_some(),
        _ => false,
    }
}

/// The column that a reader complains about.
fn column_of(error: &dshap_io::Error) -> Option<&str> {
    use dshap_io::Error as E;
    match error {
        E::NotANumber { column, .. }
        | E::NotABoolean { column, .. }
        | E::NotFinite { column, .. }
        | E::NotAValue { column, .. }
        | E::WrongKind { column, .. } => Some(column),
        _ => None,
    }
}

fn look_at(source: &Source, given: &Given, most_rows: Option<u64>) -> Result<Look, Error> {
    let selection = settings::selection(given);
    let aside = SetAside::of(source, given)?;
    let columns: Vec<RawColumn> = source.schema().columns.clone();
    let roles: Vec<ColumnRole> = columns.iter().map(|column| role(column, &selection, &aside)).collect();
    let mut problems = named_columns(source, &selection);
    let scan = ScanOptions { limit_rows: most_rows.map(|most| most + 1), ..ScanOptions::default() };
    let (cells, n_read) = read((source, scan), &columns, &roles, &selection, &mut problems)?;
    let n_rows = most_rows.map_or(n_read, |most| n_read.min(most));
    let (task, of_task) = task(source, given, &selection);
    problems.extend(of_task);
    let table = Table { source, given, selection: &selection, n_rows };
    for ((column, role), cells) in columns.iter().zip(&roles).zip(&cells) {
        if problems.iter().all(|problem| problem.column.as_ref() != Some(&column.name)) {
            problems.extend(table.problems(column, *role, cells));
        }
    }
    let looked = |((column, role), cells): ((&RawColumn, &ColumnRole), &Cells)| cells.look(column, *role);
    Ok(Look {
        files: source.files().map(String::from).collect(),
        n_rows,
        is_whole: n_rows == n_read,
        task,
        columns: columns.iter().zip(&roles).zip(&cells).map(looked).collect(),
        warnings: {
            // All rows have been read by now.
            let notes = [source.notes(), &source.late_notes()].concat().into_iter().map(Warning::Reader);
            let mut warnings: Vec<Warning> = notes.filter(|note| !aside.explains(note)).collect();
            warnings.extend(aside.warning());
            warnings
        },
        problems,
    })
}

/// What a column is used as.
fn role(column: &RawColumn, selection: &Selection, aside: &SetAside) -> ColumnRole {
    let is = |name: &Option<String>| name.as_ref() == Some(&column.name);
    let is_in = |names: &[String]| names.contains(&column.name);
    match &selection.features {
        _ if is(&selection.target) => ColumnRole::Target,
        _ if is(&selection.weight) => ColumnRole::Weight,
        Some(features) if is_in(features) => ColumnRole::Feature,
        _ if is(&selection.id) || is(&selection.by) => ColumnRole::Name,
        Some(_) => ColumnRole::Unused,
        None if is_in(&selection.exclude) || aside.names().any(|name| *name == column.name) => {
            ColumnRole::Unused
        }
        None => ColumnRole::Feature,
    }
}

/// Columns that were named and do not exist.
fn named_columns(source: &Source, selection: &Selection) -> Vec<Problem> {
    let Selection { target, features, exclude, id, by, keep, categorical, weight, .. } = selection;
    let mut names: Vec<&String> = [target, id, by, weight].into_iter().flatten().collect();
    names.extend(features.iter().flatten().chain(exclude).chain(keep).chain(categorical));
    let mut seen = HashSet::new();
    let unknown =
        names.into_iter().filter(|name| source.schema().column(name).is_none() && seen.insert(*name));
    let problem = |name: &String| {
        let available = source.schema().names().map(String::from).collect();
        table_problem(name, dshap_table::Error::NoSuchColumn { name: name.clone(), available })
    };
    unknown.map(problem).collect()
}

fn table_problem(column: &str, error: dshap_table::Error) -> Problem {
    Problem { column: Some(column.into()), error: Error::Table { location: None, error } }
}

/// The task, and what is wrong with the target.
fn task(source: &Source, given: &Given, selection: &Selection) -> (Option<(Task, bool)>, Option<Problem>) {
    let Some(target) = given.word(&TARGET).filter(|name| source.schema().column(name).is_some()) else {
        return (None, None);
    };
    let problem = |error: Error| Some(Problem { column: Some(target.into()), error });
    let (task, is_guessed) = match settle_task(source, given) {
        Ok(settled) => settled,
        Err(error) => return (None, problem(error)),
    };
    let target_as = match task {
        Task::Regression => TargetAs::Numbers,
        Task::Classification => TargetAs::Labels,
        Task::Density => TargetAs::Nothing,
    };
    // Only the target matters here.
    let alone = Selection {
        target: Some(target.into()),
        features: Some(
            source.schema().names().filter(|name| *name != target).take(1).map(String::from).collect(),
        ),
        categorical: source.schema().names().map(String::from).collect(),
        ..Selection::default()
    };
    let alone = match selection.categorical.iter().any(|name| name == target) {
        true => alone,
        false => Selection {
            categorical: alone.categorical.iter().filter(|name| *name != target).cloned().collect(),
            ..alone
        },
    };
    let found = Roles::settle(source.schema(), &alone, target_as).err();
    (Some((task, is_guessed)), found.map(|error| table_problem(target, error)))
}

/// What the cells of a column are like.
#[derive(Debug, Default)]
struct Cells {
    n_missing: u64,
    first_missing: Option<u64>,
    different: HashSet<String>,
    more_different: bool,
    range: Option<(f64, f64)>,
    sum: f64,
    n_numbers: u64,
    examples: Vec<String>,
}

impl Cells {
    fn add(&mut self, cells: &ArrayRef, first_row: u64) {
        self.n_missing += cells.null_count() as u64;
        if self.first_missing.is_none() && cells.null_count() > 0 {
            self.first_missing =
                (0..cells.len()).find(|&row| cells.is_null(row)).map(|row| first_row + row as u64);
        }
        if let Some(numbers) = cells.as_primitive_opt::<Float64Type>() {
            for number in numbers.iter().flatten() {
                let (low, high) = self.range.unwrap_or((number, number));
                self.range = Some((low.min(number), high.max(number)));
                self.sum += number;
                self.n_numbers += 1;
                if !self.more_different {
                    self.see(&number.to_string());
                }
            }
        } else if let Some(texts) = cells.as_string_opt::<i32>() {
            texts.iter().flatten().for_each(|text| self.see(text));
        }
    }

    fn see(&mut self, cell: &str) {
        if self.more_different || self.different.contains(cell) {
            return;
        }
        if self.examples.len() < EXAMPLES {
            self.examples.push(cell.to_owned());
        }
        self.more_different = self.different.len() == COUNTED;
        if !self.more_different {
            self.different.insert(cell.to_owned());
        }
    }

    fn look(&self, column: &RawColumn, role: ColumnRole) -> ColumnLook {
        ColumnLook {
            name: column.name.clone(),
            kind: column.kind.to_string(),
            role,
            n_missing: self.n_missing,
            n_different: self.different.len(),
            more_different: self.more_different,
            range: self.range,
            mean: (self.n_numbers > 0).then(|| self.sum / self.n_numbers as f64),
            examples: self.examples.clone(),
        }
    }
}

/// Reads all columns. One that a reader refuses is a problem, and is read as it is.
fn read(
    (source, scan): (&Source, ScanOptions),
    columns: &[RawColumn],
    roles: &[ColumnRole],
    selection: &Selection,
    problems: &mut Vec<Problem>,
) -> Result<(Vec<Cells>, u64), Error> {
    let read_as = |column: &RawColumn| match column.kind {
        _ if selection.categorical.contains(&column.name) => ReadAs::Text,
        Kind::Number => ReadAs::Number,
        Kind::Boolean => ReadAs::Boolean,
        Kind::Text | Kind::Date => ReadAs::Text,
        Kind::Duration | Kind::Other(_) => ReadAs::AsIs,
    };
    let mut wanted: Vec<Wanted> =
        columns.iter().map(|column| Wanted { name: column.name.clone(), read_as: read_as(column) }).collect();
    loop {
        match read_once(source, &wanted, &scan) {
            Ok(found) => return Ok(found),
            Err(error) => {
                let refused = match &error {
                    Error::Io(error) => column_of(error).map(String::from),
                    _ => None,
                };
                let at = refused.and_then(|name| wanted.iter().position(|column| column.name == name));
                let Some(at) = at.filter(|&at| wanted[at].read_as != ReadAs::AsIs) else { return Err(error) };
                wanted[at].read_as = ReadAs::AsIs;
                if roles[at] != ColumnRole::Unused {
                    problems.push(Problem { column: Some(wanted[at].name.clone()), error });
                }
            }
        }
    }
}

/// The first rows but one, if there is a limit: that one only tells that there are more.
fn read_once(source: &Source, wanted: &[Wanted], scan: &ScanOptions) -> Result<(Vec<Cells>, u64), Error> {
    let most = scan.limit_rows.map_or(u64::MAX, |limit| limit.saturating_sub(1));
    let mut cells: Vec<Cells> = wanted.iter().map(|_| Cells::default()).collect();
    let mut n_rows = 0;
    for batch in source.scan(wanted, scan.clone())? {
        let batch = batch?;
        let n_taken =
            usize::try_from(most - n_rows.min(most)).unwrap_or(usize::MAX).min(batch.rows.num_rows());
        for (cells, column) in cells.iter_mut().zip(batch.rows.columns()) {
            cells.add(&column.slice(0, n_taken), batch.first_row);
        }
        n_rows += batch.rows.num_rows() as u64;
    }
    Ok((cells, n_rows))
}

/// A table whose columns are judged.
struct Table<'a> {
    source: &'a Source,
    given: &'a Given,
    selection: &'a Selection,
    n_rows: u64,
}

impl Table<'_> {
    /// Everything that stands in the way of using a column as it is to be used.
    fn problems(&self, column: &RawColumn, role: ColumnRole, cells: &Cells) -> Vec<Problem> {
        match role {
            ColumnRole::Feature => self.of_feature(column, cells),
            ColumnRole::Weight => self.of_missing(column, cells, true).into_iter().collect(),
            // Rows without a target are left out.
            ColumnRole::Target | ColumnRole::Name | ColumnRole::Unused => Vec::new(),
        }
    }

    fn of_feature(&self, column: &RawColumn, cells: &Cells) -> Vec<Problem> {
        let name = &column.name;
        let is_category = self.selection.categorical.contains(name);
        let becomes_numbers = column.kind == Kind::Date && self.given.has(&DATES);
        let mut problems = Vec::new();
        match &column.kind {
            Kind::Number | Kind::Boolean if !is_category => {}
            Kind::Date | Kind::Duration | Kind::Other(_) if !is_category && !becomes_numbers => {
                let kind = column.kind.clone();
                problems
                    .push(table_problem(name, dshap_table::Error::UnusableKind { name: name.clone(), kind }));
                return problems;
            }
            _ if becomes_numbers => {}
            _ => problems.extend(self.of_text(name, cells)),
        }
        let is_strict = settings::missing(self.given).unwrap_or_default() == Missing::Error;
        problems.extend(self.of_missing(column, cells, is_strict));
        problems
    }

    fn of_text(&self, name: &str, cells: &Cells) -> Option<Problem> {
        let wanted = Wanted { name: name.into(), read_as: ReadAs::Text };
        if let Err(error) = refuse_mixed_columns(self.source, &[wanted], self.given.list(&CATEGORICAL)) {
            return Some(Problem { column: Some(name.into()), error });
        }
        let n_different = cells.different.len();
        let is_each = n_different as u64 == self.n_rows && self.n_rows > 2 && !cells.more_different;
        let too_many =
            |n_levels, more| dshap_table::Error::TooManyLevels { name: name.into(), n_levels, more };
        if is_each {
            return Some(table_problem(name, too_many(n_different, false)));
        }
        let is_many = n_different > MOST_LEVELS && !self.given.has(&RARE_LEVELS);
        is_many.then(|| table_problem(name, too_many(MOST_LEVELS, true)))
    }

    fn of_missing(&self, column: &RawColumn, cells: &Cells, is_strict: bool) -> Option<Problem> {
        let row = cells.first_missing.filter(|_| is_strict)?;
        let first = self.source.locate(row).ok()?;
        let error = Error::MissingCells { name: column.name.clone(), n_cells: cells.n_missing, first };
        Some(Problem { column: Some(column.name.clone()), error })
    }
}
