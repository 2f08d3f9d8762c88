//! A function per reader.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use stiction_body::Shape;
use stiction_body::math::Vec3;
use stiction_contact::io as contact_io;
use stiction_lcp::io as lcp_io;
use stiction_sim::description::Description;
use stiction_sim::meshes::{self, MeshFormat};
use stiction_sim::{
    Expression, Placement, Recording, Scene, Settings, Simulation, WorldBuilder, mjcf, recording, sdf, urdf,
};

use crate::{Parts, pack, seeds};

/// A reader under test.
#[derive(Debug)]
pub struct Target {
    /// Its name on the command line.
    pub name: &'static str,
    /// Reads the bytes, and builds what they describe; the error is what the reader says of them.
    pub run: fn(&[u8]) -> Result<(), String>,
    /// Good files, in parts.
    pub seeds: fn() -> Vec<Parts>,
    /// From parts to a file.
    pub pack: fn(&[Vec<u8>]) -> Vec<u8>,
    /// Words of the format.
    pub dictionary: &'static [&'static str],
    /// Inputs of a full run: a million, fewer where what was read is solved or stepped.
    pub count: u64,
}

const MILLION: u64 = 1_000_000;

const fn reader(
    name: &'static str,
    run: fn(&[u8]) -> Result<(), String>,
    seeds: fn() -> Vec<Parts>,
    dictionary: &'static [&'static str],
) -> Target {
    Target { name, run, seeds, pack: pack::plain, dictionary, count: MILLION }
}

/// All targets.
pub static TARGETS: [Target; 23] = [
    reader("expression", expression, seeds::expressions, &seeds::EXPRESSION_WORDS),
    reader("lcp-text", lcp_text, seeds::lcp_texts, &seeds::SICONOS_WORDS),
    reader("lcp-json", lcp_json, seeds::lcp_jsons, &seeds::JSON_WORDS),
    Target { pack: pack::npz, ..reader("lcp-npz", lcp_npz, seeds::lcp_archives, &seeds::NPY_WORDS) },
    reader("contact-json", contact_json, seeds::contact_jsons, &seeds::JSON_WORDS),
    Target { pack: pack::npz, ..reader("contact-npz", contact_npz, seeds::contact_archives, &seeds::NPY_WORDS) },
    reader("friction-text", friction_text, seeds::friction_texts, &seeds::SICONOS_WORDS),
    reader("fclib", fclib, seeds::fclib, &["TREE", "SNOD", "HEAP", "OHDR", "OCHK", "fclib_global", "vectors"]),
    reader("stl", stl, seeds::stl, &["solid", "facet", "vertex", "endsolid", "outer loop"]),
    reader("obj", obj, seeds::obj, &["v", "f", "vn", "vt", "1/1/1", "-1", "o", "\\\n"]),
    reader("dae", dae, seeds::dae, &seeds::DAE_WORDS),
    reader("glb", glb, seeds::glb, &["\"count\":", "\"byteStride\":0", "\"children\":[0]", "5125", "VEC3"]),
    reader(
        "ply",
        ply,
        seeds::ply,
        &["property list uchar int vertex_indices", "element face 4294967295", "float", "end_header\n"],
    ),
    Target { pack: pack::png, ..reader("hfield-png", hfield_png, seeds::pngs, &["IDAT", "tRNS", "IEND"]) },
    reader("hfield-binary", hfield_binary, seeds::binary_fields, &["\0\0\0\0", "\u{1}\0\0\0"]),
    reader("msh", msh, seeds::msh, &["\0\0\0\0", "\u{1}\0\0\0"]),
    reader("urdf", read_urdf, seeds::urdf, &seeds::URDF_WORDS),
    reader("sdf", read_sdf, seeds::sdf, &seeds::SDF_WORDS),
    reader("mjcf", read_mjcf, seeds::mjcf, &seeds::MJCF_WORDS),
    reader("scene", scene, seeds::scenes, &seeds::SCENE_WORDS),
    Target { pack: pack::recording, ..reader("recording", read_recording, seeds::recordings, &seeds::SCENE_WORDS) },
    Target { pack: pack::state, ..reader("saved-state", saved_state, seeds::saved_states, &["\0\0\0\0", "\u{ff}"]) },
    Target { count: 20_000, ..reader("scene-steps", scene_steps, seeds::scenes, &seeds::SCENE_WORDS) },
];

