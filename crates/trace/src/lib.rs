//! Traces: events of program runs and passes, sent to sinks.
//!
//! An [`ExecutionTraceSink`] gets an event before and after every run of a program, and the events of passes: start, every
//! rewrite, fold and edit, end. [`install_global_sink`] installs one for the process until its guard is dropped.
//! [`FileTraceSink`] writes everything to a folder. Without a sink nothing is done or allocated: looking for one reads one
//! integer.
//!
//! ```
//! use std::sync::{Arc, Mutex};
//! use sapwood_trace::{ExecutionTraceSink, PassEvent, global_sink, install_global_sink};
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
//! assert!(global_sink().is_none());
//! let guard = install_global_sink(Arc::new(Passes::default()));
//! assert!(global_sink().is_some());
//! drop(guard);
//! assert!(global_sink().is_none());
//! ```
//!
//! ## Modules
//! | module | contents |
//! | --- | --- |
//! | `event` | The trait of sinks, and the events. |
//! | `global_sink` | The sink of the process. |
//! | `step_log` | The edits of passes as text. |
//! | `file_sink/` | Traces as files in a folder: `json_lines`, `pass_events`, `file_names`, `timestamp`. |

mod event;
mod file_sink;
mod global_sink;
mod step_log;

pub use event::{Execution, ExecutionResult, ExecutionTraceSink, PassEvent, PassEventKind};
pub use file_sink::{FileTraceSink, TraceError};
pub use global_sink::{SinkGuard, global_sink, install_global_sink, next_run_id};
pub use step_log::StepLogSink;
