#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make test_data/model/heads: a small random model for each head of Hugging Face transformers (4.57.1, torch 2.11.0) that make_parity_fixtures.py
has not, and what transformers computes with it in fp64.

  masked_lm/             BigBirdForMaskedLM            logits
  token_classification/  BigBirdForTokenClassification logits
  question_answering/    BigBirdForQuestionAnswering   start_logits, end_logits; [SEP] is id 7. The cases *_types are given token types, the others make
                                                       their own; *_lengths are given question_lengths
  multiple_choice/       BigBirdForMultipleChoice      logits; input_ids (batch, choices, length)
Each folder has config.json and model.safetensors as save_pretrained writes them, and cases/NAME.safetensors with the inputs, the outputs and
last_hidden_state, all whole.
"""
import torch
from transformers import BigBirdConfig, BigBirdForMaskedLM, BigBirdForMultipleChoice, BigBirdForQuestionAnswering, BigBirdForTokenClassification

from make_parity_fixtures import folder, inputs_of, randomise, save_case, save_model

COMMON = dict(vocab_size=40, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24, num_random_blocks=1, block_size=8,
              max_position_embeddings=128, sep_token_id=7)
# Full up to 56 tokens; rows are real up to these lengths.
CASES = {"full_50_padded": ([50, 33], 50), "sparse_57": ([57], 57), "sparse_100_padded": ([64, 100], 100)}
OUTPUTS = ("logits", "start_logits", "end_logits")


def run(model_class, source, inputs):
    model = model_class.from_pretrained(source).double().eval()
    with torch.no_grad():
        output = model(**inputs, output_hidden_states=True)
    length = inputs["input_ids"].shape[-1]
    result = {"last_hidden_state": output.hidden_states[-1][:, :length]}
    result.update({key: output[key] for key in OUTPUTS if key in output})
    return {key: value.contiguous() for key, value in result.items()}


def make(model_class, name, cases, **changes):
    target = folder / "heads" / name
    save_model(randomise(model_class(BigBirdConfig(**COMMON, **changes)), len(name)), target)
    for case, inputs in cases.items():
        save_case(inputs | run(model_class, target, inputs), target, case)


def plain_cases():
    config = BigBirdConfig(**COMMON)
    return {case: inputs_of(lengths, length, config, number) for number, (case, (lengths, length)) in enumerate(CASES.items())}


def question_cases():
    cases = {}
    for number, (case, inputs) in enumerate(plain_cases().items()):
        ids, length = inputs["input_ids"], inputs["input_ids"].shape[1]
        ids[ids == COMMON["sep_token_id"]] = 8
        ids[0, 5 + number] = ids[0, length // 2] = COMMON["sep_token_id"]  # the other row has none
        cases[case + "_types"] = dict(inputs)
        bare = {key: value for key, value in inputs.items() if key != "token_type_ids"}
        cases[case] = bare
        cases[case + "_lengths"] = bare | {"question_lengths": torch.arange(3, 3 + len(ids)).unsqueeze(1)}
    return cases


def choice_cases():
    return {case: {key: torch.stack([tensor, tensor.flip(0), tensor.roll(1, 1)], 1) for key, tensor in inputs.items()} for case, inputs in plain_cases().items()}


def main():
    torch.set_num_threads(1)
    make(BigBirdForMaskedLM, "masked_lm", plain_cases())
    make(BigBirdForTokenClassification, "token_classification", plain_cases(), num_labels=3)
    make(BigBirdForQuestionAnswering, "question_answering", question_cases(), hidden_act="gelu")
    make(BigBirdForMultipleChoice, "multiple_choice", choice_cases())


if __name__ == "__main__":
    main()
