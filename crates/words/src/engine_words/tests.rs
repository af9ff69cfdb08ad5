use super::*;
use crate::test_speech::Angled;
use dshap_catalogue::{Misuse, Setting, Task};
use dshap_io::{Location, Place};
use dshap_models::{Lack, NeighbourSizesFault, RareCure, Remedies, RowRole, Warning};

fn at() -> Location {
    Location { file: "wine.csv".into(), place: Place::Line(3) }
}

fn names() -> Box<Names> {
    Box::new(Names::default())
}

fn sizes_fault() -> NeighbourSizesFault {
    NeighbourSizesFault {
        k: 5,
        q: 6,
        m: 4,
        m_default: true,
        n_reference: 4,
        n_rows: 3,
        without_test: true,
        without_point: false,
        remedies: Remedies { k: Some(3), rows: Some(6), ..Remedies::default() },
    }
}

/// Every error, with and without a hint.
fn errors() -> Vec<Error> {
    let file = || "a.dshap".to_string();
    let merge = |why| Error::CannotMerge { first: "a".into(), second: "b".into(), why };
    let checkpoint = |difference| Error::OtherCheckpoint { file: file(), difference };
    let incomplete = |needs| Error::Incomplete { method: "calibrated", needs };
    let lacks = |suggestion: Option<&str>| Error::OtherColumns {
        valuer: file(),
        file: "wine.csv".into(),
        missing: vec!["age".into(), "cask".into()],
        suggestion: suggestion.map(String::from),
    };
    let core = |error, kept_back| Error::Core { error, names: names(), kept_back, without_ridge: vec![] };
    let conflict = Misuse::Conflict {
        settings: vec![Setting { option: "constant", value: Some("full:1".into()) }],
        why: "it is",
    };
    vec![
        Error::Io(dshap_io::Error::NoInput),
        Error::Container(dshap_io::ContainerError::Truncated { file: file(), bytes: 3 }),
        Error::BadContents { file: file(), what: "it lacks `fit`".into() },
        Error::Misuse(conflict),
        Error::SettledByValuer { option: "ridge" },
        Error::OtherMethod { fitted: "gaussian", method: "knn", task: Task::Regression },
        Error::NotSaved { method: "loo", why: "see {test}" },
        Error::NotSpread { method: "general" },
        Error::BadPart { what: "its array `moments.shift` is missing".into() },
        lacks(None),
        lacks(Some("aged")),
        Error::OtherTest { file: "t.csv".into(), missing: vec!["age".into()], suggestion: None },
        merge(MergeConflict::Tasks(Task::Regression, Task::Density)),
        merge(MergeConflict::Intercept),
        merge(MergeConflict::Tests),
        merge(MergeConflict::Methods),
        merge(MergeConflict::Size { option: "m", first: Some(3), second: None }),
        merge(MergeConflict::Columns(dshap_table::Error::AllMissing { name: "age".into() })),
        merge(MergeConflict::Kernels("uniform", "gaussian")),
        merge(MergeConflict::Scaling),
        merge(MergeConflict::Bandwidths("0.1".into(), "0.2".into())),
        Error::FewTestRows { n_test: 1, method: "knn", are_kept_back: true },
        Error::FewTestRows { n_test: 0, method: "knn", are_kept_back: false },
        Error::Baseline(BaselineError::SetSizes { min: 4, max: 3 }),
        Error::Baseline(BaselineError::TooManySets { n_rows: 60, most: 20 }),
        Error::Baseline(BaselineError::KernelRange { bandwidth: 1e-9, dim: 99 }),
        Error::Baseline(BaselineError::NoSuchRow { row: 9, n_rows: 3 }),
        incomplete(None),
        incomplete(Some(ExtraPass::Calibration)),
        incomplete(Some(ExtraPass::Rows)),
        incomplete(Some(ExtraPass::Expansion)),
        incomplete(Some(ExtraPass::Authors)),
        Error::FixedReference { why: Fixed::Method("general") },
        Error::FixedReference { why: Fixed::Components },
        Error::FixedReference { why: Fixed::Logistic },
        Error::FixedReference { why: Fixed::Density },
        Error::FixedReference { why: Fixed::Neighbours },
        Error::GuessedWrong { target: "y".into(), more_later: true },
        Error::GuessedWrong { target: "y".into(), more_later: false },
        Error::NothingToMerge,
        Error::CannotForget { files: vec!["a".into()], column: Some("x".into()), n_rows: 1, n_reference: 9 },
        Error::CannotForget { files: vec!["a".into()], column: None, n_rows: 10, n_reference: 9 },
        checkpoint(CheckpointDifference::Version("0.0.1".into())),
        checkpoint(CheckpointDifference::Files(vec!["a".into(), "b".into()])),
        checkpoint(CheckpointDifference::ChangedFile("a".into())),
        checkpoint(CheckpointDifference::Option("target".into())),
        Error::Checkpoint { file: file(), reason: std::io::Error::other("it is full") },
        Error::TooLittleMemory { limit: 999_999, needed: 1_000_001, n_threads: 2 },
        Error::TooLittleMemory { limit: 1, needed: 2, n_threads: 1 },
        Error::LongLists { room: 10, needed: 2_000_000 },
        Error::TooMuchHeld { n_rows: 9 },
        Error::Table { location: Some(at()), error: dshap_table::Error::AllMissing { name: "age".into() } },
        Error::OutputIsInput { file: file() },
        Error::NumbersAsText { location: at(), name: "age".into(), text: "1,5".into() },
        Error::MixedColumn { location: at(), name: "age".into(), text: "old".into() },
        core(dshap::Error::NoNoise, false),
        core(dshap::Error::TooFewRows { n_rows: 9, dim: 15, needed: 18 }, true),
        Error::NeighbourSizes(sizes_fault()),
        Error::OneNeighbour,
        Error::NoMeasuredShift { weighted: true },
        Error::NoMeasuredShift { weighted: false },
        Error::NoPenalty,
        Error::SetsOfSample { n_reference: 30_000 },
        Error::NoSets { column: "g".into() },
        Error::NoSuchSet { name: "g".into(), suggestion: Some("h".into()) },
        Error::EmptySet { name: "g".into() },
        Error::NoSuchRow { row: 30, n_rows: 12 },
        Error::MissingCells { name: "age".into(), n_cells: 2, first: at() },
        Error::Several(vec![Error::NothingLeft, Error::NoSets { column: "g".into() }]),
        Error::Case { location: at(), reason: "m is missing".into() },
        Error::NothingLeft,
        Error::TooMuchText,
        Error::Changed { before: 3, after: 4 },
        Error::WeightsInTrial,
        Error::TopTooLarge { top: 9, n_rows: 3 },
        Error::NoTargets,
        Error::ValueCount { name: "mine".into(), found: 3, n_rows: 4 },
        Error::BadOutput("a.csv".into()),
        Error::Interrupted,
    ]
}

