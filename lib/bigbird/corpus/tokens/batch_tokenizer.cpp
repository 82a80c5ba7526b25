// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/tokens/batch_tokenizer.hpp"

#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/parallel.hpp"

#include <string>
#include <utility>

namespace bigbird::corpus {

namespace {
constexpr std::int64_t bases_a_batch = 8'000'000;
}  // namespace

BatchTokenizer::BatchTokenizer(const tokenizer::DnaTokenizer& tokenizer, int threads, TokenSink sink)
    : tokenizer_(tokenizer), threads_(threads), sink_(std::move(sink)) {}

void BatchTokenizer::add(Document&& document) {
    for (const std::string& sentence : document.sentences) {
        bases_ += static_cast<std::int64_t>(sentence.size());
    }
    batch_.push_back(std::move(document));
    if (bases_ >= bases_a_batch) {
        finish();
    }
}

void BatchTokenizer::finish() {
    stop_if_asked();
    std::vector<std::vector<std::vector<std::int32_t>>> ids(batch_.size());  // (documents, sentences, tokens)
    parallel_for(static_cast<std::int64_t>(batch_.size()), threads_, [&](std::int64_t i) {
        const auto at = static_cast<std::size_t>(i);
        for (const std::string& sentence : batch_[at].sentences) {
            ids[at].push_back(tokenizer_.encode(sentence));
        }
    });
    for (std::size_t d = 0; d < batch_.size(); ++d) {
        for (std::size_t s = 0; s < ids[d].size(); ++s) {
            sink_.sentence(ids[d][s], static_cast<std::int64_t>(batch_[d].sentences[s].size()));
        }
        sink_.document_end();
    }
    batch_.clear();
    bases_ = 0;
}

}  // namespace bigbird::corpus
