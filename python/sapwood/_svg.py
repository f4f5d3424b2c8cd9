"""A static drawing of a function as SVG: boxes for instructions, in layers, and lines for operands."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from sapwood.ptir import Function, Instruction, Value

__all__ = ["function_svg"]

#: The most boxes of a drawing. Larger functions are shown on a page, which folds and scrolls.
MAX_BOXES = 200
#: The most bytes of a drawing.
MAX_SVG_BYTES = 90_000
#: The most characters in a line of a box.
MAX_LABEL = 22

_WIDTH, _HEIGHT = 150, 36
_GAP_X, _GAP_Y = 18, 30


class _Box(NamedTuple):
    """A parameter, an instruction or the results, with the boxes that it reads."""

    title: str
    subtitle: str
    inputs: tuple[int, ...]


def function_svg(function: Function) -> str | None:
    """Returns the drawing of a function, or ``None`` if it has too many instructions to be readable."""
    if len(function.instructions) > 2 * MAX_BOXES:
        return None
    boxes = _boxes(function)
    if len(boxes) > MAX_BOXES:
        return None
    drawing = _draw(boxes, _positions(boxes))
    return drawing if len(drawing) <= MAX_SVG_BYTES else None


def _boxes(function: Function) -> list[_Box]:
    """Returns the boxes in program order. Constants have none: they would hide the structure."""
    boxes = [_Box(f"%{p.name.lstrip('%')}", str(p.type), ()) for p in function.params]
    producer: dict[Value, int] = {value: n for n, value in enumerate(function.params)}
    for inst in function.instructions:
        if inst.op == "constant":
            continue
        inputs = dict.fromkeys(producer[value] for value in _reads(inst) if value in producer)
        producer.update((value, len(boxes)) for value in inst.results)
        types = ", ".join(str(value.type) for value in inst.results)
        boxes.append(_Box(inst.op, types, tuple(inputs)))
    return boxes


def _reads(inst: Instruction) -> list[Value]:
    """Returns the operands of an instruction and of the instructions in its regions."""
    reads: list[Value] = []
    pending = [inst]
    while pending:
        inst = pending.pop()
        reads += inst.operands
        pending += [inner for body in inst.regions for inner in body.instructions]
    return reads


def _positions(boxes: list[_Box]) -> list[tuple[float, float]]:
    """Returns the centre of each box: a layer below all its inputs, near the middle of them."""
    layers: list[list[int]] = []
    layer_of: list[int] = []
    for n, box in enumerate(boxes):
        layer = max((layer_of[i] + 1 for i in box.inputs), default=0)
        layer_of.append(layer)
        if layer == len(layers):
            layers.append([])
        layers[layer].append(n)
    x = [0.0] * len(boxes)
    for members in layers:
        wanted = {n: _mean([x[i] for i in boxes[n].inputs]) for n in members}
        left = _mean(list(wanted.values())) - (len(members) - 1) * (_WIDTH + _GAP_X) / 2
        for k, n in enumerate(sorted(members, key=lambda n: (wanted[n], n))):
            x[n] = left + k * (_WIDTH + _GAP_X)
    return [(x[n], layer_of[n] * (_HEIGHT + _GAP_Y)) for n in range(len(boxes))]


def _mean(numbers: list[float]) -> float:
    return sum(numbers) / len(numbers) if numbers else 0.0


def _draw(boxes: list[_Box], at: list[tuple[float, float]]) -> str:
    left = min((x for x, _ in at), default=0.0) - _WIDTH / 2 - 4
    right = max((x for x, _ in at), default=0.0) + _WIDTH / 2 + 4
    bottom = max((y for _, y in at), default=0.0) + _HEIGHT + 4
    size = f'viewBox="{left:.0f} -4 {right - left:.0f} {bottom + 4:.0f}" width="{right - left:.0f}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} style="max-width:100%;height:auto" '
        'font-family="monospace" font-size="12" text-anchor="middle">'
        '<g fill="none" stroke="#8c959f">'
    ]
    for box, (x, y) in zip(boxes, at):
        for source in box.inputs:
            from_x, from_y = at[source]
            start, bend = from_y + _HEIGHT, _GAP_Y / 2
            parts.append(
                f'<path d="M{from_x:.0f} {start:.0f}C{from_x:.0f} {start + bend:.0f} {x:.0f} {y - bend:.0f} {x:.0f} {y:.0f}"/>'
            )
    parts.append("</g>")
    for box, (x, y) in zip(boxes, at):
        fill = "#ddf4ff" if box.title.startswith("%") else "#f6f8fa"
        parts.append(
            f'<rect x="{x - _WIDTH / 2:.0f}" y="{y:.0f}" width="{_WIDTH}" height="{_HEIGHT}" rx="4" fill="{fill}" stroke="#8c959f"/>'
            f'<text x="{x:.0f}" y="{y + 15:.0f}" fill="#1f2328">{_label(box.title)}</text>'
            f'<text x="{x:.0f}" y="{y + 30:.0f}" fill="#57606a">{_label(box.subtitle)}</text>'
        )
    return "".join([*parts, "</svg>"])


def _label(text: str) -> str:
    return html.escape(text if len(text) <= MAX_LABEL else text[: MAX_LABEL - 1] + "…")
