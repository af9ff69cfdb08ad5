//! Writing Arrow files and streams.

use std::io::Write;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use crate::columns::cast;
use crate::sink::Failure;

pub(crate) struct IpcWriter<W: Write> {
    schema: SchemaRef,
    encoder: Encoder<W>,
}

enum Encoder<W: Write> {
    File(Box<FileWriter<W>>),
    Stream(Box<StreamWriter<W>>),
}

impl<W: Write> IpcWriter<W> {
    pub(crate) fn new(output: W, schema: &Schema, is_stream: bool) -> Result<IpcWriter<W>, Failure> {
        let schema = Arc::new(without_dictionaries(schema));
        let encoder = if is_stream {
            Encoder::Stream(Box::new(StreamWriter::try_new(output, &schema)?))
        } else {
            Encoder::File(Box::new(FileWriter::try_new(output, &schema)?))
        };
        Ok(IpcWriter { schema, encoder })
    }

    pub(crate) fn write(&mut self, rows: &RecordBatch) -> Result<(), Failure> {
        let arrays = rows
            .columns()
            .iter()
            .zip(self.schema.fields())
            .map(|(array, field)| {
                cast(array, field.data_type())
                    .ok_or_else(|| Failure::Encode(format!("column `{}` cannot be written", field.name())))
            })
            .collect::<Result<Vec<_>, _>>()?;
        let rows = RecordBatch::try_new(Arc::clone(&self.schema), arrays)?;
        match &mut self.encoder {
            Encoder::File(writer) => writer.write(&rows)?,
            Encoder::Stream(writer) => writer.write(&rows)?,
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<W, Failure> {
        Ok(match self.encoder {
            Encoder::File(writer) => writer.into_inner()?,
            Encoder::Stream(writer) => writer.into_inner()?,
        })
    }
}

/// A file has one dictionary for each column, but batches come with their own.
fn without_dictionaries(schema: &Schema) -> Schema {
    let fields = schema.fields().iter().map(|field| match field.data_type() {
        DataType::Dictionary(_, values) => Arc::new(Field::new(field.name(), (**values).clone(), true)),
        _ => Arc::clone(field),
    });
    Schema::new_with_metadata(fields.collect::<Vec<_>>(), schema.metadata().clone())
}
