//! Messages stay readable, whatever a file holds.

/// More characters of a quotation say nothing more.
const MAX_QUOTED: usize = 200;

/// No sentence of ours is longer between two quotations.
const MAX_BETWEEN: usize = 1000;

/// The text with long quotations cut: a cell or a name may hold megabytes.
pub(crate) fn shortened(text: String) -> String {
    if text.len() <= MAX_QUOTED {
        return text;
    }
    let parts = text.split('`').enumerate().map(|(i, part)| {
        let most = if i % 2 == 1 { MAX_QUOTED } else { MAX_BETWEEN };
        match part.char_indices().nth(most) {
            Some((end, _)) => format!("{}…", &part[..end]),
            None => part.to_owned(),
        }
    });
    parts.collect::<Vec<_>>().join("`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_quotations_are_cut() {
        let short = "line 3, column `a` holds `x`, which is not a number".to_owned();
        assert_eq!(shortened(short.clone()), short);
        let long = format!("line 3, column `a` holds `{}`, which is not a number", "é".repeat(5000));
        let expected = format!("line 3, column `a` holds `{}…`, which is not a number", "é".repeat(200));
        assert_eq!(shortened(long), expected);
    }
}
