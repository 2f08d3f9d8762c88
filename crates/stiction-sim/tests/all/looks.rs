//! Colours and what is only drawn: read from every kind of file, and without any effect on a simulation.

use stiction_body::ShapeKind;
use stiction_body::math::Vec3;
use stiction_sim::looks::{Visual, default_color};
use stiction_sim::mjcf::MjcfOptions;
use stiction_sim::urdf::UrdfOptions;
use stiction_sim::{Description, NoteKind, Scene, Simulation, meshes, mjcf, urdf};

const TETRAHEDRON: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

/// A folder of its own with a good and a broken mesh.
fn folder(name: &str) -> std::path::PathBuf {
    let path = std::env::temp_dir().join(format!("stiction-looks-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    std::fs::write(path.join("good.obj"), TETRAHEDRON).unwrap();
    std::fs::write(path.join("broken.obj"), "v 0 0\nf 1 2 3\n").unwrap();
    path
}

fn noted(d: &Description, text: &str) -> bool {
    d.notes.iter().any(|n| n.kind == NoteKind::Warning && n.text.contains(text))
}

fn triangles(visual: &Visual) -> usize {
    visual.shape.triangulated(8, 1.0).triangles.len()
}

#[test]
fn urdf_visuals_have_shapes_and_colors() {
    let folder = folder("urdf");
    let visual = |geometry: &str, more: &str| format!("<visual><geometry>{geometry}</geometry>{more}</visual>");
    let text = format!(
        "<robot name='r'><material name='steel'><color rgba='.1 .2 .3 1'/></material><link name='a'>
           <inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>
           <collision><geometry><sphere radius='1'/></geometry></collision>{}{}{}{}{}</link></robot>",
        visual("<box size='1 2 3'/>", "<origin xyz='1 0 0'/><material name='steel'/>"),
        visual("<mesh filename='good.obj' scale='2 2 2'/>", "<material><color rgba='1 0 0 .5'/></material>"),
        visual("<mesh filename='broken.obj'/>", ""),
        visual("<mesh filename='missing.obj'/>", ""),
        visual("<bx size='1 1 1'/>", "<material><color rgba='red'/></material>"),
    );
    let d = urdf::parse(&text, &folder, &UrdfOptions::default()).unwrap();
    assert_eq!(d.visuals.len(), 2);
    assert_eq!(d.visuals[0].look.rgba, Some([0.1, 0.2, 0.3, 1.0]));
    assert_eq!(d.visuals[0].pose.translation, Vec3::X);
    assert_eq!(d.visuals[1].look.rgba, Some([1.0, 0.0, 0.0, 0.5]));
    assert_eq!(triangles(&d.visuals[1]), 4);
    assert!(!d.geoms[0].look.drawn, "the collision shape is not drawn where there are others");
    for text in ["broken.obj", "missing.obj", "there is no such shape", "finite numbers"] {
        assert!(noted(&d, text), "no note with {text} in {:#?}", d.notes);
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// A picture of two pixels, red and blue.
fn texture() -> Vec<u8> {
    let mut bytes = vec![];
    let mut encoder = png::Encoder::new(&mut bytes, 2, 1);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header().and_then(|mut w| w.write_image_data(&[255, 0, 0, 0, 0, 255])).unwrap();
    bytes
}

const MTL: &str = "newmtl red\nKd 1 0 0\nd 0.5\nnewmtl bitmap\nKd 1 1 1\nmap_Kd t.png\nnewmtl lost\nKd 0 0 1\nmap_Kd lost.png\n\
    newmtl broken\nKd spectral x\n";
const COLORED_OBJ: &str = "mtllib a file.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nusemtl red\nf 1 3 2\nusemtl bitmap\nf 1 2 4\n\
    usemtl red\nf 1 4 3\nusemtl lost\nf 2 3 4\nusemtl broken\nf 2 3 4\n";

/// The geometry has two primitives, and each of its two instances binds materials of its own to
/// them.
fn colored_collada() -> String {
    let effect = |name: &str, diffuse: &str| {
        format!(
            "<effect id='{name}-fx'><profile_COMMON><newparam sid='s'><surface><init_from>image</init_from></surface></newparam>
             <newparam sid='s2'><sampler2D><source>s</source></sampler2D></newparam>
             <technique><phong><emission><color>0 0 0 1</color></emission><diffuse>{diffuse}</diffuse></phong></technique></profile_COMMON></effect>"
        )
    };
    let material = |name: &str| format!("<material id='{name}'><instance_effect url='#{name}-fx'/></material>");
    let instance = |place: &str, bound: [&str; 2]| {
        format!(
            "<node><translate>{place}</translate><instance_geometry url='#g'><bind_material><technique_common>
             <instance_material symbol='first' target='#{}'/><instance_material symbol='second' target='#{}'/>
             </technique_common></bind_material></instance_geometry></node>",
            bound[0], bound[1]
        )
    };
    let triangles = |symbol: &str, corners: &str| {
        format!(
            "<triangles material='{symbol}'><input semantic='VERTEX' source='#v' offset='0'/><p>{corners}</p></triangles>"
        )
    };
    [
        "<COLLADA><library_images><image id='image'><init_from>t.png</init_from></image></library_images><library_effects>",
        &effect("green", "<color>0 1 0 0</color>"),
        &effect("bitmap", "<texture texture='s2' texcoord='x'/>"),
        "</library_effects><library_materials>",
        &material("green"),
        &material("bitmap"),
        "</library_materials><library_geometries><geometry id='g'><mesh>
         <source id='p'><float_array>0 0 0 1 0 0 0 1 0 0 0 1</float_array></source>
         <vertices id='v'><input semantic='POSITION' source='#p'/></vertices>",
        &triangles("first", "0 2 1 0 1 3"),
        &triangles("second", "0 3 2 1 2 3"),
        "</mesh></geometry></library_geometries><library_visual_scenes><visual_scene>",
        &instance("0 0 0", ["green", "bitmap"]),
        &instance("5 0 0", ["nothing", "green"]),
        "</visual_scene></library_visual_scenes></COLLADA>",
    ]
    .concat()
}

/// Two triangles, one with a texture times a half, one in a material without anything, which is
/// white.
fn colored_glb() -> Vec<u8> {
    let (mut binary, texture) = (vec![], texture());
    let places = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0_f32]];
    places.iter().flatten().for_each(|x| binary.extend(x.to_le_bytes()));
    binary.extend(&texture);
    let json = format!(
        r#"{{"scene":0,"scenes":[{{"nodes":[0,1]}}],"nodes":[{{"mesh":0}},{{"mesh":0,"translation":[0,0,1]}}],
        "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}},"material":0}},{{"attributes":{{"POSITION":0}},"material":1}},
          {{"attributes":{{"POSITION":0}},"material":"x"}}]}}],
        "materials":[{{"pbrMetallicRoughness":{{"baseColorFactor":[1,0.5,1,0.25],"baseColorTexture":{{"index":0}}}},"alphaMode":"BLEND"}},{{}}],
        "textures":[{{"source":0}}],"images":[{{"bufferView":1,"mimeType":"image/png"}}],
        "accessors":[{{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"}}],
        "bufferViews":[{{"buffer":0,"byteLength":36}},{{"buffer":0,"byteOffset":36,"byteLength":{}}}]}}"#,
        texture.len()
    );
    let mut out = b"glTF\x02\0\0\0\0\0\0\0".to_vec();
    for (name, data) in [(b"JSON", json.as_bytes()), (b"BIN\0", &binary)] {
        out.extend((data.len() as u32).to_le_bytes());
        out.extend(name);
        out.extend(data);
    }
    out
}

