// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/example_writer.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/examples/example_format.hpp"
#include "bigbird/examples/two_bit.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/rows/row.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <limits>
#include <ostream>

namespace bigbird::examples {

namespace fs = std::filesystem;

namespace {

rows::LabelTable with_positives(const rows::LabelTable& labels, std::span<const std::int64_t> positives) {
    std::vector<rows::Label> table;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        table.push_back(labels[i]);
        table[i].positives = positives[i];
    }
    return rows::LabelTable(std::move(table));
}

void warn_of_empty_splits(const std::array<std::int64_t, 3>& split_rows) {
    constexpr std::array consequences{"nothing can be trained on these examples",
                                      "training has nothing to choose its best step by",
                                      "no model can be judged by these examples"};
    if (split_rows[0] + split_rows[1] == 0 && split_rows[2] > 0) return;  // made to judge models
    for (const Split split : all_splits) {
        const auto i = static_cast<std::size_t>(split);
        if (split_rows[i] == 0) log_warning("no row is in {}: {}", to_string(split), consequences[i]);
    }
}

/// Writes labels.tsv and manifest.json beside the finished other files.
void describe(const fs::path& folder, Task task, const rows::WindowBounds& bounds,
              const std::array<std::int64_t, 3>& split_rows, const rows::LabelTable& labels,
              const Json& details) {
    warn_of_empty_splits(split_rows);
    write_atomically(folder / labels_name, Overwrite::refuse,
                     [&](std::ostream& out) { out << labels.to_text(); });
    Json manifest{{"format", format_name},
                  {"format_version", format_version},
                  {"made_by", "bigbird-dna " + std::string(version())},
                  {"task", to_string(task)},
                  {"window", to_string(bounds)},
                  {"rows", split_rows[0] + split_rows[1] + split_rows[2]},
                  {"labels", labels.size()}};
    for (const Split split : all_splits)
        manifest["splits"][std::string(to_string(split))] = split_rows[static_cast<std::size_t>(split)];
    manifest.update(details);
    manifest["files"] = file_checksums(folder);
    write_json(folder / manifest_name, manifest, Overwrite::refuse);
}

}  // namespace

ExampleWriter::ExampleWriter(fs::path folder, Task task, const rows::WindowBounds& bounds, std::size_t labels)
    : folder_(std::move(folder)),
      task_(task),
      bounds_(bounds),
      positives_((labels + 7) / 8 * 8),
      rows_(folder_ / rows_name, std::ios::binary) {
    if (labels > 0) matrix_.emplace(folder_ / matrix_name, Cells::bits, labels);
    for (const Split split : all_splits) {
        lists_[static_cast<std::size_t>(split)].open(folder_ / (std::string(to_string(split)) + ".bed"),
                                                     std::ios::binary);
    }
    require_good();
}

void ExampleWriter::require_good() const {
    if (!rows_ || std::ranges::any_of(lists_, [](const std::ofstream& list) { return !list; }))
        throw WriteError(std::string("the examples cannot be written: ") + std::strerror(errno));
}

void ExampleWriter::add(const ExampleRow& row, std::span<const std::uint8_t> labels, bool listed) {
    const std::string place =
        row.where.contig + '\t' + std::to_string(row.where.begin) + '\t' + std::to_string(row.where.end);
    const char strand = static_cast<char>(row.strand);
    rows_ << place << '\t' << to_string(row.split);
    if (traits_of(task_).about_tss) rows_ << '\t' << (labels[0] & 1U) << '\t' << strand << '\t' << row.name;
    rows_ << '\n';
    const auto split = static_cast<std::size_t>(row.split);
    if (listed) {
        lists_[split] << place;
        if (traits_of(task_).about_tss) lists_[split] << '\t' << row.name << "\t.\t" << strand;
        lists_[split] << '\n';
    }
    if (split_rows_[split]++ == 0) {
        any_[split].assign(labels.begin(), labels.end());
        all_[split] = any_[split];
    }
    for (std::size_t i = 0; i < labels.size(); ++i) {
        any_[split][i] |= labels[i];
        all_[split][i] &= labels[i];
        for (unsigned bits = labels[i]; bits != 0; bits &= bits - 1)
            ++positives_[8 * i + static_cast<std::size_t>(std::countr_zero(bits))];
    }
    if (matrix_) matrix_->append(std::as_bytes(labels));
    require_good();
}

