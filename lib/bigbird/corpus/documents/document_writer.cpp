// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/documents/document_writer.hpp"

#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/version.hpp"

#include <algorithm>
#include <sstream>
#include <system_error>
#include <utility>

namespace bigbird::corpus {

namespace {

// A pipe has been read by now and has no checksum.
Json checksum(const std::filesystem::path& path) {
    return std::filesystem::is_regular_file(path) ? Json(sha256_of_file(path)) : Json(nullptr);
}

std::int64_t digits(std::int64_t number) {
    std::int64_t count = 1;
    for (; number >= 10; number /= 10)
        ++count;
    return count;
}

/// With commas between thousands.
std::string grouped(std::int64_t number) {
    std::string text = std::to_string(number);
    for (std::size_t at = text.size(); at > 3;) {
        at -= 3;
        text.insert(at, ",");
    }
    return text;
}

}  // namespace

DocumentWriter::DocumentWriter(const std::filesystem::path& path, DocumentForm form, const BuildSpec& spec,
                               Overwrite overwrite, int threads)
    : output_(path, overwrite, threads), form_(form) {
    if (form_ == DocumentForm::coordinates) output_.write(coordinates_header(spec));
}

std::string DocumentWriter::coordinates_header(const BuildSpec& spec) {
    return "# bigbird-dna " + std::string(version()) + " documents " + spec.parameters().dump() +
           "\n#contig\tstart\tend\tdocument\tsentence\tstrand\n";
}

void DocumentWriter::write(const PlacedDocument& document) {
    std::string text;
    if (form_ == DocumentForm::text) {
        text = documents_ > 0 ? "\n" : "";
        for (const std::string& sentence : document.document.sentences)
            text.append(sentence).append("\n");
    } else {
        const std::string prefix = document.contig + '\t', number = '\t' + std::to_string(documents_) + '\t';
        const char* const strand = document.reverse ? "\t-\n" : "\t+\n";
        for (std::size_t i = 0; i < document.sentences.size(); ++i) {
            const auto& [begin, end] = document.sentences[i];
            text += prefix + std::to_string(begin) + '\t' + std::to_string(end) + number + std::to_string(i) +
                    strand;
        }
    }
    output_.write(text);
    ++documents_;
}

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
    for (const std::filesystem::path& reference : inputs.references)
        checksums.push_back({{"role", "reference"}, {"sha256", checksum(genome::fasta_of(reference))}});
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

Forecast forecast_documents(const genome::ReferenceGenome& lengths, const BuildSpec& spec, int threads) {
    constexpr std::int64_t separators = 7;  // of a row: five tabs, the strand, the line's end
    Forecast result;
    result.contigs = std::ssize(lengths.contigs());
    for (const genome::Contig& contig : lengths.contigs())
        result.genome_bases += contig.length;
    std::int64_t documents = 0, rows = 0;
    const auto add = [&](PlacedDocument&& document) {
        const std::int64_t shared = std::ssize(document.contig) + digits(documents++) + separators;
        for (std::int64_t sentence = 0; const auto& [begin, end] : document.sentences)
            rows += shared + digits(begin) + digits(end) + digits(sentence++);
    };
    const BuildCounts& counts = result.counts =
        build_documents(lengths, spec, BuildText::unread, threads, add);
    result.text_bytes = counts.bases + counts.sentences + std::max<std::int64_t>(0, counts.documents - 1);
    result.coordinate_bytes = rows + std::ssize(DocumentWriter::coordinates_header(spec));
    return result;
}

std::string describe(const Forecast& forecast, const BuildSpec& spec) {
    std::ostringstream out;
    const auto line = [&](const std::string& key, const std::string& value) {
        out << key << std::string(key.size() < 18 ? 18 - key.size() : 1, ' ') << value << '\n';
    };
    line("contigs", grouped(forecast.contigs));
    line("genome bases", grouped(forecast.genome_bases));
    line("passes", std::to_string(spec.documents.passes) +
                       (spec.add_reverse_complement ? ", each on both strands" : ""));
    line("documents",
         grouped(forecast.counts.documents) + " (the paper: about 450,000 of GRCh37 in ten passes)");
    line("sentences", grouped(forecast.counts.sentences));
    line("bases", grouped(forecast.counts.bases));
    line("bytes as text", grouped(forecast.text_bytes));
    line("bytes as BED", grouped(forecast.coordinate_bytes));
    if (forecast.counts.outside_include + forecast.counts.inside_exclude > 0) {
        line("dropped", grouped(forecast.counts.outside_include) + " sentences not inside --include, " +
                            grouped(forecast.counts.inside_exclude) + " overlapping --exclude");
    }
    out << "Sequence was not looked at: sentences with more than " << 100 * spec.max_n_fraction
        << " % N are still counted (about 7 % of GRCh37), and documents are split "
           "where they fall out.\n"
           "The paper's recipe, 50 to 100 sentences of 500 to 1,000 bases, makes documents of 56,250 bases "
           "on "
           "average, so ten passes over the\n3.1 Gbp of GRCh37 give 550,000. Its figure fits documents of "
           "62,500 "
           "bases, the middle of the 25 to 100 kb that it names, over\nthe 2.86 Gbp that are no N.\n";
    return out.str();
}

}  // namespace bigbird::corpus
