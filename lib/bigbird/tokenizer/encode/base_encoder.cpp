// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/encode/base_encoder.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace bigbird::tokenizer {

namespace {

constexpr std::size_t fewest_letters = 64;   // most of a shorter stretch would be left to EncoderTables
constexpr std::size_t longest_segment = 48;  // short tokens
// For two short tokens that are not merged: whether a token may contain both side by side.
constexpr BaseTokens::Number never_crossed = 0xFFFF, side_by_side = 0xFFFE;

bool is_other(std::uint8_t letter) {
    return letter >= BaseTokens::letters;
}

// Four letters to a byte, lowest bits first.
void pack(const std::uint8_t* letters, std::size_t size, std::vector<std::uint8_t>& packed) {
    packed.resize(size / 4 + 1 + PrefixTokens::padding);
    std::size_t i = 0;
    for (; i + 8 <= size; i += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, letters + i, sizeof word);
        const auto half = static_cast<std::uint16_t>(TokenMatcher::pack(word));
        std::memcpy(packed.data() + i / 4, &half, sizeof half);
    }
    std::fill(packed.begin() + static_cast<std::ptrdiff_t>(i / 4), packed.end(), std::uint8_t{0});
    for (; i < size; ++i)
        packed[i / 4] = static_cast<std::uint8_t>(packed[i / 4] | letters[i] << (2 * (i % 4)));
}

void encode_part(const EncoderTables& general, const std::uint8_t* letters, std::size_t begin,
                 std::size_t end, std::vector<TokenAt>& tokens) {
    const std::size_t before = tokens.size();
    general.encode(letters + begin, end - begin, tokens);
    for (std::size_t i = before; i < tokens.size(); ++i)
        tokens[i].begin += static_cast<std::uint32_t>(begin);
}

}  // namespace

// The stretch [begin, end) of letters, all bases, that is being encoded.
class BaseEncoder::Stretch {
public:
    Stretch(const BaseEncoder& encoder, const std::uint8_t* letters, std::size_t begin, std::size_t end,
            std::vector<TokenAt>& tokens)
        : encoder_(encoder), letters_(letters), position_(begin), end_(end), tokens_(tokens) {}

    void encode() {
        thread_local std::vector<std::uint8_t> packed;
        thread_local std::vector<Number> cut, merges;
        pack(letters_ + position_, end_ - position_, packed);
        cut.clear();
        encoder_.short_.cut(packed.data(), end_ - position_, cut);
        look_up_merges(cut, merges);
        std::size_t closed = merges.size();  // the letters after the last token are unknown
        while (closed > 0 && merges[closed - 1] != never_crossed)
            --closed;
        for (std::size_t i = 0; i < closed;) {
            i = merges[i] < side_by_side ? encode_run(cut.data(), merges.data(), i)
                                         : (position(cut[i]), i + 1);
        }
        encode_part(encoder_.general_, letters_, position_, end_, tokens_);
    }

private:
    // Looks up the merge of each two neighbors, stored at the left one.
    void look_up_merges(const std::vector<Number>& cut, std::vector<Number>& merges) const {
        const std::size_t count = encoder_.short_.count();
        merges.resize(cut.empty() ? 0 : cut.size() - 1);
        for (std::size_t i = 0; i < merges.size(); ++i)
            merges[i] = encoder_.merges_[cut[i] * count + cut[i + 1]];
    }
    std::size_t encode_run(Number* cut, Number* merges, std::size_t begin);
    std::size_t encode_segment_at(Number* cut, Number* merges, std::size_t inside);
    void encode_segment(Number* tokens, Number* merges, std::size_t count);
    void position(Number token) {
        const BaseTokens::Token& known = encoder_.bases_[token];
        tokens_.push_back({static_cast<std::uint32_t>(position_), known.number});
        position_ += known.length;
        previous_ = token;
    }

    const BaseEncoder& encoder_;
    const std::uint8_t* letters_;
    std::size_t position_, end_;
    std::vector<TokenAt>& tokens_;
    std::size_t first_ = tokens_.size();  // tokens of other stretches before
    Number previous_ = BaseTokens::none;
};

