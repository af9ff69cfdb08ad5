//! What was probably meant by a line that is none.

use clap::Error;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue};

/// What other programs call the target.
const TARGETS: [&str; 8] =
    ["--label", "--labels", "--outcome", "--response", "--predict", "--dependent-variable", "--class", "--y"];

/// The error with a tip of ours instead of a guess by spelling, where there is one.
pub(crate) fn with_tip(mut error: Error) -> Error {
    let Some(tip) = tip(&error) else { return error };
    error.remove(ContextKind::SuggestedArg);
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    error
}

fn tip(error: &Error) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let argument = text(ContextKind::InvalidArg)?;
    let name = argument.split(['=', ' ']).next().unwrap_or_default();
    if TARGETS.contains(&name) {
        return Some("the column to predict is named with '--target'".into());
    }
    if name == "--weight" && is_of(error, "owners") {
        return Some(
            "rows of owners have no weights: in the game, each row of an owner counts as one".into(),
        );
    }
    let value = text(ContextKind::InvalidValue)?;
    let number = value.strip_prefix('-').filter(|rest| rest.parse::<u64>().is_ok())?;
    match name {
        "--top" => Some(format!("the {number} rows of lowest value are shown by '--bottom {number}'")),
        "--bottom" => Some(format!("the {number} rows of highest value are shown by '--top {number}'")),
        _ => None,
    }
}

/// Whether a line is one of a command.
fn is_of(error: &Error, command: &str) -> bool {
    let usage = error.get(ContextKind::Usage).map(ToString::to_string);
    usage.is_some_and(|usage| usage.contains(&format!("dshap {command} ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(line: &str) -> String {
        let error = super::super::command().try_get_matches_from(line.split_whitespace());
        with_tip(error.expect_err("no command")).to_string()
    }

    #[test]
    fn usual_slips_get_a_tip() {
        assert!(
            said("dshap value a.csv --label y")
                .contains("tip: the column to predict is named with '--target'")
        );
        assert!(said("dshap value a.csv --target y --top -3").contains("'--bottom 3'"));
        assert!(said("dshap value a.csv --target y --bottom -3").contains("'--top 3'"));
        let owners = said("dshap owners a.csv --by v --target y --weight w");
        assert!(owners.contains("rows of owners have no weights") && !owners.contains("-- --"), "{owners}");
        assert!(said("dshap value a.csv --targte y").contains("'--target'"));
    }
}
