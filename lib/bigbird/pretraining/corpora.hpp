// SPDX-License-Identifier: Apache-2.0
// The corpora that pretraining reads: chosen by options, held out, and shared among the processes of a
// machine.
#pragma once

#include "bigbird/corpus/documents/document_reader.hpp"
#include "bigbird/corpus/tokens/token_corpus.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/pretraining/specs/pretrain_spec.hpp"
#include "bigbird/training/ranks/ranks.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

namespace bigbird::pretraining {

// Shares one tokenized corpus among all processes of a machine.

/// The first process of each machine writes the source's corpus as token shards into a new folder under
/// TMPDIR. All processes of the machine map them, so that the tokens are in memory once. The folder is
/// removed as soon as all have mapped it; a killed process' folder is removed when the next one is made.
/// Collective: all ranks call it. Throws what the source throws, ConfigError and WriteError if TMPDIR cannot
/// hold the corpus, InputError where it holds no sequence.
corpus::TokenCorpus share_corpus(training::Ranks& ranks, const tokenizer::DnaTokenizer& tokenizer,
                                 int threads, const corpus::TokenSource& source);

/// Documents of a file, tokenized on `threads` threads. `genome` is for documents of coordinates. Throws
/// InputError, also where there is no sequence.
corpus::TokenCorpus read_documents(const std::filesystem::path& documents,
                                   const genome::ReferenceGenome* genome,
                                   const tokenizer::DnaTokenizer& tokenizer, int threads,
                                   corpus::Fasta fasta = corpus::Fasta::refuse);

/// Warns if the tokenizer was trained on most of the held-out sequence (TextSketch).
void warn_of_pieces(const tokenizer::DnaTokenizer& tokenizer, const corpus::TokenCorpus& held_out);

/// Tokenized documents, created only if training is not complete yet.
struct PretrainCorpora {
    std::function<corpus::TokenCorpus()> train;
    std::function<corpus::TokenCorpus()> held_out;  ///< null: none
};

/// Token shards, documents of a file, or documents drawn from the genome. Reads only headers until a corpus
/// is requested. Use it from one thread.
class Corpora {
public:
    /// `seed` draws the documents. Throws ConfigError if options are missing or exclude each other,
    /// InputError.
    Corpora(CorporaSpec spec, std::uint64_t seed);

    const tokenizer::DnaTokenizer& tokenizer() const { return tokenizer_; }
    /// Checksums and parameters of the inputs that affect the result, by option.
    Json fixed_options() const;
    /// Returns corpora that are read when called; they refer to this object. Several ranks tokenize once per
    /// machine, on `threads` threads; without ranks only this process does.
    PretrainCorpora on_demand(const std::shared_ptr<training::Ranks>& ranks, int threads);

private:
    const genome::ReferenceGenome* genome();
    corpus::TokenCorpus shards(const std::filesystem::path& directory) const;
    /// Documents drawn from the held-out regions, or from all others.
    corpus::BuildSpec documents_to_draw(bool held_out);
    /// The corpus to evaluate on, or to train on.
    corpus::TokenCorpus read(bool held_out, training::Ranks& ranks, int threads);

    CorporaSpec spec_;
    std::uint64_t seed_;
    tokenizer::DnaTokenizer tokenizer_;
    std::unique_ptr<genome::ReferenceGenome> genome_;
};

}  // namespace bigbird::pretraining