#[test]
fn mesh_files_have_colors() {
    let folder = folder("colors");
    std::fs::write(folder.join("a file.mtl"), MTL).unwrap();
    std::fs::write(folder.join("t.png"), texture()).unwrap();
    std::fs::write(folder.join("a.obj"), COLORED_OBJ).unwrap();
    std::fs::write(folder.join("a.dae"), colored_collada()).unwrap();
    std::fs::write(folder.join("a.glb"), colored_glb()).unwrap();
    let violet = [0.5, 0.0, 0.5, 1.0];
    let parts = |name: &str| {
        let mesh = meshes::load_colored(&folder.join(name), Vec3::ONE).unwrap();
        let count: usize = mesh.parts.iter().map(|p| p.mesh.triangles.len()).sum();
        assert_eq!(
            (count, &mesh.whole),
            (mesh.whole.triangles.len(), &meshes::load(&folder.join(name), Vec3::ONE).unwrap())
        );
        let parts: Vec<_> = mesh.parts.iter().map(|p| (p.rgba, p.mesh.triangles.len())).collect();
        (parts, mesh.notes)
    };
    let (obj, notes) = parts("a.obj");
    assert_eq!(obj, [(Some([1.0, 0.0, 0.0, 0.5]), 2), (Some(violet), 1), (Some([0.0, 0.0, 1.0, 1.0]), 1), (None, 1)]);
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(
        notes[0].contains("t.png\" is drawn as one colour per triangle") && notes[1].contains("lost.png"),
        "{notes:?}"
    );
    assert_eq!(parts("a.dae").0, [(Some([0.0, 1.0, 0.0, 1.0]), 4), (Some(violet), 2), (None, 2)]);
    let (glb, _) = parts("a.glb");
    assert_eq!((glb.len(), glb[1].1, glb[2]), (3, 2, (None, 2)));
    assert!(glb[1].0.unwrap().iter().all(|x| (x - 1.0).abs() < 1e-12), "{glb:?}");
    let [r, g, b, opacity] = glb[0].0.unwrap();
    assert!((r - 0.5).abs() < 1e-12 && g == 0.0 && (b - 0.5).abs() < 1e-12 && opacity == 0.25, "{glb:?}");

    // A hundred colours become 64 that are near.
    let materials: String = (0..100).map(|i| format!("newmtl m{i}\nKd {} 0 0\n", f64::from(i) / 100.0)).collect();
    std::fs::write(folder.join("many.mtl"), materials).unwrap();
    let faces: String = (0..200).map(|i| format!("usemtl m{}\nf 1 2 3\n", i % 100)).collect();
    std::fs::write(folder.join("many.obj"), format!("mtllib many.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\n{faces}")).unwrap();
    let (many, _) = parts("many.obj");
    assert!(many.len() == 64 && many.iter().all(|p| p.0.is_some()), "{many:?}");

    // In a robot they come before its material; in a scene a colour that is given comes before
    // them.
    let robot = "<robot name='r'><link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>
        <visual><geometry><mesh filename='a.obj'/></geometry><material name='m'><color rgba='0 1 0 1'/></material></visual></link></robot>";
    let d = urdf::parse(robot, &folder, &UrdfOptions::default()).unwrap();
    let colors: Vec<_> = d.visuals.iter().map(|v| v.look.rgba.unwrap()[..3].to_vec()).collect();
    assert_eq!(colors, [[1.0, 0.0, 0.0], [0.5, 0.0, 0.5], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]);
    let world = |more: &str| {
        let text = format!("[[bodies]]\nname = \"b\"\nmass = 1\nshape = {{ mesh = \"a.obj\"{more} }}");
        Scene::parse(&text, &folder, &[]).unwrap().world
    };
    assert_eq!(
        world("").visuals.iter().map(|v| v.look.rgba).collect::<Vec<_>>(),
        obj.iter().map(|p| p.0).collect::<Vec<_>>()
    );
    assert!(world(", color = [0, 0, 1]").visuals.iter().all(|v| v.look.rgba == Some([0.0, 0.0, 1.0, 1.0])));
    std::fs::remove_dir_all(folder).unwrap();
}

