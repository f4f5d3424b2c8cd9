//! Programs: functions behind shared pointers.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use sapwood_types::{Diagnostics, Source};

use crate::attr::Attr;
use crate::build::VerifiedFunction;
use crate::dims::Dim;
use crate::func::{Function, QuotedSource};
use crate::name::Name;
use crate::op::{EffectRule, Effects, Op as _, OpKey, Registry};

/// A list of functions that may call each other. Cloning is cheap: functions are shared until one is changed, and a
/// clone is not affected by later changes.
#[derive(Clone)]
pub struct Program {
    functions: Vec<Arc<Function>>,
    index: HashMap<Name, usize, FxBuildHasher>,
    registry: Arc<Registry>,
    pub(crate) verified: VerifiedParts,
}

/// The parts of a program that the verifier accepted. A function can change only through `&mut Program`, and then it is no longer marked.
#[derive(Default)]
pub(crate) struct VerifiedParts {
    /// One entry per function: true if it is valid, apart from its calls.
    functions: Vec<AtomicBool>,
    /// True if the calls of all functions are valid.
    calls: AtomicBool,
}

impl VerifiedParts {
    /// Returns whether this function was accepted.
    pub(crate) fn has_function(&self, n: usize) -> bool {
        self.functions.get(n).is_some_and(|known| known.load(Ordering::Relaxed))
    }

    /// Marks a function as accepted.
    pub(crate) fn mark_function(&self, n: usize) {
        if let Some(known) = self.functions.get(n) {
            known.store(true, Ordering::Relaxed);
        }
    }

    /// Returns whether all calls were accepted.
    pub(crate) fn has_calls(&self) -> bool {
        self.calls.load(Ordering::Relaxed)
    }

    /// Marks all calls as accepted.
    pub(crate) fn mark_calls(&self) {
        self.calls.store(true, Ordering::Relaxed);
    }

    // Forgets everything, for `count` functions.
    fn reset(&mut self, count: usize) {
        self.functions.clear();
        self.functions.resize_with(count, AtomicBool::default);
        *self.calls.get_mut() = false;
    }

    // Forgets a function that may change, or adds it at the end.
    fn forget_function(&mut self, n: usize) {
        match self.functions.get_mut(n) {
            Some(known) => *known.get_mut() = false,
            None => self.functions.push(AtomicBool::default()),
        }
        *self.calls.get_mut() = false;
    }
}

impl Clone for VerifiedParts {
    fn clone(&self) -> Self {
        let copy = |known: &AtomicBool| AtomicBool::new(known.load(Ordering::Relaxed));
        Self { functions: self.functions.iter().map(copy).collect(), calls: copy(&self.calls) }
    }
}

/// The error that a program already has a function with this name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("function @{0} is defined twice")]
pub struct DuplicateFunction(pub Name);

/// The reason why symbols cannot be bound.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BindError {
    /// No function that may be run has the symbol.
    #[error("no function has a symbol ?{name}; {known}")]
    NoSuchSymbol {
        /// The symbol.
        name: Name,
        /// The symbols that functions have, as text.
        known: String,
    },
    /// A symbol has two extents.
    #[error("?{name} is {first} and {second}")]
    Conflict {
        /// The symbol.
        name: Name,
        /// Its first extent.
        first: u64,
        /// Another one.
        second: u64,
    },
    /// The extents contradict a fact of a function.
    #[error("@{function}: with these extents, `{fact}` is false")]
    Fact {
        /// The function.
        function: Name,
        /// The fact as text.
        fact: String,
    },
}