fn warnings() -> Vec<Warning> {
    let file = || "wine.csv".to_string();
    let valuer = || Some("a.dshap".to_string());
    let without_fit = |cure, larger_q, has_ridge| Warning::SetsWithoutFit {
        n_drawn: 50,
        size: 12,
        n_without: 9,
        cure,
        larger_q,
        has_ridge,
    };
    let roles = [
        RowRole::Reference,
        RowRole::Neighbour,
        RowRole::Point,
        RowRole::SetMember,
        RowRole::Test,
        RowRole::Added,
        RowRole::Trial,
    ];
    let left_out = |(role, n_rows), lack| Warning::RowsLeftOut { role, n_rows, lack };
    let lacks = [Lack::Cell, Lack::Target, Lack::CellOrTarget];
    let mut all: Vec<Warning> = roles
        .into_iter()
        .zip(1..)
        .zip(lacks.into_iter().cycle())
        .map(|(of, lack)| left_out(of, lack))
        .collect();
    all.extend([
        Warning::Core(dshap::Warning::FewSizes { n_sizes: 3 }, names()),
        Warning::Reader(dshap_io::Note::NumericHeader { file: file() }),
        Warning::OfMethod("knn".into(), Box::new(Warning::LostDigits)),
        Warning::PointsAreReference { file: file() },
        Warning::PointsInValuer { file: file(), valuer: "a.dshap".into() },
        Warning::PointsAreTests { file: file(), valuer: None },
        Warning::PointsAreTests { file: file(), valuer: valuer() },
        Warning::TestsAreReference { file: file(), have_targets: true },
        Warning::TestsAreReference { file: file(), have_targets: false },
        Warning::ConstantText { columns: vec!["a".into(), "b".into()] },
        Warning::FewNumbers { target: "digit".into(), n_numbers: 10 },
        Warning::WeakModel { r_squared: -0.01 },
        Warning::WeakLabels { log_loss: 0.69, constant: 0.693 },
        Warning::SetAside { index: Some("column_1".into()), identifiers: vec![] },
        Warning::SetAside { index: Some("column_1".into()), identifiers: vec!["sku".into()] },
        Warning::AllLevelsRare { columns: vec!["a".into()] },
        Warning::RareLabel { label: "x".into(), n_rows: 1 },
        Warning::SureFit { size: 13, amounts_to: 2.04, dim: 4, enough: 99, most: 200 },
        Warning::SureFit { size: 13, amounts_to: 2.04, dim: 4, enough: 99, most: 50 },
        Warning::RareDummies {
            levels: vec!["town=Rome".into()],
            n_rows: 5,
            size: 300,
            expected: 0.3,
            cure: RareCure::Pool(10),
        },
        Warning::RareDummies {
            levels: vec!["a=1".into(), "b=0".into()],
            n_rows: 1,
            size: 20,
            expected: 0.02,
            cure: RareCure::LargerSets(400),
        },
        Warning::AccuracyOfMany,
        without_fit(Some((28, 1)), true, false),
        without_fit(None, true, true),
        without_fit(None, false, true),
        Warning::WholeValues,
        Warning::PerClassOfTwo,
        Warning::LargeSets { m: 10_000, n_rows: 100, most: 300.0 },
        Warning::RoughErrors { share: 0.01 },
        Warning::AssumedNoise,
        Warning::RepeatedFile { file: file() },
        Warning::ForgottenAgain { file: file() },
        Warning::FilledCells { n_cells: 2 },
        Warning::PoolIsKept { columns: vec!["city".into()] },
        Warning::LostDigits,
        Warning::SwallowedDigits,
        Warning::ReferenceSample { n_reference: 30_000, n_used: 20_000, seed: 0 },
        Warning::LogUnit { power: -700.0 },
        Warning::UnequalShares { n_kept: 3, n_held: 4 },
        Warning::RowsInNoSet { n_rows: 1, column: "g".into() },
        Warning::TestSample { n_reference: 30_000, n_tests: 10_000, seed: 0 },
        Warning::SmallQ { q: 2, least: 6, k: 5 },
        Warning::NoTestErrors { n_tests: 1 },
        Warning::MostlyZero { n_zero: 900, n_valued: 1000, tolerance: 0.5 },
        Warning::RoughDraws { n_rounds: 64, tolerance: 0.02 },
        Warning::SingularSets { share: 0.1, ridge_helps: true },
        Warning::RowsMeasure { n_rows: 1 },
        Warning::RowsMeasure { n_rows: 12 },
        Warning::FewSetSizes { n_sizes: 3, larger_m: true, smaller_q: true },
        Warning::FewSetSizes { n_sizes: 1, larger_m: false, smaller_q: false },
        Warning::OnlyWholeSet { n_rows: 20, method: "loo" },
        Warning::FewIterations { n_iterations: 2, needed: 200 },
        Warning::StillMoving { n_iterations: 200, tolerance: 0.05 },
        Warning::NoModelToLose,
        Warning::SetsWithoutModel { share: 0.1, task: Task::Classification },
        Warning::SetsWithoutModel { share: 0.1, task: Task::Regression },
        Warning::NoBrier { methods: vec!["knn"], curves: false },
        Warning::NoBrier { methods: vec!["knn", "loo"], curves: true },
        Warning::EqualTargets,
        Warning::WorthlessWhole,
    ]);
    all
}

