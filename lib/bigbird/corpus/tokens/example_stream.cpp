// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/tokens/example_stream.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace bigbird::corpus {

namespace {

constexpr std::uint64_t rounds = 6;  // of the cipher
constexpr std::int32_t shortest_sequence = 8;
constexpr std::int64_t smallest_part = 8;  // of a window
constexpr int draws_for_a_long_stretch = 8;

// The document or sentence whose range holds `position`, given the ends of all.
std::int64_t index_of(std::span<const std::int64_t> ends, std::int64_t position) {
    return std::upper_bound(ends.begin(), ends.end(), position) - ends.begin();
}

void check_share(double value, const std::string& what) {
    if (!(value >= 0 && value <= 1)) throw ConfigError(what + " must lie between 0 and 1");
}

/// Keeps `count` of the candidates, ascending.
void choose_tokens(std::vector<std::int32_t>& candidates, std::size_t count, Rng& rng) {
    draw_to_front(candidates, count, rng);
    candidates.resize(count);
    std::sort(candidates.begin(), candidates.end());
}

}  // namespace

Permutation::Permutation(std::int64_t size, std::uint64_t key) : size_(size), key_(key) {
    BIGBIRD_EXPECTS(size >= 1, "a permutation needs at least one entry");
    while ((std::int64_t{1} << (2 * half_bits_)) < size)
        ++half_bits_;
}

std::int64_t Permutation::operator()(std::int64_t index) const {
    BIGBIRD_EXPECTS(index >= 0 && index < size_, "outside the permutation");
    const std::uint64_t half_mask = (std::uint64_t{1} << half_bits_) - 1;
    auto value = static_cast<std::uint64_t>(index);
    do {
        std::uint64_t left = value >> half_bits_, right = value & half_mask;
        for (std::uint64_t round = 0; round < rounds; ++round) {
            const std::uint64_t mixed = Rng(key_ ^ (right * rounds + round)).next() & half_mask;
            const std::uint64_t swapped = left ^ mixed;
            left = right;
            right = swapped;
        }
        value = (left << half_bits_) | right;
    } while (value >= static_cast<std::uint64_t>(size_));
    return static_cast<std::int64_t>(value);
}

void ExampleSpec::validate() const {
    if (sequence_length < shortest_sequence) {
        throw ConfigError("the sequence length must be at least " + std::to_string(shortest_sequence) +
                          " tokens");
    }
    check_share(masking.rate, "the share of tokens to mask");
    check_share(masking.mask, "the share of chosen tokens that become [MASK]");
    check_share(masking.random, "the share of chosen tokens that become random");
    check_share(masking.mask + masking.random, "the shares of [MASK] and of random tokens together");
}

ExampleSource::ExampleSource(TokenCorpus corpus, tokenizer::DnaTokenizer tokenizer, ExampleSpec spec)
    : corpus_(std::move(corpus)),
      tokenizer_(std::move(tokenizer)),
      special_(tokenizer_.special_ids()),
      spec_(spec) {
    spec_.validate();
    tokenizer_.require_special_pieces();
    room_ = spec_.sequence_length - tokenizer_.frame() - (spec_.nsp ? 1 : 0);
    pack(room_);
    if (spec_.nsp && stretches() < 2)
        pack(1);  // too little for two full windows: padding is better than no pairs
    for (std::int64_t stretch = 0; stretch < stretches(); ++stretch) {
        const std::int64_t tokens = stretch_tokens(stretch).size();
        const bool can_be_cut = tokens >= (spec_.nsp ? 2 : 1);
        window_ends_.push_back(windows() + (can_be_cut ? (tokens + room_ - 1) / room_ : 0));
    }
    if (windows() == 0) {
        throw InputError(spec_.nsp ? "the corpus holds no document of two tokens or more"
                                   : "the corpus holds no document");
    }
    if (spec_.nsp && stretches() < 2) {
        throw InputError(
            "next-sentence prediction needs two documents or more, and the corpus holds one; give more "
            "sequence or turn it off");
    }
    for (std::int32_t id = 0; id < tokenizer_.vocab_size(); ++id) {
        plain_.push_back(tokenizer_.piece_length(id) > 0 && !tokenizer_.has_n(id));
        if (plain_.back()) plain_pieces_.push_back(id);
    }
}

