// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/mat/deepsea_mat.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/system/confined_worker.hpp"
#include "bigbird/examples/build/mat/mat_arrays.hpp"
#include "bigbird/genome/reference/sequence.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>

namespace bigbird::examples {

namespace {

/// What the worker says of the file, in answer to an empty request.
struct Sizes {
    std::int64_t rows = 0, labels = 0, bases = 0;
    bool halves = false;
};

/// Rows that are asked for; the answer is their letters, then their bits.
struct Stretch {
    std::int64_t begin = 0, count = 0;
};

template <typename T>
std::string text_of(const T& value) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
}

template <typename T>
T value_of(std::string_view text, const std::filesystem::path& path) {
    T value;
    if (text.size() != sizeof value)
        throw InputError("is damaged: its reader gave no answer that fits", path);
    std::memcpy(&value, text.data(), sizeof value);
    return value;
}

/// Whether the second half mirrors the first, by the first, middle and last row of a half.
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

/// The worker's side: the file is opened by the first request.
class Reading {
public:
    explicit Reading(std::filesystem::path path) : path_(std::move(path)) {}

    std::string answer(std::string_view request) {
        if (!arrays_) arrays_ = std::make_shared<MatArrays>(path_);
        if (request.empty()) {
            return text_of(
                Sizes{arrays_->rows(), arrays_->labels(), arrays_->bases(), is_mirrored(*arrays_)});
        }
        const auto stretch = value_of<Stretch>(request, path_);
        std::string text;
        for (const std::string& sequence : arrays_->read_sequences(stretch.begin, stretch.count))
            text += sequence;
        const BitRows bits = arrays_->read_labels(stretch.begin, stretch.count);
        text.append(bits.bytes().begin(), bits.bytes().end());
        return text;
    }

private:
    std::filesystem::path path_;
    std::shared_ptr<MatArrays> arrays_;
};

}  // namespace

struct DeepseaMat::State {
    std::filesystem::path path;
    ConfinedWorker worker;
    Sizes sizes;

    explicit State(std::filesystem::path where)
        : path(std::move(where)), worker([reading = Reading(path)](std::string_view request) mutable {
              return reading.answer(request);
          }) {
        sizes = value_of<Sizes>(ask(""), path);
    }

    std::string ask(std::string_view request) { return worker.ask_about(path, request); }
};

DeepseaMat::DeepseaMat(std::filesystem::path path) : state_(new State(std::move(path))) {}
DeepseaMat::~DeepseaMat() = default;
DeepseaMat::DeepseaMat(DeepseaMat&&) noexcept = default;

std::int64_t DeepseaMat::rows() const {
    return state_->sizes.halves ? state_->sizes.rows / 2 : state_->sizes.rows;
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

DeepseaMat::Slab DeepseaMat::read(std::int64_t begin, std::int64_t count) {
    const std::string text = state_->ask(text_of(Stretch{begin, count}));
    const auto rows = static_cast<std::size_t>(count), length = static_cast<std::size_t>(bases());
    Slab slab{{}, BitRows(labels())};
    if (text.size() != rows * (length + slab.bits.row_bytes())) {
        throw InputError("is damaged: its reader gave no answer that fits", state_->path);
    }
    for (std::size_t row = 0; row < rows; ++row)
        slab.sequences.push_back(text.substr(row * length, length));
    const auto* bits = reinterpret_cast<const std::uint8_t*>(text.data()) + rows * length;
    slab.bits.append({bits, rows * slab.bits.row_bytes()});
    return slab;
}

}  // namespace bigbird::examples
