//! A table made of one or more files.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, SchemaRef};
use dshap_table::{RawColumn, RawSchema, ReadAs, Wanted, closest};

use crate::digest::{self, FileDigest};
use crate::error::Error;
use crate::facts::NoRowsIn;
use crate::input::Input;
use crate::kept::Kept;
use crate::location::{Location, Place};
use crate::memory::{BatchTable, NumberTable, Numbers};
use crate::names;
use crate::note::Note;
use crate::part::{self, Opened, Part};
use crate::read_options::ReadOptions;
use crate::scan::{Scan, ScanColumns, ScanOptions, row_bytes};
use crate::stamp::FileStamp;
use crate::text::CHUNK_BYTES;

/// A table made of one or more files, which can be read as often as needed.
///
/// Several files are one table, in the order given. They must have the same
/// column names, in any order; the first file with rows says what each column
/// holds.
#[derive(Debug, Clone)]
pub struct Source {
    parts: Arc<[Box<dyn Part>]>,
    schema: RawSchema,
    notes: Vec<Note>,
    /// Rows that an earlier pass kept, for all clones of the source.
    kept: Arc<Kept>,
    /// Numbers of rows that no pass hands over, in ascending order.
    left_out: Option<Arc<[u64]>>,
}

impl Source {
    /// Opens the files behind `inputs`: paths, patterns such as `part-*.csv`,
    /// or `-` for standard input.
    ///
    /// Reads the header and the first 10 000 records. Standard input and pipes
    /// are copied to a temporary file, which vanishes with the source, while they are
    /// read.
    pub fn open(inputs: &[String]) -> Result<Source, Error> {
        Source::open_as(inputs, ReadOptions::default())
    }

    /// As [`open`](Source::open), with what the files cannot say about themselves.
    pub fn open_as(inputs: &[String], how: ReadOptions) -> Result<Source, Error> {
        Source::from_inputs_as(Input::resolve(inputs)?, how)
    }

    /// A table of record batches in memory, all of `schema`, called `name` in
    /// messages.
    ///
    /// # Errors
    ///
    /// [`Error::NoRows`], [`Error::DuplicateColumn`].
    pub fn of_batches(name: &str, schema: SchemaRef, batches: Vec<RecordBatch>) -> Result<Source, Error> {
        Source::in_memory(name, BatchTable::open(name, schema, batches))
    }

    /// A table of numbers in memory, whose columns have these names.
    ///
    /// # Errors
    ///
    /// [`Error::NoRows`], [`Error::DuplicateColumn`].
    pub fn of_numbers(name: &str, names: &[String], numbers: Arc<dyn Numbers>) -> Result<Source, Error> {
        Source::in_memory(name, NumberTable::open(name, names, numbers))
    }

    fn in_memory(name: &str, opened: Opened) -> Result<Source, Error> {
        refuse_duplicates(name, &opened.columns)?;
        if !opened.has_rows {
            return Err(Error::NoRows { file: name.to_owned(), within: NoRowsIn::Memory });
        }
        let schema = RawSchema { columns: opened.columns };
        Ok(Source {
            parts: vec![opened.part].into(),
            schema,
            notes: Vec::new(),
            kept: Arc::default(),
            left_out: None,
        })
    }

    /// The same table without some rows, whose numbers are in ascending order. Batches keep the
    /// number of the first row they had; rows are located only if none before them in
    /// their batch is left out.
    pub fn without(&self, rows: &[u64]) -> Source {
        Source { left_out: Some(rows.into()), ..self.clone() }
    }

    /// Whether the table is in memory and not in a file.
    pub fn is_in_memory(&self) -> bool {
        self.parts.iter().all(|part| part.input().is_memory())
    }

    /// The numbers themselves, if the table is in memory and holds nothing else.
    pub fn numbers(&self) -> Option<&dyn Numbers> {
        match &*self.parts {
            [part] if self.left_out.is_none() => part.numbers(),
            _ => None,
        }
    }

    #[cfg(test)]
    pub(crate) fn from_inputs(inputs: Vec<Input>) -> Result<Source, Error> {
        Source::from_inputs_as(inputs, ReadOptions::default())
    }

