// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/encode/exact_encoder.hpp"

#include "bigbird/core/parallel.hpp"
#include "bigbird/tokenizer/encode/base_encoder.hpp"
#include "bigbird/tokenizer/encode/encoder_tables.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace bigbird::tokenizer {

namespace {

constexpr std::size_t chunk_letters = std::size_t{1} << 15;
constexpr std::size_t overlap_tokens = 32;  // in tokens of maximum length
constexpr std::size_t most_chunks_behind =
    32;  // chunks without a shared token, after which text is no longer cut

struct Chunk {
    std::size_t begin = 0, end = 0;  // letters of the stretch
    std::vector<TokenAt> tokens;     // begin counts from the chunk's
    std::size_t first = 0;           // tokens before it were already emitted
};

// The first token, counted in each chunk, that begins at the same letter in both.
std::optional<std::pair<std::size_t, std::size_t>> shared_token(const Chunk& earlier, const Chunk& later) {
    const std::size_t shift = later.begin - earlier.begin;
    auto a =
        std::lower_bound(earlier.tokens.begin(), earlier.tokens.end(), shift,
                         [](const TokenAt& token, std::size_t position) { return token.begin < position; });
    auto b = later.tokens.begin();
    while (a != earlier.tokens.end() && b != later.tokens.end()) {
        const std::size_t position = b->begin + shift;
        if (a->begin == position && a->token == b->token) {
            return std::pair(static_cast<std::size_t>(a - earlier.tokens.begin()),
                             static_cast<std::size_t>(b - later.tokens.begin()));
        }
        ++(a->begin <= position ? a : b);
    }
    return std::nullopt;
}

}  // namespace

struct ExactTables {
    explicit ExactTables(const BpeRules& rules)
        : tokens(rules),
          general(make_encoder_tables(tokens)),
          unknown_id(rules.unknown_id),
          fuse_unknown(rules.fuse_unknown) {
        if (std::optional<BaseTokens> found = BaseTokens::of(tokens))
            bases.emplace(std::move(*found), *general);
    }
    // Encodes known letters, as fast as the tokens allow.
    void encode(const std::uint8_t* letters, std::size_t size, std::vector<TokenAt>& to) const {
        bases ? bases->encode(letters, size, to) : general->encode(letters, size, to);
    }

    ReachableTokens tokens;
    std::unique_ptr<const EncoderTables> general;
    std::optional<BaseEncoder> bases;
    std::int32_t unknown_id;
    bool fuse_unknown;
};

namespace {

// Encodes one text, stretch by stretch of known letters.
class TextEncoder {
public:
    TextEncoder(const ExactTables& tables, int threads, bool with_spans)
        : tables_(tables), tokens_(tables.tokens), threads_(threads), with_spans_(with_spans) {}

    void add_known(const std::uint8_t* letters, std::size_t size) {
        if (size <= chunk_letters + overlap()) {
            add(encode(letters, 0, size), 0, size);
        } else if (const std::size_t before = result_.ids.size(); !add_in_chunks(letters, size)) {
            result_.ids.resize(before);
            result_.spans.resize(with_spans_ ? before : 0);
            add(encode(letters, 0, size), 0, size);
        }
        position_ += size;
    }
    void add_unknown(std::size_t size) {
        const std::size_t width = tables_.fuse_unknown ? size : 1;
        for (const std::size_t end = position_ + size; position_ < end; position_ += width) {
            result_.ids.push_back(tables_.unknown_id);
            if (with_spans_) result_.spans.push_back({position_, position_ + width});
        }
    }
    Encoding finish() { return std::move(result_); }

private:
    std::size_t overlap() const { return overlap_tokens * tokens_.longest; }

    Chunk encode(const std::uint8_t* letters, std::size_t begin, std::size_t end) const {
        Chunk chunk{.begin = begin, .end = end, .tokens = {}};
        chunk.tokens.reserve((end - begin) / 4);
        tables_.encode(letters + begin, end - begin, chunk.tokens);
        return chunk;
    }

