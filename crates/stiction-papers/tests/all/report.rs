//! Reports: every number of a section reaches its files, the files are well formed, and odd contents do no harm.

use std::path::{Path, PathBuf};

use stiction_papers::report::{PAGE, Report, Run, SUMMARY, prepare};
use stiction_papers::{
    Axis, Cell, Claim, Column, Effort, Experiment, ExperimentError, Picture, Plot, Progress, Section, Series, Silent,
    Table, Verdict,
};

fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report").join(name);
    let _ = std::fs::remove_dir_all(&path);
    path
}

fn axis(label: &str, log: bool) -> Axis {
    Axis { label: label.into(), log }
}

fn line(name: &str, paper: bool, points: Vec<(f64, f64)>) -> Series {
    Series { name: name.into(), points, paper, ..Series::default() }
}

fn powers(name: &str, paper: bool, factor: f64, exponent: f64) -> Series {
    line(name, paper, (3..10).map(|k| 2f64.powi(k)).map(|n| (n, factor * n.powf(exponent))).collect())
}

fn growth() -> Plot {
    Plot {
        name: "growth".into(),
        title: "Time of a solve against the number of contacts".into(),
        x: axis("contacts", true),
        y: axis("time of a solve (ms)", true),
        series: vec![
            powers("standard", false, 2e-4, 3.0),
            powers("structural", false, 1e-3, 2.0),
            powers("reduced", false, 2e-3, 1.05),
            powers("standard (paper)", true, 2e-2, 2.9),
            powers("structural (paper)", true, 4e-2, 1.8),
            powers("reduced (paper)", true, 8e-2, 1.1),
        ],
    }
}

fn motion() -> Plot {
    let wave =
        |a: f64| (0..20_000).map(move |k| k as f64 * 5e-4).map(move |t| (t, a * (7.0 * t).sin() * (-0.2 * t).exp()));
    let gap = |p: (f64, f64)| if p.0 > 6.0 && p.0 < 7.0 { (p.0, f64::NAN) } else { p };
    let cloud = (0..80).map(|k| (f64::from(k) * 0.125, f64::from(k * 37 % 80) / 20.0 - 2.0)).collect();
    Plot {
        name: "motion".into(),
        title: "Roll & pitch of the trunk, <as published>".into(),
        x: axis("time (s)", false),
        y: axis("angle (degrees)", false),
        series: vec![
            line("roll", false, wave(3.0).collect()),
            line("pitch", false, wave(1.0).map(gap).collect()),
            Series { scattered: true, ..line("impacts", false, cloud) },
        ],
    }
}

fn table() -> Table {
    let column = |name: &str, unit: &str| Column { name: name.into(), unit: unit.into() };
    Table {
        name: "times".into(),
        title: "Times of ten steps".into(),
        columns: vec![column("model", ""), column("time", "ms"), column("pivots", ""), column("paper", "s")],
        rows: vec![
            vec![Cell::Text("no-slip, \"PPM\"".into()), Cell::Number(0.1 + 0.2), Cell::Count(7), Cell::Number(1.67)],
            vec![Cell::Text("Stewart–Trinkle".into()), Cell::Number(1.5e-7), Cell::Count(1234), Cell::Empty],
        ],
    }
}

const PICTURE: &str = r#"<svg viewBox="0 0 300 120"><rect class="ink fill-1" x="10" y="10" width="80" height="80"/>
<circle class="ink fill-2" cx="150" cy="50" r="40"/><path class="soft" d="M0 100H300"/><text class="ink" x="220" y="60">ground</text></svg>"#;

fn section() -> Section {
    let claim = |claim: &str, verdict| Claim {
        claim: claim.into(),
        paper_value: "6.6".into(),
        ours: "> 40".into(),
        rule: "at least 6.6".into(),
        verdict,
    };
    Section {
        text: vec!["What was done, with <angle> brackets & more.".into(), "`a < b` of `code`, and an odd `one".into()],
        tables: vec![table()],
        plots: vec![growth(), motion()],
        pictures: vec![Picture { name: "picture".into(), title: "Two bodies".into(), svg: PICTURE.into() }],
        claims: vec![
            claim("It is faster than the other by a wide margin on every problem", Verdict::Better),
            claim("It holds", Verdict::Holds),
            claim("It flies", Verdict::DoesNotHold("gravity is > 0".into())),
        ],
    }
}

struct Sample(&'static str, Result<Section, &'static str>);