    pub(crate) fn from_inputs_as(inputs: Vec<Input>, how: ReadOptions) -> Result<Source, Error> {
        let mut notes = repeated(&inputs);
        let mut parts: Vec<Box<dyn Part>> = Vec::with_capacity(inputs.len());
        let mut schema: Option<(RawSchema, bool)> = None;
        let n_inputs = inputs.len();
        for input in inputs {
            let opened = part::open(input, how, &mut notes)?;
            let (part, columns) = (opened.part, opened.columns);
            let name = part.input().name();
            refuse_duplicates(name, &columns)?;
            if !opened.has_rows && n_inputs > 1 {
                notes.push(Note::NoRowsInPart { file: name.to_owned() });
            }
            match &mut schema {
                None => schema = Some((RawSchema { columns }, opened.has_rows)),
                Some((first, is_settled)) => {
                    refuse_difference(name_of_first(&parts), first, name, &columns)?;
                    if !*is_settled && opened.has_rows {
                        // Without rows the first file could not tell the kinds.
                        let positions = names::positions(columns.iter().map(|c| c.name.as_str()));
                        for column in &mut first.columns {
                            if let Some(&same) = positions.get(column.name.as_str()) {
                                column.kind = columns[same].kind.clone();
                            }
                        }
                        *is_settled = true;
                    }
                }
            }
            parts.push(part);
        }
        match schema {
            Some((schema, true)) => {
                Ok(Source { parts: parts.into(), schema, notes, kept: Arc::default(), left_out: None })
            }
            Some((_, false)) => {
                Err(Error::NoRows { file: name_of_first(&parts).to_owned(), within: NoRowsIn::Header })
            }
            None => Err(Error::NoInput),
        }
    }

    /// Names and kinds of all columns, in the order of the first file.
    pub fn schema(&self) -> &RawSchema {
        &self.schema
    }

    /// What the user should be told about the files, found when they were opened.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// What the user should be told besides: what passes have found so far beyond the
    /// beginning of a text, which is all that opening reads, or among the numbers of a
    /// typed file. Slow if there is anything, since lines are counted.
    pub fn late_notes(&self) -> Vec<Note> {
        self.parts.iter().flat_map(|part| part.late_notes()).collect()
    }

