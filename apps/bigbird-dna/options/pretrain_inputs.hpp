// SPDX-License-Identifier: Apache-2.0
// What pretrain reads, and the library's specification of its options; only for bigbird-dna-tensors.
#pragma once

#include "commands/pretrain.hpp"

#include "bigbird/genome/reference_genome.hpp"
#include "bigbird/train/pretrain.hpp"

#include <filesystem>
#include <memory>

namespace bigbird::cli {

/// All but the inputs' checksums and what the device decides.
train::PretrainSpec pretrain_spec(const PretrainOptions& options);

/// The documents: read from a file, or drawn from the genome. Nothing but headers is read before corpora() is
/// asked.
class PretrainInputs {
public:
    /// `options` must outlive it. Throws ConfigError where there is neither --documents nor --reference,
    /// InputError.
    explicit PretrainInputs(const PretrainOptions& options);

    const tokenizer::DnaTokenizer& tokenizer() const { return tokenizer_; }
    /// Checksums and parameters of what decides the result, by option.
    Json fixed_options() const;
    /// Refers to this.
    train::PretrainCorpora corpora(int threads);

private:
    const genome::ReferenceGenome* genome();
    corpus::TokenCorpus read(const std::filesystem::path& documents, int threads);

    const PretrainOptions& options_;
    tokenizer::DnaTokenizer tokenizer_;
    std::unique_ptr<genome::ReferenceGenome> genome_;
};

}  // namespace bigbird::cli
