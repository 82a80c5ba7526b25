// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/files.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/corpus/documents/document_builder.hpp"
#include "bigbird/genome/text/text_output.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace bigbird::corpus {

enum class DocumentForm {
    text,         ///< one sentence per line, a blank line between documents
    coordinates,  ///< BED6: contig, start, end, document (from 0), sentence (from 0), strand; # lines say
                  ///< version and parameters
};

/// Writes what DocumentReader reads; the file appears complete at commit(). bgzip by suffix. Not thread-safe.
class DocumentWriter {
public:
    DocumentWriter(const std::filesystem::path& path, DocumentForm form, const BuildSpec& spec,
                   Overwrite overwrite, int threads);
    /// Text needs documents with text.
    void write(const PlacedDocument& document);
    /// See genome::TextOutput.
    PendingOutput* finish() { return output_.finish(); }
    void commit() { output_.commit(); }
    /// The lines before the rows of coordinates.
    static std::string coordinates_header(const BuildSpec& spec);

private:
    genome::TextOutput output_;
    DocumentForm form_;
    std::int64_t documents_ = 0;
};

/// The inputs of documents, as given on the command line.
struct DocumentInputs {
    std::vector<std::filesystem::path> references;
    std::vector<std::string> include, exclude;  ///< contigs, regions, BED files
};

/// {"sha256": ...} of a file (null for a pipe), {"region": ...} of anything else.
Json region_provenance(const std::string& text);

/// The manifest of inputs and outputs (FORMAT.md). No paths, threads or dates.
Json document_manifest(DocumentForm form, const BuildSpec& spec, const BuildCounts& counts,
                       const DocumentInputs& inputs);

/// What build_documents would write, computed only from contig lengths.
struct Forecast {
    BuildCounts counts;  ///< too_much_n is 0, because sequence is not read; the real counts may be lower
    std::int64_t contigs = 0, genome_bases = 0, text_bytes = 0, coordinate_bytes = 0;  ///< uncompressed
};

/// `lengths` may come from open_contig_lengths. Exact, except for sentences that are mostly N. Throws
/// ConfigError from spec.validate().
Forecast forecast_documents(const genome::ReferenceGenome& lengths, const BuildSpec& spec, int threads);

/// For people: "key value" lines, with the paper's number for comparison.
std::string describe(const Forecast& forecast, const BuildSpec& spec);

}  // namespace bigbird::corpus
