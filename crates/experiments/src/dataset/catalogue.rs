//! The datasets there are: where they come from, and which table they are.

use super::parse::{AUSTRALIAN, Format, PIMA};
use crate::{Error, Table, gaussian_c, gaussian_r};

/// A dataset.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// What its file is called in folders of tables, without the extension.
    pub file: &'static str,
    /// Where it comes from.
    pub origin: Origin,
    /// The digest of its table ([`Table::digest`]); empty if it is made.
    pub digest: &'static str,
}

/// Where a dataset comes from.
#[derive(Debug, Clone)]
pub enum Origin {
    /// Drawn from a seed.
    Made {
        /// Makes it: rows, features, seed.
        make: fn(usize, usize, u64) -> Table,
        /// Features, unless told.
        dim: usize,
    },
    /// Downloaded.
    Download {
        /// The public address.
        address: &'static str,
        /// The file within, if that is an archive.
        member: &'static str,
        /// What the text looks like.
        format: Format,
    },
    /// Only from a folder of tables.
    NotOffered {
        /// Why it cannot be downloaded.
        why: &'static str,
    },
}

/// The dataset called `name`; underscores and file names will do, too.
///
/// # Errors
///
/// [`Error::UnknownDataset`].
pub fn find(name: &str) -> Result<&'static Entry, Error> {
    let found = all().iter().find(|entry| entry.name == name || entry.file == name);
    found.ok_or_else(|| Error::UnknownDataset { name: name.into() })
}

/// All datasets.
pub fn all() -> &'static [Entry] {
    &ENTRIES
}

const FEATURES: &str = "its features were computed from images with a neural network and are not published";
const LIBSVM: &str = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/australian_scale";
const PIMA_ADDRESS: &str =
    "https://raw.githubusercontent.com/jbrownlee/Datasets/master/pima-indians-diabetes.data.csv";
const PIMA_FILE: &str = "pima-indians-diabetes.data.csv";

const fn plain(separator: char, has_header: bool, names: &'static [&'static str]) -> Format {
    Format::Numbers { separator, has_header, names, positive: None }
}

