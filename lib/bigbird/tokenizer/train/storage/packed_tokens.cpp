// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/train/storage/packed_tokens.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace bigbird::tokenizer {

namespace {

constexpr std::size_t chunks_at_once = 8;

}  // namespace

PackedTokens::PackedTokens(LetterArray& letters, std::size_t target_chunk) : symbols_(letters.data()) {
    for (std::size_t begin = 1; begin < letters.size();) {
        const std::size_t least = std::min(begin + target_chunk, letters.size() - 1);
        const void* const separator =
            std::memchr(symbols_ + least, LetterArray::separator, letters.size() - least);
        const auto end = static_cast<std::size_t>(static_cast<const std::uint8_t*>(separator) - symbols_) + 1;
        chunks_.push_back({begin, end - begin, end - begin});
        largest_ = std::max(largest_, end - begin);
        begin = end;
    }
}

std::size_t PackedTokens::size() const {
    std::size_t size = 0;
    for (const Chunk& chunk : chunks_)
        size += chunk.size;
    return size;
}

template <typename Sweep>
PackedNeighbours PackedTokens::sweep(ThreadTeam& team, Sweep&& one_chunk) {
    std::vector<Scratch> scratches(team.size());
    for (Scratch& scratch : scratches)
        scratch.positions.resize(largest_ + list_beyond);
    std::atomic<std::size_t> next{0};  // which thread takes which chunks is left to chance
    team.run([&](std::size_t member) {
        for (std::size_t first = next.fetch_add(chunks_at_once); first < chunks_.size();
             first = next.fetch_add(chunks_at_once))
            for (std::size_t i = first; i < std::min(first + chunks_at_once, chunks_.size()); ++i)
                one_chunk(chunks_[i], scratches[member]);
    });
    PackedNeighbours total;
    for (const Scratch& scratch : scratches) {
        for (std::size_t rule = 0; rule < most_packed_rules; ++rule) {
            for (std::size_t symbol = 0; symbol < 256; ++symbol) {
                total.left[rule][symbol] += scratch.neighbours.left[rule][symbol];
                total.right[rule][symbol] += scratch.neighbours.right[rule][symbol];
            }
        }
        total.merged += scratch.neighbours.merged;
    }
    return total;
}

std::array<std::uint64_t, 25> PackedTokens::count_letter_pairs(ThreadTeam& team) {
    const PackedNeighbours counts = sweep(team, [&](const Chunk& chunk, Scratch& scratch) {
        std::array<std::uint64_t, 25> found{};
        tokenizer::count_letter_pairs(data(chunk), chunk.size, found);
        for (std::size_t pair = 0; pair < found.size(); ++pair)
            scratch.neighbours.left[0][pair] += found[pair];
    });
    std::array<std::uint64_t, 25> pairs;
    std::copy_n(counts.left[0].begin(), pairs.size(), pairs.begin());
    return pairs;
}

// Counts the neighbors of the `count` merged symbols in the list.
void PackedTokens::note_merged(Chunk& chunk, std::size_t count, std::uint8_t first_merged,
                               Scratch& scratch) const {
    chunk.size -= count;
    scratch.neighbours.merged += count;
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint8_t* const here = data(chunk) + scratch.positions[i];
        const std::size_t rule = here[0] - std::size_t{first_merged};
        ++scratch.neighbours.left[rule][here[-1]];
        ++scratch.neighbours.right[rule][here[1]];
    }
}

PackedNeighbours PackedTokens::merge(std::span<const PackedRule> rules, ThreadTeam& team) {
    return sweep(
        team,
        [&](Chunk& chunk, Scratch& scratch) {
            const std::size_t count =
                merge_pairs(symbols_ + chunk.begin, chunk.size, rules, scratch.positions.data());
            note_merged(chunk, count, rules[0].merged, scratch);
        });
}

PackedNeighbours PackedTokens::merge_runs(std::uint8_t symbol, std::uint8_t merged, const OddRuns& odd,
                                          ThreadTeam& team) {
    return sweep(
        team,
        [&](Chunk& chunk, Scratch& scratch) {
            const std::size_t count = tokenizer::merge_runs(symbols_ + chunk.begin, chunk.size, symbol,
                                                            merged, odd, scratch.positions.data());
            note_merged(chunk, count, merged, scratch);
        });
}

std::uint64_t PackedTokens::count_runs(std::uint8_t symbol, const OddRuns& odd, ThreadTeam& team) {
    return sweep(
               team,
               [&](const Chunk& chunk, Scratch& scratch) {
                   scratch.neighbours.merged += tokenizer::count_runs(data(chunk), chunk.size, symbol, odd);
               })
        .merged;
}

// In blocks, so that the lists' memory is in the cache when written.
void PackedTokens::list_pairs(std::span<const Chunk> chunks, PackedLists& lists) const {
    struct Found {
        PositionList* list;
        std::uint64_t position;
    };
    std::array<Found, 64> block;
    std::size_t found = 0;
    const auto write = [&] {
        for (std::size_t i = 0; i < found; ++i)
            block[i].list->prefetch();
        for (std::size_t i = 0; i < found; ++i)
            block[i].list->push_back(block[i].position);
        found = 0;
    };
    std::uint64_t position = 0;
    for (const Chunk& chunk : chunks) {
        const std::uint8_t* const symbols = data(chunk);
        for (std::size_t i = 0; i < chunk.size; ++i, ++position) {
            const std::uint8_t left = symbols[i];
            if (left == LetterArray::separator || symbols[i + 1] == LetterArray::separator) continue;
            PositionList* const list = lists.at(left, symbols[i + 1]);
            if (list != nullptr && (left != symbols[i + 1] || lists.keep(left, symbols[i - 1], position))) {
                __builtin_prefetch(list, 1);
                block[found++] = {list, position};
                if (found == block.size()) write();
            }
        }
    }
    write();
}

TokenArray PackedTokens::unpack(LetterArray&& letters) && {
    const auto widened = [](std::uint8_t symbol) {
        return symbol == LetterArray::separator ? TokenArray::separator : Symbol{symbol};
    };
    bool fits = true;  // no chunk's symbols overwrite a later one's
    std::size_t positions = 1, behind = 1;
    for (const Chunk& chunk : chunks_) {
        behind += chunk.positions;
        positions += chunk.size;
        fits = fits && positions * sizeof(Symbol) <= behind;
    }
    std::vector<std::uint8_t> copy(largest_);
    TokenArray unpacked = fits ? std::move(letters).turn_into<Symbol>(positions) : TokenArray(positions);
    Symbol* out = unpacked.data() + 1;
    for (const Chunk& chunk : chunks_) {
        std::copy_n(data(chunk), chunk.size, copy.begin());
        out = std::transform(copy.data(), copy.data() + chunk.size, out, widened);
    }
    unpacked.data()[0] = TokenArray::separator;
    symbols_ = nullptr;
    return unpacked;
}

}  // namespace bigbird::tokenizer
