//! `<sensor>`: what is measured.

use stiction_body::math::Pose;

use super::attributes::Attributes;
use super::bodies::{Context, Tree};
use super::joints::JointType;
use super::links::{JointLink, Links};
use super::notes::Notes;
use super::tendons::anchor;
use super::tree::Element;
use crate::actuation::Anchor;
use crate::description::{Description, NoteKind};
use crate::error::{SceneError, did_you_mean};
use crate::sensors::{DistanceQuantity, FrameQuantity, Sensor, SensorKind};

/// Writes all sensors.
pub(super) fn write<'a>(
    root: &'a Element,
    tree: &Tree<'a>,
    links: &Links<'a>,
    context: &Context<'_, 'a>,
    notes: &mut Notes,
    out: &mut Description,
) -> Result<(), SceneError> {
    let from = Reader { tree, links, context };
    for element in root.all("sensor").flat_map(|s| &s.children) {
        let Some(kind) = from.kind(element, out)? else {
            notes.element(NoteKind::NotYet, element, "this kind of sensor is not supported: left out");
            continue;
        };
        let name = element.text("name").map_or_else(|| format!("sensor{}", out.sensors.len()), str::to_string);
        let cutoff = Attributes::of(element).nonnegative("cutoff")?.unwrap_or(0.0);
        // Without a cutoff, distances are only read where there is overlap.
        let bounded = cutoff > 0.0 || matches!(kind, SensorKind::Distance { .. });
        let cutoff = if bounded { cutoff } else { f64::INFINITY };
        out.sensors.push(Sensor { name, kind, cutoff });
    }
    Ok(())
}

struct Reader<'s, 'a> {
    tree: &'s Tree<'a>,
    links: &'s Links<'a>,
    context: &'s Context<'s, 'a>,
}

impl Reader<'_, '_> {
    /// What a sensor measures; none if that is not supported.
    fn kind(&self, element: &Element, out: &Description) -> Result<Option<SensorKind>, SceneError> {
        use SensorKind as K;
        let site = || self.tree.find_site(element, "site").map(|s| anchor(self.links, s.body, s.pose));
        let joint = |wanted: &str, fits: fn(&JointLink) -> bool| {
            let joint = self.links.joint(element, "joint", element.required("joint")?)?;
            match fits(joint) {
                true => Ok(joint.link),
                false => Err(element.attribute_error("joint", format!("expected {wanted}"))),
            }
        };
        let scalar = || joint("a hinge or slide", |joint| joint.is_scalar());
        let ball = || joint("a ball joint", |joint| joint.kind == JointType::Ball);
        let tendon = || number(element, "tendon", out.tendons.iter().map(|t| t.name.as_str()));
        let actuator = || number(element, "actuator", out.actuators.iter().map(|a| a.name.as_str()));
        Ok(Some(match element.name.as_str() {
            "accelerometer" => K::Accelerometer(site()?),
            "velocimeter" => K::Velocimeter(site()?),
            "gyro" => K::Gyro(site()?),
            "force" => K::Force(site()?),
            "torque" => K::Torque(site()?),
            "magnetometer" => K::Magnetometer(site()?, self.context.options.magnetic),
            "touch" => K::Touch(site()?, self.tree.find_site(element, "site")?.volume),
            "jointpos" => K::JointPosition(scalar()?),
            "jointvel" => K::JointVelocity(scalar()?),
            "jointactuatorfrc" => K::JointActuatorForce(scalar()?),
            "ballquat" => K::BallQuaternion(ball()?),
            "ballangvel" => K::BallAngularVelocity(ball()?),
            "tendonpos" => K::TendonPosition(tendon()?),
            "tendonvel" => K::TendonVelocity(tendon()?),
            "tendonactuatorfrc" => K::TendonActuatorForce(tendon()?),
            "actuatorpos" => K::ActuatorPosition(actuator()?),
            "actuatorvel" => K::ActuatorVelocity(actuator()?),
            "actuatorfrc" => K::ActuatorForce(actuator()?),
            "subtreecom" => K::SubtreeCentre(self.subtree(element)?),
            "subtreelinvel" => K::SubtreeVelocity(self.subtree(element)?),
            "subtreeangmom" => K::SubtreeMomentum(self.subtree(element)?),
            "e_potential" => K::PotentialEnergy,
            "e_kinetic" => K::KineticEnergy,
            "clock" => K::Clock,
            // Other readings of rays, and rays of cameras, are not known here.
            "rangefinder" if matches!(element.text("data"), None | Some("dist")) && element.text("site").is_some() => {
                K::Range(site()?)
            }
            "distance" | "normal" | "fromto" => return self.distance(element),
            name => return self.frame(name, element),
        }))
    }

