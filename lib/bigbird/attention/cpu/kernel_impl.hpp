// SPDX-License-Identifier: Apache-2.0
// The kernels themselves, over any kind of Tiles. Scores are kept in units of log2, so that probabilities are
// powers of two. Padded key columns get the bias -infinity, so that they have no weight.
#pragma once

#include "bigbird/attention/cpu/memory.hpp"
#include "bigbird/attention/pattern/pattern.hpp"

namespace {

template <typename Tiles>
class KernelOf final : public FusedKernel {
    using Element = typename Tiles::Element;
    using Sizes = SizesOf<Tiles>;
    using Packed = PackedOf<Tiles>;
    using ForwardScratch = ForwardScratchOf<Tiles>;
    using BackwardScratch = BackwardScratchOf<Tiles>;

    /// Begins and ends the use of tile registers.
    struct TileRegisters {
        TileRegisters() { Tiles::begin(); }
        ~TileRegisters() { Tiles::end(); }
        TileRegisters(const TileRegisters&) = delete;
        TileRegisters& operator=(const TileRegisters&) = delete;
    };

public:
    explicit KernelOf(const char* name) : name_(name) {}
    std::string name() const override { return name_; }
    int step() const override { return Tiles::step; }
    std::size_t packed_bytes(const FusedProblem& p, bool backward) const override {
        return Packed(Sizes(p), p.blocks, backward, nullptr).bytes;
    }
    std::size_t scratch_bytes(const FusedProblem& p, bool backward) const override {
        return backward ? BackwardScratch(Sizes(p), p.blocks, nullptr).bytes
                        : ForwardScratch(Sizes(p), nullptr).bytes;
    }

    void pack(const FusedProblem& p, std::int64_t group, bool backward, std::byte* memory,
              std::byte* scratch) const override {
        const Sizes s(p);
        const Packed packed(s, p.blocks, backward, memory);
        Arena arena(scratch);
        auto* const plain = arena.take<Element>(s.tile);
        auto* const right = arena.take<Element>(s.tile);
        for (std::int64_t block = 0; block < p.blocks; ++block) {
            load_block<Tiles>(p, s, p.k, group, block, plain);
            Tiles::as_right_transposed(packed.of(packed.k_transposed, block), plain, s.padded_block,
                                       s.padded_dim);
            if (backward) Tiles::as_right(packed.of(packed.k, block), plain, s.padded_block, s.padded_dim);
            load_block<Tiles>(p, s, p.v, group, block, plain);
            if (!backward) {
                Tiles::as_right(packed.of(packed.v, block), plain, s.padded_block, s.padded_dim);
                continue;
            }
            Tiles::as_right_transposed(packed.of(packed.v, block), plain, s.padded_block, s.padded_dim);
            load_block<Tiles>(p, s, p.q, group, block, packed.of(packed.q, block));
            Tiles::as_right(right, packed.of(packed.q, block), s.padded_block, s.padded_dim);
            Tiles::as_left_transposed(packed.of(packed.q_transposed, block), right, s.padded_block,
                                      s.padded_dim);
            pack_gradient(p, s, group, block, packed, right);
        }
    }

    void forward_row(const FusedProblem& p, std::int64_t group, std::int64_t row, const std::byte* memory,
                     std::byte* scratch) const override {
        const TileRegisters registers;
        const Sizes s(p);
        const Packed packed(s, p.blocks, false, const_cast<std::byte*>(memory));
        const ForwardScratch w(s, scratch);
        load_block<Tiles>(p, s, p.q, group, row, w.q);
        std::memset(w.out, 0, static_cast<std::size_t>(s.tile) * sizeof(float));
        for (std::int64_t r = 0; r < s.padded_block; ++r) {
            w.maximum[r] = no_maximum;
            Vec::store(w.sum + r * Vec::lanes, Vec::set(0));
        }
        const BlockLayout& layout = p.layout(group);
        const std::int64_t end = layout.row_offsets[static_cast<std::size_t>(row) + 1];
        for (std::int64_t first = layout.row_offsets[static_cast<std::size_t>(row)]; first < end;
             first += s.chunk)
            attend_chunk(p, s, packed, w, group, row, first, end - first < s.chunk ? end - first : s.chunk);
        finish_row(p, s, w, group, row);
    }

