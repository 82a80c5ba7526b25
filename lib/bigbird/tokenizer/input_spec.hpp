// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/choice.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"

#include <filesystem>
#include <optional>

namespace bigbird::tokenizer {

enum class Input { tokens, bases, kmers };
inline constexpr Choices<Input, 3> inputs{
    {{Input::tokens, "tokens"}, {Input::bases, "bases"}, {Input::kmers, "kmers"}}};

/// What a network reads: tokens of a tokenizer's file, single bases, or k-mers.
struct InputSpec {
    static constexpr int default_kmer_length = 6;

    Input input = Input::tokens;
    std::optional<int> kmer_length = {};   ///< of kmers alone; nothing: the default
    std::filesystem::path tokenizer = {};  ///< of tokens alone

    /// Whether it says which tokenizer: it does not where tokens are asked for and no file is named.
    bool names_tokenizer() const { return input != Input::tokens || !tokenizer.empty(); }
    /// Throws ConfigError where options exclude each other.
    void validate() const;
    /// The tokenizer named. Throws ConfigError as validate(), or where none is named or k is out of range;
    /// InputError as DnaTokenizer::load.
    DnaTokenizer open() const;
};

}  // namespace bigbird::tokenizer
