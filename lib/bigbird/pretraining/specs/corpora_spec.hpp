// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/corpus/documents/document_builder.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace bigbird::pretraining {

/// The data for pretraining and for evaluation during it: token shards, documents in a file, or documents
/// drawn from the reference.
struct CorporaSpec {
    std::filesystem::path corpus = {}, documents = {};  ///< one of them, or none: drawn from the references
    tokenizer::InputSpec input = {};                    ///< without a tokenizer: the one in the corpus
    std::vector<std::filesystem::path> references = {};
    corpus::DrawingSpec drawing = {};
    std::vector<std::string> hold_out = {};  ///< for drawn documents: contigs, regions, BED files
    std::filesystem::path evaluate_corpus = {}, evaluate_documents = {};

    bool draws() const { return corpus.empty() && documents.empty(); }
    bool holds_out() const;
    /// Throws ConfigError if options are missing or exclude each other.
    void validate() const;
};

}  // namespace bigbird::pretraining