    void backward_group(const FusedProblem& p, std::int64_t group, const std::byte* memory,
                        std::byte* scratch) const override {
        const TileRegisters registers;
        const Sizes s(p);
        const Packed packed(s, p.blocks, true, const_cast<std::byte*>(memory));
        const BackwardScratch w(s, p.blocks, scratch);
        const auto all = static_cast<std::size_t>(p.blocks * s.tile) * sizeof(float);
        std::memset(w.dk_transposed, 0, all);
        std::memset(w.dv_transposed, 0, all);
        const BlockLayout& layout = p.layout(group);
        for (std::int64_t row = 0; row < p.blocks; ++row) {
            std::memset(w.dq, 0, static_cast<std::size_t>(s.tile) * sizeof(float));
            for (std::int32_t entry = layout.row_offsets[static_cast<std::size_t>(row)];
                 entry < layout.row_offsets[static_cast<std::size_t>(row) + 1]; ++entry) {
                const std::int64_t column = layout.columns[static_cast<std::size_t>(entry)];
                pair_gradients(p, s, packed, w, group, row, entry);
                add_dq(s, packed, w, column);
                add_dk_dv(s, packed, w, row, w.dk_transposed + column * s.tile,
                          w.dv_transposed + column * s.tile);
            }
            store_block<Tiles>(p, s, p.dq, group, row, w.dq, s.scale * ln_2);
        }
        for (std::int64_t column = 0; column < p.blocks; ++column)
            store_columns(p, s, w, group, column, column);
    }

    void backward_row(const FusedProblem& p, std::int64_t group, std::int64_t row, const std::byte* memory,
                      std::byte* scratch) const override {
        const TileRegisters registers;
        const Sizes s(p);
        const Packed packed(s, p.blocks, true, const_cast<std::byte*>(memory));
        const BackwardScratch w(s, p.blocks, scratch);
        std::memset(w.dq, 0, static_cast<std::size_t>(s.tile) * sizeof(float));
        const BlockLayout& layout = p.layout(group);
        for (std::int32_t entry = layout.row_offsets[static_cast<std::size_t>(row)];
             entry < layout.row_offsets[static_cast<std::size_t>(row) + 1]; ++entry) {
            pair_gradients(p, s, packed, w, group, row, entry);
            add_dq(s, packed, w, layout.columns[static_cast<std::size_t>(entry)]);
        }
        store_block<Tiles>(p, s, p.dq, group, row, w.dq, s.scale * ln_2);
    }

