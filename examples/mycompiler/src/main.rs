//! A compiler of one's own on top of Sapwood: the whole `sapwood` command, with two more ops, a fusion, rules, a pass and a backend.
//!
//! `mycompiler opt model.mlir -O1 --float fast --check --report page.html`, `mycompiler run model.mlir --backend careful`.

mod backend;
mod barriers;
mod fusion;
mod ops;

use std::process::ExitCode;

use sapwood::Toolkit;

fn main() -> ExitCode {
    Toolkit::new()
        .ops(ops::my_ops())
        .patterns(|set| {
            set.add(fusion::softmax);
        })
        .rules("fuse.rules", include_str!("fuse.rules"))
        .pass(barriers::RemoveBarriers::info())
        .backend(backend::Careful::default())
        .main()
}
