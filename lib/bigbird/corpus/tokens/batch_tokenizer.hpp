// SPDX-License-Identifier: Apache-2.0
// Documents in, token ids out, in the order in which the documents came.
#pragma once

#include "bigbird/corpus/documents/document_reader.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace bigbird::corpus {

/// Where tokenised sentences go; called in order, on the thread that calls the tokenizer.
struct TokenSink {
    std::function<void(std::span<const std::int32_t> ids, std::int64_t bases)> sentence;
    std::function<void()> document_end;
};

/// Takes documents one by one and tokenises them a few megabases at a time on up to `threads` threads; what
/// comes out does not depend on their number. Each sentence is encoded by itself. One calling thread.
class BatchTokenizer {
public:
    /// `tokenizer` must outlive this.
    BatchTokenizer(const tokenizer::DnaTokenizer& tokenizer, int threads, TokenSink sink);

    /// Throws what the sink throws, and Stopped.
    void add(Document&& document);
    /// Hands on what is left. Call it after the last document.
    void finish();

private:
    const tokenizer::DnaTokenizer& tokenizer_;
    int threads_;
    TokenSink sink_;
    std::vector<Document> batch_;
    std::int64_t bases_ = 0;  // of the batch
};

}  // namespace bigbird::corpus