    /// Two geoms or bodies where they are closest; none if one of them has nothing that can touch.
    fn distance(&self, element: &Element) -> Result<Option<SensorKind>, SceneError> {
        let quantity = match element.name.as_str() {
            "distance" => DistanceQuantity::Distance,
            "normal" => DistanceQuantity::Normal,
            _ => DistanceQuantity::FromTo,
        };
        let side = |[geom, body]: [&str; 2]| -> Result<Vec<usize>, SceneError> {
            if let Some(name) = element.text(geom) {
                self.tree.find_geom(element, geom)?;
                return Ok(self.tree.geoms.iter().position(|g| g.name == name).into_iter().collect());
            }
            let body = self.tree.find_body(element, body)?;
            let own = self.tree.geoms.iter().enumerate().filter(|(_, g)| g.body == body);
            Ok(own.map(|(i, _)| i).collect())
        };
        let geoms = [side(["geom1", "body1"])?, side(["geom2", "body2"])?];
        let both = geoms.iter().all(|side| !side.is_empty());
        Ok(both.then_some(SensorKind::Distance { quantity, geoms }))
    }

    fn frame(&self, name: &str, element: &Element) -> Result<Option<SensorKind>, SceneError> {
        let quantity = match name {
            "framepos" => FrameQuantity::Position,
            "framequat" => FrameQuantity::Quaternion,
            "framexaxis" => FrameQuantity::Axis(0),
            "frameyaxis" => FrameQuantity::Axis(1),
            "framezaxis" => FrameQuantity::Axis(2),
            "framelinvel" => FrameQuantity::LinearVelocity,
            "frameangvel" => FrameQuantity::AngularVelocity,
            "framelinacc" => FrameQuantity::LinearAcceleration,
            "frameangacc" => FrameQuantity::AngularAcceleration,
            _ => return Ok(None),
        };
        let of = self.object(element, ["objtype", "objname"])?;
        let reference = match (element.text("reftype"), element.text("refname")) {
            (None, None) => Some(None),
            _ => self.object(element, ["reftype", "refname"])?.map(Some),
        };
        Ok(of.zip(reference).map(|(of, reference)| SensorKind::Frame { quantity, of, reference }))
    }

    /// The frame of an object; none if it is of a camera that turns by itself.
    fn object(&self, element: &Element, [kind, name]: [&str; 2]) -> Result<Option<Anchor>, SceneError> {
        let tree = self.tree;
        let (body, pose) = match element.required(kind)? {
            "site" => tree.find_site(element, name).map(|s| (s.body, s.pose))?,
            "xbody" => (tree.find_body(element, name)?, Pose::identity()),
            "body" => {
                let number = tree.find_body(element, name)?;
                let body = &tree.bodies[number];
                (number, Pose::from_parts(body.inertia.com, body.axes()))
            }
            "geom" => {
                let geom = tree.find_geom(element, name)?;
                let (form, pose) = geom.form(self.context.assets, self.context.compiler)?;
                (geom.body, pose * form.frame()?)
            }
            "camera" => {
                let camera = tree.find_camera(element, name)?;
                if camera.turns {
                    return Ok(None);
                }
                (camera.body, camera.pose)
            }
            other => {
                let message = format!("expected body, xbody, geom, site or camera, found \"{other}\"");
                return Err(element.attribute_error(kind, message));
            }
        };
        Ok(Some(anchor(self.links, body, pose)))
    }

    /// The links of a body and of all that hangs on it.
    fn subtree(&self, element: &Element) -> Result<Vec<usize>, SceneError> {
        let body = self.tree.find_body(element, "body")?;
        let Some(root) = self.links.of_body[body] else { return Ok((0..self.links.specs.len()).collect()) };
        let mut inside = vec![false; self.links.specs.len()];
        for (l, spec) in self.links.specs.iter().enumerate() {
            inside[l] = l == root || spec.parent.is_some_and(|p| inside[p]);
        }
        Ok((0..inside.len()).filter(|l| inside[*l]).collect())
    }
}

/// The number of what an attribute names.
fn number<'a>(
    element: &Element,
    attribute: &str,
    mut names: impl Iterator<Item = &'a str> + Clone,
) -> Result<usize, SceneError> {
    let name = element.required(attribute)?;
    let all = names.clone();
    names.position(|n| n == name && !name.is_empty()).ok_or_else(|| {
        let near = did_you_mean(name, all);
        element.attribute_error(attribute, format!("there is no {attribute} \"{name}\"{near}"))
    })
}
