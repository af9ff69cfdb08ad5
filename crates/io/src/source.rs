//! A table made of one or more files.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::{DataType, SchemaRef};
use dshap_table::{RawColumn, RawSchema, ReadAs, Wanted, closest};

use crate::csv::{CHUNK_BYTES, CsvFile, CsvScan, Opened};
use crate::digest::{self, FileDigest};
use crate::error::{Error, Location, Note};
use crate::input::Input;
use crate::parquet::{self, ParquetFile, ParquetScan};
use crate::scan::{Scan, ScanOptions};

/// A table made of one or more files, which can be read as often as needed.
///
/// Several files are one table, in the order given. They must have the same
/// column names, in any order; the first file with rows says what each column
/// holds.
#[derive(Debug, Clone)]
pub struct Source {
    parts: Arc<[Part]>,
    schema: RawSchema,
    notes: Vec<Note>,
}

impl Source {
    /// Opens the files behind `inputs`: paths, patterns such as `part-*.csv`,
    /// or `-` for standard input.
    ///
    /// Reads the header and the first 10 000 records. Standard input and pipes
    /// are copied to a temporary file that vanishes with the source.
    pub fn open(inputs: &[String]) -> Result<Source, Error> {
        Source::from_inputs(Input::resolve(inputs)?)
    }

    pub(crate) fn from_inputs(inputs: Vec<Input>) -> Result<Source, Error> {
        let mut notes = repeated(&inputs);
        let mut parts = Vec::with_capacity(inputs.len());
        let mut schema: Option<(RawSchema, bool)> = None;
        let mut bare_carriage_returns = false;
        let n_inputs = inputs.len();
        for input in inputs {
            let opened = Part::open(input, &mut notes)?;
            let (file, columns) = (opened.file, opened.columns);
            refuse_duplicates(file.name(), &columns)?;
            bare_carriage_returns |= opened.bare_carriage_returns;
            if !opened.has_rows && n_inputs > 1 {
                notes.push(Note::NoRowsInPart { file: file.name().to_owned() });
            }
            match &mut schema {
                None => schema = Some((RawSchema { columns }, opened.has_rows)),
                Some((first, is_settled)) => {
                    let first_name = parts.first().map_or("", Part::name);
                    refuse_difference(first_name, first, file.name(), &columns)?;
                    if !*is_settled && opened.has_rows {
                        // Without rows the first file could not tell.
                        for column in &mut first.columns {
                            let same = columns.iter().find(|other| other.name == column.name);
                            column.kind = same.map_or(column.kind.clone(), |c| c.kind.clone());
                        }
                        *is_settled = true;
                    }
                }
            }
            parts.push(file);
        }
        match schema {
            Some((schema, true)) => Ok(Source { parts: parts.into(), schema, notes }),
            Some((_, false)) => Err(Error::NoRows {
                file: parts.first().map_or("", Part::name).to_owned(),
                bare_carriage_returns,
            }),
            None => Err(Error::NoInput),
        }
    }

    /// Names and kinds of all columns, in the order of the first file.
    pub fn schema(&self) -> &RawSchema {
        &self.schema
    }

    /// What the user should be told about the files.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// The files as the user named them; standard input is `standard input`.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().map(Part::name)
    }

    /// Total size on disk, to compare [`Batch::bytes_read`](crate::Batch) with.
    pub fn n_bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.input().n_bytes()).sum()
    }

    /// The schema of all batches of a scan.
    pub fn arrow_schema(&self, wanted: &[Wanted]) -> Result<SchemaRef, Error> {
        let fields = wanted
            .iter()
            .map(|wanted| {
                if self.schema.column(&wanted.name).is_none() {
                    return Err(self.no_such_column(&wanted.name));
                }
                let data_type = match wanted.read_as {
                    ReadAs::Number | ReadAs::Boolean => DataType::Float64,
                    ReadAs::Text => DataType::Utf8,
                    ReadAs::AsIs => self.own_type(&wanted.name),
                };
                Ok(arrow_schema::Field::new(&wanted.name, data_type, true))
            })
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Arc::new(arrow_schema::Schema::new(fields)))
    }

    /// Starts a pass over the rows that reads `wanted` and nothing else.
    pub fn scan(&self, wanted: &[Wanted], options: ScanOptions) -> Result<Scan, Error> {
        self.scan_in_chunks(wanted, options, CHUNK_BYTES)
    }

    /// As [`scan`](Source::scan). The size of chunks must not matter.
    pub(crate) fn scan_in_chunks(
        &self,
        wanted: &[Wanted],
        options: ScanOptions,
        chunk_bytes: usize,
    ) -> Result<Scan, Error> {
        let schema = self.arrow_schema(wanted)?;
        Ok(Scan::new(Arc::clone(&self.parts), wanted.to_vec(), schema, options, chunk_bytes))
    }

    /// Where a row of the table stands. Slow, for messages only: a text file
    /// is read up to that row.
    pub fn locate(&self, row: u64) -> Result<Location, Error> {
        let mut row = row;
        for part in self.parts.iter() {
            match part.locate(row)? {
                Ok(location) => return Ok(location),
                Err(n_rows) => row -= n_rows,
            }
        }
        let last = self.parts.last().ok_or(Error::NoInput)?;
        Ok(Location { file: last.name().to_owned(), place: crate::error::Place::Row(row) })
    }

    /// Name, size and SHA-256 of each file as it is on disk.
    pub fn digests(&self) -> Result<Vec<FileDigest>, Error> {
        self.parts.iter().map(|part| digest::of(part.input())).collect()
    }

    /// The type of a column in the first file; later files are made to agree.
    fn own_type(&self, name: &str) -> DataType {
        match self.parts.first() {
            Some(Part::Parquet(file)) => file.data_type(name).cloned(),
            _ => None,
        }
        .unwrap_or(DataType::Utf8)
    }

    fn no_such_column(&self, name: &str) -> Error {
        Error::NoSuchColumn {
            file: self.parts.first().map_or("", Part::name).to_owned(),
            name: name.to_owned(),
            available: self.schema.names().map(str::to_owned).collect(),
            suggestion: closest(name, self.schema.names()).map(str::to_owned),
        }
    }
}

