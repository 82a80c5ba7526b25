// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/example_stream.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/corpus/permutation.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace bigbird::corpus {

namespace special = tokenizer::special;

namespace {

constexpr std::int32_t shortest_sequence = 8;
constexpr std::int64_t smallest_part = 8;  // of a window
constexpr int draws_for_a_long_document = 8;

// The document or sentence whose range holds `position`, given the ends of all.
std::int64_t index_of(std::span<const std::int64_t> ends, std::int64_t position) {
    return std::upper_bound(ends.begin(), ends.end(), position) - ends.begin();
}

void check_share(double value, const std::string& what) {
    if (!(value >= 0 && value <= 1)) {
        throw ConfigError(what + " must lie between 0 and 1");
    }
}

}  // namespace

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
    : corpus_(std::move(corpus)), tokenizer_(std::move(tokenizer)), spec_(spec) {
    spec_.validate();
    room_ = spec_.sequence_length - (spec_.nsp ? 3 : 2);
    for (std::int64_t document = 0; document < corpus_.documents(); ++document) {
        const std::int64_t tokens = document_tokens(document).size();
        const bool can_be_cut = tokens >= (spec_.nsp ? 2 : 1);
        window_ends_.push_back(windows() + (can_be_cut ? (tokens + room_ - 1) / room_ : 0));
    }
    if (windows() == 0) {
        throw InputError("the corpus holds no document to train on");
    }
    if (spec_.nsp && corpus_.documents() < 2) {
        throw InputError(
            "next-sentence prediction needs two documents or more, and the corpus holds one; give more "
            "sequence or turn it off");
    }
    for (std::int32_t id = 0; id < tokenizer_.vocab_size(); ++id) {
        plain_.push_back(id >= special::count && !tokenizer_.has_n(id));
        if (plain_.back()) {
            plain_pieces_.push_back(id);
        }
    }
}

std::int64_t ExampleSource::epoch_size() const {
    return windows() * (spec_.nsp ? 2 : 1);
}

ExampleSource::Run ExampleSource::document_tokens(std::int64_t document) const {
    const std::int64_t last_sentence = corpus_.document_ends()[static_cast<std::size_t>(document)] - 1;
    return {document, corpus_.sentence_begin(corpus_.document_begin(document)),
            corpus_.sentence_ends()[static_cast<std::size_t>(last_sentence)]};
}

// Windows stand room_ apart from a start that is drawn before the document's own, so far that the last one
// reaches its end; those that hang over an end are pushed inside. Thus neighbours never leave a gap.
ExampleSource::Run ExampleSource::window(std::int64_t number, std::int64_t epoch) const {
    const std::int64_t document = index_of(window_ends_, number);
    const std::int64_t first = document == 0 ? 0 : window_ends_[static_cast<std::size_t>(document - 1)];
    const std::int64_t count = window_ends_[static_cast<std::size_t>(document)] - first;
    const Run tokens = document_tokens(document);
    const std::int64_t slack = count * room_ - tokens.size();
    Rng rng = Rng(spec_.seed)
                  .split("windows")
                  .split(static_cast<std::uint64_t>(epoch))
                  .split(static_cast<std::uint64_t>(document));
    const std::int64_t start = (number - first) * room_ - rng.between(0, slack);
    const std::int64_t begin =
        tokens.begin + std::clamp<std::int64_t>(start, 0, std::max<std::int64_t>(0, tokens.size() - room_));
    return {document, begin, std::min(begin + room_, tokens.end)};
}

// A sentence's end that leaves enough on both sides for the two to be told apart or together, or any such
// token.
std::int64_t ExampleSource::draw_cut(const Run& window, Rng& rng) const {
    const std::int64_t least = std::max<std::int64_t>(1, window.size() / smallest_part);
    const std::int64_t low = window.begin + least, high = window.end - least;
    const auto ends = corpus_.sentence_ends();
    const std::int64_t first = std::lower_bound(ends.begin(), ends.end(), low) - ends.begin();
    const std::int64_t after = index_of(ends, high);
    return first < after ? ends[static_cast<std::size_t>(rng.between(first, after - 1))]
                         : rng.between(low, high);
}

