//! `stiction check`: what a scene or robot file holds, and what of it is not used.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use stiction_sim::{Description, Note, Placement, Scene, World, WorldBuilder};

use crate::output::Failure;
use crate::run;

/// Options of `stiction check`.
#[derive(Debug, Args)]
#[command(after_help = "Exit code: 0 usable, 2 bad input.")]
pub(crate) struct CheckArgs {
    /// A scene (.toml) or a robot (.urdf, .xml).
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Give a parameter of the scene another value; may be repeated.
    #[arg(long, value_name = "NAME=VALUE", allow_hyphen_values = true)]
    pub set: Vec<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// Reads the file and says what is in it.
pub(crate) fn run(args: &CheckArgs, out: &mut dyn Write) -> Result<bool, Failure> {
    let message = |e: stiction_sim::SceneError| Failure::Message(e.in_file(&args.file).to_string());
    let is_scene = args.file.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml"));
    let (title, mut scene, world);
    if is_scene {
        let read = run::load(&args.file, &args.set)?;
        (title, world) = (read.title.clone(), read.world.clone());
        scene = Some(read);
    } else {
        let description = stiction_sim::load_description(&args.file).map_err(message)?;
        title = description.name.clone();
        world = std::sync::Arc::new(alone(&description).map_err(message)?);
        scene = None;
    }
    let mut simulation = match &mut scene {
        Some(scene) => scene.simulation(),
        None => stiction_sim::Simulation::new(world.clone(), stiction_sim::Settings::default()),
    }
    .map_err(message)?;
    let ignored = simulation.ignored_overlaps().iter().map(|o| format!("{o}, within one robot: the two never touch"));
    let ignored: Vec<String> = ignored.collect();
    let overlaps: Vec<String> = simulation.overlaps().iter().map(ToString::to_string).chain(ignored).collect();
    if args.json {
        let text = as_json(&title, &world, scene.as_ref(), &overlaps);
        writeln!(out, "{text}")?;
    } else {
        print(&title, &world, scene.as_ref(), &overlaps, out)?;
    }
    Ok(true)
}

/// A world of one description.
fn alone(description: &Description) -> Result<World, stiction_sim::SceneError> {
    let mut builder = WorldBuilder::new();
    builder.add(description, &Placement::default())?;
    Ok(builder.build()?.0)
}

/// How many of each kind, in words.
fn counts<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut all: BTreeMap<&str, usize> = BTreeMap::new();
    names.for_each(|name| *all.entry(name).or_default() += 1);
    all.iter().map(|(name, n)| format!("{n} {name}")).collect::<Vec<_>>().join(", ")
}

fn notes(world: &World, scene: Option<&Scene>) -> Vec<(String, Note)> {
    let of_files = world.notes.iter().flat_map(|(of, notes)| notes.iter().map(|n| (of.clone(), n.clone())));
    let of_model = scene.map(Scene::unused_notes).unwrap_or_default();
    of_files.chain(of_model.into_iter().map(|n| ("model".into(), n))).collect()
}

fn total_mass(world: &World) -> f64 {
    world.model.links().iter().map(|l| l.spec.inertia.mass).sum()
}

fn print(
    title: &str,
    world: &World,
    scene: Option<&Scene>,
    overlaps: &[String],
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let line = |out: &mut dyn Write, name: &str, text: String| writeln!(out, "{name:<12} {text}");
    let model = &world.model;
    if !title.is_empty() {
        line(out, "title", title.into())?;
    }
    line(out, "bodies", format!("{}, {:.6} kg in all", model.links().len(), total_mass(world)))?;
    line(out, "joints", counts(model.links().iter().map(|l| l.spec.kind.name())))?;
    line(
        out,
        "freedom",
        format!("{} velocities, {} coordinates, {} trees", model.nv(), model.nq(), model.trees().len()),
    )?;
    if !model.mimics().is_empty() || !model.loops().is_empty() {
        line(
            out,
            "ties",
            format!("{} joints that follow others, {} closed loops", model.mimics().len(), model.loops().len()),
        )?;
    }
    line(out, "shapes", counts(world.geoms.iter().map(|g| g.shape.kind().name())))?;
    if !world.actuators.is_empty() {
        line(out, "actuators", world.actuators.len().to_string())?;
    }
    if let Some(scene) = scene {
        let s = &scene.settings;
        line(out, "simulation", format!("{} s in steps of {} s, model {}", scene.duration, s.dt, s.model))?;
        let parameters: Vec<String> = scene.parameters.iter().map(|(name, x)| format!("{name} = {x}")).collect();
        if !parameters.is_empty() {
            line(out, "parameters", parameters.join(", "))?;
        }
    }
    for overlap in overlaps {
        line(out, "warning", overlap.clone())?;
    }
    for (_, note) in notes(world, scene) {
        line(out, note.kind.name(), format!("{}: {}", note.element, note.text))?;
    }
    Ok(())
}

fn as_json(title: &str, world: &World, scene: Option<&Scene>, overlaps: &[String]) -> serde_json::Value {
    let notes: Vec<_> = notes(world, scene)
        .iter()
        .map(|(of, n)| json!({"of": of, "kind": n.kind.name(), "element": n.element, "text": n.text}))
        .collect();
    let names: Vec<&str> = world.model.links().iter().map(|l| l.spec.name.as_str()).collect();
    json!({
        "title": title,
        "body_names": names,
        "mass": total_mass(world),
        "nq": world.model.nq(),
        "nv": world.model.nv(),
        "geoms": world.geoms.len(),
        "actuators": world.actuators.iter().map(|a| a.name.as_str()).collect::<Vec<_>>(),
        "loops": world.model.loops().len(),
        "mimics": world.model.mimics().len(),
        "parameters": scene.map(|s| s.parameters.iter().cloned().collect::<BTreeMap<_, _>>()),
        "overlaps": overlaps,
        "remarks": notes,
    })
}
