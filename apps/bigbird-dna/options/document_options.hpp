// SPDX-License-Identifier: Apache-2.0
// How documents are drawn from a genome (appendix F.1), for every command that draws them.
#pragma once

#include "bigbird/corpus/documents/document_builder.hpp"

#include <CLI/CLI.hpp>

#include <filesystem>

namespace bigbird::cli {

/// --passes, --sentences, --sentence-length, --start-offset, --include, --exclude, --reverse-complement,
/// --max-n-fraction.
void add_document_options(CLI::App& command, corpus::DrawingSpec& drawing);

/// Moves the value of an option for documents to that for token shards, where it is a folder.
void take_shards(std::filesystem::path& documents, std::filesystem::path& corpus);

}  // namespace bigbird::cli