/// A JPEG file of 8 × 8 pixels of the grey 133: tables with one code each, and one block.
fn grey_jpeg() -> Vec<u8> {
    let mut bytes = vec![0xff, 0xd8, 0xff, 0xdb, 0, 67, 0];
    bytes.extend([1; 64]);
    bytes.extend([0xff, 0xc0, 0, 11, 8, 0, 8, 0, 8, 1, 1, 0x11, 0]);
    for (table, symbol) in [(0x00, 6), (0x10, 0)] {
        bytes.extend([0xff, 0xc4, 0, 20, table, 1]);
        bytes.extend([0; 15]);
        bytes.push(symbol);
    }
    bytes.extend([0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0, 0b0101_0000, 0xff, 0xd9]);
    bytes
}

const RED: [f64; 4] = [1.0, 0.0, 0.0, 1.0];
const BLUE: [f64; 4] = [0.0, 0.0, 1.0, 1.0];

/// Two triangles beside each other, with the left and the right half of a texture on them.
const TEXTURED_OBJ: &str = "mtllib t.mtl\nusemtl bitmap\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n\
    vt 0.1 0.1\nvt 0.4 0.1\nvt 0.1 0.9\nvt 0.6 0.1\nvt 0.9 0.1\nvt 0.6 0.9\nf 1/1 2/2 3/3\nf 1/4 -2/-2 4/6\n";

