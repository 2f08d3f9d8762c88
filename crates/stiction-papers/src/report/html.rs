//! The page: self-contained, readable in light and dark.

use std::fmt::Write;

use super::svg::escaped;
use super::terminal::is_number;
use super::{FileNames, PAPERS, Report, Run, SUMMARY, Tally, number, style, svg};
use crate::{Cell, Claim, Table, Verdict};

/// The whole page.
pub(super) fn page(report: &Report, names: &[FileNames]) -> String {
    let mut body = String::new();
    head(&mut body, report);
    for (key, name, title) in PAPERS {
        let runs: Vec<_> = report.experiments.iter().zip(names).filter(|(run, _)| run.paper() == key).collect();
        if runs.is_empty() {
            continue;
        }
        let _ = write!(body, "<h2 id=\"{key}\">{name}</h2>\n<p class=\"soft\">{}</p>\n", escaped(title));
        for (run, names) in runs {
            section(&mut body, run, names);
        }
    }
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, \
         initial-scale=1\">\n<title>Stiction: the papers' experiments</title>\n<style>\n{}{}</style>\n</head>\n<body>\n<div \
         class=\"frame\">\n{}<main>\n{body}</main>\n</div>\n</body>\n</html>\n",
        style::page(),
        style::figures(),
        navigation(report)
    )
}

/// Where a run stands on the page.
fn anchor(run: &Run) -> String {
    run.name.replace('/', "-")
}

/// The runs of a paper.
fn of<'a>(report: &'a Report, paper: &'a str) -> impl Iterator<Item = &'a Run> {
    report.experiments.iter().filter(move |run| run.paper() == paper)
}

fn navigation(report: &Report) -> String {
    let mut text = String::from("<nav>\n<strong><a href=\"#top\">Overview</a></strong>\n");
    for (key, name, _) in PAPERS.into_iter().filter(|(key, _, _)| of(report, key).next().is_some()) {
        let _ = write!(text, "<strong><a href=\"#{key}\">{name}</a></strong>\n<ul>\n");
        for run in of(report, key) {
            let _ = writeln!(text, "<li><a href=\"#{}\">{}</a></li>", anchor(run), escaped(&run.title));
        }
        text += "</ul>\n";
    }
    text + "</nav>\n"
}

/// Title, machine, and the claims of each paper at a glance.
fn head(body: &mut String, report: &Report) {
    let form = if report.quick { "quick form: a few trials of each" } else { "full form" };
    let _ = write!(
        body,
        "<h1 id=\"top\">The papers' experiments</h1>\n<p class=\"soft\">{form}, {} s. Every claim stands with the \
         rule that its verdict follows from; one that says \"our bar\" is not the paper's. The claims are also in <a \
         href=\"{SUMMARY}\">{SUMMARY}</a>.</p>\n",
        number::short(report.seconds(), 3)
    );
    *body += "<table class=\"machine\">\n";
    for (name, value) in report.machine.lines() {
        let _ = writeln!(body, "<tr><th>{name}</th><td>{}</td></tr>", escaped(&value));
    }
    *body += "</table>\n";
    for error in &report.failed {
        let _ = writeln!(body, "<p class=\"not\">Could not be run: {}</p>", escaped(&error.to_string()));
    }
    if report.tally().total() == 0 {
        return;
    }
    *body += "<h3>Claims</h3>\n<div class=\"wide\"><table>\n<tr><th>experiment</th><th class=\"number\">holds</th><th class=\"number\">better</th>\
              <th class=\"number\">does not hold</th></tr>\n";
    let mut line = |name: &str, tally: Tally| {
        let not = if tally.does_not_hold > 0 { "number not" } else { "number" };
        let _ = writeln!(
            body,
            "<tr><td>{name}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"{not}\">{}</td></tr>",
            tally.holds, tally.better, tally.does_not_hold
        );
    };
    for run in report.experiments.iter().filter(|run| !run.section.claims.is_empty()) {
        line(&format!("<a href=\"#{}\">{}</a>", anchor(run), escaped(&run.title)), Tally::of([run]));
    }
    line("<strong>all</strong>", report.tally());
    *body += "</table></div>\n";
}

