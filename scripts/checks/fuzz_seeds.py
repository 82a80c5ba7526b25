#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fuzz_seeds.py TARGET FOLDER: writes what the fuzzing of a target (tests/fuzz) begins with: small files of test_data, and small files made here."""
import gzip
import hashlib
import json
import struct
import sys
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


def npy(rows, columns, data):
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({rows}, {columns}), }}"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + header.ljust(117).encode() + b"\n" + data


def two_bit(records, version=0):
    """Records of (name, bases): all T, with an N block of two bases at 1."""
    head = struct.pack("<4I", 0x1A412743, version, len(records), 0)
    entry = "<Q" if version else "<I"
    at = len(head) + sum(1 + len(name) + struct.calcsize(entry) for name, _ in records)
    index, body = b"", b""
    for name, bases in records:
        index += bytes([len(name)]) + name.encode() + struct.pack(entry, at + len(body))
        body += struct.pack("<6I", bases, 1, 1, 2, 0, 0) + bytes((bases + 3) // 4)
    return head + index + body


def bed():
    return {**stored("regions/*", "regions/malformed/*", "promoter/tss.hg19.bed"), "narrow_peak": NARROW_PEAK,
            "narrow_peak.gz": gzip.compress(NARROW_PEAK, mtime=0)}


def chain():
    text = b"chain 900 chr22 51304566 + 100 160 chr22 50818468 - 200 255 7\n20 5 0\n10 5 5\n20\n\nchain 5 chr1 9 + 0 9 chr1 9 + 0 9 2\n9\n"
    return {"two": text, "two.gz": gzip.compress(text, mtime=0)}


def contig_lengths():
    return {"sizes": b"chr1\t248956422\nchr2\t5\n", "fai": b"chr1\t200\t6\t60\t61\nchr2\t5\t300\t60\t61\n",
            **stored("genome/fixtures/contigs.tsv")}


def documents():
    return {"text": b"ACGTN\nacgtu\n\n\nGATTACA\n", "coordinates": b"#x\nchr1\t0\t90\td1\ts1\t+\nchr1\t90\t200\td1\ts2\t-\n2\t0\t5\td2\ts1\t+\n"}


def examples():
    def manifest(**more):
        return json.dumps({"format": "bigbird-dna examples", "format_version": 1, **more})
    labels = "index\tgroup\tname\tpositives\n0\tg\ta\t1\n1\tg\tb\t.\n"
    chromatin = folder(manifest(task="chromatin", window="-50:50", parameters={"bin": 20}), labels,
                       "chr1\t20\t40\ttrain\nchr1\t40\t60\ttest\n", npy(2, 1, b"\x01\x02"), two_bit([("chr1", 90)]),
                       "chr1\t20\t60\ttrain\n", npy(2, 1, b"\x03\x00"))
    promoter = folder(manifest(task="promoter", window="-5:5"), "index\tgroup\tname\tpositives\n0\t.\tpromoter\t1\n",
                      "chr1\t20\t21\ttrain\t1\t+\tp\nchr1\t20\t21\ttrain\t0\t+\tp.negative\n", npy(2, 1, b"\x01\x00"),
                      two_bit([("p", 10), ("q", 10)], 1))
    return {"chromatin": chromatin, "promoter": promoter}


def fasta():
    text = b">a x\nACGTNacg\nTTTTRYKM\nAC\n>b\nGGGG\n"
    fai = b"a\t18\t5\t8\t9\nb\t4\t28\t8\t9\n"
    files = {"plain": text, "plain.fai": folder(text, fai), "gzip": gzip.compress(text, mtime=0), "ragged": text.replace(b"TTTT", b"TTTTT"),
             "crlf": text.replace(b"\n", b"\r\n"), **stored("genome/malformed/*", "genome/multi*")}
    compressed = (DATA / "genome/multi.fa.gz").read_bytes()
    files["bgzip.gzi"] = folder(compressed, b"", struct.pack("<Q", 0))
    files["bgzip.lying"] = folder(compressed, fai, struct.pack("<3Q", 1, 20, 100))
    return files


def label_table():
    text = b"index\tgroup\tname\tpositives\n0\tDNase\t8988T\t5\n1\tTF\tCTCF\t.\n2\tTF\tCTCF\t7\n"
    return {"plain": text, "selection": folder(text, "0-1,TF,id:001_CTCF,name:8*"), **stored("models/*/labels.tsv")}


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


def options_file():
    return {"yaml": b"input: [a.fa, 'b.fa']\nseed: 7\n--force: true\nname: ~\nnote: \"x\"\n", "json": b'{"input": ["a"], "steps": 10, "resume": false}',
            "anchor": b"a: &x [1, 2]\nb: *x\n", "nested": nested(300)}


def part_record():
    record = {"format": "bigbird-dna part", "format_version": 1, "kind": "table", "shard": "1/2", "run": {"a": 1},
              "counts": {"rows": 3}, "segments": [[0, 3], [2, 1]], "files": [{"name": "part.tsv", "bytes": 2, "sha256": "0"}]}
    return {"record": json.dumps(record).encode(), "nested": nested(300)}


def safetensors():
    header = json.dumps({"__metadata__": {"format": "pt", "n": "1"}, "a": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
                         "b": {"dtype": "BF16", "shape": [3], "data_offsets": [16, 22]}}).encode()
    deep = b'{"a": ' + nested(300) + b"}"
    return {"two": struct.pack("<Q", len(header)) + header + bytes(22), "deep": struct.pack("<Q", len(deep)) + deep,
            **stored("model/heads/*/cases/sparse_57.safetensors")}


def score_table():
    text = b"##model=x\n##a=b=c\n#chrom\tstart\tend\tname\tscore\tstrand\tstatus\tn_fraction\tCTCF\tMAX\nchr1\t0\t200\t.\t.\t+\tok\t0.5\t0.25\tNA\nchr1\t2\t3\tx\t1\t.\tn\tNA\tNA\t1e-3\n"
    return {"plain": text, "gzip": gzip.compress(text, mtime=0), **stored("models/chromatin-22.scores.tsv")}


def sentencepiece_model():
    return stored("tokenizer/*.model", "tokenizer/malformed/*.model")


def shard(kind, element, values, number=0, first=0):
    form = {2: "H", 4: "I", 8: "q"}[element]
    return b"BBDNATOK" + struct.pack("<4I2q", 1, kind, element, number, first, len(values)) + bytes(32 + 56) + struct.pack(f"<{len(values)}{form}", *values)


def token_shards():
    manifest = {"format": "bigbird-dna tokens", "format_version": 1, "documents": 2, "sentences": 3, "tokens": 7, "bases": 14,
                "vocabulary_sha256": "0", "made_by": "x", "files": [{"file": "tokens-00000.bin", "bytes": 138, "sha256": "0"}], "inputs": []}
    ends = [shard(2, 8, [2, 4, 7]), shard(3, 8, [1, 3])]
    return {"one": folder(json.dumps(manifest), shard(1, 2, [5, 6, 7, 8, 9, 10, 11]), b"", *ends),
            "two": folder(json.dumps(manifest), shard(1, 4, [5, 6, 7]), shard(1, 4, [8, 9, 10, 11], 1, 3), *ends),
            "nested": folder(json.dumps({**manifest, "format_version": "deep"}).replace('"deep"', nested(300).decode()))}


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


def training_state():
    progress = {"skipped_steps": 1, "skipped_in_a_row": 0, "last_loss": 0.5, "complete": False, "evaluation_due": True, "evaluation": {"loss": 0.5},
                "best_step": 8, "best_value": 0.25, "evaluations_since_best": 1}
    state = json.dumps({"step": 9, "progress": progress, "task": {"epoch": 1}})
    tensors = safetensors()["two"]
    return {"whole": folder(state, tensors), "sums": folder(state, tensors, f"{hashlib.sha256(state.encode()).hexdigest()}  training_state/state.json\n"),
            "elsewhere": folder(state, tensors, "0  ../../x\n"), "nested": b'{"step": ' + nested(300) + b"}"}


def variants():
    vcf = b"##fileformat=VCFv4.2\n##contig=<ID=chr1,length=2000>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\nchr1\t10\t.\tA\tC,<DEL>\t.\t.\t.\n22\t3\tx\tGT\tG\t1\tPASS\t.\n"
    return {"plain": vcf, "gzip": gzip.compress(vcf, mtime=0), **stored("variants/*.vcf.gz", "variants/*.bcf", "variants/malformed/*")}


def deepsea_mat():
    return stored("chromatin/mat/*.mat", "chromatin/mat/malformed/*.mat")


def main():
    targets = {function.__name__: function for function in (
        bed, chain, contig_lengths, deepsea_mat, documents, examples, fasta, label_table, model_folder, options_file, part_record, safetensors,
        score_table, sentencepiece_model, token_shards, tokenizer_json, training_state, variants)}
    if len(sys.argv) != 3 or sys.argv[1] not in targets:
        sys.exit(f"fuzz_seeds.py: TARGET FOLDER are needed; targets: {' '.join(targets)}")
    out = Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    for name, content in targets[sys.argv[1]]().items():
        (out / name).write_bytes(content)


if __name__ == "__main__":
    main()
