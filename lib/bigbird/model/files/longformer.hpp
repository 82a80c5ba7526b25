// SPDX-License-Identifier: Apache-2.0
// The keys that a Longformer's config.json has besides BERT's.
#pragma once

#include "bigbird/attention/pattern/pattern.hpp"
#include "bigbird/core/formats/json_file.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::model {

class Keys;

/// Longformer (Beltagy, Peters and Cohan 2020, "Longformer: The Long-Document Transformer"), as in
/// transformers: windows per layer; global tokens with separate query, key and value projections. Dilation is
/// the paper's, which transformers lacks.
struct LongformerForm {
    /// attention_window, a number or a list: tokens per layer, half on each side, even.
    std::vector<int> windows;
    /// attention_dilation, a number, a list of layers or a list of lists of heads: [layer][head], at least 1.
    /// A dilated window attends every dilation-th token, as many as without dilation.
    std::vector<std::vector<int>> dilations;
    /// num_global_tokens: number of leading tokens that are global without a mask. nullopt: left to the
    /// caller; 0 in transformers, 1 for its classifiers.
    std::optional<std::int64_t> global_tokens;

    bool is_dilated() const;
    /// The window of a head, in blocks of `block_size`.
    attention::PatternSpec window(std::int64_t layer, std::int64_t head, int block_size) const;
    /// Throws ConfigError naming the key.
    void validate(std::int64_t layers, std::int64_t heads, std::int64_t positions) const;
    bool operator==(const LongformerForm&) const = default;
};

/// One number for all layers and heads is repeated. Throws InputError naming the key.
LongformerForm read_longformer(const Keys& keys, std::int64_t layers, std::int64_t heads);
void write_longformer(const LongformerForm& form, Json& json);

// The names that transformers gives to a Longformer's weights. Within the program, the parameters of all
// networks have BigBird's names.

/// "bert.pooler.weight" -> "longformer.pooler.dense.weight", "cls.predictions.bias" -> "lm_head.bias".
/// Next-sentence prediction, which a LongformerForMaskedLM lacks, keeps its name.
std::string longformer_name(std::string_view ours);
/// The opposite; also for a LongformerModel's names without "longformer.".
std::string name_of_longformer(std::string_view theirs);
/// Whether a file with this tensor is a Longformer's.
bool is_longformer_name(std::string_view name);

}  // namespace bigbird::model
