// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/outputs/outputs.hpp"
#include "bigbird/rows/region_rows.hpp"
#include "bigbird/scoring/rows/predict.hpp"
#include "bigbird/scoring/score_rows.hpp"
#include "bigbird/scoring/scorers.hpp"
#include "bigbird/tasks/model_folder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace bigbird::tasks {

namespace {

constexpr std::size_t windows_per_chunk = 128;
constexpr float not_scored = std::numeric_limits<float>::quiet_NaN();

/// A part of a row that one window scores, or a row without scores.
struct RowPiece {
    rows::Row head;          ///< head of the full row
    genome::Interval where;  ///< on the reference
    std::size_t window = 0;  ///< index in the chunk
    std::int64_t first = 0;  ///< its first base, among the bases that the window scores
    bool is_scored = false;
};
struct PieceChunk {
    std::vector<RowPiece> rows;
    std::vector<genome::Interval> windows;
    std::vector<EncodedWindow> encoded;  ///< each window in each of the directions

    bool empty() const { return rows.empty(); }
};

/// Cuts rows into pieces, and reads the windows that score them.
class PieceReader {
public:
    PieceReader(rows::RegionReader& rows, const ModelFolder& model, const genome::ReferenceGenome& reference,
                const std::vector<bool>& directions, int threads)
        : rows_(rows),
          grid_(model.info.base_grid()),
          network_(*model.network),
          reference_(reference),
          directions_(directions),
          threads_(threads) {}

    /// Empty at the end.
    PieceChunk next() {
        PieceChunk chunk;
        while (chunk.windows.size() < windows_per_chunk && chunk.rows.size() < 64 * windows_per_chunk) {
            if (!row_) {
                row_ = rows_.next();
                if (!row_) break;
                next_base_ = row_->window.begin;
            }
            add_piece(chunk);
        }
        encode(chunk);
        return chunk;
    }

private:
    void add_piece(PieceChunk& chunk) {
        RowPiece piece{.head = row_->head, .where = row_->window};
        if (!rows::is_scored(row_->head.status) || row_->window.size() == 0) {
            if (rows::is_scored(piece.head.status)) piece.head.status = rows::RowStatus::all_n;
            chunk.rows.push_back(std::move(piece));
            row_.reset();
            return;
        }
        const std::int64_t core = grid_.window_of(next_base_), begin = core * grid_.core_bins();
        piece.where.begin = next_base_;
        piece.where.end = std::min(begin + grid_.core_bins(), row_->window.end);
        piece.first = next_base_ - begin;
        piece.is_scored = true;
        next_base_ = piece.where.end;
        const std::int64_t first = grid_.begin_of(core);
        const genome::Interval window{piece.where.contig, first, first + grid_.window_bases()};
        const auto found = std::find(chunk.windows.rbegin(), chunk.windows.rend(), window);
        if (found == chunk.windows.rend()) {
            piece.window = chunk.windows.size();
            chunk.windows.push_back(window);
        } else {
            piece.window = static_cast<std::size_t>(chunk.windows.rend() - found) - 1;
        }
        if (next_base_ >= row_->window.end) row_.reset();
        chunk.rows.push_back(std::move(piece));
    }

    void encode(PieceChunk& chunk) const {
        const std::size_t directions = directions_.size();
        chunk.encoded.resize(chunk.windows.size() * directions);
        parallel_for(std::ssize(chunk.encoded), threads_, [&](std::int64_t i) {
            const auto at = static_cast<std::size_t>(i);
            chunk.encoded[at] = network_.encode(reference_.fetch(chunk.windows[at / directions]),
                                                directions_[at % directions]);
        });
    }

