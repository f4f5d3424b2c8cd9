#!/usr/bin/env python3
"""Exports PyTorch models with random weights as ONNX, simplifies them, and compares the results and the numbers of nodes.

usage: onnx_torch.py SAPWOOD FOLDER [MODEL …]

The models (resnet50, vit, bert, a decoder in the form of Llama with a cache, the encoder of Whisper) are exported to FOLDER with open batch and
length by `torch.onnx.export`, unless they are there, together with inputs and PyTorch's outputs at three extents. Each is simplified by
`sapwood opt --float fast`; the results are those of ONNX Runtime with its optimisations off, compared with PyTorch's. The nodes that are left are printed
beside those of onnxsim, onnxslim, onnxscript and ONNX Runtime. Needs torch, torchvision, transformers, onnx, onnxruntime, onnxscript, onnxsim and onnxslim."""
import os, subprocess, sys, time

import numpy as np
import onnx
import onnxruntime as rt
import torch

Dim = torch.export.Dim
MODELS = {}


def model(function):
    """Registers a function that returns a module, its example arguments, its dynamic shapes, and arguments at three extents."""
    MODELS[function.__name__] = function
    return function


def floats(*shape):
    return torch.randn(*shape)


@model
def resnet50():
    import torchvision

    dims = ({0: Dim("batch"), 2: Dim("height", min=64), 3: Dim("width", min=64)},)
    extents = [(1, 224, 224), (2, 160, 192), (3, 96, 128)]
    return torchvision.models.resnet50(weights=None), (floats(2, 3, 224, 224),), dims, [(floats(b, 3, h, w),) for b, h, w in extents]


@model
def vit():
    import torchvision

    return torchvision.models.vit_b_16(weights=None), (floats(2, 3, 224, 224),), ({0: Dim("batch")},), [(floats(b, 3, 224, 224),) for b in (1, 2, 3)]


class Bert(torch.nn.Module):
    def __init__(self):
        super().__init__()
        import transformers

        self.inner = transformers.BertModel(transformers.BertConfig())

    def forward(self, ids, mask):
        out = self.inner(input_ids=ids, attention_mask=mask)
        return out.last_hidden_state, out.pooler_output


