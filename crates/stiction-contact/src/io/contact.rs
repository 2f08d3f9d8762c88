//! Contact problems in JSON: what a file's fields say, and the problem they make.

use stiction_lcp::io::fault::Fault;
use stiction_lcp::io::json_values::{Fields, Infinite, Keys, Shape, has_key, read_fields};
use stiction_lcp::io::json_write::{Object, number};
use stiction_lcp::{InputError, Matrix};

use super::Kind;
use crate::mass::Mass;
use crate::problem::{Contact, ContactProblem};
use crate::rows::Rows;

/// A row by its blocks.
type Row = Vec<(usize, Vec<f64>)>;

/// The keys of the object.
const PROBLEM: Keys = &[
    ("kind", Shape::Text),
    ("name", Shape::Text),
    ("comment", Shape::Text),
    ("mass", Shape::Matrices),
    ("factors", Shape::Matrices),
    ("v", Shape::NUMBERS),
    ("force", Shape::NUMBERS),
    ("dt", Shape::NUMBER),
    ("contacts", Shape::Objects(CONTACT)),
    ("bilateral", Shape::Objects(BILATERAL)),
    ("limits", Shape::Objects(LIMIT)),
    ("bounded", Shape::Objects(BOUNDED)),
];

/// The keys of a contact.
const CONTACT: Keys = &[
    ("normal", Shape::Blocks),
    ("tangent_s", Shape::Blocks),
    ("tangent_t", Shape::Blocks),
    ("spin", Shape::Blocks),
    ("roll_s", Shape::Blocks),
    ("roll_t", Shape::Blocks),
    ("gap", Shape::NUMBER),
    ("predicted", Shape::Bool),
    ("size", Shape::NUMBER),
    ("mu", Shape::Number(Infinite::Words)),
    ("mu_spin", Shape::Number(Infinite::Words)),
    ("mu_roll", Shape::NUMBER),
    ("mu_viscous", Shape::Number(Infinite::Words)),
    ("rate", Shape::NUMBERS),
    ("bounce", Shape::NUMBER),
    ("surface", Shape::NUMBERS),
];

/// The keys of a bilateral row.
const BILATERAL: Keys = &[("row", Shape::Blocks), ("rate", Shape::NUMBER), ("target", Shape::NUMBER)];

/// The keys of a unilateral row.
const LIMIT: Keys =
    &[("row", Shape::Blocks), ("gap", Shape::NUMBER), ("rate", Shape::NUMBER), ("bounce", Shape::NUMBER)];

/// The keys of a row with bounded force.
const BOUNDED: Keys = &[
    ("row", Shape::Blocks),
    ("lo", Shape::Number(Infinite::Words)),
    ("hi", Shape::Number(Infinite::Words)),
    ("rate", Shape::NUMBER),
    ("target", Shape::NUMBER),
];

/// Keys that no other problem has.
const OWN_KEYS: [&str; 7] = ["mass", "factors", "dt", "contacts", "bilateral", "limits", "bounded"];

/// True if an object with this text is a contact problem: by what it is said to be, by its kind, or by its keys.
pub(super) fn is_contact(bytes: &[u8], asked: Option<Kind>) -> bool {
    asked == Some(Kind::Contact) || (asked.is_none() && has_key(bytes, &OWN_KEYS, &[Kind::Contact.name()]))
}

/// The contact problem in the JSON text `bytes`.
pub(super) fn read(bytes: &[u8]) -> Result<ContactProblem, Fault> {
    let mut fields = read_fields(bytes, "a contact problem", PROBLEM, usize::MAX)?;
    if let Some(kind) = fields.text("kind").filter(|kind| kind != Kind::Contact.name()) {
        return Err(Fault::whole(format!("kind: the keys are those of a contact problem, found {kind:?}")));
    }
    build(&mut fields).map_err(Fault::whole)
}

