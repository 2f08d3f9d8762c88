//! Good files of every format: those of the repository, and small ones that use what these do not.

use std::path::{Path, PathBuf};

use stiction_sim::recording::{Header, Origin};
use stiction_sim::{Recorder, Scene, Simulation};

use crate::{Parts, pack};

#[path = "../../crates/stiction-contact/tests/common/hdf5.rs"]
mod hdf5;

/// Words of formulas.
pub const EXPRESSION_WORDS: [&str; 20] = [
    "random(1, 2, 3)",
    "if(t, 1, 2)",
    "min(",
    "max(1, 2)",
    "^",
    "%",
    "<=",
    "!=",
    "pi",
    "sqrt(",
    "atan2(",
    "t",
    "n",
    ",",
    "(",
    ")",
    "-",
    "1e",
    ".",
    "é",
];
/// Words of Siconos' texts.
pub const SICONOS_WORDS: [&str; 8] = ["CSparse", "triplet:", "nnz:", "col", "locations", "inf", "nan", "2-by-2,"];
/// Words of JSON problems.
pub const JSON_WORDS: [&str; 32] = [
    "kind",
    "lcp",
    "mlcp",
    "box",
    "factored",
    "friction",
    "global-friction",
    "contact",
    "lo",
    "hi",
    "basis",
    "null",
    "true",
    "\"inf\"",
    "\"-inf\"",
    "rows",
    "cols",
    "entries",
    "dim",
    "mu",
    "mass",
    "factors",
    "contacts",
    "bilateral",
    "limits",
    "bounded",
    "normal",
    "tangent_s",
    "spin",
    "surface",
    "bounce",
    "\\ud800",
];
/// Words of NumPy headers.
pub const NPY_WORDS: [&str; 18] = [
    "<f8",
    ">f4",
    "<i8",
    "|b1",
    "|O",
    "<c16",
    "True",
    "False",
    "shape",
    "descr",
    "fortran_order",
    "(2, 2)",
    "(0,)",
    "()",
    "(4, 4)",
    "(1000000, 1000000)",
    "M.npy",
    "q.npy",
];
/// Words of COLLADA.
pub const DAE_WORDS: [&str; 20] = [
    "float_array",
    "accessor",
    "stride",
    "offset",
    "count",
    "polylist",
    "triangles",
    "polygons",
    "lines",
    "vcount",
    "p",
    "matrix",
    "rotate",
    "translate",
    "instance_node",
    "#shared",
    "#g",
    "#v",
    "#p",
    "unit",
];
/// Words of URDF.
pub const URDF_WORDS: [&str; 24] = [
    "revolute",
    "continuous",
    "prismatic",
    "fixed",
    "floating",
    "planar",
    "mimic",
    "limit",
    "axis",
    "origin",
    "inertial",
    "mass",
    "inertia",
    "collision",
    "geometry",
    "box",
    "sphere",
    "capsule",
    "mesh",
    "base",
    "hand",
    "world",
    "concave",
    "plane",
];
/// Words of MJCF.
pub const MJCF_WORDS: [&str; 40] = [
    "body",
    "joint",
    "geom",
    "freejoint",
    "replicate",
    "frame",
    "default",
    "class",
    "childclass",
    "mesh",
    "hfield",
    "equality",
    "connect",
    "weld",
    "tendon",
    "actuator",
    "position",
    "general",
    "keyframe",
    "key",
    "qpos",
    "fromto",
    "size",
    "euler",
    "zaxis",
    "axisangle",
    "capsule",
    "ellipsoid",
    "cylinder",
    "plane",
    "sdf",
    "hinge",
    "slide",
    "ball",
    "count",
    "offset",
    "include",
    "attach",
    "composite",
    "flexcomp",
];
/// Words of scenes.
pub const SCENE_WORDS: [&str; 51] = [
    "friction_direction",
    "static_friction",
    "rolling_friction",
    "bodies",
    "robots",
    "controllers",
    "loops",
    "pairs",
    "materials",
    "material",
    "parameters",
    "shape",
    "shapes",
    "joint",
    "parent",
    "repeat",
    "\"i = 1..3\"",
    "\"= 1 / 0\"",
    "\"= i * n\"",
    "box",
    "sphere",
    "capsule",
    "cylinder",
    "hull",
    "mesh",
    "plane",
    "height_field",
    "revolute",
    "prismatic",
    "spherical",
    "planar",
    "fixed",
    "free",
    "limits",
    "friction",
    "restitution",
    "density",
    "servo",
    "effort",
    "motion",
    "wrench",
    "actuator",
    "event-driven",
    "no-slip",
    "coulomb-pyramid",
    "fallback",
    "true",
    "[]",
    "{}",
    "nan",
    "\"{i}\"",
];