impl Program {
    /// Makes symbols known numbers, in the functions that no other function calls. Calls pass them on.
    ///
    /// # Errors
    /// If no such function has a symbol, a symbol has two extents, or a fact is false for the numbers. Then nothing is changed.
    pub fn bind_symbols(&mut self, extents: &[(Name, u64)]) -> Result<(), BindError> {
        let mut given: HashMap<Name, u64, FxBuildHasher> = HashMap::default();
        for &(name, second) in extents {
            let first = *given.entry(name).or_insert(second);
            if first != second {
                return Err(BindError::Conflict { name, first, second });
            }
        }
        let mut called: HashSet<Name, FxBuildHasher> = HashSet::default();
        for f in &self.functions {
            let calls = f.walk().filter_map(|inst| f.view::<crate::ops::Call>(inst));
            called.extend(calls.map(|call| call.callee));
        }
        let mut bound = self.clone();
        let mut found: Vec<Name> = Vec::new();
        for f in bound.functions_mut().filter(|f| !called.contains(&f.name())) {
            let mut own: Vec<Name> = Vec::new();
            for &param in f.params() {
                f.value_type(param).for_each_symbol(&mut |name| own.push(name));
            }
            if extents.iter().any(|(name, _)| own.contains(name)) {
                let function = f.name();
                let extent = |name: Name| extents.iter().find(|(other, _)| *other == name);
                f.substitute_symbols(&mut |name| {
                    extent(name).map_or_else(|| Dim::symbol(name), |&(_, n)| Dim::Known(n))
                })
                .map_err(|contradiction| BindError::Fact { function, fact: contradiction.fact })?;
            }
            found.extend(own);
        }
        if let Some(&(name, _)) = extents.iter().find(|(name, _)| !found.contains(name)) {
            found.sort_by_key(|name| name.as_str());
            found.dedup();
            let names: Vec<String> = found.iter().map(|name| format!("?{name}")).collect();
            let known = match names.is_empty() {
                true => "there are none".to_owned(),
                false => format!("there are {}", names.join(", ")),
            };
            return Err(BindError::NoSuchSymbol { name, known });
        }
        *self = bound;
        Ok(())
    }

    /// Creates a program without functions.
    #[must_use]
    pub fn new(registry: Arc<Registry>) -> Self {
        Self {
            functions: Vec::new(),
            index: HashMap::default(),
            registry,
            verified: VerifiedParts::default(),
        }
    }

    /// Returns the registry of the ops that the functions may contain.
    #[must_use]
    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// Returns the program with a registry that has more ops. Instructions of unregistered ops that it defines become instructions of
    /// these ops. O(n): functions are copied.
    ///
    /// # Errors
    /// If such an instruction does not fit the definition of its op.
    pub fn with_registry(&self, registry: &Arc<Registry>) -> Result<Self, Diagnostics> {
        if self.functions.iter().any(|f| f.is_redefined_by(registry)) {
            // The attributes of an unregistered op have another form.
            return crate::from_json_with(&crate::to_json(self), registry);
        }
        let mut program = self.clone();
        program.registry = registry.clone();
        program.functions_mut().for_each(|f| f.set_registry(registry));
        Ok(program)
    }

    /// Returns the functions, in order.
    #[must_use]
    pub fn functions(&self) -> &[Arc<Function>] {
        &self.functions
    }

    /// Returns the function with this name.
    #[must_use]
    pub fn function(&self, name: impl Into<Name>) -> Option<&Arc<Function>> {
        self.functions.get(*self.index.get(&name.into())?)
    }

    // Returns the position of the function with this name.
    pub(crate) fn position(&self, name: Name) -> Option<usize> {
        self.index.get(&name).copied()
    }

    /// Returns the function with this name for changes; [`rename`](Self::rename) changes its name. A shared function
    /// is copied first.
    pub fn function_mut(&mut self, name: impl Into<Name>) -> Option<&mut Function> {
        let index = *self.index.get(&name.into())?;
        self.verified.forget_function(index);
        self.functions.get_mut(index).map(Arc::make_mut)
    }

    /// Returns the functions for changes, in order. Shared functions are copied first.
    ///
    /// ```
    /// let mut program = sapwood_ptir::parse("ptir 1 func @f(%x: f32[4]) -> f32[4] { return %x }")?;
    /// for function in program.functions_mut() {
    ///     function.set_private(true);
    /// }
    /// assert!(program.functions()[0].is_private());
    /// # Ok::<(), sapwood_types::Diagnostics>(())
    /// ```
    pub fn functions_mut(&mut self) -> impl Iterator<Item = &mut Function> {
        self.verified.reset(self.functions.len());
        self.functions.iter_mut().map(Arc::make_mut)
    }

    /// Lets messages about single instructions quote the source text of the program: an
    /// [`InstPrinter`](crate::InstPrinter) then prints statements and value names as they are written there. For text
    /// in other languages whose statements have the form `%a, %b:2 = op …`, such as StableHLO; for the text form of
    /// PTIR, use [`ParseOptions::numbers`](crate::ParseOptions::numbers). O(n): functions are copied, so that
    /// instructions changed later can be recognized.
    pub fn set_quoted_source(&mut self, source: &Source) {
        for function in &mut self.functions {
            let original = function.clone();
            let quoted = QuotedSource { source: source.clone(), original };
            Arc::make_mut(function).quoted = Some(Arc::new(quoted));
        }
    }

