//! From the columns of a typed file to what a scan was asked for.

use std::borrow::Cow;
use std::fmt::{Display, LowerExp};
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, Float64Array, StringArray};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, Schema};
use dshap_table::{Kind, RawColumn, ReadAs, Wanted, spelled, spelled_number};
use rayon::prelude::*;

use crate::csv::{self, Boolean, Number};
use crate::error::Error;
use crate::late::{Late, Oddity};
use crate::location::{Location, Place};

/// The columns of a typed file that a scan was asked for.
#[derive(Debug)]
pub(crate) struct Selection {
    file: String,
    columns: Vec<Column>,
    /// The columns that are read, in the order of the file, each once.
    fields: Vec<usize>,
    /// Where columns with rounded numbers are noted.
    late: Late,
}

#[derive(Debug)]
struct Column {
    name: String,
    /// Position among the columns that are read.
    position: usize,
    read_as: ReadAs,
}

impl Selection {
    pub(crate) fn new(
        file: &str,
        schema: &Schema,
        wanted: &[Wanted],
        late: &Late,
    ) -> Result<Selection, Error> {
        let all = crate::names::positions(schema.fields().iter().map(|field| field.name().as_str()));
        let indices = wanted
            .iter()
            .map(|wanted| match all.get(wanted.name.as_str()) {
                Some(&index) => Ok(index),
                None => Err(Error::NoSuchColumn {
                    file: file.to_owned(),
                    name: wanted.name.clone(),
                    available: schema.fields().iter().map(|field| field.name().clone()).collect(),
                    suggestion: None,
                }),
            })
            .collect::<Result<Vec<_>, _>>()?;
        let mut fields = indices.clone();
        fields.sort_unstable();
        fields.dedup();
        let columns = wanted
            .iter()
            .zip(indices)
            .map(|(wanted, index)| Column {
                name: wanted.name.clone(),
                position: fields.partition_point(|&field| field < index),
                read_as: wanted.read_as,
            })
            .collect();
        Ok(Selection { file: file.to_owned(), columns, fields, late: late.clone() })
    }

    /// The columns to read, in the order of the file, each once.
    pub(crate) fn fields(&self) -> &[usize] {
        &self.fields
    }

    /// Turns what was read, one array for each of [`fields`](Self::fields),
    /// into what was asked for. The arrays begin at `first_row` of the file.
    pub(crate) fn convert(&self, arrays: &[ArrayRef], first_row: u64) -> Result<Vec<ArrayRef>, Error> {
        let converted: Vec<_> = self
            .columns
            .par_iter()
            .map(|column| {
                let array = &arrays[column.position];
                self.see_rounded(column, array, first_row);
                Conversion { file: &self.file, column, first_row }.run(array)
            })
            .collect();
        let mut arrays = Vec::with_capacity(self.columns.len());
        let mut first_fault: Option<(usize, Error)> = None;
        for array in converted {
            match array {
                Ok(array) => arrays.push(array),
                Err(Fault::Column(error)) => return Err(error),
                // Columns are read one beside the other, but the first faulty
                // row is the one to report.
                Err(Fault::Row(row, error)) => {
                    if first_fault.as_ref().is_none_or(|(first, _)| row < *first) {
                        first_fault = Some((row, error));
                    }
                }
            }
        }
        match first_fault {
            Some((_, error)) => Err(error),
            None => Ok(arrays),
        }
    }
}

impl Selection {
    /// Takes note of a column of whole numbers some of which a double rounds.
    fn see_rounded(&self, column: &Column, array: &ArrayRef, first_row: u64) {
        let is_number = column.read_as == ReadAs::Number;
        if is_number && has_rounded(array) && !self.late.has(Oddity::Rounded, &column.name) {
            self.late.add(Oddity::Rounded, &column.name, first_row, "");
        }
    }
}

/// Whether a double rounds any of these whole numbers.
fn has_rounded(array: &ArrayRef) -> bool {
    /// Doubles hold every whole number up to this one.
    const MOST: u64 = 1 << 53;
    // Most columns hold none, which a loop over machine words shows: bits above those of
    // 2^53 are set only in larger numbers, once negative ones are turned.
    fn bits<T: ArrowPrimitiveType>(array: &ArrayRef, bits: impl Fn(T::Native) -> u64) -> bool {
        array.as_primitive::<T>().values().iter().fold(0, |all, &number| all | bits(number)) >= MOST
    }
    match array.data_type() {
        DataType::Int64 => {
            bits::<Int64Type>(array, |number| (number ^ (number >> 63)).cast_unsigned())
                && array
                    .as_primitive::<Int64Type>()
                    .iter()
                    .flatten()
                    .any(|n| n as f64 as i128 != i128::from(n))
        }
        DataType::UInt64 => {
            bits::<UInt64Type>(array, |number| number)
                && array
                    .as_primitive::<UInt64Type>()
                    .iter()
                    .flatten()
                    .any(|n| n as f64 as u128 != u128::from(n))
        }
        _ => false,
    }
}

