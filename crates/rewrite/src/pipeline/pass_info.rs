//! The description of a pass for pipelines: its name, the table of its options, and a function that creates it.

use std::any::Any;
use std::path::PathBuf;
use std::sync::Arc;

use sapwood_ptir::Registry;
use sapwood_types::{Diagnostic, SourceErrors, Span};

use super::parse::PatternReader;
use crate::passes::Pass;
use crate::pattern::PatternSet;

/// The description of a pass for pipelines.
#[derive(Clone)]
pub struct PassInfo {
    /// The name of the pass.
    pub name: &'static str,
    /// A description in one line.
    pub doc: &'static str,
    /// The options of the pass: [`pass_options!`](crate::pass_options) writes this table.
    pub options: &'static [OptionInfo],
    /// Creates the pass.
    pub make: MakePass,
}

/// A function that creates a pass from its options. Problems with the options are added to the list they carry.
#[derive(Clone)]
pub enum MakePass {
    /// A plain function, for descriptions that are statics.
    Plain(MakePassFn),
    /// A closure, which may capture the state that its passes share.
    Closure(Arc<MakePassClosure>),
}

/// A plain function that creates a pass from its options.
pub type MakePassFn = fn(&mut PassOptions<'_>) -> Result<Arc<dyn Pass>, ()>;

/// A closure that creates a pass from its options.
pub type MakePassClosure = dyn Fn(&mut PassOptions<'_>) -> Result<Arc<dyn Pass>, ()> + Send + Sync;

impl MakePass {
    /// Returns a closure as a function that creates a pass.
    pub fn closure(
        make: impl Fn(&mut PassOptions<'_>) -> Result<Arc<dyn Pass>, ()> + Send + Sync + 'static,
    ) -> Self {
        Self::Closure(Arc::new(make))
    }

    pub(super) fn call(&self, options: &mut PassOptions<'_>) -> Result<Arc<dyn Pass>, ()> {
        match self {
            Self::Plain(make) => make(options),
            Self::Closure(make) => make(options),
        }
    }
}

/// An option of a pass: a field of the pass with a name, of a type that is an [`OptionValue`](crate::OptionValue).
#[derive(Clone, Copy)]
pub struct OptionInfo {
    /// The name of the option.
    pub name: &'static str,
    /// A description in one line.
    pub doc: &'static str,
    /// Sets the field of a pass to the value of a text.
    pub set: fn(&mut dyn Any, &str) -> Result<(), String>,
    /// Returns the field of a pass as text.
    pub get: fn(&dyn Any) -> String,
}

/// The table of the options of a pass: for each, its name, the field of the pass, and its description. Help, parsing and
/// printing follow from it.
///
/// ```
/// use sapwood_ptir::Program;
/// use sapwood_rewrite::{
///     MakePass, Pass, PassContext, PassError, PassInfo, PassManager, PipelineParser, pass_options,
/// };
///
/// #[derive(Default)]
/// struct Limit { most: usize }
///
/// static INFO: PassInfo = PassInfo {
///     name: "limit",
///     doc: "Fails if the program has too many instructions.",
///     options: pass_options!(Limit { "most": most, "The maximum number of instructions." }),
///     make: MakePass::Plain(|options| options.fill(Limit::default())),
/// };
///
/// impl Pass for Limit {
///     fn name(&self) -> &'static str { INFO.name }
///     fn options(&self) -> Vec<(&'static str, String)> { INFO.options_of(self, &Self::default()) }
///     fn run_on_program(&self, program: &mut Program, _: &mut PassContext) -> Result<bool, PassError> {
///         match program.num_insts() <= self.most {
///             true => Ok(false),
///             false => Err(PassError::Refused("too many instructions".into())),
///         }
///     }
/// }
///
/// let manager = PassManager::parse_with("cse,limit{most=7}", &PipelineParser::new(&[&INFO]))?;
/// assert_eq!(manager.pipeline(), "cse,limit{most=7}");
/// # Ok::<(), sapwood_types::SourceErrors>(())
/// ```
#[macro_export]
macro_rules! pass_options {
    ($pass:ty { $($name:literal: $($field:ident).+, $doc:literal);* $(;)? }) => {
        &[$($crate::OptionInfo {
            name: $name,
            doc: $doc,
            set: |pass, text| match pass.downcast_mut::<$pass>() {
                Some(pass) => {
                    $crate::OptionValue::from_text(text).map(|value| pass.$($field).+ = value)
                }
                None => Err("it belongs to another pass".into()),
            },
            get: |pass| match pass.downcast_ref::<$pass>() {
                Some(pass) => $crate::OptionValue::to_text(&pass.$($field).+),
                None => String::new(),
            },
        }),*]
    };
}

/// Defines a pass: a struct whose fields are the options, their defaults, and the description for pipelines, `info()`.
///
/// The doc comments are the help texts. The option of a field is named like it, with `-` for `_`. `run` is the function that does the work;
/// the statistics are what it counts.
///
/// ```
/// use sapwood_ptir::{Program, ops::OptimizationBarrier};
/// use sapwood_rewrite::{PassContext, PassError, PassManager, PipelineParser, pass};
///
/// pass! {
///     /// Removes optimization barriers.
///     pub struct RemoveBarriers "remove-barriers" {
///         /// The maximum number of barriers to remove in a function.
///         at_most: usize = 100,
///     }
///     run = remove_barriers
/// }
///
/// fn remove_barriers(
///     pass: &RemoveBarriers,
///     program: &mut Program,
///     cx: &mut PassContext,
/// ) -> Result<bool, PassError> {
///     cx.each_function(program, |rw, cx| {
///         let is_barrier = |&inst: &_| rw.op::<OptimizationBarrier>(inst).is_some();
///         let found: Vec<_> = rw.function().walk().filter(is_barrier).take(pass.at_most).collect();
///         for inst in found {
///             let values = rw.operands(inst).to_vec();
///             rw.replace_inst(inst, &values)?;
///             cx.count("removed", 1);
///         }
///         Ok(cx.has_counted())
///     })
/// }
///
/// let mut program = sapwood_ptir::parse(
///     "ptir 1 func @f(%x: f32[4]) -> f32[4] { %b = optimization_barrier %x : f32[4] return %b }",
/// )?;
/// let passes = [RemoveBarriers::info()];
/// let parser = PipelineParser::new(&passes);
/// let manager = PassManager::parse_with("remove-barriers{at-most=1}", &parser)?;
/// assert_eq!(manager.pipeline(), "remove-barriers{at-most=1}");
/// assert_eq!(manager.run(&mut program)?.passes[0].counters, [("removed", 1)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[macro_export]
macro_rules! pass {
    (
        $(#[doc = $doc:literal])+
        $vis:vis struct $pass:ident $name:literal {
            $($(#[doc = $option_doc:literal])+ $field:ident: $ty:ty = $default:expr),* $(,)?
        }
        run = $run:expr $(;)?
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug)]
        $vis struct $pass {
            $($(#[doc = $option_doc])+ $vis $field: $ty,)*
        }

        impl ::core::default::Default for $pass {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        impl $pass {
            /// Returns the description of the pass, for pipelines.
            #[must_use]
            $vis fn info() -> &'static $crate::PassInfo {
                static INFO: $crate::PassInfo = $crate::PassInfo {
                name: $name,
                doc: ::core::concat!($($doc),+).trim_ascii(),
                options: &[$({
                    const NAME: [u8; ::core::stringify!($field).len()] =
                        $crate::__private::option_name(::core::stringify!($field));
                    $crate::OptionInfo {
                        name: match ::core::str::from_utf8(&NAME) {
                            Ok(name) => name,
                            Err(_) => ::core::panic!("the name of an option is ASCII"),
                        },
                        doc: ::core::concat!($($option_doc),+).trim_ascii(),
                        set: |pass, text| match pass.downcast_mut::<$pass>() {
                            Some(pass) => {
                                $crate::OptionValue::from_text(text).map(|value| pass.$field = value)
                            }
                            None => Err("it belongs to another pass".into()),
                        },
                        get: |pass| match pass.downcast_ref::<$pass>() {
                            Some(pass) => $crate::OptionValue::to_text(&pass.$field),
                            None => String::new(),
                        },
                    }
                }),*],
                make: $crate::MakePass::Plain(|options| {
                    options.fill(<$pass as ::core::default::Default>::default())
                }),
                };
                &INFO
            }
        }

        impl $crate::Pass for $pass {
            fn name(&self) -> &'static str {
                $name
            }

            fn options(&self) -> Vec<(&'static str, String)> {
                Self::info().options_of(self, &<Self as ::core::default::Default>::default())
            }

            fn run_on_program(
                &self,
                program: &mut $crate::__private::Program,
                cx: &mut $crate::PassContext,
            ) -> Result<bool, $crate::PassError> {
                $run(self, program, cx)
            }
        }
    };
}

/// Returns the name of the option of a field: `-` for `_`.
pub const fn option_name<const N: usize>(field: &str) -> [u8; N] {
    let mut name = [0; N];
    let mut at = 0;
    while at < N {
        let byte = field.as_bytes()[at];
        name[at] = if byte == b'_' { b'-' } else { byte };
        at += 1;
    }
    name
}

impl From<&PassInfo> for Arc<PassInfo> {
    fn from(info: &PassInfo) -> Self {
        Self::new(info.clone())
    }
}

impl PassInfo {
    /// Returns the options of a pass that differ from those of another, as a pipeline writes them.
    pub fn options_of<P: Pass + 'static>(
        &self,
        pass: &P,
        default: &P,
    ) -> Vec<(&'static str, String)> {
        let values = self.options.iter().map(|option| (option, (option.get)(pass)));
        let values = values.filter(|(option, value)| *value != (option.get)(default));
        values.map(|(option, value)| (option.name, value)).collect()
    }

    /// Returns the default of each option as text, in the order of the options. The text is empty if there is none, as for an option that
    /// must be given or for an unlimited number, and if the description of the option says what the default is.
    #[must_use]
    pub fn defaults(&self) -> Vec<String> {
        let mut problems = SourceErrors::default();
        let mut options = PassOptions {
            info: self,
            pass: Span::unknown(),
            given: Vec::new(),
            context: OptionContext::default(),
            problems: &mut problems,
        };
        let made = self.make.call(&mut options).ok();
        let unlimited = usize::MAX.to_string();
        let default = |option: &OptionInfo| {
            let pass: &dyn Any = &**made.as_ref()?;
            let text = (option.get)(pass);
            (text != unlimited && !option.doc.contains("default is")).then_some(text)
        };
        self.options.iter().map(|option| default(option).unwrap_or_default()).collect()
    }
}

/// The options given to a pass.
pub struct PassOptions<'a> {
    info: &'a PassInfo,
    // The place of the name of the pass in the pipeline.
    pass: Span,
    given: Vec<GivenOption>,
    context: OptionContext<'a>,
    problems: &'a mut SourceErrors,
}

/// The ops, patterns and rules that the passes of a pipeline use besides those that they name.
#[derive(Clone, Copy, Default)]
pub(super) struct OptionContext<'a> {
    pub(super) rules: &'a [PathBuf],
    pub(super) sources: PatternSources<'a>,
    pub(super) registry: Option<&'a Arc<Registry>>,
}

/// The sources of patterns besides the shipped ones.
#[derive(Clone, Copy, Default)]
pub struct PatternSources<'a> {
    /// The reader of files of rules. Without one, passes cannot name such files.
    pub reader: Option<&'a PatternReader<'a>>,
    /// A function that adds more patterns to the shipped ones.
    pub more: Option<&'a AddPatterns>,
}

/// A function that adds patterns to a set.
pub type AddPatterns = dyn Fn(&mut PatternSet) + Send + Sync;

pub(super) struct GivenOption {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) name_span: Span,
    pub(super) value_span: Span,
}

