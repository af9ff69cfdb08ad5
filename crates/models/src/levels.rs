//! Levels of text columns that one design knows and another does not.

use dshap_table::{Design, Encoding};

/// Levels that the wider design knows and the other does not, as `city=Rome`.
pub fn levels_beyond(wider: &Design, known: &Design) -> Vec<String> {
    let mut names = Vec::new();
    for (feature, encoding) in wider.parts().features.iter().zip(&wider.parts().encodings) {
        let twin = known.features().position(|name| name == feature.name);
        let before = twin.map(|index| &known.parts().encodings[index]);
        if let (Encoding::OneHot { levels, .. }, Some(Encoding::OneHot { levels: before, .. })) =
            (encoding, before)
        {
            let new = levels.iter().filter(|level| !before.contains(level));
            names.extend(new.map(|level| format!("{}={level}", feature.name)));
        }
    }
    names
}
