// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/windows/window_encoder.hpp"

#include "bigbird/core/check.hpp"

#include <algorithm>

namespace bigbird::task_models {

namespace {

/// Index of the piece that spells base `base` of the sequence, or the last one.
std::size_t piece_at(const std::vector<std::int32_t>& pieces, const tokenizer::DnaTokenizer& tokenizer,
                     std::int64_t base) {
    std::int64_t spelt = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        spelt += tokenizer.piece_length(pieces[i]);
        if (spelt > base) {
            return i;
        }
    }
    return pieces.size() - 1;
}

}  // namespace

EncodedWindow encode_window(std::string_view dna, const tokenizer::DnaTokenizer& tokenizer,
                            std::int64_t max_tokens) {
    BIGBIRD_EXPECTS(max_tokens >= 3, "a window needs room for [CLS], one piece and [SEP]");
    EncodedWindow window;
    const std::size_t first = dna.find_first_not_of('N');
    if (first == std::string_view::npos) {
        return window;
    }
    const std::size_t last = dna.find_last_not_of('N');
    const std::vector<std::int32_t> pieces = tokenizer.encode(dna.substr(first, last - first + 1));
    const auto room = static_cast<std::size_t>(max_tokens - 2);
    std::size_t begin = 0, count = pieces.size();
    if (count > room) {
        const auto middle = static_cast<std::int64_t>(dna.size() / 2) - static_cast<std::int64_t>(first);
        const std::size_t centre = piece_at(pieces, tokenizer, std::max<std::int64_t>(middle, 0));
        begin = std::min(centre - std::min(centre, room / 2), count - room);
        count = room;
        window.truncated = true;
    }
    window.first_base = static_cast<std::int64_t>(first);
    for (std::size_t i = 0; i < begin; ++i) {
        window.first_base += tokenizer.piece_length(pieces[i]);
    }
    window.ids.reserve(count + 2);
    window.ids.push_back(tokenizer.special_ids().cls);
    const auto from = pieces.begin() + static_cast<std::ptrdiff_t>(begin);
    window.ids.insert(window.ids.end(), from, from + static_cast<std::ptrdiff_t>(count));
    window.ids.push_back(tokenizer.special_ids().sep);
    return window;
}

void mark_anchor(EncodedWindow& window, const tokenizer::DnaTokenizer& tokenizer, std::int64_t begin,
                 std::int64_t end) {
    if (window.all_n()) return;
    const auto pieces = static_cast<std::int32_t>(window.ids.size()) - 2;  // without [CLS] and [SEP]
    std::int32_t first = pieces, last = 0;                                 // of the pieces, [first, last)
    std::int64_t base = window.first_base;
    for (std::int32_t piece = 0; piece < pieces; ++piece) {
        const std::int64_t next =
            base + tokenizer.piece_length(window.ids[static_cast<std::size_t>(piece) + 1]);
        if (base < end && next > begin) {
            first = std::min(first, piece);
            last = piece + 1;
        }
        base = next;
    }
    if (first >= last) {  // nothing of the anchor is left
        first = begin >= base ? pieces - 1 : 0;
        last = first + 1;
    }
    window.marked_begin = first + 1;
    window.marked_end = last + 1;
}

}  // namespace bigbird::task_models
