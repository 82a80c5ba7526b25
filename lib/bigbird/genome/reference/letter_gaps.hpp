// SPDX-License-Identifier: Apache-2.0
// Letters of one sequence with blanks between them. No reader joins them: overlapping k-mers, as DNABERT's
// tables hold them, would become another sequence.
#pragma once

#include <string>
#include <string_view>

namespace bigbird::genome {

/// The text without blanks at its ends.
std::string_view without_outer_blanks(std::string_view text);

/// What is wrong with a text that holds blanks between letters, and the remedy.
std::string fault_of_gaps(std::string_view text);

}  // namespace bigbird::genome
