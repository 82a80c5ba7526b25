// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/files.hpp"
#include "bigbird/tokenizer/text_sketch.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"
#include "bigbird/tokenizer/train/merges/learn_pieces.hpp"
#include "bigbird/tokenizer/train/training_corpus.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace bigbird::tokenizer {

struct TrainSpec {
    std::int32_t vocab_size = 32'000;    ///< including special tokens and letters
    std::int32_t max_piece_length = 16;  ///< bases
    std::int64_t max_memory =
        0;  ///< bytes; 0: as much as the corpus takes, else a seeded sample of sentences
    OverlapCounting overlaps = OverlapCounting::installed;
    std::uint64_t seed = 0;
    int threads = 1;
    /// Throws ConfigError naming the option that is out of range.
    void validate() const;
};

struct TrainReport {
    std::int64_t sentences = 0, bases = 0;  ///< trained on; N is not counted
    std::int64_t measured_bases = 0,
                 measured_tokens =
                     0;  ///< size of the corpus, or of an evenly spaced sample, encoded by the new model
    std::int32_t vocab_size = 0;
    OverlapCounting overlaps = OverlapCounting::every;  ///< as they were counted: every or alternate
    double bases_per_token() const {
        return measured_tokens > 0
                   ? static_cast<double>(measured_bases) / static_cast<double>(measured_tokens)
                   : 0;
    }
};

/// Memory for training on `bases` bases, in bytes, as measured with 32,000 tokens.
std::int64_t estimated_memory(std::int64_t bases);

/// Trains a SentencePiece BPE and writes `target` (.model) and, beside it, the same name ending in .vocab,
/// both atomically. Sentences are normalized and cut at runs of N (so that N burns no merges) and at 30,000
/// bases (SentencePiece's own trainer crashes on long ones). A letter that never occurs is added as a
/// sentence, so that A C G T N are always tokens. The result depends only on the spec (except its threads)
/// and on the sentences in their order. The pieces are those of SentencePiece's own trainer, found many times
/// faster and in a tenth of the memory. (If thousands of pairs are equally frequent, as in a corpus too small
/// for its vocabulary, that trainer is used. If it cannot be, because overlaps are counted differently or
/// because of --max-memory, this one warns.) Not thread-safe.
class TokenizerTrainer {
public:
    /// Throws ConfigError: from validate(), or for an output that exists or cannot be made. Nothing is
    /// written yet.
    TokenizerTrainer(const TrainSpec& spec, const std::filesystem::path& target, Overwrite overwrite);
    const TrainSpec& spec() const { return spec_; }
    void add(const std::string& sentence);
    /// Outputs to commit together with the model.
    using Companions = std::function<std::vector<PendingOutput*>(const TrainReport&, const DnaTokenizer&)>;
    /// Call it once, after all sentences. Throws InputError if the corpus is empty or gives fewer tokens than
    /// requested (the message has the number); then no file appears.
    TrainReport finish(const Companions& companions = {});

private:
    TrainSpec spec_;
    PendingOutput model_file_, vocab_file_;
    TrainingCorpus corpus_;
    TextSketch sketch_;
    std::int64_t seen_ = 0;
};

// What the trainer is made of.

/// Trains with the installed SentencePiece library: the readable, slow equivalent of learn_pieces(). Returns
/// the bytes of the .model. Runs in a child process, so no other thread may be running. Throws InputError
/// with the library's message, Stopped.
std::string train_with_sentencepiece(const TrainSpec& spec, const TrainingCorpus& corpus);

/// How the installed library counts (OverlapCounting).
OverlapCounting installed_counting();

/// The model that SentencePiece writes for these pieces and letters, byte for byte as 0.1.97 does.
SentencePieceModel assemble_model(const TrainSpec& spec, const std::vector<std::string>& pieces,
                                  const TrainingCorpus& corpus);

}  // namespace bigbird::tokenizer