// The remainder at the end goes to the previous stretch.
void ExampleSource::pack(std::int64_t least) {
    stretch_ends_.clear();
    std::int64_t begin = 0;  // tokens
    for (const std::int64_t end_sentence : corpus_.document_ends()) {
        const std::int64_t end = corpus_.sentence_ends()[static_cast<std::size_t>(end_sentence - 1)];
        if (end - begin >= least) {
            stretch_ends_.push_back(end_sentence);
            begin = end;
        }
    }
    if (corpus_.tokens() > begin) {
        if (stretch_ends_.empty()) stretch_ends_.push_back(0);
        stretch_ends_.back() = corpus_.sentences();
    }
}

ExampleSource::Run ExampleSource::stretch_tokens(std::int64_t stretch) const {
    const auto at = static_cast<std::size_t>(stretch);
    const std::int64_t first = stretch == 0 ? 0 : stretch_ends_[at - 1];
    return {stretch, corpus_.sentence_begin(first),
            corpus_.sentence_ends()[static_cast<std::size_t>(stretch_ends_[at] - 1)]};
}

// Windows are room_ tokens apart. The start of the first is drawn before the stretch's start, so that the
// last window reaches the stretch's end; windows that extend beyond an end are moved inside. So there are no
// gaps between windows.
ExampleSource::Run ExampleSource::window(std::int64_t number, std::int64_t epoch) const {
    const std::int64_t stretch = index_of(window_ends_, number);
    const std::int64_t first = stretch == 0 ? 0 : window_ends_[static_cast<std::size_t>(stretch - 1)];
    const std::int64_t count = window_ends_[static_cast<std::size_t>(stretch)] - first;
    const Run tokens = stretch_tokens(stretch);
    const std::int64_t slack = count * room_ - tokens.size();
    Rng rng = Rng(spec_.seed)
                  .split("windows")
                  .split(static_cast<std::uint64_t>(epoch))
                  .split(static_cast<std::uint64_t>(stretch));
    const std::int64_t start = (number - first) * room_ - rng.between(0, slack);
    const std::int64_t begin =
        tokens.begin + std::clamp<std::int64_t>(start, 0, std::max<std::int64_t>(0, tokens.size() - room_));
    return {stretch, begin, std::min(begin + room_, tokens.end)};
}

// A sentence's end, or else any token, that leaves enough on both sides to judge whether they belong
// together.
std::int64_t ExampleSource::draw_cut(const Run& window, Rng& rng) const {
    const std::int64_t least = std::max<std::int64_t>(1, window.size() / smallest_part);
    const std::int64_t low = window.begin + least, high = window.end - least;
    const auto ends = corpus_.sentence_ends();
    const std::int64_t first = std::lower_bound(ends.begin(), ends.end(), low) - ends.begin();
    const std::int64_t after = index_of(ends, high);
    return first < after ? ends[static_cast<std::size_t>(rng.between(first, after - 1))]
                         : rng.between(low, high);
}

// Draws a run of tokens from any stretch except one. It begins at the start of a sentence, or anywhere if the
// true continuation also begins inside a sentence (`inside`). If the stretch ends too soon, the run begins
// earlier.
ExampleSource::Run ExampleSource::draw_elsewhere(std::int64_t stretch, std::int64_t tokens, bool inside,
                                                 Rng& rng) const {
    const std::int64_t own_first = stretch == 0 ? 0 : stretch_ends_[static_cast<std::size_t>(stretch - 1)];
    const std::int64_t own_count = stretch_ends_[static_cast<std::size_t>(stretch)] - own_first;
    Run best;
    for (int draw = 0; draw < draws_for_a_long_stretch && best.size() < tokens; ++draw) {
        std::int64_t sentence = rng.between(0, corpus_.sentences() - own_count - 1);
        sentence += sentence >= own_first ? own_count : 0;
        const Run other = stretch_tokens(index_of(stretch_ends_, sentence));
        const std::int64_t latest = std::max(other.begin, other.end - tokens);
        std::int64_t begin = corpus_.sentence_begin(sentence);
        if (inside) {
            begin = rng.between(begin, corpus_.sentence_ends()[static_cast<std::size_t>(sentence)] - 1);
            begin = std::min(begin, latest);
        } else if (begin > latest) {
            begin = corpus_.sentence_begin(index_of(corpus_.sentence_ends(), latest));
        }
        const Run found{other.stretch, begin, std::min(begin + tokens, other.end)};
        best = found.size() > best.size() ? found : best;
    }
    return best;
}

