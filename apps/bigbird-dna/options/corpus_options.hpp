// SPDX-License-Identifier: Apache-2.0
// Options of documents and tokens.
#pragma once

#include "bigbird/corpus/documents/document_builder.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <string>

namespace bigbird::cli {

/// --include and --exclude of documents.
void add_region_options(CLI::App& command, corpus::DrawingSpec& drawing);
/// How documents are drawn from a genome (appendix F.1): --passes, --sentences, --sentence-length,
/// --start-offset, those of add_region_options(), --reverse-complement, --max-n-fraction.
void add_document_options(CLI::App& command, corpus::DrawingSpec& drawing);

/// Moves the value of an option for documents to that for token shards, where it is a folder.
void take_shards(std::filesystem::path& documents, std::filesystem::path& corpus);

/// --tokenizer, which `what` describes: what a network reads.
void add_input_options(CLI::App& command, tokenizer::InputSpec& input, const std::string& what);

}  // namespace bigbird::cli