bool ExampleWriter::tells_apart(Split split) const {
    const auto i = static_cast<std::size_t>(split);
    return any_[i] != all_[i];
}

bool ExampleWriter::any_label() const {
    return std::ranges::any_of(
        positives_, [](std::int64_t count) { return count > 0; });
}

void ExampleWriter::finish(const rows::LabelTable& labels, const Json& details) {
    rows_.close();
    for (std::ofstream& list : lists_)
        list.close();
    require_good();
    if (matrix_) matrix_->finish();
    describe(folder_, task_, bounds_, split_rows_, matrix_ ? with_positives(labels, positives_) : labels,
             details);
}

Json checksum_of_input(const fs::path& path) {
    const fs::path file = genome::fasta_of(path);
    return fs::is_regular_file(file) ? Json(sha256_of_file(file)) : Json();
}

namespace {

void write_store(const fs::path& path, std::span<const SequenceExample> records) {
    std::vector<std::string> names;
    std::uint64_t bytes = 0;
    for (const SequenceExample& record : records) {
        names.push_back(std::to_string(names.size()));
        bytes += record.sequence.size();  // more than what N and the index take
    }
    TwoBitWriter store(path, names, bytes > std::numeric_limits<std::uint32_t>::max() / 2);
    for (std::size_t i = 0; i < records.size(); ++i)
        store.add(names[i], records[i].sequence);
    store.finish();
}

/// A record's columns after the group.
std::string values_of(TargetKind target, const rows::LabelTable& labels, const SequenceExample& record) {
    if (target == TargetKind::classes) return '\t' + labels[record.labels.front()].name;
    std::string line;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        line += '\t';
        if (target == TargetKind::numbers)
            rows::append_number(line, record.numbers[i]);
        else
            line += std::ranges::count(record.labels, i) > 0 ? '1' : '0';
    }
    return line;
}

void write_records(std::ostream& out, TargetKind target, const rows::LabelTable& labels,
                   std::span<const SequenceExample> records) {
    out << "#id\tsplit\tlength\tn_fraction\tgroup";
    if (target == TargetKind::classes)
        out << "\tclass";
    else
        for (std::size_t i = 0; i < labels.size(); ++i)
            out << '\t' << labels.column_name(i);
    out << '\n';
    for (const SequenceExample& record : records) {
        std::string share;
        rows::append_number(share, rows::rounded_share(genome::n_fraction(record.sequence)));
        out << record.id << '\t' << to_string(record.split) << '\t' << record.sequence.size() << '\t' << share
            << '\t' << record.group << values_of(target, labels, record) << '\n';
    }
}

void write_matrix(const fs::path& folder, TargetKind target, std::size_t labels,
                  std::span<const SequenceExample> records) {
    const bool numbers = target == TargetKind::numbers;
    LabelWriter matrix(folder / (numbers ? numbers_name : matrix_name),
                       numbers ? Cells::numbers : Cells::bits, labels);
    for (const SequenceExample& record : records) {
        BitRows bits(labels);
        bits.resize(1);
        for (const std::uint32_t label : record.labels)
            bits.set(0, label);
        matrix.append(numbers ? std::as_bytes(std::span(record.numbers)) : std::as_bytes(bits.bytes()));
    }
    matrix.finish();
}

}  // namespace

void write_sequence_examples(const fs::path& folder, TargetKind target, const rows::LabelTable& labels,
                             std::span<const SequenceExample> records, const Json& details) {
    write_store(folder / store_name, records);
    write_atomically(folder / records_name, Overwrite::refuse,
                     [&](std::ostream& out) { write_records(out, target, labels, records); });
    write_matrix(folder, target, labels.size(), records);
    std::array<std::int64_t, 3> split_rows{};
    std::vector<std::int64_t> positives(labels.size(),
                                        target == TargetKind::numbers ? std::ssize(records) : 0);
    std::int64_t longest = 1;
    for (const SequenceExample& record : records) {
        ++split_rows[static_cast<std::size_t>(record.split)];
        longest = std::max(longest, std::ssize(record.sequence));
        for (const std::uint32_t label : record.labels)
            ++positives[label];
    }
    Json entries{{"target", word_of(target_choices, target)}};
    entries.update(details);
    describe(folder, Task::sequences, rows::centred_bounds(longest), split_rows,
             with_positives(labels, positives), entries);
}

}  // namespace bigbird::examples
