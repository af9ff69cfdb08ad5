//! How text tables are written, where a file cannot say so itself.

/// How text tables are written, where a file cannot say so itself. Other formats state
/// these things, so nothing here concerns them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReadOptions {
    /// The first record is a row. Columns are called `column_1`, `column_2` and so on.
    pub no_header: bool,
    /// Numbers are written as `1,5`. A cell such as `1.5` is not a number then: it may
    /// as well mean 15 hundred.
    pub decimal_comma: bool,
}