/// A formula, evaluated.
fn expression(bytes: &[u8]) -> Result<(), String> {
    let formula = Expression::parse(&String::from_utf8_lossy(bytes))?;
    let bound = formula.bind(|name| (name == "n").then_some(3.0));
    bound.evaluate(|_| 0.25);
    formula.evaluate(|_| f64::NAN);
    Ok(())
}

/// A complementarity problem, which must survive being written.
fn complementarity(name: &str, bytes: &[u8]) -> Result<(), String> {
    let options = lcp_io::ReadOptions::default();
    let file = lcp_io::read_bytes(name, bytes, &options).map_err(|e| e.to_string())?;
    let again = lcp_io::read_bytes("again.json", file.to_json().as_bytes(), &options);
    assert_eq!(again.as_ref(), Ok(&file), "a file that is written and read again is the same");
    Ok(())
}

fn lcp_text(bytes: &[u8]) -> Result<(), String> {
    ["mlcp.dat", "relay.dat", "a.dat"].map(|name| complementarity(name, bytes)).into_iter().collect()
}

fn lcp_json(bytes: &[u8]) -> Result<(), String> {
    complementarity("a.json", bytes)
}

fn lcp_npz(bytes: &[u8]) -> Result<(), String> {
    complementarity("a.npz", bytes)
}

/// A contact or friction problem, which must survive being written.
fn any_problem(name: &str, bytes: &[u8]) -> Result<(), String> {
    let options = contact_io::ReadOptions::default();
    let problem = contact_io::read_bytes(name, bytes, &options).map_err(|e| e.to_string())?;
    let again = contact_io::read_bytes("again.json", problem.to_json().as_bytes(), &options);
    assert_eq!(again.as_ref(), Ok(&problem), "a problem that is written and read again is the same");
    Ok(())
}

fn contact_json(bytes: &[u8]) -> Result<(), String> {
    any_problem("a.json", bytes)
}

fn contact_npz(bytes: &[u8]) -> Result<(), String> {
    any_problem("a.npz", bytes)
}

fn friction_text(bytes: &[u8]) -> Result<(), String> {
    any_problem("a.dat", bytes)
}

fn fclib(bytes: &[u8]) -> Result<(), String> {
    any_problem("a.hdf5", bytes)
}

/// A mesh, its hull and its surface.
fn mesh(bytes: &[u8], format: MeshFormat) -> Result<(), String> {
    let mesh = meshes::parse(bytes, format, Vec3::new(1.0, -2.0, 0.5))?;
    let hull = Shape::hull(mesh.vertices.clone()).map_err(|e| e.to_string());
    let surface = Shape::mesh(mesh.vertices, mesh.triangles).map_err(|e| e.to_string());
    let inertia = |shape: Shape| shape.inertia(1.0).map(|_| ()).map_err(|e| e.to_string());
    hull.and_then(inertia).and(surface.and_then(inertia))
}

fn stl(bytes: &[u8]) -> Result<(), String> {
    mesh(bytes, MeshFormat::Stl)
}

fn obj(bytes: &[u8]) -> Result<(), String> {
    mesh(bytes, MeshFormat::Obj)
}

fn dae(bytes: &[u8]) -> Result<(), String> {
    mesh(bytes, MeshFormat::Collada)
}

fn glb(bytes: &[u8]) -> Result<(), String> {
    mesh(bytes, MeshFormat::Glb)
}

fn ply(bytes: &[u8]) -> Result<(), String> {
    mesh(bytes, MeshFormat::Ply)
}

/// Where files that others name are written.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("stiction-fuzz-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for files that robots name");
    folder
});

/// A robot in a world of its own.
fn robot(description: &Description) -> Result<Simulation, String> {
    let mut builder = WorldBuilder::new();
    builder.add(description, &Placement::default()).map_err(|e| e.to_string())?;
    let (world, _) = builder.build().map_err(|e| e.to_string())?;
    Simulation::new(Arc::new(world), Settings::default()).map_err(|e| e.to_string())
}

/// A file that an MJCF model names in this asset.
fn asset(bytes: &[u8], file: &str, asset: &str, geom: &str) -> Result<(), String> {
    fs::write(FOLDER.join(file), bytes).map_err(|e| e.to_string())?;
    let text = format!("<mujoco><asset>{asset}</asset><worldbody>{geom}</worldbody></mujoco>");
    let model = mjcf::parse(&text, &FOLDER, &mjcf::MjcfOptions::default()).map_err(|e| e.to_string())?;
    robot(&model).map(|_| ())
}

