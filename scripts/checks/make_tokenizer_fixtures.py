#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make test_data/tokenizer: a small DNA tokenizer and encodings, by Python's sentencepiece (0.1.97).

  sentences.txt   real sequence of test_data/genome/22.fa.gz, a sentence a line
  small.model     BPE of 512 pieces trained on it with the options that train-tokenizer uses
  small.vocab     as spm_export_vocab writes it
  encodings.tsv   what, sequence as a user may write it, ids of its normalised form
  malformed/      models that DnaTokenizer must refuse
"""
import io
import subprocess

import sentencepiece
from make_token_labels import DATA, contig

# What SentencePiece's trainer is told so that it does as train-tokenizer does.
OPTIONS = dict(
    model_type="bpe", max_sentencepiece_length=16, character_coverage=1.0, normalization_rule_name="identity",
    add_dummy_prefix=False, remove_extra_whitespaces=False, split_by_unicode_script=False, split_by_number=False,
    split_by_whitespace=False, pad_id=0, unk_id=1, bos_id=2, eos_id=3, pad_piece="[PAD]", unk_piece="[UNK]",
    bos_piece="[CLS]", eos_piece="[SEP]", control_symbols=["[MASK]"], minloglevel=2)
folder = DATA / "tokenizer"


def normalised(dna):
    dna = dna.upper().replace("U", "T")
    return "".join(letter if letter in "ACGT" else "N" for letter in dna)


def train(sentences, **changed):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences), model_writer=model, **(OPTIONS | dict(vocab_size=512) | changed))
    return model.getvalue()


def write_malformed(sentences, good):
    broken = folder / "malformed"
    broken.mkdir(exist_ok=True)
    (broken / "truncated.model").write_bytes(good[:1003])
    (broken / "text.model").write_text("[PAD]\t0\n[UNK]\t0\n")
    (broken / "empty.model").write_bytes(b"")
    few = sentences[:20]
    (broken / "no_n.model").write_bytes(train(few, vocab_size=20))
    (broken / "default_ids.model").write_bytes(train(
        [*few, "N"], vocab_size=20, pad_id=-1, unk_id=0, bos_id=1, eos_id=2, unk_piece="<unk>", bos_piece="<s>",
        eos_piece="</s>", control_symbols=[]))
    (broken / "no_mask.model").write_bytes(train([*few, "N"], vocab_size=20, control_symbols=[]))
    (broken / "dummy_prefix.model").write_bytes(train(
        [*few, "N"], vocab_size=20, add_dummy_prefix=True, character_coverage=0.9995))


def cases(chromosome):
    for begin, end in [(16_150_000, 16_151_000), (18_000_123, 18_000_130), (19_205_300, 19_205_500),
                       (20_509_380, 20_509_480), (20_609_400, 20_609_700), (21_000_000, 21_008_000)]:
        yield f"22:{begin}-{end}", chromosome[begin:end]
    yield "one base", "G"
    for base in "ACGTN":
        for length in (2, 17, 100):
            yield f"{length} {base}", base * length
    yield "alternating", "CA" * 60
    yield "lower case", "acgtnacgtaacc"
    yield "RNA", "AUGGCUUUUACC"
    yield "IUPAC letters", "ACRYSWKMBDHVTTGRACA"
    yield "no letters", "AC-GT.*AC"
    yield "empty", ""


def main():
    folder.mkdir(exist_ok=True)
    chromosome = contig()
    stretch = chromosome[17_000_000:17_100_000].upper()
    sentences = [stretch[i:i + 700] for i in range(0, len(stretch), 700)]
    (folder / "sentences.txt").write_text("".join(sentence + "\n" for sentence in sentences))
    (folder / "small.model").write_bytes(train([*sentences, "N"]))
    subprocess.run(["spm_export_vocab", f"--model={folder}/small.model", f"--output={folder}/small.vocab"],
                   check=True, stderr=subprocess.DEVNULL)
    write_malformed(sentences, (folder / "small.model").read_bytes())
    tokenizer = sentencepiece.SentencePieceProcessor(model_file=str(folder / "small.model"))
    with open(folder / "encodings.tsv", "w") as out:
        for name, dna in cases(chromosome):
            ids = tokenizer.encode(normalised(dna))
            from_shell = subprocess.run(["spm_encode", f"--model={folder}/small.model", "--output_format=id"],
                                        input=normalised(dna) + "\n", capture_output=True, text=True, check=True)
            assert from_shell.stdout.split() == [str(i) for i in ids], name
            print(name, dna, " ".join(map(str, ids)), sep="\t", file=out)


if __name__ == "__main__":
    main()
