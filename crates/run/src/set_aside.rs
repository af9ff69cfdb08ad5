//! Columns that are no features unless asked for: the index of a data frame, and identifiers.

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use dshap_catalogue::Given;
use dshap_catalogue::options::{BY, CATEGORICAL, EXCLUDE, FEATURES, ID, TARGET, WEIGHT};
use dshap_io::{Note, ScanOptions, Source};
use dshap_models::{Error, Warning};
use dshap_table::{Kind, ReadAs, Wanted};
use std::collections::HashSet;

/// Rows that are looked at, as many as settle the column types.
const ROWS: u64 = 10_000;

/// Fewer rows than this tell nothing.
const FEWEST: usize = 5;

/// Columns that are no features unless asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SetAside {
    /// A first column without a name that counts rows from 0.
    pub(crate) index: Option<String>,
    /// Numbers padded with zeros, most of them different.
    pub(crate) identifiers: Vec<String>,
}

impl SetAside {
    /// Those of a table whose features were not named.
    pub(crate) fn of(source: &Source, given: &Given) -> Result<Self, Error> {
        let mut found = Self::default();
        if given.has(&FEATURES) || source.is_in_memory() {
            return Ok(found);
        }
        let columns = candidates(source, given);
        let wanted = |name: &String, read_as| Wanted { name: name.clone(), read_as };
        let index = unnamed_first(source).filter(|name| columns.contains(name));
        if let Some(name) = index
            && counts_rows(source, &wanted(&name, ReadAs::Number))?
        {
            found.index = Some(name);
        }
        let as_is: Vec<Wanted> = columns.iter().map(|name| wanted(name, ReadAs::AsIs)).collect();
        let mut looks = vec![Padded::default(); as_is.len()];
        let options = ScanOptions { limit_rows: Some(ROWS), ..ScanOptions::default() };
        for batch in source.scan(&as_is, options)? {
            for (look, cells) in looks.iter_mut().zip(batch?.rows.columns()) {
                look.add(cells);
            }
        }
        let is_padded = |(name, look): (String, Padded)| look.is_identifier().then_some(name);
        found.identifiers = columns.into_iter().zip(looks).filter_map(is_padded).collect();
        Ok(found)
    }

    /// All their names.
    pub(crate) fn names(&self) -> impl Iterator<Item = &String> {
        self.index.iter().chain(&self.identifiers)
    }

    /// Whether a warning says only that the index has no name.
    pub(crate) fn explains(&self, warning: &Warning) -> bool {
        matches!(warning, Warning::Reader(Note::UnnamedColumn { name, .. }) if self.index.as_ref() == Some(name))
    }

    pub(crate) fn warning(self) -> Option<Warning> {
        let SetAside { index, identifiers } = self;
        (index.is_some() || !identifiers.is_empty()).then_some(Warning::SetAside { index, identifiers })
    }
}

/// Columns that would be features and hold numbers or text.
fn candidates(source: &Source, given: &Given) -> Vec<String> {
    let named = [&TARGET, &ID, &BY, &WEIGHT].map(|option| given.word(option));
    let listed = [&EXCLUDE, &CATEGORICAL].map(|option| given.list(option));
    let has_role = |name: &str| {
        named.contains(&Some(name)) || listed.iter().any(|list| list.iter().any(|one| one == name))
    };
    let columns = source.schema().columns.iter();
    let columns = columns.filter(|column| matches!(column.kind, Kind::Number | Kind::Text));
    columns.filter(|column| !has_role(&column.name)).map(|column| column.name.clone()).collect()
}

/// The first column, if it has no name of its own.
fn unnamed_first(source: &Source) -> Option<String> {
    let first = source.schema().names().next()?;
    let is_noted =
        source.notes().iter().any(|note| matches!(note, Note::UnnamedColumn { name, .. } if name == first));
    (is_noted || first == "Unnamed: 0" || first == "__index_level_0__").then(|| first.to_owned())
}

/// Whether a column holds 0, 1, 2 …
fn counts_rows(source: &Source, wanted: &Wanted) -> Result<bool, Error> {
    let options = ScanOptions { limit_rows: Some(ROWS), ..ScanOptions::default() };
    let mut next = 0.0;
    for batch in source.scan(std::slice::from_ref(wanted), options)? {
        let rows = match batch {
            Ok(batch) => batch.rows,
            // What is wrong with the column is reported where it is used.
            Err(_) => return Ok(false),
        };
        for cell in rows.column(0).as_primitive::<Float64Type>() {
            if cell != Some(next) {
                return Ok(false);
            }
            next += 1.0;
        }
    }
    Ok(next >= FEWEST as f64)
}

/// What the cells of a column look like.
#[derive(Debug, Clone, Default)]
struct Padded {
    n_cells: usize,
    n_padded: usize,
    /// The length of all cells, while it is the same.
    length: Option<usize>,
    differs: bool,
    different: HashSet<String>,
}

impl Padded {
    fn add(&mut self, cells: &ArrayRef) {
        let Some(cells) = cells.as_string_opt::<i32>() else {
            self.differs = true;
            return;
        };
        for cell in cells.iter().flatten() {
            if self.differs {
                return;
            }
            let is_digits = !cell.is_empty() && cell.bytes().all(|byte| byte.is_ascii_digit());
            self.differs = !is_digits || *self.length.get_or_insert(cell.len()) != cell.len();
            self.n_cells += 1;
            self.n_padded += usize::from(cell.len() > 1 && cell.starts_with('0'));
            self.different.insert(cell.to_owned());
        }
    }

    /// All cells have as many digits, some begin with 0, and most are different.
    fn is_identifier(&self) -> bool {
        !self.differs
            && self.n_padded > 0
            && self.n_cells >= FEWEST
            && 2 * self.different.len() > self.n_cells
    }
}
