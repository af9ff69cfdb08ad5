//! The page around the parts.

use crate::html::escaped;
use crate::{Report, advice, checks, sections};
use dshap_run::Error;

const STYLE: &str = include_str!("assets/page.css");
const SCRIPT: &str = include_str!("assets/page.js");

pub(crate) fn page(report: &Report) -> Result<String, Error> {
    let parts = [
        Some(sections::overview(report)),
        checks::quality(report),
        sections::doubts(report),
        checks::assumptions(report),
        sections::distribution(report.rows, Some(&report.summary.values)),
        Some(sections::rows(report.rows, advice::reasons(report))?),
        sections::dependence(report.rows),
        advice::owners(report).or_else(|| sections::owners(report.rows)),
        sections::sizes(report)?,
        checks::sensitivity(report),
        advice::cleaning(report),
        advice::curves(report),
        Some(sections::reproduce(report)),
    ];
    let body: String = parts.into_iter().flatten().collect();
    let facts = &report.summary.facts;
    let target = facts.target.as_ref().map(|target| format!(" of {target}")).unwrap_or_default();
    let below = format!("{}{target}, method {}", facts.task, facts.method);
    Ok(around(report.title, &below, report.summary.version, &body))
}

/// The page around its parts.
pub(crate) fn around(title: &str, below: &str, version: &str, body: &str) -> String {
    let [title, below, version] = [title, below, version].map(escaped);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>Values of {title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <header>\n<h1>Values of {title}</h1>\n<p>{below}</p>\n</header>\n\
         <main>\n{body}</main>\n\
         <footer><p>Made by dshap {version}. This page needs no network.</p></footer>\n\
         <script>\n{SCRIPT}</script>\n</body>\n</html>\n"
    )
}
