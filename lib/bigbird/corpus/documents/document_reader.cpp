// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/documents/document_reader.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/corpus/documents/sequence_lines.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/genome/text/text_input.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace bigbird::corpus {

namespace {

struct Row {
    genome::Interval where;
    std::int64_t document = 0, sentence = 0;
    bool reverse = false;
    std::int64_t line = 0;
};

bool to_number(std::string_view text, std::int64_t& value) {
    value = parse_number<std::int64_t>(text).value_or(-1);
    return value >= 0;
}

// One fetch for a document whose sentences are adjacent; sentences far apart are fetched one by one.
Document fetch(const genome::ReferenceGenome& genome, const std::vector<Row>& rows) {
    std::int64_t begin = rows.front().where.begin, end = rows.front().where.end, sum = 0;
    bool one_contig = true;
    for (const Row& row : rows) {
        begin = std::min(begin, row.where.begin);
        end = std::max(end, row.where.end);
        sum += row.where.size();
        one_contig = one_contig && row.where.contig == rows.front().where.contig;
    }
    const bool together = one_contig && end - begin <= 2 * sum;
    const std::string span = together ? genome.fetch({rows.front().where.contig, begin, end}) : "";
    Document document;
    for (const Row& row : rows) {
        std::string dna = together ? span.substr(static_cast<std::size_t>(row.where.begin - begin),
                                                 static_cast<std::size_t>(row.where.size()))
                                   : genome.fetch(row.where);
        document.sentences.push_back(row.reverse ? genome::reverse_complement(dna) : std::move(dna));
    }
    return document;
}

}  // namespace

struct DocumentReader::State {
    enum class Form { unknown, text, coordinates };

    genome::TextInput input;
    const genome::ReferenceGenome* genome;
    genome::LetterCase letter_case;
    Form form = Form::unknown;
    std::string line;
    std::optional<Row> ahead;  // the first row of the next document

    [[noreturn]] void fail(const std::string& what) const {
        throw InputError(what, input.path(), input.line_number());
    }

    bool next_line() {
        while (input.next(line)) {
            if (form == Form::unknown && !line.empty() && line.front() != '#') {
                form = line.find('\t') == std::string::npos ? Form::text : Form::coordinates;
                if (form == Form::coordinates && genome == nullptr) {
                    fail(
                        "holds coordinates, not sequence; give the genome that they point into with "
                        "--reference");
                }
            }
            const bool skipped = form != Form::text && (line.empty() || line.front() == '#');
            if (!skipped) return true;
        }
        return false;
    }

    std::optional<Document> next_text(std::string first, std::size_t most_sentences) {
        Document document;
        line = std::move(first);
        do {
            if (line.empty()) {
                if (!document.sentences.empty()) return document;
                continue;
            }
            expect_sequence_line(line, input.path(), input.line_number());
            genome::normalise(line, letter_case);
            document.sentences.push_back(line);
            if (document.sentences.size() == most_sentences) return document;
        } while (next_line());
        return document.sentences.empty() ? std::nullopt : std::optional(std::move(document));
    }

    Row parse_row() const {
        std::array<std::string_view, 6> fields;
        std::string_view rest = line;
        for (std::size_t i = 0; i < fields.size(); ++i) {
            const std::size_t tab = rest.find('\t');
            if (i + 1 < fields.size() && tab == std::string_view::npos) {
                fail("has " + std::to_string(i + 1) +
                     " columns; coordinates of documents have six: contig, start, end, document, "
                     "sentence, strand");
            }
            fields[i] = rest.substr(0, tab);
            rest.remove_prefix(tab == std::string_view::npos ? rest.size() : tab + 1);
        }
        Row row{.where = {std::string(fields[0]), 0, 0},
                .reverse = fields[5] == "-",
                .line = input.line_number()};
        if (!to_number(fields[3], row.document) || !to_number(fields[4], row.sentence)) {
            fail("document '" + std::string(fields[3]) + "' and sentence '" + std::string(fields[4]) +
                 "' are not two whole numbers");
        }
        if (fields[5] != "-" && fields[5] != "+" && fields[5] != ".")
            fail("strand '" + std::string(fields[5]) + "' is neither +, - nor .");
        if (!to_number(fields[1], row.where.begin) || !to_number(fields[2], row.where.end) ||
            row.where.begin >= row.where.end) {
            fail("start '" + std::string(fields[1]) + "' and end '" + std::string(fields[2]) +
                 "' are not two rising whole numbers");
        }
        const auto contig = genome->find(row.where.contig);
        if (!contig) {
            fail("the reference has no contig '" + row.where.contig +
                 "'; give the --reference that the documents were built from");
        }
        const std::int64_t length = genome->contigs()[*contig].length;
        if (row.where.end > length) {
            fail("ends at " + std::to_string(row.where.end) + ", past the end of contig '" +
                 row.where.contig + "' (" + std::to_string(length) +
                 "); give the --reference that the documents were built from");
        }
        return row;
    }

    std::optional<Document> next_coordinates() {
        std::vector<Row> rows;
        if (ahead) {
            rows.push_back(std::move(*ahead));
            ahead.reset();
        } else {
            rows.push_back(parse_row());
        }
        while (next_line()) {
            Row row = parse_row();
            if (row.document != rows.front().document) {
                ahead = std::move(row);
                break;
            }
            if (row.sentence <= rows.back().sentence) {
                fail("sentence " + std::to_string(row.sentence) + " follows sentence " +
                     std::to_string(rows.back().sentence) + " of the same document");
            }
            rows.push_back(std::move(row));
        }
        return fetch(*genome, rows);
    }
};

DocumentReader::DocumentReader(const std::filesystem::path& path, const genome::ReferenceGenome* genome,
                               genome::LetterCase letter_case)
    : state_(new State{genome::TextInput(path), genome, letter_case, State::Form::unknown, {}, {}}) {}

DocumentReader::~DocumentReader() = default;

std::int64_t DocumentReader::bytes_read() const {
    return state_->input.bytes_read();
}

std::int64_t DocumentReader::total_bytes() const {
    return state_->input.total_bytes();
}

std::optional<Document> DocumentReader::next(std::size_t most_sentences) {
    if (!state_->ahead && !state_->next_line()) return std::nullopt;
    return state_->form == State::Form::text ? state_->next_text(std::move(state_->line), most_sentences)
                                             : state_->next_coordinates();
}

}  // namespace bigbird::corpus
