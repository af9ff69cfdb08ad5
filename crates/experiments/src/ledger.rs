//! A table of results that grows row by row and survives being killed.
//!
//! Work is a list of units in a fixed order. A unit is the rows of one repetition,
//! identified by their first cells. Rows of a unit are appended together. Opening the
//! file again keeps complete units and continues with the rest, so a run that was
//! killed ends with the same file. Every cell that is kept is checked, because
//! figures and summaries are made from it.

use crate::Error;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A piece of work: the cells its rows begin with, and how many there will be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unit {
    pub(crate) key: Vec<String>,
    pub(crate) n_rows: usize,
}

/// A row of results, without the line end.
pub(crate) type Row = Vec<String>;

/// What the cells of a column hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cells {
    Words,
    Numbers,
    NumbersOrNothing,
}

/// A column of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Column {
    name: &'static str,
    cells: Cells,
}

impl Column {
    /// A column of words, such as names of methods.
    pub(crate) const fn words(name: &'static str) -> Self {
        Self { name, cells: Cells::Words }
    }

    /// A column of finite numbers.
    pub(crate) const fn numbers(name: &'static str) -> Self {
        Self { name, cells: Cells::Numbers }
    }

    /// A column of finite numbers, some of which may be absent.
    pub(crate) const fn numbers_or_nothing(name: &'static str) -> Self {
        Self { name, cells: Cells::NumbersOrNothing }
    }

    /// What is wrong with a cell of the column, if anything.
    fn fault(&self, cell: &str) -> Option<String> {
        let is_number = || cell.parse::<f64>().is_ok_and(f64::is_finite);
        let is_right = match self.cells {
            Cells::Words => !cell.is_empty(),
            Cells::Numbers => is_number(),
            Cells::NumbersOrNothing => cell.is_empty() || is_number(),
        };
        let wanted = if self.cells == Cells::Words { "word" } else { "finite number" };
        (!is_right).then(|| format!("`{cell}` in column `{}` is not a {wanted}", self.name))
    }
}

/// What is wrong with a row, if anything.
fn fault(row: &Row, columns: &[Column]) -> Option<String> {
    if row.len() != columns.len() {
        return Some(format!("there are {} cells, not {}", row.len(), columns.len()));
    }
    columns.iter().zip(row).find_map(|(column, cell)| column.fault(cell))
}

/// The file and what it holds.
#[derive(Debug)]
pub(crate) struct Ledger {
    path: PathBuf,
    file: File,
    columns: Vec<Column>,
    rows: Vec<Row>,
    n_units: usize,
}

/// A complete line: its number, its length with the line end, its cells.
struct Line {
    number: usize,
    bytes: usize,
    row: Row,
}

