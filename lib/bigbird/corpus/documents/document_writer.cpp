// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/documents/document_writer.hpp"

#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/version.hpp"

#include <string>
#include <system_error>
#include <utility>

namespace bigbird::corpus {

DocumentWriter::DocumentWriter(const std::filesystem::path& path, DocumentForm form, const BuildSpec& spec,
                               Overwrite overwrite, int threads)
    : output_(path, overwrite, threads), form_(form) {
    if (form_ == DocumentForm::coordinates) {
        output_.write(coordinates_header(spec));
    }
}

std::string DocumentWriter::coordinates_header(const BuildSpec& spec) {
    return "# bigbird-dna " + std::string(version()) + " documents " + spec.parameters().dump() +
           "\n#contig\tstart\tend\tdocument\tsentence\tstrand\n";
}

void DocumentWriter::write(const PlacedDocument& document) {
    if (form_ == DocumentForm::text) {
        output_.write(documents_ > 0 ? "\n" : "");
        output_.write(document.text);
    } else {
        std::string rows;
        const std::string prefix = document.contig + '\t', number = '\t' + std::to_string(documents_) + '\t';
        const char* const strand = document.reverse ? "\t-\n" : "\t+\n";
        for (std::size_t i = 0; i < document.sentences.size(); ++i) {
            const auto& [begin, end] = document.sentences[i];
            rows += prefix + std::to_string(begin) + '\t' + std::to_string(end) + number + std::to_string(i) +
                    strand;
        }
        output_.write(rows);
    }
    ++documents_;
}

namespace {

// A pipe has been read by now and has no checksum.
Json checksum(const std::filesystem::path& path) {
    return std::filesystem::is_regular_file(path) ? Json(sha256_of_file(path)) : Json(nullptr);
}

}  // namespace

Json region_provenance(const std::string& text) {
    std::error_code ignored;
    return std::filesystem::exists(text, ignored) ? Json{{"sha256", checksum(text)}} : Json{{"region", text}};
}

Json document_manifest(DocumentForm form, const BuildSpec& spec, const BuildCounts& counts,
                       const DocumentInputs& inputs) {
    Json json;
    json["format"] = "bigbird-dna documents";
    json["format_version"] = 1;
    json["made_by"] = "bigbird-dna " + std::string(version());
    json["form"] = form == DocumentForm::text ? "text" : "bed";
    json["parameters"] = spec.parameters();
    Json& checksums = json["inputs"] = Json::array();
    for (const std::filesystem::path& reference : inputs.references) {
        checksums.push_back({{"role", "reference"}, {"sha256", checksum(genome::fasta_of(reference))}});
    }
    for (const auto& [role, texts] :
         {std::pair("include", inputs.include), std::pair("exclude", inputs.exclude)}) {
        for (const std::string& text : texts) {
            Json& entry = checksums.emplace_back(Json{{"role", role}});
            entry.update(region_provenance(text));
        }
    }
    json["documents"] = counts.documents;
    json["sentences"] = counts.sentences;
    json["bases"] = counts.bases;
    json["sentences_dropped"] = {{"n", counts.too_much_n},
                                 {"outside_include", counts.outside_include},
                                 {"inside_exclude", counts.inside_exclude}};
    return json;
}

}  // namespace bigbird::corpus
