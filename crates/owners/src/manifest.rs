//! Receipts, and whether they are right.

use crate::payout::{Payout, PayoutRequest, payout_with};
use crate::report::Report;
use crate::request::OwnersRequest;
use crate::run::owners;
use crate::seal::digest_of;
use dshap::owners::Ties;
use dshap_catalogue::options::{EXPLAIN_TEST, SEGMENT};
use dshap_catalogue::{Given, Kind, Value, options};
use dshap_io::FileDigest;
use dshap_models::{Difference, Error, InputFile, Observer, OwnersFault, methods};
use dshap_run::Resources;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The version of the format. From 2 on, ties between owners depend on their values, too.
const FORMAT: u32 = 2;

/// The first format, which can still be verified.
const FIRST_FORMAT: u32 = 1;

/// Differences that are listed; more of them say nothing new.
pub const MOST_DIFFERENCES: usize = 50;

/// Numbers that differ by less were computed by another processor.
const SAME: f64 = 1e-9;

/// A receipt: what went in, how it was computed, and what came out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The version of dshap that wrote it.
    dshap: String,
    format: u32,
    /// What was computed: `owners` or `payout`.
    kind: String,
    /// The table, as it was named.
    table: Vec<String>,
    /// The method, if one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    method: Option<String>,
    /// The options that were given.
    options: BTreeMap<String, Json>,
    /// The seed, given or not.
    seed: u64,
    /// All files that were read, with digests.
    inputs: Vec<InputFile>,
    /// What came out.
    result: Json,
    /// SHA-256 of all of the above, in hexadecimal.
    #[serde(default)]
    digest: String,
}

impl Manifest {
    /// The receipt of what owners are worth.
    pub fn of_owners(request: &OwnersRequest, report: &Report) -> Self {
        let files = [Some(&report.rows), report.test.as_ref(), report.own.as_ref()];
        let inputs = files.into_iter().flatten().flatten().cloned().collect();
        let method = request.method.map(|method| method.name().to_string());
        // Another table, which is not part of the result.
        let given = request.given.clone().without(&EXPLAIN_TEST).without(&SEGMENT);
        Self::new("owners", &request.rows, method, &given, report.seed, inputs, json(report))
    }

    /// The receipt of a payout.
    pub fn of_payout(request: &PayoutRequest, found: &Payout) -> Self {
        let inputs = found.table.clone();
        Self::new("payout", &request.table, None, &request.given, found.seed, inputs, json(found))
    }

    fn new(
        kind: &str,
        table: &[String],
        method: Option<String>,
        given: &Given,
        seed: u64,
        inputs: Vec<InputFile>,
        result: Json,
    ) -> Self {
        let mut manifest = Self {
            dshap: env!("CARGO_PKG_VERSION").into(),
            format: FORMAT,
            kind: kind.into(),
            table: table.to_vec(),
            method,
            options: written(given),
            seed,
            inputs,
            result,
            digest: String::new(),
        };
        manifest.digest = manifest.own_digest();
        manifest
    }

    /// The digest of everything but the digest.
    fn own_digest(&self) -> String {
        digest_of(&json(&Self { digest: String::new(), ..self.clone() }))
    }

    /// As JSON, to be written to a file.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a receipt has nothing JSON cannot hold") + "\n"
    }

    /// Reads a receipt.
    ///
    /// # Errors
    ///
    /// [`Error::Io`], [`OwnersFault::BadManifest`].
    pub fn read(path: &Path) -> Result<Self, Error> {
        let file = path.display().to_string();
        let bytes =
            std::fs::read(path).map_err(|reason| dshap_io::Error::Read { file: file.clone(), reason })?;
        let bad = |what: String| OwnersFault::BadManifest { file: file.clone(), what };
        let manifest: Self = serde_json::from_slice(&bytes).map_err(|error| bad(error.to_string()))?;
        match manifest.format {
            FIRST_FORMAT..=FORMAT => Ok(manifest),
            later => Err(bad(format!("its format is {later}, and this dshap knows {FORMAT}")).into()),
        }
    }

    /// What was computed: `owners` or `payout`.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// Computes everything again and says what differs.
    ///
    /// # Errors
    ///
    /// What cannot be computed again.
    pub fn verify(&self, file: &Path, observer: &dyn Observer) -> Result<Vec<Difference>, Error> {
        let mut found = Vec::new();
        if self.own_digest() != self.digest {
            found.push(Difference::Receipt);
        }
        if self.dshap != env!("CARGO_PKG_VERSION") {
            found.push(Difference::Version { then: self.dshap.clone() });
        }
        let mut is_missing = false;
        for input in &self.inputs {
            match FileDigest::of_path(Path::new(&input.name)) {
                Err(_) => {
                    is_missing = true;
                    found.push(Difference::MissingFile { file: input.name.clone() });
                }
                Ok(now) if Some(&now.sha256) != input.sha256.as_ref() => {
                    found.push(Difference::ChangedFile { file: input.name.clone() });
                }
                Ok(_) => {}
            }
        }
        if is_missing {
            return Ok(found);
        }
        let bad = |what: String| OwnersFault::BadManifest { file: file.display().to_string(), what };
        let given = read_options(&self.options).map_err(bad)?;
        let now = match self.kind.as_str() {
            "payout" => {
                let request = PayoutRequest { table: self.table.clone(), given, outputs: Vec::new() };
                let ties = if self.format == FIRST_FORMAT { Ties::Names } else { Ties::Values };
                let now = match payout_with(&request, ties) {
                    // Its own digest is wrong, so that of the receipt is, too.
                    Err(Error::Owners(OwnersFault::Edited { .. })) if !found.is_empty() => return Ok(found),
                    now => now?,
                };
                if !now.is_sealed {
                    let file = self.table.first().cloned().unwrap_or_default();
                    found.push(Difference::Unsealed { file });
                }
                json(&now)
            }
            "owners" => {
                let unknown =
                    |name: &String| bad(format!("it names a method `{name}`, which does not exist"));
                let find = |name: &String| methods::find(name).ok_or_else(|| unknown(name));
                let request = OwnersRequest {
                    rows: self.table.clone(),
                    method: self.method.as_ref().map(find).transpose()?,
                    given,
                    outputs: Vec::new(),
                    resources: Resources::default(),
                    digests: true,
                };
                json(&owners(&request, observer, None)?)
            }
            other => return Err(bad(format!("it is about `{other}`")).into()),
        };
        let mut comparison = Comparison { later_says_more: self.format < FORMAT, found };
        comparison.compare(&self.result, &now, String::new());
        Ok(comparison.found)
    }
}

