// SPDX-License-Identifier: Apache-2.0
#include "bigbird/outputs/merge/bigwig_reader.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/system/child_process.hpp"
#include "bigbird/genome/reference/contig_names.hpp"

#include <bigWig.h>

#include <algorithm>
#include <memory>
#include <string>

namespace bigbird::outputs {
namespace fs = std::filesystem;

namespace {

struct CloseBigWig {
    void operator()(bigWigFile_t* file) const { bwClose(file); }
};
struct FreeIntervals {
    void operator()(bwOverlappingIntervals_t* intervals) const { bwDestroyOverlappingIntervals(intervals); }
};

std::vector<genome::Contig> contigs_of(const bigWigFile_t& file) {
    std::vector<genome::Contig> contigs;
    for (std::int64_t i = 0; i < file.cl->nKeys; ++i)
        contigs.push_back({file.cl->chrom[i], file.cl->len[i]});
    return contigs;
}

/// Runs in the child process: sends the segments of each contig.
void send_bigwig(const fs::path& path, std::span<const genome::Contig> contigs,
                 const ChildReader::Send& send) {
    std::string name = path.string(), mode = "r";
    bwInit(1U << 17U);
    const std::unique_ptr<bigWigFile_t, CloseBigWig> file(bwOpen(name.c_str(), nullptr, mode.c_str()));
    if (!file) throw InputError("is no bigWig", path);
    const bool empty = file->hdr->nBasesCovered == 0;  // there is no index of intervals to read
    const std::vector<genome::Contig> own = contigs_of(*file);
    const genome::ContigNames names(own, false);
    for (std::uint32_t contig = 0; contig < contigs.size(); ++contig) {
        std::vector<Segment> segments;
        const auto found_name = names.find(contigs[contig].name);
        if (!empty && found_name) {
            const genome::Contig& there = own[*found_name];
            const std::unique_ptr<bwOverlappingIntervals_t, FreeIntervals> found(bwGetOverlappingIntervals(
                file.get(), there.name.c_str(), 0, static_cast<std::uint32_t>(there.length)));
            if (!found) throw InputError("is damaged, or cannot be read", path);
            for (std::uint64_t i = 0; i < found->l; ++i)
                segments.push_back({contig, found->start[i], found->end[i], found->value[i]});
        }
        send(ChildReader::bytes_of(segments));
    }
}

}  // namespace

std::vector<Segment> read_bigwig(const fs::path& path, std::span<const genome::Contig> contigs) {
    ChildReader reader(path, [&](const ChildReader::Send& send) { send_bigwig(path, contigs, send); });
    std::vector<Segment> segments;
    for (std::uint32_t contig = 0; contig < contigs.size(); ++contig) {
        for (const Segment& segment : reader.next_numbers<Segment>()) {
            if (segment.contig != contig) reader.throw_unfit();
            segments.push_back(segment);
        }
    }
    return segments;
}

std::optional<double> mean_over(std::span<const Segment> segments, std::size_t contig, std::int64_t begin,
                                std::int64_t end) {
    double sum = 0, bases = 0;
    const auto end_of = [](const Segment& s) {
        return std::pair<std::size_t, std::int64_t>(s.contig, s.end);
    };
    auto segment = std::ranges::upper_bound(segments, std::pair(contig, begin), {}, end_of);
    for (; segment != segments.end() && segment->contig == contig && segment->begin < end; ++segment) {
        const auto shared = static_cast<double>(std::min<std::int64_t>(segment->end, end) -
                                                std::max<std::int64_t>(segment->begin, begin));
        sum += shared * static_cast<double>(segment->value);
        bases += shared;
    }
    return bases > 0 ? std::optional(sum / bases) : std::nullopt;
}

}  // namespace bigbird::outputs
