use super::*;

const TETRAHEDRON: [[[f32; 3]; 3]; 4] = [
    [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]],
    [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
    [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]],
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
];

/// Six times the volume: the sum of the determinants of the triangles, above 0 where they face outside.
fn volume(mesh: &TriangleMesh) -> f64 {
    let at = |i: u32| mesh.vertices[i as usize];
    mesh.triangles.iter().map(|&[a, b, c]| at(a).dot(at(b).cross(at(c)))).sum()
}

fn binary_stl(header: &[u8]) -> Vec<u8> {
    let mut out = header.to_vec();
    out.resize(80, 0);
    out.extend((TETRAHEDRON.len() as u32).to_le_bytes());
    for t in TETRAHEDRON {
        out.extend([0; 12]);
        t.iter().flatten().for_each(|x| out.extend(x.to_le_bytes()));
        out.extend([0; 2]);
    }
    out
}

fn ascii_stl() -> String {
    let mut out = "solid a name\n".to_string();
    for t in TETRAHEDRON {
        out += " facet normal 0 0 0\n  outer loop\n";
        t.iter().for_each(|[x, y, z]| out += &format!("   VERTEX {x:e} {y} {z}\n"));
        out += "  endloop\n endfacet\n";
    }
    out + "endsolid\n"
}

const OBJ: &str = "# a tetrahedron\nmtllib a.mtl\no a\nv 0 0 0\nv 1 0 0 0.5 0.5 0.5\nv 0 1 0\nv 0 0 1\nv 9 9 9\nvt 0 0\nvn 0 0 1\n\
    f 1/1/1 3/1/1 2/1/1\nf 1//1 2//1 \\\n 4//1\nf -5 -2 -3 # counted back\nf 2/1 3 4\n";

fn collada(up: &str, transform: &str, unit: &str) -> String {
    format!(
        r##"<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
        <asset><unit meter="{unit}"/><up_axis>{up}</up_axis></asset>
        <library_geometries><geometry id="g"><mesh>
          <source id="p"><float_array id="pa" count="12">0 0 0 1 0 0 0 1 0 0 0 1</float_array>
            <technique_common><accessor source="#pa" count="4" stride="3"/></technique_common></source>
          <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
          <polylist count="1"><input semantic="VERTEX" source="#v" offset="1"/><input semantic="NORMAL" source="#n" offset="0"/>
            <vcount>3 3</vcount><p>0 0 0 2 0 1 0 0 0 1 0 3</p></polylist>
          <triangles count="2"><input semantic="VERTEX" source="#v" offset="0"/><p>0 3 2 1 2 3</p></triangles>
        </mesh></geometry></library_geometries>
        <library_nodes><node id="shared"><scale>2 2 2</scale><instance_geometry url="#g"/></node></library_nodes>
        <library_visual_scenes><visual_scene id="s"><node>{transform}<instance_node url="#shared"/></node></visual_scene></library_visual_scenes>
        <scene><instance_visual_scene url="#s"/></scene></COLLADA>"##
    )
}

const PLY: &str = "ply\nformat ascii 1.0\ncomment a tetrahedron\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n\
    property uchar red\nelement face 4\nproperty list uchar int vertex_indices\nelement edge 1\nproperty int a\nend_header\n\
    0 0 0 255\n1 0 0 255\n0 1 0 255\n0 0 1 255\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n7\n";

const FACES: [[u8; 3]; 4] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];

fn binary_ply(little: bool) -> Vec<u8> {
    let order = if little { "little" } else { "big" };
    let mut out =
        PLY.split("0 0 0 255").next().unwrap().replace("ascii", &format!("binary_{order}_endian")).into_bytes();
    let number = |x: f32| if little { x.to_le_bytes() } else { x.to_be_bytes() };
    for place in [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] {
        place.iter().for_each(|x| out.extend(number(*x)));
        out.push(255);
    }
    for face in FACES {
        out.push(3);
        face.iter()
            .for_each(|v| out.extend(if little { u32::from(*v).to_le_bytes() } else { u32::from(*v).to_be_bytes() }));
    }
    out.extend([0; 4]);
    out
}

/// A tetrahedron: 12 bytes of indices, then places.
fn gltf(transform: &str) -> String {
    format!(
        r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],"nodes":[{{{transform}"children":[1]}},{{"mesh":0}}],
        "meshes":[{{"primitives":[{{"attributes":{{"POSITION":1}},"indices":0}},{{"attributes":{{}},"mode":1}}]}}],
        "accessors":[{{"bufferView":0,"componentType":5121,"count":12,"type":"SCALAR"}},{{"bufferView":1,"componentType":5126,"count":4,"type":"VEC3"}}],
        "bufferViews":[{{"buffer":0,"byteLength":12}},{{"buffer":0,"byteOffset":12,"byteLength":48}}],"buffers":[{{"byteLength":60}}]}}"#
    )
}

