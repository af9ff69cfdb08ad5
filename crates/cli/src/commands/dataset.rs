//! `dshap dataset`.

use super::requests;
use crate::args::DatasetArgs;
use crate::failure::Failure;
use crate::table::visible;
use dshap_experiments::dataset::{Origin, Request, all, find, get, user_cache};

pub(crate) fn run(args: &DatasetArgs) -> Result<(), Failure> {
    let Some(name) = args.name.as_deref().filter(|_| !args.list) else {
        let names: String =
            all().iter().map(|entry| format!("{:<26}{}\n", entry.name, entry.about)).collect();
        return crate::print(&names);
    };
    let failed = |error| Failure::experiment(format!("cannot get dataset `{name}`"), &error);
    refuse_ignored(name, args)?;
    if let Some(path) = &args.output {
        requests::format_by_name(path)?;
    }
    let request = Request {
        from: args.from.clone(),
        unchecked: args.unchecked,
        rows: args.rows.map(|rows| rows as usize),
        dim: args.features.map(|features| features as usize),
        seed: args.seed.unwrap_or(0),
    };
    let say = |what: &str| eprintln!("{}", visible(what));
    let doubt = |what: &str| eprintln!("warning: {}", visible(what));
    let table = get(name, &request, user_cache().as_deref(), &say, &doubt).map_err(failed)?;
    if let Some(path) = &args.output {
        return table.write(path).map_err(failed);
    }
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    table.write_to(&mut out).and_then(|()| std::io::Write::flush(&mut out)).map_err(Failure::output)
}

/// Refuses options that the dataset would ignore.
fn refuse_ignored(name: &str, args: &DatasetArgs) -> Result<(), Failure> {
    let entry = find(name).map_err(|error| Failure::experiment("", &error))?;
    let is_made = matches!(entry.origin, Origin::Made { .. });
    let made = "goes only with datasets that are made";
    let fetched = "goes only with datasets that are downloaded";
    let given = [
        ("--rows", args.rows.is_some() && !is_made, made),
        ("--features", args.features.is_some() && !is_made, made),
        ("--seed", args.seed.is_some() && !is_made, made),
        ("--from", args.from.is_some() && is_made, fetched),
        ("--unchecked", args.unchecked && is_made, fetched),
    ];
    match given.into_iter().find(|(_, given, _)| *given) {
        Some((flag, _, why)) => Err(Failure::usage(format!("`{flag}` {why}; `{name}` is not one"))),
        None => Ok(()),
    }
}
