//! Output folders that disappear again if nothing is written to them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::command::cli_error::CliError;

/// The folders that a command created. Dropping it removes those that are still empty, so that a failed command leaves
/// no new folder behind.
#[derive(Debug, Default)]
pub(crate) struct CreatedFolder {
    /// The new folders, outermost first.
    new: Vec<PathBuf>,
}

impl CreatedFolder {
    /// Creates a folder and its missing parents. Does nothing if it exists.
    pub(crate) fn create(path: &Path) -> Result<Self, CliError> {
        // Parents that were created before an error are removed when this is dropped.
        let created = Self::before_creation(path);
        fs::create_dir_all(path).map_err(|error| {
            CliError::new(format!("{}: cannot be created: {error}", path.display()))
        })?;
        Ok(created)
    }

    /// Notes which folders of a path are missing, for a caller that creates them.
    pub(crate) fn before_creation(path: &Path) -> Self {
        let named = path.ancestors().filter(|p| !p.as_os_str().is_empty());
        let mut new: Vec<PathBuf> = named.take_while(|p| !p.exists()).map(Path::to_owned).collect();
        new.reverse();
        Self { new }
    }

    /// Adds folders that were created later, which may be inside the first ones.
    pub(crate) fn add(&mut self, mut later: Self) {
        self.new.append(&mut later.new);
    }

    /// Returns true if the folder did not exist before.
    pub(crate) fn is_new(&self) -> bool {
        !self.new.is_empty()
    }
}

impl Drop for CreatedFolder {
    fn drop(&mut self) {
        for folder in self.new.iter().rev() {
            // Fails if the folder is not empty, and then it is kept.
            let _ = fs::remove_dir(folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_folders_of_several_calls_are_removed() {
        let root = tempfile::tempdir().unwrap();
        let outer = root.path().join("out");
        let mut created = CreatedFolder::create(&outer).unwrap();
        created.add(CreatedFolder::create(&outer.join("pages")).unwrap());
        drop(created);
        assert!(!outer.exists());
    }

    #[test]
    fn empty_folders_are_removed() {
        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("a/b/c");
        let created = CreatedFolder::create(&inner).unwrap();
        assert!(inner.is_dir());
        drop(created);
        assert!(!root.path().join("a").exists());
    }

    #[test]
    fn folders_with_files_and_old_folders_stay() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("old")).unwrap();
        let created = CreatedFolder::create(&root.path().join("old/new")).unwrap();
        fs::write(root.path().join("old/new/file"), "").unwrap();
        drop(created);
        assert!(root.path().join("old/new/file").exists());
        drop(CreatedFolder::create(&root.path().join("old/empty")).unwrap());
        assert!(root.path().join("old").exists() && !root.path().join("old/empty").exists());
    }

    #[test]
    fn a_failure_removes_the_parents_that_were_created() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("file"), "").unwrap();
        assert!(CreatedFolder::create(&root.path().join("file/a/b")).is_err());
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
    }
}
