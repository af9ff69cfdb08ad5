//! Which characters of a user's text are shown as escapes, wherever people read it.

/// Whether a character is shown as an escape: control characters can drive a terminal, and
/// those that change the direction of the text around them make a name look like another.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text with hidden characters escaped.
pub fn visible(text: &str) -> String {
    escaped(text, is_hidden)
}

/// The same for text of several lines, whose line ends stay.
pub fn visible_lines(text: &str) -> String {
    escaped(text, |c| is_hidden(c) && c != '\n')
}

fn escaped(text: &str, is_hidden: impl Fn(char) -> bool) -> String {
    text.chars().flat_map(|c| if is_hidden(c) { c.escape_default().collect() } else { vec![c] }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_and_turning_characters_are_escaped_and_nothing_else() {
        for (c, expected) in [
            ('\u{1b}', "\\u{1b}"),
            ('\n', "\\n"),
            ('\u{7f}', "\\u{7f}"),
            ('\u{9b}', "\\u{9b}"),
            ('\u{61c}', "\\u{61c}"),
            ('\u{200f}', "\\u{200f}"),
            ('\u{202e}', "\\u{202e}"),
            ('\u{2069}', "\\u{2069}"),
        ] {
            assert_eq!(visible(&format!("a{c}b")), format!("a{expected}b"));
        }
        let plain = "grün, שלום, \"x\" \\ …";
        assert_eq!(visible(plain), plain);
        assert_eq!(visible_lines("a\n\u{202e}b"), "a\n\\u{202e}b");
    }
}
