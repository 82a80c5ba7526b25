// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bigbird/genome/reference_genome.hpp"

namespace bigbird::corpus {

struct Document {
    std::vector<std::string> sentences;  ///< normalised sequence
};

/// Reads documents that build-documents wrote: text (one sentence a line, a blank line between documents; gz too) or coordinates (BED, with the
/// genome they point into). Throws InputError with file and line. Not thread-safe.
class DocumentReader {
public:
    explicit DocumentReader(const std::filesystem::path& path, const genome::ReferenceGenome* genome = nullptr);
    ~DocumentReader();
    std::optional<Document> next();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace bigbird::corpus