fn build(fields: &mut Fields) -> Result<ContactProblem, String> {
    let words = |e: InputError| e.to_string();
    let mass = match (fields.matrices("mass"), fields.matrices("factors")) {
        (Some(blocks), None) => Mass::new(blocks).map_err(words)?,
        (None, Some(factors)) => Mass::from_factors(factors).map_err(words)?,
        (Some(_), Some(_)) => return Err("mass and factors are both given; one of them is enough".into()),
        (None, None) => return Err("mass is missing".into()),
    };
    let v = fields.numbers("v").ok_or("v is missing")?;
    let force = fields.numbers("force").ok_or("force is missing")?;
    let dt = fields.number("dt").ok_or("dt is missing")?;
    let mut problem = ContactProblem::new(mass, v, force, dt).map_err(words)?;
    for (i, mut contact) in fields.objects("contacts").into_iter().flatten().enumerate() {
        add_contact(&mut problem, &mut contact, i)?;
    }
    for (i, mut row) in fields.objects("bilateral").into_iter().flatten().enumerate() {
        let entries = needed_row(&mut row, "bilateral", i, "row")?;
        let [rate, target] = ["rate", "target"].map(|key| row.number(key).unwrap_or(0.0));
        problem.add_bilateral(&borrow(&entries), rate, target).map_err(words)?;
    }
    for (i, mut row) in fields.objects("limits").into_iter().flatten().enumerate() {
        let entries = needed_row(&mut row, "limits", i, "row")?;
        let [gap, rate, bounce] = ["gap", "rate", "bounce"].map(|key| row.number(key).unwrap_or(0.0));
        problem.add_limit(&borrow(&entries), gap, rate, bounce).map_err(words)?;
    }
    for (i, mut row) in fields.objects("bounded").into_iter().flatten().enumerate() {
        let entries = needed_row(&mut row, "bounded", i, "row")?;
        let lo = row.number("lo").unwrap_or(f64::NEG_INFINITY);
        let hi = row.number("hi").unwrap_or(f64::INFINITY);
        let [rate, target] = ["rate", "target"].map(|key| row.number(key).unwrap_or(0.0));
        problem.add_bounded(&borrow(&entries), lo, hi, rate, target).map_err(|e| format!("bounded[{i}]: {e}"))?;
    }
    Ok(problem)
}

fn add_contact(problem: &mut ContactProblem, fields: &mut Fields, i: usize) -> Result<(), String> {
    let normal = needed_row(fields, "contacts", i, "normal")?;
    let others = ["tangent_s", "tangent_t", "spin", "roll_s", "roll_t"];
    let others = others.map(|key| fields.blocks(key).unwrap_or_default());
    let (normal, [s, t, spin, roll_s, roll_t]) = (borrow(&normal), others.each_ref().map(borrow));
    let mut contact = Contact { spin: &spin, roll_s: &roll_s, roll_t: &roll_t, ..Contact::new(&normal, &s, &t) };
    let numbers = [
        ("gap", &mut contact.gap),
        ("size", &mut contact.size),
        ("mu", &mut contact.mu),
        ("mu_spin", &mut contact.mu_spin),
        ("mu_roll", &mut contact.mu_roll),
        ("mu_viscous", &mut contact.mu_viscous),
        ("bounce", &mut contact.bounce),
    ];
    for (key, x) in numbers {
        *x = fields.number(key).unwrap_or(*x);
    }
    contact.predicted = fields.bool("predicted").unwrap_or(false);
    contact.rate = exactly(fields, i, "rate")?.unwrap_or(contact.rate);
    contact.surface = exactly(fields, i, "surface")?.unwrap_or(contact.surface);
    problem.add_contact(contact).map_err(|e| e.to_string())
}

fn needed_row(fields: &mut Fields, list: &str, i: usize, key: &str) -> Result<Row, String> {
    fields.blocks(key).ok_or_else(|| format!("{list}[{i}].{key} is missing"))
}

fn exactly<const K: usize>(fields: &mut Fields, i: usize, key: &str) -> Result<Option<[f64; K]>, String> {
    let Some(numbers) = fields.numbers(key) else { return Ok(None) };
    let found = numbers.len();
    let array = numbers.try_into().map_err(|_| format!("contacts[{i}].{key} has {found} numbers, expected {K}"))?;
    Ok(Some(array))
}

fn borrow(row: &Row) -> Vec<(usize, &[f64])> {
    row.iter().map(|(block, entries)| (*block, entries.as_slice())).collect()
}

