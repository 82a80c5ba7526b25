// SPDX-License-Identifier: Apache-2.0
#include "bigbird/outputs/merge/merge_scores.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/genome/regions/variant_reader.hpp"
#include "bigbird/genome/regions/variant_writer.hpp"
#include "bigbird/genome/text/text_input.hpp"
#include "bigbird/outputs/outputs.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bigbird::outputs {

namespace fs = std::filesystem;

namespace {

/// The rows of one part, a table with TableSchema::part, in their order. `schema` must outlive it. Not
/// thread-safe.
class PartRows {
public:
    PartRows(const fs::path& path, const TableSchema& schema)
        : schema_(schema), lines_(path), head_(schema.head.size()), scores_(schema.columns.size()) {
        while (lines_.next(line_) && line_.starts_with("##")) {
        }
    }
    /// Writes the next `records` rows to `whole`. Throws InputError if the part has fewer, WriteError.
    void copy(std::int64_t records, Outputs& whole) {
        for (; records > 0; --records) {
            if (!lines_.next(line_)) throw miscounted(lines_.path(), "rows");
            left_ = line_;
            const bool scored = !line_.ends_with("NA");
            for (std::size_t i = 0; i < head_.size(); ++i)
                head_[i] = field(schema_.head[i].kind, scored);
            if (scored)
                for (float& score : scores_)
                    score = number<float>();
            if (scored && !left_.empty()) throw unfit();
            whole.write(head_, scored ? std::span<const float>(scores_) : std::span<const float>());
        }
    }
    /// Throws InputError if the part has more.
    void require_end() {
        if (lines_.next(line_)) throw miscounted(lines_.path(), "rows");
    }

private:
    InputError unfit() const {
        return lines_.fault("is no row as the part's .part.json says: one of the two was changed");
    }
    std::string_view text() {
        const std::size_t end = std::min(left_.find('\t'), left_.size());
        const std::string_view field = left_.substr(0, end);
        left_.remove_prefix(std::min(end + 1, left_.size()));
        return field;
    }
    template <typename Number>
    Number number() {
        const auto value = parse_number<Number>(text());
        if (!value) throw unfit();
        return *value;
    }
    /// A malformed line, which has no scores, may have text instead of integers.
    rows::Field field(FieldKind kind, bool scored) {
        if (kind == FieldKind::real) return number<double>();
        if (kind == FieldKind::integer && scored) return number<std::int64_t>();
        return text();
    }

    const TableSchema& schema_;
    genome::TextInput lines_;
    std::string line_;
    std::string_view left_;  ///< what of line_ is not read yet
    std::vector<rows::Field> head_;
    std::vector<float> scores_;
};

/// merge_scores() for VCF or BCF, including the indices.
void merge_variants(std::span<const Part> parts, const OutputSpec& outputs, int threads) {
    std::vector<genome::VariantReader> readers;
    std::shared_ptr<genome::VariantHeader> header;
    for (const Part& part : parts) {
        readers.emplace_back(part.path);
        if (header)
            readers.back().share_header(header);
        else
            header = readers.back().keep_records({});
    }
    std::vector<std::unique_ptr<genome::VariantWriter>> writers;
    for (const fs::path& path : outputs.paths)
        writers.push_back(std::make_unique<genome::VariantWriter>(path, outputs.overwrite, header, threads));
    for (const Piece& piece : order_of(parts)) {
        stop_if_asked();
        for (std::int64_t i = 0; i < piece.records; ++i) {
            const auto variant = readers[piece.part].next();
            if (!variant) throw miscounted(parts[piece.part].path, "records");
            for (const auto& writer : writers)
                writer->write(*variant);
        }
    }
    for (std::size_t i = 0; i < readers.size(); ++i)
        if (readers[i].next()) throw miscounted(parts[i].path, "records");
    std::vector<PendingOutput*> pending;
    for (const auto& writer : writers)
        writer->finish(pending);
    commit_together(pending);
    for (const fs::path& path : outputs.paths)
        remove_part_record(path);
}

ScoreRun run_of(const Part& part) {
    return score_run_from_json(part.record.run, part_record_path(part.path));
}

/// Throws ConfigError if parts like `first` do not hold what the output's format needs.
void require_source(const Part& first, const fs::path& output, const ScoreRun& run) {
    const auto kind = kind_of(output);
    const bool variants = first.record.kind != part_of_rows;
    std::string why;
    if (kind && variants && kind != Kind::variants)
        why =
            "parts in VCF or BCF merge to VCF or BCF only; for other formats make parts that end in .tsv.gz";
    else if (!variants && kind == Kind::variants)
        why = "a VCF or BCF needs parts of predict-variants that end in .vcf.gz or .bcf";
    else if (genome::variant_format_of(output) == genome::VariantFormat::bcf &&
             first.record.kind != part_of_bcf)
        why = "parts in VCF have six digits per number, too few for a BCF; make parts that end in .bcf";
    else if (kind == Kind::long_table && !run.min_score)
        why = "needs parts that were made with --min-score";
    if (!why.empty()) throw ConfigError(output.string() + ": " + why);
}

}  // namespace

OutputSpec merged_outputs(const Part& first, std::vector<fs::path> paths, Overwrite overwrite) {
    const ScoreRun run = run_of(first);
    OutputSpec spec{.paths = std::move(paths),
                    .overwrite = overwrite,
                    .min_score = run.min_score,
                    .overlap = run.overlap,
                    .tracks = !run.contigs.empty(),
                    .variants = first.record.kind != part_of_rows};
    for (const fs::path& path : spec.paths)
        require_source(first, path, run);
    prepare_outputs(spec);
    if (spec.variants)
        for (const fs::path& path : spec.paths)
            genome::prepare_variant_output(path, overwrite);
    return spec;
}

void merge_scores(std::span<const Part> parts, const OutputSpec& outputs, int threads) {
    if (outputs.variants) return merge_variants(parts, outputs, threads);
    const ScoreRun run = run_of(parts.front());
    std::vector<std::unique_ptr<PartRows>> rows;
    for (const Part& part : parts)
        rows.push_back(std::make_unique<PartRows>(part.path, run.schema));
    Outputs whole(outputs, run.schema, run.contigs, threads);
    for (const Piece& piece : order_of(parts)) {
        stop_if_asked();
        rows[piece.part]->copy(piece.records, whole);
    }
    for (const auto& part : rows)
        part->require_end();
    whole.commit();
}

}  // namespace bigbird::outputs
