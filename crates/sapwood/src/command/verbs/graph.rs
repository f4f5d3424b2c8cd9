//! `sapwood graph`.

use std::path::Path;

use clap::ValueEnum;
use sapwood_explorer::{PageOptions, graph_page};
use sapwood_ptir::{BodyId, Function, InstId, Program, ValueDef, ValueId};
use serde_json::json;

use crate::command::cli_error::CliError;
use crate::command::command_name;
use crate::command::console::Console;
use crate::command::io::batch::{self, BatchArgs, FileResult};
use crate::command::io::files::Input;
use crate::command::io::load::{InputFormatArgs, Loaded, ReadOptions, load};
use crate::command::io::target::Target;
use crate::command::select_function::find_function;
use crate::command::status::Status;
use crate::toolkit::Toolkit;

/// Draw programs as graphs, in DOT or as an HTML page
///
/// Functions and regions are boxes, instructions are nodes, and values are edges labelled with their types. `-o g.html` or
/// `--to html` writes one self-contained HTML page with folding, search, details and source lines.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    batch: BatchArgs,
    /// Draw only this function
    #[arg(long, value_name = "NAME")]
    function: Option<String>,
    #[command(flatten)]
    input_format: InputFormatArgs,
    /// Format of the output; the default is that of its extension, or else DOT
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Option<DrawingFormat>,
}

/// A format of drawings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DrawingFormat {
    /// A DOT graph for Graphviz
    Dot,
    /// An HTML page
    Html,
}

impl DrawingFormat {
    fn extension(self) -> &'static str {
        match self {
            Self::Dot => "dot",
            Self::Html => "html",
        }
    }

    // Returns the format of `--to`, or that of the extension of the output.
    fn from_args(args: &Args) -> Self {
        let extension = args.batch.output.as_deref().and_then(Path::extension);
        let html = extension.is_some_and(|e| e.eq_ignore_ascii_case("html") || e == "htm");
        args.to.unwrap_or(if html { Self::Html } else { Self::Dot })
    }
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<Status, CliError> {
    let extension = DrawingFormat::from_args(args).extension();
    let inputs = args.batch.inputs(console, |_| Some(extension))?;
    batch::run(&inputs, console, |input| draw_file(args, input, &console.toolkit))
}

fn draw_file(args: &Args, input: &Input, toolkit: &Toolkit) -> Result<FileResult, CliError> {
    let options = ReadOptions { comments: true, source_names: true, ..ReadOptions::default() };
    let file = load(input, args.input_format.from, options, toolkit)?;
    let Loaded::Ptir(program) = &file.program else {
        return Err(CliError::new(format!(
            "{input}: `graph` draws PTIR only; `{} lower` converts front-end IR to PTIR",
            command_name()
        )));
    };
    let functions: Vec<&Function> = match &args.function {
        None => program.functions().iter().map(|f| &**f).collect(),
        Some(name) => vec![find_function(program, name)?],
    };
    let format = DrawingFormat::from_args(args);
    let text = match format {
        DrawingFormat::Dot => dot_graph(&functions),
        DrawingFormat::Html => {
            let title = input.to_string();
            let options = PageOptions::new(&title).source(&file.source);
            match &args.function {
                None => graph_page(program, &options),
                Some(_) => graph_page(&program_of(program, &functions)?, &options),
            }
        }
    };
    let target =
        Target::with_extension(args.batch.output.as_deref(), input, Some(format.extension()));
    FileResult::new(Status::Success, format!("{input}: drawn"), json!({})).write(&target, text)
}

// Returns a program with only these functions of another one.
fn program_of(program: &Program, functions: &[&Function]) -> Result<Program, CliError> {
    let mut part = Program::new(program.registry().clone());
    for f in functions {
        part.add((*f).clone()).map_err(|error| CliError::new(error.to_string()))?;
    }
    Ok(part)
}

// Returns functions as one DOT graph. Each instruction is a node; a value used in another body is an edge across boxes.
fn dot_graph(functions: &[&Function]) -> String {
    let mut out = String::from("digraph program {\n  node [shape=box, fontname=monospace];\n");
    for (number, f) in functions.iter().enumerate() {
        let mut writer = DotWriter { f, number, out: &mut out };
        writer.write_function();
    }
    out + "}\n"
}

/// A writer of one function as a DOT cluster.
struct DotWriter<'a> {
    f: &'a Function,
    number: usize,
    out: &'a mut String,
}

impl DotWriter<'_> {
    fn write_function(&mut self) {
        let f = self.f;
        self.line(1, &format!("subgraph cluster_{} {{", self.number));
        self.line(2, &format!("label={};", quoted(&format!("@{}", f.name()))));
        // An explicit stack, because regions may be nested deeply.
        let mut stack = vec![DotTask::Body(f.body())];
        while let Some(task) = stack.pop() {
            match task {
                DotTask::Body(body) => {
                    self.write_params(body);
                    let insts: Vec<InstId> = f.body_insts(body).collect();
                    for &inst in insts.iter().rev() {
                        stack.push(DotTask::Inst(inst));
                    }
                }
                DotTask::Inst(inst) => {
                    self.write_node(inst);
                    for (slot, &body) in f.regions(inst).iter().enumerate().rev() {
                        stack.push(DotTask::CloseCluster);
                        stack.push(DotTask::Body(body));
                        stack.push(DotTask::OpenCluster(inst, slot, body));
                    }
                }
                DotTask::OpenCluster(inst, slot, body) => {
                    let label = format!("{} region {slot}", f.op_name(inst));
                    self.line(2, &format!("subgraph cluster_{}_{} {{", self.number, dot_id(body)));
                    self.line(3, &format!("label={};", quoted(&label)));
                }
                DotTask::CloseCluster => self.line(2, "}"),
            }
        }
        self.line(1, "}");
        for inst in f.walk() {
            for &value in f.operands(inst) {
                let (from, to) = (self.defining_node(value), self.node_name(inst));
                let label = quoted(&f.value_type(value).to_string());
                self.line(1, &format!("{from} -> {to} [label={label}];"));
            }
        }
    }

    fn write_params(&mut self, body: BodyId) {
        let f = self.f;
        for (n, &param) in f.body_params(body).iter().enumerate() {
            let label = f.hint(param).map_or_else(|| format!("parameter {n}"), |h| format!("%{h}"));
            let node = self.defining_node(param);
            self.line(2, &format!("{node} [label={}, shape=ellipse];", quoted(&label)));
        }
    }

    fn write_node(&mut self, inst: InstId) {
        let (node, label) = (self.node_name(inst), quoted(self.f.op_name(inst)));
        self.line(2, &format!("{node} [label={label}];"));
    }

    fn node_name(&self, inst: InstId) -> String {
        format!("f{}_{}", self.number, dot_id(inst))
    }

    fn defining_node(&self, value: ValueId) -> String {
        match self.f.value_def(value) {
            ValueDef::Result(inst, _) => self.node_name(inst),
            ValueDef::Param(body, n) => format!("f{}_{}_p{n}", self.number, dot_id(body)),
        }
    }

    fn line(&mut self, depth: usize, text: &str) {
        self.out.extend(std::iter::repeat_n("  ", depth));
        self.out.push_str(text);
        self.out.push('\n');
    }
}

/// A pending piece of a DOT cluster.
enum DotTask {
    Body(BodyId),
    Inst(InstId),
    OpenCluster(InstId, usize, BodyId),
    CloseCluster,
}

// Returns an id with the characters that DOT allows in names.
fn dot_id(id: impl std::fmt::Display) -> String {
    id.to_string().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

// Returns a quoted DOT string.
fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{escaped}\"")
}