/// The problem as JSON. Reading it gives back every number bit for bit.
///
/// An inertia given by its factors is written by them (`factors` in place of `mass`).
pub fn contact_to_json(problem: &ContactProblem) -> String {
    let mut out = Object::new();
    out.text("kind", Kind::Contact.name());
    write_mass(&mut out, problem.mass());
    out.numbers("v", problem.v());
    out.numbers("force", problem.force());
    out.raw("dt", &number(problem.dt()));
    let contacts = problem.contacts();
    objects(&mut out, "contacts", contacts.len(), |i| {
        let triple = |x: &[f64]| format!("[{}]", x.iter().map(|x| number(*x)).collect::<Vec<_>>().join(", "));
        let mut fields = vec![
            ("normal", row(&contacts.normal, i)),
            ("tangent_s", row(&contacts.tangent_s, i)),
            ("tangent_t", row(&contacts.tangent_t, i)),
            ("spin", row(&contacts.spin, i)),
            ("gap", number(contacts.gap[i])),
            ("size", number(contacts.size[i])),
            ("mu", number(contacts.mu[i])),
            ("mu_spin", number(contacts.mu_spin[i])),
            ("mu_viscous", number(contacts.mu_viscous[i])),
            ("rate", triple(&contacts.rate[i])),
            ("bounce", number(contacts.bounce[i])),
            ("surface", triple(&contacts.surface[i])),
        ];
        if contacts.mu_roll[i] > 0.0 || contacts.roll_s.has_entries(i) || contacts.roll_t.has_entries(i) {
            fields.push(("roll_s", row(&contacts.roll_s, i)));
            fields.push(("roll_t", row(&contacts.roll_t, i)));
            fields.push(("mu_roll", number(contacts.mu_roll[i])));
        }
        if contacts.predicted[i] {
            fields.push(("predicted", "true".into()));
        }
        fields
    });
    let all = problem.bilaterals();
    objects(&mut out, "bilateral", all.rows.len(), |i| {
        vec![("row", row(&all.rows, i)), ("rate", number(all.rate[i])), ("target", number(all.target[i]))]
    });
    let all = problem.limits();
    objects(&mut out, "limits", all.rows.len(), |i| {
        let numbers = [("gap", all.gap[i]), ("rate", all.rate[i]), ("bounce", all.bounce[i])];
        [("row", row(&all.rows, i))].into_iter().chain(numbers.map(|(key, x)| (key, number(x)))).collect()
    });
    let all = problem.bounded();
    objects(&mut out, "bounded", all.rows.len(), |i| {
        let numbers = [("lo", all.lo[i]), ("hi", all.hi[i]), ("rate", all.rate[i]), ("target", all.target[i])];
        [("row", row(&all.rows, i))].into_iter().chain(numbers.map(|(key, x)| (key, number(x)))).collect()
    });
    out.end()
}

/// The blocks, or their factors where these are not what the blocks give.
fn write_mass(out: &mut Object, mass: &Mass) {
    let all = 0..mass.layout().blocks();
    let blocks: Vec<Matrix> = all.clone().map(|b| mass.block(b).clone()).collect();
    let from_blocks = Mass::new(blocks.clone()).is_ok_and(|again| again == *mass);
    let factors = all.map(|b| mass.lower_factor(b).cloned()).collect::<Option<Vec<Matrix>>>();
    let (key, all) = match factors {
        Some(factors) if !from_blocks => ("factors", factors),
        _ => ("mass", blocks),
    };
    let line = |m: &Matrix, i: usize| (0..m.cols()).map(|j| number(m[(i, j)])).collect::<Vec<_>>().join(", ");
    let block = |m: &Matrix| (0..m.rows()).map(|i| format!("[{}]", line(m, i))).collect::<Vec<_>>().join(", ");
    lines(out, key, all.iter().map(|m| format!("[{}]", block(m))));
}

/// A row as a list of pairs [block, entries].
fn row(rows: &Rows, i: usize) -> String {
    let entries = |x: &[f64]| x.iter().map(|x| number(*x)).collect::<Vec<_>>().join(", ");
    let pairs: Vec<String> = rows.row(i).map(|(block, x)| format!("[{block}, [{}]]", entries(x))).collect();
    format!("[{}]", pairs.join(", "))
}

/// A list of objects, a line for each.
fn objects(out: &mut Object, key: &str, count: usize, fields: impl Fn(usize) -> Vec<(&'static str, String)>) {
    let object = |i: usize| {
        let fields: Vec<String> = fields(i).into_iter().map(|(key, text)| format!("\"{key}\": {text}")).collect();
        format!("{{{}}}", fields.join(", "))
    };
    lines(out, key, (0..count).map(object));
}

/// A list, a line for each item.
fn lines(out: &mut Object, key: &str, items: impl Iterator<Item = String>) {
    let items: Vec<String> = items.map(|item| format!("\n    {item}")).collect();
    let end = if items.is_empty() { "" } else { "\n  " };
    out.raw(key, &format!("[{}{end}]", items.join(",")));
}
