// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/words.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

namespace bigbird {

/// Whether a name read from a file names a file beside it: neither empty, nor "." or "..", nor with a slash
/// or a zero byte. Any other name may point anywhere.
constexpr bool is_file_name(std::string_view name) {
    return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos &&
           name.find('\0') == std::string_view::npos;
}

/// Like is_file_name(), also for names in nested folders such as "training_state/state.json".
constexpr bool is_name_within(std::string_view name) {
    for (;;) {
        const std::size_t slash = name.find('/');
        if (!is_file_name(name.substr(0, slash))) return false;
        if (slash == std::string_view::npos) return true;
        name.remove_prefix(slash + 1);
    }
}

/// The name of a file's class, label or track: the file's name without the endings of compression and of
/// formats of sequences, regions and signals. "K562.pos" of K562.pos.fa.gz. Other endings stay.
inline std::string name_of_content(std::string name) {
    static constexpr std::string_view packed[] = {".gz", ".bgz", ".zst", ".bz2", ".xz"},
                                      formats[] = {
                                          ".fa",       ".fasta", ".fna",        ".ffn",       ".fas",
                                          ".seq",      ".txt",   ".csv",        ".tsv",       ".bed",
                                          ".bedpe",    ".npy",   ".narrowpeak", ".broadpeak", ".gappedpeak",
                                          ".bedgraph", ".bdg",   ".bg",         ".bw",        ".bigwig",
                                          ".h5",       ".hdf5",  ".bam",        ".cram",      ".tagalign"};
    using Endings = std::span<const std::string_view>;
    for (const Endings endings : {Endings(packed), Endings(formats)}) {
        const std::string lower = lower_case(name);
        const auto ending = std::ranges::find_if(
            endings, [&](std::string_view one) { return lower.size() > one.size() && lower.ends_with(one); });
        if (ending != endings.end()) name.resize(name.size() - ending->size());
    }
    return name;
}

}  // namespace bigbird
