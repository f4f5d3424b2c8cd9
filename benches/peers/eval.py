"""The rows of running programs in NumPy.

Prints one JSON line per row, as `benches/README.md` describes. NumPy takes as many threads as it likes for the matrix
product, as our side does, and one for the rest.
"""

import json
import time

import numpy as np

REPEATS = 7


def softmax(x):
    shifted = np.exp(x - x.max(axis=1, keepdims=True))
    return shifted / shifted.sum(axis=1, keepdims=True)


def layer_norm(x):
    mean = x.mean(axis=1, keepdims=True)
    centred = x - mean
    variance = (centred * centred).mean(axis=1, keepdims=True)
    return centred / np.sqrt(variance + np.float32(1e-5))


def main():
    random = np.random.default_rng(1)

    def values(*shape):
        return random.standard_normal(shape, dtype=np.float32)

    a, b = values(1024, 1024), values(1024, 1024)
    x, y = values(10_000_000), values(10_000_000)
    rows = values(4096, 1024)
    works = [
        ("matmul", 1024**3, lambda: a @ b),
        ("add", x.size, lambda: x + y),
        ("exp", x.size, lambda: np.exp(x)),
        ("softmax", rows.size, lambda: softmax(rows)),
        ("layer_norm", rows.size, lambda: layer_norm(rows)),
    ]
    for name, n, work in works:
        least = float("inf")
        for _ in range(REPEATS):
            began = time.perf_counter()
            work()
            least = min(least, time.perf_counter() - began)
        print(json.dumps({"area": "eval", "row": f"run/{name}", "value": least * 1e3, "unit": "ms", "n": n}), flush=True)


if __name__ == "__main__":
    main()
