// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/torch_threads.hpp"
#include "bigbird/bins/cpu/stem_kernels.hpp"
#include "bigbird/bins/layers.hpp"
#include "bigbird/bins/secants.hpp"
#include "bigbird/bins/stem.hpp"
#include "bigbird/model/layers/own_gradient.hpp"
#include "bigbird/model/layers/recompute.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <vector>

namespace bigbird::bins {

namespace {

constexpr std::int64_t n_code = 4;  // those below it are letters

/// (batch, length / bin, motif_filters) of found, (batch, length, strands x channels).
at::Tensor best_sites(const at::Tensor& found, const FirstStage& stage) {
    if (stage.motif_filters == 0) return {};
    const at::Tensor places =
        found.reshape({found.size(0), found.size(1) / stage.bin, -1, stage.weight.size(0)})
            .narrow(3, 0, stage.motif_filters);
    return largest(places, 2);
}

/// Words that cover a filter, and the letters that they have in front of it and behind it.
struct Cover {
    std::int64_t words, front, behind;

    explicit Cover(std::int64_t width)
        : words((width + word_letters - 1) / word_letters),
          front((words * word_letters - width) / 2),
          behind(words * word_letters - width - front) {}
};

/// (channel groups, chunks, words, strands, lanes): the contribution of each word to a filter's sum.
at::Tensor tables_of(const at::Tensor& weight, bool both_strands) {
    const Cover cover(weight.size(2));
    const std::int64_t strands = both_strands ? 2 : 1, channels = weight.size(0), chunks = cover.words,
                       lanes = stem_kernels().first.lanes, groups = (channels + lanes - 1) / lanes;
    const at::Tensor filters = both_strands ? at::stack({weight, weight.flip({1, 2})}) : weight.unsqueeze(0);
    const at::Tensor letter =
        at::constant_pad_nd(filters, {cover.front, cover.behind, 0, 1, 0, groups * lanes - channels})
            .reshape({strands, groups, lanes, n_code + 1, chunks, word_letters})
            .permute({1, 4, 5, 3, 0, 2})  // (groups, chunks, letters of a word, A C G T N, strands, lanes)
            .contiguous();
    const at::Tensor first = letter.select(2, 0), second = letter.select(2, 1), third = letter.select(2, 2);
    // The second letter last, so that a word's reverse complement gives the other strand's filter the same.
    return (first.unsqueeze(3).unsqueeze(4) + third.unsqueeze(2).unsqueeze(3) +
            second.unsqueeze(2).unsqueeze(4))
        .reshape({groups, chunks, words_in_all, strands, lanes});
}

/// For each window, the words that begin at each base, from half a filter before the window on, in
/// FirstKernel's form: (batch, length + 3 chunks) int16.
at::Tensor words_of(const at::Tensor& bases, std::int64_t half, std::int64_t chunks, std::int64_t row) {
    const std::int64_t length = bases.size(1), size = length + word_letters * chunks;
    at::Tensor words = at::empty({bases.size(0), size}, bases.options().dtype(at::kShort));
    const auto* const codes = bases.const_data_ptr<std::uint8_t>();
    auto* const to = words.mutable_data_ptr<std::int16_t>();
    at::parallel_for(0, bases.size(0), 1, [&](std::int64_t begin, std::int64_t end) {
        std::vector<std::int64_t> padded(static_cast<std::size_t>(size + word_letters), n_code);
        for (std::int64_t n = begin; n < end; ++n) {
            for (std::int64_t i = 0; i < length; ++i)
                padded[static_cast<std::size_t>(half + i)] =
                    std::min<std::int64_t>(codes[n * length + i], n_code);
            const std::int64_t* code = padded.data();
            for (std::int64_t i = 0; i < size; ++i, ++code)
                to[n * size + i] = static_cast<std::int16_t>((25 * code[0] + 5 * code[1] + code[2]) * row);
        }
    });
    return words;
}

/// The kernel's operands as tensors: tables_of(), words_of(), and (channels) padded to full lanes.
struct FirstOperands {
    at::Tensor table, bias, sharpness, words;
    FirstShape shape;
    std::int64_t site_groups = 0;  // channel groups that have sites

