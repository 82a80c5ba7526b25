// SPDX-License-Identifier: Apache-2.0
#include "bigbird/networks/splicing/member_pass.hpp"

#include "bigbird/core/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace bigbird::networks {

namespace {

constexpr std::int64_t block = 1024;  // rows that one thread computes at a time
constexpr std::int64_t fewest_taps_of_spectra = 8;

/// Memory of the calling thread, reused from call to call.
struct Workspace {
    SpliceRows rows, spectra;
};
Workspace& workspace() {
    thread_local Workspace own;
    return own;
}

void copy_rows(const float* from, std::int64_t count, float* to) {
    if (from != to) std::memcpy(to, from, static_cast<std::size_t>(count * splice_channels) * sizeof(float));
}

template <typename Body>
void for_blocks(std::int64_t begin, std::int64_t end, std::int64_t rows, int threads, const Body& body) {
    const std::int64_t blocks = (end - begin + rows - 1) / rows;
    parallel_for(blocks, threads, [&](std::int64_t i) {
        const std::int64_t first = begin + i * rows;
        body(first, std::min(first + rows, end));
    });
}

}  // namespace

MemberPass::Filter::Filter(const SpliceConvolution& convolution, std::int64_t taps_of_it,
                           std::int64_t dilation_of_it)
    : weights(taps_of_it * splice_channels), taps(taps_of_it), dilation(dilation_of_it) {
    std::ranges::copy(convolution.weights, weights.row(0));
    std::ranges::copy(convolution.bias, bias.begin());
    if (taps >= fewest_taps_of_spectra && 2 * taps <= splice_most_points)
        spectrum.emplace(convolution.weights, taps, dilation);
}

MemberPass::MemberPass(const SpliceMember& member)
    : kernels_(splice_kernels()),
      slope_(member.slope),
      output_weights_(member.output.weights),
      output_bias_(member.output.bias),
      outputs_(member.outputs()) {
    for (std::size_t letter = 0; letter < letters_.size(); ++letter)
        for (std::size_t c = 0; c < splice_channels; ++c)
            letters_[letter][c] = member.input.bias[c] +
                                  (letter < 4 ? member.input.weights[letter * splice_channels + c] : 0.0F);
    reach_.push_back(0);
    for (const SpliceUnit& unit : member.units) {
        norms_.emplace_back();
        std::ranges::copy(unit.norm.scale, norms_.back().scale.begin());
        std::ranges::copy(unit.norm.shift, norms_.back().shift.begin());
        for (const SpliceConvolution* const convolution : {&unit.first, &unit.second}) {
            filters_.emplace_back(*convolution, unit.taps, unit.dilation);
            reach_.push_back(reach_.back() + (unit.taps - 1) / 2 * unit.dilation);
        }
    }
    for (const SpliceSkip& skip : member.skips)
        skips_.push_back({skip.after, Filter(skip.convolution, 1, 1)});
}

template <typename Take>
void MemberPass::Spliced::each(std::int64_t first, std::int64_t last, const Take& take) const {
    const auto part = [&](const float* rows, std::int64_t from, std::int64_t to) {
        if (from < to) take(rows, from, to - from);
    };
    const std::int64_t left = std::min(last, begin), right = std::max(first, end);
    if (first < left) part(reference + first * splice_channels, first, left);
    const std::int64_t from = std::max(first, begin), to = std::min(last, end);
    if (from < to) part(middle + (from - begin) * splice_channels, from, to);
    if (right < last) part(reference + (right - shift) * splice_channels, right, last);
}

const float* MemberPass::Spliced::contiguous(std::int64_t first, std::int64_t last) const {
    if (last <= begin) return reference + first * splice_channels;
    if (first >= end) return reference + (first - shift) * splice_channels;
    return first >= begin && last <= end ? middle + (first - begin) * splice_channels : nullptr;
}

void MemberPass::first_map(std::span<const std::uint8_t> codes, float* to) const {
    for (const std::uint8_t code : codes) {
        std::ranges::copy(letters_[std::min<std::size_t>(code, letters_.size() - 1)], to);
        to += splice_channels;
    }
}

std::int64_t MemberPass::Filter::rows_together(std::int64_t rows) const {
    return spectrum && spectrum->pays(rows) ? spectrum->rows_together() : block;
}

