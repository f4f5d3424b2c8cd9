#!/usr/bin/env python3
"""Expected values for PTIR ops, from NumPy, SciPy, JAX and mpmath, never from Sapwood.

    oracle.py golden              writes tests/golden/run/OP.ptir for every op
    oracle.py golden --check      compares the files with its output
    oracle.py cases --count 5000 --seed 1 --out FILE     writes random cases, one JSON object per line

tests/oracle/README.md describes the sources and tolerances.
"""

import argparse
import json
import sys
from pathlib import Path

import contract
import control
import dims
import elementwise
import examples
import indexing
import reductions
import shapes
from examples import EXAMPLES
from tensors import BY_HAND, OPS, WEIGHT, Draw, literal, to_bytes, type_text

MODULES = [elementwise, shapes, contract, reductions, indexing, dims, control, examples]
ROOT = Path(__file__).resolve().parents[2]
# Files of ops without values from this script; tests/oracle/README.md has the reasons.
WRITTEN_BY_HAND = ["custom_call"]


def golden_file(name, make, count):
    cases = [make(Draw((name, turn), turn)) for turn in range(count)]
    reason = BY_HAND.get(name)
    lines = ["//! test: run", f"//! values: {'by hand, ' + reason if reason else 'tests/oracle/oracle.py'}"]
    lines.append(f"//! tolerance: {cases[0].tolerance}")
    for case in cases:
        lines += ["ptir 1", "", case.program.rstrip("\n")]
        lines += [f"//< {literal(d, a)} : {type_text(d, a.shape)}" for d, a in case.inputs]
        lines += [f"//> {literal(d, a)} : {type_text(d, a.shape)}" for d, a in case.outputs]
    return "\n".join(lines) + "\n"


def golden(check):
    folder = ROOT / "tests/golden/run"
    (folder / "examples").mkdir(parents=True, exist_ok=True)
    stale = []
    files = [(name, make, count) for name, (make, count) in OPS.items()]
    files += [(f"examples/{name}", make, 2) for name, make in EXAMPLES.items()]
    for name, make, count in files:
        path, text = folder / f"{name}.ptir", golden_file(name, make, count)
        if not path.exists() or path.read_text() != text:
            stale.append(name)
            if not check:
                path.write_text(text)
    known = set(OPS) | set(WRITTEN_BY_HAND)
    odd = sorted(p.stem for p in folder.glob("*.ptir") if p.stem not in known)
    if check and (stale or odd):
        sys.exit(f"oracle: other values than the files: {stale}; files of no op: {odd}")
    print(f"oracle: {len(files)} files, {len(stale)} {'stale' if check else 'written'}")


def tensor(d, a):
    return {"dtype": d, "shape": list(a.shape), "hex": to_bytes(d, a).hex()}


def cases(count, seed, only, out):
    names = [n for n in OPS for _ in range(WEIGHT[n]) if not only or n in only]
    for i in range(count):
        name = names[i % len(names)]
        try:
            case = OPS[name][0](Draw((seed, name, i)))
        except Exception as error:
            raise RuntimeError(f"case {i} of seed {seed}, {name}") from error
        line = {
            "name": f"{name}-{seed}-{i}", "op": name, "program": "ptir 1\n\n" + case.program,
            "inputs": [tensor(d, a) for d, a in case.inputs], "outputs": [tensor(d, a) for d, a in case.outputs],
            "tolerance": case.tolerance,
        }
        print(json.dumps(line), file=out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    write = verbs.add_parser("golden")
    write.add_argument("--check", action="store_true")
    stream = verbs.add_parser("cases")
    stream.add_argument("--count", type=int, default=5000)
    stream.add_argument("--seed", type=int, default=1)
    stream.add_argument("--only", action="append", default=[], metavar="OP")
    stream.add_argument("--out", type=Path, metavar="FILE")
    options = parser.parse_args()
    if options.verb == "golden":
        golden(options.check)
    else:
        out = options.out.open("w") if options.out else sys.stdout
        cases(options.count, options.seed, set(options.only), out)
        out.flush()


if __name__ == "__main__":
    main()