fn glb(json: &str) -> Vec<u8> {
    let mut binary: Vec<u8> = FACES.iter().flatten().copied().collect();
    let places = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0_f32]];
    places.iter().flatten().for_each(|x| binary.extend(x.to_le_bytes()));
    let mut out = b"glTF\x02\0\0\0\0\0\0\0".to_vec();
    for (name, data) in [(b"JSON", json.as_bytes()), (b"BIN\0", &binary)] {
        out.extend((data.len() as u32).to_le_bytes());
        out.extend(name);
        out.extend(data);
    }
    out
}

#[test]
fn all_formats_give_the_same_closed_surface() {
    let stl = binary_stl(b"solid but binary");
    for (bytes, format) in [
        (stl, MeshFormat::Stl),
        (ascii_stl().into_bytes(), MeshFormat::Stl),
        (OBJ.as_bytes().to_vec(), MeshFormat::Obj),
        (collada("Z_UP", "", "0.5").into_bytes(), MeshFormat::Collada),
        (PLY.as_bytes().to_vec(), MeshFormat::Ply),
        (binary_ply(true), MeshFormat::Ply),
        (binary_ply(false), MeshFormat::Ply),
        (glb(&gltf("")), MeshFormat::Glb),
        (glb(&gltf(r#""rotation":[0,0,1,0],"#)), MeshFormat::Glb),
        (glb(&gltf(r#""matrix":[1,0,0,0,0,-1,0,0,0,0,1,0,5,6,7,1],"#)), MeshFormat::Glb),
    ] {
        let mesh = parse(&bytes, format, Vec3::ONE).unwrap();
        assert_eq!((mesh.vertices.len(), mesh.triangles.len()), (4, 4), "{format:?}");
        assert!((volume(&mesh) - 1.0).abs() < 1e-15, "{format:?}");
        let mirrored = parse(&bytes, format, Vec3::new(-2.0, 1.0, 3.0)).unwrap();
        assert!((volume(&mirrored) - 6.0).abs() < 1e-14, "{format:?}: a mirrored surface still faces outside");
    }
}

#[test]
fn collada_has_units_and_transforms() {
    let far = |text: String| {
        let mesh = parse(text.as_bytes(), MeshFormat::Collada, Vec3::ONE).unwrap();
        mesh.vertices.iter().fold(Vec3::ZERO, |a, v| if v.length() > a.length() { *v } else { a })
    };
    let along_y = "<translate>0 5 0</translate>";
    assert!(far(collada("Z_UP", along_y, "0.1")).abs_diff_eq(Vec3::new(0.0, 0.7, 0.0), 1e-15));
    assert!(far(collada("Y_UP", along_y, "1")).abs_diff_eq(Vec3::new(0.0, 7.0, 0.0), 1e-14), "axes stay as they are");
    let turned = "<rotate>0 0 1 90</rotate><translate>0 5 0</translate>";
    assert!(far(collada("Z_UP", turned, "1")).abs_diff_eq(Vec3::new(-7.0, 0.0, 0.0), 1e-14));
    let matrix = "<matrix>0 -1 0 0 1 0 0 0 0 0 1 9 0 0 0 1</matrix>";
    assert!(far(collada("Z_UP", matrix, "1")).abs_diff_eq(Vec3::new(0.0, 0.0, 11.0), 1e-14));
}

#[test]
fn broken_files_are_errors() {
    let stl = binary_stl(b"");
    let mut huge = stl.clone();
    huge[80..84].copy_from_slice(&u32::MAX.to_le_bytes());
    let mut not_a_number = stl.clone();
    not_a_number[96..100].copy_from_slice(&f32::NAN.to_le_bytes());
    let cyclic = collada("Z_UP", "", "1").replace("<scale>", "<instance_node url='#shared'/><scale>");
    for (bytes, format, text) in [
        (vec![], MeshFormat::Stl, "neither"),
        (stl[..120].to_vec(), MeshFormat::Stl, "longer than its 120 bytes"),
        (huge, MeshFormat::Stl, "4294967295 triangles"),
        (not_a_number, MeshFormat::Stl, "not finite"),
        (b"solid\nendsolid".to_vec(), MeshFormat::Stl, "no triangles"),
        (b"solid\nvertex 0 0".to_vec(), MeshFormat::Stl, "line 2: a vertex needs 3 numbers"),
        (b"solid\nvertex 0 0 a".to_vec(), MeshFormat::Stl, "\"a\" is not a number"),
        (b"solid\nvertex 0 0 0\nendloop".to_vec(), MeshFormat::Stl, "a facet of 1 vertices"),
        (b"solid\nvertex 0 0 0".to_vec(), MeshFormat::Stl, "ends within"),
        (vec![], MeshFormat::Obj, "no triangles"),
        (b"v 0 0 0\nf 1 2 3".to_vec(), MeshFormat::Obj, "line 2: face names vertex \"2\" of 1"),
        (b"v 0 0 0\nf 0 1 1".to_vec(), MeshFormat::Obj, "vertex \"0\""),
        (b"v 0 0 0\nf -9223372036854775808 1 1".to_vec(), MeshFormat::Obj, "face names vertex"),
        (b"v 0 0 0\nf 1 1 1".to_vec(), MeshFormat::Obj, "no triangles"),
        (b"<a/>".to_vec(), MeshFormat::Collada, "expected <COLLADA>"),
        (b"<a>".to_vec(), MeshFormat::Collada, "not XML"),
        (b"<COLLADA/>".to_vec(), MeshFormat::Collada, "no triangles"),
        (collada("Z_UP", "", "0").into_bytes(), MeshFormat::Collada, "<unit meter>"),
        (collada("Z_UP", "<scale>1</scale>", "1").into_bytes(), MeshFormat::Collada, "<scale> needs 3"),
        (collada("Z_UP", "", "1").replace("#g", "#x").into_bytes(), MeshFormat::Collada, "not there"),
        (collada("Z_UP", "", "1").replace("0 3 2 1", "0 4 2 1").into_bytes(), MeshFormat::Collada, "vertex 4 of 4"),
        (cyclic.into_bytes(), MeshFormat::Collada, "contain itself"),
        (b"plx".to_vec(), MeshFormat::Ply, "no end"),
        (b"obj\n".to_vec(), MeshFormat::Ply, "begins with"),
        (PLY.replace("uchar red", "colour red").into_bytes(), MeshFormat::Ply, "no type \"colour\""),
        (PLY.replace("3 1 2 3", "3 1 2 4").into_bytes(), MeshFormat::Ply, "not one of 4"),
        (PLY.replace("3 1 2 3", "3 1 2").into_bytes(), MeshFormat::Ply, "ends early"),
        (binary_ply(false).split_last_chunk::<9>().unwrap().0.to_vec(), MeshFormat::Ply, "ends early"),
        (PLY.replace("format ascii 1.0", "").into_bytes(), MeshFormat::Ply, "no format"),
        (b"glTF".to_vec(), MeshFormat::Glb, "no GLB file of version 2"),
        (glb("{"), MeshFormat::Glb, "EOF"),
        (glb(&gltf("")).split_last().unwrap().1.to_vec(), MeshFormat::Glb, "longer than the file"),
        (glb(&gltf("").replace("[1]}", "[0]}")), MeshFormat::Glb, "loop"),
        (glb(&gltf("").replace("\"count\":4", "\"count\":5")), MeshFormat::Glb, "longer than its data"),
        (
            glb(&gltf("").replace("\"byteLength\":48", "\"byteStride\":0,\"byteLength\":48")),
            MeshFormat::Glb,
            "bytes apart",
        ),
        (glb(&gltf("").replace("5126", "5120")), MeshFormat::Glb, "type 5120"),
    ] {
        let message = parse(&bytes, format, Vec3::ONE).unwrap_err();
        assert!(message.contains(text), "{message} lacks {text}");
    }
    assert!(parse(&stl, MeshFormat::Stl, Vec3::new(1.0, 0.0, 1.0)).unwrap_err().contains("scale"));
    let missing = load(Path::new("/nowhere/a.stl"), Vec3::ONE).unwrap_err().to_string();
    assert!(missing.starts_with("/nowhere/a.stl: mesh: cannot read"), "{missing}");
    assert!(load(Path::new("a.gltf"), Vec3::ONE).unwrap_err().to_string().contains("not known"));
}

#[test]
fn garbled_files_never_panic() {
    let files = [
        (binary_stl(b""), MeshFormat::Stl),
        (ascii_stl().into_bytes(), MeshFormat::Stl),
        (OBJ.as_bytes().to_vec(), MeshFormat::Obj),
        (collada("Y_UP", "<matrix>0 -1 0 0 1 0 0 0 0 0 1 9 0 0 0 1</matrix>", "1").into_bytes(), MeshFormat::Collada),
    ];
    let mut state = 7_u64;
    let mut random = move |n: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % n
    };
    for (bytes, format) in &files {
        for _ in 0..1000 {
            let mut garbled = bytes.clone();
            for _ in 0..1 + random(4) {
                let at = random(garbled.len());
                match random(3) {
                    0 => garbled[at] = random(256) as u8,
                    1 => garbled[at] = b"0123456789-e<>/#"[random(16)],
                    _ => garbled.truncate(at.max(1)),
                }
            }
            if let Ok(mesh) = parse(&garbled, *format, Vec3::ONE) {
                assert!(mesh.triangles.iter().flatten().all(|i| (*i as usize) < mesh.vertices.len()));
            }
        }
    }
}
