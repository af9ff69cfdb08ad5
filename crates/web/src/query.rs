//! Which rows, in which order: `sort=-value&range=penalty:0.1:&search=rome&columns=value`.

use crate::problem::Problem;

/// Rows that are asked for.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Query {
    /// Rows must lie within all of them.
    pub(crate) ranges: Vec<Range>,
    /// Text that a cell of the row holds, or the number of the row.
    pub(crate) search: String,
    /// The order; that of the table without it.
    pub(crate) sort: Option<Sort>,
    /// The columns; all without it.
    pub(crate) columns: Option<Vec<String>>,
    /// The first row on a page.
    pub(crate) offset: usize,
    /// Rows of a page.
    pub(crate) limit: Option<usize>,
}

/// A column within limits, which belong to the range.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Range {
    pub(crate) column: String,
    least: Option<f64>,
    most: Option<f64>,
}

/// An order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sort {
    pub(crate) column: String,
    /// From high to low.
    pub(crate) falling: bool,
}

impl Query {
    /// Reads what stands behind the `?` of an address.
    pub(crate) fn parse(text: &str) -> Result<Self, Problem> {
        let mut query = Self::default();
        for (name, value) in form_urlencoded::parse(text.as_bytes()) {
            let size =
                || value.parse().map_err(|_| Problem::bad(format!("`{name}` is no number: `{value}`")));
            match &*name {
                "range" => query.ranges.push(Range::parse(&value)?),
                "search" => query.search = value.trim().to_owned(),
                "sort" if value.is_empty() => query.sort = None,
                "sort" => {
                    let (column, falling) = match value.strip_prefix('-') {
                        Some(column) => (column, true),
                        None => (&*value, false),
                    };
                    query.sort = Some(Sort { column: column.to_owned(), falling });
                }
                "columns" => query.columns.get_or_insert_default().push(value.into_owned()),
                "offset" => query.offset = size()?,
                "limit" => query.limit = Some(size()?),
                _ => return Err(Problem::bad(format!("there is no parameter `{name}`"))),
            }
        }
        Ok(query)
    }

    /// The rows it finds, whatever is shown of them.
    pub(crate) fn rows_only(&self) -> Self {
        Self { offset: 0, limit: None, columns: None, ..self.clone() }
    }

    /// Whether it finds all rows in the order of the table.
    pub(crate) fn is_everything(&self) -> bool {
        self.ranges.is_empty() && self.search.is_empty() && self.sort.is_none()
    }
}

impl Range {
    /// `column:least:most`, where a limit may be left out.
    fn parse(text: &str) -> Result<Self, Problem> {
        let wrong = || {
            Problem::bad(format!("`{text}` is no range"))
                .hint("write column:least:most, such as value:-1:0 or value::0")
        };
        // From the right, because names of columns may hold colons.
        let mut parts = text.rsplitn(3, ':');
        let (most, least, column) = (parts.next(), parts.next(), parts.next());
        let limit = |part: Option<&str>| match part {
            Some("") => Ok(None),
            Some(part) => part.parse().map(Some).map_err(|_| wrong()),
            None => Err(wrong()),
        };
        let column = column.filter(|column| !column.is_empty()).ok_or_else(wrong)?;
        Ok(Self { column: column.to_owned(), least: limit(least)?, most: limit(most)? })
    }

    pub(crate) fn contains(&self, number: f64) -> bool {
        self.least.is_none_or(|least| number >= least) && self.most.is_none_or(|most| number <= most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_hold_anything() {
        let query =
            Query::parse("range=a%3Ab:1:2&sort=-%C3%A9t%C3%A9&columns=x%26y&search=+A+").expect("reads");
        assert_eq!(query.ranges, [Range { column: "a:b".into(), least: Some(1.0), most: Some(2.0) }]);
        assert_eq!(query.sort, Some(Sort { column: "été".into(), falling: true }));
        assert_eq!((query.columns, query.search.as_str()), (Some(vec!["x&y".into()]), "A"));
    }

    #[test]
    fn nonsense_is_refused() {
        for wrong in ["range=value", "range=:1:2", "range=value:x:", "offset=-1", "limit=many", "else=1"] {
            assert_eq!(Query::parse(wrong).map_err(|problem| problem.status).err(), Some(400), "{wrong}");
        }
    }
}
