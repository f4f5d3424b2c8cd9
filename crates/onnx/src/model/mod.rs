//! The messages of ONNX as Rust structs.
//!
//! A struct has a member per field of ONNX's schema, under the schema's name: `Option` where a field may be absent, `Vec` where it may be
//! repeated, an enum where one of several fields is set. Every struct has a [`WireInfo`](crate::WireInfo) for everything outside the schema.
//! Strings and weights share the memory of the file.

mod attribute;
mod coded_enum;
mod configuration;
mod element_type;
mod nested;
mod tensor;
mod types;
mod visit;

pub use attribute::{Attribute, AttributeType, AttributeValue};
pub use configuration::{
    DeviceConfiguration, IntIntListEntry, NodeDeviceConfiguration, ShardedDim, ShardedExtent,
    ShardingSpec, SimpleShardedDim,
};
pub use element_type::ElementType;
pub use nested::Nested;
pub(crate) use nested::with_stack;
pub use tensor::{Segment, SparseTensor, Tensor, TensorData};
pub use types::{
    Dimension, DimensionValue, MapType, OpaqueType, SequenceType, Shape, TensorType, Type,
    TypeValue, ValueInfo,
};

pub(crate) use visit::{for_each_tensor, for_each_tensor_mut};

use crate::Text;
use crate::wire::message;

message! {
    /// An ONNX file: a graph, the versions of the operator sets it uses, and functions.
    Model = "ModelProto" {
        /// The version of the format.
        [1] ir_version: Option<i64>,
        /// The name of the tool that wrote the file.
        [2] producer_name: Option<Text>,
        /// The version of that tool.
        [3] producer_version: Option<Text>,
        /// A name space for the model.
        [4] domain: Option<Text>,
        /// The version of the model.
        [5] model_version: Option<i64>,
        /// Documentation.
        [6] doc_string: Option<Text>,
        /// The graph.
        [7] graph: Option<Nested<Graph>>,
        /// The operator sets that nodes outside of functions use.
        [8] opset_import: Vec<OperatorSet>,
        /// Named strings.
        [14] metadata_props: Vec<StringEntry>,
        /// Graphs for training.
        [20] training_info: Vec<TrainingInfo>,
        /// Functions that nodes call like ops.
        [25] functions: Vec<Function>,
        /// The devices of a distributed model.
        [26] configuration: Vec<DeviceConfiguration>,
    }
}

message! {
    /// A graph: nodes in an order that has every value before its uses, constants, inputs and outputs.
    Graph = "GraphProto" by (|graph| graph.name.as_ref()) {
        /// The nodes.
        [1] node: Vec<Node>,
        /// The name.
        [2] name: Option<Text>,
        /// Constant tensors, by name. An input of the same name makes it a default.
        [5] initializer: Vec<Tensor>,
        /// Documentation.
        [10] doc_string: Option<Text>,
        /// The inputs.
        [11] input: Vec<ValueInfo>,
        /// The outputs.
        [12] output: Vec<ValueInfo>,
        /// Types of other values.
        [13] value_info: Vec<ValueInfo>,
        /// The quantization of values.
        [14] quantization_annotation: Vec<TensorAnnotation>,
        /// Constant sparse tensors.
        [15] sparse_initializer: Vec<SparseTensor>,
        /// Named strings.
        [16] metadata_props: Vec<StringEntry>,
    }
}

message! {
    /// A call of an op or of a function.
    Node = "NodeProto" by (|node| node.label()) {
        /// The values it uses; an empty name is an optional input that is left out.
        [1] input: Vec<Text>,
        /// The values it defines; an empty name is an output that is not needed.
        [2] output: Vec<Text>,
        /// The name, for users.
        [3] name: Option<Text>,
        /// The op.
        [4] op_type: Option<Text>,
        /// Its attributes.
        [5] attribute: Vec<Attribute>,
        /// Documentation.
        [6] doc_string: Option<Text>,
        /// The operator set; absent or empty for ONNX's own.
        [7] domain: Option<Text>,
        /// The overload, which distinguishes functions of one name.
        [8] overload: Option<Text>,
        /// Named strings.
        [9] metadata_props: Vec<StringEntry>,
        /// The devices of a distributed model.
        [10] device_configurations: Vec<NodeDeviceConfiguration>,
    }
}