    void backward_column(const FusedProblem& p, std::int64_t group, std::int64_t column, const KeyRows& rows,
                         const std::byte* memory, std::byte* scratch) const override {
        const TileRegisters registers;
        const Sizes s(p);
        const Packed packed(s, p.blocks, true, const_cast<std::byte*>(memory));
        const BackwardScratch w(s, p.blocks, scratch);
        std::memset(w.dk_transposed, 0, static_cast<std::size_t>(s.tile) * sizeof(float));
        std::memset(w.dv_transposed, 0, static_cast<std::size_t>(s.tile) * sizeof(float));
        for (std::int32_t i = rows.offsets[static_cast<std::size_t>(column)];
             i < rows.offsets[static_cast<std::size_t>(column) + 1]; ++i) {
            const std::int64_t row = rows.rows[static_cast<std::size_t>(i)];
            pair_gradients(p, s, packed, w, group, row, rows.entries[static_cast<std::size_t>(i)]);
            add_dk_dv(s, packed, w, row, w.dk_transposed, w.dv_transposed);
        }
        store_columns(p, s, w, group, column, 0);
    }

private:
    /// d_out of real queries in both forms, its products with out, and lse.
    static void pack_gradient(const FusedProblem& p, const Sizes& s, std::int64_t group, std::int64_t block,
                              const Packed& packed, Element* right) {
        Element* const d_out = packed.of(packed.d_out, block);
        Element* const out = packed.of(packed.d_out_transposed, block);  // filled for good below
        load_block<Tiles>(p, s, p.d_out, group, block, d_out);
        load_block<Tiles>(p, s, p.out, group, block, out);
        const bool* const mask = p.key_mask + (group / p.heads) * p.length() + block * s.block;
        const float* const lse = p.lse + group * p.length() + block * s.block;
        for (std::int64_t r = 0; r < s.padded_block; ++r) {
            Element* const row = d_out + r * s.padded_dim;
            if (r < s.block && p.zero_padded_queries && !mask[r])
                std::memset(row, 0, static_cast<std::size_t>(s.padded_dim) * sizeof(Element));
            Vec::Float product = Vec::set(0);
            for (std::int64_t i = 0; i < s.padded_dim; i += Vec::lanes)
                product = Vec::fma(Tiles::load(row + i), Tiles::load(out + r * s.padded_dim + i), product);
            packed.delta[block * s.padded_block + r] = Vec::sum(product);
            packed.lse[block * s.padded_block + r] = r < s.block ? lse[r] : 0;
        }
        Tiles::as_right(right, d_out, s.padded_block, s.padded_dim);
        Tiles::as_left_transposed(out, right, s.padded_block, s.padded_dim);
    }

    /// Takes the head's slope times the distance of query and key from scores, which are not scaled yet.
    static void subtract_distances(const FusedProblem& p, const Sizes& s, std::int64_t group,
                                   std::int64_t blocks_apart, float* scores, std::int64_t stride) {
        const float slope = p.slopes[group % p.heads] * log2_e / s.scale;
        for (std::int64_t r = 0; r < s.block; ++r, scores += stride) {
            const auto first = static_cast<std::int32_t>(blocks_apart * s.block + r);
            for (std::int32_t i = 0; i < s.block; ++i)
                scores[i] -= slope * static_cast<float>(first > i ? first - i : i - first);
        }
    }

    /// The bias that every row adds to the scaled scores of an entry's key block; `row`: the query block.
    /// Scores of pairs that the entry's element mask leaves out become -infinity.
    static void add_bias(const FusedProblem& p, const Sizes& s, std::int64_t group, std::int64_t row,
                         std::int64_t entry, float* bias, float* scores, std::int64_t stride) {
        const BlockLayout& layout = p.layout(group);
        const auto e = static_cast<std::size_t>(entry);
        const std::int64_t column = layout.columns[e];
        const float weight =
            layout.multiplicity[e] == 1 ? 0 : std::log2(static_cast<float>(layout.multiplicity[e]));
        const bool* const mask = p.key_mask + (group / p.heads) * p.length() + column * s.block;
        constexpr auto padding = static_cast<float>(bigbird::attention::padding_bias) * log2_e;
        for (std::int64_t i = 0; i < s.padded_block; ++i)
            bias[i] = i >= s.block ? -infinity : weight + (mask[i] ? 0 : padding);
        if (p.slopes != nullptr) subtract_distances(p, s, group, row - column, scores, stride);
        if (!layout.is_masked(e)) return;
        const std::uint8_t* attended = layout.masks[static_cast<std::size_t>(layout.mask[e])].data();
        for (std::int64_t r = 0; r < s.block; ++r, attended += s.block)
            for (std::int64_t i = 0; i < s.block; ++i)
                scores[r * stride + i] = attended[i] != 0 ? scores[r * stride + i] : -infinity;
    }

