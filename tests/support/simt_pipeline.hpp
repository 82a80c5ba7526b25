// SPDX-License-Identifier: Apache-2.0
// Barriers in shared memory (PTX: mbarrier) and the copy engine of an emulated block. A copy clears where it
// goes with NaN when it is asked for and arrives at some time later. Who may touch a tile is followed by what
// warps know of each other: an arrival hands on what its warp knows, a wait takes it. So a tile that is read
// before its barrier was waited for, or filled again before all of its readers have let it go, is an error
// even where no byte went wrong. Functions return what is wrong, or nothing.
#pragma once

#include "bigbird/core/rng.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace bigbird::testing {

class SimtPipeline {
public:
    using Offset = std::size_t;  ///< of a byte in shared memory
    static constexpr int warp_lanes = 32, warpgroup_warps = 4;

    /// `shared` begins where offsets do.
    SimtPipeline(int threads, std::byte* shared, std::size_t shared_bytes)
        : shared_(shared),
          shared_bytes_(shared_bytes),
          published_(static_cast<std::size_t>(threads), 0),
          known_(static_cast<std::size_t>((threads + warp_lanes - 1) / warp_lanes)) {
        for (Clock& clock : known_)
            clock.assign(known_.size() + 1, 0);
    }

    std::string init(Offset barrier, int arrivals) {
        if (barrier % 8 != 0) return "a barrier is misaligned";
        const bool is_new = barriers_.try_emplace(barrier, Barrier{arrivals, arrivals, known_[0]}).second;
        return is_new ? "" : "a barrier is set up twice";
    }
    void publish_barriers() {
        for (auto& [offset, barrier] : barriers_)
            barrier.is_public = true;
    }

    std::string arrive(int thread, Offset at) {
        Barrier* barrier = find(at);
        if (barrier == nullptr) return no_barrier;
        learn(barrier->told, known_of(thread));
        --barrier->missing;
        return end_turn(*barrier);
    }
    std::string expect_bytes(Offset at, int bytes) {
        Barrier* barrier = find(at);
        if (barrier == nullptr) return no_barrier;
        barrier->bytes += bytes;
        return "";
    }
    bool is_barrier(Offset at) { return find(at) != nullptr; }
    /// Whether the turn before the present one is of that parity.
    bool has_ended(Offset at, std::uint32_t parity) { return (find(at)->turn & 1) != (parity & 1); }
    void end_wait(int thread, Offset at) { learn(known_of(thread), find(at)->handed_on); }
    std::string describe(Offset at) {
        const Barrier& barrier = *find(at);
        return "the barrier at byte " + std::to_string(at) + " lacks " + std::to_string(barrier.missing) +
               " arrivals and " + std::to_string(barrier.bytes) + " bytes in turn " +
               std::to_string(barrier.turn);
    }

    std::string copy(int thread, Offset to, std::vector<std::byte> bytes, Offset barrier, Rng& rng) {
        if (find(barrier) == nullptr) return no_barrier;
        if (to + bytes.size() > shared_bytes_) return "a copy goes behind shared memory";
        Place& place = places_[to];
        if (std::string wrong = may_fill(thread, place, to); !wrong.empty()) return wrong;
        std::memset(shared_ + to, 0xFF, bytes.size());
        place = {std::move(bytes), barrier, true, 0, {}};
        coming_.push_back(to);
        return rng.between(0, 1) == 0 ? bring(coming_.size() - 1) : "";
    }
    bool has_coming() const { return !coming_.empty(); }
    std::string bring_any(Rng& rng) {
        return bring(static_cast<std::size_t>(rng.between(0, static_cast<std::int64_t>(coming_.size()) - 1)));
    }

    /// A thread's stores to shared memory, up to now, are ordered before later copies.
    void publish_stores(int thread) { published_[static_cast<std::size_t>(thread)] = time_; }

