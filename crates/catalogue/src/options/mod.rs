//! All options, by group.
//!
//! A further option is a further entry in one of these files, and its name in the
//! list at the end of that file.

mod columns;
mod methods;
mod output;
mod owners;
mod pairs;
mod rows;

pub use columns::*;
pub use methods::*;
pub use output::*;
pub use owners::*;
pub use pairs::{APART, Pair, TOGETHER};
pub use rows::*;

use crate::option::OptionEntry;

/// All options, group by group, in the order of help.
pub fn all() -> impl Iterator<Item = &'static OptionEntry> {
    [rows::ALL, columns::ALL, methods::ALL, owners::ALL, output::ALL].into_iter().flatten().copied()
}

/// The option of that name.
pub fn find(name: &str) -> Option<&'static OptionEntry> {
    all().find(|option| option.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markup::spelled;

    #[test]
    fn names_are_unique_and_texts_name_options_that_exist() {
        let mut names: Vec<&str> = all().map(|option| option.name).collect();
        let n_options = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), n_options);
        for option in all() {
            for text in [option.help, option.details, option.default] {
                assert!(!text.contains("--"), "{}: {text}", option.name);
                spelled(text, |name, _| {
                    assert!(find(name).is_some(), "{} names `{name}`", option.name);
                    String::new()
                });
            }
            assert!(!option.help.is_empty() && !option.help.ends_with('.'), "{}", option.name);
        }
        for text in FOR_OWNERS.iter().flat_map(|of| [of.help, of.details, of.default]) {
            assert!(!text.contains("--") && !text.ends_with("  "), "{text}");
            spelled(text, |name, _| {
                assert!(find(name).is_some(), "`{name}` is named for owners");
                String::new()
            });
        }
        for pair in APART.iter().chain(TOGETHER) {
            spelled(pair.why, |name, _| {
                assert!(find(name).is_some(), "`{name}` is named for {}", pair.option.name);
                String::new()
            });
        }
    }
}