    rows::RegionReader& rows_;
    bins::Grid grid_;
    const TaskNetwork& network_;
    const genome::ReferenceGenome& reference_;
    const std::vector<bool>& directions_;
    int threads_;
    std::optional<rows::RegionRow> row_;
    std::int64_t next_base_ = 0;
};

/// The probabilities of the bases between the margins of each window, (core, labels) row by row; NaN where no
/// token covers the base.
using CoreScores = std::vector<std::vector<float>>;

/// Adds a reading's probabilities (length, labels) to the sums of its window's core.
void add_reading(const bins::Grid& grid, const std::vector<TokenSpan>& spans, const at::Tensor& probabilities,
                 bool reverse, std::vector<double>& sums, std::vector<int>& times) {
    const std::int64_t labels = probabilities.size(1);
    const auto* const values = probabilities.const_data_ptr<float>();
    for (std::size_t token = 0; token < spans.size(); ++token) {
        for (std::int64_t base = spans[token].begin; base < spans[token].end; ++base) {
            const std::int64_t position =
                (reverse ? grid.window_bases() - 1 - base : base) - grid.margin_bins;
            if (position < 0 || position >= grid.core_bins()) continue;
            ++times[static_cast<std::size_t>(position)];
            for (std::int64_t label = 0; label < labels; ++label) {
                sums[static_cast<std::size_t>(position * labels + label)] +=
                    static_cast<double>(values[static_cast<std::int64_t>(token) * labels + label]);
            }
        }
    }
}

rows::Provenance provenance_of(const PredictTokensSpec& spec, const ModelFolder& model,
                               const genome::ReferenceGenome& reference) {
    return {{"bigbird-dna", std::string(version())},
            {"task", "tokens"},
            {"model_sha256", model.sha256},
            {"window", std::to_string(model.info.window.size())},
            {"margin", std::to_string(model.info.margin.value_or(0))},
            {"reverse_complement", std::string(word_of(strand_choices, spec.strands))},
            {"contigs_sha256", contigs_checksum(reference)}};
}

CoreScores score_cores(const ModelFolder& model, const PieceChunk& chunk, const std::vector<bool>& directions,
                       std::int64_t batch_tokens) {
    const at::NoGradGuard no_gradients;
    const TaskNetwork& network = *model.network;
    const bins::Grid grid = model.info.base_grid();
    const auto core = static_cast<std::size_t>(grid.core_bins()), labels = model.labels.size();
    std::vector<std::vector<double>> sums(chunk.windows.size(), std::vector<double>(core * labels, 0));
    std::vector<std::vector<int>> times(chunk.windows.size(), std::vector<int>(core, 0));
    for (const auto& group :
         network.group(chunk.encoded, batch_tokens, model::sizes_for_scores(network.device()))) {
        stop_if_asked();
        const at::Tensor probabilities =
            model.calibration.probabilities(network.logits(chunk.encoded, group)).to(at::kCPU).contiguous();
        for (std::size_t i = 0; i < group.size(); ++i) {
            if (i > 0 && group[i] == group[i - 1]) break;  // the group is filled up
            const std::size_t window = group[i] / directions.size();
            add_reading(grid, network.spans(chunk.encoded[group[i]]),
                        probabilities[static_cast<std::int64_t>(i)], directions[group[i] % directions.size()],
                        sums[window], times[window]);
        }
    }
    const auto wanted = static_cast<int>(directions.size());
    CoreScores scores(chunk.windows.size());
    for (std::size_t window = 0; window < scores.size(); ++window) {
        for (std::size_t i = 0; i < core * labels; ++i) {
            scores[window].push_back(times[window][i / labels] == wanted
                                         ? static_cast<float>(sums[window][i] / wanted)
                                         : not_scored);
        }
    }
    return scores;
}

/// Writes the scores of pieces to the outputs.
class RunWriter {
public:
    RunWriter(const PredictTokensSpec& spec, const ModelFolder& model,
              const genome::ReferenceGenome& reference, int threads)
        : labels_(model.labels.size()),
          chosen_(model.labels.select(spec.labels)),
          reference_(reference),
          outputs_(spec.outputs,
                   {outputs::region_head(), outputs::label_columns(model.labels, chosen_),
                    provenance_of(spec, model, reference)},
                   reference.contigs(), threads) {}