// From `begin` on, each possible merge has a lower rank (comes earlier) than the one before, up to a last
// one. The last one is made before its neighbors, so the merge before it cannot be made; then the one before
// that is made, and so on alternately. This holds if no merged token is merged further, neither with a short
// token nor with another merged one. Otherwise the entire segment is encoded by the definition. Returns the
// first short token after it.
std::size_t BaseEncoder::Stretch::encode_run(Number* cut, Number* merges, std::size_t begin) {
    std::size_t last = begin;
    while (merges[last + 1] < merges[last])
        ++last;
    const std::size_t first = begin + (last - begin) % 2;
    Number before = first > begin ? cut[begin] : previous_;
    bool plain = true;
    for (std::size_t i = first; i <= last; i += 2) {
        const Number merged = merges[i];
        plain = plain && !encoder_.extended(before, merged) && !encoder_.extended(merged, cut[i + 2]) &&
                (i == 0 || !encoder_.extended(cut[i - 1], merged));
        before = merged;
    }
    if (!plain) return encode_segment_at(cut, merges, begin);
    if (first > begin) position(cut[begin]);
    for (std::size_t i = first; i <= last; i += 2)
        position(merges[i]);
    return last + 2;
}

// Encodes the segment of the short token `inside`, from its start. Returns the first token after it.
std::size_t BaseEncoder::Stretch::encode_segment_at(Number* cut, Number* merges, std::size_t inside) {
    std::size_t begin = inside, end = inside;
    while (begin > 0 && merges[begin - 1] != never_crossed)
        position_ -= encoder_.bases_[cut[--begin]].length;
    while (merges[end] != never_crossed)
        ++end;
    while (tokens_.size() > first_ && tokens_.back().begin >= position_)
        tokens_.pop_back();
    encode_segment(cut + begin, merges + begin, end + 1 - begin);
    return end + 1;
}

// Repeatedly makes the merge of lowest rank, the left one of equal ones.
void BaseEncoder::Stretch::encode_segment(Number* tokens, Number* merges, std::size_t count) {
    const BaseTokens& bases = encoder_.bases_;
    if (count > longest_segment) {
        std::size_t end = position_;
        for (std::size_t i = 0; i < count; ++i)
            end += bases[tokens[i]].length;
        encode_part(encoder_.general_, letters_, position_, end, tokens_);
        position_ = end;
        return;
    }
    while (count > 1) {
        const auto at = static_cast<std::size_t>(std::min_element(merges, merges + count - 1) - merges);
        const Number merged = merges[at];
        if (merged >= side_by_side) break;
        --count;
        tokens[at] = merged;
        for (std::size_t i = at + 1; i < count; ++i) {
            tokens[i] = tokens[i + 1];
            merges[i - 1] = merges[i];
        }
        if (at > 0) merges[at - 1] = encoder_.extension(tokens[at - 1], merged);
        if (at + 1 < count) merges[at] = encoder_.extension(merged, tokens[at + 1]);
    }
    for (std::size_t i = 0; i < count; ++i)
        position(tokens[i]);
}

BaseEncoder::BaseEncoder(BaseTokens bases, const EncoderTables& general, std::size_t prefix_tokens)
    : bases_(std::move(bases)),
      short_(bases_, prefix_tokens),
      merges_(short_.count() * short_.count(), never_crossed),
      extensions_(extension_bits / 64),
      general_(general) {
    const std::size_t count = short_.count();
    const auto short_at = [&](Number token, Number BaseTokens::Token::*edge) {
        while (token >= count)
            token = bases_[token].*edge;
        return token;
    };
    for (std::size_t token = count; token < bases_.size(); ++token) {
        const BaseTokens::Token& known = bases_[token];
        const Number left = short_at(known.left, &BaseTokens::Token::right),
                     right = short_at(known.right, &BaseTokens::Token::left);
        Number& merge = merges_[left * count + right];
        if (left == known.left && right == known.right)
            merge = static_cast<Number>(token);
        else if (merge == never_crossed)
            merge = side_by_side;
        if (left != known.left || right != known.right) {
            const std::size_t bit = extension_bit(known.left, known.right);
            extensions_[bit >> 6] |= std::uint64_t{1} << (bit & 63);
        }
    }
}

void BaseEncoder::encode(const std::uint8_t* letters, std::size_t size, std::vector<TokenAt>& tokens) const {
    const std::uint8_t* const end = letters + size;
    if (bases_.mixed() && std::any_of(letters, end, is_other)) {
        general_.encode(letters, size, tokens);
        return;
    }
    for (const std::uint8_t* at = letters; at != end;) {
        const bool other = is_other(*at);
        const std::uint8_t* const stop =
            other ? std::find_if_not(at, end, is_other) : std::find_if(at, end, is_other);
        const auto from = static_cast<std::size_t>(at - letters),
                   to = static_cast<std::size_t>(stop - letters);
        if (!other && to - from >= fewest_letters)
            Stretch(*this, letters, from, to, tokens).encode();
        else
            encode_part(general_, letters, from, to, tokens);
        at = stop;
    }
}

}  // namespace bigbird::tokenizer
