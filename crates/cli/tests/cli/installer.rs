//! The installer of the archive that `./release` makes.

use crate::common::{Folder, program};
use std::path::Path;
use std::process::Command;

/// An archive as it is unpacked: the installer beside the program, its pages and completions.
fn archive() -> Folder {
    let folder = Folder::new();
    let installer = Path::new(env!("CARGO_MANIFEST_DIR")).join("install");
    std::fs::copy(installer, folder.path("install")).expect("copies with its permissions");
    std::fs::copy(program(), folder.path("dshap")).expect("copies");
    for name in ["man", "completions"] {
        std::fs::create_dir(folder.path(name)).expect("makes a folder");
    }
    for (file, line) in [
        ("man/dshap.1", "dshap man"),
        ("man/dshap-value.1", "dshap man value"),
        ("completions/dshap.bash", "dshap completions bash"),
        ("completions/_dshap", "dshap completions zsh"),
        ("completions/dshap.fish", "dshap completions fish"),
    ] {
        folder.write(file, folder.stdout(line));
    }
    folder
}

#[test]
fn the_program_its_pages_and_its_completions_are_installed() {
    let (archive, to) = (archive(), Folder::new());
    let install = || {
        let mut command = Command::new(archive.path("install"));
        command.args(["--prefix", &to.path("a b").display().to_string()]);
        command.output().expect("the installer starts")
    };
    // Twice: the second time it replaces what is there.
    for _ in 0..2 {
        let output = install();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(text.starts_with("installed dshap ") && text.contains("to PATH"), "{text}");
    }
    for (file, from) in [
        ("share/man/man1/dshap.1", "man/dshap.1"),
        ("share/man/man1/dshap-value.1", "man/dshap-value.1"),
        ("share/bash-completion/completions/dshap", "completions/dshap.bash"),
        ("share/zsh/site-functions/_dshap", "completions/_dshap"),
        ("share/fish/vendor_completions.d/dshap.fish", "completions/dshap.fish"),
    ] {
        assert_eq!(to.bytes(&format!("a b/{file}")), archive.bytes(from), "{file}");
    }
    let version = Command::new(to.path("a b/bin/dshap")).arg("--version").output().expect("it runs");
    assert!(String::from_utf8_lossy(&version.stdout).starts_with("dshap "));
}

#[test]
fn an_unknown_argument_installs_nothing() {
    let archive = archive();
    let output = Command::new(archive.path("install")).arg("--to").output().expect("the installer starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("usage: ./install"));
}
