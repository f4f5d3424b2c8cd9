//! `sapwood graph`: a program as DOT, or as a page to look at.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use sapwood_explorer::{PageOptions, graph_page};
use sapwood_ptir::{BodyId, Function, InstId, Program, ValueDef, ValueId};
use serde_json::json;

use super::answer::{Answer, Trouble};
use super::console::Console;
use super::files::Input;
use super::fmt::Target;
use super::load::{FileFormat, Loaded, Reading, load};
use super::many::{self, Inputs, Outcome};

/// Draw programs as graphs: DOT, or a page to look at
///
/// Functions and regions are boxes, instructions nodes, values edges labelled with their types. With `-o g.html` or
/// `--to html`, one HTML file that needs nothing else: folds, search, details, source lines.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Programs, or directories of them; `-` is standard input
    #[arg(required = true, value_name = "FILES")]
    files: Vec<PathBuf>,
    /// Write to this file, or for several files into this directory
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Only this function
    #[arg(long, value_name = "NAME")]
    function: Option<String>,
    /// Format of the input, whatever its name says
    #[arg(long, value_enum, value_name = "FORMAT")]
    from: Option<FileFormat>,
    /// Format of the drawing; that of the output's name, or DOT, otherwise
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Option<Drawn>,
}

/// What a program is drawn as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Drawn {
    /// A graph for Graphviz
    Dot,
    /// A page for a browser
    Html,
}

impl Drawn {
    fn extension(self) -> &'static str {
        match self {
            Self::Dot => "dot",
            Self::Html => "html",
        }
    }

    // What was said, or what the name of the output says.
    fn of(args: &Args) -> Self {
        let named = args.output.as_deref().and_then(Path::extension);
        let html = named.is_some_and(|e| e.eq_ignore_ascii_case("html") || e == "htm");
        args.to.unwrap_or(if html { Self::Html } else { Self::Dot })
    }
}

pub(super) fn run(args: &Args, console: &Console) -> Result<Answer, Trouble> {
    let extension = Drawn::of(args).extension();
    let inputs =
        Inputs::with_output(&args.files, args.output.as_deref(), console, |_| Some(extension))?;
    many::run(&inputs, console, |input| one(args, input))
}

fn one(args: &Args, input: &Input) -> Result<Outcome, Trouble> {
    let reading = Reading { from: args.from, comments: true, names: true, ..Reading::default() };
    let read = load(input, reading)?;
    let Loaded::Ptir(program) = &read.loaded else {
        return Err(Trouble::new(format!(
            "{input}: `graph` draws PTIR; `sapwood lower` makes it of front-end IR"
        )));
    };
    let chosen: Vec<&Function> = match &args.function {
        None => program.functions().iter().map(|f| &**f).collect(),
        Some(name) => vec![find(program, name)?],
    };
    let drawn = Drawn::of(args);
    let text = match drawn {
        Drawn::Dot => dot(&chosen),
        Drawn::Html => {
            let title = input.to_string();
            let options = PageOptions::new(&title).source(&read.source);
            match &args.function {
                None => graph_page(program, &options),
                Some(_) => graph_page(&only(program, &chosen)?, &options),
            }
        }
    };
    let target = Target::output_as(args.output.as_deref(), input, Some(drawn.extension()));
    Outcome::new(Answer::Yes, format!("{input}: drawn"), json!({})).write(&target, text)
}

// A program of some functions of another.
fn only(program: &Program, functions: &[&Function]) -> Result<Program, Trouble> {
    let mut some = Program::new(program.registry().clone());
    for f in functions {
        some.add((*f).clone()).map_err(|error| Trouble::new(error.to_string()))?;
    }
    Ok(some)
}

/// The function of this name, or what is there instead.
pub(super) fn find<'a>(program: &'a Program, name: &str) -> Result<&'a Function, Trouble> {
    let name = name.strip_prefix('@').unwrap_or(name);
    program.function(name).map(|f| &**f).ok_or_else(|| {
        super::ops::unknown("function", name, program.functions().iter().map(|f| f.name().as_str()))
    })
}

/// Functions as one DOT graph. Each instruction is a node; a value used in another body is an edge across boxes.
fn dot(functions: &[&Function]) -> String {
    let mut out = String::from("digraph program {\n  node [shape=box, fontname=monospace];\n");
    for (number, f) in functions.iter().enumerate() {
        let mut drawing = Drawing { f, number, out: &mut out };
        drawing.function();
    }
    out + "}\n"
}

struct Drawing<'a> {
    f: &'a Function,
    number: usize,
    out: &'a mut String,
}

impl Drawing<'_> {
    fn function(&mut self) {
        let f = self.f;
        self.line(1, &format!("subgraph cluster_{} {{", self.number));
        self.line(2, &format!("label={};", quoted(&format!("@{}", f.name()))));
        // Bodies are opened and closed with a stack of their own: nesting may be deep.
        let mut work = vec![Step::Open(f.body())];
        while let Some(step) = work.pop() {
            match step {
                Step::Open(body) => {
                    self.params(body);
                    let insts: Vec<InstId> = f.body_insts(body).collect();
                    for &inst in insts.iter().rev() {
                        work.push(Step::Inst(inst));
                    }
                }
                Step::Inst(inst) => {
                    self.node(inst);
                    for (slot, &body) in f.regions(inst).iter().enumerate().rev() {
                        work.push(Step::Close);
                        work.push(Step::Open(body));
                        work.push(Step::Box(inst, slot, body));
                    }
                }
                Step::Box(inst, slot, body) => {
                    let label = format!("{} region {slot}", f.op_name(inst));
                    self.line(2, &format!("subgraph cluster_{}_{} {{", self.number, id(body)));
                    self.line(3, &format!("label={};", quoted(&label)));
                }
                Step::Close => self.line(2, "}"),
            }
        }
        self.line(1, "}");
        for inst in f.walk() {
            for &value in f.operands(inst) {
                let (from, to) = (self.source(value), self.name(inst));
                let label = quoted(&f.value_type(value).to_string());
                self.line(1, &format!("{from} -> {to} [label={label}];"));
            }
        }
    }

    fn params(&mut self, body: BodyId) {
        let f = self.f;
        for (n, &param) in f.body_params(body).iter().enumerate() {
            let shown = f.hint(param).map_or_else(|| format!("parameter {n}"), |h| format!("%{h}"));
            let node = self.source(param);
            self.line(2, &format!("{node} [label={}, shape=ellipse];", quoted(&shown)));
        }
    }

    fn node(&mut self, inst: InstId) {
        let (node, label) = (self.name(inst), quoted(self.f.op_name(inst)));
        self.line(2, &format!("{node} [label={label}];"));
    }

    fn name(&self, inst: InstId) -> String {
        format!("f{}_{}", self.number, id(inst))
    }

    fn source(&self, value: ValueId) -> String {
        match self.f.value_def(value) {
            ValueDef::Result(inst, _) => self.name(inst),
            ValueDef::Param(body, n) => format!("f{}_{}_p{n}", self.number, id(body)),
        }
    }

    fn line(&mut self, depth: usize, text: &str) {
        self.out.extend(std::iter::repeat_n("  ", depth));
        self.out.push_str(text);
        self.out.push('\n');
    }
}

enum Step {
    Open(BodyId),
    Inst(InstId),
    Box(InstId, usize, BodyId),
    Close,
}

// Ids print with signs that DOT does not take in names.
fn id(id: impl std::fmt::Display) -> String {
    id.to_string().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{escaped}\"")
}
