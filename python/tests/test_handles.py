"""Handles that hooks receive. While hooks run, handles are reused for other nodes, which must not be observable."""

from __future__ import annotations

import copy
import gc
import threading
import weakref
from typing import Any

import pytest

from sapwood.structural import Object, py_class, structural_equal, structural_hash

SEEN: list[Any] = []


@py_class
class Leaf(Object):
    value: int


@py_class
class Pair(Object):
    left: Any
    right: Any

    def __s_equal__(self, other: Any, eq_cb: Any) -> bool:
        look(self, other)
        return eq_cb(self.left, other.left, False, "left") and eq_cb(self.right, other.right, False, "right")

    def __s_hash__(self, init_hash: int, hash_cb: Any) -> int:
        look(self, self)
        return hash_cb(self.right, hash_cb(self.left, init_hash, False), False)


def nothing(left: Any, right: Any) -> None:
    """Creates and drops handles, as most hooks do."""


LOOK: list[Any] = [nothing]


def look(left: Any, right: Any) -> None:
    LOOK[0](left, right)


def tree(levels: int, first: int = 0) -> Any:
    if levels == 0:
        return Leaf(first)
    return Pair(tree(levels - 1, first), tree(levels - 1, first + (1 << (levels - 1))))


def leaves(node: Any) -> list[int]:
    return [node.value] if isinstance(node, Leaf) else leaves(node.left) + leaves(node.right)


def first(node: Any) -> int:
    while not isinstance(node, Leaf):
        node = node.left
    return int(node.value)


def run(look: Any, levels: int = 6) -> None:
    """Compares and hashes while hooks observe the handles."""
    a, b = tree(levels), tree(levels)
    LOOK[0] = look
    try:
        assert structural_equal(a, b)
        assert structural_hash(a) == structural_hash(b)
    finally:
        LOOK[0] = nothing
    assert leaves(a) == leaves(b) == list(range(1 << levels))


def test_handles_that_hooks_keep_do_not_change() -> None:
    kept: list[tuple[Any, list[int]]] = []

    def look(left: Any, right: Any) -> None:
        for node in (left, right, left.left, right.right):
            kept.append((node, leaves(node)))

    run(look)
    assert len(kept) == 4 * 63 * 3
    assert all(leaves(node) == before for node, before in kept)


def test_handles_that_hooks_keep_for_a_while() -> None:
    kept: list[tuple[Any, int]] = []

    def look(left: Any, right: Any) -> None:
        kept.append((left.left, first(left.left)))
        kept.append((right.right, first(right.right)))
        if len(kept) > 37:
            assert all(first(node) == before for node, before in kept)
            del kept[::2]

    run(look)
    assert all(first(node) == before for node, before in kept)


def test_weak_references_die_with_their_handle() -> None:
    weak: list[tuple[Any, int]] = []
    died: list[int] = []

    def look(left: Any, right: Any) -> None:
        for node in (left, left.left, right.right):
            weak.append((weakref.ref(node, lambda _: died.append(1)), first(node)))
        for reference, before in weak:
            node = reference()
            assert node is None or first(node) == before

    run(look)
    assert len(died) == len(weak) == 3 * 63 * 3
    assert all(reference() is None for reference, _ in weak)


def test_weak_references_to_handles_that_live() -> None:
    found: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
    held: list[Any] = []

    def look(left: Any, right: Any) -> None:
        part = left.left
        found[len(held)] = part
        held.append((part, first(part)))

    run(look)
    assert len(found) == len(held) == 63 * 3
    assert all(found[number] is part and first(part) == before for number, (part, before) in enumerate(held))


def test_objects_found_by_the_garbage_collector_can_be_kept() -> None:
    """The garbage collector shows objects that only the pool of the thread owns."""
    held: list[tuple[Any, list[int]]] = []

    def look(left: Any, right: Any) -> None:
        if len(held) < 300:
            held.extend((node, leaves(node)) for node in gc.get_objects() if type(node) is Pair)

    run(look, levels=3)
    assert held and all(leaves(node) == before for node, before in held)


