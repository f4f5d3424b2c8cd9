//! The tests of the reader and writer of ONNX, in one program: each program takes seconds to link.

mod common;
mod core_ops;
mod declared;
mod definitions;
mod external;
mod folding;
mod functions;
mod hostile;
mod lossless;
mod open_shapes;
mod own_ops;
mod programs;
mod properties;
mod random_nodes;
mod verify;