void MemberPass::convolve(std::size_t k, const Spliced& in, const Spliced& base, std::int64_t begin,
                          std::int64_t end, float* to) const {
    const Filter& filter = filters_[k];
    const std::int64_t half = reach(k + 1) - reach(k), step = filter.rows_together(end - begin);
    const bool first_of_unit = k % 2 == 0,
               by_spectrum = filter.spectrum && filter.spectrum->pays(end - begin);
    const SpliceNorm norm{norms_[k / 2].scale.data(), norms_[k / 2].shift.data(), slope_};
    Workspace& own = workspace();
    own.rows.reserve(std::min(step, end - begin) + 2 * half);
    if (by_spectrum) own.spectra.reserve(filter.spectrum->work_rows());
    for (; begin < end; begin += step) {
        const std::int64_t count = std::min(step, end - begin), from = begin - half,
                           past = begin + count + half;
        const float* x = first_of_unit && !by_spectrum ? nullptr : in.contiguous(from, past);
        const bool norm_in_kernel = first_of_unit && x != nullptr;
        if (x == nullptr) {
            in.each(from, past, [&](const float* source, std::int64_t first, std::int64_t size) {
                if (first_of_unit)
                    kernels_.activate(norm, source, size, own.rows.row(first - from));
                else
                    copy_rows(source, size, own.rows.row(first - from));
            });
            x = own.rows.row(0);
        }
        const float* added = first_of_unit ? nullptr : base.contiguous(begin, begin + count);
        if (!first_of_unit && added == nullptr) {
            base.each(begin, begin + count, [&](const float* source, std::int64_t first, std::int64_t size) {
                copy_rows(source, size, to + (first - begin) * splice_channels);
            });
            added = to;
        }
        if (by_spectrum)
            kernels_.convolve_spectrum(filter.spectrum->view(filter.bias.data()),
                                       norm_in_kernel ? &norm : nullptr, x, count, slope_, added, to,
                                       own.spectra.row(0));
        else if (first_of_unit)
            kernels_.convolve(filter.view(), x, count, slope_, to);
        else
            kernels_.convolve_onto(filter.view(), x, count, added, to);
        to += count * splice_channels;
    }
}

void MemberPass::add_skip(std::int64_t units, const Spliced& map, std::int64_t begin, std::int64_t end,
                          float* sums) const {
    const auto skip = std::ranges::find(skips_, units, &Skip::after);
    if (skip == skips_.end()) return;
    map.each(begin, end, [&](const float* source, std::int64_t first, std::int64_t count) {
        float* const to = sums + (first - begin) * splice_channels;
        if (skip == skips_.begin())
            kernels_.convolve(skip->filter.view(), source, count, 1.0F, to);
        else
            kernels_.convolve_onto(skip->filter.view(), source, count, to, to);
    });
}

void MemberPass::probabilities_of(const float* sums, std::int64_t count, float* to) const {
    const auto n = static_cast<std::size_t>(outputs_);
    for (std::int64_t p = 0; p < count; ++p, sums += splice_channels, to += n) {
        for (std::size_t o = 0; o < n; ++o) {
            float logit = output_bias_[o];
            for (std::size_t c = 0; c < splice_channels; ++c)
                logit += sums[c] * output_weights_[c * n + o];
            to[o] = logit;
        }
        const float most = *std::max_element(to, to + n);
        float sum = 0;
        for (std::size_t o = 0; o < n; ++o)
            sum += to[o] = std::exp(to[o] - most);
        for (std::size_t o = 0; o < n; ++o)
            to[o] /= sum;
    }
}

