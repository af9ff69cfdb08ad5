//! The page around the parts.

use crate::html::escaped;
use crate::{Report, sections};
use dshap_run::Error;

const STYLE: &str = include_str!("assets/page.css");
const SCRIPT: &str = include_str!("assets/page.js");

pub(crate) fn page(report: &Report) -> Result<String, Error> {
    let parts = [
        Some(sections::overview(report)),
        sections::doubts(report),
        sections::distribution(report),
        Some(sections::rows(report)?),
        sections::dependence(report),
        sections::owners(report),
        sections::sizes(report)?,
        Some(sections::reproduce(report)),
    ];
    let body: String = parts.into_iter().flatten().collect();
    let title = escaped(report.title);
    let facts = &report.summary.facts;
    let target = facts.target.as_ref().map(|target| format!(" of {}", escaped(target))).unwrap_or_default();
    Ok(format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>Values of {title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <header>\n<h1>Values of {title}</h1>\n<p>{}{target}, method {}</p>\n</header>\n\
         <main>\n{body}</main>\n\
         <footer><p>Made by dshap {}. This page needs no network.</p></footer>\n\
         <script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        escaped(facts.task),
        escaped(facts.method),
        escaped(report.summary.version),
    ))
}
