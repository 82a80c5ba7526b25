// SPDX-License-Identifier: Apache-2.0
// One window through one network by our kernels: all of it, or what a substitution changes.
#pragma once

#include "bigbird/bins/substitutions.hpp"
#include "bigbird/networks/profiles/packed_part.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace bigbird::networks {

/// Threads with scratch memory of their own.
class Crew {
public:
    explicit Crew(int threads) : scratch_(static_cast<std::size_t>(threads)) {}
    int threads() const { return static_cast<int>(scratch_.size()); }
    /// Calls body(i, scratch of `floats`) for each i in [0, count).
    void run(std::int64_t count, std::int64_t floats, const std::function<void(std::int64_t, float*)>& body);

private:
    std::vector<Floats> scratch_;
};

/// The address of each position's row: a row of zeros where there is none, also up to the part's margin
/// beyond the window.
class RowTable {
public:
    explicit RowTable(const PackedPart& part);
    /// Of position 0; those before and behind can be reached from it.
    const float* const* rows() const { return rows_.data() + margin_; }
    const float* operator[](std::int64_t position) const { return rows()[position]; }
    void set(std::int64_t position, const float* row) {
        rows_[static_cast<std::size_t>(position + margin_)] = row;
    }

private:
    std::vector<const float*> rows_;
    std::int64_t margin_;
};

/// Words of three letters (profile_kernels.hpp) at each base, N beyond the window's ends.
class Words {
public:
    explicit Words(const PackedPart& part);
    void put_all(std::span<const std::uint8_t> codes);
    /// Replaces a base.
    void put(std::int64_t base, std::uint8_t code);
    /// Those that the stem reads at a position.
    const std::uint16_t* at(std::int64_t position) const {
        return words_.data() + position - left_ + margin_;
    }

private:
    std::int64_t left_, margin_;
    std::vector<std::uint8_t> letters_;
    std::vector<std::uint16_t> words_;
};

/// Log counts (groups) and the logits of the profile (output, columns) if they were asked for.
struct PartHeads {
    std::vector<float> counts, profile;
};
/// Heads of several parts together.
PartHeads joined(std::span<const PartHeads> parts);

/// Values of one window at a time.
class WindowPass {
public:
    /// With keeps(), rows of all stages are there after compute(), otherwise those of the last one.
    WindowPass(const PackedPart& part, bool keeps);

    /// codes: (input).
    void compute(const std::uint8_t* codes, Crew& crew);
    /// compute() is stem() and each layer(), in order.
    void stem(const std::uint8_t* codes, Crew& crew);
    void layer(std::size_t layer, Crew& crew);
    std::size_t layers() const { return part_.stages() - 1; }
    PartHeads heads(bool profile, Crew& crew);

private:
    friend class EditedPass;

    void dilated_rows(std::size_t layer, Crew& crew);
    void cherimoya_rows(std::size_t layer, Crew& crew);
    void sum_counts(Crew& crew);
    void multiply_profile(Crew& crew);

    const PackedPart& part_;
    Words words_;
    std::vector<Floats> buffers_;  ///< stages take turns, if they are not kept
    std::vector<RowTable> stages_;
    std::vector<std::vector<float*>> rows_;  ///< of each stage, of its range
    Floats separate_;                        ///< of Cherimoya
    Floats sums_, products_;
    RowTable product_rows_;
};

/// A set of positions.
class Positions {
public:
    explicit Positions(const PackedPart& part)
        : marks_(static_cast<std::size_t>(part.shape().input + 2 * part.margin())), margin_(part.margin()) {}
    void mark(std::int64_t position) {
        marks_[static_cast<std::size_t>(position + margin_)] = 1;
        begin_ = std::min(begin_, position);
        end_ = std::max(end_, position + 1);
    }
    /// Moves the positions, ascending, behind `to`.
    void move_to(std::vector<std::int64_t>& to);

private:
    std::vector<std::uint8_t> marks_;
    std::int64_t margin_, begin_ = most, end_ = -most;
    static constexpr std::int64_t most = std::int64_t{1} << 40;
};

/// A window with one substitution after the other. It reads the unchanged rows of a WindowPass: one that
/// keeps them, or, layer by layer, one that is as far as itself. For networks without Cherimoya's norm.
class EditedPass {
public:
    explicit EditedPass(const WindowPass& whole);
    /// Takes the window of `whole`.
    void begin(const std::uint8_t* codes);
    void stem(const bins::Substitution& edit);
    void layer(std::size_t layer, Crew& crew);
    /// After all layers, and the heads of `whole`.
    PartHeads heads(bool profile, Crew& crew);
    /// All of these.
    PartHeads heads_of(const bins::Substitution& edit, bool profile, Crew& crew);

private:
    void find_changed(std::size_t layer);
    void restore();

    const WindowPass& whole_;
    const PackedPart& part_;
    const std::uint8_t* codes_ = nullptr;
    Words words_;
    std::vector<RowTable> stages_;
    RowTable product_rows_;
    std::vector<std::vector<std::int64_t>> changed_;  ///< positions of each stage, in order
    std::vector<std::int64_t> pairs_;
    Positions marked_;
    std::vector<Floats> buffers_;
    Floats sums_, products_;
};

}  // namespace bigbird::networks
