// SPDX-License-Identifier: Apache-2.0
// Everything that a profile model is trained and judged on, in memory.
#pragma once

#include "bigbird/profiles/samples.hpp"

#include <filesystem>
#include <vector>

namespace bigbird::profiles {

/// Lengths of a network's window: the bases read and predicted, and the dilated layers that fit.
struct WindowLengths {
    std::int64_t input = 2114, output = 1000, layers = 8;
    bool operator==(const WindowLengths&) const = default;
};
inline constexpr WindowLengths usual_lengths{}, narrow_lengths{1014, 300, 6};
/// The most of a genome that windows about peaks may take before narrow ones are chosen, which leave more
/// background.
inline constexpr double most_covered = 0.25;
WindowLengths lengths_for(double covered_share);

struct DataSetOptions {
    examples::BinRegionOptions regions{};  ///< references, regions, hold-outs
    std::vector<std::filesystem::path> signals{}, peaks{};
    examples::SignalReading reading{};
    double background = 2;  ///< windows per peak
    std::uint64_t seed = 0;
};

/// Const calls are thread-safe.
class DataSet {
public:
    /// Reads cut sites and summits, and chooses hold-outs. Logs what it finds. Throws InputError,
    /// ConfigError.
    explicit DataSet(DataSetOptions options);

    const genome::ReferenceGenome& reference() const { return regions_.reference(); }
    const CutCounts& sites() const { return read_.sites; }
    /// What the files of options.signals held, in their order.
    const std::vector<examples::SignalRead>& files() const { return read_.files; }
    std::int64_t summits() const { return std::ssize(summits_); }
    double covered(std::int64_t input) const { return covered_share(summits_, reference(), input); }
    /// The regions of windows of these lengths. Logs their numbers.
    SplitRegions split(const WindowLengths& lengths) const;
    WindowSource source(const WindowLengths& lengths) const {
        return {reference(), sites(), lengths.input, lengths.output};
    }
    /// chrombpnet's largest shift of a training peak: half of the output.
    static std::int64_t jitter_of(const WindowLengths& lengths) { return lengths.output / 2; }
    Json held_out() const { return regions_.held_out(); }

private:
    DataSetOptions options_;
    examples::BinRegions regions_;
    ReadCuts read_;
    std::vector<Region> summits_;
};

}  // namespace bigbird::profiles
