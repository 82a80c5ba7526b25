// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/regions/bed.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/genome/reference/region_text.hpp"
#include "bigbird/genome/regions/interval_set.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>
#include <utility>

namespace bigbird::genome {

namespace {

constexpr std::size_t narrow_peak_columns = 10;
constexpr std::size_t most_columns =
    narrow_peak_columns + 1;  // one more shows that there are further columns

/// Parses one row of a file; knows its line for errors.
class Row {
public:
    Row(std::string_view line, const std::filesystem::path& path, std::int64_t number)
        : line_(line), path_(path), number_(number) {
        while (count_ < most_columns) {
            const std::size_t tab = line.find('\t');
            columns_[count_++] = line.substr(0, tab);
            if (tab == std::string_view::npos) break;
            line.remove_prefix(tab + 1);
        }
    }

    BedRecord parse() const {
        if (count_ < 3) {
            const bool blanks = line_.find(' ') != std::string_view::npos;
            refuse(
                blanks
                    ? "columns are separated by blanks: BED needs tabs"
                    : "a BED row needs three columns (contig, start, end), separated by tabs; this one has " +
                          std::to_string(count_));
        }
        BedRecord record;
        record.line = number_;
        record.where = {std::string(columns_[0]), position("start", columns_[1]),
                        position("end", columns_[2])};
        check(record.where);
        record.name = optional_column(3);
        record.score = optional_column(4);
        if (has_strand()) record.strand = static_cast<Strand>(optional_column(5).front());
        record.summit = summit(record.where);
        return record;
    }

    /// Other tools write counts or scores into column 6.
    bool has_strand() const {
        const std::string text = optional_column(5);
        return text == "+" || text == "-" || text == ".";
    }

private:
    [[noreturn]] void refuse(const std::string& what) const { throw InputError(what, path_, number_); }

    std::int64_t position(const std::string& name, std::string_view text) const {
        const auto value = parse_number<std::int64_t>(text);
        if (!value) {
            const bool is_macs = line_.find("\tabs_summit\t") != std::string_view::npos;
            const bool is_annotation = count_ == 9 && parse_number<std::int64_t>(columns_[3]) &&
                                       parse_number<std::int64_t>(columns_[4]);
            refuse(name + " '" + shortened(text) + "' is not a number: BED has whole numbers, digits only" +
                   (is_macs         ? "; this is MACS's table, which counts from 1: give its .narrowPeak"
                    : is_annotation ? "; this is a GTF or GFF3"
                    : text == name  ? "; a line of column names begins with #"
                                    : ""));
        }
        return *value;
    }

    void check(const Interval& where) const {
        if (where.contig.empty()) refuse("the contig (first column) is empty");
        if (where.begin < 0)
            refuse("start " + std::to_string(where.begin) + " is negative: BED counts from 0");
        if (where.end > longest_contig && where.begin <= where.end)
            refuse("end " + std::to_string(where.end) + " is past the end of any contig");
        if (where.begin > where.end) {
            refuse("start " + std::to_string(where.begin) + " lies behind end " + std::to_string(where.end) +
                   ": BED has the smaller coordinate first on both strands");
        }
    }

    std::string optional_column(std::size_t index) const {
        return count_ > index && !columns_[index].empty() ? std::string(columns_[index]) : ".";
    }

    std::optional<std::int64_t> summit(const Interval& where) const {
        if (count_ != narrow_peak_columns) return std::nullopt;
        const auto offset = parse_number<std::int64_t>(columns_[narrow_peak_columns - 1]);
        return offset && *offset >= 0 && *offset < where.size() ? offset : std::nullopt;
    }

    std::array<std::string_view, most_columns> columns_;  ///< the first ones
    std::size_t count_ = 0;
    std::string_view line_;
    const std::filesystem::path& path_;
    std::int64_t number_;
};

}  // namespace

bool is_no_row(std::string_view line) {
    constexpr std::string_view blanks = " \t";
    const auto next_word = [&] {
        line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
        const std::string_view word = line.substr(0, line.find_first_of(blanks));
        line.remove_prefix(word.size());
        return word;
    };
    if (line.starts_with('#')) return true;
    const std::string_view first = next_word();
    return first.empty() ||
           ((first == "track" || first == "browser") && !parse_number<std::int64_t>(next_word()));
}

BedReader::BedReader(std::filesystem::path path) : path_(std::move(path)), input_(path_) {}

BedReader::BedReader(std::filesystem::path path, const ReferenceGenome& reference, const std::string& option)
    : path_(std::move(path)) {
    if (!is_region_text(path_)) {
        input_.emplace(path_);
        return;
    }
    std::istringstream words(path_.string());
    for (std::string word; words >> word;) {
        if (!is_region_text(word)) {
            throw ConfigError(option + " takes one BED file or several regions, not '" + word +
                              "' and others: join files with cat, and give - to read standard input");
        }
        BedRecord& region = regions_.emplace_back();
        region.where = region_on(reference, word, option);
        region.line = std::ssize(regions_);
    }
}

bool BedReader::can_be_read_again() const {
    std::error_code ignored;
    return !input_ || (path_ != "-" && std::filesystem::is_regular_file(path_, ignored));
}

std::optional<BedRecord> BedReader::next() {
    if (!input_)
        return next_region_ < regions_.size() ? std::optional(regions_[next_region_++]) : std::nullopt;
    while (input_->next(line_)) {
        if (!is_no_row(line_)) {
            const Row row(line_, path_, line_number());
            if (!row.has_strand() && !std::exchange(warned_, true)) {
                log_warning("{}:{}: column 6 is no strand, none of + - . ; such rows have none",
                            path().string(), line_number());
            }
            return row.parse();
        }
    }
    return std::nullopt;
}

BedRecord parse_bed_row(std::string_view line, const std::filesystem::path& path, std::int64_t number) {
    return Row(line, path, number).parse();
}

std::vector<BedRecord> read_bed(const std::filesystem::path& path) {
    std::vector<BedRecord> records;
    BedReader reader(path);
    while (auto record = reader.next())
        records.push_back(std::move(*record));
    return records;
}

}  // namespace bigbird::genome
