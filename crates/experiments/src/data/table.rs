//! A table of numbers with a target.

use crate::Error;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use dshap_io::{AtomicFile, Destination, Format, ScanOptions, Sink, Source};
use dshap_table::{ReadAs, Wanted};
use faer::Mat;
use sha2::{Digest, Sha256};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// The column that is predicted, in every table.
const TARGET: &str = "target";
/// Columns of image tables that are not features.
const BOOKKEEPING: [&str; 3] = [LABEL, "split", "index"];
/// The column with the label of an image, 0 to 9.
const LABEL: &str = "label";
/// Labels below this are 1 in the paper's classifications of images.
const FIRST_LABELS: f64 = 5.0;

/// Features and a target, by rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Names of the features.
    pub names: Vec<String>,
    /// The features.
    pub x: Mat<f64>,
    /// The target.
    pub y: Vec<f64>,
    /// Rows before the test part, if the source has one.
    pub n_train: Option<usize>,
}

impl Table {
    /// A table from rows whose last cell is the target.
    pub(crate) fn from_rows(names: &[impl AsRef<str>], rows: &[Vec<f64>]) -> Self {
        let names: Vec<String> = names.iter().map(|name| name.as_ref().to_string()).collect();
        let x = Mat::from_fn(rows.len(), names.len(), |i, j| rows[i][j]);
        Self { y: rows.iter().map(|row| row[names.len()]).collect(), names, x, n_train: None }
    }