impl<'a> PassOptions<'a> {
    pub(super) fn new(
        info: &'a PassInfo,
        pass: Span,
        given: Vec<GivenOption>,
        context: OptionContext<'a>,
        problems: &'a mut SourceErrors,
    ) -> Self {
        Self { info, pass, given, context, problems }
    }

    /// Sets the options of a pass that are given, by the table of its description, and returns it as a pass of a pipeline.
    ///
    /// # Errors
    /// If a value cannot be parsed; the diagnostics have been added to the list.
    #[allow(clippy::result_unit_err, reason = "the diagnostic is in the list")]
    pub fn fill<P: Pass + 'static>(&mut self, mut pass: P) -> Result<Arc<dyn Pass>, ()> {
        self.set(&mut pass)?;
        Ok(Arc::new(pass))
    }

    /// Sets the options of a pass that are given, by the table of its description.
    ///
    /// # Errors
    /// If a value cannot be parsed; the diagnostics have been added to the list.
    #[allow(clippy::result_unit_err, reason = "the diagnostic is in the list")]
    pub fn set<P: Pass + 'static>(&mut self, pass: &mut P) -> Result<(), ()> {
        let mut result = Ok(());
        for given in &self.given {
            let Some(option) = self.info.options.iter().find(|o| o.name == given.name) else {
                continue;
            };
            if let Err(why) = (option.set)(pass, &given.value) {
                let (name, value) = (&given.name, &given.value);
                let message = format!("option `{name}` cannot be `{value}`: {why}");
                self.problems.diagnostics.push(Diagnostic::error(given.value_span, message));
                result = Err(());
            }
        }
        result
    }

    /// Returns the files of rules that every pass with patterns uses in addition to its own.
    #[must_use]
    pub fn rules(&self) -> &'a [PathBuf] {
        self.context.rules
    }

    /// Returns the sources of patterns besides the shipped ones.
    #[must_use]
    pub fn pattern_sources(&self) -> PatternSources<'a> {
        self.context.sources
    }

    /// Returns the ops that programs may have.
    #[must_use]
    pub fn registry(&self) -> Arc<Registry> {
        self.context.registry.map_or_else(Registry::builtin, Arc::clone)
    }

    /// Reports an error at the value of an option, or at the name of the pass if the option is not given.
    ///
    /// # Errors
    /// Always; the diagnostic has been added to the list.
    #[allow(clippy::result_unit_err, reason = "the diagnostic is in the list")]
    pub fn refuse<T>(&mut self, name: &str, why: impl Into<String>) -> Result<T, ()> {
        self.refuse_all(name, SourceErrors::plain(why))
    }

    /// Reports errors about the value of an option, such as those in a file that it names. Errors with an unknown span are
    /// reported at the value, or at the name of the pass if the option is not given.
    ///
    /// # Errors
    /// Always; the diagnostics have been added to the list.
    #[allow(clippy::result_unit_err, reason = "the diagnostic is in the list")]
    pub fn refuse_all<T>(&mut self, name: &str, errors: SourceErrors) -> Result<T, ()> {
        let given = self.given.iter().find(|g| g.name == name);
        self.problems.append_at(given.map_or(self.pass, |g| g.value_span), errors);
        Err(())
    }
}