/// Checks what all sentences have in common: lower case, no final period, no option of
/// the command line, and no fact that fell back to its name in Rust.
#[track_caller]
fn assert_is_house_style(sentence: &str) {
    let first = sentence.chars().next().unwrap_or('.');
    assert!(!sentence.ends_with('.') && !first.is_uppercase(), "{sentence}");
    assert!(!sentence.contains("--") && !sentence.contains(" { "), "{sentence}");
}

#[test]
fn every_error_has_a_sentence_in_house_style() {
    for fault in errors() {
        assert_is_house_style(&error(&fault, &Angled));
        if let Some(hint) = hint(&fault, &Angled) {
            assert_is_house_style(&hint);
        }
    }
}

#[test]
fn every_warning_has_a_sentence_in_house_style() {
    for doubt in warnings() {
        assert_is_house_style(&warning(&doubt, &Angled));
    }
}

#[test]
fn options_are_spelled_by_the_front_end() {
    let fault = Error::SettledByValuer { option: "ridge" };
    assert_eq!(error(&fault, &Angled), "<ridge> is fixed by the valuer");
    let fault = Error::NotSaved { method: "loo", why: "see {test} and {method=knn}" };
    assert_eq!(
        error(&fault, &Angled),
        "<method is loo> has no valuer to save: see <test> and <method is knn>"
    );
    let doubt = Warning::RoughDraws { n_rounds: 64, tolerance: 0.02 };
    assert!(warning(&doubt, &Angled).ends_with("<samples> allows more rounds, <stop> larger errors"));
    let doubt = Warning::PointsAreReference { file: "a".into() };
    assert!(warning(&doubt, &Angled).ends_with("leave out <reference> to value each row against the others"));
}

