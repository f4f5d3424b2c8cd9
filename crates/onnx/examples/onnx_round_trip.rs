//! Reads models and writes them back: `onnx_round_trip OUT MODEL…`. One line per model: whether the bytes are the same.
#![allow(clippy::print_stdout)]

use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let out = arguments.next().ok_or("usage: onnx_round_trip OUT MODEL…")?;
    for path in arguments {
        let path = Path::new(&path);
        let start = Instant::now();
        let bytes = sapwood_onnx::Bytes::map_file(&std::fs::File::open(path)?)?;
        let name = path.file_name().unwrap_or_default();
        match sapwood_onnx::read(bytes.clone()) {
            Ok(model) => {
                let read = start.elapsed();
                let written = sapwood_onnx::write(&model)?;
                let all = start.elapsed();
                let same = if *written == *bytes { "same" } else { "other" };
                println!("{same} {} {} {:?} {:?}", name.display(), bytes.len(), read, all);
                std::fs::write(Path::new(&out).join(name), written)?;
                for problem in sapwood_onnx::verify(&model) {
                    println!("    {problem}");
                }
            }
            Err(error) => println!("refused {}: {error}", name.display()),
        }
    }
    Ok(())
}