    std::int64_t groups() const { return table.size(0); }
    std::int64_t windows() const { return words.size(0); }
    std::int64_t channels() const { return bias.size(0); }
    std::int64_t site_channels() const { return site_groups * (channels() / groups()); }
    std::int64_t sites() const { return site_groups > 0 ? shape.outputs / shape.outputs_of_site : 0; }
    const std::uint16_t* words_at(std::int64_t window) const {
        return reinterpret_cast<const std::uint16_t*>(words.const_data_ptr<std::int16_t>()) +
               window * words.size(1);
    }
    FirstWeights weights(std::int64_t group) const {
        const std::int64_t first = group * (channels() / groups());
        return {table.const_data_ptr<float>() + group * table.stride(0), bias.const_data_ptr<float>() + first,
                sharpness.const_data_ptr<float>() + first};
    }
};

FirstOperands operands_of(const at::Tensor& bases, const FirstStage& stage) {
    const std::int64_t lanes = stem_kernels().first.lanes, strands = stage.both_strands ? 2 : 1;
    const std::int64_t width = stage.weight.size(2);
    const Cover cover(width);
    FirstOperands all;
    all.table = stage.table.defined() ? stage.table : first_table(stage);
    const std::int64_t channels = all.table.size(0) * lanes, more = channels - stage.weight.size(0);
    all.bias = at::constant_pad_nd(stage.bias.to(at::kFloat), {0, more});
    all.sharpness = at::constant_pad_nd(stage.sharpness.to(at::kFloat), {0, more});
    all.words = words_of(bases.contiguous(), width / 2 + cover.front, cover.words, strands * lanes);
    all.site_groups = (stage.motif_filters + lanes - 1) / lanes;
    all.shape = {.outputs = bases.size(1) / stage.pool,
                 .outputs_of_site = all.site_groups > 0 ? stage.bin / stage.pool : 1,
                 .pool = stage.pool,
                 .strands = strands,
                 .chunks = cover.words,
                 .stride = channels,
                 .site_stride = all.site_channels()};
    return all;
}

/// Positions, (windows, outputs, channels), and sites, (windows, sites, site_channels).
model::Tensors forward_on_cpu(const FirstOperands& given) {
    const std::int64_t lanes = stem_kernels().first.lanes;
    const FirstShape& shape = given.shape;
    at::Tensor y = at::empty({given.windows(), shape.outputs, shape.stride}, given.bias.options());
    at::Tensor sites = at::empty({given.windows(), given.sites(), shape.site_stride}, given.bias.options());
    auto *const to = y.mutable_data_ptr<float>(), *const sites_to = sites.mutable_data_ptr<float>();
    at::parallel_for(0, given.windows() * given.groups(), 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            const std::int64_t window = i / given.groups(), group = i % given.groups();
            const bool has_sites = group < given.site_groups;
            stem_kernels().first.forward(
                shape, given.words_at(window), given.weights(group),
                {to + window * y.stride(0) + group * lanes,
                 has_sites ? sites_to + window * sites.stride(0) + group * lanes : nullptr});
        }
    });
    return {y, sites};
}

/// Gradients of table, bias and sharpness from the gradients of forward_on_cpu()'s results.
model::Tensors backward_on_cpu(const FirstOperands& given, const at::Tensor& dy, const at::Tensor& d_sites) {
    const std::int64_t lanes = stem_kernels().first.lanes, groups = given.groups();
    // Each part of the windows has separate sums, so that more threads than groups have work.
    const std::int64_t parts = std::min<std::int64_t>(2, given.windows());
    at::Tensor table = at::zeros({parts, groups, given.table.stride(0)}, dy.options());
    at::Tensor bias = at::zeros({parts, given.channels()}, dy.options()), sharpness = at::zeros_like(bias);
    auto *const to = table.mutable_data_ptr<float>(), *const to_bias = bias.mutable_data_ptr<float>(),
                *const to_sharpness = sharpness.mutable_data_ptr<float>();
    const auto *const from = dy.const_data_ptr<float>(), *const from_sites = d_sites.const_data_ptr<float>();
    at::parallel_for(0, parts * groups, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            const std::int64_t part = i / groups, group = i % groups;
            const std::int64_t channel = part * given.channels() + group * lanes;
            for (std::int64_t window = part; window < given.windows(); window += parts)
                stem_kernels().first.backward(
                    given.shape, given.words_at(window), given.weights(group),
                    {from + window * dy.stride(0) + group * lanes,
                     group < given.site_groups ? from_sites + window * d_sites.stride(0) + group * lanes
                                               : nullptr,
                     to + i * table.stride(1), to_bias + channel, to_sharpness + channel});
        }
    });
    return {table.sum(0).view(given.table.sizes()), bias.sum(0), sharpness.sum(0)};
}

/// The first stage of x without `margin` bases on either side; the backward pass computes it again.
StemOutput inner_part(const at::Tensor& x, const FirstStage& stage, std::int64_t margin) {
    const std::int64_t size = x.size(1) - 2 * margin, batch = x.size(0), channels = stage.weight.size(0);
    const std::int64_t outputs = size / stage.pool * channels;
    const auto both = [=](const at::Tensor& bases) {
        const StemOutput out = first_stage_reference(bases, stage);
        const at::Tensor inner = out.positions.narrow(1, margin / stage.pool, size / stage.pool).flatten(1);
        if (!out.sites.defined()) return inner;
        return at::cat({inner, out.sites.narrow(1, margin / stage.bin, size / stage.bin).flatten(1)}, 1);
    };
    // recomputed() keeps nothing only where its input has a gradient.
    const bool differentiate = at::GradMode::is_enabled() && !x.requires_grad();
    const at::Tensor y = model::recomputed(both, differentiate ? x.detach().requires_grad_() : x);
    return {y.narrow(1, 0, outputs).reshape({batch, -1, channels}),
            stage.motif_filters > 0
                ? y.narrow(1, outputs, y.size(1) - outputs).reshape({batch, -1, stage.motif_filters})
                : at::Tensor()};
}

}  // namespace