#[test]
fn a_hint_about_rows_counts_those_kept_back() {
    let few = dshap::Error::TooFewRows { n_rows: 9, dim: 15, needed: 18 };
    let fault = Error::Core { error: few, names: names(), kept_back: true, without_ridge: vec![] };
    let hint = hint(&fault, &Angled).unwrap();
    assert!(
        hint.contains("at least 22 rows are needed in all, or 18 and separate test rows with <test rows>"),
        "{hint}"
    );
}

#[test]
fn set_sizes_of_neighbours_name_what_helps() {
    let fault = Error::NeighbourSizes(sizes_fault());
    let message = error(&fault, &Angled);
    assert_eq!(
        message,
        "sets are drawn from 3 reference rows (4 without the test row), too few for the 5 nearest rows"
    );
    assert_eq!(hint(&fault, &Angled).unwrap(), "set <k> to at most 3, or give at least 6 reference rows");
    let remedies = Remedies { k_and_q: Some((2, 3)), m_and_rows: Some((6, 7)), ..Remedies::default() };
    let fault = NeighbourSizesFault { k: 1, q: 9, n_rows: 3, without_test: false, remedies, ..sizes_fault() };
    assert_eq!(
        neighbour_sizes(&fault),
        "sets are drawn from 3 reference rows, too few for q = 9: a row joins sets of 8 rows or more"
    );
    assert_eq!(
        neighbour_sizes_hint(&fault, &Angled),
        "set <k> to at most 2 and <q> to at most 3, or set <m> to at least 6 and give at least 7 reference rows"
    );
    let fault = NeighbourSizesFault { k: 5, q: 6, m: 4, n_rows: 9, ..fault };
    assert_eq!(
        neighbour_sizes(&fault),
        "m = 4, the number of reference rows, is too small: a row joins sets of at most 3 rows, too few for the 5 \
         nearest rows"
    );
}

