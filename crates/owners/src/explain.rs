//! Contributions to test rows on their way out.

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use dshap::owners::Contributions;
use dshap_models::Error;
use dshap_run::{NamedRows, Receiver};
use faer::Mat;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Hands contributions over: one row per test row and owner, or per segment and owner.
pub(crate) struct Explain<'a> {
    receiver: Option<&'a mut dyn Receiver>,
    by_segment: bool,
    owners: Vec<String>,
    segments: BTreeMap<String, Contributions>,
}

impl<'a> Explain<'a> {
    /// Without a receiver nothing is handed over.
    pub(crate) fn new(receiver: Option<&'a mut dyn Receiver>, by_segment: bool) -> Self {
        Self { receiver, by_segment, owners: Vec::new(), segments: BTreeMap::new() }
    }

    fn schema(&self) -> SchemaRef {
        let number = |name: &str| Field::new(name, DataType::Float64, true);
        let count = |name: &str| Field::new(name, DataType::UInt64, false);
        let word = |name: &str| Field::new(name, DataType::Utf8, false);
        let fields = match self.by_segment {
            false => vec![count("row"), word("owner"), number("contribution")],
            true => {
                vec![word("segment"), word("owner"), count("rows"), number("contribution"), number("stderr")]
            }
        };
        Arc::new(Schema::new(fields))
    }

    /// The owners are known now.
    pub(crate) fn begin(&mut self, owners: &[String]) -> Result<(), Error> {
        self.owners = owners.to_vec();
        let schema = self.schema();
        self.receiver.as_mut().map_or(Ok(()), |receiver| receiver.begin(&schema))
    }

    /// Contributions to some rows of a batch. Rows without a segment are in one called "".
    pub(crate) fn rows(
        &mut self,
        batch: &NamedRows,
        members: &[usize],
        segment: Option<usize>,
        contributions: &Mat<f64>,
    ) -> Result<(), Error> {
        let number = |i: usize| batch.first_row + batch.place(i) as u64;
        let numbers: Vec<u64> = members.iter().map(|&i| number(i)).collect();
        let segments: Option<Vec<&str>> = segment
            .map(|column| members.iter().map(|&i| batch.name(column, i).unwrap_or_default()).collect());
        self.hand_over(&numbers, segments.as_deref(), contributions)
    }

    /// Contributions to rows of these numbers.
    pub(crate) fn hand_over(
        &mut self,
        numbers: &[u64],
        segments: Option<&[&str]>,
        contributions: &Mat<f64>,
    ) -> Result<(), Error> {
        let n_owners = self.owners.len();
        if self.receiver.is_none() || numbers.is_empty() {
            return Ok(());
        }
        if let (true, Some(segments)) = (self.by_segment, segments) {
            for (row, segment) in segments.iter().enumerate() {
                let one = Mat::from_fn(1, n_owners, |_, owner| contributions[(row, owner)]);
                let sums = self.segments.entry((*segment).into());
                sums.or_insert_with(|| Contributions::new(&vec![0.0; n_owners])).add(&one);
            }
            return Ok(());
        }
        let schema = self.schema();
        let pairs: Vec<(usize, usize)> =
            (0..numbers.len()).flat_map(|row| (0..n_owners).map(move |owner| (row, owner))).collect();
        let columns: Vec<ArrayRef> = vec![
            Arc::new(UInt64Array::from_iter_values(pairs.iter().map(|&(row, _)| numbers[row]))),
            Arc::new(StringArray::from_iter_values(pairs.iter().map(|&(_, owner)| &self.owners[owner]))),
            Arc::new(Float64Array::from_iter_values(
                pairs.iter().map(|&(row, owner)| contributions[(row, owner)]),
            )),
        ];
        let rows = RecordBatch::try_new(schema, columns).expect("columns were built to the schema");
        self.receiver.as_mut().map_or(Ok(()), |receiver| receiver.rows(rows))
    }

    /// Hands over what was gathered.
    pub(crate) fn finish(self) -> Result<(), Error> {
        let schema = self.schema();
        let Some(receiver) = self.receiver else { return Ok(()) };
        if !self.by_segment {
            return Ok(());
        }
        let (mut names, mut owners, mut n_rows) = (Vec::new(), Vec::new(), Vec::new());
        let (mut means, mut errors) = (Vec::new(), Vec::new());
        for (segment, sums) in &self.segments {
            let std_errors = sums.std_errors();
            for (owner, mean) in sums.means().into_iter().enumerate() {
                names.push(segment.as_str());
                owners.push(self.owners[owner].as_str());
                n_rows.push(sums.n_rows() as u64);
                means.push(mean);
                errors.push(std_errors.as_ref().map(|errors| errors[owner]));
            }
        }
        let columns: Vec<ArrayRef> = vec![
            Arc::new(StringArray::from(names)),
            Arc::new(StringArray::from(owners)),
            Arc::new(UInt64Array::from(n_rows)),
            Arc::new(Float64Array::from(means)),
            Arc::new(Float64Array::from(errors)),
        ];
        receiver.rows(RecordBatch::try_new(schema, columns).expect("columns were built to the schema"))
    }
}
