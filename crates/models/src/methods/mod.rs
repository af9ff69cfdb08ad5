//! All methods, one file each: its entry in the catalogue, and how its valuer is
//! made.
//!
//! A further method is a further file here, and its line in [`METHODS`].

mod algorithm_3;
mod baseline;
pub(crate) mod bounds;
mod calibrated;
mod closed;
mod d_shapley;
mod exact_shapley;
pub(crate) mod gaussian;
pub(crate) mod general;
mod knn;
mod knn_shapley;
mod loo;
mod monte_carlo;
mod random;
mod second_order;
mod shared;
mod tmc_shapley;

pub(crate) use second_order::{is_without_ridge, options_without_ridge};

use crate::method::Method;
use dshap_catalogue::{MethodEntry, Task};

/// All methods, in the order of help.
pub static METHODS: &[&Method] = &[
    &gaussian::GAUSSIAN,
    &calibrated::CALIBRATED,
    &general::GENERAL,
    &second_order::SECOND_ORDER,
    &knn::KNN,
    &closed::CLOSED,
    &bounds::LOWER,
    &bounds::UPPER,
    &algorithm_3::ALGORITHM_3,
    &monte_carlo::MONTE_CARLO,
    &d_shapley::D_SHAPLEY,
    &tmc_shapley::TMC_SHAPLEY,
    &exact_shapley::EXACT_SHAPLEY,
    &knn_shapley::KNN_SHAPLEY,
    &loo::LOO,
    &random::RANDOM,
];

/// The method of that name.
pub fn find(name: &str) -> Option<&'static Method> {
    METHODS.iter().copied().find(|method| method.name() == name)
}

/// The default method of a task; while the task is not known, that of
/// predictions.
pub fn default_for(task: Option<Task>) -> &'static Method {
    match task {
        Some(Task::Density) => &closed::CLOSED,
        _ => &gaussian::GAUSSIAN,
    }
}

/// The entries of all methods.
pub fn entries() -> Vec<&'static MethodEntry> {
    METHODS.iter().map(|method| &method.entry).collect()
}

/// An entry as JSON, with the options that the method takes for tasks it has.
pub fn as_json(entry: &MethodEntry) -> serde_json::Value {
    let mut object = serde_json::to_value(entry).expect("entries have nothing JSON cannot hold");
    for (option, takes) in object["options"].as_array_mut().into_iter().flatten().zip(entry.options) {
        let tasks = takes.tasks.iter().filter(|task| entry.is_for(**task));
        option["tasks"] = tasks.map(|task| task.name()).collect();
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::how::How;
    use dshap_catalogue::{Default, Given, OptionEntry, options, spelled};

    /// `How::number` and `How::count` rely on it.
    #[test]
    fn numbers_that_methods_compute_with_have_defaults() {
        use options::{BOUND_C, BOUND_EDGE, RIDGE, SAMPLES, SMALL_RIDGE, STOP, STOP_DRAWS};
        for &method in METHODS {
            let how = How { method, given: Given::new() };
            for takes in method.entry.options {
                let is = |names: &[&OptionEntry]| names.iter().any(|one| one.name == takes.option.name);
                let name = method.name();
                // A bound without a stopping rule sums to the end, and most fits know whether they have a ridge.
                let stops = method.draws() || method.baseline().is_some() || name == "algorithm-3";
                let has_ridge = method.draws() || ["lower", "upper"].contains(&name);
                if is(&[&SMALL_RIDGE, &BOUND_C, &BOUND_EDGE, &STOP_DRAWS, &SAMPLES])
                    || (stops && is(&[&STOP]))
                    || (has_ridge && is(&[&RIDGE]))
                {
                    assert!(how.value(takes.option).is_some(), "{name}: `{}`", takes.option.name);
                }
            }
        }
    }

    #[test]
    fn every_method_has_a_page_that_the_site_names() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let menu = std::fs::read_to_string(root.join("mkdocs.yml")).expect("the menu of the site");
        for method in METHODS {
            let name = method.name();
            let page = std::fs::read_to_string(root.join(format!("docs/methods/{name}.md")));
            let page = page.unwrap_or_else(|error| panic!("docs/methods/{name}.md: {error}"));
            for part in ["Formula", "Assumptions", "Cost", "Accuracy", "Reference"] {
                assert!(page.contains(&format!("\n## {part}\n")), "{name} has no {part}");
            }
            assert!(menu.contains(&format!(": methods/{name}.md\n")), "{name} is not in the menu");
        }
    }

    #[test]
    fn entries_are_whole_and_name_options_that_exist() {
        for method in METHODS {
            let entry = &method.entry;
            assert_eq!(find(entry.name), Some(*method));
            assert!(!entry.tasks.is_empty() && !entry.summary.is_empty() && !entry.about.is_empty());
            assert!(!entry.assumes.is_empty(), "{}", entry.name);
            for text in [entry.summary, entry.about, entry.assumes, entry.passes, entry.example] {
                assert!(!text.contains("--"), "{}: {text}", entry.name);
                spelled(text, |name, _| {
                    assert!(
                        options::find(name).is_some() || name == "method",
                        "{} names `{name}`",
                        entry.name
                    );
                    String::new()
                });
            }
            for takes in entry.options {
                let is_own = takes.option.is_of_methods() || takes.option.name == options::SEED.name;
                assert!(is_own, "{}: every method takes `{}`", entry.name, takes.option.name);
                assert!(takes.tasks.iter().any(|task| entry.is_for(*task)), "{}", entry.name);
                if let Default::Word(word) = takes.default {
                    assert!(takes.option.takes.parse(word).is_some(), "{}: {word}", entry.name);
                }
            }
            let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../").to_string() + entry.page;
            assert!(std::path::Path::new(&page).exists(), "{} is described in {}", entry.name, entry.page);
        }
    }
}
