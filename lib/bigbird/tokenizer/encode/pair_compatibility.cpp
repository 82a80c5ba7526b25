// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/encode/pair_compatibility.hpp"

#include <algorithm>
#include <cstddef>

namespace bigbird::tokenizer {

namespace {

struct Step {
    std::size_t at = 0;
    BpeRules::Merge merge;
};

Step first_merge(const BpeRules& rules, const std::vector<Token>& tokens) {
    Step best;
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
        const BpeRules::Merge merge = rules.merge(tokens[i], tokens[i + 1]);
        if (merge.rank < best.merge.rank) {
            best = {i, merge};
        }
    }
    return best;
}

void merge_at(const Step& step, std::vector<Token>& tokens) {
    tokens[step.at] = step.merge.merged;
    tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(step.at) + 1);
}

// Notes what stands at an edge and the highest rank since it came there.
class EdgeTrace {
public:
    explicit EdgeTrace(Token letter) : stages_{{letter, 0}} {}
    void note(std::uint32_t rank, Token at_edge) {
        stages_.back().bound = std::max(stages_.back().bound, rank);
        if (at_edge != stages_.back().token) {
            stages_.push_back({at_edge, 0});
        }
    }
    std::vector<EdgeStage> finish() {
        stages_.back().bound = never;
        return std::move(stages_);
    }

private:
    std::vector<EdgeStage> stages_;
};

}  // namespace

std::optional<TokenEdges> trace_token(const BpeRules& rules, Token token) {
    std::vector<Token> tokens;
    for (const char letter : rules.texts[token]) {
        tokens.push_back(rules.letters[static_cast<unsigned char>(letter)]);
        if (tokens.back() == no_token) {
            return std::nullopt;
        }
    }
    EdgeTrace left(tokens.front()), right(tokens.back());
    for (Step step = first_merge(rules, tokens); step.merge.rank != never;
         step = first_merge(rules, tokens)) {
        merge_at(step, tokens);
        left.note(step.merge.rank, tokens.front());
        right.note(step.merge.rank, tokens.back());
    }
    if (tokens.front() != token) return std::nullopt;  // what is left of several is shorter
    return TokenEdges{left.finish(), right.finish()};
}

}  // namespace bigbird::tokenizer
