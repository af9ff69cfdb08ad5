//! Monte Carlo estimates compared in their own standard errors.

/// Two-sided false-alarm rate 6e-7: a run of 20 000 comparisons fails by chance
/// about once in eighty.
pub const MAX_ABS_Z: f64 = 5.0;

/// The seeds a statistical test runs with: one by default, or as many as the
/// environment variable `DSHAP_SEEDS` says, as in a nightly run. `base` keeps tests
/// from sharing draws.
#[track_caller]
pub fn seeds(base: u64) -> impl Iterator<Item = u64> {
    let n: u64 = match std::env::var("DSHAP_SEEDS") {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("DSHAP_SEEDS is `{text}`, not a number")),
        Err(_) => 1,
    };
    (0..n).map(move |i| base + 1_000_003 * i)
}

/// A running mean and its standard error.
#[derive(Debug, Clone, Copy, Default)]
pub struct MeanEstimate {
    n: f64,
    mean: f64,
    sum_sq: f64,
}

impl MeanEstimate {
    /// Adds one draw (Welford).
    pub fn push(&mut self, draw: f64) {
        self.n += 1.0;
        let delta = draw - self.mean;
        self.mean += delta / self.n;
        self.sum_sq += delta * (draw - self.mean);
    }

    /// The mean.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// The standard deviation of one draw.
    pub fn std_dev(&self) -> f64 {
        (self.sum_sq / (self.n - 1.0)).sqrt()
    }

    /// The standard error of the mean.
    pub fn std_error(&self) -> f64 {
        (self.sum_sq / (self.n - 1.0) / self.n).sqrt()
    }

    /// How many standard errors the mean is above `exact`.
    pub fn z(&self, exact: f64) -> f64 {
        (self.mean - exact) / self.std_error()
    }

    /// Fails if the mean is further than [`MAX_ABS_Z`] standard errors away.
    #[track_caller]
    pub fn assert_agrees(&self, exact: f64, what: &str) {
        let z = self.z(exact);
        assert!(
            z.abs() < MAX_ABS_Z,
            "{what}: z = {z:.1}, mean {:.4e} ± {:.1e}, exact {exact:.4e}",
            self.mean,
            self.std_error()
        );
    }

    /// Fails unless `wrong` is rejected by at least `least` standard errors:
    /// proof that the test could have failed.
    #[track_caller]
    pub fn assert_rejects(&self, wrong: f64, least: f64, what: &str) {
        let z = self.z(wrong);
        assert!(z.abs() > least, "{what}: only {z:.1} standard errors away, the test has no power");
    }
}

/// The density of `N(0, var)` at `x`.
pub fn normal_density(x: f64, var: f64) -> f64 {
    (-x * x / (2.0 * var)).exp() / (2.0 * std::f64::consts::PI * var).sqrt()
}
