//! What files turn out to hold, where an error has to tell.

use std::fmt;

/// What a well-formed file holds that is not read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unsupported {
    /// The first version of Feather, which is not Arrow.
    FirstFeather,
    /// One JSON array instead of one object per line.
    JsonArray,
    /// A NumPy array with no columns, or with more than any table has.
    Columns {
        /// How many.
        n_columns: u64,
    },
    /// A NumPy array with neither one nor two dimensions.
    Dimensions {
        /// How many.
        n_dimensions: usize,
    },
    /// Arrays within the rows of a NumPy array.
    NestedArrays,
    /// Records within the rows of a NumPy array.
    NestedRecords,
    /// Python objects.
    PythonObjects,
    /// Numbers of a width that is not read.
    NumberWidth {
        /// The width.
        bits: usize,
    },
    /// Complex numbers.
    ComplexNumbers,
    /// Dates or times in a NumPy array.
    Dates,
    /// Cells of some other NumPy type.
    CellType {
        /// The type as NumPy writes it.
        descr: String,
    },
}

/// Words that follow the name of the file.
impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unsupported::FirstFeather => f.write_str("is in the first version of Feather, which is not read"),
            Unsupported::JsonArray => f.write_str("is one JSON array; one object on each line is needed"),
            Unsupported::Columns { n_columns } => write!(f, "holds an array with {n_columns} columns"),
            Unsupported::Dimensions { n_dimensions } => {
                write!(f, "holds an array with {n_dimensions} dimensions")
            }
            Unsupported::NestedArrays => f.write_str("holds arrays within its rows"),
            Unsupported::NestedRecords => f.write_str("holds records within its rows"),
            Unsupported::PythonObjects => f.write_str("holds Python objects, which are not read"),
            Unsupported::NumberWidth { bits } => {
                write!(f, "holds numbers of {bits} bits, which are not read")
            }
            Unsupported::ComplexNumbers => f.write_str("holds complex numbers, which are not read"),
            Unsupported::Dates => f.write_str("holds dates or times, which are not read"),
            Unsupported::CellType { descr } => {
                write!(f, "holds cells of type `{descr}`, which are not read")
            }
        }
    }
}

/// What the first bytes or the name of a file suggest it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LooksLike {
    /// An Excel workbook, which is a zip archive, or another one.
    ExcelOrZip,
    /// An Excel workbook of the old kind.
    OldExcel,
    /// Text in UTF-16.
    Utf16,
    /// An xz archive.
    Xz,
    /// A zip archive.
    Zip,
    /// An SQLite database.
    Sqlite,
    /// An HDF5 file.
    Hdf5,
    /// An ORC file.
    Orc,
    /// An Avro file.
    Avro,
    /// A Python pickle.
    Pickle,
    /// Several NumPy arrays in one archive.
    Npz,
    /// A NumPy array.
    Npy,
    /// A Parquet table.
    Parquet,
    /// An Arrow table.
    Arrow,
    /// A safetensors file of another program.
    Safetensors,
    /// Text.
    Text,
}

impl fmt::Display for LooksLike {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LooksLike::ExcelOrZip => "an Excel workbook or a zip archive",
            LooksLike::OldExcel => "an old Excel workbook",
            LooksLike::Utf16 => "UTF-16 text",
            LooksLike::Xz => "an xz archive",
            LooksLike::Zip => "a zip archive",
            LooksLike::Sqlite => "an SQLite database",
            LooksLike::Hdf5 => "an HDF5 file",
            LooksLike::Orc => "an ORC file",
            LooksLike::Avro => "an Avro file",
            LooksLike::Pickle => "a Python pickle",
            LooksLike::Npz => "a NumPy archive",
            LooksLike::Npy => "a NumPy array",
            LooksLike::Parquet => "a Parquet table",
            LooksLike::Arrow => "an Arrow table",
            LooksLike::Safetensors => "a safetensors file of another program",
            LooksLike::Text => "text, perhaps a table",
        })
    }
}

/// Why a line is not a JSON object.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum JsonFault {
    /// It is not valid UTF-8.
    NotUtf8,
    /// It ends too early, as in a file with one object on several lines.
    CutShort {
        /// What the parser said.
        reason: String,
    },
    /// It is not JSON, or not an object.
    Syntax {
        /// What the parser said.
        reason: String,
    },
}

impl fmt::Display for JsonFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JsonFault::NotUtf8 => f.write_str("it is not valid UTF-8"),
            JsonFault::CutShort { reason } | JsonFault::Syntax { reason } => f.write_str(reason),
        }
    }
}

/// Why a table has no rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoRowsIn {
    /// A file with column names only.
    Header,
    /// A table in memory.
    Memory,
}

/// What a text that should be a number resembles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Resembles {
    /// A number with a decimal comma: `1,5`.
    DecimalComma,
    /// A date or a time: `2024-01-31`.
    Date,
    /// A number with thousands separators: `1,234.5`.
    Thousands,
    /// A number with a unit or a sign: `12 %`.
    Unit,
}

impl Resembles {
    /// What `text` resembles, if it is anything like a number.
    ///
    /// ```
    /// # use dshap_io::Resembles;
    /// assert_eq!(Resembles::of("1,5"), Some(Resembles::DecimalComma));
    /// assert_eq!(Resembles::of("red"), None);
    /// ```
    pub fn of(text: &str) -> Option<Resembles> {
        let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
        let digits_and =
            |allowed: &str| has_digit && text.chars().all(|c| c.is_ascii_digit() || allowed.contains(c));
        let n_commas = text.matches(',').count();
        if n_commas == 1 && !text.contains('.') && digits_and("+-,eE") {
            return Some(Resembles::DecimalComma);
        }
        if crate::csv::is_date(text.as_bytes()) {
            return Some(Resembles::Date);
        }
        let separators = [',', '.', '\'', ' ', '_', '\u{a0}', '\u{202f}'];
        if text.contains(separators) && digits_and("+-,.' _\u{a0}\u{202f}") {
            return Some(Resembles::Thousands);
        }
        digits_and("+-.,%$€£ ").then_some(Resembles::Unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_resemble_numbers_in_several_ways() {
        for (text, expected) in [
            ("1,5", Some(Resembles::DecimalComma)),
            ("-0,25", Some(Resembles::DecimalComma)),
            ("1,234.5", Some(Resembles::Thousands)),
            ("1 000 000", Some(Resembles::Thousands)),
            ("12 %", Some(Resembles::Unit)),
            ("$3.50", Some(Resembles::Unit)),
            ("2024-01-31", Some(Resembles::Date)),
            ("red", None),
            ("", None),
        ] {
            assert_eq!(Resembles::of(text), expected, "{text}");
        }
    }
}
