use super::*;

fn error(text: &str, read: impl Fn(Element) -> Result<(), SceneError>) -> String {
    let source = Source::new(text, Some("a.urdf".into()));
    let document = source.parse().unwrap();
    read(document.root()).unwrap_err().to_string()
}

#[test]
fn numbers_are_checked_and_places_named() {
    let text = "<robot>\n  <joint name='knee'>\n    <origin xyz='1 2 nan' rpy='0 0'/>\n  </joint>\n</robot>";
    let origin = |e: Element| e.child("joint").unwrap().child("origin").unwrap().vector("xyz").map(|_| ());
    assert_eq!(
        error(text, origin),
        "a.urdf:3:13: <origin xyz> in <joint name=\"knee\">: expected finite numbers, found \"nan\""
    );
    let origin = |e: Element| e.child("joint").unwrap().child("origin").unwrap().vector("rpy").map(|_| ());
    assert_eq!(
        error(text, origin),
        "a.urdf:3:27: <origin rpy> in <joint name=\"knee\">: expected 3 numbers, found 2: \"0 0\""
    );
    for bad in ["inf", "-infinity", "1e999", "0x10", "1,5", "", "1 2", "one"] {
        assert!(error(&format!("<a x='{bad}'/>"), |e| e.number("x").map(|_| ())).contains("<a> x: "), "{bad}");
    }
    assert!(
        error("<a nam='b'/>", |e| e.required("name").map(|_| ()))
            .contains("needs the attribute \"name\" (found \"nam\")")
    );
    assert!(error("<a/>", |e| e.required_child("b").map(|_| ())).contains("needs an element <b>"));
}

#[test]
fn what_nobody_read_is_noted_with_the_nearest_name() {
    let text = "<robot>\n<link name='a' masss='1'/><link name='b'/>\n<link name='c' masss='2'/><jont><x/></jont><other/></robot>";
    let source = Source::new(text, None);
    let document = source.parse().unwrap();
    for link in document.root().children_named("link") {
        assert!(link.attribute("name").is_some() && link.attribute("mass").is_none());
    }
    document.root().children_named("joint").count();
    let notes: Vec<String> = document.notes().iter().map(|n| format!("{}: {}", n.element, n.text)).collect();
    assert_eq!(
        notes,
        [
            "<link name=\"a\"> (line 2) and 1 more: the attribute \"masss\" is not read (did you mean \"mass\"?)",
            "<jont> (line 3): is not read (did you mean \"joint\"?)",
            "<other> (line 3): is not read",
        ]
    );
    assert_eq!(document.notes().len(), 3, "asking twice does not note twice");
}

#[test]
fn what_is_ignored_is_noted_once() {
    let source = Source::new("<r><visual a='1'><g b='2'/></visual><visual/></r>", None);
    let document = source.parse().unwrap();
    document.root().children_named("visual").for_each(|v| v.ignore("has no effect"));
    let notes = document.notes();
    assert_eq!((notes.len(), notes[0].element.as_str()), (1, "<visual> (line 1) and 1 more"));
}

#[test]
fn comments_and_prefixes_are_forgiven() {
    let text =
        "<?xml version='1.0'?>\n<!-- a -- b -->\n<robot a='x'><!-- é <c> --\n --><gz:plugin/> <d e='z'/></robot>";
    let source = Source::new(text, None);
    let document = source.parse().unwrap();
    let root = document.root();
    let names: Vec<_> = root.children().map(|e| (e.name(), e.place())).collect();
    assert_eq!(names, [("gz:plugin", (4, 5)), ("d", (4, 18))]);
    let source = Source::new("<robot><gz:plugin/><d e='z'/></robot>", None);
    let document = source.parse().unwrap();
    assert_eq!(document.root().child("d").unwrap().place(), (1, 20));
}

#[test]
fn late_declarations_and_zero_bytes_are_forgiven() {
    let source = Source::new("\n<!-- made by hand --><?xml version='1.0'?>\n<robot><a/></robot>\n\0\0", None);
    let document = source.parse().unwrap();
    assert_eq!(document.root().child("a").unwrap().place(), (3, 8));
}

#[test]
fn syntax_errors_have_a_place() {
    for (text, place) in [
        ("<a>\n<b></a>", Some(2)),
        ("<a", Some(1)),
        ("", Some(1)),
        ("<!-- <a/>", Some(1)),
        ("<a b='1' b='2'/>", Some(1)),
    ] {
        let found = Source::new(text, None).parse().unwrap_err();
        assert_eq!(found.at.map(|a| a.0), place, "{text}: {found}");
    }
    let deep = "<a>".repeat(100_000);
    assert!(Source::new(deep, None).parse().is_err());
    let laughs = "<!DOCTYPE a [<!ENTITY b '<x/><x/>'><!ENTITY c '&b;&b;&b;&b;&b;&b;&b;&b;'><!ENTITY d '&c;&c;&c;&c;&c;&c;&c;&c;'>\
        <!ENTITY e '&d;&d;&d;&d;&d;&d;&d;&d;'>]><a>&e;&e;&e;&e;</a>";
    assert!(Source::new(laughs, None).parse().is_err());
}