static ENTRIES: [Entry; 18] = [
    Entry {
        name: "gaussian-r",
        about: "made: x ~ N(0, I), y = x·β + noise",
        file: "gaussian-r",
        origin: Origin::Made { make: gaussian_r, dim: 10 },
        digest: "",
    },
    Entry {
        name: "gaussian-c",
        about: "made: x ~ N(0, I), P(y = 1) = 1/(1 + exp(−2x₁))",
        file: "gaussian-c",
        origin: Origin::Made { make: gaussian_c, dim: 3 },
        digest: "",
    },
    Entry {
        name: "abalone",
        about: "UCI Abalone: age in rings, 4177 rows",
        file: "abalone",
        origin: Origin::Download {
            address: "https://archive.ics.uci.edu/static/public/1/abalone.zip",
            member: "abalone.data",
            format: Format::Abalone,
        },
        digest: "",
    },
    Entry {
        name: "airfoil",
        about: "UCI Airfoil Self-Noise: sound pressure, 1503 rows",
        file: "airfoil",
        origin: Origin::Download {
            address: "https://archive.ics.uci.edu/static/public/291/airfoil+self+noise.zip",
            member: "airfoil_self_noise.dat",
            format: plain(
                ' ',
                false,
                &[
                    "frequency",
                    "angle_of_attack",
                    "chord_length",
                    "free_stream_velocity",
                    "displacement_thickness",
                ],
            ),
        },
        digest: "",
    },
    Entry {
        name: "whitewine",
        about: "UCI Wine Quality, white: quality, 4898 rows",
        file: "whitewine",
        origin: Origin::Download {
            address: "https://archive.ics.uci.edu/static/public/186/wine+quality.zip",
            member: "winequality-white.csv",
            format: plain(
                ';',
                true,
                &[
                    "fixed_acidity",
                    "volatile_acidity",
                    "citric_acid",
                    "residual_sugar",
                    "chlorides",
                    "free_sulfur_dioxide",
                    "total_sulfur_dioxide",
                    "density",
                    "ph",
                    "sulphates",
                    "alcohol",
                ],
            ),
        },
        digest: "",
    },
    Entry {
        name: "skin-nonskin",
        about: "UCI Skin Segmentation: 1 for other than skin, 245057 rows",
        file: "skin_nonskin",
        origin: Origin::Download {
            address: "https://archive.ics.uci.edu/static/public/229/skin+segmentation.zip",
            member: "Skin_NonSkin.txt",
            format: Format::Numbers {
                separator: ' ',
                has_header: false,
                names: &["b", "g", "r"],
                positive: Some(2.0),
            },
        },
        digest: "",
    },
    Entry {
        name: "diabetes-efron",
        about: "Efron et al. 2004: progression of diabetes, 442 rows",
        file: "diabetes_efron",
        origin: Origin::Download {
            address: "https://www4.stat.ncsu.edu/~boos/var.select/diabetes.tab.txt",
            member: "diabetes.tab.txt",
            format: plain(' ', true, &["age", "sex", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6"]),
        },
        digest: "",
    },
    Entry {
        name: "pima-diabetes",
        about: "Pima Indians Diabetes: 1 for tested positive, 768 rows",
        file: "pima_diabetes",
        origin: Origin::Download {
            address: PIMA_ADDRESS,
            member: PIMA_FILE,
            format: plain(',', false, PIMA),
        },
        digest: "",
    },
    Entry {
        name: "diabetes-scale",
        about: "LIBSVM diabetes_scale, recomputed from Pima: 1 for tested negative, 768 rows",
        file: "diabetes_scale",
        origin: Origin::Download { address: PIMA_ADDRESS, member: PIMA_FILE, format: Format::PimaScaled },
        digest: "",
    },
    Entry {
        name: "diabetes-scale-authors",
        about: "the same as the paper's code reads it: 759 rows",
        file: "diabetes_scale_authors_759",
        origin: Origin::Download {
            address: PIMA_ADDRESS,
            member: PIMA_FILE,
            format: Format::PimaScaledAuthors,
        },
        digest: "",
    },
    Entry {
        name: "australian",
        about: "UCI Statlog Australian Credit, unscaled, 690 rows",
        file: "australian",
        origin: Origin::Download {
            address: "https://archive.ics.uci.edu/static/public/143/statlog+australian+credit+approval.zip",
            member: "australian.dat",
            format: plain(' ', false, AUSTRALIAN),
        },
        digest: "",
    },
    Entry {
        name: "australian-scale",
        about: "LIBSVM australian_scale, 690 rows",
        file: "australian_scale",
        origin: Origin::Download {
            address: LIBSVM,
            member: "australian_scale",
            format: Format::Libsvm { names: AUSTRALIAN, positive: 1.0 },
        },
        digest: "",
    },
    Entry {
        name: "australian-scale-authors",
        about: "the same as the paper's code reads it: 449 rows, columns not aligned",
        file: "australian_scale_authors_449",
        origin: Origin::Download {
            address: LIBSVM,
            member: "australian_scale",
            format: Format::AustralianAuthors,
        },
        digest: "",
    },
    Entry {
        name: "breast-cancer",
        about: "UCI Breast Cancer Wisconsin (Diagnostic): 1 for benign, 569 rows",
        file: "breast_cancer",
        origin: Origin::Download {
            address: "https://archive.ics.uci.edu/static/public/17/breast+cancer+wisconsin+diagnostic.zip",
            member: "wdbc.data",
            format: Format::Wdbc,
        },
        digest: "",
    },
    Entry {
        name: "digits",
        about: "UCI Optical Digits, test part: ten classes, 1797 rows",
        file: "digits",
        origin: Origin::Download {
            address: "https://archive.ics.uci.edu/static/public/80/optical+recognition+of+handwritten+digits.zip",
            member: "optdigits.tes",
            format: Format::Digits,
        },
        digest: "",
    },
    Entry {
        name: "mnist",
        about: "MNIST: 32 principal components of network features; 1 for digits below 5, 70000 rows",
        file: "mnist_effnetlite0_pca32",
        origin: Origin::NotOffered { why: FEATURES },
        digest: "",
    },
    Entry {
        name: "fashion-mnist",
        about: "Fashion-MNIST, likewise",
        file: "fashion_mnist_effnetlite0_pca32",
        origin: Origin::NotOffered { why: FEATURES },
        digest: "",
    },
    Entry {
        name: "cifar10",
        about: "CIFAR10, likewise, 60000 rows",
        file: "cifar10_effnetlite0_pca32",
        origin: Origin::NotOffered { why: FEATURES },
        digest: "",
    },
];
