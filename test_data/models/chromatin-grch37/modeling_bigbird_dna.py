# SPDX-License-Identifier: Apache-2.0
"""Opens model folders of bigbird-dna in Hugging Face transformers: AutoModel.from_pretrained(folder, trust_remote_code=True).

Token models compute what `bigbird-dna forward` computes, in evaluation and in training. But for Performers, attention is dense here: time and memory grow with the square of the
length, and a long sequence is better given to the program. Weights that a folder lacks are drawn as transformers draws them; the key `initialization` is the program's.
"""
import functools
import math

import torch
from torch import nn
from torch.nn import functional
from transformers import AutoConfig, AutoModel, AutoModelForMaskedLM, AutoModelForPreTraining, PretrainedConfig, PreTrainedModel
from transformers.activations import ACT2FN
from transformers.modeling_outputs import BaseModelOutputWithPooling, MaskedLMOutput
from transformers.models.bert.modeling_bert import BertForPreTrainingOutput

PADDING_BIAS, MASKED_BIAS = -1e4, -3e4  # added to the scores of padded keys, and of keys that are not attended

# What a key means where config.json lacks it.
DEFAULTS = dict(
    vocab_size=50358, hidden_size=768, num_hidden_layers=12, num_attention_heads=12, intermediate_size=3072, max_position_embeddings=4096, type_vocab_size=2,
    hidden_act="gelu_new", hidden_dropout_prob=0.1, attention_probs_dropout_prob=0.1, layer_norm_eps=1e-12, initializer_range=0.02, use_bias=True,
    rescale_embeddings=False, pad_token_id=0, norm="post", position_embedding_type="absolute", feed_forward="plain", initialization="normal",
    rope_theta=10000.0,
    embedding_convolution=0, attention_type="block_sparse", attention_pattern="bigbird", block_size=64, num_window_blocks=3, num_random_blocks=3,
    random_blocks_version=1, random_blocks_seed=0, attention_window_tokens=256, attention_dilation=1, num_global_tokens=0, num_extra_global_tokens=0)
CHOICES = dict(norm=("pre", "post"), position_embedding_type=("absolute", "rotary", "none"), feed_forward=("plain", "gated"),
               attention_type=("block_sparse", "original_full", "performer"), attention_pattern=("bigbird", "longformer"), global_blocks_placement=("ends", "first"),
               random_blocks_source=("uniform", "hf", "seeded", "google"), random_blocks_version=(1,))
PERFORMER = dict(features=256, kernel="softmax", orthogonal=True, redraw_every=0, seed=0, redraw=0)


def stretch_of(scaling):
    """rope_scaling, {"rope_type": "linear", "factor": 2.0}, as a pair."""
    kind = scaling.get("rope_type", scaling.get("type", "default"))
    factor = 1.0 if kind == "default" else float(scaling.get("factor", 0))
    if kind not in ("default", "linear", "ntk") or factor < 1:
        raise ValueError(f"rope_scaling is {scaling!r}; known are default, linear and ntk, by a factor of at least 1")
    return kind, factor


