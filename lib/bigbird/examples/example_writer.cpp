// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/example_writer.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/examples/contig_list.hpp"
#include "bigbird/examples/example_format.hpp"
#include "bigbird/examples/file_checksums.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

namespace bigbird::examples {
namespace fs = std::filesystem;

namespace {

constexpr std::array splits{Split::train, Split::validation, Split::test};

char symbol(genome::Strand strand) {
    return static_cast<char>(strand);
}

}  // namespace

ExampleWriter::ExampleWriter(fs::path folder, Task task, const rows::WindowBounds& bounds, std::size_t labels)
    : folder_(std::move(folder)),
      task_(task),
      bounds_(bounds),
      matrix_(folder_ / matrix_name, labels),
      positives_((labels + 7) / 8 * 8),
      rows_(folder_ / rows_name, std::ios::binary) {
    BIGBIRD_EXPECTS(labels > 0, "examples need a label");
    for (const Split split : splits) {
        lists_[static_cast<std::size_t>(split)].open(folder_ / (std::string(to_string(split)) + ".bed"),
                                                     std::ios::binary);
    }
    require_good();
}

void ExampleWriter::require_good() const {
    bool good = rows_.good();
    for (const std::ofstream& list : lists_)
        good = good && list.good();
    if (!good) throw WriteError(std::string("the examples cannot be written: ") + std::strerror(errno));
}

void ExampleWriter::add(const ExampleRow& row, std::span<const std::uint8_t> labels, bool listed) {
    const std::string place =
        row.where.contig + '\t' + std::to_string(row.where.begin) + '\t' + std::to_string(row.where.end);
    rows_ << place << '\t' << to_string(row.split);
    if (task_ == Task::promoter)
        rows_ << '\t' << (labels[0] & 1U) << '\t' << symbol(row.strand) << '\t' << row.name;
    rows_ << '\n';
    const auto split = static_cast<std::size_t>(row.split);
    if (listed) {
        lists_[split] << place;
        if (task_ == Task::promoter) lists_[split] << '\t' << row.name << "\t.\t" << symbol(row.strand);
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
    matrix_.append(labels);
    require_good();
}

bool ExampleWriter::tells_apart(Split split) const {
    const auto i = static_cast<std::size_t>(split);
    return any_[i] != all_[i];
}

bool ExampleWriter::any_label() const {
    return std::ranges::any_of(
        any_,
        [](const std::vector<std::uint8_t>& bits) {
            return std::ranges::any_of(
                bits, [](std::uint8_t byte) { return byte != 0; });
        });
}

void ExampleWriter::finish(const rows::LabelTable& labels, const Json& details) {
    rows_.close();
    for (std::ofstream& list : lists_)
        list.close();
    require_good();
    std::vector<rows::Label> counted;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        counted.push_back(labels[i]);
        counted[i].positives = positives_[i];
    }
    write_atomically(folder_ / labels_name, Overwrite::refuse,
                     [&](std::ostream& out) { out << rows::LabelTable(counted).to_text(); });
    matrix_.finish();
    Json manifest = start_of_manifest(task_, bounds_, split_rows_, labels.size());
    manifest.update(details);
    manifest["files"] = file_checksums(folder_);
    write_json(folder_ / manifest_name, manifest, Overwrite::refuse);
}

Json start_of_manifest(Task task, const rows::WindowBounds& bounds,
                       const std::array<std::int64_t, 3>& split_rows, std::size_t labels) {
    Json manifest{{"format", format_name},
                  {"format_version", format_version},
                  {"made_by", "bigbird-dna " + std::string(version())},
                  {"task", to_string(task)},
                  {"window", to_string(bounds)},
                  {"rows", split_rows[0] + split_rows[1] + split_rows[2]},
                  {"labels", labels}};
    for (const Split split : splits)
        manifest["splits"][std::string(to_string(split))] = split_rows[static_cast<std::size_t>(split)];
    return manifest;
}

Json describe_contigs(const genome::ReferenceGenome& reference) {
    return contigs_json(reference.contigs());
}

Json checksum_of_input(const fs::path& path) {
    const fs::path file = genome::fasta_of(path);
    return fs::is_regular_file(file) ? Json(sha256_of_file(file)) : Json();
}

}  // namespace bigbird::examples
