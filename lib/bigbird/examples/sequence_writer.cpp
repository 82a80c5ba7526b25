// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/sequence_writer.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/examples/example_format.hpp"
#include "bigbird/examples/example_writer.hpp"
#include "bigbird/examples/file_checksums.hpp"
#include "bigbird/examples/number_matrix.hpp"
#include "bigbird/examples/two_bit.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/rows/row.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>
#include <limits>
#include <ostream>

namespace bigbird::examples {
namespace fs = std::filesystem;

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
    if (target == TargetKind::numbers) {
        std::vector<float> numbers;
        for (const SequenceExample& record : records)
            numbers.insert(numbers.end(), record.numbers.begin(), record.numbers.end());
        write_npy(folder / numbers_name, numbers, labels);
        return;
    }
    BitRows bits(labels);
    bits.resize(records.size());
    for (std::size_t i = 0; i < records.size(); ++i)
        for (const std::uint32_t label : records[i].labels)
            bits.set(i, label);
    write_npy(folder / matrix_name, bits);
}

rows::LabelTable counted(const rows::LabelTable& labels, std::span<const SequenceExample> records) {
    std::vector<rows::Label> table;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        table.push_back(labels[i]);
        table[i].positives = 0;
    }
    for (const SequenceExample& record : records) {
        for (const std::uint32_t label : record.labels)
            ++table[label].positives;
        for (std::size_t i = 0; i < record.numbers.size(); ++i)
            ++table[i].positives;
    }
    return rows::LabelTable(std::move(table));
}

}  // namespace

void write_sequence_examples(const fs::path& folder, TargetKind target, const rows::LabelTable& labels,
                             std::span<const SequenceExample> records, const Json& details) {
    write_store(folder / store_name, records);
    write_atomically(folder / records_name, Overwrite::refuse,
                     [&](std::ostream& out) { write_records(out, target, labels, records); });
    write_matrix(folder, target, labels.size(), records);
    write_atomically(folder / labels_name, Overwrite::refuse,
                     [&](std::ostream& out) { out << counted(labels, records).to_text(); });
    std::array<std::int64_t, 3> split_rows{};
    std::size_t longest = 1;
    for (const SequenceExample& record : records) {
        ++split_rows[static_cast<std::size_t>(record.split)];
        longest = std::max(longest, record.sequence.size());
    }
    const auto bases = static_cast<std::int64_t>(longest);
    Json manifest =
        start_of_manifest(Task::sequences, {-(bases / 2), bases - bases / 2}, split_rows, labels.size());
    manifest["target"] = word_of(target_choices, target);
    manifest.update(details);
    manifest["files"] = file_checksums(folder);
    write_json(folder / manifest_name, manifest, Overwrite::refuse);
}

}  // namespace bigbird::examples
