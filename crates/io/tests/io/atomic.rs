//! Files that appear whole or not at all, from the outside.
#![cfg(unix)]

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use crate::common::{folder, listing};
use dshap_io::{AtomicFile, Error, Guard};

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

#[test]
fn what_a_killed_run_left_is_removed_and_what_a_live_one_writes_is_not() {
    let folder = folder();
    let live_path = folder.path().join("live.csv");
    let mut live = AtomicFile::create(&live_path).unwrap();
    live.write_all(b"being written").unwrap();
    live.flush().unwrap();
    let hour_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    let make_old = |path: &Path| {
        fs::File::options().write(true).open(path).unwrap().set_modified(hour_ago).unwrap();
    };
    for name in listing(folder.path()) {
        make_old(&folder.path().join(name));
    }
    for name in [".old.csv.abc.dshap-part", ".young.csv.abc.dshap-part", ".film.part", "old.dshap-part"] {
        fs::write(folder.path().join(name), "half").unwrap();
        if !name.contains("young") {
            make_old(&folder.path().join(name));
        }
    }
    AtomicFile::create(&folder.path().join("out.csv")).unwrap().commit().unwrap();
    let left = listing(folder.path());
    assert!(!left.contains(&".old.csv.abc.dshap-part".to_owned()), "{left:?}");
    for name in [".young.csv.abc.dshap-part", ".film.part", "old.dshap-part", "out.csv"] {
        assert!(left.contains(&name.to_owned()), "{name} is gone: {left:?}");
    }
    live.commit().unwrap();
    assert_eq!(fs::read(live_path).unwrap(), b"being written");
}

#[test]
fn a_file_that_changed_since_is_not_replaced() {
    let folder = folder();
    let path = folder.path().join("v.dshap");
    let write = |guard: Option<Guard>, text: &str| {
        let mut file = AtomicFile::create(&path).unwrap();
        if let Some(guard) = guard {
            file = file.unless_changed_since(guard);
        }
        file.write_all(text.as_bytes()).unwrap();
        file.commit()
    };
    let none = Guard::of(&path).unwrap();
    write(Some(none), "one").unwrap();
    let error = write(Some(none), "two").unwrap_err();
    assert!(matches!(error, Error::Replaced { .. }), "{error}");
    let one = Guard::of(&path).unwrap();
    write(None, "three").unwrap();
    let error = write(Some(one), "four").unwrap_err();
    assert!(matches!(error, Error::Replaced { .. }), "{error}");
    let three = Guard::of(&path).unwrap();
    write(Some(three), "five").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "five");
    assert_eq!(listing(folder.path()), ["v.dshap"]);
}

#[test]
fn a_link_is_replaced_where_it_must_not_be_followed() {
    let folder = folder();
    fs::write(folder.path().join("thesis.txt"), "old").unwrap();
    let link = folder.path().join("state");
    symlink("thesis.txt", &link).unwrap();
    let mut file = AtomicFile::in_place_of(&link).unwrap();
    file.write_all(b"new").unwrap();
    file.commit().unwrap();
    assert_eq!(fs::read_to_string(folder.path().join("thesis.txt")).unwrap(), "old");
    assert_eq!(fs::read_to_string(&link).unwrap(), "new");
    assert!(!fs::symlink_metadata(&link).unwrap().is_symlink());
}