at::Tensor base_channels(const at::Tensor& bases) {
    if (bases.dim() == 3) return bases;
    const at::Tensor codes = at::arange(n_code, bases.options());
    return bases.unsqueeze(2).eq(codes).to(at::kFloat);
}

at::Tensor first_table(const FirstStage& stage) {
    return tables_of(stage.weight.to(at::kFloat), stage.both_strands);
}

bool is_mirrored(const FirstStage& stage) {
    const Cover cover(stage.weight.size(2));
    return stage.both_strands && stage.pool <= most_pool && cover.front == cover.behind;
}

StemOutput first_stage(const at::Tensor& bases, const FirstStage& stage) {
    if (!bases.device().is_cpu() && !takes_secants()) return first_stage_in_parts(bases, stage);
    if (!bases.device().is_cpu() || bases.dim() == 3 || stage.pool > most_pool)
        return first_stage_reference(bases, stage);
    const FirstOperands given = operands_of(bases, stage);
    const model::Tensors both = forward_on_cpu(given);
    if (at::GradMode::is_enabled()) {
        model::set_gradient(
            both, {given.table, given.bias, given.sharpness},
            [given](const model::Tensors& gradients) {
                return backward_on_cpu(given, gradients[0].contiguous(), gradients[1].contiguous());
            });
    }
    return {both[0].narrow(2, 0, stage.weight.size(0)),
            stage.motif_filters > 0 ? both[1].narrow(2, 0, stage.motif_filters) : at::Tensor()};
}

StemOutput first_stage_in_parts(const at::Tensor& bases, const FirstStage& stage, std::int64_t most) {
    const at::Tensor x = base_channels(bases).to(stage.weight.scalar_type());
    const std::int64_t batch = x.size(0), length = x.size(1), bin = stage.bin,
                       values = stage.weight.size(0) * (stage.both_strands ? 2 : 1);
    if (batch * length * values <= most) return first_stage_reference(x, stage);
    const std::int64_t rows = std::max<std::int64_t>(1, most / values / length),
                       part = std::clamp(most / values / bin * bin, bin, length),
                       margin = part == length ? 0 : (stage.weight.size(2) / 2 + bin - 1) / bin * bin;
    const at::Tensor padded = at::constant_pad_nd(x, {0, 0, margin, margin});
    std::vector<at::Tensor> positions, sites;
    for (std::int64_t row = 0; row < batch; row += rows) {
        const at::Tensor some = padded.narrow(0, row, std::min(rows, batch - row));
        std::vector<at::Tensor> row_positions, row_sites;
        for (std::int64_t begin = 0; begin < length; begin += part) {
            const std::int64_t size = std::min(part, length - begin);
            StemOutput out = inner_part(some.narrow(1, begin, size + 2 * margin), stage, margin);
            row_positions.push_back(std::move(out.positions));
            if (out.sites.defined()) row_sites.push_back(std::move(out.sites));
        }
        positions.push_back(at::cat(row_positions, 1));
        if (!row_sites.empty()) sites.push_back(at::cat(row_sites, 1));
    }
    return {at::cat(positions), sites.empty() ? at::Tensor() : at::cat(sites)};
}

StemOutput first_stage_reference(const at::Tensor& bases, const FirstStage& stage) {
    const at::Tensor x = base_channels(bases).to(stage.weight.scalar_type());
    const std::int64_t strands = stage.both_strands ? 2 : 1;
    // The reverse complement of a filter finds on this strand what the filter finds on the other strand.
    const at::Tensor found = stage.both_strands
                                 ? convolution(x, at::cat({stage.weight, stage.weight.flip({1, 2})}),
                                               at::cat({stage.bias, stage.bias}))
                                 : convolution(x, stage.weight, stage.bias);
    // (batch, length, strands x channels): the two strands of a base become adjacent positions.
    const at::Tensor places = found.reshape({x.size(0), strands * x.size(1), stage.weight.size(0)});
    const at::Tensor active = elementwise(
        places, [](const at::Tensor& y) { return at::gelu(y, "tanh"); });
    return {jointly(active,
                    [&](const at::Tensor& y) {
                        return softmax_pool_reference(y, stage.sharpness, strands * stage.pool);
                    }),
            best_sites(found, stage)};
}

}  // namespace bigbird::bins
