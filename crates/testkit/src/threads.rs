//! Work on a stated number of threads.

/// What `work` gives on `n` threads of rayon.
pub fn on_threads<T: Send>(n: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(n).build().expect("threads can be started").install(work)
}