fn one(text: impl AsRef<[u8]>) -> Parts {
    vec![text.as_ref().to_vec()]
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn file(path: &str) -> Vec<u8> {
    std::fs::read(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

pub fn expressions() -> Vec<Parts> {
    let texts = [
        "1 + 2 * 3 - -4 / 5 % 6",
        "0.1 * sin(2 * pi * t) ^ 2",
        "if(t >= 1, n, max(1, min(2, 3)))",
        "((1 + n) * (t - 0.5e-3)) <= random(floor(t), abs(n), 3)",
        "atan2(sqrt(exp(1)), acos(0.5)) != tan(asin(t)) + cos(atan(n))",
    ];
    texts.map(one).to_vec()
}

pub fn lcp_texts() -> Vec<Parts> {
    let texts = [
        "2\n0\n2\n2\n2\t2\n 1.0e+00 2e0\n 3 -0.4e1\n -5 6\nremark 7",
        "3 1 3 3  2 2 2  1 3  1 3  3 2  0 1 2  1 0   0 7 8   1 5 6   1 1 1",
        "2 2 2 2 1 CSparse Version 3\ntriplet: 2-by-2, nzmax: 9 nnz: 2\n 0 0 : 0.5\n 1 0 : 2\n -1 -2",
        "2 2 2 2 2 CSparse\n2-by-2, nzmax: 3 nnz: 3, 1-norm: 3\n col 0 : locations 0 to 1\n 0 : 1\n 1 : 2\n col 1 : locations 2 to 2\n 0 : 3\n-1 -2",
        "1 1 1 2  0 1 3  0 1  0 3 3 3 3  1 4 7  2 5 8  3 6 9  10 11 12   1  5 6 8 9  2 3  4 7  10  11 12",
        "0 1 1 2  1  5 6 8 9  2 3  4 7  10  11 12",
        "2 0 2 2 2 2  1 0 0 1  5 6  -1 -inf  1 inf",
        "2 2 0 4 4 4 4 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 1 1 1 1 0.5 0.5",
        "1 1 1 1 1 1 1 1 2 1 0 1 0 0 3.5 -1 0",
    ];
    texts.map(one).to_vec()
}

pub fn lcp_jsons() -> Vec<Parts> {
    let texts = [
        r#"{"kind": "lcp", "M": [[2, 1], [1, 2]], "q": [-5, 6.5e-3], "name": "a\u00e9", "basis": "zw"}"#,
        r#"{"A": [[2, 0], [0, 1]], "C": [[1], [-1]], "g": [-1, 0], "D": [[1, 1]], "B": [[3]], "h": [-2]}"#,
        r#"{"kind": "box", "M": [[1]], "q": [1], "lo": ["-inf"], "hi": [null], "comment": ""}"#,
        r#"{"G": [[1, 0.5]], "e": [-1, 0.25], "lo": [0, 0], "hi": [0.75, "inf"]}"#,
        r#"{"G": [[1, 0.5], [1e-3, 2]], "u": [-1, 0.25]}"#,
    ];
    texts.map(one).into_iter().chain([one(file("examples/tied-masses.json"))]).collect()
}

/// A NumPy array of version 1.
fn array(descr: &str, shape: &str, fortran: bool, data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let dict = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
    [b"\x93NUMPY\x01\x00", &(dict.len() as u16).to_le_bytes()[..], dict.as_bytes(), data].concat()
}

fn doubles(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn archive(arrays: &[(&str, Vec<u8>)]) -> Parts {
    arrays.iter().flat_map(|(name, array)| [name.as_bytes().to_vec(), array.clone()]).collect()
}

pub fn lcp_archives() -> Vec<Parts> {
    let m = array("<f8", "(2, 2)", false, &doubles(&[2.0, 1.0, 1.0, 2.0]));
    let q = array("<f8", "(2,)", false, &doubles(&[-1.0, 0.5]));
    let small = array("<i4", "(2,)", false, &[1, 0, 0, 0, 255, 255, 255, 255]);
    let single = array(">f4", "(2, 2)", true, &[0x3f, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x3f, 0x80, 0, 0]);
    let (lo, hi) = (array("|b1", "(2,)", false, &[0, 0]), array("|u1", "(2,)", false, &[1, 2]));
    vec![
        archive(&[("M.npy", m.clone()), ("q.npy", q.clone())]),
        archive(&[("M.npy", single), ("q.npy", small)]),
        archive(&[("G.npy", m.clone()), ("e.npy", q.clone())]),
        archive(&[("M.npy", m), ("q.npy", q), ("lo.npy", lo), ("hi.npy", hi)]),
    ]
}

pub fn contact_jsons() -> Vec<Parts> {
    let texts = [
        r#"{"W": [[1, 0], [2.5e-3, 4]], "q": [-1, 2], "mu": ["inf"], "dim": 2, "name": "a"}"#,
        r#"{"kind": "friction", "W": {"rows": 2, "cols": 2, "entries": [[0, 0, 1], [1, 1, 1e2]]}, "q": [-1, 2], "mu": [0.5]}"#,
        r#"{"mass": [[[2, 0], [0, 2]], [[1]]], "v": [1, 0, 0.5], "force": [0, -9.81, 0], "dt": 1e-3,
  "contacts": [{"normal": [[0, [0, 1]], [1, [-1]]], "tangent_s": [[0, [1, 0]]], "mu": "inf", "gap": 1e-4, "rate": [0, 0, 1], "surface": [1, 0]}],
  "bounded": [{"row": [[1, [1]]], "lo": "-inf", "hi": 2}],
  "limits": [{"row": [], "gap": 1}], "bilateral": [{"row": [[0, [1, 1]]], "target": 1}], "kind": "contact"}"#,
        r#"{"factors": [[[2, 0], [0.5, 2]]], "v": [1, 0], "force": [0, -9.81], "dt": 1e-3,
  "contacts": [{"normal": [[0, [0, 1]]], "tangent_s": [[0, [1, 0]]], "spin": [[0, [0, 1]]], "mu": 0.5, "mu_spin": 0.01, "mu_viscous": 3, "bounce": 0.5}]}"#,
        r#"{"M": [[1]], "H": {"rows": 1, "cols": 2, "entries": [[0, 1, -1]]}, "f": [1], "b": [-1, 0.5], "mu": [0]}"#,
    ];
    let files = ["examples/many-contacts.json", "examples/motor.json", "examples/sliding-box.json"];
    texts.map(one).into_iter().chain(files.map(|path| one(file(path)))).collect()
}

pub fn contact_archives() -> Vec<Parts> {
    let matrix = array("<f8", "(2, 2)", false, &doubles(&[2.0, 0.0, 0.0, 1.0]));
    let vector = array("<f8", "(2,)", false, &doubles(&[-1.0, 0.5]));
    let mu = array("<f8", "(1,)", false, &doubles(&[0.7]));
    let dim = array("<i8", "()", false, &2i64.to_le_bytes());
    vec![
        archive(&[("W.npy", matrix.clone()), ("q.npy", vector.clone()), ("mu.npy", mu.clone()), ("dim.npy", dim)]),
        archive(&[
            ("M.npy", matrix.clone()),
            ("H.npy", matrix),
            ("f.npy", vector.clone()),
            ("b.npy", vector),
            ("mu.npy", mu),
        ]),
    ]
}

pub fn friction_texts() -> Vec<Parts> {
    let texts = [
        "3 1\n0 3 3\n3 3\n1 2 0\n0 4 0\n0 0 -0.5\n-1 2 3\n0.7 1",
        "3 1  1 3 3  3 2 2  1 3  1 3  3 3  0 1 3  0 0 1   0 1   1 2 0   2 4 0 0 -0.5   -1 2 3  0.7  1",
        "3 1 2 3 3 1 CSparse\ntriplet: 3-by-3, nzmax: 9 nnz: 2\n0 0 : 0.5\n1 0 : 2\n-1 2 3 0.7",
        "2 1 2 2 2 2 CSparse\n2-by-2, nzmax: 2 nnz: 2, 1-norm: 4\ncol 0 : locations 0 to 0\n0 : 1\ncol 1 : locations 1 to 1\n1 : 4\n2 -0.5 0.7",
        "3 1  0 3 3 3 3  1 2 0 0 4 0 0 0 -0.5  0 3 3 3 3  1 0 0 0 0 3 0 -2 0  1 2 3  -1 0 0.25  0.5",
        "2 2  1 2 2 0  1 2 4 0  1 2  -1 0 0.25 1e-300  0.5 inf",
        "5 1 1 5 5 0 1 2 3 4 5 0.5 0.1",
    ];
    texts.map(one).to_vec()
}

pub fn fclib() -> Vec<Parts> {
    use hdf5::Node::{Floats, Group, Integers};
    let integers = |x: &[i32]| Integers(x.to_vec());
    let matrix = |nz: i32, p: &[i32]| {
        Group(vec![
            ("m", integers(&[2])),
            ("n", integers(&[2])),
            ("nz", integers(&[nz])),
            ("p", integers(p)),
            ("i", integers(&[0, 1, 1])),
            ("x", Floats(vec![1.0, -0.5, 2.0])),
        ])
    };
    let vectors = Group(vec![("q", Floats(vec![1.0, -1.0])), ("mu", Floats(vec![0.5]))]);
    let local = Group(vec![("spacedim", integers(&[2])), ("W", matrix(3, &[0, 0, 1])), ("vectors", vectors)]);
    let vectors = Group(vec![("f", Floats(vec![1.0; 2])), ("w", Floats(vec![1.0, -1.0])), ("mu", Floats(vec![0.5]))]);
    let global = Group(vec![
        ("spacedim", integers(&[2])),
        ("M", matrix(-1, &[0, 2, 3])),
        ("H", matrix(-2, &[0, 1, 3])),
        ("vectors", vectors),
    ]);
    let files = [Group(vec![("fclib_local", local)]), Group(vec![("fclib_global", global)])];
    hdf5::FORMS.iter().flat_map(|form| files.iter().map(|file| one(hdf5::write(file, *form)))).collect()
}

/// Corners of the triangles of a tetrahedron.
const TETRAHEDRON: [[[f32; 3]; 3]; 4] = [
    [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]],
    [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
    [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]],
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
];

/// The triangles of a sphere of so many rings.
fn sphere(rings: u16) -> Vec<[[f32; 3]; 3]> {
    let at = |i: u16, j: u16| {
        let (a, b) = (
            f32::from(i) * std::f32::consts::PI / f32::from(rings),
            f32::from(j) * std::f32::consts::TAU / f32::from(rings),
        );
        [a.sin() * b.cos(), a.sin() * b.sin(), a.cos()]
    };
    let cell =
        |i: u16, j: u16| [[at(i, j), at(i + 1, j), at(i, j + 1)], [at(i, j + 1), at(i + 1, j), at(i + 1, j + 1)]];
    (0..rings).flat_map(|i| (0..rings).flat_map(move |j| cell(i, j))).collect()
}

pub fn stl() -> Vec<Parts> {
    let binary = |triangles: &[[[f32; 3]; 3]]| {
        let header = [[b' '; 80].to_vec(), (triangles.len() as u32).to_le_bytes().to_vec()].concat();
        let body = triangles.iter().flat_map(|t| {
            let corners = t.iter().flatten().flat_map(|x| x.to_le_bytes());
            [0; 12].into_iter().chain(corners).chain([0; 2]).collect::<Vec<u8>>()
        });
        vec![header, body.collect()]
    };
    let mut text = "solid a name\n".to_string();
    for t in TETRAHEDRON {
        text += " facet normal 0 0 0\n  outer loop\n";
        t.iter().for_each(|[x, y, z]| text += &format!("   VERTEX {x:e} {y} {z}\n"));
        text += "  endloop\n endfacet\n";
    }
    vec![binary(&TETRAHEDRON), binary(&sphere(5)), one(text + "endsolid\n")]
}

pub fn obj() -> Vec<Parts> {
    let small = "# a tetrahedron\nmtllib a.mtl\no a\nv 0 0 0\nv 1 0 0 0.5 0.5 0.5\nv 0 1 0\nv 0 0 1\nv 9 9 9\nvt 0 0\nvn 0 0 1\n\
        f 1/1/1 3/1/1 2/1/1\nf 1//1 2//1 \\\n 4//1\nf -5 -2 -3 # counted back\nf 2/1 3 4\n";
    let triangles = sphere(5);
    let vertices = triangles.iter().flatten().map(|[x, y, z]| format!("v {x} {y} {z}\n"));
    let faces = (0..triangles.len()).map(|k| format!("f {} {} {}\n", 3 * k + 1, 3 * k + 2, 3 * k + 3));
    vec![one(small), one(vertices.chain(faces).collect::<String>())]
}

pub fn ply() -> Vec<Parts> {
    let header = |format: &str| {
        format!(
            "ply\nformat {format} 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nelement face 4\n\
             property list uchar int vertex_indices\nend_header\n"
        )
    };
    let text = header("ascii") + "0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n";
    let mut binary = header("binary_little_endian").into_bytes();
    for x in [0.0_f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0] {
        binary.extend(x.to_le_bytes());
    }
    for face in [[0_u32, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]] {
        binary.push(3);
        face.iter().for_each(|v| binary.extend(v.to_le_bytes()));
    }
    vec![one(text), one(binary)]
}

pub fn glb() -> Vec<Parts> {
    let json = r#"{"scenes":[{"nodes":[0]}],"nodes":[{"scale":[1,2,3],"children":[1]},{"mesh":0,"rotation":[0,0,1,0]}],
"meshes":[{"primitives":[{"attributes":{"POSITION":1},"indices":0}]}],
"accessors":[{"bufferView":0,"componentType":5121,"count":12,"type":"SCALAR"},{"bufferView":1,"componentType":5126,"count":4,"type":"VEC3"}],
"bufferViews":[{"buffer":0,"byteLength":12},{"buffer":0,"byteOffset":12,"byteLength":48}]}"#;
    let mut binary = vec![0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3];
    for x in [0.0_f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0] {
        binary.extend(x.to_le_bytes());
    }
    let mut out = b"glTF\x02\0\0\0\0\0\0\0".to_vec();
    for (name, data) in [(b"JSON", json.as_bytes()), (b"BIN\0", &binary)] {
        out.extend((data.len() as u32).to_le_bytes());
        out.extend(name);
        out.extend(data);
    }
    vec![one(out)]
}

