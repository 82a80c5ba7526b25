// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/core/system/child_process.hpp"
#include "bigbird/examples/build/signals/bigwig.hpp"
#include "bigbird/outputs/hdf5_handle.hpp"
#include "bigbird/outputs/merge/merge_scores.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace bigbird::outputs {
namespace fs = std::filesystem;

std::vector<Segment> read_bigwig(const fs::path& path, std::span<const genome::Contig> contigs) {
    std::vector<Segment> segments;
    examples::read_bigwig(
        path, contigs,
        [&](std::size_t contig, std::int64_t begin, std::int64_t end, double value) {
            segments.push_back({static_cast<std::uint32_t>(contig), static_cast<std::uint32_t>(begin),
                                static_cast<std::uint32_t>(end), static_cast<float>(value)});
        });
    std::ranges::sort(segments, {}, [](const Segment& s) { return std::pair(s.contig, s.begin); });
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
