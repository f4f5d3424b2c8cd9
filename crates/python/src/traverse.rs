//! Walks and maps over graphs, and substitution of variables.

use std::ops::ControlFlow;

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use rustc_hash::FxBuildHasher;
use sapwood_structural::{
    AnyRef, MapError, NodeEdit, NodeRef, NodeWalk, SubstituteError, Value, WalkAction, WalkedNode,
    free_variables, substitute, try_edit,
};

use crate::compare;
use crate::convert::{to_python, to_value};
use crate::errors;
use crate::node::wrap;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(walk, module)?)?;
    module.add_function(wrap_pyfunction!(edit_nodes, module)?)?;
    module.add_function(wrap_pyfunction!(replace_variables, module)?)?;
    module.add_function(wrap_pyfunction!(variables_of, module)?)
}

/// The functions that a walk calls, by the class of a node. `find(class)` is called once for each class, and returns `None` for classes
/// without a function.
struct Callbacks<'py> {
    find: &'py Bound<'py, PyAny>,
    /// The functions by the descriptor of a type; nodes without one never become Python objects.
    known: HashMap<usize, Option<Bound<'py, PyAny>>, FxBuildHasher>,
}

impl<'py> Callbacks<'py> {
    fn new(find: &'py Bound<'py, PyAny>) -> Self {
        Self { find, known: HashMap::default() }
    }

    /// Returns the function for a node, and the node as a Python object.
    fn of(
        &mut self,
        node: NodeRef<'_>,
    ) -> PyResult<Option<(&Bound<'py, PyAny>, Bound<'py, PyAny>)>> {
        let py = self.find.py();
        let key = std::ptr::from_ref(node.info()).addr();
        let mut object = None;
        let callback = match self.known.entry(key) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let made = object.insert(wrap(py, node.to_owned())?);
                let found = self.find.call1((made.get_type(),))?;
                entry.insert((!found.is_none()).then_some(found))
            }
        };
        let Some(callback) = callback else { return Ok(None) };
        let object = match object {
            Some(object) => object,
            None => wrap(py, node.to_owned())?,
        };
        Ok(Some((callback, object)))
    }
}

/// The words and classes with which a callback tells a walk how to go on.
struct WalkWords<'py> {
    /// The class of `stop(value)`.
    stop: &'py Bound<'py, PyAny>,
    /// The object that deletes a node.
    delete: &'py Bound<'py, PyAny>,
}

/// The answer of a callback.
enum Answer<'py> {
    Continue,
    Skip,
    Stop(Bound<'py, PyAny>),
    Delete,
    Other(Bound<'py, PyAny>),
}

impl<'py> WalkWords<'py> {
    fn read(&self, answer: Bound<'py, PyAny>) -> PyResult<Answer<'py>> {
        let py = answer.py();
        if answer.is_none() {
            return Ok(Answer::Continue);
        }
        // Any other text is a value, such as the replacement of a node.
        if is_word(&answer, "skip") {
            return Ok(Answer::Skip);
        }
        if answer.is(self.delete) {
            return Ok(Answer::Delete);
        }
        if answer.get_type().is(self.stop) {
            return Ok(Answer::Stop(answer.getattr(intern!(py, "value"))?));
        }
        Ok(Answer::Other(answer))
    }
}

fn is_word(answer: &Bound<'_, PyAny>, word: &str) -> bool {
    answer.cast::<PyString>().is_ok_and(|text| text.to_str().is_ok_and(|text| text == word))
}

/// The next step of a walk, or the end of it with its result.
type Flow<'py> = ControlFlow<PyResult<Bound<'py, PyAny>>, WalkAction>;

/// Calls `find(class)(node)` for each node, or `find(class)(node, in_def_region)` with `regions`, and returns the value with which a
/// callback stopped the walk. A callback returns `None` to continue, `"skip"` to continue outside of this node, or `stop(value)`.
#[pyfunction]
#[pyo3(signature = (value, find, stop, delete, *, post_order, every_occurrence, compared_only, regions))]
#[allow(clippy::too_many_arguments, reason = "keywords of a Python function")]
fn walk<'py>(
    value: &Bound<'py, PyAny>,
    find: &'py Bound<'py, PyAny>,
    stop: &'py Bound<'py, PyAny>,
    delete: &'py Bound<'py, PyAny>,
    post_order: bool,
    every_occurrence: bool,
    compared_only: bool,
    regions: bool,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = value.py();
    let value = to_value(value)?;
    let mut walk = NodeWalk::of(&value);
    if every_occurrence {
        walk = walk.every_occurrence();
    }
    if compared_only {
        walk = walk.compared_only();
    }
    let (mut callbacks, words) = (Callbacks::new(find), WalkWords { stop, delete });
    let mut call = |at: &WalkedNode<'_, '_>| -> Flow<'py> {
        let mut answer = || -> PyResult<Flow<'py>> {
            let Some((callback, object)) = callbacks.of(at.node())? else {
                return Ok(ControlFlow::Continue(WalkAction::Into));
            };
            let answer = match regions {
                true => callback.call1((object, at.in_def_region()))?,
                false => callback.call1((object,))?,
            };
            if is_word(&answer, "stop") {
                return Ok(ControlFlow::Break(Ok(py.None().into_bound(py))));
            }
            match words.read(answer)? {
                Answer::Continue => Ok(ControlFlow::Continue(WalkAction::Into)),
                Answer::Skip => Ok(ControlFlow::Continue(WalkAction::Skip)),
                Answer::Stop(value) => Ok(ControlFlow::Break(Ok(value))),
                Answer::Delete => {
                    let message = "a visitor cannot delete nodes; use a Mutator";
                    Err(errors::argument_error(py, message))
                }
                Answer::Other(answer) => {
                    let message = format!(
                        "a visitor returns None, \"skip\" or stop(value), it returned {answer}"
                    );
                    Err(errors::argument_error(py, message))
                }
            }
        };
        answer().unwrap_or_else(|error| ControlFlow::Break(Err(error)))
    };
    let ended = if post_order {
        walk.post_order(|at| match call(at) {
            ControlFlow::Continue(_) => ControlFlow::Continue(()),
            ControlFlow::Break(result) => ControlFlow::Break(result),
        })
    } else {
        walk.pre_order(call)
    };
    match ended {
        ControlFlow::Break(result) => result.map(Some),
        ControlFlow::Continue(()) => Ok(None),
    }
}