    /// Reads a table from any file that `dshap value` reads.
    ///
    /// # Errors
    ///
    /// [`Error::Table`]; [`Error::WrongTable`] for missing cells or a missing target.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let wrong = |reason: String| Error::WrongTable { file: path.display().to_string(), reason };
        let source = Source::open(&[path.display().to_string()])?;
        let all: Vec<String> = source.schema().names().map(str::to_string).collect();
        let has = |column: &str| all.iter().any(|name| name == column);
        // Tables of images may have the label of each image instead.
        let target = if has(TARGET) { TARGET } else { LABEL };
        if !has(target) {
            return Err(wrong(format!("there is no column `{TARGET}`, nor a column `{LABEL}`")));
        }
        let is_feature = |name: &&String| *name != TARGET && !BOOKKEEPING.contains(&name.as_str());
        let names: Vec<String> = all.iter().filter(is_feature).cloned().collect();
        let has_split = all.iter().any(|name| name == "split");
        let mut wanted: Vec<Wanted> = names
            .iter()
            .map(String::as_str)
            .chain([target])
            .map(|name| Wanted { name: name.into(), read_as: ReadAs::Number })
            .collect();
        if has_split {
            wanted.push(Wanted { name: "split".into(), read_as: ReadAs::Text });
        }
        let p = names.len();
        let mut columns: Vec<Vec<f64>> = vec![Vec::new(); p + 1];
        let mut is_test: Vec<bool> = Vec::new();
        for batch in source.scan(&wanted, ScanOptions::default())? {
            let batch = batch?;
            let rows = batch.rows;
            for (j, column) in columns.iter_mut().enumerate() {
                let cells = rows.column(j).as_primitive::<Float64Type>();
                let is_missing = |cell: Option<f64>| cell.is_none_or(|cell| !cell.is_finite());
                if let Some(row) = cells.iter().position(is_missing) {
                    let place = source.locate(batch.first_row + row as u64)?.place;
                    let name = &wanted[j].name;
                    return Err(wrong(format!("{place}, column `{name}` has no value")));
                }
                column.extend(cells.values());
            }
            if has_split {
                is_test.extend(rows.column(p + 1).as_string::<i32>().iter().map(|cell| cell == Some("test")));
            }
        }
        // Rows of the source's own test part go to the end.
        let n = columns[0].len();
        let mut order: Vec<usize> = (0..n).collect();
        let n_train = has_split.then(|| is_test.iter().filter(|test| !**test).count());
        if has_split {
            order.sort_by_key(|&i| is_test[i]);
        }
        // The paper tells the first five labels from the others.
        let of_label = |label: f64| if label < FIRST_LABELS { 1.0 } else { 0.0 };
        let y = |i: &usize| if target == LABEL { of_label(columns[p][*i]) } else { columns[p][*i] };
        Ok(Self {
            x: Mat::from_fn(n, p, |i, j| columns[j][order[i]]),
            y: order.iter().map(y).collect(),
            names,
            n_train,
        })
    }

    /// Writes the table in the format given by the name of the file, which appears
    /// whole or not at all.
    ///
    /// # Errors
    ///
    /// [`Error::Table`], [`Error::File`].
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let format = Format::from_extension(path)?;
        if format != Format::Csv {
            let column = |cells: Vec<f64>| Arc::new(Float64Array::from(cells)) as ArrayRef;
            let features = self
                .names
                .iter()
                .enumerate()
                .map(|(j, name)| (name.as_str(), column(self.x.col(j).iter().copied().collect())));
            let rows = RecordBatch::try_from_iter(features.chain([(TARGET, column(self.y.clone()))]))
                .expect("columns of one length");
            let mut sink = Sink::create(&Destination::File(path.into()), format, rows.schema())?;
            sink.write(&rows)?;
            return Ok(sink.finish()?);
        }
        let mut file = AtomicFile::create(path)?;
        self.write_to(&mut file).map_err(Error::file(path))?;
        Ok(file.commit()?)
    }

    /// Writes the table as CSV. Numbers read back to the same bits.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn write_to(&self, out: &mut impl Write) -> std::io::Result<()> {
        writeln!(out, "{},{TARGET}", self.names.join(","))?;
        for (i, y) in self.y.iter().enumerate() {
            for j in 0..self.x.ncols() {
                write!(out, "{},", self.x[(i, j)])?;
            }
            writeln!(out, "{y}")?;
        }
        Ok(())
    }

    /// A digest of the numbers, rows and names in order: SHA-256 over the names, each
    /// followed by a line end, and then over the cells of each row, the target last,
    /// as little-endian doubles. Neither the spelling of numbers nor the file format
    /// matters.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        for name in &self.names {
            hash.update(name.as_bytes());
            hash.update(b"\n");
        }
        for (i, y) in self.y.iter().enumerate() {
            for j in 0..self.x.ncols() {
                // −0 is 0.
                hash.update((self.x[(i, j)] + 0.0).to_le_bytes());
            }
            hash.update((y + 0.0).to_le_bytes());
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        Table::from_rows(&["a", "b"], &[vec![0.1, 2.0, 1.0], vec![-0.0, 1e300, 0.0]])
    }

    #[test]
    fn a_table_written_reads_back_to_the_same_digest() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        table().write(&path).unwrap();
        assert_eq!(Table::read(&path).unwrap().digest(), table().digest());
    }

    #[test]
    fn the_name_of_a_file_decides_its_format() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        table().write(&path).unwrap();
        assert!(std::fs::read(&path).unwrap().starts_with(b"PAR1"));
        assert_eq!(Table::read(&path).unwrap().digest(), table().digest());
        assert!(table().write(&folder.path().join("t.xlsx")).is_err());
    }

    #[test]
    fn a_digest_depends_on_every_number_but_not_on_spelling() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        std::fs::write(&path, "a,b,target\n1e-1,2.00,1\n0,1e300,0\n").unwrap();
        assert_eq!(Table::read(&path).unwrap().digest(), table().digest());
        std::fs::write(&path, "a,b,target\n0.1,2,1\n0,1e300,1\n").unwrap();
        assert_ne!(Table::read(&path).unwrap().digest(), table().digest());
    }

    #[test]
    fn rows_kept_for_tests_go_to_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        std::fs::write(&path, "a,split,index,target\n1,test,0,1\n2,train,0,0\n3,train,1,1\n").unwrap();
        let table = Table::read(&path).unwrap();
        assert_eq!((table.names.as_slice(), table.n_train), (["a".to_string()].as_slice(), Some(2)));
        assert_eq!(table.y, [0.0, 1.0, 1.0]);
        assert_eq!(table.x[(2, 0)], 1.0);
    }

    #[test]
    fn labels_of_images_become_targets() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mnist.csv");
        std::fs::write(&path, "f0,f1,label,split\n1,2,0,train\n3,4,9,test\n5,6,4,train\n").unwrap();
        let table = Table::read(&path).unwrap();
        assert_eq!((table.y, table.n_train, table.names.len()), (vec![1.0, 1.0, 0.0], Some(2), 2));
    }

    #[test]
    fn missing_cells_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        std::fs::write(&path, "a,target\n1,\n2,0\n").unwrap();
        let refused = Table::read(&path).unwrap_err();
        let words = "line 2, column `target` has no value";
        assert!(matches!(&refused, Error::WrongTable { reason, .. } if reason == words), "{refused}");
        std::fs::write(&path, "a,b\n1,2\n").unwrap();
        assert!(matches!(Table::read(&path), Err(Error::WrongTable { .. })));
    }
}
