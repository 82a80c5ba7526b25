// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/json_file.hpp"
#include "bigbird/corpus/document_reader.hpp"
#include "bigbird/corpus/markov.hpp"

#include <span>
#include <vector>

namespace bigbird::train {

/// Markov chains of several orders, beside whose bits a character those of a network stand. A document's
/// sentences follow one another, so the context runs on over their ends.
class MarkovBaselines {
public:
    /// Throws ConfigError naming --baseline-orders where one is out of range.
    explicit MarkovBaselines(std::span<const int> orders);

    /// Counts a document of the training corpus.
    void add(const corpus::Document& document);
    /// Adds the code length of a held-out document, given what was counted so far.
    void score(const corpus::Document& document);

    /// {"markov_order_0": bits a character, …, "markov_bases": bases scored}; empty without orders.
    Json to_json() const;

private:
    std::vector<corpus::MarkovModel> models_;
    std::vector<corpus::CodeLength> scores_;
};

}  // namespace bigbird::train
