//! Reading and writing files for the verbs.

pub(crate) mod batch;
pub(crate) mod created_folder;
pub(crate) mod files;
pub(crate) mod load;
pub(crate) mod model_edits;
pub(crate) mod npy;
pub(crate) mod pattern_files;
pub(crate) mod print;
pub(crate) mod program_pair;
pub(crate) mod target;
pub(crate) mod trace_folder;