#[test]
fn misuse_says_where_an_option_goes() {
    let not_taken =
        |option, method, task: Option<Task>, takers: &[&'static str], only_task, why| Misuse::NotTaken {
            option,
            method,
            task,
            is_taken_elsewhere: takers.contains(&method),
            takers: takers.to_vec(),
            only_task,
            why,
        };
    let metric = not_taken("metric", "gaussian", None, &["knn", "knn-shapley"], None, "");
    assert_eq!(misuse(&metric, &Angled), "<metric> goes with `knn` and `knn-shapley` only");
    let kernel = not_taken("kernel", "gaussian", None, &["closed"], Some(Task::Density), "");
    assert_eq!(misuse(&kernel, &Angled), "<kernel> is for densities (<task density>)");
    let sets = not_taken("sets", "monte-carlo", None, &["closed"], Some(Task::Density), "");
    assert_eq!(misuse(&sets, &Angled), "<sets> goes with `closed` only");
    let ridge = not_taken("ridge", "knn", None, &["general"], None, "use {scale=none}");
    assert_eq!(misuse(&ridge, &Angled), "<ridge> does not go with <method is knn>: use <scale is none>");
    let q = not_taken("q", "d-shapley", Some(Task::Density), &["gaussian", "d-shapley"], None, "");
    assert_eq!(misuse(&q, &Angled), "<q> does not go with <method is d-shapley> for densities");
    let spread =
        |task| not_taken("spread", "gaussian", task, &["second-order"], Some(Task::Classification), "");
    let other_task = "<spread> is for classification (<task classification>)";
    assert_eq!(misuse(&spread(Some(Task::Regression)), &Angled), other_task);
    assert_eq!(
        misuse(&spread(Some(Task::Classification)), &Angled),
        "<spread> goes with `second-order` only"
    );
    let word = Misuse::OtherWord {
        setting: Setting { option: "utility", value: Some("brier".into()) },
        method: "loo",
        words: &["accuracy", "log-loss"],
    };
    let message = "<utility is brier> does not go with <method is loo>, which takes `accuracy` or `log-loss`";
    assert_eq!(misuse(&word, &Angled), message);
    let any = Misuse::NotTakenByAny { option: "k", takers: vec!["knn"], only_task: None };
    assert_eq!(misuse(&any, &Angled), "<k> goes with `knn` only");
    let any =
        Misuse::NotTakenByAny { option: "kernel", takers: vec!["closed"], only_task: Some(Task::Density) };
    assert_eq!(
        misuse(&any, &Angled),
        "<kernel> is for densities (<task density>) and goes with `closed` only"
    );
    let other = Misuse::NotForTask { method: "closed", task: Task::Regression, tasks: &[Task::Density] };
    let message = misuse(&other, &Angled);
    assert!(
        message.starts_with("<method is closed> is for densities; for regression use `gaussian`"),
        "{message}"
    );
}

#[test]
fn options_that_conflict_are_named_as_given() {
    let setting = |option, value: Option<&str>| Setting { option, value: value.map(String::from) };
    let conflict = |settings| misuse(&Misuse::Conflict { settings, why: "they differ" }, &Angled);
    assert_eq!(
        conflict(vec![setting("constant", Some("full:1")), setting("convention", Some("printed"))]),
        "<constant is full:1> and <convention is printed> do not go together: they differ; leave out <constant>"
    );
    assert_eq!(conflict(vec![setting("ridge", Some("0"))]), "<ridge is 0> is not possible: they differ");
}
