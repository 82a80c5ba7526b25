# SPDX-License-Identifier: Apache-2.0
"""The dense encoder of base size (12 layers of 768, 12 heads) in ONNX Runtime and in OpenVINO, for compare-transformers: random weights, one sequence,
from embeddings on.

Norms stand behind the blocks, GELU is exact. Each program gets the operators that it has fused kernels for: Attention, SkipLayerNormalization and BiasGelu of
ONNX Runtime's own domain; OpenVINO fuses by itself. Both compute the same numbers: run this file to compare them.
"""
import numpy

LAYERS, HIDDEN, HEADS, INNER, EPSILON = 12, 768, 12, 3072, 1e-12


def layers():
    """Matrices (in, out) and vectors of each layer, always the same."""
    draw = numpy.random.default_rng(1)
    sizes = {"qkv": (HIDDEN, 3 * HIDDEN), "out": (HIDDEN, HIDDEN), "up": (HIDDEN, INNER), "down": (INNER, HIDDEN)}
    for _ in range(LAYERS):
        weights = {name: 0.02 * draw.standard_normal(size) for name, size in sizes.items()}
        weights |= {f"{name}_bias": 0.1 * draw.standard_normal(size[1]) for name, size in sizes.items()}
        weights |= {name: 1 + 0.1 * draw.standard_normal(HIDDEN) for name in ("scale1", "scale2")}
        weights |= {name: 0.1 * draw.standard_normal(HIDDEN) for name in ("shift1", "shift2")}
        yield {name: value.astype(numpy.float32) for name, value in weights.items()}


def embeddings(length):
    return numpy.random.default_rng(2).standard_normal((1, length, HIDDEN)).astype(numpy.float32)


def onnx_runtime(length, kind, threads):
    """A function of embeddings (1, length, HIDDEN); fp32 only."""
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper

    nodes, constants = [], []

    def node(operator, inputs, output, own=True, **attributes):
        nodes.append(helper.make_node(operator, inputs, [output], domain="com.microsoft" if own else "", **attributes))
        return output

    last = "x"
    for number, weights in enumerate(layers()):
        constants += [numpy_helper.from_array(value, f"{name}.{number}") for name, value in weights.items()]
        w = {name: f"{name}.{number}" for name in weights}

        def product(value, name):
            return node("MatMul", [value, w[name]], f"{name}.{number}.product", own=False)

        def norm(value, skipped, which, bias):
            return node("SkipLayerNormalization", [value, skipped, w[f"scale{which}"], w[f"shift{which}"], w[bias]], f"norm{which}.{number}.y", epsilon=EPSILON)

        attended = node("Attention", [last, w["qkv"], w["qkv_bias"]], f"attended.{number}", num_heads=HEADS)
        middle = norm(product(attended, "out"), last, 1, "out_bias")
        inner = node("BiasGelu", [product(middle, "up"), w["up_bias"]], f"inner.{number}")
        last = norm(product(inner, "down"), middle, 2, "down_bias")
    shape = [1, length, HIDDEN]
    graph = helper.make_graph(nodes, "encoder", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info(last, TensorProto.FLOAT, shape)], constants)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString(), settings,
                                           providers=["CPUExecutionProvider"])
    return lambda x: session.run(None, {"x": x})[0]


def open_vino(length, kind, threads):
    """A function of embeddings (1, length, HIDDEN)."""
    import openvino
    from openvino import opset13 as op

    def whole(*numbers):
        return op.constant(numpy.array(numbers))

    def linear(x, weights, name):
        return op.add(op.matmul(x, op.constant(weights[name]), False, False), op.constant(weights[f"{name}_bias"]))

    def norm(x, weights, which):
        x = op.mvn(x, whole(2), True, EPSILON, "inside_sqrt")
        return op.add(op.multiply(x, op.constant(weights[f"scale{which}"])), op.constant(weights[f"shift{which}"]))

    def heads(x):
        return op.transpose(op.reshape(x, whole(1, length, HEADS, HIDDEN // HEADS), False), whole(0, 2, 1, 3))

    x = start = op.parameter([1, length, HIDDEN], numpy.float32, name="x")
    for weights in layers():
        parts = [heads(part) for part in op.split(linear(x, weights, "qkv"), op.constant(2), 3).outputs()]
        attended = op.transpose(op.scaled_dot_product_attention(*parts), whole(0, 2, 1, 3))
        x = norm(op.add(x, linear(op.reshape(attended, whole(1, length, HIDDEN), False), weights, "out")), weights, 1)
        x = norm(op.add(x, linear(op.gelu(linear(x, weights, "up"), "erf"), weights, "down")), weights, 2)
    settings = {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "bf16" if kind == "bf16" else "f32"}
    compiled = openvino.Core().compile_model(openvino.Model([x], [start]), "CPU", settings)
    return lambda x: next(iter(compiled([x]).values()))


PEERS = {"ONNX Runtime": onnx_runtime, "OpenVINO": open_vino}

if __name__ == "__main__":
    given = embeddings(256)
    one, other = [peer(256, "fp32", 1)(given) for peer in PEERS.values()]
    print("greatest difference:", numpy.abs(one - other).max(), "of", numpy.abs(one).max())
