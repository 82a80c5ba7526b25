// SPDX-License-Identifier: Apache-2.0
// What a tokenizer is trained on: documents, or a genome directly.
#pragma once

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/corpus/documents/document_reader.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/tokenizer/train/train.hpp"

#include <cstdint>

namespace bigbird::corpus {

/// Every sentence of the documents.
void add_documents(tokenizer::TokenizerTrainer& trainer, DocumentReader& documents);

/// Sentences as build_documents cuts them in one pass with the paper's lengths; mostly-N ones left out.
void add_genome(tokenizer::TokenizerTrainer& trainer, const genome::ReferenceGenome& genome,
                std::uint64_t seed, int threads);

/// {"made_by", "engine", "overlaps", the spec, "sentences", "bases", "measured_bases", "tokens",
/// "bases_per_token"};
/// tokens are those of measured_bases.
Json report_json(const tokenizer::TrainSpec& spec, const tokenizer::TrainReport& report);

}  // namespace bigbird::corpus
