//! One pass over a table, watched, with reading and arithmetic side by side.

use dshap_io::{Batch, ScanOptions, Source};
use dshap_models::{Error, Observer, Stage};
use dshap_table::Wanted;

/// What a pass reads.
pub(crate) struct Scan<'a> {
    pub(crate) source: &'a Source,
    pub(crate) wanted: &'a [Wanted],
    pub(crate) options: ScanOptions,
    pub(crate) stage: Stage,
    pub(crate) observer: &'a dyn Observer,
}

impl Scan<'_> {
    /// Hands over batch after batch while the next one is read; returns the
    /// number of rows seen, those that were skipped included.
    pub(crate) fn run(self, mut each: impl FnMut(Batch) -> Result<(), Error> + Send) -> Result<u64, Error> {
        let Scan { source, wanted, options, stage, observer } = self;
        observer.begin(stage, source.n_bytes_known().unwrap_or(0));
        let mut n_rows = options.skip_rows;
        let mut scan = source.scan(wanted, options)?;
        let mut next = scan.next().transpose()?;
        while let Some(batch) = next {
            if observer.is_interrupted() {
                return Err(Error::Interrupted);
            }
            n_rows += batch.rows.num_rows() as u64;
            let bytes = batch.bytes_read;
            let (done, read) = rayon::join(|| each(batch), || scan.next().transpose());
            done?;
            observer.advance(bytes, n_rows);
            next = read?;
        }
        observer.end();
        Ok(n_rows)
    }
}
