//! Models with a few bytes, words or lines changed: an answer or an error, never a panic.

use std::path::Path;

use stiction_sim::mjcf::{self, MjcfOptions};

/// Something of everything the loader reads.
const MODEL: &str = r#"<mujoco model="all">
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
  </asset>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1" friction="0.6"/><geom type="hfield" hfield="hills" pos="20 0 0"/><light pos="0 0 3"/>
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

/// A small generator: xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }
}

/// Numbers and words that loaders fall over.
const WORDS: [&str; 16] = [
    "0",
    "-1",
    "1e308",
    "-1e308",
    "1e-320",
    "nan",
    "inf",
    "4294967296",
    "-2147483649",
    "",
    "1 2 3 4 5 6 7 8",
    "true",
    "world",
    "main",
    "x",
    "\u{221e}",
];

fn garbled(random: &mut Random) -> String {
    let mut text = MODEL.to_string();
    for _ in 0..1 + random.below(2) {
        let quotes: Vec<usize> = text.match_indices('"').map(|(i, _)| i).collect();
        match random.below(7) {
            // Another value for an attribute.
            0 | 1 if quotes.len() > 1 => {
                let k = random.below(quotes.len() / 2) * 2;
                let word = WORDS[random.below(WORDS.len())];
                text.replace_range(quotes[k] + 1..quotes[k + 1], word);
            }
            // One number of an attribute, or one word of an element.
            2 => {
                let words: Vec<(usize, usize)> = text
                    .split([' ', '"', '<', '>', '/'])
                    .filter(|w| !w.is_empty())
                    .map(|w| {
                        let start = w.as_ptr() as usize - text.as_ptr() as usize;
                        (start, start + w.len())
                    })
                    .collect();
                let (start, end) = words[random.below(words.len())];
                text.replace_range(start..end, WORDS[random.below(WORDS.len())]);
            }
            // One digit is another.
            5 | 6 => {
                let digits: Vec<usize> = text.match_indices(|c: char| c.is_ascii_digit()).map(|(i, _)| i).collect();
                let at = digits[random.below(digits.len())];
                text.replace_range(at..at + 1, &random.below(10).to_string());
            }
            // A piece is lost.
            3 => {
                let start = random.below(text.len());
                let end = (start + random.below(40)).min(text.len());
                if text.is_char_boundary(start) && text.is_char_boundary(end) {
                    text.replace_range(start..end, "");
                }
            }
            // An element is lost, or is there twice.
            4 => {
                let opens: Vec<usize> = text.match_indices('<').map(|(i, _)| i).collect();
                let start = opens[random.below(opens.len())];
                let Some(length) = text[start..].find("/>") else { continue };
                let element = text[start..start + length + 2].to_string();
                match random.below(2) {
                    0 => text.replace_range(start..start + length + 2, ""),
                    _ => text.insert_str(start, &element),
                }
            }
            _ => {}
        }
    }
    text
}

#[test]
fn the_model_itself_is_fine() {
    let d = mjcf::parse(MODEL, Path::new("."), &MjcfOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((d.links.len(), d.actuators.len(), d.mimics.len(), d.loops.len()), (10, 6, 1, 2));
}

#[test]
fn garbled_models_are_answered_without_a_panic() {
    let (mut random, mut fine) = (Random(0x9e37_79b9_7f4a_7c15), 0);
    for _ in 0..3000 {
        let text = garbled(&mut random);
        match mjcf::parse(&text, Path::new("."), &MjcfOptions::default()) {
            Ok(_) => fine += 1,
            Err(error) => assert!(!error.message.is_empty() && error.at.is_some(), "{error}\n{text}"),
        }
    }
    assert!((300..2700).contains(&fine), "{fine} of 3000 were still models: the garbling is too weak or too strong");
}
