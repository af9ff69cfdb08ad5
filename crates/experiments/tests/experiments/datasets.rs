//! Datasets: made, found, downloaded from a server on this machine, parsed and
//! checked.

use crate::common::{data, library};
use dshap_experiments::dataset::{self, Entry, Format, Origin, Request, all, find};
use dshap_experiments::{Error, Table};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Cursor, Write};
use std::net::TcpListener;
use std::path::Path;

/// Gets a dataset and ignores messages.
fn get(name: &str, request: &Request, cache: Option<&Path>) -> Result<Table, Error> {
    dataset::get(name, request, cache, &|_| (), &|_| ())
}

/// Serves files on the loopback interface, on its own port, until the test ends;
/// everything else is 404.
fn serve(files: HashMap<String, Vec<u8>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let Ok(mut connection) = connection else { return };
            let mut request = String::new();
            let mut reader = BufReader::new(connection.try_clone().unwrap());
            reader.read_line(&mut request).unwrap();
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|n| n > 2) {
                line.clear();
            }
            let path = request.split(' ').nth(1).unwrap_or_default();
            let (status, body) = match files.get(path) {
                Some(body) => ("200 OK", body.as_slice()),
                None => ("404 Not Found", b"".as_slice()),
            };
            let head =
                format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            // A client that hung up does not matter.
            let _ = connection.write_all(head.as_bytes()).and_then(|()| connection.write_all(body));
        }
    });
    address
}

fn zipped(member: &str, text: &str) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    archive.start_file("readme.names", options).unwrap();
    archive.write_all(b"about it").unwrap();
    archive.start_file(format!("folder/{member}"), options).unwrap();
    archive.write_all(text.as_bytes()).unwrap();
    archive.finish().unwrap().into_inner()
}

/// A table as its source writes it: the inverse of [`Format::parse`].
fn as_published(format: Format, folder: &Path, entry: &Entry) -> String {
    let read = |file: &str| Table::read(&folder.join(file)).unwrap();
    let own = || {
        let found = ["csv", "parquet"].map(|extension| folder.join(format!("{}.{extension}", entry.file)));
        Table::read(found.iter().find(|path| path.is_file()).unwrap()).unwrap()
    };
    let lines = |table: &Table, line: &dyn Fn(&[f64], f64) -> String| -> String {
        let row = |i: usize| -> Vec<f64> { table.x.row(i).iter().copied().collect() };
        table.y.iter().enumerate().map(|(i, y)| line(&row(i), *y) + "\n").collect()
    };
    let joined = |cells: &[f64], separator: &str| {
        cells.iter().map(|cell| cell.to_string()).collect::<Vec<_>>().join(separator)
    };
    let sparse = |table: &Table| {
        lines(table, &|x, y| {
            let cells = x.iter().enumerate().filter(|(_, cell)| **cell != 0.0);
            let cells: Vec<String> = cells.map(|(j, cell)| format!("{}:{cell}", j + 1)).collect();
            format!("{} {} ", if y == 1.0 { "+1" } else { "-1" }, cells.join(" "))
        })
    };
    match format {
        Format::Numbers { separator, has_header, positive, .. } => {
            let header = if has_header { "\"some\";\"names\"\n" } else { "" };
            // Skin is labelled 1 and 2.
            let label = |y: f64| positive.map_or(y, |positive| positive - 1.0 + y);
            let separator = if separator == ' ' { "\t".to_string() } else { separator.to_string() };
            let line = |x: &[f64], y: f64| joined(&[x, &[label(y)]].concat(), &separator);
            header.to_string() + &lines(&own(), &line)
        }
        Format::Abalone => lines(&own(), &|x, y| {
            let sex = ["F", "I", "M"][x[7..].iter().position(|one| *one == 1.0).unwrap()];
            format!("{sex},{},{y}", joined(&x[..7], ","))
        }),
        Format::Wdbc => {
            lines(&own(), &|x, y| format!("842302,{},{}", if y == 1.0 { "B" } else { "M" }, joined(x, ",")))
        }
        Format::Digits => lines(&own(), &|x, y| joined(&[x, &[y]].concat(), ",")),
        Format::Libsvm { .. } => sparse(&own()),
        Format::AustralianAuthors => sparse(&read("australian_scale.csv")),
        Format::PimaScaled | Format::PimaScaledAuthors => {
            lines(&read("pima_diabetes.csv"), &|x, y| joined(&[x, &[y]].concat(), ","))
        }
    }
}

