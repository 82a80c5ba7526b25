// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/sequence_overlap.hpp"

#include "bigbird/core/interrupt.hpp"
#include "bigbird/examples/build/kmers.hpp"
#include "bigbird/genome/reference/sequence.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace bigbird::examples {

namespace {

constexpr int shared_k = 31;

std::vector<std::uint64_t> kmers_of(std::span<const SequenceExample> records, Split split) {
    std::vector<std::uint64_t> kmers;
    for (const SequenceExample& record : records)
        if (record.split == split)
            for_each_kmer(record.sequence, shared_k, [&](std::uint64_t kmer) { kmers.push_back(kmer); });
    std::ranges::sort(kmers);
    kmers.erase(std::unique(kmers.begin(), kmers.end()), kmers.end());
    return kmers;
}

bool same_targets(const SequenceExample& a, const SequenceExample& b) {
    return a.labels == b.labels && a.numbers == b.numbers;
}

}  // namespace

Overlap overlap_with_train(std::span<const SequenceExample> records, Split split) {
    // The split is the smaller set: its k-mers are kept, and the ones in train are marked.
    const std::vector<std::uint64_t> kmers = kmers_of(records, split);
    std::vector<bool> in_train(kmers.size());
    const auto find = [&](std::uint64_t kmer) {
        return std::ranges::lower_bound(kmers, kmer) - kmers.begin();
    };
    std::unordered_set<std::string_view> sequences;
    for (const SequenceExample& record : records) {
        if (record.split != Split::train) continue;
        stop_if_asked();
        sequences.insert(record.sequence);
        for_each_kmer(record.sequence, shared_k, [&](std::uint64_t kmer) {
            const auto at = static_cast<std::size_t>(find(kmer));
            if (at < kmers.size() && kmers[at] == kmer) in_train[at] = true;
        });
    }
    Overlap overlap;
    for (const SequenceExample& record : records) {
        if (record.split != split) continue;
        bool shares = false;
        for_each_kmer(record.sequence, shared_k, [&](std::uint64_t kmer) {
            shares = shares || in_train[static_cast<std::size_t>(find(kmer))];
        });
        const bool same = sequences.contains(record.sequence) ||
                          sequences.contains(genome::reverse_complement(record.sequence));
        ++overlap.rows;
        overlap.in_train += same ? 1 : 0;
        overlap.share_31mer += shares ? 1 : 0;
    }
    return overlap;
}

Contradictions contradictions_in(std::span<const SequenceExample> records) {
    struct Seen {
        std::size_t first = 0;
        std::int64_t records = 0;
        bool differs = false;
    };
    std::unordered_map<std::string_view, Seen> seen;
    Contradictions found;
    for (std::size_t i = 0; i < records.size(); ++i) {
        const auto [at, is_new] = seen.emplace(records[i].sequence, Seen{.first = i});
        ++at->second.records;
        if (is_new || at->second.differs || same_targets(records[at->second.first], records[i])) continue;
        at->second.differs = true;
        if (found.sequences++ == 0) {
            found.first = at->second.first;
            found.other = i;
        }
    }
    for (const auto& [sequence, about] : seen)
        found.records += about.differs ? about.records : 0;
    return found;
}

}  // namespace bigbird::examples
