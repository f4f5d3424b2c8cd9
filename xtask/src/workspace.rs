//! The paths and packages of the workspace, from `cargo metadata`.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

/// The features of a package, and the features and dependencies that each of them enables.
pub(crate) type FeatureTable<'a> = std::collections::BTreeMap<&'a str, Vec<String>>;

/// The workspace as cargo describes it.
pub(crate) struct Workspace {
    /// The folder of the workspace's Cargo.toml.
    pub(crate) root: PathBuf,
    /// The target folder.
    pub(crate) target: PathBuf,
    packages: Vec<Value>,
}

impl Workspace {
    pub(crate) fn find() -> Result<Self> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = Command::new(cargo)
            .args(["metadata", "--no-deps", "--format-version", "1"])
            .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
            .output()
            .context("cannot start cargo")?;
        if !output.status.success() {
            bail!("cargo metadata failed:\n{}", String::from_utf8_lossy(&output.stderr));
        }
        let mut metadata: Value = serde_json::from_slice(&output.stdout)?;
        let path = |key: &str| -> Result<PathBuf> {
            let text = metadata[key].as_str().with_context(|| format!("metadata has no {key}"))?;
            Ok(PathBuf::from(text))
        };
        let (root, target) = (path("workspace_root")?, path("target_directory")?);
        let packages = metadata["packages"].as_array_mut().map(std::mem::take);
        Ok(Self { root, target, packages: packages.unwrap_or_default() })
    }

    /// Returns true if a package has a binary of this name.
    pub(crate) fn has_binary(&self, package: &str, binary: &str) -> bool {
        let is_binary = |target: &Value| {
            target["name"] == binary
                && target["kind"].as_array().is_some_and(|k| k.contains(&"bin".into()))
        };
        self.packages.iter().any(|p| {
            p["name"] == package && p["targets"].as_array().is_some_and(|t| t.iter().any(is_binary))
        })
    }

    /// Returns the names of the packages that a release publishes: those without `publish = false`.
    pub(crate) fn published_packages(&self) -> Vec<&str> {
        let published = |package: &&Value| package["publish"].is_null();
        self.packages
            .iter()
            .filter(published)
            .filter_map(|package| package["name"].as_str())
            .collect()
    }

    /// Returns the published packages with their features, and with the features that each of them enables.
    pub(crate) fn published_features(&self) -> Vec<(&str, FeatureTable<'_>)> {
        let features = |name: &str| {
            let package = self.packages.iter().find(|package| package["name"] == name);
            let table = package.and_then(|package| package["features"].as_object());
            let enabled = |list: &'_ Value| -> Vec<String> {
                let names = list.as_array().into_iter().flatten().filter_map(Value::as_str);
                names.map(str::to_owned).collect()
            };
            table.into_iter().flatten().map(|(name, list)| (name.as_str(), enabled(list))).collect()
        };
        self.published_packages().into_iter().map(|name| (name, features(name))).collect()
    }

    /// Returns the packages with `[package.metadata.sapwood] miri = "<arguments of cargo test>"`, and the arguments.
    pub(crate) fn miri_packages(&self) -> Vec<(String, String)> {
        let with_miri = |package: &Value| {
            let filter = package["metadata"]["sapwood"]["miri"].as_str()?;
            Some((package["name"].as_str()?.to_owned(), filter.to_owned()))
        };
        self.packages.iter().filter_map(with_miri).collect()
    }
}
