// SPDX-License-Identifier: Apache-2.0
#include "bigbird/networks/profiles/packed_part.hpp"

#include "bigbird/networks/profiles/profile_state.hpp"

#include <ATen/ATen.h>
#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace bigbird::networks {

namespace {

std::int64_t up_to_multiple(std::int64_t size, std::int64_t of) {
    return (size + of - 1) / of * of;
}

/// The numbers of a parameter in order.
at::Tensor plain(const at::Tensor& parameter) {
    return parameter.detach().contiguous();
}

std::vector<float> floats_of(const at::Tensor& parameter) {
    const at::Tensor values = plain(parameter);
    return {values.const_data_ptr<float>(), values.const_data_ptr<float>() + values.numel()};
}

Floats padded(const at::Tensor& parameter, std::int64_t size) {
    Floats to = zeros(size);
    std::ranges::copy(floats_of(parameter), to.data());
    return to;
}

/// Packs weight(input, output) as Product says, behind `to`.
template <typename Weight>
void pack_product(std::int64_t in, std::int64_t out, std::int64_t columns, float* to, const Weight& weight) {
    for (std::int64_t o = 0; o < out; ++o)
        for (std::int64_t i = 0; i < in; ++i)
            to[(o / columns * in + i) * columns + o % columns] = weight(i, o);
}

/// A matrix (out, in), packed.
Floats packed_matrix(const at::Tensor& matrix, std::int64_t columns) {
    const at::Tensor values = plain(matrix);
    const std::int64_t in = values.size(1), out = values.size(0);
    Floats to = zeros(in * up_to_multiple(out, columns));
    const auto* const from = values.const_data_ptr<float>();
    pack_product(in, out, columns, to.data(),
                 [&](std::int64_t i, std::int64_t o) { return from[o * in + i]; });
    return to;
}

/// A weight (out, in, 3) at the points of F(2, 3), each packed.
Floats packed_points(const at::Tensor& weight, std::int64_t columns) {
    const at::Tensor values = plain(weight);
    const std::int64_t in = values.size(1), out = values.size(0), size = in * up_to_multiple(out, columns);
    Floats to = zeros(points * size);
    const auto* const from = values.const_data_ptr<float>();
    for (std::int64_t p = 0; p < points; ++p) {
        pack_product(
            in, out, columns, to.data() + p * size,
            [&](std::int64_t i, std::int64_t o) {
                const float* const taps = from + (o * in + i) * 3;
                if (p == 0) return taps[0];
                if (p == 3) return taps[2];
                return (taps[0] + (p == 1 ? taps[1] : -taps[1]) + taps[2]) / 2;
            });
    }
    return to;
}

}  // namespace

Floats::Floats(std::int64_t size) : size_(size) {
    constexpr std::int64_t huge_page = std::int64_t{1} << 21;
    const std::int64_t wanted = std::max<std::int64_t>(size, 1) * 4,
                       alignment = wanted < huge_page ? 64 : huge_page,
                       bytes = up_to_multiple(wanted, alignment);
    data_.reset(static_cast<float*>(
        std::aligned_alloc(static_cast<std::size_t>(alignment), static_cast<std::size_t>(bytes))));
    if (!data_) throw std::bad_alloc();
    if (wanted >= huge_page) ::madvise(data_.get(), static_cast<std::size_t>(bytes), MADV_HUGEPAGE);
}

float* Floats::reserve(std::int64_t size) {
    if (size > size_) *this = Floats(size);
    return data();
}

Floats zeros(std::int64_t size) {
    Floats made(size);
    std::fill_n(made.data(), size, 0.0F);
    return made;
}

PackedPart::PackedPart(const PartTensors& part) : shape_(part.shape), kernels_(&profile_kernels()) {
    row_ = up_to_multiple(shape_.filters, kernels_->columns);
    inner_ = up_to_multiple(shape_.filters * shape_.expansion, kernels_->columns);
    margin_ = std::max(shape_.dilation(shape_.layers), shape_.head);  // twice the last dilation
    find_ranges();
    pack_stem(part);
    for (std::size_t i = 0; i < part.layers.size(); ++i)
        layers_.push_back(packed_layer(part, i));
    pack_heads(part);
    zero_ = zeros(std::max(row_, profile_.out));
}

PositionRange PackedPart::output() const {
    const std::int64_t begin = (shape_.input - shape_.output) / 2;
    return {begin, begin + shape_.output};
}

PositionRange PackedPart::profile_rows() const {
    const std::int64_t begin = output().begin - (shape_.head - 1) / 2;
    return {begin, begin + shape_.output + shape_.head - 1};
}

PositionRange PackedPart::counts() const {
    const std::int64_t begin = (shape_.input - shape_.counts) / 2;
    return {begin, begin + shape_.counts};
}

void PackedPart::find_ranges() {
    ranges_.assign(static_cast<std::size_t>(shape_.layers) + 1, {0, shape_.input});
    if (shape_.pads()) return;
    PositionRange needed{std::min(profile_rows().begin, counts().begin),
                         std::max(profile_rows().end, counts().end)};
    for (std::int64_t layer = shape_.layers; layer >= 0; --layer) {
        ranges_[static_cast<std::size_t>(layer)] = needed;
        if (layer > 0) {
            needed.begin -= shape_.dilation(layer - 1);
            needed.end += shape_.dilation(layer - 1);
        }
    }
}