@model
def bert():
    def arguments(batch, length):
        mask = torch.ones(batch, length, dtype=torch.int64)
        mask[-1, length // 2:] = 0
        return torch.randint(1, 30000, (batch, length)), mask

    dims = {0: Dim("batch"), 1: Dim("length", max=512)}
    return Bert(), arguments(2, 16), (dims, dims), [arguments(b, s) for b, s in ((1, 8), (2, 33), (3, 128))]


class Decoder(torch.nn.Module):
    """Transformer's Llama with its cache as inputs and outputs."""

    LAYERS, HEADS, WIDTH = 4, 4, 32

    def __init__(self):
        super().__init__()
        import transformers

        config = transformers.LlamaConfig(vocab_size=1000, hidden_size=256, intermediate_size=512, num_hidden_layers=self.LAYERS,
                                          num_attention_heads=8, num_key_value_heads=self.HEADS, head_dim=self.WIDTH)
        self.inner = transformers.LlamaForCausalLM(config)

    def forward(self, ids, mask, caches):
        import transformers

        cache = transformers.DynamicCache(list(zip(caches[::2], caches[1::2])))
        out = self.inner(input_ids=ids, attention_mask=mask, past_key_values=cache, use_cache=True)
        return out.logits, *[x for layer in out.past_key_values.layers for x in (layer.keys, layer.values)]


@model
def decoder():
    def arguments(batch, length, past):
        caches = [floats(batch, Decoder.HEADS, past, Decoder.WIDTH) for _ in range(2 * Decoder.LAYERS)]
        return torch.randint(1, 1000, (batch, length)), torch.ones(batch, length + past, dtype=torch.int64), caches

    batch, length, past, total = Dim("batch"), Dim("length"), Dim("past"), torch.export.Dim.DYNAMIC
    dims = ({0: batch, 1: length}, {0: batch, 1: total}, [{0: batch, 2: past}] * (2 * Decoder.LAYERS))
    return Decoder(), arguments(2, 3, 5), dims, [arguments(b, s, p) for b, s, p in ((1, 2, 7), (2, 5, 4), (3, 16, 9))]


class Encoder(torch.nn.Module):
    """The encoder of Whisper, for sounds of any length."""

    def __init__(self):
        super().__init__()
        import transformers

        self.inner = transformers.WhisperModel(transformers.WhisperConfig(encoder_layers=6, encoder_attention_heads=8, decoder_attention_heads=8, d_model=512)).encoder

    def forward(self, sound):
        gelu, inner = torch.nn.functional.gelu, self.inner
        x = gelu(inner.conv2(gelu(inner.conv1(sound)))).permute(0, 2, 1)
        x = x + inner.embed_positions.weight[: x.shape[1]]
        for layer in inner.layers:
            out = layer(x, None)
            x = out[0] if isinstance(out, tuple) else out
        return inner.layer_norm(x)


@model
def whisper():
    dims = ({0: Dim("batch"), 2: 2 * Dim("steps", min=2, max=1500)},)
    return Encoder(), (floats(2, 80, 200),), dims, [(floats(b, 80, n),) for b, n in ((1, 64), (2, 300), (3, 1000))]


def flat(arguments):
    return [x for a in arguments for x in (flat(a) if isinstance(a, (list, tuple)) else [a])]


def export(name, folder):
    """Writes a model, and its inputs and outputs at three extents."""
    torch.manual_seed(0)
    module, example, dims, cases = MODELS[name]()
    module.eval()
    with torch.no_grad():
        torch.onnx.export(module, example, os.path.join(folder, f"{name}.onnx"), dynamo=True, dynamic_shapes=dims, external_data=False, verbose=False)
        for k, case in enumerate(cases):
            outputs = module(*case)
            arrays = {f"in{i}": x.numpy() for i, x in enumerate(flat(case))}
            arrays |= {f"out{i}": x.numpy() for i, x in enumerate(flat([outputs]))}
            np.savez(os.path.join(folder, f"{name}.{k}.npz"), **arrays)


def arrays(data, prefix):
    return [data[f"{prefix}{i}"] for i in range(sum(k.startswith(prefix) for k in data.files))]


def problem(path, name, folder):
    """Returns why the model at a path is not right at some extent, or None."""
    options = rt.SessionOptions()
    options.graph_optimization_level, options.log_severity_level = rt.GraphOptimizationLevel.ORT_DISABLE_ALL, 4
    session = rt.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    for k in range(3):
        data = np.load(os.path.join(folder, f"{name}.{k}.npz"))
        feed = {i.name: x for i, x in zip(session.get_inputs(), arrays(data, "in"))}
        for i, (found, wanted) in enumerate(zip(session.run(None, feed), arrays(data, "out"), strict=True)):
            if found.shape != wanted.shape:
                return f"case {k}, output {i}: {found.shape}, expected {wanted.shape}"
            if not np.allclose(found, wanted, rtol=1e-3, atol=1e-3 * np.abs(wanted).max()):
                return f"case {k}, output {i}: differs by {np.abs(found - wanted).max()}"
    return None


def count(path):
    """Returns the number of nodes without constants, and that of `Shape`."""
    loaded = onnx.load(path, load_external_data=False)
    nodes = [n.op_type for graph in [loaded.graph, *loaded.functions] for n in graph.node]
    return sum(op != "Constant" for op in nodes), nodes.count("Shape")


PEERS = {
    "onnxsim": "import onnx, onnxsim; onnx.save(onnxsim.simplify(onnx.load(src))[0], dst)",
    "onnxslim": "import onnx, onnxslim; onnx.save(onnxslim.slim(onnx.load(src)), dst)",
    "onnxscript": "import onnx_ir as ir, onnxscript.optimizer as o, onnxscript.rewriter as r; m = ir.load(src); m = o.optimize(m) or m; ir.save(r.rewrite(m) or m, dst)",
    "ort basic": "import onnxruntime as rt; o = rt.SessionOptions(); o.graph_optimization_level = rt.GraphOptimizationLevel.ORT_ENABLE_BASIC; "
                 "o.optimized_model_filepath = dst; rt.InferenceSession(src, o, providers=['CPUExecutionProvider'])",
}


def main():
    sapwood, folder, names = sys.argv[1], sys.argv[2], sys.argv[3:] or list(MODELS)
    os.makedirs(folder, exist_ok=True)
    wrong = 0
    for name in names:
        src = os.path.join(folder, f"{name}.onnx")
        if not os.path.exists(src):
            export(name, folder)
        print(f"{name}: {count(src)[0]} nodes, {count(src)[1]} Shape; exported: {problem(src, name, folder) or 'right'}", flush=True)
        tools = {"sapwood": None} | PEERS
        for tool, code in tools.items():
            dst = os.path.join(folder, f"{name}.{tool.replace(' ', '-')}.out")
            os.makedirs(dst, exist_ok=True)
            dst = os.path.join(dst, "model.onnx")
            line = [sapwood, "opt", src, "--float", "fast", "-q", "-o", dst] if code is None else [sys.executable, "-c", f"src, dst = {src!r}, {dst!r}; {code}"]
            start = time.perf_counter()
            done = subprocess.run(line, capture_output=True, text=True, timeout=900)
            seconds = time.perf_counter() - start
            if done.returncode:
                why = "refused: " + (done.stderr.strip().splitlines() or ["?"])[-1][:160]
            else:
                why = problem(dst, name, folder)
            wrong += tool == "sapwood" and why is not None
            nodes, shapes = count(dst) if not done.returncode else ("-", "-")
            print(f"  {tool}: {nodes} nodes, {shapes} Shape, {why or 'right at three extents'}, {seconds:.1f} s", flush=True)
    sys.exit(wrong)


if __name__ == "__main__":
    main()