fn section(body: &mut String, run: &Run, names: &FileNames) {
    let _ = writeln!(body, "<h3 id=\"{}\">{}</h3>", anchor(run), escaped(&run.title));
    for paragraph in &run.section.text {
        let _ = writeln!(body, "<p>{}</p>", marked(paragraph));
    }
    claims(body, &run.section.claims);
    for (one, name) in run.section.tables.iter().zip(&names.tables) {
        table(body, one, name);
    }
    for (plot, name) in run.section.plots.iter().zip(&names.plots) {
        figure(body, &plot.title, &svg::plot(plot), &[(name, "svg"), (name, "csv")]);
    }
    for (picture, name) in run.section.pictures.iter().zip(&names.pictures) {
        figure(body, &picture.title, &picture.svg, &[(name, "svg")]);
    }
    let _ = writeln!(body, "<p class=\"soft\">{} s</p>", number::short(run.seconds, 3));
}

/// Text with `code` between backticks; an odd one out stays as it is.
fn marked(text: &str) -> String {
    let parts: Vec<String> = text.split('`').map(escaped).collect();
    let whole = if parts.len() % 2 == 1 { parts.len() } else { parts.len() - 1 };
    let mut marked = String::new();
    for (k, part) in parts.iter().enumerate() {
        match k {
            k if k >= whole => marked += &format!("`{part}"),
            k if k % 2 == 1 => marked += &format!("<code>{part}</code>"),
            _ => marked += part,
        }
    }
    marked
}

fn claims(body: &mut String, claims: &[Claim]) {
    if claims.is_empty() {
        return;
    }
    *body += "<div class=\"wide\"><table class=\"claims\">\n<tr><th>claim <span class=\"unit\">(and its rule)</span></th><th>paper</th>\
              <th>ours</th><th>verdict</th></tr>\n";
    for claim in claims {
        let (class, word, why) = match &claim.verdict {
            Verdict::Holds => ("holds", "holds", ""),
            Verdict::Better => ("better", "better", ""),
            Verdict::DoesNotHold(why) => ("not", "does not hold", why.as_str()),
        };
        let why = if why.is_empty() { String::new() } else { format!(": {}", escaped(why)) };
        let (what, theirs, ours) = (escaped(&claim.claim), escaped(&claim.paper_value), escaped(&claim.ours));
        let what = format!("{what}<div class=\"rule\">{}</div>", escaped(&claim.rule));
        let verdict = format!("<span class=\"{class}\">{word}</span>{why}");
        let _ = writeln!(
            body,
            "<tr><td>{what}</td><td data-label=\"paper\">{theirs}</td><td data-label=\"ours\">{ours}</td><td>{verdict}</td></tr>"
        );
    }
    *body += "</table></div>\n";
}

fn files(links: &[(&String, &str)]) -> String {
    let links: Vec<String> =
        links.iter().map(|(name, ending)| format!("<a href=\"{name}.{ending}\">{ending}</a>")).collect();
    format!("<span class=\"files\">{}</span>", links.join(" · "))
}

fn table(body: &mut String, table: &Table, name: &String) {
    let _ = writeln!(
        body,
        "<p class=\"caption\">{}{}</p>\n<div class=\"wide\"><table>",
        escaped(&table.title),
        files(&[(name, "csv")])
    );
    let classes: Vec<&str> =
        (0..table.columns.len()).map(|k| if is_number(table, k) { " class=\"number\"" } else { "" }).collect();
    *body += "<tr>";
    for (column, class) in table.columns.iter().zip(&classes) {
        let unit = if column.unit.is_empty() {
            String::new()
        } else {
            format!(" <span class=\"unit\">({})</span>", escaped(&column.unit))
        };
        let _ = write!(body, "<th{class}>{}{unit}</th>", escaped(&column.name));
    }
    *body += "</tr>\n";
    for row in &table.rows {
        *body += "<tr>";
        for (cell, class) in row.iter().zip(&classes) {
            let _ = write!(body, "<td{}>{}</td>", words(cell).unwrap_or(class), escaped(&number::cell(cell)));
        }
        *body += "</tr>\n";
    }
    *body += "</table></div>\n";
}

/// How a cell of words is set: short ones on one line, long ones not too narrow.
fn words(cell: &Cell) -> Option<&'static str> {
    const SHORT: usize = 40;
    match cell {
        Cell::Text(text) if text.chars().count() <= SHORT => Some(" class=\"word\""),
        Cell::Text(_) => Some(" class=\"words\""),
        _ => None,
    }
}

fn figure(body: &mut String, title: &str, svg: &str, links: &[(&String, &str)]) {
    let _ = writeln!(body, "<figure>\n<figcaption>{}{}</figcaption>\n{svg}\n</figure>", escaped(title), files(links));
}
