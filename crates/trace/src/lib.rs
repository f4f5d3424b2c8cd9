//! Who is told when programs run and passes change them.
//!
//! An [`ExecutionTraceSink`] is told before and after every run of a program, and about passes: start, every rewrite,
//! fold and edit, end. [`install_global_sink`] makes one the sink of the process until its guard is dropped.
//! [`FileTraceSink`] writes everything to a folder. With no sink installed nothing is done and nothing allocated: asking
//! for one is a look at an integer.
//!
//! ```
//! use std::sync::{Arc, Mutex};
//! use sapwood_trace::{ExecutionTraceSink, PassEvent, current, install_global_sink};
//!
//! #[derive(Default)]
//! struct Passes(Mutex<Vec<String>>);
//!
//! impl ExecutionTraceSink for Passes {
//!     fn pass(&self, event: &PassEvent<'_>) {
//!         self.0.lock().unwrap().push(format!("{} {}", event.pass, event.kind.name()));
//!     }
//! }
//!
//! assert!(current().is_none());
//! let guard = install_global_sink(Arc::new(Passes::default()));
//! assert!(current().is_some());
//! drop(guard);
//! assert!(current().is_none());
//! ```

mod event;
mod file;
mod global;
mod steps;

pub use event::{Execution, ExecutionTraceSink, Finished, PassEvent, PassEventKind};
pub use file::{FileTraceSink, TraceError};
pub use global::{SinkGuard, current, install_global_sink, next_number};
pub use steps::StepLogSink;