impl Ledger {
    /// Whether the file at `path` holds any results.
    pub(crate) fn has_rows(path: &Path) -> Result<bool, Error> {
        match std::fs::read_to_string(path) {
            Ok(text) => Ok(text.lines().nth(1).is_some()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(Error::file(path)(error)),
        }
    }

    /// Opens or creates the file; `plan` is all the work, in order.
    ///
    /// # Errors
    ///
    /// [`Error::Link`] if the file is a link, [`Error::Damaged`] if it holds anything but the beginning of `plan`,
    /// [`Error::MoreThanAsked`] if it continues after the end of `plan`.
    pub(crate) fn open(path: &Path, columns: &[Column], plan: &[Unit]) -> Result<Self, Error> {
        let failed = || Error::file(path);
        let opened = dshap_io::open_without_link(path).map_err(failed())?;
        let mut file = opened.ok_or_else(|| Error::Link { file: path.display().to_string() })?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(failed())?;

        let damaged =
            |line: usize, reason: String| Error::Damaged { file: path.display().to_string(), line, reason };
        let header = columns.iter().map(|column| column.name).collect::<Vec<_>>().join(",");
        let mut whole =
            text.split_inclusive('\n').filter(|line| line.ends_with('\n')).zip(1..).map(|(line, number)| {
                Line {
                    number,
                    bytes: line.len(),
                    row: line.trim_end_matches(['\r', '\n']).split(',').map(str::to_string).collect(),
                }
            });
        let mut length = 0;
        match whole.next() {
            Some(line) if line.row.join(",") == header => length += line.bytes,
            Some(line) => {
                return Err(damaged(1, format!("`{}` instead of `{header}`", line.row.join(","))));
            }
            None => {
                file.set_len(0).map_err(failed())?;
                file.seek(SeekFrom::Start(0)).map_err(failed())?;
                file.write_all(format!("{header}\n").as_bytes()).map_err(failed())?;
                length = header.len() + 1;
            }
        }
        let (mut rows, mut n_units) = (Vec::new(), 0);
        for unit in plan {
            let part: Vec<Line> = whole.by_ref().take(unit.n_rows).collect();
            for (i, line) in part.iter().enumerate() {
                if !line.row.starts_with(&unit.key) {
                    let wanted = format!("row {} of {} of `{}`", i + 1, unit.n_rows, unit.key.join(","));
                    return Err(damaged(
                        line.number,
                        format!("`{}` instead of {wanted}", line.row.join(",")),
                    ));
                }
                if let Some(fault) = fault(&line.row, columns) {
                    return Err(damaged(line.number, fault));
                }
                if let Some(same) = part[..i].iter().find(|earlier| earlier.row == line.row) {
                    return Err(damaged(line.number, format!("it repeats line {}", same.number)));
                }
            }
            if part.len() < unit.n_rows {
                break;
            }
            length += part.iter().map(|line| line.bytes).sum::<usize>();
            rows.extend(part.into_iter().map(|line| line.row));
            n_units += 1;
        }
        if let Some(beyond) = whole.next() {
            return Err(Error::MoreThanAsked {
                file: path.display().to_string(),
                line: beyond.number,
                found: beyond.row.join(","),
            });
        }
        // What remains is a unit that was cut off.
        file.set_len(length as u64).map_err(failed())?;
        file.seek(SeekFrom::End(0)).map_err(failed())?;
        Ok(Self { path: path.into(), file, columns: columns.to_vec(), rows, n_units })
    }

    /// How many units are done.
    pub(crate) fn n_units(&self) -> usize {
        self.n_units
    }

    /// All rows so far.
    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Adds the rows of the next unit in one write.
    ///
    /// # Errors
    ///
    /// [`Error::NoNumber`] for rows that could not be read again.
    pub(crate) fn append(&mut self, rows: Vec<Row>) -> Result<(), Error> {
        if let Some((row, fault)) = rows.iter().find_map(|row| Some((row, fault(row, &self.columns)?))) {
            return Err(Error::NoNumber { row: row.join(","), reason: fault });
        }
        let text: String = rows.iter().map(|row| row.join(",") + "\n").collect();
        let write = self.file.write_all(text.as_bytes()).and_then(|()| self.file.flush());
        write.map_err(Error::file(&self.path))?;
        self.rows.extend(rows);
        self.n_units += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column; 4] = [
        Column::words("panel"),
        Column::numbers("repetition"),
        Column::numbers("value"),
        Column::numbers_or_nothing("limit"),
    ];

    fn plan() -> Vec<Unit> {
        (0..4).map(|i| Unit { key: vec!["a".into(), i.to_string()], n_rows: 2 }).collect()
    }

    fn rows(i: usize) -> Vec<Row> {
        ["1.5", "2"].map(|value| vec!["a".into(), i.to_string(), value.into(), String::new()]).into()
    }

    fn complete(path: &Path) -> String {
        let mut ledger = Ledger::open(path, &COLUMNS, &plan()).unwrap();
        for i in ledger.n_units()..4 {
            ledger.append(rows(i)).unwrap();
        }
        assert_eq!(ledger.rows().len(), 8);
        std::fs::read_to_string(path).unwrap()
    }

    #[test]
    fn a_file_cut_anywhere_ends_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let whole = complete(&path);
        for cut in 0..whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            assert_eq!(complete(&path), whole, "cut after {cut} bytes");
        }
    }

    #[test]
    fn damage_is_named_with_its_line_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let whole = complete(&path);
        let without = |number: usize| -> String {
            let others = whole.split_inclusive('\n').zip(1..).filter(|(_, i)| *i != number);
            others.map(|(line, _)| line).collect()
        };
        for (other, line, words) in [
            (whole.replace("value", "seconds"), 1, "instead of `panel,"),
            (whole.replace("a,1,1.5", "b,1,1.5"), 4, "`b,1,1.5,` instead of row 1 of 2 of `a,1`"),
            (whole.replace("a,1,2,\n", "a,1,NaN,\n"), 5, "`NaN` in column `value` is not a finite number"),
            (whole.replace("a,1,2,\n", "a,1,inf,\n"), 5, "`inf` in column `value` is not a finite number"),
            (whole.replace("a,2,2,\n", "a,2,,\n"), 7, "`` in column `value` is not a finite number"),
            (whole.replace("a,2,2,\n", "a,2,2,x\n"), 7, "`x` in column `limit` is not a finite number"),
            (whole.replace("a,2,2,\n", "a,2,2,,\n"), 7, "there are 5 cells, not 4"),
            (whole.replace("a,2,2,\n", "a,2,2\n"), 7, "there are 3 cells, not 4"),
            (whole.replace("a,2,2,\n", "a,2,1.5,\n"), 7, "it repeats line 6"),
            (whole.replace("a,2,2,\n", "oops\n"), 7, "`oops` instead of row 2 of 2 of `a,2`"),
            (without(4), 5, "`a,2,1.5,` instead of row 2 of 2 of `a,1`"),
        ] {
            std::fs::write(&path, &other).unwrap();
            let refused = Ledger::open(&path, &COLUMNS, &plan()).unwrap_err();
            assert!(
                matches!(&refused, Error::Damaged { line: found, .. } if *found == line),
                "{refused}, line {line}"
            );
            assert!(refused.to_string().contains(words), "{refused} has {words}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), other, "and stays as it is");
        }
    }

    #[test]
    fn rows_beyond_the_plan_are_kept_and_reported() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let whole = complete(&path);
        let refused = Ledger::open(&path, &COLUMNS, &plan()[..3]).unwrap_err();
        assert!(matches!(refused, Error::MoreThanAsked { line: 8, .. }), "{refused}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), whole);
    }

    #[test]
    fn rows_that_could_not_be_read_again_are_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let mut ledger = Ledger::open(&path, &COLUMNS, &plan()).unwrap();
        let row = ["a", "0", "NaN", ""].map(String::from).to_vec();
        assert!(matches!(ledger.append(vec![row.clone(), row]), Err(Error::NoNumber { .. })));
        assert!(!Ledger::has_rows(&path).unwrap());
    }
}