/// Some consecutive rows of one file.
pub(crate) struct Piece {
    pub(crate) arrays: Vec<ArrayRef>,
    pub(crate) n_rows: usize,
    /// How much of the file on disk has been read so far.
    pub(crate) disk_position: u64,
}

/// One file of a table.
#[derive(Debug)]
pub(crate) enum Part {
    Csv(CsvFile),
    Parquet(ParquetFile),
}

impl Part {
    fn open(input: Input, notes: &mut Vec<Note>) -> Result<Opened<Part>, Error> {
        if is_parquet(&input)? {
            Ok(ParquetFile::open(input)?.map(Part::Parquet))
        } else {
            Ok(CsvFile::open(input, notes)?.map(Part::Csv))
        }
    }

    pub(crate) fn input(&self) -> &Input {
        match self {
            Part::Csv(file) => file.input(),
            Part::Parquet(file) => file.input(),
        }
    }

    pub(crate) fn name(&self) -> &str {
        self.input().name()
    }

    fn locate(&self, row: u64) -> Result<Result<Location, u64>, Error> {
        match self {
            Part::Csv(file) => file.locate(row),
            Part::Parquet(file) => Ok(file.locate(row)),
        }
    }

    pub(crate) fn scan(
        &self,
        wanted: &[Wanted],
        batch_rows: usize,
        chunk_bytes: usize,
    ) -> Result<PartScan, Error> {
        let columns = wanted.iter().map(|wanted| (wanted.name.as_str(), wanted.read_as));
        Ok(match self {
            Part::Csv(file) => PartScan::Csv(Box::new(file.scan(columns, chunk_bytes)?)),
            Part::Parquet(file) => PartScan::Parquet(Box::new(file.scan(columns, batch_rows)?)),
        })
    }
}

/// One pass over one file.
pub(crate) enum PartScan {
    Csv(Box<CsvScan>),
    Parquet(Box<ParquetScan>),
}

impl PartScan {
    pub(crate) fn next(&mut self, max_rows: u64) -> Result<Option<Piece>, Error> {
        match self {
            PartScan::Csv(scan) => scan.next(max_rows),
            PartScan::Parquet(scan) => scan.next(max_rows),
        }
    }
}

/// By its first bytes, or by its name if those are damaged.
fn is_parquet(input: &Input) -> Result<bool, Error> {
    use std::io::Read;

    let mut start = Vec::new();
    input
        .open()?
        .take(parquet::MAGIC.len() as u64)
        .read_to_end(&mut start)
        .map_err(|reason| Error::read(input.name(), reason))?;
    let by_name = input
        .path()
        .and_then(|path| path.extension())
        .is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"));
    Ok(start == parquet::MAGIC || by_name)
}

fn repeated(inputs: &[Input]) -> Vec<Note> {
    let mut seen = HashSet::new();
    let mut notes = Vec::new();
    for input in inputs {
        if let Some(path) = input.path()
            && let Ok(path) = path.canonicalize()
            && !seen.insert(path)
        {
            notes.push(Note::RepeatedFile { file: input.name().to_owned() });
        }
    }
    notes
}

fn refuse_duplicates(file: &str, columns: &[RawColumn]) -> Result<(), Error> {
    let mut seen = HashSet::new();
    match columns.iter().find(|column| !seen.insert(&column.name)) {
        None => Ok(()),
        Some(column) => Err(Error::DuplicateColumn { file: file.to_owned(), name: column.name.clone() }),
    }
}