bool PackedPart::is_pair(std::size_t i, std::int64_t first) const {
    const std::int64_t dilation = shape_.dilation(static_cast<std::int64_t>(i));
    return (first & dilation) == 0 && (ranges_[i + 1].holds(first) || ranges_[i + 1].holds(first + dilation));
}

void PackedPart::pack_stem(const PartTensors& part) {
    const std::int64_t chunks = (shape_.stem + word_letters - 1) / word_letters;
    const at::Tensor weight = plain(part.stem);
    const auto* const from = weight.const_data_ptr<float>();
    stem_table_ = zeros(chunks * words_in_all * row_);
    for (std::int64_t entry = 0; entry < chunks * words_in_all; ++entry) {
        float* const to = stem_table_.data() + entry * row_;
        const std::int64_t chunk = entry / words_in_all, word = entry % words_in_all;
        const std::int64_t letters[] = {word / 25, word / 5 % 5, word % 5};
        for (std::int64_t j = 0; j < word_letters; ++j) {
            const std::int64_t tap = chunk * word_letters + j;
            if (letters[j] > 3 || tap >= shape_.stem) continue;
            for (std::int64_t f = 0; f < shape_.filters; ++f)
                to[f] += from[(f * 4 + letters[j]) * shape_.stem + tap];
        }
    }
    stem_bias_ = padded(part.stem_bias, row_);
    Activation activation = Activation::none;
    if (shape_.trunk == Trunk::cherimoya) activation = Activation::gelu;
    if (shape_.trunk == Trunk::relu_after || (shape_.trunk == Trunk::relu_before && shape_.layers == 0))
        activation = Activation::relu;
    stem_ = {stem_table_.data(), stem_bias_.data(), chunks, row_, activation};
}

PackedPart::Layer PackedPart::packed_layer(const PartTensors& part, std::size_t i) const {
    const LayerTensors& tensors = part.layers[i];
    const std::int64_t columns = kernels_->columns, filters = shape_.filters;
    Layer layer;
    if (shape_.trunk == Trunk::cherimoya) {
        layer.weights = packed_matrix(tensors.linear1, columns);
        layer.second = packed_matrix(tensors.linear2, columns);
        layer.bias = zeros(3 * row_);
        const std::vector<float> taps = floats_of(tensors.taps);
        for (std::int64_t t = 0; t < 3; ++t)
            std::copy_n(taps.data() + t * filters, filters, layer.bias.data() + t * row_);
        return layer;
    }
    layer.weights = packed_points(tensors.weight, columns);
    layer.bias = padded(tensors.bias, row_);
    const PositionRange& range = ranges_[i + 1];
    for (std::int64_t p = range.begin - shape_.dilation(static_cast<std::int64_t>(i)); p < range.end; ++p)
        if (is_pair(i, p)) layer.pairs.push_back(p);
    return layer;
}

void PackedPart::pack_heads(const PartTensors& part) {
    const at::Tensor weight = plain(part.profile);
    const auto* const from = weight.const_data_ptr<float>();
    const std::int64_t filters = shape_.filters, head = shape_.head, columns = kernels_->columns;
    profile_width_ = up_to_multiple(head, columns / 2);
    profile_ = {nullptr, filters, up_to_multiple(shape_.columns() * profile_width_, columns)};
    profile_weights_ = zeros(filters * profile_.out);
    pack_product(filters, shape_.columns() * profile_width_, columns, profile_weights_.data(),
                 [&](std::int64_t i, std::int64_t o) {
                     const std::int64_t column = o / profile_width_, tap = head - 1 - o % profile_width_;
                     return tap < 0 ? 0.0F : from[(column * filters + i) * head + tap];
                 });
    profile_.weights = profile_weights_.data();
    profile_bias_ = floats_of(part.profile_bias);
    counts_ = floats_of(part.counts);
    counts_bias_ = floats_of(part.counts_bias);
}

DilatedLayer PackedPart::dilated(std::size_t i) const {
    const bool before = shape_.trunk == Trunk::relu_before;
    return {.product = {layers_[i].weights.data(), shape_.filters, row_},
            .bias = layers_[i].bias.data(),
            .row = row_,
            .dilation = shape_.dilation(static_cast<std::int64_t>(i)),
            .relu_before = before,
            .relu_after = !before,
            .relu_last = before && i + 1 == layers_.size()};
}

FeedForward PackedPart::feed_forward(std::size_t i) const {
    return {.first = {layers_[i].weights.data(), shape_.filters, inner_},
            .second = {layers_[i].second.data(), shape_.filters * shape_.expansion, row_},
            .scale = static_cast<float>(shape_.residual_scale)};
}

float PackedPart::log_count(const float* sums, std::int64_t group) const {
    double sum = 0;
    for (std::int64_t f = 0; f < shape_.filters; ++f)
        sum += double{sums[f]} * double{counts_[static_cast<std::size_t>(group * shape_.filters + f)]};
    return static_cast<float>(sum / static_cast<double>(shape_.counts) +
                              double{counts_bias_[static_cast<std::size_t>(group)]});
}

}  // namespace bigbird::networks