pub fn dae() -> Vec<Parts> {
    vec![one(r##"<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit meter="0.5"/><up_axis>Y_UP</up_axis></asset>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="pa" count="12">0 0 0 1 0 0 0 1 0 0 0 1</float_array>
<technique_common><accessor source="#pa" count="4" stride="3"/></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<polylist count="1"><input semantic="VERTEX" source="#v" offset="1"/><input semantic="NORMAL" source="#n" offset="0"/>
<vcount>3 3</vcount><p>0 0 0 2 0 1 0 0 0 1 0 3</p></polylist>
<triangles count="2"><input semantic="VERTEX" source="#v" offset="0"/><p>0 3 2 1 2 3</p></triangles>
</mesh></geometry></library_geometries>
<library_nodes><node id="shared"><scale>2 2 2</scale><instance_geometry url="#g"/></node></library_nodes>
<library_visual_scenes><visual_scene id="s"><node><translate>1 2 3</translate><rotate>0 0 1 90</rotate>
<matrix>1 0 0 1 0 1 0 2 0 0 1 3 0 0 0 1</matrix><instance_node url="#shared"/></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>"##)]
}

/// Header, rows after their filters, and a palette where there is one.
pub fn pngs() -> Vec<Parts> {
    let header = |width: u32, height: u32, depth: u8, color: u8, interlaced: u8| {
        [&width.to_be_bytes()[..], &height.to_be_bytes(), &[depth, color, 0, 0, interlaced]].concat()
    };
    let rows =
        |height: u8, bytes: usize| (0..height).flat_map(|r| [vec![r % 5], vec![r * 40; bytes]].concat()).collect();
    vec![
        vec![header(4, 4, 8, 0, 0), rows(4, 4)],
        vec![header(3, 4, 16, 2, 0), rows(4, 18)],
        vec![header(9, 3, 1, 0, 0), rows(3, 2)],
        vec![header(4, 3, 8, 3, 0), rows(3, 4), vec![7; 3 * 161]],
        vec![header(4, 4, 8, 6, 0), rows(4, 16)],
        vec![header(4, 4, 8, 0, 1), rows(4, 9)],
    ]
}

pub fn binary_fields() -> Vec<Parts> {
    let field = |rows: i32, columns: i32| {
        let counts = [rows, columns].iter().flat_map(|x| x.to_le_bytes()).collect();
        let heights = (0..rows * columns).flat_map(|i| ((i * i % 7) as f32).to_le_bytes()).collect();
        vec![counts, heights]
    };
    vec![field(2, 3), field(5, 5), field(2, 2)]
}

pub fn msh() -> Vec<Parts> {
    let mesh = |triangles: &[[[f32; 3]; 3]]| {
        let n = triangles.len() as i32;
        let counts = [3 * n, 0, 1, n].iter().flat_map(|x| x.to_le_bytes()).collect();
        let vertices = triangles.iter().flatten().flatten().flat_map(|x| x.to_le_bytes()).collect();
        vec![counts, vertices, vec![0; 8], (0..3 * n).flat_map(i32::to_le_bytes).collect()]
    };
    vec![mesh(&TETRAHEDRON), mesh(&sphere(4))]
}

pub fn urdf() -> Vec<Parts> {
    let robot = r#"<?xml version="1.0"?>
<robot name="arm">
<material name="grey"><color rgba="1 1 1 1"/></material>
<link name="base">
<inertial><mass value="3"/><origin xyz="0 0 0.1"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.25"/></inertial>
<visual><geometry><box size="1 1 1"/></geometry></visual>
<collision name="foot"><origin xyz="0 0 0.05"/><geometry><box size="0.2 0.4 0.1"/></geometry></collision>
<collision><geometry><sphere radius="0.3"/></geometry></collision>
</link>
<joint name="shoulder" type="revolute">
<parent link="base"/><child link="upper"/><origin xyz="1 2 3" rpy="1.57 0 1.57"/><axis xyz="0 0 2"/>
<limit lower="-1" upper="2" effort="30" velocity="4"/><dynamics damping="0.5" friction="0.25"/>
</joint>
<link name="upper">
<inertial><mass value="1"/><origin xyz="0.5 0 0" rpy="0 0 1.57"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.25"/></inertial>
<collision><geometry><cylinder radius="0.1" length="0.6"/></geometry></collision>
<collision><geometry><capsule radius="0.1" length="0.6"/></geometry></collision>
</link>
<joint name="slide" type="prismatic">
<parent link="upper"/><child link="hand"/><limit lower="0" upper="0.1" effort="1" velocity="1"/>
<mimic joint="shoulder" multiplier="2" offset="0.5"/>
</joint>
<link name="hand"><inertial><mass value="0.5"/><inertia ixx="1e-3" ixy="0" ixz="0" iyy="1e-3" iyz="0" izz="1e-3"/></inertial></link>
<joint name="tool" type="fixed"><parent link="hand"/><child link="tip"/><origin xyz="0 0 0.1"/></joint>
<link name="tip"/>
<joint name="p" type="planar"><parent link="tip"/><child link="q"/></joint>
<link name="q"><inertial><mass value="0.5"/><inertia ixx="1e-3" ixy="0" ixz="0" iyy="1e-3" iyz="0" izz="1e-3"/></inertial></link>
<transmission name="t"><type>simple</type></transmission>
<gazebo reference="hand"><mu1>0.5</mu1><mu2>0.3</mu2></gazebo>
</robot>"#;
    vec![one(robot), one(file("examples/arm.urdf"))]
}

pub fn sdf() -> Vec<Parts> {
    let world = r#"<sdf version="1.9"><world name="lab"><gravity>0 0 -9.8</gravity><physics type="ode"><max_step_size>0.002</max_step_size></physics>
<model name="ground"><static>true</static><link name="floor"><collision name="c"><geometry><plane><normal>0 0 1</normal></plane></geometry>
<surface><friction><ode><mu>0.7</mu><mu2>0.7</mu2></ode></friction><bounce><restitution_coefficient>0.1</restitution_coefficient></bounce></surface>
</collision></link></model>
<model name="arm"><pose degrees="true">1 0 2 0 0 90</pose><frame name="pivot" attached_to="upper"><pose>0 0 0.5 0 0 0</pose></frame>
<link name="upper"><pose>0 0 -0.25 0 0 0</pose><inertial><mass>2</mass><inertia><ixx>0.02</ixx><iyy>0.02</iyy><izz>0.001</izz></inertia></inertial>
<visual name="v"><geometry><box><size>1 1 1</size></box></geometry><material><diffuse>1 0 0 1</diffuse></material></visual>
<collision name="c"><geometry><cylinder><radius>0.02</radius><length>0.5</length></cylinder></geometry></collision></link>
<link name="lower"><pose relative_to="pivot">0 0 -0.5 0 0 0</pose><collision name="c"><geometry><ellipsoid><radii>0.1 0.2 0.3</radii></ellipsoid></geometry></collision></link>
<model name="tool"><pose relative_to="lower">0 0 -1 0 0 0</pose><link name="tip"/></model>
<joint name="top" type="revolute"><pose relative_to="pivot"/><parent>world</parent><child>upper</child><axis><xyz expressed_in="__model__">1 0 0</xyz>
<limit><lower>-1</lower><upper>1e16</upper><effort>3</effort></limit><dynamics><damping>0.1</damping><friction>0.2</friction></dynamics></axis></joint>
<joint name="elbow" type="universal"><parent>upper</parent><child>lower</child><axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2></joint>
<joint name="grip" type="ball"><parent>lower</parent><child>tool::tip</child></joint></model></world></sdf>"#;
    vec![one(world)]
}

/// Words of SDFormat.
pub const SDF_WORDS: [&str; 8] = [
    "relative_to=\"lower\"",
    "<pose>",
    "</pose>",
    "tool::tip",
    "__model__",
    "<include><uri>model://a</uri></include>",
    "world",
    "1e16",
];

pub fn mjcf() -> Vec<Parts> {
    let model = r#"<mujoco model="all">
<compiler angle="radian" eulerseq="XYZ" boundmass="0.1" boundinertia="0.01" balanceinertia="true" inertiagrouprange="0 4" autolimits="true"/>
<option timestep="0.001" gravity="0 0 -9.8" integrator="implicitfast"><flag warmstart="enable"/></option>
<default>
<geom friction="0.8 0.01" condim="4" solref="0.02 1"/><joint damping="0.1" armature="0.01"/><position kp="30" kv="2"/>
<default class="leg"><geom size="0.05 0.2" type="capsule"/><default class="foot"><geom type="sphere" size="0.05" priority="1"/>
</default></default>
</default>
<asset>
<mesh name="tetra" vertex="0 0 0 1 0 0 0 1 0 0 0 1" scale="0.1 0.1 0.1" inertia="convex"/>
<mesh name="faces" vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 2 1 0 1 3 0 3 2 1 2 3" refpos="0.1 0 0" refquat="1 1 0 0"/>
<hfield name="hills" nrow="3" ncol="3" size="5 5 0.5 0.1" elevation="0 1 0 1 2 1 0 1 0"/>
<hfield name="flat" nrow="4" ncol="5" size="5 5 0.5 0.1"/>
</asset>
<worldbody>
<geom name="floor" type="plane" size="0 0 1" friction="0.6"/><geom type="hfield" hfield="hills" pos="20 0 0"/><light pos="0 0 3"/>
<geom type="hfield" hfield="flat" pos="40 0 0"/>
<body name="trunk" pos="0 0 0.5" euler="0.1 0.2 0.3" childclass="leg">
<freejoint name="root"/><geom name="box" type="box" size="0.2 0.1 0.05" mass="5"/><site name="imu" pos="0 0 0.1"/>
<replicate count="2" offset="0 0.2 0" euler="0 0 0.5" sep="-">
<body name="hip" pos="0.2 0 0"><joint name="hx" axis="1 0 0" range="-1 1"/><joint name="hy" axis="0 1 0" ref="0.3" range="-2 2"/>
<geom fromto="0 0 0 0 0 -0.3"/>
<frame pos="0 0 -0.3"><body name="shin" xyaxes="1 0 0 0 1 0"><joint name="knee" axis="0 1 0" springdamper="0.1 1"/>
<geom fromto="0 0 0 0 0 -0.3"/>
<geom class="foot" name="foot" pos="0 0 -0.3"/></body></frame></body>
</replicate>
</body>
<body name="tool" pos="1 0 1" zaxis="0 1 1"><joint type="ball" pos="0 0 0.1"/>
<inertial pos="0 0 0" mass="1" fullinertia="1 1 1 0.1 0 0"/><geom type="mesh" mesh="tetra"/>
<body name="jaw"><joint name="jaw" type="slide" stiffness="5" springref="0.1" frictionloss="0.2" actuatorfrcrange="-3 3"/>
<geom type="ellipsoid" size="0.1 0.2 0.3"/></body>
<body name="jaw2"><joint name="jaw2" type="slide"/><geom type="cylinder" mesh="faces" fitscale="1.1"/></body></body>
</worldbody>
<contact><pair geom1="floor" geom2="box" friction="1 1 0.01"/><exclude body1="trunk" body2="tool"/></contact>
<equality><joint joint1="jaw2" joint2="jaw" polycoef="0 -1 0 0 0"/><connect body1="tool" body2="trunk" anchor="0 0 0"/>
<weld body1="jaw" body2="world" relpose="0 0 0 1 0 0 0"/></equality>
<tendon><fixed name="grip"><joint joint="jaw" coef="0.5"/><joint joint="jaw2" coef="0.5"/></fixed></tendon>
<actuator><position name="k" joint="knee" dampratio="1" ctrlrange="-1 1" forcerange="-9 9"/><motor joint="hx" gear="3"/>
<velocity joint="jaw" kv="3"/>
<general tendon="grip" biastype="affine" gainprm="2" biasprm="0 -20 -1"/></actuator>
<sensor><gyro site="imu"/></sensor>
<keyframe><key name="home" qpos="0 0 0.5 1 0 0 0 0 0.3 0 0 0.3 0 1 0 0 0 0 0"/></keyframe>
</mujoco>"#;
    vec![one(model), one(DRIVEN), one(file("examples/slider.xml"))]
}

/// A model with what acts and what measures.
const DRIVEN: &str = r#"<mujoco model="driven"><option density="1.2" viscosity="1e-5" wind="1 0 0"/>
<worldbody><site name="up" pos="0 0 1"/><geom name="post" type="cylinder" size=".05 .2" pos=".3 0 .6"/><site name="side" pos=".3 0 .8"/>
<body name="arm" gravcomp="1"><joint name="a" axis="0 1 0" range="-1 2" limited="true"/><geom type="capsule" size=".02" fromto="0 0 0 .3 0 0"/>
<site name="tip" pos=".3 0 0"/><body name="hand" pos=".3 0 0"><joint name="b" type="ball" stiffness="2"/><geom name="ball" size=".05"/>
<site name="palm" type="box" size=".1 .1 .1"/></body></body>
<body name="drone" pos="1 0 1"><freejoint name="f"/><geom type="box" size=".1 .1 .05"/><site name="rotor" pos=".1 .1 0"/></body>
<body name="crank" pos="2 0 0"><joint name="c"/><geom size=".05"/><site name="pin" pos=".1 0 0"/></body><site name="slider" pos="2 .5 0" euler="1.57 0 0"/>
</worldbody>
<tendon><spatial name="rope" range="0 3" limited="true" stiffness="10" springlength=".5 1" damping="1" frictionloss=".1" armature=".01">
<site site="up"/><geom geom="post" sidesite="side"/><site site="tip"/><pulley divisor="2"/><site site="tip"/><geom geom="ball"/><site site="rotor"/></spatial>
<fixed name="sum"><joint joint="a" coef="1"/><joint joint="c" coef="-2"/></fixed></tendon>
<actuator><muscle name="m" tendon="rope" lengthrange=".2 2"/><general name="g" site="rotor" gear="0 0 1 0 0 .1" ctrlrange="0 5"/>
<intvelocity name="i" joint="a" kp="5" actrange="-1 1"/><cylinder name="y" joint="c" timeconst=".1" area="2" bias="0 -1 0"/>
<damper name="d" tendon="sum" kv="1" ctrlrange="0 1"/><motor name="s" cranksite="pin" slidersite="slider" cranklength=".5"/>
<position name="p" site="palm" refsite="up" gear="1 0 0 0 1 0" kp="3" forcerange="-1 2"/><motor name="w" joint="b" gear="1 2 3" forcerange="-1 1"/>
<adhesion name="h" body="hand" gain="3" ctrlrange="0 1"/></actuator>
<sensor><accelerometer site="palm"/><velocimeter site="palm"/><gyro site="palm" cutoff="2"/><force site="palm"/><torque site="palm"/><touch site="palm"/>
<magnetometer site="tip"/><jointpos joint="a"/><jointvel joint="c"/><jointactuatorfrc joint="a"/><ballquat joint="b"/><ballangvel joint="b"/>
<tendonpos tendon="rope"/><tendonvel tendon="sum"/><tendonactuatorfrc tendon="rope"/><actuatorpos actuator="m"/><actuatorvel actuator="s"/>
<actuatorfrc actuator="p"/><framepos objtype="site" objname="tip" reftype="xbody" refname="drone"/><framequat objtype="xbody" objname="hand"/>
<framelinvel objtype="site" objname="palm"/><framelinacc objtype="site" objname="palm"/><frameangacc objtype="geom" objname="ball"/>
<subtreecom body="arm"/><subtreelinvel body="arm"/><subtreeangmom body="drone"/><e_potential/><e_kinetic/><clock/></sensor>
<keyframe><key name="up" time="1" qpos=".1 1 0 0 0 1 0 1 1 0 0 0 .2" qvel="1 0 0 0 0 0 0 0 0 0 1" ctrl="1 2 0 1 0 0 0 0 1" act=".5 .1 0"/></keyframe>
</mujoco>"#;

/// The scenes of the repository, and one with everything these do not have.
pub fn scenes() -> Vec<Parts> {
    let folder = root().join("scenes");
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "toml"));
    files.sort();
    let mut scenes: Vec<Parts> = files.iter().filter_map(|path| Some(one(std::fs::read(path).ok()?))).collect();
    scenes.push(one(EVERYTHING));
    scenes.push(one(SMALL));
    scenes
}

