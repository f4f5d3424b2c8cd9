//! Visitors of all tensors of a model.

use super::{AttributeValue, Graph, Model, Node, SparseTensor, Tensor};

/// Declares a visitor for shared or for exclusive references.
macro_rules! visits {
    ($(#[$doc:meta])* $name:ident, $nodes:ident, $sparse:ident, $($mut:ident)?) => {
        $(#[$doc])*
        pub(crate) fn $name<'a>(model: &'a $($mut)? Model, mut visit: impl FnMut(&'a $($mut)? Tensor, bool)) {
            let mut pending: Vec<&'a $($mut)? Graph> = Vec::new();
            for function in & $($mut)? model.functions {
                $nodes(& $($mut)? function.node, &mut pending, &mut visit);
            }
            for info in & $($mut)? model.training_info {
                pending.extend(visits!(@inside info.algorithm $($mut)?));
                pending.extend(visits!(@inside info.initialization $($mut)?));
            }
            pending.extend(visits!(@inside model.graph $($mut)?));
            while let Some(graph) = pending.pop() {
                for tensor in & $($mut)? graph.initializer {
                    visit(tensor, true);
                }
                for sparse in & $($mut)? graph.sparse_initializer {
                    $sparse(sparse, true, &mut visit);
                }
                $nodes(& $($mut)? graph.node, &mut pending, &mut visit);
            }
        }

        fn $nodes<'a>(
            nodes: &'a $($mut)? [Node],
            pending: &mut Vec<&'a $($mut)? Graph>,
            visit: &mut impl FnMut(&'a $($mut)? Tensor, bool),
        ) {
            for node in nodes {
                for attribute in & $($mut)? node.attribute {
                    match & $($mut)? attribute.value {
                        Some(AttributeValue::Tensor(tensor)) => visit(tensor, false),
                        Some(AttributeValue::Tensors(tensors)) => {
                            for tensor in tensors {
                                visit(tensor, false);
                            }
                        }
                        Some(AttributeValue::SparseTensor(sparse)) => $sparse(sparse, false, visit),
                        Some(AttributeValue::SparseTensors(all)) => {
                            for sparse in all {
                                $sparse(sparse, false, visit);
                            }
                        }
                        Some(AttributeValue::Graph(graph)) => pending.push(graph),
                        Some(AttributeValue::Graphs(graphs)) => {
                            for graph in graphs {
                                pending.push(graph);
                            }
                        }
                        _ => {}
                    }
                }
            }
        }

        fn $sparse<'a>(
            sparse: &'a $($mut)? SparseTensor,
            is_initializer: bool,
            visit: &mut impl FnMut(&'a $($mut)? Tensor, bool),
        ) {
            if let Some(values) = & $($mut)? sparse.values {
                visit(values, is_initializer);
            }
            if let Some(indices) = & $($mut)? sparse.indices {
                visit(indices, is_initializer);
            }
        }
    };
    (@inside $member:ident.$field:ident mut) => { $member.$field.as_deref_mut() };
    (@inside $member:ident.$field:ident) => { $member.$field.as_deref() };
}

visits! {
    /// Calls `visit` with every tensor and whether it is an initializer. Uses no recursion.
    for_each_tensor, tensors_of_nodes, tensors_of_sparse,
}

visits! {
    /// Calls `visit` with every tensor, which it may change, and whether it is an initializer. Uses no recursion.
    for_each_tensor_mut, tensors_of_nodes_mut, tensors_of_sparse_mut, mut
}
