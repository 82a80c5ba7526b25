// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::examples {

/// What the child process of read_alignments() does: sends the contigs' names and lengths, then spans of reads
/// that count; an empty message ends them. Then the counts. `words`: min_mapq, keep_duplicates and
/// whole_fragments as 0 or 1, threads. Throws InputError.
void send_alignments(const std::filesystem::path& path, const std::vector<std::string>& words,
                     const std::function<void(std::string_view)>& send);

}  // namespace bigbird::examples