const SMALL: &str = r#"dt = 0.01

[parameters]
n = 2

[[bodies]]
name = "ground"
fixed = true
friction = [0.5, 0.3]
friction_direction = [1, 0, 0]
rolling_friction = 0.001
shape = { plane = true }

[[bodies]]
name = "block{i}"
repeat = "i = 1..n"
mass = 1
position = [0, 0, "= 0.1 * (2 * i - 1)"]
shape = { box = [0.2, 0.2, 0.2] }
"#;

const EVERYTHING: &str = r#"title = "everything"
dt = 0.002
duration = 0.1
gravity = [0, 0.1, -9.81]
model = "coulomb-cone"
tolerance = 1e-10
on_failure = "fallback"
restitution_speed = 0.02
friction_rule = "minimum"
keep_duplicates = true

[parameters]
a = 0.1
b = 0.2

[material]
friction = 0.4
restitution = 0.2

[[materials]]
name = "rubber"
friction = inf
torsional_friction = 0.01
surface_velocity = [0.1, 0, 0]

[[bodies]]
name = "ground"
fixed = true
shapes = [
    { plane = true, position = [0, 0, -1] },
    { height_field = { points = [4, 3], size = [2, 2], height = "= 0.1 * x * y" } },
    { height_field = { size = [1, 1], heights = [[0, 0.1], [0.1, 0]] }, position = [5, 0, 0] },
]

