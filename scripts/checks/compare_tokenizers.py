#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Time bigbird-dna, SentencePiece, Hugging Face tokenizers and tiktoken on the same documents: scripts/compare-tokenizers.

Each run is a process of its own, on one thread, so that its peak of memory is known. Training is timed as a whole,
reading included. Encoding takes 8-kbp windows, all with the vocabulary that bigbird-dna trained; Python's time without
loading, bigbird-dna's with loading, reading and writing text.
"""
import argparse
import importlib.metadata
import json
import os
import platform
import resource
import subprocess
import sys
import time
from pathlib import Path

WINDOW, WINDOWS, LONGEST = 8000, 500, 16
PAPER_BASES_A_TOKEN = 8.78


def run(command):
    """Seconds, seconds of processor and gigabytes of a process, and its standard output."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    out = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit(f"failed: {' '.join(map(str, command))}")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024e-9, out


# ---- what runs in a process of its own ----------------------------------------------------------------------------
def train_sentencepiece(sentences, vocabulary, prefix):
    import sentencepiece
    from make_tokenizer_fixtures import OPTIONS
    sentencepiece.SentencePieceTrainer.train(
        input=sentences, model_prefix=prefix, vocab_size=vocabulary, max_sentence_length=30000, num_threads=1, **OPTIONS)


def train_tokenizers(sentences, vocabulary, prefix):
    from tokenizers import Tokenizer, models, trainers
    tokenizer = Tokenizer(models.BPE(unk_token="[UNK]"))
    tokenizer.train([sentences], trainers.BpeTrainer(
        vocab_size=vocabulary, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], max_token_length=LONGEST,
        show_progress=False))
    tokenizer.save(prefix + ".json")


def encoder_of(library, folder):
    if library == "sentencepiece":
        import sentencepiece
        return sentencepiece.SentencePieceProcessor(model_file=f"{folder}/ours.model").encode
    if library == "tokenizers":
        from tokenizers import Tokenizer
        tokenizer = Tokenizer.from_file(f"{folder}/ours-hf/tokenizer.json")
        return lambda text: tokenizer.encode(text, add_special_tokens=False).ids
    import tiktoken
    pieces = [line.split("\t")[0] for line in open(f"{folder}/ours.vocab")]
    ids = [i for i, piece in enumerate(pieces) if i >= 5 and len(piece) == 1]
    ids += [i for i, piece in enumerate(pieces) if i >= 5 and len(piece) > 1]
    ranks = {pieces[i].encode(): rank for rank, i in enumerate(ids)}
    encoding = tiktoken.Encoding("ours", pat_str=r"[A-Z]+", mergeable_ranks=ranks, special_tokens={})
    return lambda text: [ids[rank] for rank in encoding.encode_ordinary(text)]


def encode(library, folder):
    windows = open(f"{folder}/windows.txt").read().split()
    one = encoder_of(library, folder)
    one(windows[0])
    start = time.perf_counter()
    results = [one(window) for window in windows]
    seconds = time.perf_counter() - start
    with open(f"{folder}/{library}.ids", "w") as out:
        out.writelines(" ".join(map(str, ids)) + "\n" for ids in results)
    print(json.dumps({"seconds": seconds}))


