//! Programs.

use sapwood_structural::{BuildError, Field, Map, Node, Ref, Value, View};
use sapwood_types::Span;

use super::expr::{Callee, CalleeRef};
use super::function::FunctionRef;
use crate::error::IrError;

/// A shared pointer to a program.
pub type ProgramRef = Ref<Program>;

/// A program: functions by name.
#[derive(Node)]
#[node(key = "ir.Program")]
pub struct Program {
    /// The source span.
    #[node(ignore)]
    span: Span,
    /// The name, which is not compared.
    #[node(ignore)]
    name: Box<str>,
    functions: FunctionTable,
}

/// The functions of a program: a structural map for comparison, and a list sorted by name.
struct FunctionTable {
    map: Map,
    sorted: Vec<(CalleeRef, FunctionRef)>,
}

impl FunctionTable {
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

impl Field for FunctionTable {
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
                    "the function called `{}` has the key {key:?}, expected its name",
                    function.name
                )));
            }
            functions.push(function);
        }
        Self::new(functions).map_err(|error| BuildError::new(error.to_string()))
    }
}

impl Program {
    /// Creates a program from functions, which are sorted by name.
    ///
    /// # Errors
    /// Fails if two functions have the same name.
    pub fn new(
        functions: impl IntoIterator<Item = FunctionRef>,
        name: &str,
        span: Span,
    ) -> Result<ProgramRef, IrError> {
        let functions = FunctionTable::new(functions)?;
        Ok(Ref::new(Self { span, name: name.into(), functions }))
    }

    /// Returns the source span.
    #[must_use]
    pub fn span(&self) -> Span {
        self.span
    }

    /// Returns the name, which may be empty.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the functions, sorted by name.
    pub fn functions(&self) -> impl ExactSizeIterator<Item = &FunctionRef> {
        self.functions.sorted.iter().map(|(_, function)| function)
    }

    /// Returns the number of functions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.functions.sorted.len()
    }

    /// Returns whether there are no functions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.functions.sorted.is_empty()
    }

    fn find_entry(&self, name: &str) -> Option<&(CalleeRef, FunctionRef)> {
        let sorted = &self.functions.sorted;
        let place = sorted.binary_search_by(|(_, function)| (*function.name).cmp(name)).ok()?;
        sorted.get(place)
    }

    /// Returns the function called `name`.
    #[must_use]
    pub fn get_function(&self, name: &str) -> Option<&FunctionRef> {
        self.find_entry(name).map(|(_, function)| function)
    }

    /// Returns the callee that refers to the function called `name`.
    #[must_use]
    pub fn get_global_var(&self, name: &str) -> Option<&CalleeRef> {
        self.find_entry(name).map(|(callee, _)| callee)
    }

    /// Returns a program with the same name and span but other functions.
    ///
    /// # Errors
    /// Fails if two functions have the same name.
    pub fn with_functions(
        &self,
        functions: impl IntoIterator<Item = FunctionRef>,
    ) -> Result<ProgramRef, IrError> {
        Self::new(functions, &self.name, self.span)
    }

    /// Returns the program with each function replaced by the result of `change`.
    ///
    /// # Errors
    /// Fails if two functions have the same name afterwards, or with the first error of `change`.
    pub fn map_functions<E: From<IrError>>(
        &self,
        mut change: impl FnMut(&FunctionRef) -> Result<FunctionRef, E>,
    ) -> Result<ProgramRef, E> {
        let functions: Vec<FunctionRef> =
            self.functions().map(&mut change).collect::<Result<_, E>>()?;
        Ok(self.with_functions(functions)?)
    }
}
