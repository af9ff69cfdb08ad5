//! Flags of `dshap formula`.

use super::flags::words;
use clap::{Args as ClapArgs, Subcommand};
use dshap_catalogue::Value;
use dshap_catalogue::options::{FORMAT, KERNEL, Q};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum FormulaCommand {
    /// Theorem 2: the value of a row from its distance and its residual.
    #[command(after_help = "\
Prints gain, simple (Theorem 2's constant), full (given C) and printed (the sum as
printed, off by one); a form that does not exist for these sizes is empty.

Examples:
  dshap formula regression --p 10 --q 50 --m 1000 --d2 12 --e2 2 --sigma2 1
  dshap formula regression --p 10 --q 50 --m 1000 --d2 12 --e2 2 --sigma2 1 --b 20 --tau 14 --c -0.3
  dshap formula regression --p 10 --q 50 --m 1000 --d2 12 --e2 2 --sigma2 1 --intercept refitted
  dshap formula regression --cases cases.csv     columns p,q,m,d2,e2,sigma2; if wanted C_lin,
                           semivalue, b, tau, c and intercept, where an empty cell is the plain form")]
    Regression(RegressionFormulaArgs),
    /// Corollary 4: the value of a labelled row from its distance and its probability.
    #[command(after_help = "\
Prints gain, its parts potential and penalty, and simple (Theorem 2's constant). p counts
the intercept, d2 is the `dist_sq` and prob the `prob` of `dshap value --reference`, y is 1
for the positive label. Rows valued against each other have the residual of a fit without
the row, which does not follow from `prob`.

Examples:
  dshap formula classification --p 5 --q 20 --m 500 --d2 6 --prob 0.9 --y 0
  dshap formula classification --cases cases.csv     columns p,q,m,d2,prob,y")]
    Classification(ClassificationFormulaArgs),
    /// Theorem 3: bounds on the value of a row for sub-Gaussian inputs.
    #[command(after_help = "\
Prints lower and upper (valid), printed_lower and printed_upper (the paper to the letter),
authors_lower and authors_upper (as in its authors' program); these four bound nothing, and
the paper has c = C = 1. Sums are complete, unless `--stop` ends these four as Algorithm 4
does. A bound that says nothing is infinite.

Examples:
  dshap formula bounds --p 10 --q 80 --m 1000 --d2 12 --e2 2 --sigma2 1
  dshap formula bounds --p 10 --q 80 --m 1000 --d2 12 --e2 2 --sigma2 1 --c 1 --stop 0.005
  dshap formula bounds --cases cases.csv
                       columns p,q,m,gamma,lambda_min,lambda_max,c,C,d2,e2,sigma2; if wanted stop")]
    Bounds(BoundFormulaArgs),
    /// Theorem 5: the value of rows, or of a set, for a kernel density estimate.
    #[command(after_help = "\
Columns are used as given: none is scaled or dropped. All columns of the reference are
features. The output has the columns of the points and value, without the constant that all
rows (all sets of one size) share.

Examples:
  dshap formula density --reference r.csv --points p.csv --bandwidth 0.5 --m 100 --kernel gaussian
  dshap formula density --reference r.csv --points p.csv --bandwidth 0.5 --m 100 --as-set")]
    Density(DensityFormulaArgs),
    /// Theorem 5: how much sets of one size count, A(n, m) and B(n, m).
    #[command(after_help = "\
Prints A, the weight of the set's own squared error, and B, the weight of what it adds to
other sets. With a reference, also c_den_less_p2: the C_den of the paper's appendix C.3 less
the integral of the squared density, with which `dshap formula density` is the whole value.

Examples:
  dshap formula weights --n 2 --m 100
  dshap formula weights --n 2 --m 100 --reference r.csv --bandwidth 0.5")]
    Weights(WeightsFormulaArgs),
    /// Example 1: the value of two points as a set, and of each.
    #[command(after_help = "\
A uniform kernel on uniform data on [0, 1]. Prints the value of both points as one set, the
value of each, and synergy, which is the first less the other two.

Example:
  dshap formula pair --z1 0.4 --z2 0.45 --h 0.1 --m 100 --c-den 0.2")]
    Pair(PairFormulaArgs),
    /// Example 2: when two points are worth more together than apart.
    #[command(after_help = "\
A uniform kernel on uniform data on [0, 1]. Prints the smallest distance at which two points
have synergy (empty if none do, 0 if all do) and two probabilities that two points have it:
probability, where the forms hold, and printed, as in the paper's Figure 3, whose points come
closer to the ends of [0, 1] than its forms allow.

Example:
  dshap formula synergy --h 0.1 --m 100 --c-den 0.2")]
    Synergy(SynergyFormulaArgs),
}

/// What every case has, unless there is a table of cases.
#[derive(Debug, Clone, Copy, ClapArgs)]
pub(crate) struct CaseSizes {
    /// Design columns; in classification with the intercept.
    #[arg(long, required_unless_present = "cases", allow_negative_numbers = true)]
    pub(crate) p: Option<f64>,
    /// Smallest set whose utility counts.
    #[arg(long, required_unless_present = "cases", allow_negative_numbers = true)]
    pub(crate) q: Option<f64>,
    /// Largest set size, the row included.
    #[arg(long, required_unless_present = "cases", allow_negative_numbers = true)]
    pub(crate) m: Option<f64>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct DensityFormulaArgs {
    /// Rows that stand for the distribution of the data.
    #[arg(long, value_name = "FILE")]
    pub(crate) reference: String,
    /// Rows to value, with the columns of the reference.
    #[arg(long, value_name = "FILE")]
    pub(crate) points: String,
    /// Width of the kernel.
    #[arg(long, value_name = "H", allow_negative_numbers = true)]
    pub(crate) bandwidth: f64,
    /// Largest set size, the row included.
    #[arg(long, value_parser = parse_size)]
    pub(crate) m: usize,
    /// The kernel.
    #[arg(long, value_parser = words(&KERNEL), default_value = "gaussian")]
    pub(crate) kernel: String,
    /// Value the points as one set.
    #[arg(long)]
    pub(crate) as_set: bool,
    #[command(flatten)]
    pub(crate) to: DestinationArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct WeightsFormulaArgs {
    /// Rows of the set to be valued.
    #[arg(long, value_parser = parse_size)]
    pub(crate) n: usize,
    /// Largest set size, one row of the set included.
    #[arg(long, value_parser = parse_size)]
    pub(crate) m: usize,
    /// Rows that stand for the distribution of the data; all columns are features.
    #[arg(long, value_name = "FILE", requires = "bandwidth")]
    pub(crate) reference: Option<String>,
    /// Width of the kernel.
    #[arg(long, value_name = "H", requires = "reference", allow_negative_numbers = true)]
    pub(crate) bandwidth: Option<f64>,
    /// The kernel.
    #[arg(long, value_parser = words(&KERNEL), default_value = "gaussian")]
    pub(crate) kernel: String,
    #[command(flatten)]
    pub(crate) to: DestinationArgs,
}

/// The setting of Examples 1 and 2.
#[derive(Debug, Clone, Copy, ClapArgs)]
pub(crate) struct UniformArgs {
    /// Width of the kernel, above 0 and up to a half.
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) h: f64,
    /// Largest set size, the points included.
    #[arg(long, value_parser = parse_size)]
    pub(crate) m: usize,
    /// The utility of a perfect estimate.
    #[arg(long, value_name = "C", allow_negative_numbers = true)]
    pub(crate) c_den: f64,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct PairFormulaArgs {
    /// The first point, from h/2 to 1 − h/2.
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) z1: f64,
    /// The second point.
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) z2: f64,
    #[command(flatten)]
    pub(crate) example: UniformArgs,
    /// Count what the ends of [0, 1] take from a point that is closer to them than h; as printed, they
    /// take nothing.
    #[arg(long)]
    pub(crate) border: bool,
    #[command(flatten)]
    pub(crate) to: DestinationArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct SynergyFormulaArgs {
    #[command(flatten)]
    pub(crate) example: UniformArgs,
    /// Include points near the ends of [0, 1] in the probability. Without it, points are in [h, 1 − h],
    /// where the printed forms hold.
    #[arg(long)]
    pub(crate) border: bool,
    #[command(flatten)]
    pub(crate) to: DestinationArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct BoundFormulaArgs {
    /// A table of cases with columns p, q, m, gamma, lambda_min, lambda_max, c, C, d2, e2, sigma2 and
    /// optionally stop.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["p", "q", "m", "d2", "e2", "sigma2", "stop"])]
    pub(crate) cases: Option<String>,
    #[command(flatten)]
    pub(crate) sizes: CaseSizes,
    /// Ridge penalty.
    #[arg(long, default_value_t = 0.0, allow_negative_numbers = true)]
    pub(crate) gamma: f64,
    /// Smallest eigenvalue of the inverse covariance.
    #[arg(long, default_value_t = 1.0, allow_negative_numbers = true)]
    pub(crate) lambda_min: f64,
    /// Largest eigenvalue of the inverse covariance.
    #[arg(long, default_value_t = 1.0, allow_negative_numbers = true)]
    pub(crate) lambda_max: f64,
    /// Constant c of the tail of the eigenvalues.
    #[arg(long, default_value_t = 0.5, allow_negative_numbers = true)]
    pub(crate) c: f64,
    /// Constant C of the edge of the eigenvalues.
    #[arg(long = "C", default_value_t = 1.0, allow_negative_numbers = true)]
    pub(crate) edge: f64,
    /// Stop the sums as printed, and those of the authors' program, at a term below this share of them:
    /// Algorithm 4, which has 0.005.
    #[arg(long, value_name = "RHO", allow_negative_numbers = true)]
    pub(crate) stop: Option<f64>,
    /// Squared Mahalanobis distance.
    #[arg(long, required_unless_present = "cases", allow_negative_numbers = true)]
    pub(crate) d2: Option<f64>,
    /// Squared residual.
    #[arg(long, required_unless_present = "cases", allow_negative_numbers = true)]
    pub(crate) e2: Option<f64>,
    /// Noise variance.
    #[arg(long, required_unless_present = "cases", allow_negative_numbers = true)]
    pub(crate) sigma2: Option<f64>,
    #[command(flatten)]
    pub(crate) to: DestinationArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ClassificationFormulaArgs {
    /// A table of cases with columns p, q, m, d2, prob, y.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["p", "q", "m", "d2", "prob", "y"])]
    pub(crate) cases: Option<String>,
    #[command(flatten)]
    pub(crate) sizes: CaseSizes,
    /// Squared Mahalanobis distance on the working variables.
    #[arg(long, required_unless_present = "cases", allow_negative_numbers = true)]
    pub(crate) d2: Option<f64>,
    /// Probability of label 1 under the fit, between 0 and 1.
    #[arg(long, required_unless_present = "cases", allow_negative_numbers = true)]
    pub(crate) prob: Option<f64>,
    /// The label, 0 or 1.
    #[arg(long, required_unless_present = "cases", allow_negative_numbers = true)]
    pub(crate) y: Option<f64>,
    #[command(flatten)]
    pub(crate) to: DestinationArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct RegressionFormulaArgs {
    /// A table of cases with columns p, q, m, d2, e2, sigma2 and optionally C_lin, semivalue, b, tau,
    /// c and intercept.
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "p", "q", "m", "d2", "e2", "sigma2", "c_lin", "semivalue", "b", "tau", "c", "intercept",
    ])]
    pub(crate) cases: Option<String>,
    #[command(flatten)]
    pub(crate) sizes: CaseSizes,
    /// Squared Mahalanobis distance.
    #[arg(long, required_unless_present = "cases", allow_negative_numbers = true)]
    pub(crate) d2: Option<f64>,
    /// Squared residual.
    #[arg(long, required_unless_present = "cases", allow_negative_numbers = true)]
    pub(crate) e2: Option<f64>,
    /// Noise variance.
    #[arg(long, required_unless_present = "cases", allow_negative_numbers = true)]
    pub(crate) sigma2: Option<f64>,
    /// C of the full value.
    #[arg(long, value_name = "C", allow_negative_numbers = true)]
    pub(crate) c_lin: Option<f64>,
    /// How much each set size counts: shapley, banzhaf, beta:A,B or at-m. It changes gain; the other
    /// forms are left empty unless it is shapley.
    #[arg(long, value_name = "WHICH")]
    pub(crate) semivalue: Option<String>,
    /// For test rows: xᵀΣ⁻¹Σ_tΣ⁻¹x, how much they vary along the row. It changes gain; the other
    /// forms are left empty. Default: d2.
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) b: Option<f64>,
    /// For test rows: the trace of Σ⁻¹Σ_t. Default: p.
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) tau: Option<f64>,
    /// For test rows: the row's residual times r_tᵀΣ⁻¹x, where r_t is the mean of x_t times the
    /// residual of a test row. Default: 0.
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) c: Option<f64>,
    /// Whether the model's intercept is known, or refitted on each set (exactly; p counts features
    /// only). It changes gain; the other forms are left empty if it is refitted.
    #[arg(long, value_name = "WHICH", value_parser = ["known", "refitted"])]
    pub(crate) intercept: Option<String>,
    #[command(flatten)]
    pub(crate) to: DestinationArgs,
}

/// Where rows go.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Output")]
pub(crate) struct DestinationArgs {
    /// Write to a .csv, .json, .ndjson, .parquet, .arrow or .npy file; it appears whole or not at all.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Format of the output. Default: by the name of the file; a table on a terminal, CSV in a pipe.
    #[arg(long, value_name = "FORMAT", value_parser = words(&FORMAT))]
    pub(crate) format: Option<String>,
}

/// A set size.
fn parse_size(text: &str) -> Result<usize, String> {
    match Q.parse(text)? {
        Value::Count(size) => Ok(size as usize),
        _ => Err(format!("expected {}", Q.takes.expected())),
    }
}
