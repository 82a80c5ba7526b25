// SPDX-License-Identifier: Apache-2.0
#include "support/text_output.hpp"

#include <cstdio>
#include <ostream>

namespace bigbird::cli {

void write_text(const std::string& text, const OutputOptions& output) {
    if (output.output == "-") {
        std::fwrite(text.data(), 1, text.size(), stdout);
        return;
    }
    write_atomically(output.output, output.overwrite(), [&](std::ostream& out) { out << text; });
}

}  // namespace bigbird::cli