    // The chunk's tokens [first, last), where `last` is a count or, if greater, all.
    void add(const Chunk& chunk, std::size_t first, std::size_t last) {
        last = std::min(last, chunk.tokens.size());
        const std::size_t before = result_.ids.size();
        result_.ids.resize(before + last - first);
        std::transform(chunk.tokens.begin() + static_cast<std::ptrdiff_t>(first),
                       chunk.tokens.begin() + static_cast<std::ptrdiff_t>(last),
                       result_.ids.begin() + static_cast<std::ptrdiff_t>(before),
                       [&](const TokenAt& token) { return tokens_.ids[token.token]; });
        for (std::size_t i = first; with_spans_ && i < last; ++i) {
            const std::size_t begin = position_ + chunk.begin + chunk.tokens[i].begin;
            result_.spans.push_back({begin, begin + tokens_.texts[chunk.tokens[i].token].size()});
        }
    }

    bool add_in_chunks(const std::uint8_t* letters, std::size_t size);
    bool merge(const std::uint8_t* letters, Chunk& current, Chunk&& next);

    const ExactTables& tables_;
    const ReachableTokens& tokens_;
    int threads_;
    bool with_spans_;
    Encoding result_;
    std::size_t position_ = 0;
};

// Emits `current` up to a token that it shares with `next`, and continues with `next`. If they share none,
// encodes more of `current`. Returns false if that fails, too.
bool TextEncoder::merge(const std::uint8_t* letters, Chunk& current, Chunk&& next) {
    if (const auto shared = shared_token(current, next)) {
        add(current, current.first, shared->first);
        current = std::move(next);
        current.first = shared->second;
        return true;
    }
    const TokenAt resumed = current.tokens[current.first];
    const std::size_t begin = current.begin + resumed.begin;
    if (next.end - begin > most_chunks_behind * chunk_letters) return false;
    current = encode(letters, begin, next.end);
    return current.tokens.front().token == resumed.token;
}

bool TextEncoder::add_in_chunks(const std::uint8_t* letters, std::size_t size) {
    const auto chunks = static_cast<std::int64_t>((size + chunk_letters - 1) / chunk_letters);
    std::optional<Chunk> current;
    bool merged = true;
    ordered_pipeline<Chunk>(
        chunks, threads_,
        [&](std::int64_t i) {
            const std::size_t begin = static_cast<std::size_t>(i) * chunk_letters;
            return encode(letters, begin, std::min(begin + chunk_letters + overlap(), size));
        },
        [&](Chunk&& chunk) {
            if (!current)
                current = std::move(chunk);
            else if (merged)
                merged = merge(letters, *current, std::move(chunk));
        });
    if (merged) add(*current, current->first, current->tokens.size());
    return merged;
}

}  // namespace

ExactEncoder::ExactEncoder(const BpeRules& rules) : tables_(std::make_shared<const ExactTables>(rules)) {}

Encoding ExactEncoder::encode(std::string_view text, int threads, bool with_spans) const {
    thread_local std::vector<std::uint8_t> numbers;
    numbers.resize(text.size() + TokenMatcher::padding);
    const TokenMatcher& matcher = tables_->general->matcher();
    std::ranges::transform(text, numbers.begin(), [&](char letter) { return matcher.letter_number(letter); });
    const std::uint8_t* const begin = numbers.data();
    const std::uint8_t* const end = begin + text.size();
    TextEncoder encoder(*tables_, threads, with_spans);
    for (const std::uint8_t* known = begin; known != end;) {
        const std::uint8_t* const unknown = std::find(known, end, TokenMatcher::unknown_letter);
        if (unknown != known) encoder.add_known(known, static_cast<std::size_t>(unknown - known));
        known = std::find_if(unknown, end,
                             [](std::uint8_t letter) { return letter != TokenMatcher::unknown_letter; });
        encoder.add_unknown(static_cast<std::size_t>(known - unknown));
    }
    return encoder.finish();
}

std::span<const std::int32_t> ExactEncoder::unreachable() const {
    return tables_->tokens.lost;
}

}  // namespace bigbird::tokenizer
