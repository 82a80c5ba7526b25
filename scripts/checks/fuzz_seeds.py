#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fuzz_seeds.py TARGET FOLDER: writes what the fuzzing of a target (tests/fuzz) begins with: small files of test_data, and small files made here."""
import gzip
import json
import struct
import sys
import zipfile
from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "test_data"
SEPARATOR = b"\n--8<--\n"  # tests/fuzz/fuzz_target.hpp
LONGEST = 20_000
NARROW_PEAK = b"chr1\t10\t90\t.\t5\t+\t1.5\t-1\t2.5\t40\nchr1\t300\t301\tx\t0\t-\t1\t2\t3\t0\n#c\n2\t0\t5\n"


def stored(*patterns):
    """Small files of test_data, by name."""
    return {path.relative_to(DATA).as_posix().replace("/", "_"): path.read_bytes()
            for pattern in patterns for path in sorted(DATA.glob(pattern)) if path.is_file() and path.stat().st_size <= LONGEST}


def folder(*files):
    return SEPARATOR.join(file if isinstance(file, bytes) else file.encode() for file in files)


def nested(depth):
    return b"[" * depth + b"]" * depth


def bed():
    return {**stored("regions/*", "regions/malformed/*", "promoter/tss.hg19.bed"), "narrow_peak": NARROW_PEAK,
            "narrow_peak.gz": gzip.compress(NARROW_PEAK, mtime=0)}


def fasta():
    text = b">a x\nACGTNacg\nTTTTRYKM\nAC\n>b\nGGGG\n"
    fai = b"a\t18\t5\t8\t9\nb\t4\t28\t8\t9\n"
    files = {"plain": text, "plain.fai": folder(text, fai), "gzip": gzip.compress(text, mtime=0), "ragged": text.replace(b"TTTT", b"TTTTT"),
             "crlf": text.replace(b"\n", b"\r\n"), **stored("genome/malformed/*", "genome/multi*")}
    compressed = (DATA / "genome/multi.fa.gz").read_bytes()
    files["bgzip.gzi"] = folder(compressed, b"", struct.pack("<Q", 0))
    files["bgzip.lying"] = folder(compressed, fai, struct.pack("<3Q", 1, 20, 100))
    return files


def model_folder():
    files = {f"config{i}": path.read_bytes() for i, path in enumerate(sorted(DATA.glob("**/config.json")))}
    tensors = safetensors()["two"]
    files["whole"] = folder(files["config0"], tensors, '{"model": {"type": "BPE"}}')
    files["nested"] = b'{"architectures": ' + nested(300) + b"}"
    network = json.loads((DATA / "model/pretraining/config.json").read_text())
    performer = {"features": 8, "kernel": "relu", "orthogonal": True, "redraw_every": 10, "seed": 1, "redraw": 2}
    rope = {"rope_scaling": {"rope_type": "linear", "factor": 4.0}, "rope_theta": 1e4}
    tokenizers = tokenizer_json()
    for name, changes in {"performer": {"attention_type": "performer", "performer": performer}, "etc": {"num_extra_global_tokens": 20},
                          "rotary": {"model_type": "bigbird_dna", "position_embedding_type": "rotary", **rope}}.items():
        files[name] = folder(json.dumps({**network, **changes}), tensors, tokenizers["bpe"])
    longformer = json.loads((DATA / "longformer/bare/config.json").read_text())
    files["dilations"] = json.dumps({**longformer, "attention_dilation": [1, [1, 2]]}).encode()
    files["dilation"] = json.dumps({**longformer, "attention_dilation": 3, "attention_window": 16}).encode()
    return files


def safetensors():
    header = json.dumps({"__metadata__": {"format": "pt", "n": "1"}, "a": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
                         "b": {"dtype": "BF16", "shape": [3], "data_offsets": [16, 22]}}).encode()
    deep = b'{"a": ' + nested(300) + b"}"
    return {"two": struct.pack("<Q", len(header)) + header + bytes(22), "deep": struct.pack("<Q", len(deep)) + deep,
            **stored("model/heads/*/cases/sparse_57.safetensors")}


def sentencepiece_model():
    return stored("tokenizer/*.model", "tokenizer/malformed/*.model")


def tokenizer_json():
    vocabulary = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "[MASK]": 4, "A": 5, "C": 6, "G": 7, "T": 8, "N": 9, "AC": 10, "ACG": 11}
    added = [{"id": i, "content": name, "special": True} for name, i in list(vocabulary.items())[:5]]
    bpe = {"added_tokens": added, "model": {"type": "BPE", "unk_token": "[UNK]", "fuse_unk": False, "vocab": vocabulary, "merges": ["A C", ["AC", "G"]]},
           "normalizer": {"type": "Sequence", "normalizers": [{"type": "Strip", "strip_left": True, "strip_right": True}, {"type": "Lowercase"},
                                                              {"type": "Replace", "pattern": {"Regex": "[^ACGT]{2,}"}, "content": "N"}]},
           "pre_tokenizer": {"type": "Split", "pattern": {"String": "-"}, "behavior": "Isolated", "invert": False},
           "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "[CLS]"}}, {"Sequence": {"id": "A"}}],
                              "special_tokens": {"[CLS]": {"ids": [2]}}}}
    return {"bpe": json.dumps(bpe).encode(), "nested": b'{"a": ' + nested(300) + b"}", **stored("tokenizer/hf/*.json")}


