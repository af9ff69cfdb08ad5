//! A table of results that grows row by row and survives being killed.
//!
//! Work is a list of units, in a fixed order; a unit is the rows of one
//! repetition, told by their first cells. Rows of a unit are appended together.
//! Whoever opens the file again keeps the units that are there whole and goes on
//! with the rest, so that a run that was killed ends with the same file.

use crate::Error;
use std::fs::{File, OpenOptions};
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

/// The file and what it holds.
#[derive(Debug)]
pub(crate) struct Ledger {
    path: PathBuf,
    file: File,
    rows: Vec<Row>,
    n_units: usize,
}

impl Ledger {
    /// Opens or begins the file; `plan` is all the work, in order.
    ///
    /// # Errors
    ///
    /// [`Error::OtherRun`] if the file holds anything but the beginning of `plan`.
    pub(crate) fn open(path: &Path, header: &[&str], plan: &[Unit]) -> Result<Self, Error> {
        let failed = || Error::file(path);
        let mut options = OpenOptions::new();
        let mut file =
            options.read(true).write(true).create(true).truncate(false).open(path).map_err(failed())?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(failed())?;

        let other = |found: &str, wanted: String| Error::OtherRun {
            file: path.display().to_string(),
            found: format!("`{found}`"),
            wanted,
        };
        let header = header.join(",");
        let mut whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n')).map(|line| {
            // The length counts the line end, which cells do not have.
            (line.len(), line.trim_end().split(',').map(str::to_string).collect::<Row>())
        });
        let mut length = 0;
        match whole.next() {
            Some((bytes, found)) if found.join(",") == header => length += bytes,
            Some((_, found)) => return Err(other(&found.join(","), format!("`{header}`"))),
            None => {
                file.set_len(0).map_err(failed())?;
                file.seek(SeekFrom::Start(0)).map_err(failed())?;
                file.write_all(format!("{header}\n").as_bytes()).map_err(failed())?;
                length = header.len() + 1;
            }
        }
        let (mut rows, mut n_units) = (Vec::new(), 0);
        for unit in plan {
            let part: Vec<(usize, Row)> = whole.by_ref().take(unit.n_rows).collect();
            if let Some((_, wrong)) = part.iter().find(|(_, row)| !row.starts_with(&unit.key)) {
                return Err(other(&wrong.join(","), format!("a row of `{}`", unit.key.join(","))));
            }
            if part.len() < unit.n_rows {
                break;
            }
            length += part.iter().map(|(bytes, _)| bytes).sum::<usize>();
            rows.extend(part.into_iter().map(|(_, row)| row));
            n_units += 1;
        }
        if let Some((_, beyond)) = whole.next() {
            return Err(other(&beyond.join(","), "nothing more".into()));
        }
        // What is left is a unit that was cut off.
        file.set_len(length as u64).map_err(failed())?;
        file.seek(SeekFrom::End(0)).map_err(failed())?;
        Ok(Self { path: path.into(), file, rows, n_units })
    }

    /// How many units are done.
    pub(crate) fn n_units(&self) -> usize {
        self.n_units
    }

    /// All rows so far.
    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Adds the rows of the next unit, in one piece.
    pub(crate) fn append(&mut self, rows: Vec<Row>) -> Result<(), Error> {
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

    const HEADER: [&str; 3] = ["panel", "repetition", "value"];

    fn plan() -> Vec<Unit> {
        (0..4).map(|i| Unit { key: vec!["a".into(), i.to_string()], n_rows: 2 }).collect()
    }

    fn rows(i: usize) -> Vec<Row> {
        ["1.5", "2"].map(|value| vec!["a".into(), i.to_string(), value.into()]).into()
    }

    fn complete(path: &Path) -> String {
        let mut ledger = Ledger::open(path, &HEADER, &plan()).unwrap();
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
    fn another_run_is_not_continued() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let whole = complete(&path);
        for other in
            [whole.replace("value", "seconds"), whole.replace("a,1,", "b,1,"), format!("{whole}a,4,1\n")]
        {
            std::fs::write(&path, &other).unwrap();
            assert!(matches!(Ledger::open(&path, &HEADER, &plan()), Err(Error::OtherRun { .. })));
            assert_eq!(std::fs::read_to_string(&path).unwrap(), other, "and stays as it is");
        }
    }
}
