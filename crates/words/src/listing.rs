//! Names in a sentence.

/// At most this many names are listed.
const LISTED: usize = 20;

/// Names in backticks, with commas between them; a long list is cut.
pub(crate) fn listed(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(LISTED).map(|name| format!("`{name}`")).collect();
    let mut text = shown.join(", ");
    if names.len() > LISTED {
        text += &format!(" and {} more", names.len() - LISTED);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_is_cut() {
        let names: Vec<String> = (0..23).map(|i| format!("c{i}")).collect();
        assert!(listed(&names).ends_with("`c19` and 3 more"), "{}", listed(&names));
        assert_eq!(listed(&names[..2]), "`c0`, `c1`");
    }
}
