#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_profile_attribution_fixtures.py FILE

Writes profiles.json: hypothetical contributions by tangermeme's deep_lift_shap through bpnet-lite's networks, in double precision, to log counts and to the profile
of files of test_data/models/profiles, against given dinucleotide shuffles: of bases BEGIN to END, and the sum of the contributions of all bases. Log counts are
bpnet-lite's CountWrapper. The target of profiles is chrombpnet's, the sum of softmax(l) (l - mean l) with a constant softmax; bpnet-lite's own ProfileWrapper
explains the softmax, too. Needs torch, bpnet-lite 1.1.0, tangermeme 1.6.0.
"""
import json
import sys
from pathlib import Path

import numpy as np
import torch
from bpnetlite.attribute import deep_lift_shap
from bpnetlite.bpnet import BPNet, ControlWrapper, CountWrapper
from tangermeme.ersatz import dinucleotide_shuffle

MODELS = Path(__file__).resolve().parents[2] / "test_data/models/profiles"
LENGTH, BEGIN, END, SHUFFLES = 2114, 1040, 1075, 2


class Profile(torch.nn.Module):
    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, x):
        logits = self.network(x)[0].flatten(1)
        centered = logits - logits.mean(1, keepdim=True)
        return (centered.detach().softmax(1) * centered).sum(1, keepdim=True)


def network_of(state, prefix, layers, **more):
    """A network of bpnet-lite with the weights of a file; biases that it lacks are 0."""
    own = {name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)}
    outputs, controls = own["fconv.weight"].shape[0], own["fconv.weight"].shape[1] - own["iconv.weight"].shape[0]
    made = BPNet(n_filters=own["iconv.weight"].shape[0], n_layers=layers, n_outputs=outputs, n_control_tracks=controls, verbose=False, **more)
    made.load_state_dict({name: torch.zeros_like(value) for name, value in made.state_dict().items()} | own)
    return made


def networks():
    """File, component and network."""
    state = torch.load(MODELS / "bpnetlite.torch", weights_only=False).state_dict()
    yield "bpnetlite.torch", "", ControlWrapper(network_of(state, "", 3, trimming=1022))
    state = torch.load(MODELS / "bpnetlite_chrombpnet.torch", weights_only=False).state_dict()
    yield "bpnetlite_chrombpnet.torch", "nobias", network_of(state, "accessibility.", 2, trimming=1022)


def letters_of(x):
    return "".join("ACGT"[at] for at in x.argmax(0).tolist())


def main():
    rng, fixtures = np.random.default_rng(5), []
    for name, component, network in networks():
        network = network.double().eval().requires_grad_(False)
        x = torch.nn.functional.one_hot(torch.tensor(rng.integers(0, 4, LENGTH)), 4).T[None].double()
        references = dinucleotide_shuffle(x.float(), n=SHUFFLES, random_state=3).double()
        for target, score in (("counts", CountWrapper(network)), ("profile", Profile(network))):

            found = deep_lift_shap(score, x, references=references, hypothetical=True, device="cpu", batch_size=4)[0]
            fixtures.append({"file": name, "component": component, "target": target, "dna": letters_of(x[0]),
                             "references": [letters_of(reference) for reference in references[0]], "begin": BEGIN,
                             "contributions": [[float(f"{value:.6g}") for value in row] for row in found[:, BEGIN:END].T.tolist()],
                             "sum": float((found * x[0]).sum())})
            print(name, component, target, fixtures[-1]["sum"], float((score(x) - score(references[0]).mean()).item()))
    Path(sys.argv[1]).write_text(json.dumps(fixtures, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
