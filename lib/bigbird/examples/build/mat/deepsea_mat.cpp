// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/mat/deepsea_mat.hpp"

#include "bigbird/core/system/child_process.hpp"
#include "bigbird/examples/build/mat/mat_arrays.hpp"
#include "bigbird/genome/reference/sequence.hpp"

#include <algorithm>

namespace bigbird::examples {

namespace {

/// The first message; the others are slabs: their letters, then their bits.
struct Sizes {
    std::int64_t rows = 0, labels = 0, bases = 0;
};

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

/// Runs in the child process.
void send_rows(const std::filesystem::path& path, std::int64_t slab_rows, const ChildReader::Send& send) {
    MatArrays arrays(path);
    const std::int64_t rows = is_mirrored(arrays) ? arrays.rows() / 2 : arrays.rows();
    send(ChildReader::bytes_of(std::vector{Sizes{rows, arrays.labels(), arrays.bases()}}));
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

struct DeepseaMat::State {
    std::filesystem::path path;
    ChildReader reader;
    Sizes sizes;
    std::int64_t slab_rows, given = 0;

    State(const std::filesystem::path& where, std::int64_t slab)
        : path(where),
          reader(where, [&](const ChildReader::Send& send) { send_rows(where, slab, send); }),
          sizes(reader.next_numbers<Sizes>().at(0)),
          slab_rows(slab) {}
};

DeepseaMat::DeepseaMat(const std::filesystem::path& path, std::int64_t slab_rows)
    : state_(new State(path, slab_rows)) {}
DeepseaMat::~DeepseaMat() = default;
DeepseaMat::DeepseaMat(DeepseaMat&&) noexcept = default;

std::int64_t DeepseaMat::rows() const {
    return state_->sizes.rows;
}

std::size_t DeepseaMat::labels() const {
    return static_cast<std::size_t>(state_->sizes.labels);
}

std::int64_t DeepseaMat::bases() const {
    return state_->sizes.bases;
}

const std::filesystem::path& DeepseaMat::path() const {
    return state_->path;
}

DeepseaMat::Slab DeepseaMat::next() {
    const std::int64_t count = std::min(state_->slab_rows, rows() - state_->given);
    state_->given += count;
    const std::string text = state_->reader.next();
    const auto rows = static_cast<std::size_t>(count), length = static_cast<std::size_t>(bases());
    Slab slab{{}, BitRows(labels())};
    if (text.size() != rows * (length + slab.bits.row_bytes())) state_->reader.throw_unfit();
    for (std::size_t row = 0; row < rows; ++row)
        slab.sequences.push_back(text.substr(row * length, length));
    const auto* bits = reinterpret_cast<const std::uint8_t*>(text.data()) + rows * length;
    slab.bits.append({bits, rows * slab.bits.row_bytes()});
    return slab;
}

}  // namespace bigbird::examples