enum Fault {
    /// The column is unusable.
    Column(Error),
    /// A row of the batch is faulty.
    Row(usize, Error),
}

/// The conversion of one column.
struct Conversion<'a> {
    file: &'a str,
    column: &'a Column,
    first_row: u64,
}

impl Conversion<'_> {
    fn run(&self, array: &ArrayRef) -> Result<ArrayRef, Fault> {
        match self.column.read_as {
            ReadAs::AsIs => Ok(Arc::clone(array)),
            ReadAs::Text => self.categories(array),
            ReadAs::Number => {
                let read = |text: &str| match csv::number(text.as_bytes()) {
                    Number::NotFinite => Some(f64::INFINITY),
                    Number::Value(value) => Some(value),
                    Number::Missing => Some(f64::NAN),
                    Number::Other => None,
                };
                let numbers = self.numbers(array, read)?;
                self.finite(&numbers)
            }
            ReadAs::Boolean => {
                let read = |text: &str| match csv::boolean(text.as_bytes()) {
                    Boolean::Value(value) => Some(f64::from(u8::from(value))),
                    Boolean::Missing => Some(f64::NAN),
                    Boolean::Other => None,
                };
                let numbers = self.numbers(array, read)?;
                let numbers = self.finite(&numbers)?;
                let values = numbers.as_primitive::<Float64Type>();
                match values.iter().position(|v| v.is_some_and(|v| v != 0.0 && v != 1.0)) {
                    None => Ok(numbers),
                    Some(row) => Err(self.fault(row, |at, column| Error::NotABoolean {
                        at,
                        column,
                        text: values.value(row).to_string(),
                    })),
                }
            }
        }
    }

    /// Categories from any column, each in its one spelling.
    fn categories(&self, array: &ArrayRef) -> Result<ArrayRef, Fault> {
        match array.data_type() {
            DataType::Dictionary(_, values) => self.categories(&self.cast(array, values)?),
            DataType::Float64 => self.spelled_numbers::<Float64Type>(array),
            DataType::Float32 => self.spelled_numbers::<Float32Type>(array),
            DataType::Float16 => self.spelled_numbers::<Float32Type>(&self.cast(array, &DataType::Float32)?),
            data_type => {
                let is_decimal = data_type.is_decimal();
                let texts = self.cast(array, &DataType::Utf8)?;
                let texts = texts.as_string::<i32>();
                let spelling = |text| match is_decimal {
                    true => spelled_decimal(text),
                    false => spelled(text),
                };
                if texts.iter().flatten().all(|text| spelling(text) == text) {
                    return Ok(Arc::new(texts.clone()));
                }
                Ok(Arc::new(texts.iter().map(|text| text.map(spelling)).collect::<StringArray>()))
            }
        }
    }

    fn spelled_numbers<T>(&self, array: &ArrayRef) -> Result<ArrayRef, Fault>
    where
        T: ArrowPrimitiveType,
        T::Native: Display + LowerExp + Into<f64>,
    {
        let numbers = array.as_primitive::<T>();
        let mut texts = StringBuilder::with_capacity(numbers.len(), 8 * numbers.len());
        for (row, number) in numbers.iter().enumerate() {
            match number.map(|number| (number, number.into())) {
                Some((number, double)) if double.is_finite() => texts.append_value(spelled_number(number)),
                Some((number, double)) if double.is_infinite() => {
                    let text = number.to_string();
                    return Err(self.fault(row, |at, column| Error::NotFinite { at, column, text }));
                }
                _ => texts.append_null(),
            }
        }
        Ok(Arc::new(texts.finish()))
    }

    /// Doubles from any column of numbers, or from text by way of `read`.
    fn numbers(&self, array: &ArrayRef, read: impl Fn(&str) -> Option<f64>) -> Result<Float64Array, Fault> {
        match kind(array.data_type()) {
            Kind::Number | Kind::Boolean => {
                let numbers = self.cast(array, &DataType::Float64)?;
                Ok(numbers.as_primitive::<Float64Type>().clone())
            }
            Kind::Text => {
                let texts = self.cast(array, &DataType::Utf8)?;
                let mut numbers = Vec::with_capacity(texts.len());
                for (row, text) in texts.as_string::<i32>().iter().enumerate() {
                    match text.map_or(Some(f64::NAN), &read) {
                        Some(number) => numbers.push(number),
                        None => {
                            let text = text.unwrap_or_default().to_owned();
                            return Err(self.fault(row, |at, column| match self.column.read_as {
                                ReadAs::Boolean => Error::NotABoolean { at, column, text },
                                _ => Error::NotANumber { at, column, text },
                            }));
                        }
                    }
                }
                Ok(numbers.into())
            }
            _ => Err(self.wrong_kind(array.data_type())),
        }
    }

    /// Missing values are null and not NaN, and none is infinite.
    fn finite(&self, numbers: &Float64Array) -> Result<ArrayRef, Fault> {
        let is_clean = match numbers.nulls() {
            // Without an early exit within a piece, several numbers are checked at a
            // time.
            None => numbers
                .values()
                .chunks(256)
                .all(|piece| piece.iter().fold(true, |so_far, value| so_far & value.is_finite())),
            Some(_) => numbers.iter().flatten().all(f64::is_finite),
        };
        if is_clean {
            return Ok(Arc::new(numbers.clone()));
        }
        if let Some(row) = numbers.iter().position(|value| value.is_some_and(f64::is_infinite)) {
            return Err(self.fault(row, |at, column| Error::NotFinite {
                at,
                column,
                text: numbers.value(row).to_string(),
            }));
        }
        let cleaned: Float64Array =
            numbers.iter().map(|value| value.filter(|value| !value.is_nan())).collect();
        Ok(Arc::new(cleaned))
    }

    fn cast(&self, array: &ArrayRef, to: &DataType) -> Result<ArrayRef, Fault> {
        cast(array, to).ok_or_else(|| self.wrong_kind(array.data_type()))
    }

    fn wrong_kind(&self, data_type: &DataType) -> Fault {
        Fault::Column(Error::WrongKind {
            file: self.file.to_owned(),
            column: self.column.name.clone(),
            kind: kind(data_type),
            wanted: self.column.read_as,
        })
    }

    fn fault(&self, row: usize, error: impl FnOnce(Location, String) -> Error) -> Fault {
        let place = Place::Row(self.first_row + row as u64);
        let at = Location { file: self.file.to_owned(), place };
        Fault::Row(row, error(at, self.column.name.clone()))
    }
}