fn hfield_png(bytes: &[u8]) -> Result<(), String> {
    let field = r#"<hfield name="f" file="f.png" size="5 5 0.5 0.1"/>"#;
    asset(bytes, "f.png", field, r#"<geom type="hfield" hfield="f"/>"#)
}

fn hfield_binary(bytes: &[u8]) -> Result<(), String> {
    let field = r#"<hfield name="f" file="f.hfield" size="5 5 0.5 0.1"/>"#;
    asset(bytes, "f.hfield", field, r#"<geom type="hfield" hfield="f"/>"#)
}

fn msh(bytes: &[u8]) -> Result<(), String> {
    let body = r#"<body><freejoint/><geom type="mesh" mesh="m"/></body>"#;
    asset(bytes, "m.msh", r#"<mesh name="m" file="m.msh"/>"#, body)
}

fn read_urdf(bytes: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(bytes);
    let model = urdf::parse(&text, &FOLDER, &urdf::UrdfOptions::default()).map_err(|e| e.to_string())?;
    robot(&model).map(|_| ())
}

fn read_sdf(bytes: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(bytes);
    let model = sdf::parse(&text, &FOLDER, &sdf::SdfOptions::default()).map_err(|e| e.to_string())?;
    robot(&model).map(|_| ())
}

/// A model, stepped twice with its actuators and tendons, and its sensors read. A step may have no certified answer.
fn read_mjcf(bytes: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(bytes);
    let model = mjcf::parse(&text, &FOLDER, &mjcf::MjcfOptions::default()).map_err(|e| e.to_string())?;
    let mut simulation = robot(&model)?;
    let mut readings = vec![];
    for _ in 0..2 {
        if simulation.world().model.links().len() <= MOST_STEPPED_LINKS && simulation.step().is_err() {
            break;
        }
        simulation.read_sensors(&mut readings);
        let size: usize = simulation.world().sensors.iter().map(|sensor| sensor.size()).sum();
        assert_eq!(readings.len(), size);
    }
    Ok(())
}

/// A scene and a simulation of it; files it names are those of `scenes/` and `examples/`.
fn simulation(bytes: &[u8]) -> Result<Simulation, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let text = String::from_utf8_lossy(bytes);
    let scene = Scene::parse(&text, &folder, &[]).map_err(|e| e.to_string())?;
    scene.simulation().map_err(|e| e.to_string())
}

fn scene(bytes: &[u8]) -> Result<(), String> {
    simulation(bytes).map(|_| ())
}

/// Most links of a scene that is stepped: what a step of more takes follows from what the scene asks for.
const MOST_STEPPED_LINKS: usize = 2000;

fn scene_steps(bytes: &[u8]) -> Result<(), String> {
    let mut simulation = simulation(bytes)?;
    let links = simulation.world().model.links().len();
    if links > MOST_STEPPED_LINKS {
        return Err(format!("{links} links are not stepped"));
    }
    for _ in 0..2 {
        simulation.step().map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// A recording, exported, and its scene built again.
fn read_recording(bytes: &[u8]) -> Result<(), String> {
    let recorded = Recording::parse(bytes.to_vec()).map_err(|e| e.to_string())?;
    let (scene, _) = recorded.header().scene().map_err(|e| e.to_string())?;
    let rows = recorded.rows(&scene.world, |_| {}).map_err(|e| e.to_string())?;
    let exported = recording::export_csv(&recorded, &rows, std::io::sink(), std::io::sink());
    exported.map_err(|e| e.to_string())?;
    recording::export_npz(&recorded, &rows, std::io::Cursor::new(Vec::new())).map_err(|e| e.to_string())?;
    let mut simulation = recorded.header().simulation(&scene).map_err(|e| e.to_string())?;
    let chunk = recorded.chunk(0).map_err(|e| e.to_string())?;
    simulation.restore(&chunk.snapshot).map_err(|e| e.to_string())
}

/// A saved state, from which a step is made.
fn saved_state(bytes: &[u8]) -> Result<(), String> {
    let mut simulation = seeds::stack();
    simulation.load_state(bytes).map_err(|e| e.to_string())?;
    simulation.step().map(|_| ()).map_err(|e| e.to_string())
}