class BigBirdDnaConfig(PretrainedConfig):
    """config.json of the program: the keys of transformers' big_bird, the encoder's form and the attention pattern."""
    model_type = "bigbird_dna"

    def __init__(self, **keys):
        for key, default in DEFAULTS.items():
            setattr(self, key, keys.pop(key, default))
        # Under a name of its own: transformers would rewrite what it takes for its own rotary positions.
        self.rope_stretch = stretch_of(keys.pop("rope_scaling", None) or {})
        etc = self.num_extra_global_tokens > 0
        self.num_global_blocks = keys.pop("num_global_blocks", self.extra_global_blocks if etc else 2)
        self.global_blocks_placement = keys.pop("global_blocks_placement", "first" if etc else "ends")
        self.random_blocks_source = keys.pop("random_blocks_source", "uniform" if etc else "hf")
        for key, choices in CHOICES.items():
            if getattr(self, key) not in choices:
                raise ValueError(f"{key} is {getattr(self, key)!r}; known are {', '.join(map(str, choices))}")
        performer = keys.pop("performer", None)
        if self.attention_type == "performer":
            self.performer = self.checked_performer(performer or {})
        elif performer is not None:
            raise ValueError("the key performer needs attention_type performer")
        super().__init__(pad_token_id=self.pad_token_id, **keys)

    def to_dict(self):
        """As the program writes config.json: rope_scaling where it stretches anything."""
        keys = super().to_dict()
        kind, factor = keys.pop("rope_stretch")
        return {**keys, "rope_scaling": None if kind == "default" else {"rope_type": kind, "factor": factor}}

    def checked_performer(self, given):
        performer, unknown = {**PERFORMER, **given}, sorted(set(given) - set(PERFORMER))
        if unknown or performer["kernel"] not in ("softmax", "relu"):
            raise ValueError(f"performer is {given!r}; known are {', '.join(PERFORMER)}, and the kernels softmax and relu")
        if self.num_extra_global_tokens > 0 or self.attention_pattern != "bigbird":
            raise ValueError("attention_type performer has neither an attention_pattern nor num_extra_global_tokens")
        return performer

    @property
    def extra_global_blocks(self):
        """Blocks that the extra global tokens fill, in front of every sequence."""
        return -(-self.num_extra_global_tokens // self.block_size)

    def attends_fully(self, blocks):
        short = self.attention_pattern == "bigbird" and blocks <= 5 + 2 * self.num_random_blocks
        return short or self.attention_type == "original_full"


class Stream:
    """The program's random numbers (lib/bigbird/core/rng.hpp): 64-bit integers, a stream for each name or number that another is split by."""
    GAMMA, BITS = 0x9E3779B97F4A7C15, (1 << 64) - 1

    def __init__(self, key):
        self.key, self.drawn = key, 0

    @classmethod
    def mix(cls, value):
        value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9 & cls.BITS
        value = (value ^ (value >> 27)) * 0x94D049BB133111EB & cls.BITS
        return value ^ (value >> 31)

    @classmethod
    def of_seed(cls, seed):
        return cls(cls.mix(seed + cls.GAMMA & cls.BITS))

    def split(self, name):
        if isinstance(name, str):
            number = 0xCBF29CE484222325
            for letter in name.encode():
                number = (number ^ letter) * 0x100000001B3 & self.BITS
            name = number ^ len(name.encode()) << 56
        return Stream(self.mix(self.key ^ self.mix(name + self.GAMMA & self.BITS)))

    def between(self, low, high):
        span, value = high - low + 1, -1
        while value < (1 << 64) % span:  # smaller values would be drawn once too often
            self.drawn += 1
            value = self.mix(self.key + self.GAMMA * self.drawn & self.BITS)
        return low + value % span

    def uniform(self):
        self.drawn += 1
        return (self.mix(self.key + self.GAMMA * self.drawn & self.BITS) >> 11) * 2.0 ** -53

    def normal(self):
        radius = math.sqrt(-2 * math.log(1 - self.uniform()))
        return radius * math.cos(2 * math.pi * self.uniform())


def draw_features(performer, layer, size):
    """Rows of random numbers, (features, size), double: lib/bigbird/attention/features/random_features.cpp. `redraw` is the draw that the weights were trained with."""
    stream, count = Stream.of_seed(performer["seed"]).split("random-features").split(layer).split(performer["redraw"]), performer["features"]

    def normal_rows(stream):
        streams = [stream.split(row) for row in range(count)]
        return torch.tensor([[one.normal() for _ in range(size)] for one in streams], dtype=torch.double)

    rows = normal_rows(stream)
    if not performer["orthogonal"]:
        return rows
    for begin in range(0, count, size):
        block = rows[begin:begin + size]
        q, r = torch.linalg.qr(block.T)  # Gram-Schmidt leaves r's diagonal positive
        rows[begin:begin + size] = (q * r.diagonal().sign()).T
    return rows * normal_rows(stream.split("lengths")).norm(dim=1, keepdim=True)


def feature_attention(query, key, value, mask, rows, kernel):
    """Attention by random features (lib/bigbird/attention/feature_attention.hpp), linear in the length; sums in float32, or float64 where the query is."""
    given, wide = query.dtype, torch.double if query.dtype == torch.double else torch.float
    size, real = query.shape[-1], mask[:, None, :, None]
    query, key, rows = query.to(wide) * size ** -0.25, key.to(wide) * size ** -0.25, rows.to(query.device, wide)
    values = torch.cat([value.to(wide), torch.ones_like(value[..., :1], dtype=wide)], -1) * real
    if kernel == "softmax":
        of_query, of_key = (x @ rows.T - x.square().sum(-1, keepdim=True) / 2 for x in (query, key))
        most = of_key.masked_fill(~real, -math.inf).amax((-2, -1), keepdim=True)
        of_query = (of_query - of_query.amax(-1, keepdim=True)).exp() + 1e-6
        of_key = (of_key - most).masked_fill(~real, -math.inf).exp() + 1e-6
    else:
        of_query, of_key = (torch.relu(x @ rows.T / len(rows) ** 0.5) + 1e-3 for x in (query, key))
    sums = of_query @ (of_key.transpose(-2, -1) @ values)
    return (sums[..., :-1] / sums[..., -1:]).to(given)


def block_counts(config, blocks, layer, head):
    """How often each key block counts in the softmax of each query block, a list a query block (lib/bigbird/attention/pattern/pattern.cpp)."""
    behind = config.num_global_blocks // 2 if config.global_blocks_placement == "ends" else 0
    is_global = [block < config.num_global_blocks - behind or block >= blocks - behind for block in range(blocks)]
    stream = Stream.of_seed(config.random_blocks_seed).split("random-blocks").split(layer).split(head)
    rows = []
    for row in range(blocks):
        near = [config.num_window_blocks > 0 and abs(block - row) <= config.num_window_blocks // 2 for block in range(blocks)]
        counts = [int(is_global[row] or is_global[block] or near[block]) for block in range(blocks)]
        if config.random_blocks_source == "hf" and not is_global[row]:
            counts[0] += config.num_random_blocks
        elif not is_global[row]:
            free, draw = [block for block in range(blocks) if counts[block] == 0], stream.split(row)
            for i in range(min(len(free), config.num_random_blocks)):
                j = draw.between(i, len(free) - 1)
                free[i], free[j] = free[j], free[i]
                counts[free[i]] = 1
        rows.append(counts)
    return rows


def token_counts(config, length):
    """Of the pattern longformer: 1 where a token attends another, (1, length, length)."""
    i = torch.arange(length)
    distance, is_global = (i[:, None] - i).abs(), i < config.num_global_tokens
    near = (distance <= config.attention_window_tokens * config.attention_dilation) & (distance % config.attention_dilation == 0)
    return (near | is_global | is_global[:, None]).float()[None]


def refuse_unknown_plan(config, blocks, training):
    if config.attention_type == "performer":
        return
    theirs = config.random_blocks_source in ("seeded", "google") or (config.random_blocks_source == "hf" and training)
    if theirs and config.attention_pattern == "bigbird" and config.num_random_blocks > 0 and not config.attends_fully(blocks):
        limit = (5 + 2 * config.num_random_blocks - config.extra_global_blocks) * config.block_size
        raise NotImplementedError(f"sequences of more than {limit} tokens need the random blocks of random_blocks_source {config.random_blocks_source!r}"
                                  f"{' in training' if training else ''}, which the program alone draws")


def rotary_table(config, length, like):
    """Cosines and sines, (length, head size / 2): pair i of a head's features, i and i + head size / 2, turns by position * theta^(-2 i / head size)."""
    size, theta, (kind, factor) = config.hidden_size // config.num_attention_heads, config.rope_theta, config.rope_stretch
    if kind == "ntk":
        theta *= factor ** (size / (size - 2))
    position = torch.arange(length, dtype=torch.double) / (factor if kind == "linear" else 1)
    angle = position[:, None] * theta ** (-torch.arange(0, size, 2, dtype=torch.double) / size)
    return angle.cos().float().to(like), angle.sin().float().to(like)


def rotate(x, table):
    (a, b), (cosine, sine) = x.chunk(2, -1), table
    return torch.cat([a * cosine - b * sine, b * cosine + a * sine], -1)


def dense_and_norm(config, inputs):
    return nn.ModuleDict({"dense": nn.Linear(inputs, config.hidden_size), "LayerNorm": nn.LayerNorm(config.hidden_size, config.layer_norm_eps)})


class BigBirdDnaEmbeddings(nn.Module):
    def __init__(self, config):
        super().__init__()
        hidden, self.config = config.hidden_size, config
        self.word_embeddings = nn.Embedding(config.vocab_size, hidden, config.pad_token_id)
        if config.position_embedding_type == "absolute":
            self.position_embeddings = nn.Embedding(config.max_position_embeddings, hidden)
        self.token_type_embeddings = nn.Embedding(config.type_vocab_size, hidden)
        if config.num_extra_global_tokens > 0:
            self.global_embeddings = nn.Embedding(config.num_extra_global_tokens, hidden)
        self.LayerNorm = nn.LayerNorm(hidden, config.layer_norm_eps)
        if config.embedding_convolution > 0:
            width = config.embedding_convolution
            self.convolution = nn.Conv1d(hidden, hidden, width, padding=width // 2, groups=hidden, bias=False)

    def forward(self, input_ids, attention_mask, token_type_ids):
        """Of whole blocks, behind those of the extra global tokens."""
        x = self.word_embeddings(input_ids) * (self.config.hidden_size ** 0.5 if self.config.rescale_embeddings else 1)
        x = x + self.token_type_embeddings(token_type_ids)
        if self.config.position_embedding_type == "absolute":
            positions = self.position_embeddings.weight[:x.shape[1]]
            x = x + functional.pad(positions, (0, 0, 0, x.shape[1] - len(positions)))
        front = self.config.extra_global_blocks * self.config.block_size
        if front > 0:
            tokens = functional.pad(self.global_embeddings.weight, (0, 0, 0, front - self.config.num_extra_global_tokens))
            x = torch.cat([tokens.expand(len(x), -1, -1), x], 1)
        x = self.LayerNorm(functional.dropout(x, self.config.hidden_dropout_prob, self.training))
        if self.config.embedding_convolution > 0:
            real = x[:, front:] * attention_mask[:, :, None].to(x)  # a padded position counts as absent
            x = torch.cat([x[:, :front], self.convolution(real.transpose(1, 2)).transpose(1, 2)], 1)
        return x


class BigBirdDnaLayer(nn.Module):
    def __init__(self, config, layer):
        super().__init__()
        hidden, self.config = config.hidden_size, config
        projections = {name: nn.Linear(hidden, hidden, bias=config.use_bias) for name in ("query", "key", "value")}
        self.attention = nn.ModuleDict({"self": nn.ModuleDict(projections), "output": dense_and_norm(config, hidden)})
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(hidden, config.intermediate_size)})
        if config.feed_forward == "gated":
            self.intermediate["gate"] = nn.Linear(hidden, config.intermediate_size)
        self.output = dense_and_norm(config, config.intermediate_size)
        self.activation = ACT2FN[config.hidden_act]
        self.layer, self.features = layer, None  # of a Performer

    def features_of(self):
        if self.features is None:
            self.features = draw_features(self.config.performer, self.layer, self.config.hidden_size // self.config.num_attention_heads)
        return self.features

    def attend(self, x, mask, bias, table):
        """Multi-head attention without its last projection; x: (batch, tokens, hidden), mask: (batch, tokens), bias: of BigBirdDnaModel."""
        query, key, value = (self.attention["self"][name](x).unflatten(-1, (self.config.num_attention_heads, -1)).transpose(1, 2)
                             for name in ("query", "key", "value"))
        if table is not None:
            query, key = rotate(query, table), rotate(key, table)
        if self.config.attention_type == "performer":
            return feature_attention(query, key, value, mask, self.features_of(), self.config.performer["kernel"]).transpose(1, 2).flatten(2)
        scores = (~mask)[:, None, None].to(x) * PADDING_BIAS
        dropout = self.config.attention_probs_dropout_prob if self.training and bias is None else 0.0  # as in transformers' big_bird, which drops none if sparse
        context = functional.scaled_dot_product_attention(query, key, value, scores if bias is None else scores + bias, dropout)
        context = context if bias is None else context * mask[:, None, :, None].to(x)
        return context.transpose(1, 2).flatten(2)

    def expand(self, x):
        y = self.activation(self.intermediate["dense"](x))
        return y * self.intermediate["gate"](x) if self.config.feed_forward == "gated" else y

    def forward(self, x, mask, bias, table):
        drop = functools.partial(functional.dropout, p=self.config.hidden_dropout_prob, training=self.training)
        attention, output = self.attention["output"], self.output
        if self.config.norm == "pre":
            x = x + drop(attention["dense"](self.attend(attention["LayerNorm"](x), mask, bias, table)))
            return x + drop(output["dense"](self.expand(output["LayerNorm"](x))))
        x = attention["LayerNorm"](x + drop(attention["dense"](self.attend(x, mask, bias, table))))
        return output["LayerNorm"](x + drop(output["dense"](self.expand(x))))


class BigBirdDnaPreTrainedModel(PreTrainedModel):
    config_class = BigBirdDnaConfig
    base_model_prefix = "bert"
    _supports_sdpa = True


class BigBirdDnaModel(BigBirdDnaPreTrainedModel):
    """The encoder. hidden_states: what goes into each layer, and what comes out of the last."""
    _keys_to_ignore_on_load_unexpected = [r"^cls\."]

    def __init__(self, config):
        super().__init__(config)
        self.embeddings = BigBirdDnaEmbeddings(config)
        self.encoder = nn.ModuleDict({"layer": nn.ModuleList(BigBirdDnaLayer(config, layer) for layer in range(config.num_hidden_layers))})
        if config.norm == "pre":
            self.encoder["LayerNorm"] = nn.LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.pooler = nn.Linear(config.hidden_size, config.hidden_size)
        self.kept_counts = {}  # by blocks and layer
        self.post_init()

    def get_input_embeddings(self):
        return self.embeddings.word_embeddings

    def set_input_embeddings(self, value):
        self.embeddings.word_embeddings = value

    def attention_bias(self, x, layer):
        """What is added to the scores of a layer, (heads or 1, tokens, tokens): the logarithm of how often a key counts. None: all keys count once."""
        config, blocks = self.config, x.shape[1] // self.config.block_size
        if config.attends_fully(blocks) or config.attention_type == "performer":
            return None
        key = blocks, 0 if config.attention_pattern == "longformer" else layer
        if key not in self.kept_counts:
            heads = range(config.num_attention_heads)
            self.kept_counts[key] = (token_counts(config, x.shape[1]) if config.attention_pattern == "longformer"
                                     else torch.tensor([block_counts(config, blocks, layer, head) for head in heads], dtype=torch.float))
        counts = self.kept_counts[key]
        if (counts == 1).all():
            return None
        bias = counts.to(x).log().clamp(min=MASKED_BIAS)
        return bias if bias.shape[1] == x.shape[1] else bias.repeat_interleave(config.block_size, 1).repeat_interleave(config.block_size, 2)

    def forward(self, input_ids, attention_mask=None, token_type_ids=None, output_hidden_states=None):
        config, (batch, length) = self.config, input_ids.shape
        if length > config.max_position_embeddings:
            raise ValueError(f"a sequence of {length} tokens is longer than the model's {config.max_position_embeddings} positions")
        to_whole_blocks, front = (0, -length % config.block_size), config.extra_global_blocks * config.block_size
        mask = functional.pad((torch.ones_like(input_ids) if attention_mask is None else attention_mask) != 0, to_whole_blocks)
        types = functional.pad(torch.zeros_like(input_ids) if token_type_ids is None else token_type_ids, to_whole_blocks)
        x = self.embeddings(functional.pad(input_ids, to_whole_blocks, value=config.pad_token_id), mask, types)
        mask = torch.cat([(torch.arange(front, device=mask.device) < config.num_extra_global_tokens).expand(batch, -1), mask], 1)
        refuse_unknown_plan(config, x.shape[1] // config.block_size, self.training)
        table = rotary_table(config, x.shape[1], x) if config.position_embedding_type == "rotary" else None
        states = [x]
        for number, layer in enumerate(self.encoder["layer"]):
            states.append(layer(states[-1], mask, self.attention_bias(x, number), table))
        if config.norm == "pre":
            states[-1] = self.encoder["LayerNorm"](states[-1])
        states = tuple(state[:, front:front + length] for state in states)
        wanted = config.output_hidden_states if output_hidden_states is None else output_hidden_states
        return BaseModelOutputWithPooling(last_hidden_state=states[-1], pooler_output=torch.tanh(self.pooler(states[-1][:, 0])),
                                          hidden_states=states if wanted else None)


class BigBirdDnaPredictions(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.transform = dense_and_norm(config, config.hidden_size)
        self.activation = ACT2FN[config.hidden_act]
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))

    def forward(self, x, word_embeddings):
        x = self.transform["LayerNorm"](self.activation(self.transform["dense"](x)))
        return functional.linear(x, word_embeddings, self.bias)


def entropy(logits, labels):
    """Labels of -100 do not count."""
    return functional.cross_entropy(logits.flatten(0, -2), labels.flatten())


class BigBirdDnaForMaskedLM(BigBirdDnaPreTrainedModel):
    _keys_to_ignore_on_load_unexpected = [r"^cls\.seq_relationship\."]

    def __init__(self, config):
        super().__init__(config)
        self.bert = BigBirdDnaModel(config)
        self.cls = nn.ModuleDict({"predictions": BigBirdDnaPredictions(config)})
        self.post_init()

    def forward(self, input_ids, attention_mask=None, token_type_ids=None, labels=None, output_hidden_states=None):
        out = self.bert(input_ids, attention_mask, token_type_ids, output_hidden_states)
        logits = self.cls["predictions"](out.last_hidden_state, self.get_input_embeddings().weight)
        return MaskedLMOutput(loss=None if labels is None else entropy(logits, labels), logits=logits, hidden_states=out.hidden_states)


class BigBirdDnaForPreTraining(BigBirdDnaPreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.bert = BigBirdDnaModel(config)
        self.cls = nn.ModuleDict({"predictions": BigBirdDnaPredictions(config), "seq_relationship": nn.Linear(config.hidden_size, 2)})
        self.post_init()

    def forward(self, input_ids, attention_mask=None, token_type_ids=None, labels=None, next_sentence_label=None, output_hidden_states=None):
        out = self.bert(input_ids, attention_mask, token_type_ids, output_hidden_states)
        logits = self.cls["predictions"](out.last_hidden_state, self.get_input_embeddings().weight)
        relationship = self.cls["seq_relationship"](out.pooler_output)
        losses = [entropy(*pair) for pair in ((logits, labels), (relationship, next_sentence_label)) if pair[1] is not None]
        return BertForPreTrainingOutput(loss=sum(losses) if losses else None, prediction_logits=logits, seq_relationship_logits=relationship,
                                        hidden_states=out.hidden_states)


if not __name__.startswith("transformers_modules."):  # imported by hand, not through auto_map
    AutoConfig.register("bigbird_dna", BigBirdDnaConfig)
    AutoModel.register(BigBirdDnaConfig, BigBirdDnaModel)
    AutoModelForMaskedLM.register(BigBirdDnaConfig, BigBirdDnaForMaskedLM)
    AutoModelForPreTraining.register(BigBirdDnaConfig, BigBirdDnaForPreTraining)


# SPDX-License-Identifier: Apache-2.0
# Models that read bases. The program writes this behind modeling_bigbird_dna.py, into one file of that name, whose imports and functions it uses.
# Bin models and sequence models read one-hot sequence, (batch, 4, length) of A C G T with N all 0, and return the logits of `bigbird-dna predict` before its calibration:
# (batch, bins, labels) or (batch, labels).
import math
from types import SimpleNamespace


class BigBirdDnaBasesConfig(PretrainedConfig):
    """config.json of a model that reads bases; `network` under bigbird_dna.task_model is its shape."""

    @property
    def task(self):
        return self.bigbird_dna["task_model"]

    def to_dict(self):
        return {**super().to_dict(), "num_labels": self.num_labels}  # which the program reads


class BigBirdDnaBinsConfig(BigBirdDnaBasesConfig):
    model_type = "bigbird_dna_bins"


class BigBirdDnaSequenceConfig(BigBirdDnaBasesConfig):
    model_type = "bigbird_dna_sequence"


class BigBirdDnaBaselineConfig(BigBirdDnaBasesConfig):
    model_type = "bigbird_dna_baseline"


def activation_of(name):
    """As a module that captum and tangermeme know."""
    return nn.GELU(approximate="tanh") if name in ("gelu_new", "gelu_pytorch_tanh") else ACT2FN[name]


class LearntPool(nn.Module):
    """(batch, outputs, places, channels) -> (batch, outputs, channels): the mean over places, weighted by a softmax of the values times `sharpness`."""

    def __init__(self, channels):
        super().__init__()
        self.sharpness = nn.Parameter(torch.full((channels,), 2.0))

    def forward(self, x):
        return (x * (x * self.sharpness).softmax(2)).sum(2)


class Largest(nn.Module):
    """The maximum over dimension 1, of the first `own` places where that is set."""
    own = None

    def forward(self, x):
        return x[:, :self.own].amax(1)


class Stage(nn.Module):
    """A convolution of the stem and its pool. The first one reads letters, of both strands where it is told to, and also returns what its filters find."""

    def __init__(self, shape, before, epsilon):
        super().__init__()
        self.pool_size, channels, width = shape["pool"], shape["channels"], shape["width"]
        self.convolution = nn.Conv1d(before, channels, width, padding=width // 2)
        self.pool = LearntPool(channels)
        self.activation = nn.GELU(approximate="tanh")
        if epsilon is not None:
            self.norm = nn.LayerNorm(before, epsilon)

    def first(self, x, both_strands):
        weight, bias = self.convolution.weight, self.convolution.bias
        if both_strands:
            weight, bias = torch.cat([weight, weight.flip(1, 2)]), torch.cat([bias, bias])
        found = functional.conv1d(x, weight, bias, padding=weight.shape[2] // 2).transpose(1, 2)
        found = found.unflatten(2, (-1, self.convolution.out_channels))  # (batch, length, strands, channels)
        return self.pool(self.activation(found).unflatten(1, (-1, self.pool_size)).flatten(2, 3)), found

    def forward(self, x):
        x = self.norm(x)
        y = self.convolution(self.activation(x).transpose(1, 2)).transpose(1, 2)
        y = x + y if x.shape == y.shape else y
        return self.pool(y.unflatten(1, (-1, self.pool_size))) if self.pool_size > 1 else y


class Context(nn.Module):
    """Attention of queries, keys and values side by side, (batch, positions, 3 hidden), under `bias` where that is set; rotated already."""
    bias = None

    def __init__(self, heads):
        super().__init__()
        self.heads = heads

    def forward(self, x):
        query, key, value = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in x.chunk(3, -1))
        return functional.scaled_dot_product_attention(query, key, value, self.bias).transpose(1, 2).flatten(2)


class Product(nn.Module):
    def forward(self, x):
        return torch.mul(*x.chunk(2, -1))


class PositionLayer(nn.Module):
    """A layer of the encoder over positions: attention or, in its place, a dilated convolution, and a feed-forward block."""

    def __init__(self, network, pattern, layer):
        super().__init__()
        encoder, self.pattern, self.layer = network["encoder"], pattern, layer
        hidden, inner, epsilon = encoder["hidden_size"], encoder["intermediate_size"], encoder["layer_norm_eps"]
        self.attends, self.norm_first, self.rotary = network["mixing"] == "attention", network["norm"] == "pre", network["positions"] == "rotary"
        if self.attends:
            self.attention_norm = nn.LayerNorm(hidden, epsilon)
            self.query, self.key, self.value, self.attention_output = (nn.Linear(hidden, hidden) for _ in range(4))
            self.context = Context(encoder["num_attention_heads"])
        else:
            self.convolution_norm = nn.LayerNorm(hidden, epsilon)
            self.convolution = nn.Conv1d(hidden, hidden, 3, padding=2 ** layer, dilation=2 ** layer)
            self.mixing_activation = activation_of(encoder["hidden_act"])
        self.feed_forward_norm = nn.LayerNorm(hidden, epsilon)
        self.feed_forward_in, self.feed_forward_out = nn.Linear(hidden, inner), nn.Linear(inner, hidden)
        self.activation = activation_of(encoder["hidden_act"])
        if network["feed_forward"] == "gated":
            self.feed_forward_gate, self.product = nn.Linear(hidden, inner), Product()

    def attention_bias(self, x, own):
        """Of keys, (1, 1, 1, positions) or (1, heads, positions, positions); None: all count once."""
        padding = None if own == x.shape[1] else ((torch.arange(x.shape[1], device=x.device) >= own) * PADDING_BIAS).to(x)[None, None, None]
        blocks = x.shape[1] // self.pattern.block_size
        if x.shape[1] % self.pattern.block_size or self.pattern.attends_fully(blocks):
            return padding
        refuse_unknown_plan(self.pattern, blocks, self.training)
        counts = torch.tensor([block_counts(self.pattern, blocks, self.layer, head) for head in range(self.context.heads)], dtype=torch.float)
        bias = counts.to(x).log().clamp(min=MASKED_BIAS).repeat_interleave(self.pattern.block_size, 1).repeat_interleave(self.pattern.block_size, 2)[None]
        return bias if padding is None else bias + padding

    def mix(self, x, own):
        if not self.attends:
            return self.convolution(self.mixing_activation(x).transpose(1, 2)).transpose(1, 2)
        query, key = self.query(x), self.key(x)
        if self.rotary:
            heads = self.context.heads
            table = rotary_table(SimpleNamespace(hidden_size=x.shape[2], num_attention_heads=heads, rope_theta=10000.0, rope_stretch=("default", 1.0)), x.shape[1], x)
            query, key = (rotate(y.unflatten(-1, (heads, -1)).transpose(1, 2), table).transpose(1, 2).flatten(2) for y in (query, key))
        self.context.bias = self.attention_bias(x, own)
        return self.attention_output(self.context(torch.cat([query, key, self.value(x)], -1)))

    def feed_forward(self, x):
        y = self.activation(self.feed_forward_in(x))
        return self.feed_forward_out(self.product(torch.cat([y, self.feed_forward_gate(x)], -1)) if hasattr(self, "product") else y)

    def forward(self, x, own):
        mixing_norm = self.attention_norm if self.attends else self.convolution_norm
        if self.norm_first:
            x = x + self.mix(mixing_norm(x), own)
            return x + self.feed_forward(self.feed_forward_norm(x))
        x = mixing_norm(x + self.mix(x, own))
        return self.feed_forward_norm(x + self.feed_forward(x))


class BigBirdDnaBasesModel(PreTrainedModel):
    """Evaluation only: training is the program's."""
    main_input_name = "bases"
    config_class = BigBirdDnaBasesConfig

    def _init_weights(self, module):
        pass

    @staticmethod
    def body(network):
        """The stem and the encoder of a network, as they are named in model.safetensors."""
        encoder, before, stages = network["encoder"], 4, nn.ModuleList()
        for shape in network["stages"]:
            stages.append(Stage(shape, before, encoder["layer_norm_eps"] if len(stages) else None))
            before = shape["channels"]
        pattern = BigBirdDnaConfig(**{key: value for key, value in encoder.items() if key != "model_type"})
        return stages, nn.ModuleList(PositionLayer(network, pattern, layer) for layer in range(encoder["num_hidden_layers"]))


class BigBirdDnaBins(BigBirdDnaBasesModel):
    """(batch, 4, window) one-hot -> (batch, bins, labels) logits of a window's bins, margins included. The window is config's window_bins * bin bases."""
    config_class = BigBirdDnaBinsConfig

    def __init__(self, config):
        super().__init__(config)
        self.network = network = config.task["network"]
        network.setdefault("mixing", "attention")
        self.stem, self.encoder = self.body(network)
        encoder, labels, self.motif_filters = network["encoder"], config.num_labels, network.get("motif_filters", 0)
        self.position, profile = math.prod(stage["pool"] for stage in network["stages"]), 64  # channels of a profile head
        self.head = nn.ModuleDict({"output": nn.Linear(profile if network["bin"] < self.position else encoder["hidden_size"], labels)})
        if network["bin"] < self.position:
            self.head["profile"], self.activation = nn.Module(), nn.GELU(approximate="tanh")
            self.head["profile"].context = nn.Linear(encoder["hidden_size"], profile)
            self.head["profile"].weight, self.head["profile"].bias = nn.Parameter(torch.zeros(profile, 4, 25)), nn.Parameter(torch.zeros(profile))
        if network["norm"] == "pre":
            self.head["norm"] = nn.LayerNorm(encoder["hidden_size"], encoder["layer_norm_eps"])
        if self.motif_filters:
            self.head["motifs"] = nn.Module()
            self.head["motifs"].mean = nn.Parameter(torch.zeros(self.motif_filters))
            self.head["motifs"].weight = nn.Parameter(torch.zeros(labels, self.motif_filters))
            self.largest = Largest()
        self.post_init()

    def forward(self, bases):
        bins, window = self.network["window_bins"], self.network["window_bins"] * self.network["bin"]
        if bases.shape[1:] != (4, window):
            raise ValueError(f"bases are one-hot, (batch, 4, {window}), not {tuple(bases.shape)}")
        x, found = self.stem[0].first(bases, self.network.get("both_strands", False))
        for stage in self.stem[1:]:
            x = stage(x)
        for layer in self.encoder:
            x = layer(x, x.shape[1])
        x = self.head["norm"](x) if "norm" in self.head else x
        if "profile" in self.head:
            head = self.head["profile"]
            context = head.context(x).repeat_interleave(self.position, 1)
            x = context + self.activation(context + functional.conv1d(bases, head.weight, head.bias, padding=12).transpose(1, 2))
        logits = self.head["output"](x.unflatten(1, (bins, -1)).mean(2))
        if not self.motif_filters:
            return logits
        sites = found[..., :self.motif_filters].reshape(len(x) * bins, -1, self.motif_filters)
        return logits + functional.linear(self.largest(sites).unflatten(0, (len(x), bins)) - self.head["motifs"].mean, self.head["motifs"].weight)


class SequenceMember(nn.Module):
    """One network of a sequence model; lib/bigbird/sequences/network.hpp."""

    def __init__(self, config, labels):
        super().__init__()
        hidden, filters, self.config = config["hidden"], config["filters"], config
        stages = [dict(channels=filters, width=config["width"], pool=config["pool"])] + [dict(channels=hidden, width=5, pool=1)] * config["convolutions"]
        encoder = dict(hidden_size=hidden, num_hidden_layers=config["layers"], num_attention_heads=config["heads"], intermediate_size=2 * hidden,
                       layer_norm_eps=1e-5, hidden_act="gelu_new", random_blocks_source="uniform")
        self.stem, self.encoder = BigBirdDnaBasesModel.body(dict(stages=stages, encoder=encoder, mixing="attention", norm="pre", positions="rotary", feed_forward="plain"))
        if config["places"] > 0:
            self.places = nn.Parameter(torch.zeros(config["places"], hidden))
        self.norm, self.site_norm = nn.LayerNorm(hidden, 1e-5), nn.LayerNorm(filters, 1e-5)
        self.dense = nn.Linear(2 * hidden + filters, config["dense"])
        self.head = nn.ModuleDict({"output": nn.Linear(config["dense"], labels)})
        self.largest, self.best_site = Largest(), Largest()
        self.site_activation, self.activation = nn.GELU(approximate="tanh"), nn.GELU(approximate="tanh")

    def padded(self, length):
        """Bases that a record is padded to by N, as sequences::Config::padded() has it."""
        pool, block = self.config["pool"], 64
        whole = -(-length // pool)
        if whole > 11 * block:  # attention is sparse
            return -(-length // (pool * block)) * pool * block
        unit = pool * max(1, (1 << (max(1, length // 16).bit_length() - 1)) // pool)
        return -(-length // unit) * unit

    def forward(self, bases):
        own = -(-bases.shape[2] // self.config["pool"])
        x, found = self.stem[0].first(functional.pad(bases, (0, self.padded(bases.shape[2]) - bases.shape[2])), self.config["both_strands"])
        for stage in self.stem[1:]:
            x = stage(x)
        if hasattr(self, "places"):
            count = self.config["places"]
            x = x + self.places[(torch.arange(x.shape[1], device=x.device) - own // 2 + count // 2).clamp(0, count - 1)]
        for layer in self.encoder:
            x = layer(x, own)
        x, self.largest.own = self.norm(x), own
        sites = self.site_norm(self.site_activation(self.best_site(found.flatten(1, 2))))
        return self.head["output"](self.activation(self.dense(torch.cat([x[:, :own].mean(1), self.largest(x), sites], 1))))


def kmer_counts(kmers):
    """Features of each length; a k-mer and its reverse complement are one where both strands count."""
    return [(4 ** k + (4 ** (k // 2) if k % 2 == 0 else 0)) // 2 if kmers["both_strands"] else 4 ** k for k in kmers["lengths"]]


def kmer_features(bases, kmers):
    """Square roots of counts, and dinucleotides at their places: lib/bigbird/baselines/window/kmer_counts.hpp. They have no gradient."""
    codes = torch.where(bases.amax(1) > 0.5, bases.argmax(1), 4)
    features = []
    for k, count in zip(kmers["lengths"], kmer_counts(kmers)):
        power, places = 4 ** torch.arange(k, device=bases.device), torch.arange(4 ** k, device=bases.device)
        letters = places[:, None] // power % 4  # the last letter first
        other = ((3 - letters) * power.flip(0)).sum(1)
        number = torch.where(other < places, -1, 0) if kmers["both_strands"] else torch.zeros_like(places)
        number = torch.where(number == 0, (number == 0).cumsum(0) - 1, number)
        number = torch.where(number < 0, number[other], number)
        sums = torch.zeros(len(codes), count + 1, device=bases.device)  # the last of words with N
        if codes.shape[1] >= k:
            words = codes.unfold(1, k, 1)
            index = torch.where((words < 4).all(2), number[(words.clamp(max=3) * power.flip(0)).sum(2)], count)
            sums.scatter_add_(1, index, torch.ones(index.shape, device=bases.device))
        features.append(sums[:, :-1].sqrt())
    if kmers["places"] > 0:
        first = functional.pad(codes, (0, max(0, kmers["places"] + 1 - codes.shape[1])), value=4)[:, :kmers["places"] + 1]
        pairs = torch.where((first[:, :-1] < 4) & (first[:, 1:] < 4), 4 * first[:, :-1] + first[:, 1:], 16)
        features.append(functional.one_hot(pairs, 17)[..., :16].flatten(1).float())
    return torch.cat(features, 1)


class BigBirdDnaSequence(BigBirdDnaBasesModel):
    """(batch, 4, length) one-hot -> (batch, labels) logits: the mean of members, over both strands where they read both, and of regression on k-mers."""
    config_class = BigBirdDnaSequenceConfig

    def __init__(self, config):
        super().__init__(config)
        self.network = network = config.task["network"]
        self.members = nn.ModuleList(SequenceMember(network["member"], config.num_labels) for _ in range(network.get("members", 0)))
        if "kmers" in network:
            self.kmers, kmers = nn.Module(), network["kmers"]
            features = sum(kmer_counts(kmers)) + 16 * kmers["places"]
            self.kmers.weight, self.kmers.bias = nn.Parameter(torch.zeros(config.num_labels, features)), nn.Parameter(torch.zeros(config.num_labels))
        self.post_init()

    def forward(self, bases):
        longest = self.network.get("member", {}).get("longest", 32768)
        if bases.shape[2] > longest:
            bases = bases[:, :, (bases.shape[2] - longest) // 2:][:, :, :longest]
        share, logits = self.network.get("kmer_share", 0), 0
        if len(self.members):
            strands = [bases, bases.flip(1, 2)] if self.network["member"]["both_strands"] and not self.training else [bases]
            logits = (1 - share) * sum(member(strand) for strand in strands for member in self.members) / (len(strands) * len(self.members))
        if hasattr(self, "kmers"):
            logits = logits + share * functional.linear(kmer_features(bases, self.network["kmers"]).to(bases), self.kmers.weight, self.kmers.bias)
        return logits


class BigBirdDnaBaseline(BigBirdDnaBasesModel):
    config_class = BigBirdDnaBaselineConfig

    def __init__(self, config):
        raise NotImplementedError(f"{config.task['architecture']} is a baseline that opens only in bigbird-dna: score with `bigbird-dna predict`")


if not __name__.startswith("transformers_modules."):
    for kind in (BigBirdDnaBins, BigBirdDnaSequence, BigBirdDnaBaseline):
        AutoConfig.register(kind.config_class.model_type, kind.config_class)
        AutoModel.register(kind.config_class, kind)
