//! Programs.

use sapwood_structural::{BuildError, Field, Map, Node, Ref, Value, View};
use sapwood_types::Span;

use super::expr::{Callee, CalleeRef};
use super::function::FunctionRef;
use crate::error::IrError;

/// A shared pointer to a program.
pub type ProgramRef = Ref<Program>;

/// Functions by name.
#[derive(Node)]
#[node(key = "ir.Program")]
pub struct Program {
    /// Where it was written.
    #[node(ignore)]
    span: Span,
    /// For people.
    #[node(ignore)]
    name: Box<str>,
    functions: Functions,
}

/// The functions of a program: a map for comparison, and the same sorted by name.
struct Functions {
    map: Map,
    sorted: Vec<(CalleeRef, FunctionRef)>,
}

impl Functions {
    fn new(functions: impl IntoIterator<Item = FunctionRef>) -> Result<Self, IrError> {
        let mut sorted: Vec<FunctionRef> = functions.into_iter().collect();
        sorted.sort_by(|a, b| a.name.cmp(&b.name));
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0].name == pair[1].name) {
            return Err(IrError::DuplicateFunction(pair[0].name.to_string()));
        }
        let entry = |function: &FunctionRef| {
            (Value::from(&*function.name), Value::Node(function.as_any().clone()))
        };
        let map = Map::new(sorted.iter().map(entry))
            .map_err(|error| IrError::DuplicateFunction(error.to_string()))?;
        let sorted = sorted
            .into_iter()
            .map(|function| (Callee::global_var(&function.name), function))
            .collect();
        Ok(Self { map, sorted })
    }
}

impl Field for Functions {
    fn view(&self) -> View<'_> {
        self.map.view()
    }

    fn from_value(value: Value) -> Result<Self, BuildError> {
        let map = Map::from_value(value)?;
        let mut functions = Vec::with_capacity(map.len());
        for (key, value) in map.iter() {
            let function = FunctionRef::from_value(value.clone())?;
            if key.as_str() != Some(&*function.name) {
                return Err(BuildError::new(format!(
                    "the function called `{}` stands under the key {key:?}",
                    function.name
                )));
            }
            functions.push(function);
        }
        Self::new(functions).map_err(|error| BuildError::new(error.to_string()))
    }
}

impl Program {
    /// A program of these functions, sorted by name.
    ///
    /// # Errors
    /// If two have the same name.
    pub fn new(
        functions: impl IntoIterator<Item = FunctionRef>,
        name: &str,
        span: Span,
    ) -> Result<ProgramRef, IrError> {
        let functions = Functions::new(functions)?;
        Ok(Ref::new(Self { span, name: name.into(), functions }))
    }

    /// Where it was written.
    #[must_use]
    pub fn span(&self) -> Span {
        self.span
    }

    /// The name; empty if it has none.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The functions, sorted by name.
    pub fn functions(&self) -> impl ExactSizeIterator<Item = &FunctionRef> {
        self.functions.sorted.iter().map(|(_, function)| function)
    }

    /// Number of functions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.functions.sorted.len()
    }

    /// Whether there are no functions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.functions.sorted.is_empty()
    }

    fn find(&self, name: &str) -> Option<&(CalleeRef, FunctionRef)> {
        let sorted = &self.functions.sorted;
        let place = sorted.binary_search_by(|(_, function)| (*function.name).cmp(name)).ok()?;
        sorted.get(place)
    }

    /// The function called `name`.
    #[must_use]
    pub fn get_function(&self, name: &str) -> Option<&FunctionRef> {
        self.find(name).map(|(_, function)| function)
    }

    /// What calls the function called `name`.
    #[must_use]
    pub fn get_global_var(&self, name: &str) -> Option<&CalleeRef> {
        self.find(name).map(|(callee, _)| callee)
    }

    /// The same program with another list of functions.
    ///
    /// # Errors
    /// If two have the same name.
    pub fn with_functions(
        &self,
        functions: impl IntoIterator<Item = FunctionRef>,
    ) -> Result<ProgramRef, IrError> {
        Self::new(functions, &self.name, self.span)
    }

    /// The same program, each function replaced by what `change` makes of it.
    ///
    /// # Errors
    /// If two have the same name afterwards, or the first error of `change`.
    pub fn map_functions<E: From<IrError>>(
        &self,
        mut change: impl FnMut(&FunctionRef) -> Result<FunctionRef, E>,
    ) -> Result<ProgramRef, E> {
        let functions: Vec<FunctionRef> =
            self.functions().map(&mut change).collect::<Result<_, E>>()?;
        Ok(self.with_functions(functions)?)
    }
}
