//! All datasets: where they come from, and which table they are.

use super::parse::{AUSTRALIAN, Format, PIMA};
use crate::{Error, Table, gaussian_c, gaussian_r};
use std::path::Path;

/// A dataset.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// The name of its file in folders of tables, without the extension.
    pub file: &'static str,
    /// Where it comes from.
    pub origin: Origin,
    /// The digest of its table ([`Table::digest`]); empty if it is made.
    pub digest: &'static str,
}

impl Entry {
    /// Reads a table as this dataset. The columns must be those of the dataset, in
    /// any order; the numbers may differ.
    ///
    /// # Errors
    ///
    /// As for [`Table::read`]; [`Error::WrongTable`] for other columns.
    pub fn read(&self, path: &Path) -> Result<Table, Error> {
        let table = Table::read(path)?;
        // Features that are not published have no known names.
        let Origin::Download { format, .. } = &self.origin else { return Ok(table) };
        let expected = format.names();
        let list = |names: &mut dyn Iterator<Item = &String>| {
            names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        };
        let missing = list(&mut expected.iter().filter(|name| !table.names.contains(name)));
        let unknown = list(&mut table.names.iter().filter(|name| !expected.contains(name)));
        let reason = match (missing.is_empty(), unknown.is_empty()) {
            (true, true) => return Ok(table),
            (false, true) => format!("it lacks {missing}"),
            (true, false) => format!("it also has {unknown}"),
            (false, false) => format!("it lacks {missing} and has {unknown}"),
        };
        let (n, found) = (expected.len(), table.names.len());
        let counts = match n == found {
            true => format!("`{}` has other features", self.name),
            false => format!("`{}` has {n} features, this table {found}", self.name),
        };
        Err(Error::WrongTable { file: path.display().to_string(), reason: format!("{counts}; {reason}") })
    }
}

/// Where a dataset comes from.
#[derive(Debug, Clone)]
pub enum Origin {
    /// Drawn from a seed.
    Made {
        /// Makes it: rows, features, seed.
        make: fn(usize, usize, u64) -> Table,
        /// Features by default.
        dim: usize,
    },
    /// Downloaded.
    Download {
        /// The public address.
        address: &'static str,
        /// The file within, if the address is an archive.
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

/// The dataset called `name`, which may also be its file name.
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
        digest: "bea8ca578bc35fa5fabe5bb1bee5e59b0d7ca0285c28e859465b40f82706163a",
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
        digest: "9e3ddadce2178b4e3c43ca0ffcfa78856ff6e17929c0245b340c6ee7fae6cee1",
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
        digest: "dcb61929445ae982ada262f0cf13aca58bbf7d516019780f40d1215478cfe5bb",
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
        digest: "68bfcd744ae42ff6c939ad43e2fbeefb23e78ea753869a54fa5029d6c6bfdb9b",
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
        digest: "b4d0c06272485b9815c62a113a77e79370255b2e2ad6dfcf6156c57c5ff91de8",
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
        digest: "1fd5a39e0afea6904661f1a91442fda82281929f6983d141a3fcf863237c90c7",
    },
    Entry {
        name: "diabetes-scale",
        about: "LIBSVM diabetes_scale, recomputed from Pima: 1 for tested negative, 768 rows",
        file: "diabetes_scale",
        origin: Origin::Download { address: PIMA_ADDRESS, member: PIMA_FILE, format: Format::PimaScaled },
        digest: "fdec7087ecc3efe789b9ff02be2f0207b7fb6705c47ae627f544dd6e295f7125",
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
        digest: "b9e91fc72348c2db1c9c36438cea9e370496c707fc125799115a5cfddf04d192",
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
        digest: "2f923845bbc68658ba1135784bed0b15ace5eb4f1985c617fccf6b46f539c712",
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
        digest: "d773cf43cdef928d97f8fb2ad1256f0032ed93de3ec696f990cd81d0146dc1b3",
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
        digest: "9e0949da00a49a671eee9316d2b7d864ca12f5264efbe9fc8a08487758f3293b",
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
        digest: "e991626d39b9223ca65abcfbb0dfc05675ad679d0ff7647e942a312b5c4bf737",
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
        digest: "e85f26b6f8735c49af313462b9a786316cfbd96476d1aeba14853a717ce9f54a",
    },
    Entry {
        name: "mnist",
        about: "MNIST: 32 principal components of network features; 1 for digits below 5, 70000 rows",
        file: "mnist_effnetlite0_pca32",
        origin: Origin::NotOffered { why: FEATURES },
        digest: "5cda18bc95843a729877552f4d1744e84c681172d8eee9938e26722bee55415b",
    },
    Entry {
        name: "fashion-mnist",
        about: "Fashion-MNIST, likewise",
        file: "fashion_mnist_effnetlite0_pca32",
        origin: Origin::NotOffered { why: FEATURES },
        digest: "cdc682db5247ca4f7b0b083da0b8efb1a32e223900e17890b4b2e3f688400726",
    },
    Entry {
        name: "cifar10",
        about: "CIFAR10, likewise, 60000 rows",
        file: "cifar10_effnetlite0_pca32",
        origin: Origin::NotOffered { why: FEATURES },
        digest: "001649ca967930deab94d5d5507936b1ec2476763643bb2ffa2da18c8c38380c",
    },
];