    /// Renames a function. Calls to it are not changed.
    ///
    /// # Errors
    /// If another function has the new name; nothing is changed then. If no function has the old name, nothing
    /// happens.
    pub fn rename(
        &mut self,
        old: impl Into<Name>,
        new: impl Into<Name>,
    ) -> Result<(), DuplicateFunction> {
        let (old, new) = (old.into(), new.into());
        if old == new {
            return Ok(());
        }
        if self.index.contains_key(&new) {
            return Err(DuplicateFunction(new));
        }
        if let Some(index) = self.index.remove(&old) {
            Arc::make_mut(&mut self.functions[index]).set_name(new);
            self.verified.forget_function(index);
            self.index.insert(new, index);
        }
        Ok(())
    }

    /// Returns the functions from which an ordered instruction can be reached: those that contain one, and their
    /// callers.
    #[must_use]
    pub fn functions_with_effects(&self) -> HashSet<Name, FxBuildHasher> {
        let call = crate::ops::Call::key();
        let mut callers: HashMap<Name, Vec<Name>, FxBuildHasher> = HashMap::default();
        let mut found = HashSet::default();
        let mut left = Vec::new();
        // Most instructions have one of a few ops without effects, so there is one bit for each such op of the
        // registry.
        let (mut known, mut registry) = ([0u64; 4], &self.registry);
        for f in &self.functions {
            if !Arc::ptr_eq(registry, f.registry()) {
                (known, registry) = ([0; 4], f.registry());
            }
            let mut is_pure = |key: OpKey| {
                let (word, bit) = (key.index() / 64, 1 << (key.index() % 64));
                if known.get(word).is_some_and(|word| word & bit != 0) {
                    return true;
                }
                let def = f.registry().get(key);
                let fine = def.is_some_and(|def| {
                    matches!(def.effects, EffectRule::Always(Effects::Pure)) || def.terminator
                });
                if let (true, Some(word)) = (fine, known.get_mut(word)) {
                    *word |= bit;
                }
                fine
            };
            for inst in f.insts_unordered() {
                let key = f.op_key(inst);
                if is_pure(key) {
                    continue;
                }
                if key == call {
                    if let Some(Attr::Func(callee)) = f.attr(inst, "callee") {
                        callers.entry(*callee).or_default().push(f.name());
                    }
                } else if f.own_effects(inst) == Effects::Ordered && found.insert(f.name()) {
                    left.push(f.name());
                }
            }
        }
        while let Some(name) = left.pop() {
            for caller in callers.remove(&name).unwrap_or_default() {
                if found.insert(caller) {
                    left.push(caller);
                }
            }
        }
        found
    }

    /// Adds a function at the end.
    ///
    /// # Errors
    /// If the program already has a function with this name.
    pub fn add(&mut self, function: impl Into<Arc<Function>>) -> Result<(), DuplicateFunction> {
        let function = function.into();
        let name = function.name();
        if self.index.contains_key(&name) {
            return Err(DuplicateFunction(name));
        }
        self.verified.forget_function(self.functions.len());
        self.index.insert(name, self.functions.len());
        self.functions.push(function);
        Ok(())
    }

    /// Adds a function that was read, at the end. It is not verified again until it changes.
    ///
    /// # Errors
    /// If the program already has a function with this name.
    pub fn add_verified(&mut self, function: VerifiedFunction) -> Result<(), DuplicateFunction> {
        let n = self.functions.len();
        self.add(function.0)?;
        self.verified.mark_function(n);
        Ok(())
    }

    /// Replaces the function with the same name, or adds the function if there is none.
    pub fn replace(&mut self, function: impl Into<Arc<Function>>) {
        let function = function.into();
        let index = self.index.get(&function.name()).copied().unwrap_or(self.functions.len());
        self.verified.forget_function(index);
        match self.functions.get_mut(index) {
            Some(place) => *place = function,
            None => {
                self.index.insert(function.name(), index);
                self.functions.push(function);
            }
        }
    }

    /// Removes a function. Calls to it are not changed.
    pub fn remove(&mut self, name: impl Into<Name>) -> Option<Arc<Function>> {
        let index = self.index.remove(&name.into())?;
        let function = self.functions.remove(index);
        self.verified.functions.remove(index);
        *self.verified.calls.get_mut() = false;
        for (at, f) in self.functions.iter().enumerate().skip(index) {
            self.index.insert(f.name(), at);
        }
        Some(function)
    }

    /// Removes and returns all functions, in order. For passes: unlike [`function_mut`](Self::function_mut), this
    /// allows changing several functions at the same time.
    pub fn take_functions(&mut self) -> Vec<Arc<Function>> {
        self.index.clear();
        self.verified.reset(0);
        std::mem::take(&mut self.functions)
    }