// Begins where a sentence begins, or anywhere where the true continuation does so too (`inside`), drawn from
// all documents but one; before that where its document ends too soon.
ExampleSource::Run ExampleSource::draw_elsewhere(std::int64_t document, std::int64_t tokens, bool inside,
                                                 Rng& rng) const {
    const std::int64_t own_first = corpus_.document_begin(document);
    const std::int64_t own_count = corpus_.document_ends()[static_cast<std::size_t>(document)] - own_first;
    Run best;
    for (int draw = 0; draw < draws_for_a_long_document && best.size() < tokens; ++draw) {
        std::int64_t sentence = rng.between(0, corpus_.sentences() - own_count - 1);
        sentence += sentence >= own_first ? own_count : 0;
        const Run other = document_tokens(index_of(corpus_.document_ends(), sentence));
        const std::int64_t latest = std::max(other.begin, other.end - tokens);
        std::int64_t begin = corpus_.sentence_begin(sentence);
        if (inside) {
            begin = rng.between(begin, corpus_.sentence_ends()[static_cast<std::size_t>(sentence)] - 1);
            begin = std::min(begin, latest);
        } else if (begin > latest) {
            begin = corpus_.sentence_begin(index_of(corpus_.sentence_ends(), latest));
        }
        const Run found{other.document, begin, std::min(begin + tokens, other.end)};
        best = found.size() > best.size() ? found : best;
    }
    return best;
}

void ExampleSource::mask(Example& example, Rng& rng) const {
    std::vector<std::int32_t> candidates;
    for (std::size_t i = 0; i < example.ids.size(); ++i) {
        if (plain_[static_cast<std::size_t>(example.ids[i])]) {
            candidates.push_back(static_cast<std::int32_t>(i));
        }
    }
    const auto wanted =
        static_cast<std::size_t>(std::llround(spec_.masking.rate * static_cast<double>(candidates.size())));
    const std::size_t count =
        spec_.masking.rate > 0 ? std::min(candidates.size(), std::max<std::size_t>(1, wanted)) : 0;
    for (std::size_t i = 0; i < count; ++i) {
        const auto other =
            rng.between(static_cast<std::int64_t>(i), static_cast<std::int64_t>(candidates.size()) - 1);
        std::swap(candidates[i], candidates[static_cast<std::size_t>(other)]);
    }
    candidates.resize(count);
    std::sort(candidates.begin(), candidates.end());
    for (const std::int32_t position : candidates) {
        std::int32_t& id = example.ids[static_cast<std::size_t>(position)];
        example.masked_labels.push_back(id);
        const double fate = rng.uniform();
        if (fate < spec_.masking.mask) {
            id = special::mask;
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
    example.ids.reserve(static_cast<std::size_t>(spec_.sequence_length));
    example.ids.push_back(special::cls);
    if (spec_.nsp) {
        example.next_sentence = slot < windows() ? 0 : 1;
        const std::int64_t cut = draw_cut(whole, rng);
        corpus_.append_ids(whole.begin, cut, example.ids);
        example.ids.push_back(special::sep);
        example.types.assign(example.ids.size(), 0);
        Run second{whole.document, cut, whole.end};
        if (example.next_sentence ==
            1) {  // as long as the true continuation, so that the length tells nothing
            const bool inside =
                !std::binary_search(corpus_.sentence_ends().begin(), corpus_.sentence_ends().end(), cut);
            second = draw_elsewhere(whole.document, second.size(), inside, rng);
        }
        corpus_.append_ids(second.begin, second.end, example.ids);
    } else {
        corpus_.append_ids(whole.begin, whole.end, example.ids);
    }
    example.ids.push_back(special::sep);
    example.types.resize(example.ids.size(), spec_.nsp ? 1 : 0);
    mask(example, rng);
    return example;
}

double ExampleSource::padding_share() const {
    std::int64_t padding = 0, previous = 0;
    for (std::int64_t document = 0; document < corpus_.documents(); ++document) {
        const std::int64_t end = window_ends_[static_cast<std::size_t>(document)];
        padding += end > previous ? std::max<std::int64_t>(0, room_ - document_tokens(document).size()) : 0;
        previous = end;
    }
    return static_cast<double>(padding) / (static_cast<double>(windows()) * spec_.sequence_length);
}

}  // namespace bigbird::corpus
