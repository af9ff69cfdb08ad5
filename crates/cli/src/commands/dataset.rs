//! `dshap dataset`.

use crate::args::DatasetArgs;
use crate::failure::Failure;
use crate::table::visible;
use dshap_experiments::dataset::{Origin, Request, all, find, get, user_cache};
use dshap_io::Format;

pub(crate) fn run(args: &DatasetArgs) -> Result<(), Failure> {
    let Some(name) = args.name.as_deref().filter(|_| !args.list) else {
        let names: String =
            all().iter().map(|entry| format!("{:<26}{}\n", entry.name, entry.about)).collect();
        return crate::print(&names);
    };
    let failed = |error| Failure::experiment(format!("cannot get dataset `{name}`"), &error);
    refuse_without_use(name, args)?;
    if let Some(path) = &args.output {
        Format::from_extension(path).map_err(|error| Failure::usage(error.to_string()))?;
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

/// Options that the dataset would not look at.
fn refuse_without_use(name: &str, args: &DatasetArgs) -> Result<(), Failure> {
    let entry = find(name).map_err(|error| Failure::experiment("", &error))?;
    let is_made = matches!(entry.origin, Origin::Made { .. });
    let made = "goes with datasets that are made only";
    let fetched = "goes with datasets that are downloaded only";
    let said = [
        ("--rows", args.rows.is_some() && !is_made, made),
        ("--features", args.features.is_some() && !is_made, made),
        ("--seed", args.seed.is_some() && !is_made, made),
        ("--from", args.from.is_some() && is_made, fetched),
        ("--unchecked", args.unchecked && is_made, fetched),
    ];
    match said.into_iter().find(|(_, given, _)| *given) {
        Some((flag, _, why)) => Err(Failure::usage(format!("`{flag}` {why}, and `{name}` is none"))),
        None => Ok(()),
    }
}