/// Every dataset that can be downloaded, served as its source publishes it, becomes
/// the table that the published experiments use.
#[test]
fn downloads_become_the_known_tables_and_are_kept() {
    let Some(folder) = data() else { return };
    for entry in all() {
        let Origin::Download { member, format, .. } = entry.origin else { continue };
        let text = as_published(format, &folder, entry);
        let files = HashMap::from([
            ("/archive.zip".to_string(), zipped(member, &text)),
            ("/plain".to_string(), text.into_bytes()),
        ]);
        let address = serve(files);
        let cache = tempfile::tempdir().unwrap();
        for path in ["/archive.zip", "/plain"] {
            let request = Request { from: Some(address.clone() + path), ..Request::default() };
            let table = get(entry.name, &request, Some(cache.path())).unwrap();
            assert_eq!(table.digest(), entry.digest, "{}", entry.name);
        }
        // The second time the network is not used: there is none here.
        let kept = get(entry.name, &Request::default(), Some(cache.path())).unwrap();
        assert_eq!(kept.digest(), entry.digest);
    }
}

#[test]
fn the_catalogue_knows_the_tables_of_the_folder() {
    let Some(folder) = data() else { return };
    let mut wrong = Vec::new();
    for entry in all().iter().filter(|entry| !matches!(entry.origin, Origin::Made { .. })) {
        let table = library(&folder).read(entry.name).unwrap();
        if table.digest() != entry.digest {
            wrong.push((entry.name, table.digest()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn another_table_is_refused_by_default_and_never_kept() {
    let address = serve(HashMap::from([("/a".into(), b"M,1,2,3,4,5,6,7,8\nF,1,2,3,4,5,6,7,9\n".to_vec())]));
    let cache = tempfile::tempdir().unwrap();
    let from = Some(format!("{address}/a"));
    let refused = get("abalone", &Request { from: from.clone(), ..Request::default() }, Some(cache.path()));
    assert!(matches!(refused, Err(Error::Digest { dataset: "abalone", .. })));
    let request = Request { from, unchecked: true, ..Request::default() };
    let table = get("abalone", &request, Some(cache.path())).unwrap();
    assert_eq!((table.y.clone(), table.x[(0, 9)], table.x[(1, 7)]), (vec![8.0, 9.0], 1.0, 1.0));
    assert_eq!(std::fs::read_dir(cache.path()).unwrap().count(), 0);
}

#[test]
fn missing_and_garbled_downloads_are_reported() {
    let address = serve(HashMap::from([
        ("/page".to_string(), b"<html>moved</html>".to_vec()),
        ("/zip".to_string(), zipped("other.data", "1,2\n")),
        ("/bytes".to_string(), vec![0xff, 0xfe, 0x00]),
    ]));
    let get = |path: &str| {
        let request = Request { from: Some(format!("{address}{path}")), ..Request::default() };
        get("abalone", &request, None).unwrap_err()
    };
    let missing = get("/none");
    assert!(matches!(&missing, Error::Download { reason, .. } if reason.contains("404")), "{missing}");
    for path in ["/page", "/zip", "/bytes"] {
        let garbled = get(path);
        assert!(matches!(garbled, Error::Format { dataset: "abalone", .. }), "{garbled}");
    }
    assert!(get("/zip").to_string().contains("the archive has no `abalone.data`"));
}

#[test]
fn a_file_can_be_the_source() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wine.csv");
    std::fs::write(&path, "\"a\";\"b\"\n7;0.27;0.36;20.7;0.045;45;170;1.001;3;0.45;8.8;6\n").unwrap();
    let request = Request { from: Some(path.display().to_string()), unchecked: true, ..Request::default() };
    let table = get("whitewine", &request, None).unwrap();
    assert_eq!((table.names[3].as_str(), table.x[(0, 3)], table.y[0]), ("residual_sugar", 20.7, 6.0));
}

#[test]
fn made_sets_follow_their_seed_and_images_are_not_offered() {
    let request = |seed| Request { rows: Some(50), dim: Some(4), seed, ..Request::default() };
    let one = get("gaussian-r", &request(1), None).unwrap();
    assert_eq!((one.x.nrows(), one.x.ncols()), (50, 4));
    assert_eq!(one.digest(), get("gaussian-r", &request(1), None).unwrap().digest());
    assert_ne!(one.digest(), get("gaussian-r", &request(2), None).unwrap().digest());
    assert!(matches!(get("mnist", &request(1), None), Err(Error::NotOffered { .. })));
    assert!(matches!(find("iris"), Err(Error::UnknownDataset { .. })));
}

#[test]
fn a_table_that_was_written_can_be_the_source() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("abalone.data");
    std::fs::write(&path, "M,1,2,3,4,5,6,7,8\n").unwrap();
    let request = |path: &Path| Request {
        from: Some(path.display().to_string()),
        unchecked: true,
        ..Request::default()
    };
    let table = get("abalone", &request(&path), None).unwrap();
    let written = folder.path().join("written.csv");
    table.write(&written).unwrap();
    assert_eq!(get("abalone", &request(&written), None).unwrap().digest(), table.digest());
    let wine = get("whitewine", &request(&written), None);
    assert!(matches!(wine, Err(Error::Format { .. })), "{wine:?}");
}
