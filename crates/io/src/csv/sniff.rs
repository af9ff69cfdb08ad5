//! Which byte separates the cells.

use crate::text::QUOTE;

/// In order of preference. Tabs, semicolons and bars hardly ever occur equally
/// often in every record by accident; commas do, as decimal commas.
const CANDIDATES: [u8; 4] = [b'\t', b';', b'|', b','];

/// This many bytes are looked at.
pub(super) const SNIFF_BYTES: usize = 256 << 10;

/// This many records are looked at.
const SNIFF_RECORDS: usize = 200;

/// The delimiter of a text of which `head` is the beginning, or the whole.
pub(super) fn delimiter(head: &[u8]) -> u8 {
    let records = count(head);
    // A record cut by the end of the sample says nothing.
    let is_cut = head.len() >= SNIFF_BYTES && records.len() < SNIFF_RECORDS;
    let records = &records[..records.len() - usize::from(is_cut && records.len() > 1)];
    let Some((header, rows)) = records.split_first() else {
        return b',';
    };
    let agreement = |candidate: usize| {
        let n_agreeing = rows.iter().filter(|row| row[candidate] == header[candidate]).count();
        if header[candidate] > 0 { 1 + n_agreeing } else { 0 }
    };

    for (candidate, &byte) in CANDIDATES.iter().enumerate() {
        if agreement(candidate) == records.len() {
            return byte;
        }
    }

    // Some record is faulty, or there is one column. Guess what was meant, so
    // that a fault can be reported where it is.
    let mut best = (b',', 0);
    for (candidate, &byte) in CANDIDATES.iter().enumerate().rev() {
        if agreement(candidate) > best.1 {
            best = (byte, agreement(candidate));
        }
    }
    best.0
}

/// How often each candidate occurs in each record, outside of quotes.
///
/// The delimiter is not known yet, so a quote opens a cell after any of them.
fn count(head: &[u8]) -> Vec<[usize; 4]> {
    let mut records = Vec::new();
    let mut counts = [0; 4];
    let mut is_blank = true;
    let mut is_quoted = false;
    let mut closed_before = usize::MAX;
    let mut before = b'\n';
    for (i, &byte) in head.iter().enumerate() {
        if byte == QUOTE {
            if is_quoted {
                is_quoted = false;
                closed_before = i + 1;
            } else if closed_before == i || before == b'\n' || CANDIDATES.contains(&before) {
                is_quoted = true;
            }
        } else if !is_quoted && byte == b'\n' {
            if !is_blank {
                records.push(counts);
                if records.len() == SNIFF_RECORDS {
                    return records;
                }
            }
            (counts, is_blank) = ([0; 4], true);
        } else if !is_quoted && let Some(candidate) = CANDIDATES.iter().position(|&other| other == byte) {
            counts[candidate] += 1;
        }
        is_blank = is_blank && byte.is_ascii_whitespace() && byte != b'\t';
        before = byte;
    }
    if !is_blank {
        records.push(counts);
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delimiter_is_the_one_that_is_consistent() {
        for (text, expected) in [
            ("a,b\n1,2\n", b','),
            ("a;b\n1;2\n", b';'),
            ("a\tb\n1\t2\n", b'\t'),
            ("a|b\n1|2\n", b'|'),
            ("a;b\n1,5;2,5\n3,5;4,5\n", b';'),
            ("weight, kg;height, m\n1,5;2,5\n", b';'),
            ("a\n1\n2\n", b','),
            ("a,b\n\"x;y\",\"z;w\"\n", b','),
            ("a;b\n\"x,y\";\"z,w\"\n", b';'),
            ("c,\"a;b\"\n1,\"x;y\"\n", b','),
            ("c,\"a;\"\"b\"\n1,\"x;\n|y\"\n", b','),
            ("size,n\n5\" pipe,1\n6\" pipe,2\n", b','),
            ("title,tags\nx,a|b\ny,a|b|c\n", b','),
            ("name\tnote\nx\ta, b\ny\tc\n", b'\t'),
            ("a,b,c\n1,2\n3,4,5\n6,7,8\n", b','),
            ("a;b;c\n1;2\n3;4;5\n6,5;7;8\n", b';'),
            ("\n\na;b\n1;2", b';'),
            ("", b','),
        ] {
            assert_eq!(delimiter(text.as_bytes()) as char, expected as char, "{text:?}");
        }
    }

    #[test]
    fn a_record_cut_by_the_end_of_the_sample_does_not_count() {
        let mut text = "a;b\n1;2\n".to_owned();
        text.push_str(&format!("{};3", "x".repeat(SNIFF_BYTES)));
        assert_eq!(delimiter(&text.as_bytes()[..SNIFF_BYTES]), b';');
    }
}