def test_garbage_is_collected_while_hooks_run() -> None:
    class Cycle:
        def __init__(self, node: Any) -> None:
            self.me, self.node = self, node

        def __del__(self) -> None:
            SEEN.append(leaves(self.node))

    def look(left: Any, right: Any) -> None:
        Cycle(left.left)
        Cycle(right)
        gc.collect(0)

    SEEN.clear()
    before = gc.get_threshold()
    gc.set_threshold(1)
    try:
        run(look, levels=4)
        gc.collect()
    finally:
        gc.set_threshold(*before)
    assert len(SEEN) == 2 * 15 * 3
    assert all(found == list(range(found[0], found[0] + len(found))) for found in SEEN)


def test_hooks_within_hooks_and_copies() -> None:
    def look(left: Any, right: Any) -> None:
        LOOK[0] = nothing
        assert structural_equal(left, right) and structural_hash(left.left) == structural_hash(right.left)
        again = copy.copy(left.right)
        assert again == left.right and first(again) == first(right.right)
        LOOK[0] = look

    run(look, levels=4)


def test_hooks_that_raise_leave_good_handles() -> None:
    class Mine(Exception):
        pass

    kept: list[tuple[Any, int]] = []

    def look(left: Any, right: Any) -> None:
        kept.append((left.left, first(left.left)))
        if len(kept) % 5 == 0:
            raise Mine(left)

    a, b = tree(6), tree(6)
    LOOK[0] = look
    try:
        for _ in range(20):
            with pytest.raises(Mine) as raised:
                structural_equal(a, b)
            shown = raised.value.args[0]
            assert leaves(shown) == list(range(first(shown), first(shown) + len(leaves(shown))))
    finally:
        LOOK[0] = nothing
    assert structural_equal(a, b)
    assert all(first(node) == before for node, before in kept)


def test_handles_of_hooks_go_to_other_threads() -> None:
    wrong: list[Any] = []
    begun: list[threading.Thread] = []
    here = threading.current_thread()

    def look(left: Any, right: Any) -> None:
        if threading.current_thread() is not here:
            return
        part = (left.left, first(left.left))

        def elsewhere() -> None:
            for _ in range(20):
                if first(part[0]) != part[1] or not structural_equal(part[0], part[0]):
                    wrong.append(part)

        begun.append(threading.Thread(target=elsewhere))
        begun[-1].start()

    a, b = tree(4), tree(4)
    LOOK[0] = look
    try:
        assert structural_equal(a, b)
    finally:
        LOOK[0] = nothing
        for thread in begun:
            thread.join()
    assert len(begun) == 15 and not wrong


class Mixin:
    """Gives instances a dict."""


@py_class
class Noted(Object, Mixin):
    part: Any

    def __s_equal__(self, other: Any, eq_cb: Any) -> bool:
        assert self.__dict__ == {} and other.__dict__ == {}
        self.__dict__["note"] = other.__dict__["note"] = 1
        return bool(eq_cb(self.part, other.part, False, "part"))

    def __s_hash__(self, init_hash: int, hash_cb: Any) -> int:
        return int(hash_cb(self.part, init_hash, False))


@py_class
class Dying(Object):
    part: Any

    def __s_equal__(self, other: Any, eq_cb: Any) -> bool:
        return bool(eq_cb(self.part, other.part, False, "part"))

    def __s_hash__(self, init_hash: int, hash_cb: Any) -> int:
        return int(hash_cb(self.part, init_hash, False))

    def __del__(self) -> None:
        SEEN.append(1)


@pytest.mark.parametrize(("cls", "died"), [(Noted, 0), (Dying, 40)])
def test_handles_that_are_more_than_their_node(cls: Any, died: int) -> None:
    a: Any = Leaf(1)
    b: Any = Leaf(1)
    for _ in range(20):
        a, b = cls(a), cls(b)
    SEEN.clear()
    assert structural_equal(a, b)
    # One handle per node and side.
    assert len(SEEN) == died


def test_nodes_do_not_outlive_the_outermost_hook() -> None:
    @py_class
    class Holder(Object):
        part: Any

    a, b = Pair(Holder(Leaf(1)), Leaf(2)), Pair(Holder(Leaf(1)), Leaf(2))
    assert structural_equal(a, b)
    alive = [one for one in gc.get_objects() if type(one) is Holder]
    assert alive == []
