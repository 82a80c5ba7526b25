// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/signals/contig_lengths.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/words.hpp"

#include <algorithm>
#include <ranges>

namespace bigbird::examples {

std::string require_lengths(const std::filesystem::path& path, std::span<const genome::Contig> contigs,
                            std::span<const std::int64_t> in_file) {
    std::string slice;
    for (std::size_t i = 0; i < contigs.size(); ++i) {
        const std::int64_t length = contigs[i].length;
        if (in_file[i] == 0 || in_file[i] == length) continue;
        const std::string what = "says that contig " + contigs[i].name + " has " +
                                 std::to_string(in_file[i]) + " bases, --reference that it has " +
                                 std::to_string(length);
        if (length >= in_file[i] / 10 * 9) throw InputError(what + ": is it of another assembly?", path);
        if (slice.empty())
            slice = path.string() + ": " + what +
                    ": it is read up to there, as for a slice; is it of another assembly?";
    }
    if (std::ranges::all_of(in_file, [](std::int64_t length) { return length == 0; }))
        throw InputError("has no contig of --reference (" +
                             listed(contigs | std::views::transform(&genome::Contig::name)) +
                             "): is it of another assembly?",
                         path);
    return slice;
}

}  // namespace bigbird::examples
