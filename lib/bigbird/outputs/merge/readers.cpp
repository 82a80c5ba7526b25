// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/core/system/child_process.hpp"
#include "bigbird/genome/reference/contig_names.hpp"
#include "bigbird/genome/reference/contig_words.hpp"
#include "bigbird/outputs/hdf5_handle.hpp"
#include "bigbird/outputs/merge/merge_scores.hpp"

#include <bigWig.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

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
void send_bigwig(const fs::path& path, const ChildReader::Words& wanted, const ChildReader::Send& send) {
    const std::vector<genome::Contig> contigs = genome::contigs_of(wanted);
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
    ChildReader reader(path, send_bigwig, genome::words_of(contigs));
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

namespace {

constexpr std::string_view letters = "ACGT";
Hdf5Handle open_letters(hid_t file, const char* name, const fs::path& path) {
    Hdf5Handle dataset(H5Dopen2(file, name, H5P_DEFAULT), H5Dclose);
    if (const Hdf5Shape shape = shape_of(dataset); shape.size() != 3 || shape[1] != letters.size())
        throw InputError(
            std::string("holds no '") + name +
                "' of regions, 4 letters and bases, as predict-mutagenesis and attribute write it "
                "to .h5",
            path);
    return dataset;
}

/// (4, length) of a region.
std::vector<float> read_region(hid_t dataset, const Hdf5Shape& shape, hsize_t region, const fs::path& path) {
    std::vector<float> numbers(shape[1] * shape[2]);
    if (!read_part(dataset, H5T_NATIVE_FLOAT, {region, 0, 0}, {1, shape[1], shape[2]}, numbers.data()))
        throw InputError("is cut off or damaged", path);
    return numbers;
}

/// Runs in the child process: sends the label, the number of regions, then each region's sequence and scores.
void send_all(const fs::path& path, const ChildReader::Words&, const ChildReader::Send& send) {
    start_hdf5();
    const Hdf5Handle file = open_unlocked_hdf5(path.c_str());
    if (file < 0) throw InputError("is no HDF5 file, or damaged", path);
    const Hdf5Handle sequence = open_letters(file, "raw/seq", path),
                     scores = open_letters(file, "shap/seq", path);
    const Hdf5Shape shape = shape_of(sequence);
    if (shape != shape_of(scores))
        throw InputError("its 'raw/seq' and 'shap/seq' have different shapes", path);
    send(text_attribute(file, "label").value_or(path.stem().string()));
    send(ChildReader::bytes_of(std::vector<hsize_t>{shape[0]}));
    for (hsize_t region = 0; region < shape[0]; ++region) {
        send(ChildReader::bytes_of(read_region(sequence, shape, region, path)));
        send(ChildReader::bytes_of(read_region(scores, shape, region, path)));
    }
}

motifs::Contributions contributions_of(const std::vector<float>& sequence, const std::vector<float>& scores) {
    const std::size_t length = scores.size() / letters.size();
    motifs::Contributions region{std::string(length, 'N'), std::vector<float>(length)};
    for (std::size_t i = 0; i < length; ++i) {
        for (std::size_t code = 0; code < letters.size(); ++code) {
            const float score = scores[code * length + i];
            region.values[i] -= score / 4;
            if (sequence[code * length + i] == 0) continue;
            region.dna[i] = letters[code];
            region.values[i] += score;
        }
    }
    return region;
}

}  // namespace

LabelContributions read_attributions(const fs::path& path) {
    ChildReader reader(path, send_all);
    LabelContributions all{reader.next()};
    const auto regions = reader.next_numbers<hsize_t>();
    if (regions.size() != 1) reader.throw_unfit();
    for (hsize_t i = 0; i < regions.front(); ++i) {
        const auto sequence = reader.next_numbers<float>(), scores = reader.next_numbers<float>();
        if (sequence.size() != scores.size()) reader.throw_unfit();
        all.regions.push_back(contributions_of(sequence, scores));
    }
    return all;
}

}  // namespace bigbird::outputs
