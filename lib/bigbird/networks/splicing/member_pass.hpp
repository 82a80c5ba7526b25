// SPDX-License-Identifier: Apache-2.0
// Passes of one member over a stretch, and over a stretch with an edit. Convolutions have no padding: map k,
// the input of convolution k, exists from reach(k) bases behind the stretch's begin to as many before its
// end. Even maps are the residual stream between units, odd maps lie within units.
#pragma once

#include "bigbird/networks/splicing/cpu/splice_kernels.hpp"
#include "bigbird/networks/splicing/fourier_filter.hpp"
#include "bigbird/networks/splicing/splice_member.hpp"
#include "bigbird/networks/splicing/splice_network.hpp"
#include "bigbird/networks/splicing/splice_rows.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace bigbird::networks {

class MemberPass {
public:
    explicit MemberPass(const SpliceMember& member);

    std::int64_t context() const { return 2 * reach_.back(); }
    std::int64_t outputs() const { return outputs_; }

    /// Maps of a stretch, a row per base, and what they lead to. Its memory serves the next stretch.
    struct Kept {
        std::int64_t length = 0;
        bool all = false;  ///< maps, or the last three
        std::vector<SpliceRows> maps{};
        SpliceRows sums{};
        std::vector<float> probabilities{};  ///< (length - context, outputs)

        float* map(std::size_t k) const { return maps[all ? k : k % 2 == 1 ? 2 : k / 2 % 2].row(0); }
    };
    /// Sets `kept.probabilities`.
    void probabilities(std::span<const std::uint8_t> codes, int threads, Kept& kept) const;
    /// The same, and probabilities of the stretch after each edit, up to rounding, (end - begin, outputs). Of
    /// few edits, each map is computed beside that of the stretch; of many, all maps of the stretch are kept.
    std::vector<std::vector<float>> edited(std::span<const std::uint8_t> codes,
                                           std::span<const SpliceEdit> edits, int threads, Kept& kept) const;
    static constexpr std::size_t few_edits = 8;

private:
    /// Rows of a map: the reference's before `begin`, those of an edit up to `end`, and behind it the
    /// reference's again, shifted by as many bases as the edit inserts more than it removes.
    struct Spliced {
        const float* reference;
        std::int64_t begin, end, shift;
        const float* middle;  ///< row `begin`

        /// Calls take(source, first, count) for each range of rows [first, end) that are together in memory.
        template <typename Take>
        void each(std::int64_t first, std::int64_t end, const Take& take) const;
        const float* contiguous(std::int64_t first, std::int64_t end) const;
    };
    /// The maps of an edit, from unit to unit.
    struct EditedMaps {
        SpliceRows stream{}, next_stream{}, inner{}, sums{};
        Spliced at{};  ///< even map
    };
    struct Filter {
        SpliceRows weights;
        std::array<float, splice_channels> bias{};
        std::int64_t taps = 1, dilation = 1;
        std::optional<FourierFilter> spectrum{};  ///< of many taps

        Filter(const SpliceConvolution& convolution, std::int64_t taps_of_it, std::int64_t dilation_of_it);
        SpliceFilter view() const { return {weights.row(0), bias.data(), taps, dilation}; }
        /// Rows of a result of `rows` rows that one thread computes at a time.
        std::int64_t rows_together(std::int64_t rows) const;
    };
    struct Norm {
        std::array<float, splice_channels> scale{}, shift{};
    };
    struct Skip {
        std::int64_t after;
        Filter filter;
    };

    std::int64_t reach(std::size_t map) const { return reach_[map]; }
    /// Calls map_done(k) for each even map k; k - 1 and k - 2 are there, too.
    void pass(std::span<const std::uint8_t> codes, int threads, Kept& kept,
              const std::function<void(std::size_t)>& map_done) const;
    void first_map(std::span<const std::uint8_t> codes, float* to) const;
    /// Rows [begin, end) of map k + 1 from map k, `base` being map k - 1, where k is odd.
    void convolve(std::size_t k, const Spliced& in, const Spliced& base, std::int64_t begin, std::int64_t end,
                  float* to) const;
    /// Adds what the skip after `units` makes of rows [begin, end) of its map to `sums`, if there is one.
    void add_skip(std::int64_t units, const Spliced& map, std::int64_t begin, std::int64_t end,
                  float* sums) const;
    void probabilities_of(const float* sums, std::int64_t count, float* to) const;
    /// The rows of a map that the edit changes and that the wanted outputs need, without memory.
    Spliced changed(std::size_t map, const Kept& kept, const SpliceEdit& edit) const;
    /// Sets the edit's even map k from its map k - 2.
    void edit_map(std::size_t k, const Kept& kept, const SpliceEdit& edit, EditedMaps& maps) const;
    std::vector<float> edited_probabilities(const SpliceEdit& edit, const EditedMaps& maps) const;

    const SpliceKernels& kernels_;
    float slope_;
    std::array<std::array<float, splice_channels>, 5> letters_{};  ///< map 0, by the base
    std::vector<Filter> filters_;                                  ///< two of each unit
    std::vector<Norm> norms_;
    std::vector<Skip> skips_;
    std::vector<float> output_weights_, output_bias_;
    std::int64_t outputs_;
    std::vector<std::int64_t> reach_;  ///< of each map, from 0 on
};

}  // namespace bigbird::networks
