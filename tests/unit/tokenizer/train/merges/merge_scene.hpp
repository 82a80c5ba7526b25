// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/tokenizer/train/merges/sweep_merges.hpp"

#include <string>
#include <vector>

namespace bigbird::testing {

/// A small corpus after its first merges, on two threads.
struct MergeScene {
    MergeScene(const std::vector<std::string>& stretches, const tokenizer::LearnSpec& spec)
        : letters(letters_of(stretches)),
          symbols(spec.max_piece_length),
          team(2),
          tokens(letters),
          first(tokens, symbols, spec, team) {
        first.run([] {});
    }
    static tokenizer::LetterArray letters_of(const std::vector<std::string>& stretches) {
        tokenizer::LetterArray letters;
        for (const std::string& stretch : stretches) {
            letters.append(stretch);
        }
        return letters;
    }

    tokenizer::LetterArray letters;
    tokenizer::LearntSymbols symbols;
    tokenizer::ShardTeam team;
    tokenizer::PackedTokens tokens;
    tokenizer::SweepMerges first;
};

}  // namespace bigbird::testing