void ExampleSource::mask(Example& example, Rng& rng) const {
    std::vector<std::int32_t> candidates;
    for (std::size_t i = 0; i < example.ids.size(); ++i)
        if (plain_[static_cast<std::size_t>(example.ids[i])])
            candidates.push_back(static_cast<std::int32_t>(i));
    const auto wanted =
        static_cast<std::size_t>(std::llround(spec_.masking.rate * static_cast<double>(candidates.size())));
    const std::size_t count =
        spec_.masking.rate > 0 ? std::min(candidates.size(), std::max<std::size_t>(1, wanted)) : 0;
    choose_tokens(candidates, count, rng);
    for (const std::int32_t position : candidates) {
        std::int32_t& id = example.ids[static_cast<std::size_t>(position)];
        example.masked_labels.push_back(id);
        const double fate = rng.uniform();
        if (fate < spec_.masking.mask) {
            id = special_.mask;
        } else if (fate < spec_.masking.mask + spec_.masking.random) {
            id = plain_pieces_[static_cast<std::size_t>(
                rng.between(0, static_cast<std::int64_t>(plain_pieces_.size()) - 1))];
        }
    }
    example.masked_positions = std::move(candidates);
}

Example ExampleSource::get(std::int64_t index) const {
    BIGBIRD_EXPECTS(index >= 0, "examples are numbered from 0");
    const std::int64_t epoch = index / epoch_size();
    const Permutation order(epoch_size(),
                            Rng(spec_.seed).split("order").split(static_cast<std::uint64_t>(epoch)).key());
    const std::int64_t slot = order(index % epoch_size());
    const Run whole = window(slot % windows(), epoch);
    Rng rng = Rng(spec_.seed).split("examples").split(static_cast<std::uint64_t>(index));

    Example example;
    Run second{whole.stretch, whole.end, whole.end};
    example.ids.reserve(static_cast<std::size_t>(spec_.sequence_length));
    example.ids.push_back(special_.cls);
    if (spec_.nsp) {
        example.next_sentence = slot < windows() ? 0 : 1;
        const std::int64_t cut = draw_cut(whole, rng);
        corpus_.append_marked(whole.begin, cut, example.ids);
        example.ids.push_back(special_.sep);
        example.types.assign(example.ids.size(), 0);
        second.begin = cut;
        if (example.next_sentence == 1) {  // as long as the true continuation, so that the length is no clue
            const bool inside =
                !std::binary_search(corpus_.sentence_ends().begin(), corpus_.sentence_ends().end(), cut);
            second = draw_elsewhere(whole.stretch, second.size(), inside, rng);
        }
        corpus_.append_marked(second.begin, second.end, example.ids);
    } else {
        corpus_.append_marked(whole.begin, whole.end, example.ids);
    }
    if (special_.sep >= 0) example.ids.push_back(special_.sep);
    example.types.resize(example.ids.size(), spec_.nsp ? 1 : 0);
    const std::int32_t vocabulary = tokenizer_.vocab_size();
    std::vector<bool> is_repeat;
    for (std::int32_t& id : example.ids) {
        is_repeat.push_back(id >= vocabulary);
        id %= vocabulary;
    }
    mask(example, rng);
    const std::int64_t behind =
        std::ssize(example.ids) + 1 - tokenizer_.frame() - second.size();  // the first token of the second
    for (const std::int32_t position : example.masked_positions) {
        example.masked_tokens.push_back(position < behind ? whole.begin + position - 1
                                                          : second.begin + position - behind);
        example.masked_repeats.push_back(is_repeat[static_cast<std::size_t>(position)] ? 1 : 0);
    }
    return example;
}

double ExampleSource::padding_share() const {
    std::int64_t padding = 0, previous = 0;
    for (std::int64_t stretch = 0; stretch < stretches(); ++stretch) {
        const std::int64_t end = window_ends_[static_cast<std::size_t>(stretch)];
        padding += end > previous ? std::max<std::int64_t>(0, room_ - stretch_tokens(stretch).size()) : 0;
        previous = end;
    }
    return static_cast<double>(padding) / (static_cast<double>(windows()) * spec_.sequence_length);
}

}  // namespace bigbird::corpus
