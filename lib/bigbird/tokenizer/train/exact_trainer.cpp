// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/train/exact_trainer.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/tokenizer/train/merges/indexed_merges.hpp"
#include "bigbird/tokenizer/train/merges/sweep_merges.hpp"
#include "bigbird/tokenizer/train/storage/packed_tokens.hpp"
#include "bigbird/tokenizer/train/storage/thread_team.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace bigbird::tokenizer {

namespace {

constexpr std::int64_t most_merges = 65'000;  // symbols are 16 bits

// The work up to a number of merges, in positions visited: the n-th piece has 0.16 n^-1.225 positions per
// base, and each round costs about a thousand positions more. The first merges each take as long as the
// hundredth, because they sweep over all positions.
double work_up_to(std::int64_t merges, std::size_t bases) {
    constexpr double exponent = 1.225, swept = 100, places_a_round = 3000;
    const auto count = static_cast<double>(merges);
    const double by_sweeps = std::min(count, swept) * std::pow(swept, -exponent);
    const double by_lists =
        count <= swept ? 0 : (std::pow(swept, 1 - exponent) - std::pow(count, 1 - exponent)) / (exponent - 1);
    return 0.16 * static_cast<double>(bases) * (by_sweeps + by_lists) + places_a_round * count;
}

// Undoes all merges.
LetterArray restored_letters(const TokenArray& positions, const LearntSymbols& symbols, std::size_t size) {
    LetterArray letters(size);
    std::uint8_t* out = letters.data();
    for (std::size_t position = 0; position < positions.size();) {
        const Symbol symbol = positions.data()[position];
        if (symbol == TokenArray::separator) {
            *out++ = LetterArray::separator;
            ++position;
            continue;
        }
        for (const char letter : symbols.texts[symbol])
            *out++ = static_cast<std::uint8_t>(symbol_of_letter(letter));
        position += symbols.widths[symbol];
    }
    return letters;
}

}  // namespace

LearntPieces learn_pieces(LetterArray& corpus, const LearnSpec& spec, const LearnListener& listener) {
    BIGBIRD_EXPECTS(spec.merges >= 0 && spec.merges <= most_merges, "the exact trainer has 16 bits a symbol");
    LearntSymbols symbols(spec.max_piece_length);
    const std::size_t size = corpus.size();
    std::int64_t told = 0;
    const auto advance = [&] {
        while (told < static_cast<std::int64_t>(symbols.merges())) {
            ++told;
            listener(told, work_up_to(told, size) / work_up_to(spec.merges, size));
        }
    };
    ThreadTeam team(static_cast<std::size_t>(std::max(spec.threads, 1)));
    PackedTokens tokens(corpus);
    SweepMerges first(tokens, symbols, spec, team);
    first.run(advance);
    IndexedMerges later(first, tokens, std::move(corpus), symbols, spec, team);
    later.run(advance);
    const bool restore = spec.only_certain && !later.certain();
    corpus = restore ? restored_letters(later.positions(), symbols, size) : LetterArray();
    return {std::move(symbols.pieces), later.certain()};
}

}  // namespace bigbird::tokenizer
