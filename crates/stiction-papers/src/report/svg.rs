//! Plots as SVG.

use std::fmt::Write;

use super::scale::{Scale, Tick};
use super::{number, style};
use crate::{Picture, Plot, Series};

/// Width of a plot, and height of the part with the data.
const WIDTH: f64 = 720.0;
const DATA_HEIGHT: f64 = 340.0;
/// Width of a character of text, on the large side.
const CHARACTER: f64 = 6.9;
/// Size of text that [`CHARACTER`] goes with.
const FONT: f64 = 12.0;
/// Height of a line of text.
const LINE: f64 = 20.0;
/// More points than this are drawn without marks.
const MARKED: usize = 60;
/// More points than this are drawn as the least and greatest of each place.
const DRAWN: usize = 1500;

/// Text with the characters that XML keeps for itself written out; control characters, which it does not allow, are left out.
pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            c if c.is_control() && !matches!(c, '\n' | '\t') => {}
            c => safe.push(c),
        }
    }
    safe
}

/// A plot for a page that has the rules of [`style::figures`]; the title stands beside it.
pub(super) fn plot(plot: &Plot) -> String {
    drawn(plot, false)
}

/// A plot as a file of its own, with title and colours.
pub(super) fn plot_file(plot: &Plot) -> String {
    file(&drawn(plot, true))
}

/// A picture as a file of its own, with the colours.
pub(super) fn picture_file(picture: &Picture) -> String {
    file(picture.svg.trim_start())
}

/// Makes a complete `<svg>` element a file: its name space and the rules go into the opening tag.
fn file(svg: &str) -> String {
    let Some((tag, rest)) = svg.split_once('>').filter(|(tag, _)| tag.starts_with("<svg") && !tag.ends_with('/'))
    else {
        return svg.to_string();
    };
    let space = if tag.contains("xmlns=") { "" } else { " xmlns=\"http://www.w3.org/2000/svg\"" };
    let ground = "<rect class=\"ground\" x=\"-5%\" y=\"-5%\" width=\"110%\" height=\"110%\"/>";
    format!("{tag}{space}>\n<style>\n{}</style>\n{ground}{rest}\n", style::figures())
}

/// Where things are.
struct Layout {
    left: f64,
    top: f64,
    width: f64,
    x: Scale,
    y: Scale,
}

impl Layout {
    fn new(plot: &Plot, titled: bool) -> Self {
        let points = || plot.series.iter().flat_map(|s| &s.points);
        let on = |p: &&(f64, f64)| shown(plot, **p);
        let x = Scale::fit(points().filter(on).map(|p| p.0), plot.x.log);
        let y = Scale::fit(points().filter(on).map(|p| p.1), plot.y.log);
        let longest = y.ticks().iter().filter_map(|t| t.label.as_ref()).map(|l| l.chars().count()).max().unwrap_or(0);
        let left = 34.0 + longest as f64 * CHARACTER;
        Self { left, top: if titled { 40.0 } else { 10.0 }, width: WIDTH - left - 20.0, x, y }
    }

    fn px(&self, at: f64) -> f64 {
        self.left + at * self.width
    }

    fn py(&self, at: f64) -> f64 {
        self.top + (1.0 - at) * DATA_HEIGHT
    }

    /// Where a point is drawn.
    fn place(&self, point: (f64, f64)) -> Option<(f64, f64)> {
        Some((self.px(self.x.at(point.0)?), self.py(self.y.at(point.1)?)))
    }
}

/// True if a point can stand on both axes.
fn shown(plot: &Plot, (x, y): (f64, f64)) -> bool {
    let fits = |v: f64, log: bool| v.is_finite() && (!log || v > 0.0);
    fits(x, plot.x.log) && fits(y, plot.y.log)
}

