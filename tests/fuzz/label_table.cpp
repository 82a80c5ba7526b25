// SPDX-License-Identifier: Apache-2.0
// labels.tsv, and selections of its labels: the file, then the text of a selection.
#include "bigbird/rows/label_table.hpp"

#include "fuzz/fuzz_target.hpp"

using namespace bigbird;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto files = fuzz::split_files(fuzz::text_of(data, size));
    const auto file = fuzz::scratch().write("labels.tsv", files.front());
    return fuzz::expect_answer([&] {
        const rows::LabelTable table = rows::LabelTable::read(file);
        static_cast<void>(table.to_text());
        for (std::size_t i = 0; i < table.size(); ++i)
            static_cast<void>(table.column_name(i));
        if (files.size() > 1) static_cast<void>(table.select(files[1]));
    });
}
