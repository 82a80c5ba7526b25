// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/mat/deepsea_mat.hpp"

#include "bigbird/genome/reference/sequence.hpp"

#include <algorithm>

namespace bigbird::examples {

namespace {

/// Whether the second half is the reverse complement of the first, judged by the first, middle and last row
/// of a half.
bool is_mirrored(MatArrays& arrays) {
    const std::int64_t rows = arrays.rows(), half = rows / 2;
    if (rows % 2 != 0) return false;
    for (const std::int64_t row : {std::int64_t{0}, half / 2, half - 1}) {
        const std::string forward = arrays.read_sequences(row, 1).front();
        const std::string mirrored = arrays.read_sequences(row + half, 1).front();
        if (genome::reverse_complement(forward) != mirrored) return false;
        const BitRows here = arrays.read_labels(row, 1), there = arrays.read_labels(row + half, 1);
        if (!std::ranges::equal(here.bytes(), there.bytes())) return false;
    }
    return true;
}

/// Runs in the child process. The first message has the numbers of rows, labels and bases; the others are
/// slabs: their letters, then their bits.
void send_rows(const std::filesystem::path& path, std::int64_t slab_rows, const ChildReader::Send& send) {
    MatArrays arrays(path);
    const std::int64_t rows = is_mirrored(arrays) ? arrays.rows() / 2 : arrays.rows();
    send(ChildReader::bytes_of(std::vector{rows, arrays.labels(), arrays.bases()}));
    for (std::int64_t begin = 0; begin < rows; begin += slab_rows) {
        const std::int64_t count = std::min(slab_rows, rows - begin);
        std::string text;
        for (const std::string& sequence : arrays.read_sequences(begin, count))
            text += sequence;
        const BitRows bits = arrays.read_labels(begin, count);
        text.append(bits.bytes().begin(), bits.bytes().end());
        send(text);
    }
}

}  // namespace

DeepseaMat::DeepseaMat(const std::filesystem::path& path, std::int64_t slab_rows)
    : reader_(path, [&](const ChildReader::Send& send) { send_rows(path, slab_rows, send); }),
      slab_rows_(slab_rows) {
    const std::vector<std::int64_t> sizes = reader_.next_numbers<std::int64_t>();
    rows_ = sizes.at(0);
    labels_ = static_cast<std::size_t>(sizes.at(1));
    bases_ = sizes.at(2);
}

DeepseaMat::Slab DeepseaMat::next() {
    const std::int64_t count = std::min(slab_rows_, rows_ - given_);
    given_ += count;
    const std::string text = reader_.next();
    const auto rows = static_cast<std::size_t>(count), length = static_cast<std::size_t>(bases_);
    Slab slab{{}, BitRows(labels_)};
    if (text.size() != rows * (length + slab.bits.row_bytes())) reader_.throw_unfit();
    for (std::size_t row = 0; row < rows; ++row)
        slab.sequences.push_back(text.substr(row * length, length));
    const auto* bits = reinterpret_cast<const std::uint8_t*>(text.data()) + rows * length;
    slab.bits.append({bits, rows * slab.bits.row_bytes()});
    return slab;
}

}  // namespace bigbird::examples