fn drawn(plot: &Plot, titled: bool) -> String {
    let layout = Layout::new(plot, titled);
    let mut body = String::new();
    if titled {
        let size = fitted(&plot.title, WIDTH - 24.0, 14.0);
        let _ = write!(body, "<text class=\"ink title\"{size} x=\"12\" y=\"24\">{}</text>", escaped(&plot.title));
    }
    axes(&mut body, plot, &layout);
    let colours = colours(plot);
    for (series, colour) in plot.series.iter().zip(&colours) {
        draw(&mut body, plot, series, *colour, &layout);
    }
    let mut y = layout.top + DATA_HEIGHT + 66.0;
    if !plot.series.iter().any(|s| s.points.iter().any(|p| shown(plot, *p))) {
        let (x, y) = (layout.px(0.5), layout.py(0.5));
        let _ = write!(body, "<text class=\"soft\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">no data</text>");
    }
    legend(&mut body, plot, &colours, layout.left, &mut y);
    missing(&mut body, plot, layout.left, &mut y);
    let height = y - LINE + 12.0;
    format!(
        "<svg viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" aria-label=\"{}\">{body}</svg>",
        escaped(&plot.title)
    )
}

fn axes(body: &mut String, plot: &Plot, layout: &Layout) {
    let (left, right) = (layout.px(0.0), layout.px(1.0));
    let (bottom, top) = (layout.py(0.0), layout.py(1.0));
    let mut free = f64::NEG_INFINITY;
    for Tick { at, label } in layout.x.ticks() {
        let x = layout.px(at);
        let _ = write!(body, "<path class=\"grid\" d=\"M{x:.1} {bottom:.1}V{top:.1}\"/>");
        let Some(label) = label else { continue };
        // A label that would touch the one before is left out.
        let half = label.chars().count() as f64 * CHARACTER / 2.0;
        if x - half > free {
            free = x + half + 4.0;
            let y = bottom + 18.0;
            let _ =
                write!(body, "<text class=\"soft\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{label}</text>");
        }
    }
    let mut free = f64::INFINITY;
    for Tick { at, label } in layout.y.ticks() {
        let y = layout.py(at);
        let _ = write!(body, "<path class=\"grid\" d=\"M{left:.1} {y:.1}H{right:.1}\"/>");
        if let Some(label) = label.filter(|_| y + 7.0 < free) {
            free = y - 7.0;
            let (x, y) = (left - 7.0, y + 4.0);
            let _ = write!(body, "<text class=\"soft\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"end\">{label}</text>");
        }
    }
    let _ = write!(body, "<path class=\"ink\" d=\"M{left:.1} {top:.1}V{bottom:.1}H{right:.1}\"/>");
    let (x, y) = (layout.px(0.5), bottom + 40.0);
    let (label, size) = (escaped(&plot.x.label), fitted(&plot.x.label, layout.width, FONT));
    let _ = write!(body, "<text class=\"ink\"{size} x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{label}</text>");
    let (x, y) = (16.0, layout.py(0.5));
    let turned = format!("transform=\"translate({x:.1} {y:.1}) rotate(-90)\" text-anchor=\"middle\"");
    let (label, size) = (escaped(&plot.y.label), fitted(&plot.y.label, DATA_HEIGHT, FONT));
    let _ = write!(body, "<text class=\"ink\"{size} {turned}>{label}</text>");
}

/// A smaller size for a line of text that would be longer than its room.
fn fitted(text: &str, room: f64, size: f64) -> String {
    let width = text.chars().count() as f64 * CHARACTER * size / FONT;
    if width <= room { String::new() } else { format!(" style=\"font-size: {:.1}px\"", size * room / width) }
}

/// The colour of each series: the paper's take that of ours with the same name, the others have one each.
fn colours(plot: &Plot) -> Vec<usize> {
    let mut next = 0;
    let mut one = || {
        next += 1;
        (next - 1) % style::SERIES.len() + 1
    };
    let mut all: Vec<usize> = plot.series.iter().map(|s| if s.paper { 0 } else { one() }).collect();
    for (k, series) in plot.series.iter().enumerate().filter(|(_, s)| s.paper) {
        let name = series.name.to_lowercase();
        let alike =
            |other: &Series| !other.paper && !other.name.is_empty() && name.contains(&other.name.to_lowercase());
        let twin =
            plot.series.iter().zip(&all).filter(|(s, _)| alike(s)).max_by_key(|(s, _)| s.name.len()).map(|(_, c)| *c);
        all[k] = twin.unwrap_or_else(&mut one);
    }
    all
}

fn draw(body: &mut String, plot: &Plot, series: &Series, colour: usize, layout: &Layout) {
    if !series.scattered {
        let mut path = String::new();
        let mut command = 'M';
        for (x, y) in thinned(&series.points, layout).into_iter().map(|p| p.unwrap_or((f64::NAN, f64::NAN))) {
            if x.is_nan() {
                command = 'M';
                continue;
            }
            let _ = write!(path, "{command}{x:.1} {y:.1}");
            command = 'L';
        }
        let dashed = if series.paper { " stroke-dasharray=\"6 4\"" } else { "" };
        let _ = write!(
            body,
            "<path class=\"s{colour}\" fill=\"none\" stroke-width=\"1.8\" stroke-linejoin=\"round\"{dashed} d=\"{path}\"/>"
        );
    }
    if series.scattered || series.points.len() <= MARKED {
        for point in &series.points {
            let Some((x, y)) = layout.place(*point).filter(|_| shown(plot, *point)) else { continue };
            let says = format!("{}: {}, {}", series.name, number::short(point.0, 4), number::short(point.1, 4));
            mark(body, colour, series.paper, (x, y), &says);
        }
    }
}

/// Places of a line's points; of very many the least and greatest at each place. `None` is a gap.
fn thinned(points: &[(f64, f64)], layout: &Layout) -> Vec<Option<(f64, f64)>> {
    let places: Vec<_> = points.iter().map(|p| layout.place(*p)).collect();
    if places.len() <= DRAWN {
        return places;
    }
    let mut kept = Vec::new();
    for group in places.chunks(places.len().div_ceil(DRAWN / 2)) {
        if group.iter().any(Option::is_none) {
            kept.extend_from_slice(group);
            continue;
        }
        let by_height = |a: &usize, b: &usize| {
            group[*a].map(|p| p.1).partial_cmp(&group[*b].map(|p| p.1)).unwrap_or(std::cmp::Ordering::Equal)
        };
        let (low, high) = ((0..group.len()).min_by(by_height), (0..group.len()).max_by(by_height));
        if let (Some(low), Some(high)) = (low, high) {
            kept.extend([group[low.min(high)], group[low.max(high)]]);
        }
    }
    kept
}

/// A mark: each colour has a shape of its own; the paper's are hollow.
fn mark(body: &mut String, colour: usize, hollow: bool, (x, y): (f64, f64), says: &str) {
    let class = format!("{} s{colour}", if hollow { "hollow" } else { "dot" });
    let title = if says.is_empty() { String::new() } else { format!("<title>{}</title>", escaped(says)) };
    let path = |d: String| format!("<path class=\"{class}\" stroke-width=\"1.5\" d=\"{d}\">{title}</path>");
    *body += &match (colour - 1) % 4 {
        0 => format!(
            "<circle class=\"{class}\" stroke-width=\"1.5\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.4\">{title}</circle>"
        ),
        1 => path(format!("M{:.1} {:.1}h6v6h-6z", x - 3.0, y - 3.0)),
        2 => path(format!("M{:.1} {:.1}l4 6.8h-8z", x, y - 4.4)),
        _ => path(format!("M{:.1} {:.1}l4.3 4.3l-4.3 4.3l-4.3 -4.3z", x, y - 4.3)),
    };
}

/// The legend, below the axis, in as many lines as it needs.
fn legend(body: &mut String, plot: &Plot, colours: &[usize], left: f64, y: &mut f64) {
    let mut x = left;
    for (series, colour) in plot.series.iter().zip(colours) {
        let size = fitted(&series.name, WIDTH - 8.0 - left - 44.0, FONT);
        let width = 44.0 + series.name.chars().count() as f64 * CHARACTER;
        if x > left && x + width > WIDTH - 8.0 {
            (x, *y) = (left, *y + LINE);
        }
        let middle = *y - 4.0;
        if !series.scattered {
            let dashed = if series.paper { " stroke-dasharray=\"6 4\"" } else { "" };
            let _ =
                write!(body, "<path class=\"s{colour}\" stroke-width=\"1.8\"{dashed} d=\"M{x:.1} {middle:.1}h26\"/>");
        }
        if series.scattered || series.points.len() <= MARKED {
            mark(body, *colour, series.paper, (x + 13.0, middle), "");
        }
        let (name, at) = (escaped(&series.name), x + 32.0);
        let _ = write!(body, "<text class=\"ink\"{size} x=\"{at:.1}\" y=\"{y:.1}\">{name}</text>");
        x += width;
    }
    *y += LINE;
}

/// Says how many points could not be drawn.
fn missing(body: &mut String, plot: &Plot, left: f64, y: &mut f64) {
    let finite = plot.series.iter().flat_map(|s| &s.points).filter(|p| p.0.is_finite() && p.1.is_finite());
    let count = finite.filter(|p| !shown(plot, **p)).count();
    if count > 0 {
        let points = if count == 1 { "point at or below zero is" } else { "points at or below zero are" };
        let text = format!("{count} {points} not on the logarithmic axis");
        let _ = write!(body, "<text class=\"soft\" x=\"{left:.1}\" y=\"{:.1}\">{text}</text>", *y);
        *y += LINE;
    }
}
