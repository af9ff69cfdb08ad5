//! Alone in its process: it removes the unfinished files of all threads.

use std::io::Write;

use crate::common::{folder, listing};
use dshap_io::{AtomicFile, remove_unfinished_files};

#[test]
fn an_interrupted_program_can_remove_what_is_unfinished() {
    let folder = folder();
    AtomicFile::create(&folder.path().join("done")).unwrap().commit().unwrap();
    let mut file = AtomicFile::create(&folder.path().join("half")).unwrap();
    file.write_all(b"half").unwrap();
    assert_eq!(listing(folder.path()).len(), 2);
    remove_unfinished_files();
    assert_eq!(listing(folder.path()), ["done"]);
}
