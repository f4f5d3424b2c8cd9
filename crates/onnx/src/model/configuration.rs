//! Devices and sharding, which are kept and not interpreted.

use crate::Text;
use crate::wire::{message, one_of};

message! {
    /// A set of devices.
    DeviceConfiguration = "DeviceConfigurationProto" by (|devices| devices.name.as_ref()) {
        /// The name of the set.
        [1] name: Option<Text>,
        /// The number of devices.
        [2] num_devices: Option<i32>,
        /// Their names.
        [3] device: Vec<Text>,
    }
}

message! {
    /// The execution of a node on a set of devices.
    NodeDeviceConfiguration = "NodeDeviceConfigurationProto" {
        /// The name of the set.
        [1] configuration_id: Option<Text>,
        /// The sharding of its inputs and outputs.
        [2] sharding_spec: Vec<ShardingSpec>,
        /// The stage of a pipeline.
        [3] pipeline_stage: Option<i32>,
    }
}

message! {
    /// The sharding of a value over devices.
    ShardingSpec = "ShardingSpecProto" by (|spec| spec.tensor_name.as_ref()) {
        /// The value.
        [1] tensor_name: Option<Text>,
        /// The devices, or groups of them.
        [2] device: Vec<i64>,
        /// The devices of each group.
        [3] index_to_device_group_map: Vec<IntIntListEntry>,
        /// The axes that are split.
        [4] sharded_dim: Vec<ShardedDim>,
    }
}

message! {
    /// A group of devices.
    IntIntListEntry = "IntIntListEntryProto" {
        /// The number of the group.
        [1] key: Option<i64>,
        /// Its devices.
        [2] value: Vec<i64>,
    }
}

message! {
    /// An axis that is split.
    ShardedDim = "ShardedDimProto" {
        /// The axis.
        [1] axis: Option<i64>,
        /// The sharding of each part of a fused axis.
        [2] simple_sharding: Vec<SimpleShardedDim>,
    }
}

message! {
    /// An axis, or a part of one, in equal shards.
    SimpleShardedDim = "SimpleShardedDimProto" {
        /// The extent.
        [1, 2] dim: Option<ShardedExtent>,
        /// The number of shards.
        [3] num_shards: Option<i64>,
    }
}

one_of! {
    /// The extent of a sharded axis.
    ShardedExtent by last {
        /// A number.
        1 Value(i64),
        /// A symbol.
        2 Param(Text),
    }
}