/// The reason why an edit of nodes ended early.
enum EditEnd<'py> {
    Stopped(Bound<'py, PyAny>),
    Failed(PyErr),
}

impl From<PyErr> for EditEnd<'_> {
    fn from(error: PyErr) -> Self {
        Self::Failed(error)
    }
}

/// Edits nodes from the leaves up, and returns the new value, or the value with which a callback stopped, and whether one did.
///
/// `enter(class)(node)` is called before the nodes below and returns `None` to go on, `"skip"`, or what `leave` returns, to skip the nodes
/// below; `leave(class)(node)` is called after them and returns the replacement, `None` to keep the node, `delete`, or `stop(value)`.
#[pyfunction]
fn edit_nodes<'py>(
    value: &Bound<'py, PyAny>,
    enter: Option<&'py Bound<'py, PyAny>>,
    leave: &'py Bound<'py, PyAny>,
    stop: &'py Bound<'py, PyAny>,
    delete: &'py Bound<'py, PyAny>,
) -> PyResult<(Bound<'py, PyAny>, bool)> {
    let py = value.py();
    let root = to_value(value)?;
    let words = WalkWords { stop, delete };
    let (mut entered, mut left) = (enter.map(Callbacks::new), Callbacks::new(leave));
    let enter = |node: NodeRef<'_>| -> Result<Option<NodeEdit>, EditEnd<'py>> {
        let Some(entered) = &mut entered else { return Ok(None) };
        let Some((callback, object)) = entered.of(node)? else { return Ok(None) };
        Ok(match words.read(callback.call1((object,))?)? {
            Answer::Continue => None,
            Answer::Skip => Some(NodeEdit::Keep),
            Answer::Stop(value) => return Err(EditEnd::Stopped(value)),
            Answer::Delete => Some(NodeEdit::Delete),
            Answer::Other(answer) => Some(NodeEdit::Replace(to_value(&answer)?)),
        })
    };
    let leave = |node: &AnyRef| -> Result<NodeEdit, EditEnd<'py>> {
        let Some((callback, object)) = left.of(node.node())? else { return Ok(NodeEdit::Keep) };
        match words.read(callback.call1((object,))?)? {
            Answer::Continue => Ok(NodeEdit::Keep),
            Answer::Stop(value) => Err(EditEnd::Stopped(value)),
            Answer::Delete => Ok(NodeEdit::Delete),
            Answer::Other(answer) => Ok(NodeEdit::Replace(to_value(&answer)?)),
            Answer::Skip => {
                let message =
                    "the nodes below were visited already; return skip from an enter method";
                Err(errors::argument_error(py, message).into())
            }
        }
    };
    let edited: Value = match try_edit(&root, enter, leave) {
        Ok(edited) => edited,
        Err(MapError::Callback { error: EditEnd::Stopped(value), .. }) => return Ok((value, true)),
        Err(MapError::Callback { error: EditEnd::Failed(error), .. }) => return Err(error),
        Err(MapError::Build { path, error }) => {
            return Err(compare::build_error_at(py, error, &path));
        }
        Err(_) => return Err(errors::value_error(py, "the nodes cannot be edited")),
    };
    Ok((to_python(py, edited.view())?, false))
}

/// Replaces free variables by values, all at once and without capture.
#[pyfunction]
fn replace_variables<'py>(
    value: &Bound<'py, PyAny>,
    replacements: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    let root = to_value(value)?;
    let mut pairs = Vec::with_capacity(replacements.len());
    for (variable, by) in replacements {
        let Value::Node(variable) = to_value(&variable)? else {
            let message = format!("{variable} is not a variable; only variables can be replaced");
            return Err(errors::argument_error(py, message));
        };
        pairs.push((variable, to_value(&by)?));
    }
    let replaced: Value = substitute(&root, pairs).map_err(|error| match error {
        SubstituteError::Build { path, error } => compare::build_error_at(py, error, &path),
        other => errors::argument_error(py, other.to_string()),
    })?;
    to_python(py, replaced.view())
}

/// Returns the free variables in the order of their first occurrence.
#[pyfunction]
fn variables_of<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
    let py = value.py();
    let value = to_value(value)?;
    let node = value.as_node().map(AnyRef::node);
    let found = compare::run_engine(py, [node], || free_variables(&value));
    let found = found.into_iter().map(|variable| wrap(py, variable));
    PyList::new(py, found.collect::<PyResult<Vec<_>>>()?)
}
