// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/documents/document_reader.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/corpus/documents/sequence_lines.hpp"
#include "bigbird/genome/reference/sequence.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace bigbird::corpus {

namespace {

bool to_number(std::string_view text, std::int64_t& value) {
    value = parse_number<std::int64_t>(text).value_or(-1);
    return value >= 0;
}

/// A document of the stretches between runs of N.
Document without_n(const std::string& dna) {
    constexpr const char* n = "Nn";
    Document document;
    for (std::size_t begin = dna.find_first_not_of(n); begin != std::string::npos;) {
        const std::size_t end = std::min(dna.find_first_of(n, begin), dna.size());
        document.sentences.push_back(dna.substr(begin, end - begin));
        begin = dna.find_first_not_of(n, end);
    }
    return document;
}

}  // namespace

// One fetch for a document whose sentences are adjacent; sentences far apart are fetched one by one.
Document DocumentReader::fetch(const std::vector<Row>& rows) const {
    std::int64_t begin = rows.front().where.begin, end = rows.front().where.end, sum = 0;
    bool one_contig = true;
    for (const Row& row : rows) {
        begin = std::min(begin, row.where.begin);
        end = std::max(end, row.where.end);
        sum += row.where.size();
        one_contig = one_contig && row.where.contig == rows.front().where.contig;
    }
    const bool together = one_contig && end - begin <= 2 * sum;
    const std::string span = together ? genome_->fetch({rows.front().where.contig, begin, end}) : "";
    Document document;
    for (const Row& row : rows) {
        std::string dna = together ? span.substr(static_cast<std::size_t>(row.where.begin - begin),
                                                 static_cast<std::size_t>(row.where.size()))
                                   : genome_->fetch(row.where);
        document.sentences.push_back(row.reverse ? genome::reverse_complement(dna) : std::move(dna));
    }
    return document;
}

[[noreturn]] void DocumentReader::fail(const std::string& what) const {
    throw input_.fault(what);
}

bool DocumentReader::next_line() {
    while (input_.next(line_)) {
        if (form_ == Form::unknown && !line_.empty() && line_.front() != '#') {
            form_ = fasta_ == Fasta::take && line_.front() == '>' ? Form::fasta
                    : line_.find('\t') == std::string::npos       ? Form::text
                                                                  : Form::coordinates;
            if (form_ == Form::coordinates && genome_ == nullptr) {
                fail(
                    "holds coordinates, not sequence; give the genome that they point into with "
                    "--reference");
            }
        }
        const bool skipped = form_ != Form::text && (line_.empty() || line_.front() == '#');
        if (!skipped) return true;
    }
    return false;
}

std::optional<Document> DocumentReader::next_text(std::string first, std::size_t most_sentences) {
    Document document;
    line_ = std::move(first);
    do {
        if (line_.empty()) {
            if (!document.sentences.empty()) return document;
            continue;
        }
        expect_sequence_line(line_, input_.path(), input_.line_number());
        genome::normalise(line_, letter_case_);
        document.sentences.push_back(line_);
        if (document.sentences.size() == most_sentences) return document;
    } while (next_line());
    return document.sentences.empty() ? std::nullopt : std::optional(std::move(document));
}

std::optional<Document> DocumentReader::next_record() {
    constexpr std::size_t longest = std::size_t{1} << 20;  // so that memory stays small
    do {
        std::string dna;
        do {
            if (line_.starts_with('>')) {
                if (!dna.empty()) break;
                continue;
            }
            expect_sequence_line(line_, input_.path(), input_.line_number());
            genome::normalise(line_, letter_case_);
            dna += line_;
        } while (dna.size() < longest && next_line());
        Document document = without_n(dna);
        if (!document.sentences.empty()) return document;
    } while (next_line());
    return std::nullopt;
}

DocumentReader::Row DocumentReader::parse_row() const {
    std::array<std::string_view, 6> fields;
    std::string_view rest = line_;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const std::size_t tab = rest.find('\t');
        if (i + 1 < fields.size() && tab == std::string_view::npos) {
            fail("has " + counted(i + 1, "column") +
                 "; coordinates of documents have six: contig, start, end, document, "
                 "sentence, strand");
        }
        fields[i] = rest.substr(0, tab);
        rest.remove_prefix(tab == std::string_view::npos ? rest.size() : tab + 1);
    }
    Row row{.where = {std::string(fields[0]), 0, 0}, .reverse = fields[5] == "-"};
    if (!to_number(fields[3], row.document) || !to_number(fields[4], row.sentence)) {
        fail("document '" + shortened(fields[3]) + "' and sentence '" + shortened(fields[4]) +
             "' are not two whole numbers");
    }
    if (fields[5] != "-" && fields[5] != "+" && fields[5] != ".")
        fail("strand '" + shortened(fields[5]) + "' is neither +, - nor .");
    if (!to_number(fields[1], row.where.begin) || !to_number(fields[2], row.where.end) ||
        row.where.begin >= row.where.end) {
        fail("start '" + shortened(fields[1]) + "' and end '" + shortened(fields[2]) +
             "' are not two rising whole numbers");
    }
    const auto contig = genome_->find(row.where.contig);
    if (!contig) {
        fail("the reference has no contig '" + row.where.contig +
             "'; give the --reference that the documents were built from");
    }
    const std::int64_t length = genome_->contigs()[*contig].length;
    if (row.where.end > length) {
        fail("ends at " + std::to_string(row.where.end) + ", past the end of contig '" + row.where.contig +
             "' (" + std::to_string(length) + "); give the --reference that the documents were built from");
    }
    return row;
}

std::optional<Document> DocumentReader::next_coordinates() {
    std::vector<Row> rows;
    rows.push_back(ahead_ ? std::move(*ahead_) : parse_row());
    ahead_.reset();
    while (next_line()) {
        Row row = parse_row();
        if (row.document != rows.front().document) {
            ahead_ = std::move(row);
            break;
        }
        if (row.sentence <= rows.back().sentence) {
            fail("sentence " + std::to_string(row.sentence) + " follows sentence " +
                 std::to_string(rows.back().sentence) + " of the same document");
        }
        rows.push_back(std::move(row));
    }
    return fetch(rows);
}

DocumentReader::DocumentReader(const std::filesystem::path& path, const genome::ReferenceGenome* genome,
                               genome::LetterCase letter_case, Fasta fasta)
    : input_(path), genome_(genome), letter_case_(letter_case), fasta_(fasta) {}

std::optional<Document> DocumentReader::next(std::size_t most_sentences) {
    if (!ahead_ && !next_line()) return std::nullopt;
    if (form_ == Form::fasta) return next_record();
    return form_ == Form::text ? next_text(std::move(line_), most_sentences) : next_coordinates();
}

}  // namespace bigbird::corpus