    void write(const RowPiece& piece, const CoreScores& scores) {
        if (!piece.is_scored) {
            outputs_.write(rows::fields_of(piece.head), {});
            ++report.rows;
            return;
        }
        const std::string dna = reference_.fetch(piece.where);
        const std::span<const float> values =
            std::span(scores[piece.window]).subspan(static_cast<std::size_t>(piece.first) * labels_);
        report.bases += piece.where.size();
        for (std::size_t begin = 0, end = 0; begin < dna.size(); begin = end) {
            end = end_of_run(values, begin, dna.size());
            write_run(piece, std::string_view(dna).substr(begin, end - begin),
                      static_cast<std::int64_t>(begin), values.subspan(begin * labels_, labels_));
        }
    }
    void commit() { outputs_.commit(); }

    PredictTokensReport report{};

private:
    std::size_t end_of_run(std::span<const float> values, std::size_t begin, std::size_t size) const {
        const auto same = [&](std::size_t base) {
            for (std::size_t i = 0; i < labels_; ++i) {
                const float a = values[begin * labels_ + i], b = values[base * labels_ + i];
                if (a != b && !(std::isnan(a) && std::isnan(b))) return false;
            }
            return true;
        };
        std::size_t end = begin + 1;
        while (end < size && same(end))
            ++end;
        return end;
    }
    void write_run(const RowPiece& piece, std::string_view dna, std::int64_t offset,
                   std::span<const float> values) {
        rows::Row head = piece.head;
        head.where.begin = piece.where.begin + offset;
        head.where.end = head.where.begin + std::ssize(dna);
        head.n_fraction = genome::n_fraction(dna);
        head.status = rows::status_of(dna);
        bool scored = rows::is_scored(head.status);
        if (scored && std::isnan(values.front())) {
            head.status = rows::RowStatus::truncated;
            scored = false;
        }
        row_.clear();
        for (std::size_t i = 0; scored && i < chosen_.size(); ++i)
            row_.push_back(values[chosen_[i]]);
        outputs_.write(rows::fields_of(head), row_);
        ++report.rows;
        report.scored += scored ? std::ssize(dna) : 0;
    }

    std::size_t labels_;
    std::vector<std::size_t> chosen_;  ///< labels
    const genome::ReferenceGenome& reference_;
    outputs::Outputs outputs_;
    std::vector<float> row_;
};

}  // namespace

PredictTokensReport predict_tokens(const PredictTokensSpec& spec) {
    outputs::prepare_outputs(spec.outputs);
    const auto reference = genome::open_references(spec.references);
    const Job job = open_job(spec);
    const ModelFolder model = open_bases_model(spec.model, job.device, job.computing);
    if (const auto warning = other_build(model.info, *reference)) log_warning("{}", *warning);
    rows::RegionReader regions(spec.regions, *reference,
                               {.anchor = rows::Anchor::itself, .skip_invalid = spec.skip_invalid});
    RunWriter writer(spec, model, *reference, job.threads);
    const std::vector<bool> directions = directions_of(spec.strands);
    PieceReader pieces(regions, model, *reference, directions, job.threads);
    PredictTokensReport& report = writer.report;  // only the writing thread uses it
    Progress progress("Scoring", "bases", 0);
    std::int64_t bases = 0;
    const auto score = [&](const PieceChunk& chunk) {
        CoreScores scores = score_cores(model, chunk, directions, job.batch_tokens);
        for (const RowPiece& piece : chunk.rows)
            bases += piece.is_scored ? piece.where.size() : 0;
        progress.update(bases);
        return scores;
    };
    score_rows([&] { return pieces.next(); }, score,
               [&](const PieceChunk& chunk, const CoreScores& scores) {
                   for (const EncodedWindow& window : chunk.encoded)
                       report.truncated += window.truncated ? 1 : 0;
                   for (const RowPiece& piece : chunk.rows)
                       writer.write(piece, scores);
               });
    progress.finish();
    regions.report();
    writer.commit();
    report.regions = regions.rows();
    return report;
}

}  // namespace bigbird::tasks