fn colors_of(path: &std::path::Path) -> Vec<[f64; 4]> {
    meshes::load_colored(path, Vec3::ONE).unwrap().parts.iter().map(|p| p.rgba.unwrap()).collect()
}

#[test]
fn textures_are_drawn_where_triangles_have_places_in_them() {
    let folder = folder("textures");
    std::fs::write(folder.join("t.png"), texture()).unwrap();
    std::fs::write(folder.join("t.jpg"), grey_jpeg()).unwrap();
    std::fs::write(folder.join("t.mtl"), "newmtl bitmap\nKd 0 0 0\nmap_Kd t.png\n").unwrap();
    std::fs::write(folder.join("a.obj"), TEXTURED_OBJ).unwrap();
    assert_eq!(colors_of(&folder.join("a.obj")), [RED, BLUE]);
    std::fs::write(folder.join("t.mtl"), "newmtl bitmap\nKd 1 1 0\nmap_Kd t.jpg\n").unwrap();
    let grey = 133.0 / 255.0;
    let [color] = colors_of(&folder.join("a.obj"))[..] else { panic!("one colour") };
    assert!((color[0] - grey).abs() < 1e-12 && (color[1] - grey).abs() < 1e-12 && color[2] == 0.0, "{color:?}");
    // Places that are not there, or are no numbers, give the mean.
    let broken = TEXTURED_OBJ.replace("vt 0.1 0.1", "vt x").replace("1/4", "1/99");
    std::fs::write(folder.join("t.mtl"), "newmtl bitmap\nmap_Kd t.png\n").unwrap();
    std::fs::write(folder.join("a.obj"), broken).unwrap();
    assert_eq!(colors_of(&folder.join("a.obj")), [[0.5, 0.0, 0.5, 1.0]]);

    let collada = "<COLLADA><library_images><image id='i'><init_from>t.png</init_from></image></library_images>
        <library_effects><effect id='e'><technique><phong><diffuse><texture texture='i' texcoord='x'/></diffuse></phong></technique></effect></library_effects>
        <library_materials><material id='m'><instance_effect url='#e'/></material></library_materials>
        <library_geometries><geometry id='g'><mesh><source id='p'><float_array>0 0 0 1 0 0 0 1 0 0 0 1</float_array></source>
        <source id='u'><float_array>0.1 0.1 9 0.4 0.1 9 0.1 0.9 9 0.6 0.1 9 0.9 0.1 9 0.6 0.9 9</float_array>
        <technique_common><accessor stride='3'/></technique_common></source>
        <vertices id='v'><input semantic='POSITION' source='#p'/></vertices>
        <polylist material='m'><input semantic='VERTEX' source='#v' offset='0'/><input semantic='TEXCOORD' source='#u' offset='1'/>
        <vcount>3 3</vcount><p>0 0 1 1 2 2 0 3 2 4 3 5</p></polylist></mesh></geometry></library_geometries></COLLADA>";
    std::fs::write(folder.join("a.dae"), collada).unwrap();
    assert_eq!(colors_of(&folder.join("a.dae")), [RED, BLUE]);

    // MuJoCo's materials name textures that meshes have places in; other geoms get the mean.
    std::fs::create_dir_all(folder.join("maps")).unwrap();
    std::fs::copy(folder.join("t.png"), folder.join("maps/t.png")).unwrap();
    std::fs::write(folder.join("a.obj"), TEXTURED_OBJ).unwrap();
    let text = |kind: &str, more: &str| {
        format!(
            r#"<mujoco><compiler texturedir="maps"/><asset><mesh name="a" file="a.obj" scale="2 2 2"/><texture name="t" type="{kind}" file="t.png"/>
            <material name="m" texture="t" rgba="1 1 0.5 1"/></asset>
            <worldbody><body><freejoint/><geom size=".1" group="3"/><geom contype="0" conaffinity="0" mass="0" {more}/></body></worldbody></mujoco>"#
        )
    };
    let visuals = |kind: &str, more: &str| {
        let d = mjcf::parse(&text(kind, more), &folder, &MjcfOptions::default()).unwrap();
        let far = |v: &Visual| v.shape.triangulated(8, 1.0).vertices.iter().map(|p| p.x).fold(0.0, f64::max);
        d.visuals.iter().map(|v| (v.look.rgba.unwrap(), far(v))).collect::<Vec<_>>()
    };
    let mesh = r#"type="mesh" mesh="a" material="m""#;
    assert_eq!(visuals("2d", mesh), [(RED, 2.0), ([0.0, 0.0, 0.5, 1.0], 0.0)]);
    assert_eq!(visuals("cube", mesh), [([0.5, 0.0, 0.25, 1.0], 2.0)]);
    assert_eq!(visuals("2d", r#"type="box" size="1 1 1" material="m""#)[0].0, [0.5, 0.0, 0.25, 1.0]);
    assert_eq!(visuals("2d", &format!(r#"{mesh} rgba="0 1 0 1""#)), [([0.0, 1.0, 0.0, 1.0], 2.0)]);
    std::fs::remove_dir_all(folder).unwrap();
}

/// Two triangles of a GLB file with places in a texture, or with colours of vertices.
fn looks_of_glb(with_texture: bool) -> Vec<u8> {
    let (mut binary, texture) = (vec![], texture());
    let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0_f32]];
    corners.iter().chain(&corners.map(|[x, y, _]| [x, y, 1.0])).flatten().for_each(|x| binary.extend(x.to_le_bytes()));
    let places = [0.1, 0.1, 0.4, 0.1, 0.1, 0.9, 0.6, 0.1, 0.9, 0.1, 0.6, 0.9_f32];
    places.iter().for_each(|x| binary.extend(x.to_le_bytes()));
    binary.extend([[255u8, 0, 0, 255]; 3].iter().chain(&[[0, 0, 255, 255]; 3]).flatten());
    binary.extend(&texture);
    let looks = if with_texture { r#""TEXCOORD_0":1},"material":0"# } else { r#""COLOR_0":2}"# };
    let json = format!(
        r#"{{"scenes":[{{"nodes":[0]}}],"nodes":[{{"mesh":0}}],"meshes":[{{"primitives":[{{"attributes":{{"POSITION":0,{looks}}}]}}],
        "materials":[{{"pbrMetallicRoughness":{{"baseColorTexture":{{"index":0}}}}}}],
        "textures":[{{"source":0}}],"images":[{{"bufferView":3,"mimeType":"image/png"}}],
        "accessors":[{{"bufferView":0,"componentType":5126,"count":6,"type":"VEC3"}},{{"bufferView":1,"componentType":5126,"count":6,"type":"VEC2"}},
          {{"bufferView":2,"componentType":5121,"normalized":true,"count":6,"type":"VEC4"}}],
        "bufferViews":[{{"buffer":0,"byteLength":72}},{{"buffer":0,"byteOffset":72,"byteLength":48}},{{"buffer":0,"byteOffset":120,"byteLength":24}},
          {{"buffer":0,"byteOffset":144,"byteLength":{}}}]}}"#,
        texture.len()
    );
    let mut out = b"glTF\x02\0\0\0\0\0\0\0".to_vec();
    for (name, data) in [(b"JSON", json.as_bytes()), (b"BIN\0", &binary)] {
        out.extend((data.len() as u32).to_le_bytes());
        out.extend(name);
        out.extend(data);
    }
    out
}

#[test]
fn glb_has_places_in_textures_and_colors_of_vertices() {
    let folder = folder("glb-looks");
    for with_texture in [true, false] {
        std::fs::write(folder.join("a.glb"), looks_of_glb(with_texture)).unwrap();
        let found = colors_of(&folder.join("a.glb"));
        let near = |a: [f64; 4], b: [f64; 4]| a.iter().zip(b).all(|(x, y)| (x - y).abs() < 1e-12);
        assert!(found.len() == 2 && near(found[0], RED) && near(found[1], BLUE), "{with_texture}: {found:?}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn vertices_and_faces_have_colors() {
    let folder = folder("vertex-colors");
    let ply = |vertex: &str, face: &str, rows: [&str; 4], faces: [&str; 2]| {
        let places = ["0 0 0", "1 0 0", "0 1 0", "0 0 1"];
        let rows: String = places.iter().zip(rows).map(|(p, c)| format!("{p} {c}\n")).collect();
        let text = format!(
            "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n{vertex}\
             element face 2\nproperty list uchar int vertex_indices\n{face}end_header\n{rows}3 0 1 2{}\n3 0 1 3{}\n",
            faces[0], faces[1]
        );
        std::fs::write(folder.join("a.ply"), text).unwrap();
        meshes::load_colored(&folder.join("a.ply"), Vec3::ONE).unwrap().parts.iter().map(|p| p.rgba).collect::<Vec<_>>()
    };
    let bytes = "property uchar red\nproperty uchar green\nproperty uchar blue\n";
    let found = ply(bytes, "", ["255 0 0", "255 0 0", "255 0 0", "255 255 0"], ["", ""]);
    assert_eq!(found[0], Some(RED));
    assert!(found[1].is_some_and(|[r, g, b, _]| r == 1.0 && (g - 1.0 / 3.0).abs() < 1e-12 && b == 0.0), "{found:?}");
    let floats = bytes.replace("uchar", "float") + "property float alpha\n";
    let found = ply("", &floats, ["", "", "", ""], [" 1 0 0 1", " 0 0 1 0.5"]);
    assert_eq!(found, [Some(RED), Some([0.0, 0.0, 1.0, 0.5])]);
    assert_eq!(ply("", "", ["", "", "", ""], ["", ""]), [None]);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn mjcf_visuals_have_shapes_colors_and_groups() {
    let folder = folder("mjcf");
    let text = r#"<mujoco><asset><mesh name="good" file="good.obj"/><mesh name="gone" file="gone.obj"/><mesh name="broken" file="broken.obj"/>
        <texture name="t" builtin="checker" rgb1="1 0 0" rgb2="0 0 1"/><material name="m" texture="t"/><material name="n" rgba=".1 .2 .3 .4"/></asset>
        <default><default class="v"><geom contype="0" conaffinity="0" group="2" mass="0"/></default></default>
        <worldbody><geom type="plane" size="1 1 1" material="m"/>
          <body name="seen"><freejoint/><geom size=".1" group="3"/><geom class="v" type="mesh" mesh="good" material="n"/>
            <geom class="v" type="mesh" mesh="gone"/><geom class="v" type="mesh" mesh="broken"/>
            <geom class="v" type="ellipsoid" size="1 2 3" rgba="0 1 0 1"/></body>
          <body name="bare"><freejoint/><geom size=".1" group="3"/></body>
          <body name="own"><freejoint/><geom type="mesh" mesh="good"/></body></worldbody></mujoco>"#;
    let d = mjcf::parse(text, &folder, &MjcfOptions::default()).unwrap();
    let colors: Vec<_> = d.visuals.iter().map(|v| v.look.rgba.unwrap()).collect();
    assert_eq!(colors, [[0.1, 0.2, 0.3, 0.4], [0.0, 1.0, 0.0, 1.0], [0.5, 0.5, 0.5, 1.0]]);
    assert_eq!(d.visuals[1].shape.kind(), &ShapeKind::Ellipsoid { radii: Vec3::new(1.0, 2.0, 3.0) });
    assert_eq!((triangles(&d.visuals[0]), triangles(&d.visuals[2])), (4, 4));
    assert_eq!(d.geoms[0].look.rgba, Some([0.5, 0.0, 0.5, 1.0]));
    // The plane; a group that is not shown, twice; a hull, whose mesh is shown.
    let drawn = |d: &Description| d.geoms.iter().map(|g| g.look.drawn).collect::<Vec<_>>();
    assert_eq!(drawn(&d), [true, false, false, false]);
    let bare = r#"<mujoco><worldbody><geom type="plane" size="1 1 1"/>
        <body><freejoint/><geom size=".1" group="3"/><geom size=".1" group="3" rgba="1 1 1 0"/></body></worldbody></mujoco>"#;
    let bare = mjcf::parse(bare, &folder, &MjcfOptions::default()).unwrap();
    assert_eq!(drawn(&bare), [true, true, false], "where nothing else is to be seen, what touches is");
    assert!(noted(&d, "gone.obj") && noted(&d, "broken.obj"), "{:#?}", d.notes);
    // Below a skin, which is not drawn, what touches is where there is nothing else.
    let skinned = |skin: &str| {
        let text = format!(
            r#"<mujoco>{skin}<worldbody><body><freejoint/><geom size=".1" group="3"/></body>
            <body><freejoint/><geom size=".1" group="3"/><geom contype="0" conaffinity="0" mass="0" size=".2"/></body></worldbody></mujoco>"#
        );
        drawn(&mjcf::parse(&text, &folder, &MjcfOptions::default()).unwrap())
    };
    assert_eq!(skinned(""), [false, false]);
    assert_eq!(skinned(r#"<asset><skin name="s" file="s.skn"/></asset>"#), [true, false]);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn scenes_have_colors_and_the_meshes_of_hulls() {
    let folder = folder("scene");
    let body = |name: &str, more: &str| format!("[[bodies]]\nname = \"{name}\"\nmass = 1\n{more}\n");
    let text = body("mesh", "color = [1, 0, 0]\nshape = { mesh = \"good.obj\" }")
        + &body("ball", "position = [9, 0, 0]\nshape = { sphere = 0.1, color = [0, \"= 1/2\", 0, 0.5] }")
        + &body("plain", "position = [0, 9, 0]\nshape = { sphere = 0.1 }");
    let world = Scene::parse(&text, &folder, &[]).unwrap().world;
    let colors: Vec<_> = (0..3).map(|g| world.geom_color(g)).collect();
    assert_eq!(colors, [[1.0, 0.0, 0.0, 1.0], [0.0, 0.5, 0.0, 0.5], default_color(Some(2))]);
    assert_eq!(world.looks.iter().map(|l| l.drawn).collect::<Vec<_>>(), [false, true, true]);
    assert!(matches!(world.geoms[0].shape.kind(), ShapeKind::Hull { .. }));
    assert_eq!((world.visuals.len(), world.visuals[0].link, triangles(&world.visuals[0])), (1, Some(0), 4));
    for (color, message) in [("[1, 2, 0]", "from 0 to 1"), ("[1, 0]", "expected 3 or 4"), ("\"red\"", "a list")] {
        let text = body("b", &format!("color = {color}\nshape = {{ sphere = 1 }}"));
        let error = Scene::parse(&text, &folder, &[]).unwrap_err().to_string();
        assert!(error.contains("color") && error.contains(message), "{error}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn looks_change_no_bit_of_a_simulation() {
    let folder = folder("bits");
    let run = |visuals: &str| {
        let robot = format!(
            r#"<mujoco><worldbody><geom type="plane" size="1 1 1"/>
              <body pos="0 0 .3"><freejoint/><geom type="box" size=".1 .1 .1"/>{visuals}</body></worldbody></mujoco>"#
        );
        std::fs::write(folder.join("robot.xml"), robot).unwrap();
        let scene = Scene::parse("[[robots]]\nfile = \"robot.xml\"\n", &folder, &[]).unwrap();
        let mut simulation: Simulation = scene.simulation().unwrap();
        for _ in 0..400 {
            simulation.step().unwrap();
        }
        (simulation.state().hash(), simulation.world().visuals.len())
    };
    let drawn = r#"<geom type="ellipsoid" size="1 1 2" contype="0" conaffinity="0" mass="0" rgba="1 0 0 1"/>"#;
    let ((plain, none), (with, one)) = (run(""), run(drawn));
    assert_eq!((plain, none, one), (with, 0, 1));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_touches_is_not_drawn_over_what_is_seen() {
    let folder = folder("groups");
    let drawn = |geoms: &str| {
        let text = format!(
            r#"<mujoco><asset><mesh name="good" file="good.obj"/></asset><worldbody><body><freejoint/>{geoms}</body></worldbody></mujoco>"#
        );
        let d = mjcf::parse(&text, &folder, &MjcfOptions::default()).unwrap();
        let geoms: Vec<_> = d.geoms.iter().map(|g| g.look.drawn).collect();
        (geoms, d.visuals.iter().map(|v| v.look.drawn).collect::<Vec<_>>())
    };
    let seen = r#"<geom size="1" contype="0" conaffinity="0" mass="0" group="1"/>"#;
    // A ball and a hull that touch, in a group of their own: the hull is drawn as its mesh.
    let touching = r#"<geom size="1"/><geom type="mesh" mesh="good"/>"#;
    assert_eq!(drawn(touching), (vec![true, false], vec![true]));
    assert_eq!(drawn(&format!("{touching}{seen}")), (vec![false, false], vec![false, true]));
    assert_eq!(drawn(&format!("{seen}{touching}")), (vec![false, false], vec![true, false]));
    // Decoration of the same group hides nothing, nor does what is not drawn itself.
    assert_eq!(drawn(&format!("{touching}{}", seen.replace("\"1\"/", "\"0\"/"))).0, [true, false]);
    assert_eq!(
        drawn(&format!("{touching}{}", seen.replace("\"1\"/", "\"4\"/"))),
        (vec![true, false], vec![true, false])
    );
    std::fs::remove_dir_all(folder).unwrap();
}
