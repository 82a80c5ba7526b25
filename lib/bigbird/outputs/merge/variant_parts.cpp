// SPDX-License-Identifier: Apache-2.0
#include "bigbird/outputs/merge/variant_parts.hpp"

#include "bigbird/core/interrupt.hpp"
#include "bigbird/genome/regions/variant_reader.hpp"
#include "bigbird/genome/regions/variant_writer.hpp"

#include <vector>

namespace bigbird::outputs {

void merge_variants(std::span<const Part> parts, const std::filesystem::path& output, Overwrite overwrite,
                    int threads) {
    genome::prepare_variant_output(output, overwrite);
    std::vector<genome::VariantReader> readers;
    std::shared_ptr<genome::VariantHeader> header;
    for (const Part& part : parts) {
        readers.emplace_back(part.path);
        if (header)
            readers.back().share_header(header);
        else
            header = readers.back().keep_records({});
    }
    genome::VariantWriter writer(output, overwrite, header, threads);
    for (const Piece& piece : order_of(parts)) {
        stop_if_asked();
        for (std::int64_t i = 0; i < piece.records; ++i) {
            const auto variant = readers[piece.part].next();
            if (!variant) throw miscounted(parts[piece.part].path, "records");
            writer.write(*variant);
        }
    }
    for (std::size_t i = 0; i < readers.size(); ++i)
        if (readers[i].next()) throw miscounted(parts[i].path, "records");
    std::vector<PendingOutput*> pending;
    writer.finish(pending);
    commit_together(pending);
    remove_part_record(output);
}

}  // namespace bigbird::outputs