[[bodies]]
name = "hull{i}{j}"
repeat = ["i = 1..2", "j = 1..i"]
density = 1000
position = ["= i", "= 3 * j", 2]
rpy = [0.1, 0.2, 0.3]
velocity = [0, 0, -1]
angular_velocity = [1, 0, 0]
material = "rubber"
groups = 3
collides_with = 1
shape = { hull = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]] }

[[bodies]]
name = "arm"
mass = 1
inertia = [0.1, 0.1, 0.1]
center_of_mass = [0, 0, 0.1]
joint = { type = "revolute", axis = [0, 1, 0], limits = [-1, 1], damping = 0.1, friction = 0.2, armature = 0.01, effort = 5, stiffness = 3, rest = 0.1, position = 0.2, velocity = 0.1 }
position = [0, 0, 3]
shape = { capsule = [0.05, 0.3], orientation = [1, 0, 0, 0] }

[[bodies]]
name = "ball"
parent = "arm"
mass = 0.3
joint = { type = "spherical" }
position = [0, 0, 0.5]
shape = { sphere = 0.1 }

[[bodies]]
name = "drum"
mass = 2
position = [-3, 0, 2]
shape = { cylinder = [0.2, 0.4] }

[[robots]]
name = "robot"
file = "arm.urdf"
base = "fixed"
position = [10, 0, 0]
self_collision = false