fn refuse_difference(
    first_file: &str,
    first: &RawSchema,
    file: &str,
    columns: &[RawColumn],
) -> Result<(), Error> {
    let names: HashSet<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    if let Some(missing) = first.names().find(|name| !names.contains(name)) {
        return Err(Error::ColumnsDiffer {
            file: file.to_owned(),
            other: first_file.to_owned(),
            column: missing.to_owned(),
        });
    }
    let names: HashSet<&str> = first.names().collect();
    match columns.iter().find(|column| !names.contains(column.name.as_str())) {
        None => Ok(()),
        Some(added) => Err(Error::ColumnsDiffer {
            file: first_file.to_owned(),
            other: file.to_owned(),
            column: added.name.clone(),
        }),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Everything that is read, or the words of the error.
    fn read(source: &Source, wanted: &[Wanted], chunk_bytes: usize) -> Result<String, String> {
        let options = ScanOptions { batch_bytes: 200, limit_rows: None };
        let mut text = String::new();
        let scan = source.scan_in_chunks(wanted, options, chunk_bytes);
        for batch in scan.map_err(|error| error.to_string())? {
            let batch = batch.map_err(|error| error.to_string())?;
            // The debug form shows every cell and tells null from empty.
            for array in batch.rows.columns() {
                text.push_str(&format!("{} {array:?}", batch.first_row));
            }
        }
        Ok(text)
    }

    fn wanted() -> Vec<Wanted> {
        [("a", ReadAs::Number), ("b", ReadAs::Text), ("b", ReadAs::AsIs)]
            .map(|(name, read_as)| Wanted { name: name.into(), read_as })
            .into()
    }

    /// A cell as it might stand in a file: mostly sound, sometimes not.
    fn cell() -> impl Strategy<Value = &'static str> {
        prop_oneof![
            200 => prop::sample::select(vec![
                "1", "-2.5e-3", "", "NA", " 7 ", "\"8\"", "\"\"", "0.30000000000000004",
            ]),
            4 => prop::sample::select(vec!["x", "inf", "\"1\n2\""]),
            1 => Just("1,2"),
        ]
    }

    fn text() -> impl Strategy<Value = &'static str> {
        prop_oneof![
            200 => prop::sample::select(vec![
                "x", "\"x,y\"", "\"x\ny\"", "\"say \"\"hi\"\"\"", "5\" pipe", "\"\"\"\"",
                "\"\r\n\r\n\"", "é", " ", "\"a\"b", "\"NA\"", "?", "\"\"\"\n\"",
            ]),
            1 => prop::sample::select(vec!["x,y", "\"open", "\"a\"\"", "\n"]),
        ]
    }

    fn line_end() -> impl Strategy<Value = &'static str> {
        prop::sample::select(vec!["\n", "\r\n", "\n\n", "\n  \r\n"])
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn neither_chunks_nor_threads_change_what_is_read(
            records in prop::collection::vec((cell(), text(), line_end()), 1..40),
            ends_in_newline in any::<bool>(),
        ) {
            let mut whole = "a,b\n".to_owned();
            for (a, b, end) in &records {
                whole.push_str(&format!("{a},{b}{end}"));
            }
            if !ends_in_newline {
                whole.truncate(whole.trim_end_matches(['\r', '\n']).len());
            }
            let Ok(source) = Source::from_inputs(vec![
                Input::spool("a pipe", whole.as_bytes()).unwrap(),
            ]) else {
                return Ok(());
            };
            let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
            let four = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
            let expected = one.install(|| read(&source, &wanted(), CHUNK_BYTES));
            for chunk_bytes in [1, 2, 3, 5, 16, 64, 300] {
                for pool in [&one, &four] {
                    let found = pool.install(|| read(&source, &wanted(), chunk_bytes));
                    prop_assert_eq!(&found, &expected, "chunks of {}", chunk_bytes);
                }
            }
        }
    }

    #[test]
    fn faults_are_placed_alike_whatever_the_chunks() {
        let mut whole = "a,b\n".to_owned();
        for row in 0..12_000 {
            whole.push_str(&format!("{row},\"x\n{row}\"\n"));
        }
        for (tail, expected) in [
            ("oops,x\n1,2,3\n", "`a pipe` line 24002, column `a` holds `oops`, which is not a number"),
            ("1,2,3\noops,x\n", "`a pipe` line 24002 has 3 fields, expected 2"),
            ("1,2\n3,\"open\n", "`a pipe` line 24003, a quoted field begins here and is never closed"),
        ] {
            let text = format!("{whole}{tail}");
            let input = Input::spool("a pipe", text.as_bytes()).unwrap();
            let source = Source::from_inputs(vec![input]).unwrap();
            for chunk_bytes in [16, 1000, 1 << 14, CHUNK_BYTES] {
                let found = read(&source, &wanted(), chunk_bytes);
                assert_eq!(found, Err(expected.to_owned()), "chunks of {chunk_bytes}");
            }
        }
    }

    #[test]
    fn rows_are_located_across_files() {
        let inputs = ["a\n1\n\n2\n", "a\n", "a\n3"]
            .iter()
            .enumerate()
            .map(|(i, text)| Input::spool(&format!("file {i}"), text.as_bytes()).unwrap())
            .collect();
        let source = Source::from_inputs(inputs).unwrap();
        let places = [0, 1, 2].map(|row| source.locate(row).unwrap().to_string());
        assert_eq!(places, ["`file 0` line 2", "`file 0` line 4", "`file 2` line 2"]);
    }
}
