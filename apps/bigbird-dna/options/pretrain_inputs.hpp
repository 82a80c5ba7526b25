// SPDX-License-Identifier: Apache-2.0
// What pretrain reads, and the library's specification of its options; only for bigbird-dna-tensors.
#pragma once

#include "commands/pretrain.hpp"

#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/pretraining/pretrain.hpp"

#include <filesystem>
#include <memory>

namespace bigbird::cli {

/// All but the inputs' checksums and what the device decides.
pretraining::PretrainSpec pretrain_spec(const PretrainOptions& options);

/// Token shards, documents of a file, or documents drawn from the genome. Nothing but headers is read before
/// corpora() is asked.
class PretrainInputs {
public:
    /// `options` must outlive it. Throws ConfigError where options lack or exclude each other, InputError.
    explicit PretrainInputs(const PretrainOptions& options);

    const tokenizer::DnaTokenizer& tokenizer() const { return tokenizer_; }
    /// Checksums and parameters of what decides the result, by option.
    Json fixed_options() const;
    /// Refers to this. Several ranks tokenise once a machine, on `threads` threads.
    pretraining::PretrainCorpora corpora(const std::shared_ptr<training::Ranks>& ranks, int threads);

private:
    const genome::ReferenceGenome* genome();
    corpus::TokenCorpus read(const std::filesystem::path& documents, training::Ranks& ranks, int threads);
    corpus::TokenCorpus shards(const std::filesystem::path& directory) const;
    /// Documents drawn from what is held out, or from all the rest.
    corpus::TokenCorpus draw(bool held_out, training::Ranks& ranks, int threads);
    corpus::BuildSpec documents_to_draw(bool held_out);
    bool draws() const { return options_.corpus.empty() && options_.documents.empty(); }
    void check() const;

    const PretrainOptions& options_;
    tokenizer::DnaTokenizer tokenizer_;
    std::unique_ptr<genome::ReferenceGenome> genome_;
};

}  // namespace bigbird::cli