# ---- the comparison -----------------------------------------------------------------------------------------------
def sentences_of(documents, bases, path):
    """The first so many bases of the documents, cut at N as bigbird-dna cuts them, so that all train on the same."""
    total = 0
    with open(documents) as lines, open(path, "w") as out:
        for line in lines:
            for part in line.strip().replace("N", " ").split():
                out.write(part + "\n")
                total += len(part)
            if 0 < bases <= total:
                break
        out.write("N\n" * (total // 2**24 + 1))  # every letter must be a piece
    return total


def windows_of(sentences, path):
    text = "".join(line.strip() for line in open(sentences) if line != "N\n")
    step = max(WINDOW, (len(text) - WINDOW) // WINDOWS)
    windows = [text[i:i + WINDOW] for i in range(0, len(text) - WINDOW, step)][:WINDOWS]
    Path(path).write_text("".join(window + "\n" for window in windows))
    return len(windows) * WINDOW


def table(title, header, rows):
    print(f"\n{title}\n")
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(row) + " |")


def versions(program):
    own = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.split("\n")[0]
    return own, {name: importlib.metadata.version(name.lower()) for name in ("SentencePiece", "tokenizers", "tiktoken")}


def processor():
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.machine()


def compare_training(program, folder, vocabulary, alone):
    sentences = f"{folder}/sentences.txt"

    def train(threads, name):
        return run([program, "train-tokenizer", "--quiet", "--force", "--documents", sentences, "--output",
                    f"{folder}/{name}.model", "--hugging-face", f"{folder}/{name}-hf", "--vocab-size", str(vocabulary),
                    "--threads", str(threads), "--count-overlaps", "every"])

    ours = train(1, "ours")
    own, others = versions(program)
    rows = [(own, ours)]
    if alone and os.cpu_count() > 1:
        rows.append((f"the same on {os.cpu_count()} threads", train(os.cpu_count(), "threaded")))
    for library, name in (("sentencepiece", "SentencePiece"), ("tokenizers", "tokenizers")):
        if library == "sentencepiece" or not alone:
            rows.append((f"{name} {others[name]}", run([sys.executable, __file__, "--train", library, "--folder", folder,
                                                        "--vocabulary", str(vocabulary)])))
    table("Training", ["trainer", "seconds", "of processor", "GB", "times the time", "times the memory"],
          [[name, f"{seconds:.1f}", f"{processor_seconds:.1f}", f"{memory:.2f}", f"{seconds / ours[0]:.1f}",
            f"{memory / ours[2]:.1f}"] for name, (seconds, processor_seconds, memory, _) in rows])
    theirs = [line.split("\t")[0] for line in open(f"{folder}/sentencepiece.vocab")]
    same = theirs == [line.split("\t")[0] for line in open(f"{folder}/ours.vocab")]
    print(f"\nPieces and their order: {'the same as' if same else 'NOT those of'} SentencePiece {others['SentencePiece']}.")


def compare_encoding(program, folder):
    bases = windows_of(f"{folder}/sentences.txt", f"{folder}/windows.txt")
    repeats = max(1, 100_000_000 // bases)
    text = Path(f"{folder}/windows.txt").read_text()
    with open(f"{folder}/many.txt", "w") as out:
        for _ in range(repeats):
            out.write(text)
    command = [program, "encode", "--quiet", "--force", "--tokenizer", f"{folder}/ours.model", "--threads", "1"]
    run([*command, "--input", f"{folder}/windows.txt", "--output", f"{folder}/ours.ids"])
    seconds = run([*command, "--input", f"{folder}/many.txt", "--output", f"{folder}/many.ids"])[0]
    expected = Path(f"{folder}/ours.ids").read_text()
    own, others = versions(program)
    speeds = [(f"{own} encode (text to text)", bases * repeats / seconds / 1e6, "")]
    for library, name in (("sentencepiece", "SentencePiece"), ("tokenizers", "tokenizers"), ("tiktoken", "tiktoken")):
        out = run([sys.executable, __file__, "--encode", library, "--folder", folder])[3]
        same = Path(f"{folder}/{library}.ids").read_text() == expected
        speeds.append((f"{name} {others[name]}", bases / json.loads(out)["seconds"] / 1e6, "yes" if same else "NO"))
    table("Encoding of 8-kbp windows", ["encoder", "MB/s", "times as fast is ours", "same ids"],
          [[name, f"{speed:.1f}", f"{speeds[0][1] / speed:.1f}", same] for name, speed, same in speeds])
    tokens = len(expected.split())
    print(f"\nBases a token in these windows: {bases / tokens:.2f} (the paper, on GRCh37: {PAPER_BASES_A_TOKEN}).")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program")
    parser.add_argument("--documents")
    parser.add_argument("--bases", type=int, default=0)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--vocabulary", type=int, default=32000)
    parser.add_argument("--training-alone", action="store_true")
    parser.add_argument("--train")
    parser.add_argument("--encode")
    options = parser.parse_args()
    if options.train:
        train = train_sentencepiece if options.train == "sentencepiece" else train_tokenizers
        train(f"{options.folder}/sentences.txt", options.vocabulary, f"{options.folder}/{options.train}")
    elif options.encode:
        encode(options.encode, options.folder)
    else:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.environ.update(TOKENIZERS_PARALLELISM="false", RAYON_NUM_THREADS="1")
        total = sentences_of(options.documents, options.bases, f"{options.folder}/sentences.txt")
        print(f"{total / 1e6:.1f} Mb of sentences, {options.vocabulary} pieces of up to {LONGEST} bases, one thread each; "
              f"{processor()}, {os.cpu_count()} cores")
        compare_training(options.program, options.folder, options.vocabulary, options.training_alone)
        if not options.training_alone:
            compare_encoding(options.program, options.folder)


if __name__ == "__main__":
    main()