[[pairs]]
a = "drum"
b = "ball"
collide = false

[[loops]]
type = "point"
a = "drum"
b = "world"
at = [-3, 0, 2.2]

[[controllers]]
type = "servo"
joint = "arm"
kp = 10
kd = 1
ki = 0.1
target = "= sin(t)"

[[controllers]]
type = "wrench"
body = "drum"
force = [1, "= t", [[0, 1], [1, 2]]]
"#;

/// A small simulation that has made a few steps.
pub fn stack() -> Simulation {
    let scene = Scene::parse(SMALL, Path::new(""), &[]).expect("a scene of this file");
    let mut simulation = scene.simulation().expect("a scene of this file");
    for _ in 0..3 {
        simulation.step().expect("two blocks on the ground");
    }
    simulation
}

pub fn saved_states() -> Vec<Parts> {
    // Magic, version and sum are put before it again.
    vec![vec![stack().save_state()[20..].to_vec()]]
}

pub fn recordings() -> Vec<Parts> {
    vec![pack::recording_parts(&record(SMALL))]
}

/// A recording of three steps.
fn record(text: &str) -> Vec<u8> {
    let directory = root().join("examples");
    let scene = Scene::parse(text, &directory, &[]).expect("a scene of this file");
    let origin = Origin {
        file: String::new(),
        overlay: Default::default(),
        directory: directory.display().to_string(),
        text: text.into(),
        parameters: vec![],
    };
    let mut simulation = scene.simulation().expect("a scene of this file");
    let mut recorder =
        Recorder::new(Vec::new(), &Header::new(origin, &scene, 1), &simulation).expect("writing to memory");
    for _ in 0..3 {
        let report = simulation.step().expect("a scene of this file");
        recorder.step(&simulation, &report).expect("writing to memory");
    }
    recorder.finish(&simulation, None).expect("writing to memory")
}