fn json(thing: &impl Serialize) -> Json {
    serde_json::to_value(thing).expect("a result has nothing JSON cannot hold")
}

/// Options as JSON, by name.
fn written(given: &Given) -> BTreeMap<String, Json> {
    let value = |value: &Value| match value {
        Value::On => Json::Bool(true),
        Value::Number(number) => Json::from(*number),
        Value::Count(count) => Json::from(*count),
        Value::Counts(counts) => Json::from(counts.as_slice()),
        Value::Word(word) => Json::from(word.as_str()),
        Value::List(names) => Json::from(names.as_slice()),
    };
    given.options().filter_map(|option| Some((option.name.into(), value(given.value(option)?)))).collect()
}

/// Options that were written, or what is wrong with them.
fn read_options(written: &BTreeMap<String, Json>) -> Result<Given, String> {
    let mut given = Given::new();
    for (name, json) in written {
        let option = options::find(name).ok_or_else(|| format!("it names an option `{name}`"))?;
        let value = match (option.takes, json) {
            (Kind::Switch, Json::Bool(true)) => Some(Value::On),
            (Kind::Counts { .. }, Json::Array(_)) => {
                serde_json::from_value(json.clone()).ok().map(Value::Counts)
            }
            (Kind::Count { .. } | Kind::Counts { .. } | Kind::Bytes, json) => json.as_u64().map(Value::Count),
            (_, Json::Number(number)) => number.as_f64().map(Value::Number),
            (_, Json::String(word)) => Some(Value::Word(word.clone())),
            (_, Json::Array(_)) => serde_json::from_value(json.clone()).ok().map(Value::List),
            _ => None,
        };
        let wrong = || format!("option `{name}` is {json}");
        given.set(option, value.ok_or_else(wrong)?).map_err(|_| wrong())?;
    }
    Ok(given)
}

/// Differences of two results.
struct Comparison {
    /// Whether the receipt is of an earlier format, so that it lacks what is found out since.
    later_says_more: bool,
    found: Vec<Difference>,
}

impl Comparison {
    /// Notes where two results differ.
    fn compare(&mut self, then: &Json, now: &Json, place: String) {
        if self.found.len() >= MOST_DIFFERENCES {
            return;
        }
        let inner = |name: &str| if place.is_empty() { name.to_string() } else { format!("{place}.{name}") };
        match (then, now) {
            (Json::Object(one), Json::Object(two)) => {
                let names: BTreeSet<&String> = one.keys().chain(two.keys()).collect();
                for name in names {
                    // The version is compared for itself.
                    let is_version = place.is_empty() && name == "version";
                    if is_version || self.later_says_more && !one.contains_key(name) {
                        continue;
                    }
                    let missing = Json::Null;
                    let [one, two] = [one, two].map(|object| object.get(name).unwrap_or(&missing));
                    self.compare(one, two, inner(name));
                }
            }
            (Json::Array(one), Json::Array(two)) if one.len() == two.len() => {
                for (i, (one, two)) in one.iter().zip(two).enumerate() {
                    let called = two["owner"].as_str().map_or_else(|| i.to_string(), String::from);
                    self.compare(one, two, inner(&called));
                }
            }
            (Json::Number(one), Json::Number(two)) if one.is_f64() || two.is_f64() => {
                let (Some(a), Some(b)) = (one.as_f64(), two.as_f64()) else { return };
                if (a - b).abs() > SAME * a.abs().max(b.abs()) {
                    self.differ(place, one, two);
                }
            }
            _ if then == now => {}
            _ => self.differ(place, then, now),
        }
    }

    fn differ(&mut self, place: String, then: &impl ToString, now: &impl ToString) {
        self.found.push(Difference::Result { place, then: then.to_string(), now: now.to_string() });
    }
}
