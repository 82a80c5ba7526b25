#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make test_data/encoders/adapters.json: what peft (0.21) and transformers (5.24) compute with LoRA adapters of small classifiers, in fp64.

Weights, adapters included, are weight() of make_encoder_fixtures.py by their names. Each case has the classifier's config.json and its weights' shapes, the
names of the adapter's file, logits with the adapter, and for each trained tensor the sum and the weighted sum of the gradient of a loss. With a folder as
argument, compares instead: the folder holds config.json and model.safetensors of a case (--name) and adapter/ as this program wrote it; prints logits.
"""
import argparse
import json
import pathlib

import torch
from make_encoder_fixtures import SIZES, inputs_of, rounded, weight
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import AutoModelForSequenceClassification, BertConfig, BertForSequenceClassification, EsmConfig, EsmForSequenceClassification, \
    ModernBertConfig, ModernBertForSequenceClassification

target = pathlib.Path(__file__).parents[2] / "test_data/encoders/adapters.json"
RANK, ALPHA = 3, 6
PATTERN = r".*\.layers?\.[0-9]+\..*\.({})"


def cases():
    keys = dict(SIZES, num_labels=3, layer_norm_eps=1e-12, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    esm = dict(keys, pad_token_id=1, mask_token_id=2, max_position_embeddings=34, position_embedding_type="absolute", emb_layer_norm_before=False,
               token_dropout=False)
    bert = dict(keys, type_vocab_size=2, max_position_embeddings=40, hidden_act="gelu", pad_token_id=0)
    modern = dict(SIZES, num_labels=3, num_hidden_layers=3, pad_token_id=3, cls_token_id=1, sep_token_id=2, bos_token_id=1, eos_token_id=2,
                  max_position_embeddings=64, local_attention=8, norm_eps=1e-5, classifier_pooling="mean")
    eager = dict(attn_implementation="eager")
    yield "esm", EsmForSequenceClassification(EsmConfig(**esm, **eager)), dict(esm, model_type="esm"), "query|key|value|dense", ["classifier"]
    yield "bert", BertForSequenceClassification(BertConfig(**bert, **eager)), dict(bert, model_type="bert"), "query|key|value|dense", ["classifier", "pooler"]
    yield "modernbert", ModernBertForSequenceClassification(ModernBertConfig(**modern, **eager)), dict(modern, model_type="modernbert"), "Wqkv|Wo|Wi", \
        ["classifier", "head"]


def fill(model):
    state = {name: weight(name, tuple(tensor.shape)) for name, tensor in model.state_dict().items() if tensor.is_floating_point() and "inv_freq" not in name}
    model.load_state_dict(state, strict=False)
    return {name: list(tensor.shape) for name, tensor in state.items()}


def adapter_names(model):
    """PEFT's names in memory and in the file."""
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            yield name, parameter, name.replace(".default", "").replace(".modules_to_save", "")


def make():
    content = {}
    for name, model, config, layers, saved in cases():
        shapes = fill(model)
        peft = get_peft_model(model, LoraConfig(r=RANK, lora_alpha=ALPHA, lora_dropout=0.0, target_modules=PATTERN.format(layers), modules_to_save=saved,
                                                task_type="SEQ_CLS")).double().eval()
        with torch.no_grad():
            for _, parameter, file_name in adapter_names(peft):
                if "lora_" in file_name:
                    parameter.copy_(weight(file_name, tuple(parameter.shape)))
        ids, mask = inputs_of(config, [21, 18])
        logits = peft(input_ids=ids, attention_mask=mask).logits
        torch.nn.functional.cross_entropy(logits, torch.tensor([0, 2]), reduction="sum").backward()
        gradients = {}
        for _, parameter, file_name in adapter_names(peft):
            gradient = parameter.grad.flatten()
            gradients[file_name] = [*parameter.shape], *rounded(torch.stack([gradient.sum(), (gradient * torch.cos(torch.arange(len(gradient)).double())).sum()]))
        content[name] = dict(config=dict(config, architectures=[type(model).__name__]), weights=shapes, rank=RANK, alpha=ALPHA, input_ids=ids.tolist(),
                             lengths=[21, 18], logits=rounded(logits.detach()), gradients=gradients)
    target.write_text(json.dumps(content, separators=(",", ":")) + "\n")
    print(target, target.stat().st_size, "bytes")


def compare(folder, name):
    given = json.loads(target.read_text())[name]
    base = AutoModelForSequenceClassification.from_pretrained(folder, attn_implementation="eager")
    model = PeftModel.from_pretrained(base, folder / "adapter").eval()
    ids = torch.tensor(given["input_ids"])
    mask = (torch.arange(ids.shape[1])[None, :] < torch.tensor(given["lengths"])[:, None]).long()
    with torch.no_grad():
        print(json.dumps(model(input_ids=ids, attention_mask=mask).logits.tolist()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path, nargs="?")
    parser.add_argument("--name", default="esm")
    options = parser.parse_args()
    compare(options.folder, options.name) if options.folder else make()
