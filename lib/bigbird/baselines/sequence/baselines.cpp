// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/sequence/baselines.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/statistics/bootstrap_interval.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace bigbird::baselines {

namespace {

constexpr int longest_ngram = 6, longest_reach = 6;

void check(const std::vector<int>& values, int low, int high, const char* what) {
    for (const int value : values) {
        if (value < low || value > high) {
            throw ConfigError(std::string(what) + " must lie between " + std::to_string(low) + " and " +
                              std::to_string(high));
        }
    }
}

/// Calls visit(ids) with each document.
template <typename Visit>
void for_each_document(const corpus::TokenCorpus& corpus, Visit visit) {
    std::int64_t begin = 0;
    std::vector<std::int32_t> ids;
    for (const std::int64_t sentence : corpus.document_ends()) {
        stop_if_asked();
        const std::int64_t end = corpus.sentence_ends()[static_cast<std::size_t>(sentence - 1)];
        ids.clear();
        corpus.append_ids(begin, end, ids);
        visit(ids);
        begin = end;
    }
}

}  // namespace

void BaselineSpec::validate() const {
    check(orders, 0, highest_order, "orders of Markov chains");
    check(ngrams, 1, longest_ngram, "lengths of n-grams");
    check(two_sided, 0, longest_reach, "reaches of two-sided models");
}

Baselines::Baselines(const BaselineSpec& spec, tokenizer::DnaTokenizer tokenizer)
    : spec_(spec),
      tokenizer_(std::move(tokenizer)),
      scores_(spec.orders.size() + spec.ngrams.size() + spec.two_sided.size()) {
    spec_.validate();
    if (!spec_.orders.empty()) markov_.emplace(std::ranges::max(spec_.orders));
    for (const int n : spec_.ngrams)
        ngrams_.emplace_back(tokenizer_, n);
    if (!spec_.two_sided.empty()) two_sided_.emplace(std::ranges::max(spec_.two_sided));
}

void Baselines::train(const corpus::TokenCorpus& corpus) {
    for_each_document(
        corpus,
        [&](const std::vector<std::int32_t>& ids) {
            if (markov_) markov_->add(tokenizer_.decode(ids));
            for (TokenNgram& model : ngrams_)
                model.add(ids);
            if (two_sided_) two_sided_->add(tokenizer_.decode(ids));
        });
}

void Baselines::score(const corpus::TokenCorpus& corpus) {
    for_each_document(
        corpus,
        [&](const std::vector<std::int32_t>& ids) {
            std::size_t row = 0;
            const auto add = [&](const auto& model, const std::vector<int>& chosen) {
                if (!model) return;
                const std::vector<CodeLength> lengths = model->score_all(tokenizer_.decode(ids));
                for (const int length : chosen)
                    scores_[row++].push_back(lengths[static_cast<std::size_t>(length)]);
            };
            add(markov_, spec_.orders);
            for (const TokenNgram& model : ngrams_)
                scores_[row++].push_back(model.score(ids));
            add(two_sided_, spec_.two_sided);
        });
}

Json Baselines::to_json(std::uint64_t seed) const {
    Json json = Json::object(), table = Json::array();
    if (scores_.empty()) return json;
    std::size_t row = 0;
    double bases = 0;
    const auto add = [&](const std::string& key, const std::string& name) {
        std::vector<Share> shares;
        for (const CodeLength& length : scores_[row++])
            shares.push_back({length.bits, static_cast<double>(length.bases)});
        const Share all = sum_of(shares);
        const auto [low, high] = bootstrap_interval(shares, seed);
        bases = all.of;
        json[key] = all.value();
        table.push_back(Json{{"name", name},
                             {"bits_per_character", all.value()},
                             {"bits_per_character_interval", {low, high}}});
    };
    for (const int order : spec_.orders)
        add("markov_order_" + std::to_string(order), "Markov, order " + std::to_string(order));
    for (const int n : spec_.ngrams)
        add("token_" + std::to_string(n) + "_gram", std::to_string(n) + "-gram of tokens");
    for (const int reach : spec_.two_sided)
        add("two_sided_" + std::to_string(reach), std::to_string(reach) + " bases on either side");
    json["baseline_bases"] = static_cast<std::int64_t>(bases);
    json["baselines"] = std::move(table);
    return json;
}

}  // namespace bigbird::baselines
