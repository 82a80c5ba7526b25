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
