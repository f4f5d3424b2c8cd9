"""Simplifies a folder of front-end programs and keeps one of each, the work spread over processes.

    python deduplicate.py FOLDER [multiprocessing|ray|dask]

A worker reads a file, runs the passes and returns the program and its structural hash. The hash of a program is the same in
every process, so equal programs are found when the results are collected; equal hashes are confirmed by comparison. Programs are sent as pickles.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from sapwood import ir
from sapwood.structural import StructuralKey

PASSES = ["fold", "cse", "remove_dead_assignments"]
Result = tuple[str, int, ir.Program]


def simplify(path: str) -> Result:
    """Reads and simplifies one file, in a worker."""
    program = ir.parse(Path(path).read_text(encoding="utf-8"), path)
    for name in PASSES:
        program = ir.run_pass(program, name)
    return path, ir.structural_hash(program), program


def distinct(results: Iterable[Result]) -> dict[str, list[str]]:
    """Groups files with equal programs under the first of them."""
    first: dict[StructuralKey, str] = {}
    groups: dict[str, list[str]] = {}
    for path, known_hash, program in sorted(results, key=lambda result: result[0]):
        # The hash from the worker is the hash in this process.
        assert ir.structural_hash(program) == known_hash
        groups.setdefault(first.setdefault(StructuralKey(program), path), []).append(path)
    return groups


def with_multiprocessing(paths: list[str]) -> list[Result]:
    """Runs the workers on the cores of this machine."""
    import multiprocessing

    with multiprocessing.get_context("spawn").Pool(2) as pool:
        return pool.map(simplify, paths)


def with_ray(paths: list[str]) -> list[Result]:
    """Runs the workers on a Ray cluster; here, a local one."""
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        work = ray.remote(simplify)
        found: list[Result] = ray.get([work.remote(path) for path in paths])
        return found
    finally:
        ray.shutdown()


def with_dask(paths: list[str]) -> list[Result]:
    """Runs the workers on a Dask cluster; here, a local one."""
    from dask.distributed import Client, LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with Client(cluster) as client:
            found: list[Result] = client.gather(client.map(simplify, paths))
            return found


RUNNERS: dict[str, Callable[[list[str]], list[Result]]] = {
    "multiprocessing": with_multiprocessing,
    "ray": with_ray,
    "dask": with_dask,
}


def main(folder: str, runner: str = "multiprocessing") -> dict[str, list[str]]:
    """Groups the files of a folder by their simplified programs."""
    paths = sorted(str(path) for path in Path(folder).glob("*.py"))
    groups = distinct(RUNNERS[runner](paths))
    for path, same in groups.items():
        print(f"{Path(path).name}: {len(same)}")
    return groups


if __name__ == "__main__":
    main(*sys.argv[1:])