/// A decimal without the trailing zeros of its scale.
fn spelled_decimal(text: &str) -> Cow<'_, str> {
    match text.contains('.') {
        true => spelled(text.trim_end_matches('0').trim_end_matches('.')),
        false => spelled(text),
    }
}

/// Another type, if every value has a counterpart in it.
pub(crate) fn cast(array: &ArrayRef, to: &DataType) -> Option<ArrayRef> {
    if array.data_type() == to {
        return Some(Arc::clone(array));
    }
    if let (DataType::Float64, Some(numbers)) = (to, as_doubles(array)) {
        return Some(numbers);
    }
    let options = CastOptions {
        // A value without a counterpart is an error and not a new null.
        safe: false,
        ..CastOptions::default()
    };
    // Damage that types do not show may make it panic.
    guarded(|| cast_with_options(array, to, &options)).ok()
}

/// Numbers of a plain type as doubles: what every large table is read by, so it is a
/// loop of this crate.
fn as_doubles(array: &ArrayRef) -> Option<ArrayRef> {
    fn converted<T: ArrowPrimitiveType>(array: &ArrayRef, double: impl Fn(T::Native) -> f64) -> ArrayRef {
        Arc::new(array.as_primitive::<T>().unary::<_, Float64Type>(double))
    }
    Some(match array.data_type() {
        DataType::Float32 => converted::<Float32Type>(array, f64::from),
        DataType::Int8 => converted::<Int8Type>(array, f64::from),
        DataType::Int16 => converted::<Int16Type>(array, f64::from),
        DataType::Int32 => converted::<Int32Type>(array, f64::from),
        DataType::Int64 => converted::<Int64Type>(array, |number| number as f64),
        DataType::UInt8 => converted::<UInt8Type>(array, f64::from),
        DataType::UInt16 => converted::<UInt16Type>(array, f64::from),
        DataType::UInt32 => converted::<UInt32Type>(array, f64::from),
        DataType::UInt64 => converted::<UInt64Type>(array, |number| number as f64),
        _ => return None,
    })
}

/// Names and kinds of the columns of a typed file.
pub(crate) fn raw_columns(schema: &Schema) -> Vec<RawColumn> {
    schema
        .fields()
        .iter()
        .map(|field| RawColumn { name: field.name().clone(), kind: kind(field.data_type()) })
        .collect()
}

fn kind(data_type: &DataType) -> Kind {
    match data_type {
        DataType::Boolean => Kind::Boolean,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Kind::Text,
        DataType::Dictionary(_, values) => kind(values),
        data_type if data_type.is_numeric() => Kind::Number,
        DataType::Date32
        | DataType::Date64
        | DataType::Time32(_)
        | DataType::Time64(_)
        | DataType::Timestamp(_, _) => Kind::Date,
        DataType::Duration(_) | DataType::Interval(_) => Kind::Duration,
        DataType::Null => Kind::Number,
        other => Kind::Other(other.to_string()),
    }
}

/// Runs a step of a decoder and says why it failed. Decoders assert what a
/// well-formed file guarantees, so a damaged one may make them panic; that
/// must not end the program.
pub(crate) fn guarded<T, E: ToString>(step: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(step)) {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("its contents contradict each other".to_owned()),
    }
}
