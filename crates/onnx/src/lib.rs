//! ONNX models, read and written without loss.
//!
//! [`read`] turns the bytes of an `.onnx` file into a [`Model`], a tree of plain structs that share the file's memory; [`write()`] returns
//! identical bytes. Unknown fields and unusual orders of fields are kept.
//!
//! ```
//! use sapwood_onnx::{Graph, Model, Node};
//!
//! let relu = Node::new("Relu", &["x"], &["y"]);
//! let model = Model::new(Graph { node: vec![relu], ..Graph::default() }, 10, 21);
//! let bytes = sapwood_onnx::write(&model)?;
//! let back = sapwood_onnx::read(bytes.clone())?;
//! assert_eq!(back, model);
//! assert_eq!(sapwood_onnx::write(&back)?, bytes);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ## Modules
//! | module | contents |
//! | --- | --- |
//! | `wire/` | Protobuf's wire format: `reader`, `encoder`, `message`, `field`, `bytes` (shared memory), `map` (memory maps; **contains the unsafe code of this crate**), `error`. |
//! | `model/` | The messages of ONNX as structs: `attribute`, `tensor`, `element_type`, `types`, `configuration` (devices and sharding); `nested` (boxes of any depth), `visit` (all tensors of a model). |
//! | `file`, `external` | Reading and writing files; weights in other files. |
//! | `edit`, `inline` | Edits of models: shapes of inputs, cutting a part out, and functions replaced by their nodes. |
//! | `verify/` | The verifier: `node`, `scope` (names), `cycle`. |
//! | `reshape_form` | The ways to write a reshape without computing a shape. |
//! | `dialect`, `values` | The ops of ONNX as ops of PTIR; tensors, types and attributes as those of PTIR, and back. |
//! | `own_ops` | Ops of a user as nodes of an operator set of their own. |
//! | `read/`, `write/` | Models as programs: `graph` (bodies), `names`; and back: `graph`, `node`, `scope` (names), `raise`, `raise_pads`, `raise_products` and `raise_ranges` (core ops as nodes), `convert` (forms of other opsets). |
//! | `lower/` | The meaning of each op: `table` (one row per op), `builder` and `context` (the language of the definitions), `shape_values` (contents of shapes), `pass` (`onnx-to-core`), `fold_budget` (the nodes that become constants), `steps` (for logs), `control` and `kernels`, and one file per family. |
//! | `ops/` | The schemas of ONNX's ops by version: generated tables (`table_a_l`, `table_m_z`, `table_ml`, `newest`) and their parser (`table_parser`). |

mod dialect;
mod edit;
mod external;
mod file;
mod inline;
mod lower;
mod model;
pub mod ops;
mod own_ops;
mod raise;
mod read;
mod reshape_form;
mod values;
mod verify;
mod wire;
mod write;

pub use dialect::{op_defs, registry};
pub use edit::{EditError, InputDim, ModelEdits};
pub use external::{ExternalData, TensorError, TensorProblem};
pub use file::{
    FileError, InlineError, WeightStorage, WriteOptions, read_file, write_file, write_inline,
};
pub use lower::{
    Law as LowerLaw, LowerLevel, LowerOptions, Observer as LowerObserver, Step as LowerStep,
    lower_function, lower_function_with,
};
pub use model::{
    Attribute, AttributeType, AttributeValue, DeviceConfiguration, Dimension, DimensionValue,
    ElementType, Function, Graph, IntIntListEntry, MapType, Model, Nested, Node,
    NodeDeviceConfiguration, OpaqueType, OperatorSet, Segment, SequenceType, Shape, ShardedDim,
    ShardedExtent, ShardingSpec, SimpleShardedDim, SparseTensor, StringEntry, Tensor,
    TensorAnnotation, TensorData, TensorType, TrainingInfo, Type, TypeValue, ValueInfo,
};
pub use read::{OnnxModule, OnnxSource, to_program};
pub use verify::verify;
pub use wire::{Bytes, EncodeError, NumberList, ReadError, Text, WireInfo};
pub use write::{WriteError, to_model};

/// Reads a model. It copies only the numbers of attributes and shapes.
///
/// # Errors
/// If the bytes are not an ONNX model: with the byte offset, and the names around it.
pub fn read(bytes: impl Into<Bytes>) -> Result<Model, ReadError> {
    wire::decode(&bytes.into())
}

/// Writes a model.
///
/// # Errors
/// If protobuf could not read it: over 2 GiB, or nested too deep.
pub fn write(model: &Model) -> Result<Vec<u8>, EncodeError> {
    let mut bytes = Vec::new();
    wire::encode(model, &mut bytes)?;
    Ok(bytes)
}
