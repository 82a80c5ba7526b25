// SPDX-License-Identifier: Apache-2.0
// Windows, or substitutions in one, on several threads.
#pragma once

#include "bigbird/core/parallel.hpp"
#include "bigbird/networks/profiles/profile_network.hpp"
#include "bigbird/networks/profiles/window_pass.hpp"

#include <ATen/core/Tensor.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace bigbird::networks {

/// Workers that compute an item on one thread each, and one that computes it on all threads.
template <typename Worker>
class Workers {
public:
    /// make(threads) makes a worker.
    explicit Workers(std::function<std::unique_ptr<Worker>(int)> make) : make_(std::move(make)) {}

    /// Calls compute(worker, i) for each i in [0, count).
    void run(std::int64_t count, int threads, const std::function<void(Worker&, std::int64_t)>& compute) {
        const std::int64_t alone = threads > 1 ? count - count % threads : 0;
        std::atomic<std::int64_t> next{0};
        if (alone > 0) {
            while (std::ssize(alone_) < threads)
                alone_.push_back(make_(1));
            parallel_for(threads, threads, [&](std::int64_t w) {
                for (std::int64_t i = next++; i < alone; i = next++)
                    compute(*alone_[static_cast<std::size_t>(w)], i);
            });
        }
        if (alone < count && (!all_ || all_->crew.threads() != threads)) all_ = make_(threads);
        for (std::int64_t i = alone; i < count; ++i)
            compute(*all_, i);
    }

private:
    std::function<std::unique_ptr<Worker>(int)> make_;
    std::vector<std::unique_ptr<Worker>> alone_;
    std::unique_ptr<Worker> all_;
};

struct WholeWorker {
    WholeWorker(const std::vector<PackedPart>& parts, bool keeps, int threads);
    PartHeads heads(const std::uint8_t* codes, bool profile);
    /// The window's heads, and those of each substitution, applied by itself.
    std::vector<PartHeads> heads(const std::uint8_t* codes, std::span<const bins::Substitution> each);

    Crew crew;
    std::vector<WindowPass> passes;
    std::vector<std::deque<EditedPass>> edited;  ///< of each part
};

struct EditingWorker {
    EditingWorker(const WholeWorker& whole, int threads);
    /// Without profiles.
    PartHeads heads(const bins::Substitution& edit);

    Crew crew;
    std::vector<EditedPass> passes;
    std::int64_t window = 0;  ///< number of the one that it knows
};

using Parts = std::shared_ptr<const std::vector<PackedPart>>;

/// Memory in which windows are scored.
struct ScoredWindows {
    explicit ScoredWindows(Parts of);

    Parts parts;
    Workers<WholeWorker> workers;
};

/// A window whose rows are kept, and its changes.
class KeptWindow {
public:
    KeptWindow(Parts of, int threads);
    const Parts& parts() const { return parts_; }
    int threads() const { return whole_.crew.threads(); }
    /// Takes a window, of which it gives the counts. The codes must outlive it, or its next window.
    PartHeads begin(const std::uint8_t* codes);
    void run(std::int64_t count, const std::function<void(EditingWorker&, std::int64_t)>& compute);

private:
    Parts parts_;
    WholeWorker whole_;
    Workers<EditingWorker> workers_;
    const std::uint8_t* codes_ = nullptr;
    std::int64_t windows_ = 0;
};

/// What an earlier call made, for the next one. Thread-safe.
template <typename Made>
class Spare {
public:
    std::unique_ptr<Made> take() {
        const std::scoped_lock lock(mutex_);
        return std::move(made_);
    }
    void give(std::unique_ptr<Made> made) {
        const std::scoped_lock lock(mutex_);
        made_ = std::move(made);
    }

private:
    std::mutex mutex_;
    std::unique_ptr<Made> made_;
};

/// Tensors of heads, which are filled row by row, from any thread.
class HeadsWriter {
public:
    HeadsWriter(const ProfileShape& shape, std::int64_t rows, bool profiles);
    void put(std::int64_t row, const PartHeads& heads);
    const ProfileHeads& heads() const { return heads_; }

private:
    ProfileHeads heads_;
    float *profile_ = nullptr, *counts_;
};

}  // namespace bigbird::networks