    /// Removes the functions for which `keep` returns false. Calls to them are not changed.
    pub fn retain_functions(&mut self, mut keep: impl FnMut(&Function) -> bool) {
        let kept: Vec<bool> = self.functions.iter().map(|f| keep(f)).collect();
        let (mut functions, mut flags) = (kept.iter(), kept.iter());
        self.functions.retain(|_| functions.next() == Some(&true));
        self.verified.functions.retain(|_| flags.next() == Some(&true));
        *self.verified.calls.get_mut() = false;
        self.index = self.functions.iter().enumerate().map(|(at, f)| (f.name(), at)).collect();
    }

    /// Replaces all functions.
    ///
    /// # Errors
    /// If two functions have the same name; nothing is changed then.
    pub fn set_functions(
        &mut self,
        functions: Vec<Arc<Function>>,
    ) -> Result<(), DuplicateFunction> {
        let mut index: HashMap<Name, usize, FxBuildHasher> = HashMap::default();
        for (at, function) in functions.iter().enumerate() {
            if index.insert(function.name(), at).is_some() {
                return Err(DuplicateFunction(function.name()));
            }
        }
        self.verified.reset(functions.len());
        (self.functions, self.index) = (functions, index);
        Ok(())
    }

    /// Returns the number of instructions in all functions.
    #[must_use]
    pub fn num_insts(&self) -> usize {
        self.functions.iter().map(|f| f.num_insts()).sum()
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::text::print(self))
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{InstId, parse, verify};

    const TEXT: &str = "ptir 1\nfunc @f(%x: f32[4]) -> f32[4] { %y = exp %x : f32[4] return %y }\n\
                        func @g(%x: f32[4]) -> f32[4] { %y = call @f %x : f32[4] return %y }";

    fn marks(program: &Program) -> (Vec<bool>, bool) {
        let functions = 0..program.functions().len();
        let marks = functions.map(|n| program.verified.has_function(n)).collect();
        (marks, program.verified.has_calls())
    }

    #[test]
    fn what_the_verifier_accepted_is_marked_until_it_may_change() {
        let mut program = parse(TEXT).unwrap();
        assert_eq!(marks(&program), (vec![true, true], true));
        program.functions_mut().for_each(drop);
        assert_eq!(marks(&program), (vec![false, false], false));
        verify(&program).unwrap();
        assert_eq!(marks(&program), (vec![true, true], true));
        let copy = program.clone();
        program.function_mut("g").unwrap();
        assert_eq!(marks(&program), (vec![true, false], false));
        assert_eq!(marks(&copy), (vec![true, true], true));
        let change = |change: &dyn Fn(&mut Program)| {
            let mut program = copy.clone();
            change(&mut program);
            let (functions, calls) = marks(&program);
            assert_eq!(functions.len(), program.functions().len());
            let known = (0..functions.len()).filter(|&n| functions[n]);
            let names = known.map(|n| program.functions()[n].name().to_string());
            assert!(!calls);
            names.collect::<Vec<_>>()
        };
        let f = || copy.function("f").unwrap().clone();
        assert_eq!(change(&|p| p.functions_mut().for_each(drop)), [""; 0]);
        assert_eq!(change(&|p| p.replace(f())), ["g"]);
        assert_eq!(change(&|p| drop(p.remove("f"))), ["g"]);
        assert_eq!(change(&|p| p.retain_functions(|f| f.name().as_str() == "g")), ["g"]);
        assert_eq!(change(&|p| p.rename("g", "h").unwrap()), ["f"]);
        let taken = |p: &mut Program| {
            let functions = p.take_functions();
            p.set_functions(functions).unwrap();
        };
        assert_eq!(change(&taken), [""; 0]);
        let added = |p: &mut Program| {
            let mut f = (*f()).clone();
            f.set_name(Name::new("k"));
            p.add(f).unwrap();
        };
        assert_eq!(change(&added), ["f", "g"]);
    }

    #[test]
    fn a_verified_program_that_is_broken_is_refused() {
        let mut program = parse(TEXT).unwrap();
        verify(&program).unwrap();
        let f = program.function_mut("f").unwrap();
        let exp: InstId = f.walk().next().unwrap();
        let value = f.value_of(exp).unwrap();
        f.set_type(value, &crate::ValueType::Token).unwrap();
        assert!(verify(&program).is_err());
        assert_eq!(marks(&program), (vec![false, true], false));
        let mut program = parse(TEXT).unwrap();
        verify(&program).unwrap();
        program.remove("f");
        assert!(verify(&program).is_err(), "the call has no callee");
    }
}
