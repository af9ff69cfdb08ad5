//! `dshap dataset`.

use crate::args::DatasetArgs;
use crate::failure::Failure;
use dshap_experiments::dataset::{Request, all, get, user_cache};

pub(crate) fn run(args: &DatasetArgs) -> Result<(), Failure> {
    let Some(name) = args.name.as_deref().filter(|_| !args.list) else {
        let names: String =
            all().iter().map(|entry| format!("{:<26}{}\n", entry.name, entry.about)).collect();
        return crate::print(&names);
    };
    let failed = |error| Failure::experiment(format!("cannot get dataset `{name}`"), &error);
    let request = Request {
        from: args.from.clone(),
        unchecked: args.unchecked,
        rows: args.rows.map(|rows| rows as usize),
        dim: args.features.map(|features| features as usize),
        seed: args.seed,
    };
    let table = get(name, &request, user_cache().as_deref()).map_err(failed)?;
    if let Some(path) = &args.output {
        return table.write(path).map_err(failed);
    }
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    table.write_to(&mut out).and_then(|()| std::io::Write::flush(&mut out)).map_err(Failure::output)
}