    static void attend_chunk(const FusedProblem& p, const Sizes& s, const Packed& packed,
                             const ForwardScratch& w, std::int64_t group, std::int64_t row,
                             std::int64_t first, std::int64_t count) {
        const std::int64_t width = count * s.padded_block;
        const BlockLayout& layout = p.layout(group);
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t column = layout.columns[static_cast<std::size_t>(first + i)];
            float* const scores = w.scores + i * s.padded_block;
            Tiles::multiply({scores, width}, {w.q, s.padded_dim},
                            {packed.of(packed.k_transposed, column), s.padded_block},
                            {s.padded_block, s.padded_block, s.padded_dim}, false);
            add_bias(p, s, group, row, first + i, w.bias + i * s.padded_block, scores, width);
        }
        for (std::int64_t r = 0; r < s.block; ++r)
            soften_row(s, w, r, width);
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t column = layout.columns[static_cast<std::size_t>(first + i)];
            Tiles::multiply({w.out, s.padded_dim}, {w.probabilities + i * s.padded_block, width},
                            {packed.of(packed.v, column), s.padded_dim},
                            {s.padded_block, s.padded_dim, s.padded_block}, true);
        }
    }

    /// One step of the online softmax over a row of scores.
    static void soften_row(const Sizes& s, const ForwardScratch& w, std::int64_t r, std::int64_t width) {
        float* const scores = w.scores + r * width;
        Element* const probabilities = w.probabilities + r * width;
        const Vec::Float scale = Vec::set(s.scale);
        Vec::Float largest = Vec::set(-infinity);
        for (std::int64_t i = 0; i < width; i += Vec::lanes) {
            const Vec::Float x = Vec::fma(Vec::load(scores + i), scale, Vec::load(w.bias + i));
            Vec::store(scores + i, x);
            largest = Vec::max(x, largest);
        }
        float* const sums = w.sum + r * Vec::lanes;
        const float before = w.maximum[r];
        if (Vec::any_above(largest, Vec::set(before + slack))) {
            const float now = Vec::largest(largest);
            w.maximum[r] = now;
            if (before != no_maximum) {
                const Vec::Float factor = Vec::set(std::exp2(before - now));
                Vec::store(sums, Vec::mul(Vec::load(sums), factor));
                float* const out = w.out + r * s.padded_dim;
                for (std::int64_t i = 0; i < s.padded_dim; i += Vec::lanes)
                    Vec::store(out + i, Vec::mul(Vec::load(out + i), factor));
            }
        }
        const Vec::Float maximum = Vec::set(w.maximum[r]);
        Vec::Float sum = Vec::load(sums);
        for (std::int64_t i = 0; i < width; i += Vec::lanes) {
            const Vec::Float x = exp2<Tiles::coarse>(Vec::sub(Vec::load(scores + i), maximum));
            sum = Vec::add(sum, x);
            Tiles::store_plain(probabilities + i, x);
        }
        Vec::store(sums, sum);
    }

    static void finish_row(const FusedProblem& p, const Sizes& s, const ForwardScratch& w, std::int64_t group,
                           std::int64_t row) {
        const std::int64_t first = row * s.block;
        const bool* const mask = p.key_mask + (group / p.heads) * p.length() + first;
        for (std::int64_t r = 0; r < s.block; ++r) {
            const float sum = Vec::sum(Vec::load(w.sum + r * Vec::lanes));
            p.lse[group * p.length() + first + r] = w.maximum[r] + std::log2(sum);
            const bool real = !p.zero_padded_queries || mask[r];
            float* const out = w.out + r * s.padded_dim;
            const Vec::Float factor = Vec::set(1.0F / sum);
            for (std::int64_t i = 0; i < s.padded_dim; i += Vec::lanes)
                Vec::store(out + i, real ? Vec::mul(Vec::load(out + i), factor) : Vec::set(0));
        }
        store_block<Tiles>(p, s, p.out, group, row, w.out, 1.0F);
    }

    /// Probabilities (right operand) and gradients of scores (both forms) of a query block and a key block.
    static void pair_gradients(const FusedProblem& p, const Sizes& s, const Packed& packed,
                               const BackwardScratch& w, std::int64_t group, std::int64_t row,
                               std::int64_t entry) {
        const std::int64_t column = p.layout(group).columns[static_cast<std::size_t>(entry)],
                           n = s.padded_block;
        const ProductSizes sizes{n, n, s.padded_dim};
        Tiles::multiply({w.scores, n}, {packed.of(packed.q, row), s.padded_dim},
                        {packed.of(packed.k_transposed, column), n}, sizes, false);
        Tiles::multiply({w.d_probabilities, n}, {packed.of(packed.d_out, row), s.padded_dim},
                        {packed.of(packed.v, column), n}, sizes, false);
        add_bias(p, s, group, row, entry, w.bias, w.scores, n);
        const float* const lse = packed.lse + row * n;
        const float* const delta = packed.delta + row * n;
        const Vec::Float scale = Vec::set(s.scale);
        for (std::int64_t r = 0; r < n; r += 2) {
            for (std::int64_t i = 0; i < n; i += Vec::lanes) {
                const Vec::Float bias = Vec::load(w.bias + i);
                const auto probability = [&](std::int64_t at) {
                    const Vec::Float score = Vec::fma(Vec::load(w.scores + at * n + i), scale, bias);
                    return exp2<Tiles::coarse>(Vec::sub(score, Vec::set(lse[at])));
                };
                const auto gradient = [&](std::int64_t at, Vec::Float probability_of_it) {
                    const Vec::Float dp = Vec::load(w.d_probabilities + at * n + i);
                    return Vec::mul(probability_of_it, Vec::sub(dp, Vec::set(delta[at])));
                };
                const Vec::Float even = probability(r), odd = probability(r + 1);
                const Vec::Float d_even = gradient(r, even), d_odd = gradient(r + 1, odd);
                Tiles::store_rows(Tiles::row_pair(w.probabilities, r, i, n), n, even, odd);
                Tiles::store_rows(Tiles::row_pair(w.d_scores_right, r, i, n), n, d_even, d_odd);
                if constexpr (sizeof(Element) == 2) {
                    Tiles::store_plain(w.d_scores + r * n + i, d_even);
                    Tiles::store_plain(w.d_scores + (r + 1) * n + i, d_odd);
                }
            }
        }
    }

    static void add_dq(const Sizes& s, const Packed& packed, const BackwardScratch& w, std::int64_t column) {
        const Element* const d_scores = sizeof(Element) == 2 ? w.d_scores : w.d_scores_right;
        Tiles::multiply({w.dq, s.padded_dim}, {d_scores, s.padded_block},
                        {packed.of(packed.k, column), s.padded_dim},
                        {s.padded_block, s.padded_dim, s.padded_block}, true);
    }

    static void add_dk_dv(const Sizes& s, const Packed& packed, const BackwardScratch& w, std::int64_t row,
                          float* dk_transposed, float* dv_transposed) {
        const std::int64_t n = s.padded_block;
        const ProductSizes sizes{s.padded_dim, n, n};
        Tiles::multiply({dv_transposed, n}, {packed.of(packed.d_out_transposed, row), n},
                        {w.probabilities, n}, sizes, true);
        Tiles::multiply({dk_transposed, n}, {packed.of(packed.q_transposed, row), n}, {w.d_scores_right, n},
                        sizes, true);
    }

    /// Sum `slot` of dk and dv, made upright and written to the key block `column`.
    static void store_columns(const FusedProblem& p, const Sizes& s, const BackwardScratch& w,
                              std::int64_t group, std::int64_t column, std::int64_t slot) {
        const auto upright = [&](const float* transposed) {
            transpose_words(reinterpret_cast<std::uint32_t*>(w.rows), s.padded_dim,
                            reinterpret_cast<const std::uint32_t*>(transposed + slot * s.tile),
                            s.padded_block, s.padded_dim, s.padded_block);
        };
        upright(w.dk_transposed);
        store_block<Tiles>(p, s, p.dk, group, column, w.rows, s.scale * ln_2);
        upright(w.dv_transposed);
        store_block<Tiles>(p, s, p.dv, group, column, w.rows, 1.0F);
    }

    const char* name_;
};

}  // namespace
