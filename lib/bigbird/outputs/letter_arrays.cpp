// SPDX-License-Identifier: Apache-2.0
#include "bigbird/outputs/letter_arrays.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/npy_header.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/outputs/hdf5_handle.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <ostream>

namespace bigbird::outputs {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view alphabet = "ACGT";

/// Little-endian fields of a zip archive.
struct ZipRecord {
    std::string bytes;
    ZipRecord& two(std::uint32_t value) {
        bytes += static_cast<char>(value & 0xFFU);
        bytes += static_cast<char>(value >> 8U & 0xFFU);
        return *this;
    }
    ZipRecord& four(std::uint32_t value) { return two(value & 0xFFFFU).two(value >> 16U); }
    /// The fields that both headers of a member share, from the version to the length of its name. The member
    /// is stored uncompressed and dated 1980.
    ZipRecord& member(std::uint32_t checksum, std::uint32_t size, std::uint32_t name) {
        constexpr std::uint32_t version = 20, first_day = 33;
        two(version).two(0).two(0).two(0).two(first_day);
        return four(checksum).four(size).four(size).two(name).two(0);
    }
};

}  // namespace

bool is_letter_arrays(const fs::path& path) {
    return path.extension() == ".h5" || path.extension() == ".hdf5" || path.extension() == ".npz";
}

std::vector<fs::path> letter_array_files(const fs::path& path) {
    if (path.extension() != ".npz") return {path};
    fs::path letters = path;
    return {path, letters.replace_extension(".onehot.npz")};
}

void require_length(const genome::Interval& where, std::int64_t bases, std::int64_t length) {
    if (bases == length) return;
    throw InputError(where.contig + ":" + std::to_string(where.begin) + "-" + std::to_string(where.end) +
                     " has " + counted(bases, "base") + ", the regions before it " + std::to_string(length) +
                     ": .h5 and .npz need regions of one length, .tsv does not");
}

LetterArrays::LetterArrays(const fs::path& path, Overwrite overwrite, rows::Provenance provenance)
    : provenance_(std::move(provenance)) {
    for (const fs::path& file : letter_array_files(path))
        files_.push_back(std::make_unique<PendingOutput>(file, overwrite));
}

void LetterArrays::add(const genome::Interval& where, const std::string& name, std::string_view dna,
                       std::span<const float> scores) {
    if (regions_.empty()) length_ = dna.size();
    require_length(where, std::ssize(dna), static_cast<std::int64_t>(length_));
    regions_.push_back(where);
    names_.push_back(name);
    for (std::size_t code = 0; code < alphabet.size(); ++code) {
        for (std::size_t i = 0; i < length_; ++i) {
            const float score = scores[i * alphabet.size() + code];
            letters_.push_back(dna[i] == alphabet[code] ? 1 : 0);
            scores_.push_back(std::isnan(score) ? 0 : score);
        }
    }
}

void LetterArrays::write_npz(const PendingOutput& output, std::string_view type,
                             std::span<const std::byte> bytes) const {
    constexpr std::string_view member = "arr_0.npy";
    constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max() - 1024;
    if (bytes.size() > most)
        throw WriteError(output.target().string() +
                         ": would be longer than 4 GB: write .h5, or fewer regions");
    const std::string header = npy_header(type, std::ssize(regions_), std::array{alphabet.size(), length_});
    const auto size = static_cast<std::uint32_t>(header.size() + bytes.size());
    auto sum = crc32_z(0, reinterpret_cast<const Bytef*>(header.data()), header.size());
    if (!bytes.empty()) sum = crc32_z(sum, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
    const auto checksum = static_cast<std::uint32_t>(sum);
    const std::string front =
        ZipRecord().four(0x04034b50).member(checksum, size, member.size()).bytes + std::string(member);
    const std::string entry =
        ZipRecord().four(0x02014b50).two(20).member(checksum, size, member.size()).bytes +
        std::string(14, '\0') + std::string(member);
    const auto end = static_cast<std::uint32_t>(front.size()) + size;
    ZipRecord directory;
    directory.four(0x06054b50).two(0).two(0).two(1).two(1);
    directory.four(static_cast<std::uint32_t>(entry.size())).four(end).two(0);
    output.write([&](std::ostream& out) {
        out << front << header;
        out.write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes)) << entry << directory.bytes;
    });
}

void LetterArrays::write_hdf5(const fs::path& path) const {
    start_hdf5();
    const Hdf5Types types;
    Hdf5Handle file = create_unlocked_hdf5(path.c_str());
    Hdf5Writer writer{file};
    for (const auto& [name, value] : provenance_)
        writer.attribute(name, value, types.text());
    const Hdf5Shape all{regions_.size(), alphabet.size(), length_}, each{regions_.size()};
    writer.dataset(writer.group("raw"), "seq", H5T_STD_I8LE, H5T_NATIVE_INT8, all, letters_.data(),
                   chunk_of(all));
    writer.dataset(writer.group("shap"), "seq", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, all, scores_.data(),
                   chunk_of(all));
    std::vector<const char*> contigs, names;
    std::vector<std::int64_t> begins, ends;
    for (std::size_t i = 0; i < regions_.size(); ++i) {
        contigs.push_back(regions_[i].contig.c_str());
        names.push_back(names_[i].c_str());
        begins.push_back(regions_[i].begin);
        ends.push_back(regions_[i].end);
    }
    const Hdf5Handle regions = writer.group("regions");
    writer.dataset(regions, "chrom", types.text(), types.text(), each, contigs.data());
    writer.dataset(regions, "name", types.text(), types.text(), each, names.data());
    writer.dataset(regions, "start", H5T_STD_I64LE, H5T_NATIVE_INT64, each, begins.data());
    writer.dataset(regions, "end", H5T_STD_I64LE, H5T_NATIVE_INT64, each, ends.data());
    require_hdf5_written(writer.fine && file.close(), files_.front()->target());
}

void LetterArrays::finish(std::vector<PendingOutput*>& pending) {
    if (files_.size() > 1) {
        write_npz(*files_[0], "<f4", std::as_bytes(std::span(scores_)));
        write_npz(*files_[1], "|i1", std::as_bytes(std::span(letters_)));
    } else {
        write_hdf5(files_.front()->path());
    }
    for (auto file = files_.rbegin(); file != files_.rend(); ++file)
        pending.push_back(file->get());
}

}  // namespace bigbird::outputs