void MemberPass::pass(std::span<const std::uint8_t> codes, int threads, Kept& kept,
                      const std::function<void(std::size_t)>& map_done) const {
    constexpr std::size_t last_maps = 3;
    const std::int64_t length = std::ssize(codes), margin = reach_.back();
    kept.length = length;
    kept.probabilities.clear();
    if (length <= 2 * margin) return;
    kept.maps.resize(std::max(kept.maps.size(), kept.all ? reach_.size() : last_maps));
    for (std::size_t k = 0; k < (kept.all ? reach_.size() : last_maps); ++k)
        kept.maps[k].reserve(length);
    const auto unchanged = [&](std::size_t k) { return Spliced{kept.map(k), length, length, 0, nullptr}; };
    first_map(codes, kept.map(0));
    kept.sums.reserve(length - 2 * margin);
    for (std::size_t k = 0;; ++k) {
        if (k % 2 == 0) {
            for_blocks(margin, length - margin, block, threads, [&](std::int64_t begin, std::int64_t end) {
                add_skip(static_cast<std::int64_t>(k / 2), unchanged(k), begin, end,
                         kept.sums.row(begin - margin));
            });
            map_done(k);
        }
        if (k == filters_.size()) break;
        const std::int64_t first = reach(k + 1), last = length - first;
        for_blocks(first, last, filters_[k].rows_together(last - first), threads,
                   [&](std::int64_t begin, std::int64_t end) {
                       convolve(k, unchanged(k), unchanged(k == 0 ? 0 : k - 1), begin, end,
                                kept.map(k + 1) + begin * splice_channels);
                   });
    }
    kept.probabilities.resize(static_cast<std::size_t>((length - 2 * margin) * outputs_));
    for_blocks(0, length - 2 * margin, block, threads, [&](std::int64_t begin, std::int64_t end) {
        probabilities_of(kept.sums.row(begin), end - begin, kept.probabilities.data() + begin * outputs_);
    });
}

void MemberPass::probabilities(std::span<const std::uint8_t> codes, int threads, Kept& kept) const {
    kept.all = false;
    pass(codes, threads, kept, [](std::size_t) {});
}

MemberPass::Spliced MemberPass::changed(std::size_t map, const Kept& kept, const SpliceEdit& edit) const {
    const std::int64_t r = reach(map), inserted = std::ssize(edit.inserted),
                       needed = edit.end + context() - r;
    Spliced rows{kept.map(map), std::max(edit.at - r, edit.begin + r), 0, inserted - edit.removed, nullptr};
    rows.end = std::max(rows.begin, std::min(edit.at + inserted + r, needed));
    return rows;
}

void MemberPass::edit_map(std::size_t k, const Kept& kept, const SpliceEdit& edit, EditedMaps& maps) const {
    const std::int64_t margin = reach_.back(), first = edit.begin + margin, past = edit.end + margin;
    Spliced next = changed(k, kept, edit);
    const std::int64_t size = next.end - next.begin;
    maps.next_stream.reserve(size);
    next.middle = maps.next_stream.row(0);
    if (k == 0) {
        maps.sums.reserve(past - first);
        const std::int64_t begin = std::max<std::int64_t>(next.begin - edit.at, 0);
        if (size > 0)
            first_map(std::span(edit.inserted)
                          .subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(size)),
                      maps.next_stream.row(0));
    } else {
        Spliced inner = changed(k - 1, kept, edit);
        maps.inner.reserve(inner.end - inner.begin);
        inner.middle = maps.inner.row(0);
        convolve(k - 2, maps.at, maps.at, inner.begin, inner.end, maps.inner.row(0));
        convolve(k - 1, inner, maps.at, next.begin, next.end, maps.next_stream.row(0));
    }
    std::swap(maps.stream, maps.next_stream);
    maps.at = next;
    add_skip(static_cast<std::int64_t>(k / 2), next, first, past, maps.sums.row(0));
}

std::vector<float> MemberPass::edited_probabilities(const SpliceEdit& edit, const EditedMaps& maps) const {
    const std::int64_t count = edit.end - edit.begin;
    std::vector<float> found(static_cast<std::size_t>(count * outputs_));
    probabilities_of(maps.sums.row(0), count, found.data());
    return found;
}

std::vector<std::vector<float>> MemberPass::edited(std::span<const std::uint8_t> codes,
                                                   std::span<const SpliceEdit> edits, int threads,
                                                   Kept& kept) const {
    std::vector<std::vector<float>> results(edits.size());
    kept.all = edits.size() > few_edits;
    std::vector<EditedMaps> maps(kept.all ? 0 : edits.size());
    pass(codes, threads, kept, [&](std::size_t k) {
        parallel_for(std::ssize(maps), threads, [&](std::int64_t i) {
            edit_map(k, kept, edits[static_cast<std::size_t>(i)], maps[static_cast<std::size_t>(i)]);
        });
    });
    parallel_for(std::ssize(edits), threads, [&](std::int64_t i) {
        const auto at = static_cast<std::size_t>(i);
        thread_local EditedMaps own;
        for (std::size_t k = 0; kept.all && k < reach_.size(); k += 2)
            edit_map(k, kept, edits[at], own);
        results[at] = edited_probabilities(edits[at], kept.all ? own : maps[at]);
    });
    return results;
}

}  // namespace bigbird::networks
