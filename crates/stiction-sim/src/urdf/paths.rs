//! Where the files are that a URDF names.

use std::path::{Path, PathBuf};

use super::UrdfOptions;
use crate::xml::Source;

/// Where to look.
pub(crate) struct Paths {
    /// The folder of the URDF.
    folder: PathBuf,
    /// Packages, or folders of packages, in order.
    packages: Vec<PathBuf>,
    /// Those the user gave, for relative paths.
    given: usize,
}

impl Paths {
    pub(crate) fn new(folder: &Path, options: &UrdfOptions) -> Self {
        let mut packages = options.package_paths.clone();
        let given = packages.len();
        let all = |name: &str| std::env::var_os(name).map_or(vec![], |v| std::env::split_paths(&v).collect());
        packages.extend(all("ROS_PACKAGE_PATH"));
        packages.extend(all("AMENT_PREFIX_PATH").into_iter().map(|p| p.join("share")));
        packages.extend(all("GAZEBO_MODEL_PATH"));
        packages.extend(all("GZ_SIM_RESOURCE_PATH"));
        packages.retain(|p| !p.as_os_str().is_empty());
        Self { folder: folder.into(), packages, given }
    }

    /// The file of that name, and what to note about how it was found.
    pub(crate) fn find(&self, name: &str) -> Result<(PathBuf, Option<String>), String> {
        let name = name.trim().replace('\\', "/");
        if let Some((scheme, rest)) = name.split_once("://") {
            return match scheme {
                "package" | "model" => self.find_in_package(rest),
                "file" => self.find_relative(rest),
                _ => Err(format!("files from \"{scheme}://\" are not read: \"{name}\"")),
            };
        }
        self.find_relative(&name)
    }

    fn find_relative(&self, name: &str) -> Result<(PathBuf, Option<String>), String> {
        let given = self.packages[..self.given].iter().map(|p| p.join(name));
        let found = std::iter::once(self.folder.join(name)).chain(given).find(|p| p.is_file());
        found.map(|p| (p, None)).ok_or_else(|| format!("there is no file \"{}\"", self.folder.join(name).display()))
    }

    fn find_in_package(&self, rest: &str) -> Result<(PathBuf, Option<String>), String> {
        let Some((package, file)) = rest.split_once('/') else {
            let (path, _) = self.find_relative(rest)?;
            return Ok((path, Some("names no package: the file is taken from the folder of the URDF".into())));
        };
        let in_paths = self.packages.iter().flat_map(|p| candidates(p, package, file));
        let above = self.folder.ancestors().flat_map(|p| candidates(p, package, file));
        if let Some(found) = in_paths.chain(above).find(|p| p.is_file()) {
            return Ok((found, None));
        }
        // A copy of the package under another name: the file itself is where it would be.
        let renamed = self.folder.ancestors().map(|p| p.join(file)).find(|p| p.is_file());
        let Some(found) = renamed else {
            return Err(format!(
                "there is no file \"{file}\" in a package \"{package}\": looked in the package paths and in all folders above {}",
                self.folder.display()
            ));
        };
        Ok((found, Some(format!("there is no package \"{package}\": files are taken from the folders above"))))
    }
}

/// Where a package's file is if `folder` is the package or holds it.
fn candidates(folder: &Path, package: &str, file: &str) -> Vec<PathBuf> {
    let mut out = vec![folder.join(package).join(file)];
    if folder.file_name().is_some_and(|n| n == package) || package_name(folder).is_some_and(|n| n == package) {
        out.push(folder.join(file));
    }
    out
}

/// The name in a folder's package.xml.
fn package_name(folder: &Path) -> Option<String> {
    let path = folder.join("package.xml");
    let source = path.is_file().then(|| Source::read(&path).ok())??;
    let document = source.parse().ok()?;
    Some(document.root().child("name")?.content().to_string())
}
