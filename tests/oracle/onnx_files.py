"""Compares ONNX models with those that Sapwood writes after reading them: bytes, all fields, the verdict of ONNX's checker.

usage: onnx_files.py FOLDER WRITTEN      (WRITTEN is the output of `cargo run -p sapwood-onnx --example onnx_round_trip WRITTEN FOLDER/*.onnx`)
"""
import pathlib, sys
import onnx


def accepted(path):
    try:
        onnx.checker.check_model(str(path))
        return True
    except Exception:
        return False


def main():
    folder, written = map(pathlib.Path, sys.argv[1:3])
    counts = {"models": 0, "byte-equal": 0, "field-equal": 0, "accepted before": 0, "accepted after": 0}
    for path in sorted(folder.glob("*.onnx")):
        after = written / path.name
        counts["models"] += 1
        if not after.exists():
            print(f"{path.name}: not written")
            continue
        same_bytes = path.read_bytes() == after.read_bytes()
        same_fields = same_bytes or onnx.load(path, load_external_data=False) == onnx.load(after, load_external_data=False)
        before_ok = accepted(path)
        after_ok = before_ok if same_bytes else accepted(after)
        counts["byte-equal"] += same_bytes
        counts["field-equal"] += same_fields
        counts["accepted before"] += before_ok
        counts["accepted after"] += after_ok
        if not same_fields or before_ok != after_ok:
            print(f"{path.name}: fields {'same' if same_fields else 'differ'}, accepted {before_ok} before, {after_ok} after")
    print(", ".join(f"{number} {name}" for name, number in counts.items()))
    sys.exit(counts["field-equal"] != counts["models"] or counts["accepted before"] != counts["accepted after"])


if __name__ == "__main__":
    main()
