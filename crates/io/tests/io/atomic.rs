//! Files that appear whole or not at all, from the outside.
#![cfg(unix)]

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use crate::common::{folder, listing};
use dshap_io::{AtomicFile, Error};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn an_older_file_stays_until_the_new_one_is_complete() {
    let folder = folder();
    let path = folder.path().join("out.csv");
    fs::write(&path, "old").unwrap();
    let mut file = AtomicFile::create(&path).unwrap();
    file.write_all(b"new").unwrap();
    file.flush().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    file.commit().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    assert_eq!(listing(folder.path()), ["out.csv"]);
}

#[test]
fn dropping_leaves_the_folder_as_it_was() {
    let folder = folder();
    let path = folder.path().join("out.csv");
    let mut file = AtomicFile::create(&path).unwrap();
    file.write_all(b"half").unwrap();
    drop(file);
    assert_eq!(listing(folder.path()), Vec::<String>::new());
}

#[test]
fn permissions_are_those_of_any_new_file_or_of_the_one_replaced() {
    let folder = folder();
    let ordinary = folder.path().join("ordinary");
    fs::write(&ordinary, "").unwrap();
    let path = folder.path().join("out.csv");
    AtomicFile::create(&path).unwrap().commit().unwrap();
    assert_eq!(mode(&path), mode(&ordinary));

    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    AtomicFile::create(&path).unwrap().commit().unwrap();
    assert_eq!(mode(&path), 0o640);
}

#[test]
fn a_link_is_followed_even_to_a_file_that_does_not_exist() {
    let folder = folder();
    fs::create_dir(folder.path().join("deep")).unwrap();
    let link = folder.path().join("link.csv");
    symlink("deep/out.csv", &link).unwrap();
    for text in ["one", "two"] {
        let mut file = AtomicFile::create(&link).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file.commit().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        let target = folder.path().join("deep/out.csv");
        assert_eq!(fs::read_to_string(target).unwrap(), text);
    }
    let circle = folder.path().join("circle");
    symlink("circle", &circle).unwrap();
    let error = AtomicFile::create(&circle).unwrap_err();
    assert!(error.to_string().contains("symbolic links"), "{error}");
}

#[test]
fn a_missing_folder_is_named() {
    let folder = folder();
    let path = folder.path().join("no/such/out.csv");
    let error = AtomicFile::create(&path).unwrap_err();
    let missing = folder.path().join("no/such").display().to_string();
    assert!(matches!(&error, Error::NoFolder { folder, .. } if *folder == missing), "{error}");
    assert!(matches!(&error, Error::NoFolder { folder, .. } if *folder == missing));
}

#[test]
fn a_folder_is_not_a_file() {
    let folder = folder();
    let error = AtomicFile::create(folder.path()).unwrap_err();
    assert!(error.to_string().ends_with(": is a directory"), "{error}");
}

#[test]
fn a_device_is_written_to_and_not_replaced() {
    let mut file = AtomicFile::create(Path::new("/dev/null")).unwrap();
    file.write_all(b"gone").unwrap();
    file.commit().unwrap();
    use std::os::unix::fs::FileTypeExt;
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_device_says_so_at_commit() {
    let mut file = AtomicFile::create(Path::new("/dev/full")).unwrap();
    file.write_all(b"too much").unwrap();
    let error = file.commit().unwrap_err();
    assert_eq!(error.to_string(), "cannot write `/dev/full`: no space left on device");
}