impl Experiment for Sample {
    fn name(&self) -> &'static str {
        self.0
    }
    fn title(&self) -> &'static str {
        "Growth with the number of contacts"
    }
    fn run(&self, _: &Effort, progress: &mut dyn Progress) -> Result<Section, ExperimentError> {
        progress.report(0, 1, "all of it");
        self.1.clone().map_err(|message| ExperimentError { experiment: self.0, message: message.into() })
    }
}

fn report(sections: &[(&'static str, Section)]) -> Report {
    let mut report = Report::new(&Effort { quick: true });
    for (name, section) in sections {
        report.run(&Sample(name, Ok(section.clone())), &mut Silent);
    }
    report
}

fn written(report: &Report, name: &str) -> PathBuf {
    let folder = folder(name);
    prepare(&folder).unwrap();
    report.write(&folder).unwrap();
    folder
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

#[test]
fn every_file_is_there_and_holds_the_data() {
    let report = report(&[("lloyd/growth", section()), ("baraff/growth", section())]);
    let folder = written(&report, "whole");
    for paper in ["lloyd", "baraff"] {
        let times = read(&folder, &format!("{paper}/times.csv"));
        let lines: Vec<&str> = times.split_terminator("\r\n").collect();
        assert_eq!(lines[0], "model,time (ms),pivots,paper (s)");
        assert_eq!(lines[1], "\"no-slip, \"\"PPM\"\"\",0.30000000000000004,7,1.67");
        assert_eq!(lines[2], "Stewart–Trinkle,0.00000015,1234,");
        let motion = read(&folder, &format!("{paper}/motion.csv"));
        assert_eq!(motion.lines().count(), 1 + 2 * 20_000 + 80);
        for name in ["growth", "motion", "picture"] {
            let svg = read(&folder, &format!("{paper}/{name}.svg"));
            let document = roxmltree::Document::parse(&svg).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(document.root_element().tag_name().namespace(), Some("http://www.w3.org/2000/svg"));
            assert!(svg.contains("prefers-color-scheme: dark"));
        }
    }
    let names: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names.len(), 4, "only the page, the summary and two folders: {names:?}");
}

#[test]
fn the_summary_is_a_list_of_claims() {
    let report = report(&[("lloyd/growth", section())]);
    let folder = written(&report, "summary");
    let claims: serde_json::Value = serde_json::from_str(&read(&folder, SUMMARY)).unwrap();
    let claims = claims.as_array().unwrap();
    assert_eq!(claims.len(), 3);
    assert_eq!((&claims[0]["paper"], &claims[0]["experiment"]), (&"lloyd".into(), &"growth".into()));
    assert_eq!((&claims[0]["paper_value"], &claims[0]["ours"]), (&"6.6".into(), &"> 40".into()));
    assert_eq!(claims[0]["rule"], "at least 6.6");
    let verdicts: Vec<_> = claims.iter().map(|c| c["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["better", "holds", "does not hold: gravity is > 0"]);
    assert_eq!(report.tally().to_string(), "3 claims: 1 hold, 1 better, 1 not");
}

#[test]
fn the_page_is_whole_and_alone() {
    let mut report = report(&[("lloyd/growth", section())]);
    report.run(&Sample("lloyd/broken", Err("no scene <x>")), &mut Silent);
    let page = read(&written(&report, "page"), PAGE);
    // A strict parser takes all that follows the head, whose tags HTML leaves open.
    let (_, body) = page.split_once("<body>").unwrap();
    let body = format!("<body>{}", body.trim_end().trim_end_matches("</html>"));
    let document = roxmltree::Document::parse(&body).unwrap_or_else(|e| panic!("{e}"));
    let links = document.descendants().filter_map(|node| node.attribute("href"));
    let ids: Vec<&str> = document.descendants().filter_map(|node| node.attribute("id")).collect();
    for link in links {
        let found = match link.strip_prefix('#') {
            Some(id) => ids.contains(&id),
            None => report.files().iter().any(|(name, _)| name == link),
        };
        assert!(found, "{link} leads nowhere");
    }
    let text: String = document.descendants().filter_map(|node| node.text()).collect();
    for part in
        ["with <angle> brackets & more", "gravity is > 0", "lloyd/broken: no scene <x>", "1.5e−7", "> 40", "rustc"]
    {
        assert!(text.contains(part), "{part} is missing");
    }
    assert!(!page.contains("http:") && !page.contains("https:") && !page.contains("src="), "nothing from elsewhere");
    assert_eq!(document.descendants().filter(|node| node.has_tag_name("svg")).count(), 3);
}

/// Centres of the circles in the SVG of a plot.
fn circles(svg: &str) -> Vec<(f64, f64)> {
    let document = roxmltree::Document::parse(svg).unwrap();
    let number = |node: &roxmltree::Node<'_, '_>, name| node.attribute(name).unwrap().parse::<f64>().unwrap();
    let circles = document.descendants().filter(|node| node.tag_name().name() == "circle");
    circles.map(|c| (number(&c, "cx"), number(&c, "cy"))).collect()
}

#[test]
fn marks_stand_where_the_numbers_are() {
    let plot = Plot {
        x: axis("n", true),
        y: axis("y", false),
        series: vec![line("a", false, vec![(1.0, 0.0), (10.0, 5.0), (100.0, 10.0), (-1.0, 3.0)])],
        name: "line".into(),
        ..Plot::default()
    };
    let report = report(&[("lloyd/growth", Section { plots: vec![plot], ..Section::default() })]);
    let files = report.files();
    let svg = &files.iter().find(|(name, _)| name == "lloyd/line.svg").unwrap().1;
    let marks = circles(svg);
    assert_eq!(marks.len(), 4, "three points and the legend: {marks:?}");
    let (a, b, c) = (marks[0], marks[1], marks[2]);
    assert!((b.0 - a.0 - (c.0 - b.0)).abs() < 0.11 && c.0 - a.0 > 500.0, "decades are equally wide: {marks:?}");
    assert!((b.1 - a.1 - (c.1 - b.1)).abs() < 0.11 && a.1 - c.1 > 300.0, "greater is higher: {marks:?}");
    assert!(marks[3].1 > a.1 + 50.0, "the legend is below the axis: {marks:?}");
    assert!(svg.contains("1 point at or below zero"));
}

#[test]
fn odd_contents_do_no_harm() {
    let odd = Plot {
        series: vec![
            line("a", false, vec![]),
            line("", true, vec![(f64::NAN, 1.0), (f64::INFINITY, 2.0), (1e308, -1e308), (-1e308, 1e308)]),
            line(&"very long name ".repeat(30), false, vec![(0.0, 0.0)]),
            line("\u{0}\u{1b}control", false, (0..10_000).map(|k| (f64::from(k), f64::from(k % 3) - 1.0)).collect()),
        ],
        ..Plot::default()
    };
    let logarithmic = Plot { x: axis("", true), y: axis("", true), ..odd.clone() };
    let ragged = Table { rows: vec![vec![], vec![Cell::Count(1); 9]], ..table() };
    let pictures = ["", "<svg", "<svg/>", "no picture"].map(|svg| Picture { svg: svg.into(), ..Picture::default() });
    let section = Section {
        plots: vec![odd, logarithmic, Plot::default()],
        tables: vec![ragged, Table::default(), table()],
        pictures: pictures.into(),
        ..Section::default()
    };
    let report = report(&[("lloyd/../growth", section.clone()), ("none", section)]);
    let files = report.files();
    let mut names: Vec<&String> = files.iter().map(|(name, _)| name).collect();
    assert!(names.iter().all(|name| !name.contains("..") && !name.starts_with('/')), "{names:?}");
    for (name, svg) in files.iter().filter(|(name, svg)| name.ends_with(".svg") && svg.contains("viewBox")) {
        roxmltree::Document::parse(svg).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(!svg.contains("NaN") && !svg.contains("inf "), "{name}");
    }
    names.sort();
    names.dedup();
    assert_eq!(names.len(), files.len(), "no file is written twice");
    for run in &report.experiments {
        assert!(Report::terminal(run).contains("Times of ten steps"));
    }
}

#[test]
fn the_terminal_shows_tables_and_claims() {
    let run = Run { name: "lloyd/x".into(), title: "X".into(), section: section(), seconds: 1.25 };
    let text = Report::terminal(&run);
    assert!(text.contains("  model            time (ms)  pivots  paper (s)\n"), "{text}");
    assert!(text.contains("  Stewart–Trinkle     1.5e−7    1234\n"), "{text}");
    assert!(text.contains("NOT     It flies\n        paper: 6.6; ours: > 40\n        rule: at least 6.6\n        why: gravity is > 0\n"), "{text}");
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error_that_names_it() {
    let folder = folder("blocked");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("file"), "").unwrap();
    let error = prepare(&folder.join("file/deeper")).unwrap_err().to_string();
    assert!(error.contains("deeper: cannot be written"), "{error}");
    let report = report(&[("lloyd/growth", section())]);
    std::fs::write(folder.join("lloyd"), "a file where a folder must be").unwrap();
    let error = report.write(&folder).unwrap_err().to_string();
    assert!(error.contains("cannot be written"), "{error}");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2, "nothing is left behind");
}