    /// The files as the user named them; standard input is `standard input`.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().map(|part| part.input().name())
    }

    /// The first file that `other` reads too: by the same name, by another name, or as
    /// a copy with the same bytes.
    pub fn shared_file(&self, other: &Source) -> Option<&str> {
        let is_shared = |input: &&Input| other.parts.iter().any(|part| input.is_same(part.input()));
        self.parts.iter().map(|part| part.input()).find(is_shared).map(Input::name)
    }

    /// Total size on disk, to compare [`Batch::bytes_read`](crate::Batch) with. Waits
    /// for the end of a pipe.
    pub fn n_bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.input().n_bytes()).sum()
    }

    /// Total size on disk, or `None` while a pipe has not ended.
    pub fn n_bytes_known(&self) -> Option<u64> {
        self.parts.iter().map(|part| part.input().n_bytes_known()).sum()
    }

    /// The schema of all batches of a scan.
    pub fn arrow_schema(&self, wanted: &[Wanted]) -> Result<SchemaRef, Error> {
        let columns = names::positions(self.schema.names());
        // The types of the first file; later files are made to agree.
        let own_types = self.parts.first().and_then(|part| part.own_types());
        let fields_of_first = own_types.map(|schema| schema.fields().iter());
        let own_types: HashMap<&str, &DataType> = fields_of_first
            .into_iter()
            .flatten()
            .map(|field| (field.name().as_str(), field.data_type()))
            .collect();
        let fields = wanted
            .iter()
            .map(|wanted| {
                if !columns.contains_key(wanted.name.as_str()) {
                    return Err(self.no_such_column(&wanted.name));
                }
                let data_type = match wanted.read_as {
                    ReadAs::Number | ReadAs::Boolean => DataType::Float64,
                    ReadAs::Text => DataType::Utf8,
                    ReadAs::AsIs => {
                        own_types.get(wanted.name.as_str()).map_or(DataType::Utf8, |&own| own.clone())
                    }
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
        let read = self.columns_read(wanted, &options);
        let columns = ScanColumns {
            schema: self.arrow_schema(wanted)?,
            read_schema: self.arrow_schema(&read)?,
            wanted: wanted.to_vec(),
            read,
        };
        let scan = Scan::new(Arc::clone(&self.parts), &self.kept, columns, options, chunk_bytes)?;
        Ok(scan.without(self.left_out.clone()))
    }

    /// The columns that a pass reads: also those that a later pass wants, if all of them can
    /// probably be kept.
    fn columns_read(&self, wanted: &[Wanted], options: &ScanOptions) -> Vec<Wanted> {
        let all = self.with_expected(wanted);
        let fits = |bytes: u64| bytes <= options.keep_bytes as u64;
        match options.is_whole() && self.likely_bytes(&all).is_some_and(fits) {
            true => all,
            false => wanted.to_vec(),
        }
    }

    /// Tells that a later pass wants these columns beside those of earlier passes. A pass
    /// that is kept reads them too, and hands over only what it was asked for.
    pub fn expect(&self, columns: Vec<Wanted>) {
        self.kept.expect(columns);
    }

    /// These columns, and those that a later pass wants beside them.
    pub fn with_expected(&self, wanted: &[Wanted]) -> Vec<Wanted> {
        self.kept.with_expected(wanted)
    }

    /// About how many bytes these columns of all rows take in memory: exact for numbers in a
    /// file that knows its number of rows, and the size of a text file otherwise. Unknown
    /// while a pipe has not ended.
    pub fn likely_bytes(&self, wanted: &[Wanted]) -> Option<u64> {
        let row_bytes = row_bytes(&*self.arrow_schema(wanted).ok()?) as u64;
        let bytes_of = |part: &dyn Part| match part.n_rows() {
            Some(n_rows) => Some(n_rows.saturating_mul(row_bytes)),
            None => part.input().n_bytes_known(),
        };
        let bytes: Option<Vec<u64>> = self.parts.iter().map(|part| bytes_of(part.as_ref())).collect();
        Some(bytes?.into_iter().fold(0, u64::saturating_add))
    }

    /// Bytes of the rows that a pass kept in memory for later ones.
    pub fn kept_bytes(&self) -> usize {
        self.kept.n_bytes()
    }

    /// Frees the rows that a pass kept. Later passes read the files again.
    pub fn forget_kept(&self) {
        self.kept.forget();
    }

    /// Where a row of the table is. Slow, for messages only: a text file is read up
    /// to that row.
    pub fn locate(&self, row: u64) -> Result<Location, Error> {
        let mut row = row;
        for part in self.parts.iter() {
            match part.locate(row)? {
                Ok(location) => return Ok(location),
                Err(n_rows) => row -= n_rows,
            }
        }
        let last = self.parts.last().ok_or(Error::NoInput)?;
        Ok(Location { file: last.input().name().to_owned(), place: Place::Row(row) })
    }

    /// Name, size and SHA-256 of each file as it is on disk; a table in memory
    /// has none.
    pub fn digests(&self) -> Result<Vec<FileDigest>, Error> {
        self.check_unchanged()?;
        let files = self.parts.iter().map(|part| part.input()).filter(|input| !input.is_memory());
        let digests = files.map(digest::of).collect();
        self.check_unchanged()?;
        digests
    }

    /// Fails if a file is no longer the same as when it was first opened.
    ///
    /// Each pass checks this too, when it opens a file and when it has read
    /// the last one.
    pub fn check_unchanged(&self) -> Result<(), Error> {
        self.parts.iter().try_for_each(|part| part.input().check_unchanged())
    }

    /// Name, size and time of last change of each file, for a caller that wants to
    /// know later whether they are still the same.
    pub fn stamps(&self) -> Vec<FileStamp> {
        self.parts.iter().map(|part| part.input().stamp()).collect()
    }

    /// An upper estimate of the bytes of memory that a scan of `wanted` holds
    /// besides the batches it hands over, with the threads of the surrounding
    /// pool.
    pub fn scan_overhead(&self, wanted: &[Wanted]) -> u64 {
        // Files are read one after the other.
        self.parts.iter().map(|part| part.scan_overhead(wanted)).max().unwrap_or(0)
    }

    fn no_such_column(&self, name: &str) -> Error {
        Error::NoSuchColumn {
            file: name_of_first(&self.parts).to_owned(),
            name: name.to_owned(),
            available: self.schema.names().map(str::to_owned).collect(),
            suggestion: closest(name, self.schema.names()).map(str::to_owned),
        }
    }
}

fn name_of_first(parts: &[Box<dyn Part>]) -> &str {
    parts.first().map_or("", |part| part.input().name())
}

fn repeated(inputs: &[Input]) -> Vec<Note> {
    let mut seen = HashSet::new();
    let mut numbers = HashSet::new();
    let mut notes = Vec::new();
    for input in inputs {
        // Links and other spellings are the same file, too.
        if let Some(path) = input.path()
            && let Ok(path) = path.canonicalize()
            && (!seen.insert(path) | input.file_number().is_some_and(|number| !numbers.insert(number)))
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

    /// Everything that is read, or the message of the error.
    fn read(source: &Source, wanted: &[Wanted], chunk_bytes: usize) -> Result<String, String> {
        let options = ScanOptions { batch_bytes: 200, ..ScanOptions::default() };
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

    /// A cell as it might occur in a file: mostly valid, sometimes not.
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
                "\"\r\n\r\n\"", "é", " ", " \"a\" ", "\"NA\"", "?", "\"\"\"\n\"",
            ]),
            1 => prop::sample::select(vec!["x,y", "\"open", "\"a\"\"", "\"a\"b", "\n"]),
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
                Input::holding("a pipe", whole),
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
            let input = Input::holding("a pipe", text);
            let source = Source::from_inputs(vec![input]).unwrap();
            for chunk_bytes in [16, 1000, 1 << 14, CHUNK_BYTES] {
                let found = read(&source, &wanted(), chunk_bytes);
                assert_eq!(found, Err(expected.to_owned()), "chunks of {chunk_bytes}");
            }
        }
    }

    #[test]
    fn rows_that_are_left_out_are_in_no_pass() {
        let text: String = (0..50).map(|row| format!("{row}\n")).collect();
        let source = Source::from_inputs(vec![Input::holding("a pipe", format!("a\n{text}"))]).unwrap();
        let wanted = [Wanted { name: "a".into(), read_as: ReadAs::Number }];
        let left_out: Vec<u64> = (10..30).chain([3, 49]).filter(|row| row % 5 != 1).collect();
        let mut left_out = left_out;
        left_out.sort_unstable();
        let but = source.without(&left_out);
        // Also where an earlier pass keeps batches for later ones.
        for keep_bytes in [0, 1 << 20, 1 << 20] {
            // Four rows at a time, so that whole batches are left out.
            let options = ScanOptions { batch_bytes: 32, keep_bytes, ..ScanOptions::default() };
            let mut found = Vec::new();
            for batch in but.scan(&wanted, options).unwrap() {
                let rows = batch.unwrap().rows;
                assert!(rows.num_rows() > 0);
                let cells: &arrow_array::Float64Array = rows.column(0).as_any().downcast_ref().unwrap();
                found.extend(cells.values().iter().map(|cell| *cell as u64));
            }
            let expected: Vec<u64> = (0..50).filter(|row| !left_out.contains(row)).collect();
            assert_eq!(found, expected);
        }
        assert!(but.numbers().is_none());
    }

    #[test]
    fn rows_are_located_across_files() {
        let inputs = ["a\n1\n\n2\n", "a\n", "a\n3"]
            .iter()
            .enumerate()
            .map(|(i, text)| Input::holding(&format!("file {i}"), text))
            .collect();
        let source = Source::from_inputs(inputs).unwrap();
        let places = [0, 1, 2].map(|row| source.locate(row).unwrap().to_string());
        assert_eq!(places, ["`file 0` line 2", "`file 0` line 4", "`file 2` line 2"]);
    }
}
