//! Experiments and datasets that could not be made, in words.

use crate::{Speech, io_error, io_hint};
use dshap_experiments::{Difference, Error, ExperimentOption};

/// What is wrong with an experiment or a dataset. Causes follow from
/// [`source`](std::error::Error::source).
pub fn experiment_error(error: &Error, speech: &dyn Speech) -> String {
    match error {
        Error::OtherRun { file, differences } => {
            let differences: Vec<String> = differences.iter().map(|d| difference(d, speech)).collect();
            format!("`{file}` belongs to a run with other settings: {}", differences.join("; "))
        }
        Error::NoUse { experiment, option, why } => {
            format!("{experiment} does not use {}: {why}", spelled(*option, speech))
        }
        Error::Table(error) => io_error(error, speech),
        // The others name nothing that front ends spell differently.
        other => other.to_string(),
    }
}

/// What to do about it.
pub fn experiment_hint(error: &Error, speech: &dyn Speech) -> Option<String> {
    let other_folder = || format!("choose another folder with {}", speech.option("output"));
    Some(match error {
        Error::OtherRun { .. } | Error::OtherData { .. } | Error::NotAFolder { .. } => other_folder(),
        Error::NoRecord { file, .. } => format!("{}, or move `{file}` away", other_folder()),
        Error::Link { file } => format!("remove `{file}`, or {}", other_folder()),
        Error::Damaged { file, .. } => format!("repair the line, or move `{file}` away to start again"),
        Error::MoreThanAsked { .. } => format!(
            "ask for at least as many {} as it holds, or {}",
            speech.option(ExperimentOption::Repetitions.name()),
            other_folder()
        ),
        Error::NotFound { dataset, can_be_downloaded: true, .. } => format!(
            "{}, or download it with {}",
            name_its_folder(speech),
            speech.command(&format!("dataset {dataset}"))
        ),
        Error::NotFound { .. } => format!(
            "{}, or leave it out with {}",
            name_its_folder(speech),
            speech.option(ExperimentOption::Only.name())
        ),
        Error::NotOffered { .. } => format!(
            "{} uses a table of it if {} names the folder",
            speech.command("experiment"),
            speech.option(ExperimentOption::Data.name())
        ),
        Error::UnknownDataset { .. } => {
            format!("{} with {} names them all", speech.command("dataset"), speech.option("list"))
        }
        Error::UnknownPanel { panels, .. } => format!("its panels are {}", panels.join(", ")),
        Error::Download { .. } => {
            format!("{} takes a copy from another address or a local file", speech.option("from"))
        }
        Error::Digest { .. } => format!("{} keeps the table anyway", speech.option("unchecked")),
        Error::Table(error) => io_hint(error, speech)?,
        _ => return None,
    })
}

fn name_its_folder(speech: &dyn Speech) -> String {
    format!("name the folder that holds it with {}", speech.option(ExperimentOption::Data.name()))
}

fn difference(difference: &Difference, speech: &dyn Speech) -> String {
    let setting = match difference.option {
        Some(option) => spelled(option, speech),
        None => "the version of dshap".into(),
    };
    format!("{setting} was {} and is now {}", difference.found, difference.wanted)
}

fn spelled(option: ExperimentOption, speech: &dyn Speech) -> String {
    match option {
        ExperimentOption::DShapleyOfDataset => format!("{} of a dataset", speech.option(option.name())),
        _ => speech.option(option.name()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_speech::{Angled, assert_is_house_style};
    use dshap_experiments::Unused;

    fn all() -> Vec<Error> {
        let file = || "fig2.csv".to_string();
        let reason = || "it ends".to_string();
        let tried = || vec!["wine.csv".to_string()];
        vec![
            Error::Table(dshap_io::Error::EmptyFile { file: file() }),
            Error::File { file: file(), reason: std::io::Error::other("it did not work") },
            Error::OtherRun { file: file(), differences: vec![] },
            Error::OtherData { file: file(), dataset: "wine", record: "fig2.json".into() },
            Error::NoRecord { file: file(), record: "fig2.json".into(), reason: reason() },
            Error::Damaged { file: file(), line: 3, reason: reason() },
            Error::MoreThanAsked { file: file(), line: 3, found: "a,1".into() },
            Error::NoNumber { row: "fig2.csv,NaN".into(), reason: reason() },
            Error::NotAFolder { file: file() },
            Error::Link { file: file() },
            Error::NoUse {
                experiment: "fig2.csv",
                option: ExperimentOption::Seed,
                why: Unused::NothingRandom,
            },
            Error::NotFound { dataset: "fig2.csv", tried: tried(), can_be_downloaded: true },
            Error::NotFound { dataset: "fig2.csv", tried: tried(), can_be_downloaded: false },
            Error::UnknownDataset { name: file() },
            Error::UnknownPanel { name: file(), experiment: "fig2", panels: vec!["abalone"] },
            Error::WrongTable { file: file(), reason: reason() },
            Error::NotOffered { dataset: "fig2.csv", why: "it was computed from images" },
            Error::Download { address: "https://example.org/fig2.csv".into(), reason: reason() },
            Error::Format { address: file(), dataset: "wine", reason: reason() },
            Error::Digest { dataset: "fig2.csv", found: "a1".into(), expected: "b2" },
        ]
    }

    #[test]
    fn every_error_says_what_it_is_about_in_house_style() {
        for error in all() {
            let message = experiment_error(&error, &Angled);
            assert!(message.contains("fig2.csv"), "{message}");
            assert_is_house_style(&message);
            assert_is_house_style(&error.to_string());
            if let Some(hint) = experiment_hint(&error, &Angled) {
                assert_is_house_style(&hint);
            }
        }
    }

    #[test]
    fn options_are_spelled_by_the_front_end() {
        let option = Some(ExperimentOption::Seed);
        let seed = Difference { option, found: "11".into(), wanted: "12".into() };
        let version = Difference { option: None, found: "0.1".into(), wanted: "0.2".into() };
        let other = Error::OtherRun { file: "fig2.json".into(), differences: vec![seed, version] };
        assert_eq!(
            experiment_error(&other, &Angled),
            "`fig2.json` belongs to a run with other settings: <seed> was 11 and is now 12; \
             the version of dshap was 0.1 and is now 0.2"
        );
        assert_eq!(experiment_hint(&other, &Angled).unwrap(), "choose another folder with <output>");
        let (option, why) = (ExperimentOption::DShapleyOfDataset, Unused::NoDatasets);
        let unused = Error::NoUse { experiment: "fig1", option, why };
        assert_eq!(
            experiment_error(&unused, &Angled),
            "fig1 does not use <d_shapley> of a dataset: it has no datasets to choose from"
        );
        let missing = Error::NotFound { dataset: "wine", tried: vec![], can_be_downloaded: true };
        assert_eq!(
            experiment_hint(&missing, &Angled).unwrap(),
            "name the folder that holds it with <data>, or download it with <dshap dataset wine>"
        );
    }
}
