// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/sequence_splits.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace bigbird::examples {

namespace {

constexpr int shared_k = 31;

/// Calls visit(kmer) for each k-mer without N of a normalized sequence. A k-mer is a number of two bits per
/// letter, the smaller one of both strands. 1 <= k <= 31.
template <typename Visit>
void for_each_kmer(std::string_view dna, int k, const Visit& visit) {
    const std::uint64_t mask = (std::uint64_t{1} << (2 * k)) - 1;
    std::uint64_t forward = 0, reverse = 0;
    int known = 0;  // letters since the last N
    for (const char letter : dna) {
        const std::size_t code = std::string_view("ACGT").find(letter);
        if (code == std::string_view::npos) {
            known = 0;
            continue;
        }
        forward = (forward << 2 | code) & mask;
        reverse = reverse >> 2 | (std::uint64_t{3} - code) << (2 * (k - 1));
        if (++known >= k) visit(forward < reverse ? forward : reverse);
    }
}

std::vector<std::uint64_t> kmers_of_split(std::span<const SequenceExample> records, Split split) {
    std::vector<std::uint64_t> kmers;
    for (const SequenceExample& record : records)
        if (record.split == split)
            for_each_kmer(record.sequence, shared_k, [&](std::uint64_t kmer) { kmers.push_back(kmer); });
    std::ranges::sort(kmers);
    kmers.erase(std::unique(kmers.begin(), kmers.end()), kmers.end());
    return kmers;
}

}  // namespace

