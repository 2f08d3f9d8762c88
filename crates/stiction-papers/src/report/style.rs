//! Colours of pages and figures, in light and dark.

use std::fmt::Write;

/// Colours of series, in order: light, dark. Neighbours differ in brightness as well as in hue.
pub(super) const SERIES: [(&str, &str); 8] = [
    ("#1b66b5", "#6fb4f2"),
    ("#c4500c", "#f5a05f"),
    ("#14805a", "#5fd3a5"),
    ("#8a3fb8", "#cda0f3"),
    ("#94700a", "#e3c85c"),
    ("#c22f66", "#f58fb6"),
    ("#2c7d8c", "#86d0dc"),
    ("#5c5c66", "#b9b9c4"),
];

/// Fills of pictures, in order: light, dark.
const FILLS: [(&str, &str); 4] =
    [("#e8a15c", "#b86f2a"), ("#a98ad0", "#7d5cae"), ("#7cc08d", "#3f8f57"), ("#8fb8e0", "#3f74a8")];

/// Names of the page's colours: light, dark.
const PAGE: [(&str, &str, &str); 7] = [
    ("ground", "#ffffff", "#16181d"),
    ("panel", "#f4f5f7", "#1f2229"),
    ("ink", "#1b1d22", "#e6e8ec"),
    ("soft", "#5d6470", "#a3aab6"),
    ("line", "#d4d8de", "#3a3f49"),
    ("good", "#14703f", "#63d296"),
    ("bad", "#b3261e", "#ff8f85"),
];

/// Rules of figures: the colours are written out, so that programs that know no variables draw them too.
///
/// Classes: `ground` (filled like the page), `ink` and `soft` (strokes; as text: its colour), `solid` (filled with ink), `fill-1` … `fill-4`,
/// `s1` … `s8`
/// (a series' colour) with `dot` (filled with it) or `hollow`, `grid` (thin lines).
pub(super) fn figures() -> String {
    let light = figure_colours(|pair| pair.0);
    let dark = figure_colours(|pair| pair.1);
    format!(
        "svg text {{ font-family: system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif; font-size: 12px; stroke: none; }}\n\
         svg .title {{ font-size: 14px; font-weight: 600; }}\nsvg .grid {{ stroke-width: 0.6; }}\nsvg .ink, svg .soft {{ fill: none; }}\n\
         {light}@media (prefers-color-scheme: dark) {{\n{dark}}}\n"
    )
}

fn figure_colours(pick: fn((&'static str, &'static str)) -> &'static str) -> String {
    let page = |name: &str| PAGE.iter().find(|c| c.0 == name).map_or("", |c| pick((c.1, c.2)));
    let (ground, ink, soft, line) = (page("ground"), page("ink"), page("soft"), page("line"));
    let mut rules = format!(
        "svg .ground, svg .hollow {{ fill: {ground}; }}\nsvg .ink {{ stroke: {ink}; }}\nsvg text.ink {{ fill: {ink}; stroke: none; }}\nsvg \
         .soft {{ stroke: {soft}; }}\nsvg text.soft {{ fill: {soft}; stroke: none; }}\nsvg .solid {{ fill: {ink}; }}\nsvg .grid {{ stroke: \
         {line}; }}\n"
    );
    for (k, pair) in FILLS.into_iter().enumerate() {
        let _ = writeln!(rules, "svg .fill-{} {{ fill: {}; }}", k + 1, pick(pair));
    }
    for (k, pair) in SERIES.into_iter().enumerate() {
        let (k, colour) = (k + 1, pick(pair));
        let _ = writeln!(rules, "svg .s{k} {{ stroke: {colour}; }} svg .dot.s{k} {{ fill: {colour}; }}");
    }
    rules
}

/// Variables of the page's colours, and its rules.
pub(super) fn page() -> String {
    let variables = |pick: fn(&(&str, &'static str, &'static str)) -> &'static str| -> String {
        PAGE.iter().map(|c| format!("--{}: {}; ", c.0, pick(c))).collect()
    };
    let (light, dark) = (variables(|c| c.1), variables(|c| c.2));
    format!(
        ":root {{ color-scheme: light dark; {light}}}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark}}} }}\n{}",
        include_str!("page.css")
    )
}
