//! What an experiment found: tables, plots, pictures and claims, free of how they are shown.

/// What one experiment found.
#[derive(Debug, Clone, Default)]
pub struct Section {
    /// What the paper did, what we do and where we differ, as paragraphs of plain text.
    pub text: Vec<String>,
    /// Tables, in order.
    pub tables: Vec<Table>,
    /// Plots, in order.
    pub plots: Vec<Plot>,
    /// Drawings that are no plots of numbers, such as time-lapse pictures.
    pub pictures: Vec<Picture>,
    /// The paper's claims, and what became of them here.
    pub claims: Vec<Claim>,
}

/// A table.
#[derive(Debug, Clone, Default)]
pub struct Table {
    /// Name of its CSV file, in kebab case, unique within the paper.
    pub name: String,
    /// A caption of one line.
    pub title: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows, one cell per column.
    pub rows: Vec<Vec<Cell>>,
}

/// A column of a table.
#[derive(Debug, Clone, Default)]
pub struct Column {
    /// Its heading.
    pub name: String,
    /// The unit of its numbers, empty if none.
    pub unit: String,
}

/// A cell of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Words.
    Text(String),
    /// A number, shown with a few significant digits and kept with all of them.
    Number(f64),
    /// A count.
    Count(u64),
    /// Nothing to say (the paper gives no figure, or there is none).
    Empty,
}

/// Lines and points over two axes.
#[derive(Debug, Clone, Default)]
pub struct Plot {
    /// Name of its SVG and CSV files, in kebab case, unique within the paper.
    pub name: String,
    /// A caption of one line.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn.
    pub series: Vec<Series>,
}

/// An axis of a plot.
#[derive(Debug, Clone, Default)]
pub struct Axis {
    /// What it shows, with its unit.
    pub label: String,
    /// Logarithmic.
    pub log: bool,
}

/// A line of a plot.
#[derive(Debug, Clone, Default)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its points. One that is not finite is a gap.
    pub points: Vec<(f64, f64)>,
    /// The paper's own figures rather than ours: drawn apart.
    pub paper: bool,
    /// Points without a line.
    pub scattered: bool,
}

/// A drawing.
#[derive(Debug, Clone, Default)]
pub struct Picture {
    /// Name of its SVG file, in kebab case, unique within the paper.
    pub name: String,
    /// A caption of one line.
    pub title: String,
    /// A complete `<svg>` element that uses the page's colours: the classes `ink`, `soft`, `fill-1` … `fill-4`.
    pub svg: String,
}

/// A claim of a paper, or a bar of our own (its rule says so), and what became of it here.
#[derive(Debug, Clone)]
pub struct Claim {
    /// What the paper says.
    pub claim: String,
    /// The paper's figure.
    pub paper_value: String,
    /// Ours.
    pub ours: String,
    /// When it holds, and when it is bettered: what the verdict follows from.
    pub rule: String,
    /// Whether it holds.
    pub verdict: Verdict,
}

/// Whether a claim holds on this engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// As the paper says.
    Holds,
    /// More than the paper says.
    Better,
    /// Not, and why.
    DoesNotHold(String),
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Holds => f.write_str("holds"),
            Self::Better => f.write_str("better"),
            Self::DoesNotHold(why) => write!(f, "does not hold: {why}"),
        }
    }
}