message! {
    /// A function of the model, which nodes call by domain, name and overload.
    Function = "FunctionProto" by (|function| function.name.as_ref()) {
        /// The name.
        [1] name: Option<Text>,
        /// The names of the inputs.
        [4] input: Vec<Text>,
        /// The names of the outputs.
        [5] output: Vec<Text>,
        /// Attributes without a default.
        [6] attribute: Vec<Text>,
        /// The nodes.
        [7] node: Vec<Node>,
        /// Documentation.
        [8] doc_string: Option<Text>,
        /// The operator sets its nodes use.
        [9] opset_import: Vec<OperatorSet>,
        /// The domain.
        [10] domain: Option<Text>,
        /// Attributes with a default.
        [11] attribute_proto: Vec<Attribute>,
        /// Types of values.
        [12] value_info: Vec<ValueInfo>,
        /// The overload, which distinguishes functions of one name.
        [13] overload: Option<Text>,
        /// Named strings.
        [14] metadata_props: Vec<StringEntry>,
    }
}

message! {
    /// The version of an operator set.
    OperatorSet = "OperatorSetIdProto" by (|set| set.domain.as_ref()) {
        /// The domain; absent or empty for ONNX's own.
        [1] domain: Option<Text>,
        /// The version.
        [2] version: Option<i64>,
    }
}

message! {
    /// A named string.
    StringEntry = "StringStringEntryProto" by (|entry| entry.key.as_ref()) {
        /// The name.
        [1] key: Option<Text>,
        /// The string.
        [2] value: Option<Text>,
    }
}

message! {
    /// The tensors with the quantization parameters of a value.
    TensorAnnotation = "TensorAnnotation" by (|annotation| annotation.tensor_name.as_ref()) {
        /// The value.
        [1] tensor_name: Option<Text>,
        /// Roles, such as `SCALE_TENSOR`, and names of tensors.
        [2] quant_parameter_tensor_names: Vec<StringEntry>,
    }
}

message! {
    /// The graphs for training a model.
    TrainingInfo = "TrainingInfoProto" {
        /// Computes initial values.
        [1] initialization: Option<Nested<Graph>>,
        /// One step of training.
        [2] algorithm: Option<Nested<Graph>>,
        /// The initializers that outputs of `initialization` set.
        [3] initialization_binding: Vec<StringEntry>,
        /// The initializers that outputs of `algorithm` set.
        [4] update_binding: Vec<StringEntry>,
    }
}

impl StringEntry {
    /// Returns an entry with this key and value.
    #[must_use]
    pub fn new(key: impl Into<Text>, value: impl Into<Text>) -> Self {
        Self { key: Some(key.into()), value: Some(value.into()), ..Self::default() }
    }
}

impl Model {
    /// Returns a model of one graph, for a version of the format and of ONNX's operator set.
    #[must_use]
    pub fn new(graph: Graph, ir_version: i64, opset: i64) -> Self {
        let opset = OperatorSet { version: Some(opset), ..OperatorSet::default() };
        Self {
            ir_version: Some(ir_version),
            opset_import: vec![opset],
            graph: Some(graph.into()),
            ..Self::default()
        }
    }

    /// Returns the number of nodes, those of subgraphs included. Constants are not counted: writers may keep them as nodes or as
    /// initializers.
    #[must_use]
    pub fn count_nodes(&self) -> usize {
        let mut graphs: Vec<&Graph> = self.graph.as_deref().into_iter().collect();
        let mut count = 0;
        while let Some(graph) = graphs.pop() {
            for node in &graph.node {
                let is_constant = node.op_type.as_ref().and_then(Text::as_str) == Some("Constant");
                count += usize::from(!is_constant);
                graphs.extend(node.attribute.iter().flat_map(Attribute::graphs));
            }
        }
        count
    }
}

impl Node {
    /// Returns a node of ONNX's operator set, without attributes.
    #[must_use]
    pub fn new(op_type: &str, input: &[&str], output: &[&str]) -> Self {
        let names = |names: &[&str]| names.iter().map(|&name| name.into()).collect();
        Self {
            op_type: Some(op_type.into()),
            input: names(input),
            output: names(output),
            ..Self::default()
        }
    }

    /// Returns the name for messages: the node's own, or its first output's if it has none.
    #[must_use]
    pub fn label(&self) -> Option<&Text> {
        let named = self.name.as_ref().filter(|name| !name.is_empty());
        named.or_else(|| self.output.iter().find(|name| !name.is_empty()))
    }

    /// Returns the attribute of this name.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attribute.iter().find(|a| a.name.as_ref().is_some_and(|n| *n == name))
    }
}