    /// A group issues a product that reads the tile around a byte.
    std::string begin_read(int group, Offset at) {
        const auto behind = places_.upper_bound(at);
        if (behind == places_.begin()) return "a product reads what no copy has brought";
        Place& place = std::prev(behind)->second;
        if (place.is_coming) return "a product reads a tile that is still coming";
        for (int warp = 0; warp < warpgroup_warps; ++warp)
            if (known_[at_of(group, warp)].back() < place.came)
                return "a product reads a tile whose barrier was not waited for";
        place.readers[group] = 0;
        return "";
    }
    /// The group's products have ended.
    void end_reads(int group) {
        for (int warp = 0; warp < warpgroup_warps; ++warp)
            ++known_[at_of(group, warp)][at_of(group, warp)];
        for (auto& [offset, place] : places_)
            if (const auto reader = place.readers.find(group);
                reader != place.readers.end() && reader->second == 0)
                reader->second = known_[at_of(group, 0)][at_of(group, 0)];  // the same count for all four
    }
    /// Whether a turn has ended since the last call.
    bool take_ended() { return std::exchange(turn_ended_, false); }

private:
    /// How much of each warp's doing, and lastly of the copy engine's, is known.
    using Clock = std::vector<std::uint64_t>;
    static constexpr const char* no_barrier = "a barrier is used before it is set up and published";

    struct Barrier {
        int arrivals, missing;
        Clock told;  // by arrivals and copies, also of earlier turns
        Clock handed_on = Clock(told.size(), 0);
        std::int64_t bytes = 0;
        std::uint32_t turn = 0;
        bool is_public = false;
    };
    /// Where copies go: what came last, and who has read it: groups, and when their products ended (0: not
    /// yet).
    struct Place {
        std::vector<std::byte> bytes;
        Offset barrier = 0;
        bool is_coming = false;
        std::uint64_t came = 0;
        std::map<int, std::uint64_t> readers;
    };

    static std::size_t at_of(int group, int warp) {
        return static_cast<std::size_t>(group * warpgroup_warps + warp);
    }
    Clock& known_of(int thread) { return known_[static_cast<std::size_t>(thread / warp_lanes)]; }
    static void learn(Clock& who, const Clock& from) {
        for (std::size_t i = 0; i < who.size(); ++i)
            who[i] = std::max(who[i], from[i]);
    }
    Barrier* find(Offset at) {
        const auto found = barriers_.find(at);
        return found == barriers_.end() || !found->second.is_public ? nullptr : &found->second;
    }

    std::string end_turn(Barrier& barrier) {
        if (barrier.missing < 0) return "a barrier gets more arrivals than it was set up for";
        if (barrier.missing > 0 || barrier.bytes > 0) return "";
        if (barrier.bytes < 0) return "a barrier gets more bytes than were expected";
        barrier.missing = barrier.arrivals;
        barrier.handed_on = barrier.told;
        ++barrier.turn;
        turn_ended_ = true;
        return "";
    }

    std::string may_fill(int thread, const Place& place, Offset to) {
        if (place.is_coming) return "two copies go to one place at a time";
        const bool is_changed =
            !place.bytes.empty() && std::memcmp(shared_ + to, place.bytes.data(), place.bytes.size()) != 0;
        for (const auto& [group, ended] : place.readers) {
            for (int warp = 0; warp < warpgroup_warps; ++warp) {
                if (ended == 0 || known_of(thread)[at_of(group, warp)] < ended)
                    return "a tile is filled again before its readers have let it go";
                const auto first = published_.begin() + (group * warpgroup_warps + warp) * warp_lanes;
                if (is_changed && *std::min_element(first, first + warp_lanes) < place.came)
                    return "a tile is filled again before stores to it were published";
            }
        }
        return "";
    }

    std::string bring(std::size_t i) {
        const Offset to = coming_[i];
        coming_.erase(coming_.begin() + static_cast<std::ptrdiff_t>(i));
        Place& place = places_[to];
        std::memcpy(shared_ + to, place.bytes.data(), place.bytes.size());
        place.is_coming = false;
        place.came = ++time_;
        Barrier& barrier = *find(place.barrier);
        barrier.told.back() = std::max(barrier.told.back(), time_);
        barrier.bytes -= static_cast<std::int64_t>(place.bytes.size());
        return end_turn(barrier);
    }

    std::byte* shared_;
    std::size_t shared_bytes_;
    std::uint64_t time_ = 0;  ///< copies that have arrived
    std::vector<std::uint64_t> published_;
    std::vector<Clock> known_;
    std::map<Offset, Barrier> barriers_;
    std::map<Offset, Place> places_;
    std::vector<Offset> coming_;
    bool turn_ended_ = false;
};

}  // namespace bigbird::testing