Overlap overlap_with_train(std::span<const SequenceExample> records, Split split) {
    // The split is the smaller set: its k-mers are kept, and the ones in train are marked.
    const std::vector<std::uint64_t> kmers = kmers_of_split(records, split);
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
        const SequenceExample& first = records[at->second.first];
        if (is_new || at->second.differs ||
            (first.labels == records[i].labels && first.numbers == records[i].numbers))
            continue;
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

namespace {

constexpr int similar_k = 16;
constexpr double similar_share = 0.1;
constexpr std::int64_t most_kmers = std::int64_t{1} << 26;
/// If more records share a k-mer, only neighbors in their order are compared.
constexpr std::size_t most_compared = 16;

std::array<double, 3> parse_shares(std::string_view text) {
    std::array<double, 3> shares{};
    const auto fields = rows::split_fields(text, ',');
    bool valid = fields.size() == shares.size();
    for (std::size_t i = 0; valid && i < shares.size(); ++i) {
        const auto share = rows::parse_real(fields[i]);
        valid = share && *share >= 0;
        shares[i] = share.value_or(0);
    }
    if (!valid || shares[0] == 0 || std::abs(shares[0] + shares[1] + shares[2] - 1) > 1e-6) {
        throw ConfigError(
            "--split-by takes the shares of training, validation and test, which add up to 1, as "
            "0.8,0.1,0.1, not '" +
            std::string(text) + "'");
    }
    return shares;
}

/// A 16-mer in the upper 32 bits, and the number of its record in the lower 32.
std::uint64_t kmer_of(std::uint64_t code, std::size_t record) {
    return code << 32U | record;
}
std::uint64_t code_of(std::uint64_t kmer) {
    return kmer >> 32U;
}
std::uint64_t record_of(std::uint64_t kmer) {
    return kmer & 0xFFFFFFFFU;
}

/// Each record's 16-mers, each once, sorted by code.
std::vector<std::uint64_t> kmers_of(std::span<const SequenceExample> records) {
    std::int64_t letters = 0;
    for (const SequenceExample& record : records)
        letters += static_cast<std::int64_t>(record.sequence.size());
    const auto one_in = static_cast<std::uint64_t>(letters / most_kmers + 1);
    std::vector<std::uint64_t> kmers;
    for (std::size_t i = 0; i < records.size(); ++i) {
        stop_if_asked();
        for_each_kmer(records[i].sequence, similar_k, [&](std::uint64_t code) {
            if (one_in > 1 && (code * 0x9E3779B97F4A7C15ULL >> 32U) % one_in != 0) return;
            kmers.push_back(kmer_of(code, i));
        });
    }
    std::ranges::sort(kmers);
    kmers.erase(std::unique(kmers.begin(), kmers.end()), kmers.end());
    return kmers;
}

/// The index of a record's stratum: its class or first label, from 1; 0 if it has none.
std::size_t stratum_of(const SequenceExample& record) {
    return record.labels.empty() ? 0 : record.labels.front() + std::size_t{1};
}

}  // namespace

SplitRule parse_split_rule(std::string_view text) {
    SplitRule rule;
    const std::size_t colon = text.find(':');
    const std::string_view word = text.substr(0, colon);
    const std::string_view rest =
        colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
    if (word == "column" && !rest.empty()) {
        rule.column = rest;
        return rule;
    }
    if (word != "fraction" && word != "similarity") {
        throw ConfigError("--split-by is column:NAME, fraction:0.8,0.1,0.1 or similarity, not '" +
                          std::string(text) + "'");
    }
    rule.similarity = word == "similarity";
    if (!rest.empty()) rule.shares = parse_shares(rest);
    return rule;
}

namespace {

/// Calls join(a, b) for each pair of similar records, by their indices.
template <typename Join>
void join_similar(std::span<const SequenceExample> records, const Join& join) {
    const std::vector<std::uint64_t> kmers = kmers_of(records);
    std::vector<std::uint32_t> own(records.size());           // k-mers of each record
    std::unordered_map<std::uint64_t, std::uint32_t> shared;  // number by pair of records
    for (std::size_t begin = 0, end = 0; begin < kmers.size(); begin = end) {
        while (end < kmers.size() && code_of(kmers[end]) == code_of(kmers[begin]))
            ++own[record_of(kmers[end++])];
        const std::size_t reach = end - begin <= most_compared ? end - begin : 2;
        for (std::size_t i = begin; i < end; ++i)
            for (std::size_t j = i + 1; j < std::min(end, i + reach); ++j)
                ++shared[kmer_of(record_of(kmers[i]), record_of(kmers[j]))];
    }
    for (const auto& [pair, number] : shared) {
        const std::uint64_t a = code_of(pair), b = record_of(pair);
        if (number >= similar_share * std::min(own[a], own[b])) join(a, b);
    }
}

/// The records that get one split, in the order of the first of each.
std::vector<std::vector<std::size_t>> clusters_of(std::span<const SequenceExample> records, bool similarity) {
    std::vector<std::size_t> parents(records.size());  // union-find
    std::iota(parents.begin(), parents.end(), std::size_t{0});
    const auto find = [&](std::size_t element) {
        while (parents[element] != element)
            element = parents[element] = parents[parents[element]];
        return element;
    };
    const auto join = [&](std::size_t a, std::size_t b) { parents[find(a)] = find(b); };
    std::unordered_map<std::string, std::size_t> groups;  // a record of each
    for (std::size_t i = 0; i < records.size(); ++i)
        if (records[i].group != ".") join(i, groups.emplace(records[i].group, i).first->second);
    if (similarity) join_similar(records, join);
    std::unordered_map<std::size_t, std::size_t> places;  // index by set
    std::vector<std::vector<std::size_t>> clusters;
    std::size_t largest = 0;
    for (std::size_t i = 0; i < records.size(); ++i) {
        const auto [at, is_new] = places.emplace(find(i), clusters.size());
        if (is_new) clusters.emplace_back();
        clusters[at->second].push_back(i);
        largest = std::max(largest, clusters[at->second].size());
    }
    if (largest > 1) {
        log_info("{} in {} that stay together, the largest of {}", counted(records.size(), "record"),
                 counted(clusters.size(), "set"), largest);
    }
    return clusters;
}

}  // namespace

void draw_splits(std::span<SequenceExample> records, const SplitRule& rule, std::uint64_t seed) {
    const std::array<double, 3>& shares = rule.shares;
    std::vector<std::vector<std::size_t>> clusters = clusters_of(records, rule.similarity);
    std::size_t strata = 1;
    for (const SequenceExample& record : records)
        strata = std::max(strata, stratum_of(record) + 1);
    Rng rng = Rng(seed).split("splits");
    shuffle(clusters, rng);
    std::ranges::stable_sort(clusters, std::ranges::greater(),
                             [](const auto& cluster) { return cluster.size(); });
    // The number of records of each stratum that each split still needs. A cluster goes to the split that
    // needs it most.
    std::array<std::vector<double>, 3> lacked;
    lacked.fill(std::vector<double>(strata));
    for (const SequenceExample& record : records)
        for (std::size_t split = 0; split < shares.size(); ++split)
            lacked[split][stratum_of(record)] += shares[split];
    for (const std::vector<std::size_t>& cluster : clusters) {
        std::size_t best = 0;
        double most = -std::numeric_limits<double>::infinity();
        for (std::size_t split = 0; split < shares.size(); ++split) {
            double sum = 0;
            for (const std::size_t i : cluster)
                sum += lacked[split][stratum_of(records[i])];
            if (shares[split] > 0 && sum > most + 1e-9) {
                most = sum;
                best = split;
            }
        }
        for (const std::size_t i : cluster) {
            records[i].split = static_cast<Split>(best);
            lacked[best][stratum_of(records[i])] -= 1;
        }
    }
}

}  // namespace bigbird::examples