def variants():
    vcf = b"##fileformat=VCFv4.2\n##contig=<ID=chr1,length=2000>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\nchr1\t10\t.\tA\tC,<DEL>\t.\t.\t.\n22\t3\tx\tGT\tG\t1\tPASS\t.\n"
    return {"plain": vcf, "gzip": gzip.compress(vcf, mtime=0), **stored("variants/*.vcf.gz", "variants/*.bcf", "variants/malformed/*")}


def alignments():
    """Also without compression, whose checksums few changes survive."""
    files = stored("tracks/*.bam", "tracks/*.cram")
    return files | {name + ".plain": gzip.decompress(content) for name, content in files.items() if name.endswith(".bam")}


def deepsea_mat():
    return stored("chromatin/mat/*.mat", "chromatin/mat/malformed/*.mat")


def keras_model():
    """As networks/files/keras_hdf5.cpp sends the names, shapes and description of a file."""
    def layer(kind, name, **config):
        return {"class_name": kind, "config": {"name": name, "dtype": "float32", **config}, "name": name, "inbound_nodes": []}

    def convolution(name, shape, activation="relu", dilation=1):
        return layer("Conv1D", name, filters=shape[2], kernel_size=[shape[0]], strides=[1], padding="valid", dilation_rate=[dilation], activation=activation)

    def network(stem, dilated, profile, crop, counts, cut, activation="relu", columns=1):
        shapes = {stem: [21, 4, 2], dilated: [3, 2, 2], profile: [75, 2, columns], counts: [2, 1]}
        described = [layer("InputLayer", "sequence", batch_input_shape=[None, 120, 4]), convolution(stem, shapes[stem], activation),
                     convolution(dilated, shapes[dilated], activation, 2), convolution(profile, shapes[profile], "linear"),
                     layer("Cropping1D", crop, cropping=[cut, cut]), layer("GlobalAveragePooling1D", "gap"), layer("Dense", counts, activation="linear")]
        return shapes, described

    def head(shapes, described, kind="Functional", ending=":0", model=None):
        weights = [{"layer": model or name, "parts": [name, kind_of + ending], "shape": size}
                   for name, shape in shapes.items() for kind_of, size in (("kernel", shape), ("bias", shape[-1:]))]
        config = json.dumps({"class_name": kind, "config": {"name": "m", "layers": described}})
        return {"contents": ["model_weights"], "layers": [one["name"] for one in described], "keras_version": "2.8.0", "config": config, "weights": weights}

    nobias = network("wo_bias_bpnet_1st_conv", "wo_bias_bpnet_1conv", "wo_bias_bpnet_prof_out_precrop", "wo_bias_bpnet_logitt_before_flatten",
                     "wo_bias_bpnet_logcount_predictions", 3)
    bias = network("bpnet_1st_conv", "bpnet_1conv", "prof_out_precrop", "logits_profile_predictions_preflatten", "logcount_predictions", 3)
    plain = network("main_conv_0", "main_dil_conv_1", "main_profile_head", "profile_predictions", "logcounts_predictions", 2, "linear", 2)
    shapes, described = network("main_conv_0", "main_dil_conv_1", "main_profile_head", "main_profile_head_cropped", "main_counts_head", 2, "linear", 2)
    shapes |= {"profile_predictions": [1, 4, 2], "logcounts_predictions": [2, 1]}
    described += [convolution("profile_predictions", [1, 4, 2], "linear"), layer("Dense", "logcounts_predictions", activation="linear")]
    inner = [{"class_name": "Functional", "name": name, "config": {"name": name, "layers": of[1]}} for name, of in (("a", nobias), ("b", bias))]
    joined = head({}, [*inner, layer("Add", "logits_profile_predictions"), layer("Lambda", "logcount_predictions")])
    joined["weights"] = head(*nobias, model="a")["weights"] + head(*bias, model="b")["weights"]
    heads = {"nobias": head(*nobias, ending=""), "bias": head(*bias), "plain": head(*plain, kind="CustomModel"), "controls": head(shapes, described),
             "joined": joined, "undescribed": {**head(*nobias), "config": ""}, "predictions": {**head({}, []), "contents": ["predictions"]}}
    return {name: json.dumps(content).encode() for name, content in heads.items()}


def torch_file():
    files = stored("models/profiles/*.torch")
    for path in sorted(DATA.glob("models/profiles/*.torch")):
        with zipfile.ZipFile(path) as archive:
            name = next(name for name in archive.namelist() if name.endswith("data.pkl"))
            files[path.stem + ".pkl"] = archive.read(name)
    return files


def main():
    targets = {function.__name__: function for function in (
        alignments, bed, deepsea_mat, fasta, keras_model, model_folder, safetensors, sentencepiece_model, tokenizer_json, torch_file, variants)}
    if len(sys.argv) != 3 or sys.argv[1] not in targets:
        sys.exit(f"fuzz_seeds.py: TARGET FOLDER are needed; targets: {' '.join(targets)}")
    out = Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    for name, content in targets[sys.argv[1]]().items():
        (out / name).write_bytes(content)


if __name__ == "__main__":
    main()
