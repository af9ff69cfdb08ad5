//! Suggestions for misspelled names.

/// The candidate most similar to `name`, if any is similar enough.
pub fn closest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = name.to_lowercase();
    // One typo per three letters. More would suggest unrelated names.
    let limit = wanted.chars().count() / 3;
    candidates
        .map(|candidate| (distance(&wanted, &candidate.to_lowercase()), candidate))
        .filter(|&(distance, _)| distance <= limit)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// Letters to insert, delete or replace to turn one word into the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_suggested_and_others_are_not() {
        let names = ["quality", "Sugar", "pH"];
        for (name, expected) in [
            ("qualty", Some("quality")),
            ("sugar", Some("Sugar")),
            ("ph", Some("pH")),
            ("alcohol", None),
            ("x", None),
        ] {
            assert_eq!(closest(name, names.into_iter()), expected, "{name}");
        }
    }

    #[test]
    fn distance_counts_edits() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
    }
}
