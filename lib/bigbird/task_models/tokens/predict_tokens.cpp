// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/tokens/predict_tokens.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/outputs/layout.hpp"
#include "bigbird/rows/region_rows.hpp"
#include "bigbird/task_models/task_model.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

namespace bigbird::task_models {

namespace {

constexpr std::size_t windows_a_chunk = 128;
constexpr float not_scored = std::numeric_limits<float>::quiet_NaN();

/// A part of a row that one window scores, or a row without scores.
struct Piece {
    rows::Row head;          ///< of the whole row
    genome::Interval where;  ///< on the reference
    std::size_t window = 0;  ///< of the chunk
    std::int64_t first = 0;  ///< its first base, among those that the window scores
    bool is_scored = false;
};
struct Chunk {
    std::vector<Piece> pieces;
    std::vector<genome::Interval> windows;
};

std::int64_t floor_divided(std::int64_t x, std::int64_t by) {
    return x >= 0 ? x / by : -((-x + by - 1) / by);
}

/// Cuts rows into pieces.
class PieceReader {
public:
    PieceReader(rows::RegionReader& rows, const TokensInfo& info) : rows_(rows), info_(info) {}

    /// Empty at the end.
    Chunk next() {
        Chunk chunk;
        while (chunk.windows.size() < windows_a_chunk && chunk.pieces.size() < 64 * windows_a_chunk) {
            if (!row_) {
                row_ = rows_.next();
                if (!row_) break;
                next_base_ = row_->window.begin;
            }
            add_piece(chunk);
        }
        return chunk;
    }

private:
    void add_piece(Chunk& chunk) {
        Piece piece{.head = row_->head, .where = row_->window};
        if (!rows::is_scored(row_->head.status) || row_->window.size() == 0) {
            if (rows::is_scored(piece.head.status)) piece.head.status = rows::RowStatus::all_n;
            chunk.pieces.push_back(std::move(piece));
            row_.reset();
            return;
        }
        const std::int64_t core = floor_divided(next_base_, info_.core()), begin = core * info_.core();
        piece.where.begin = next_base_;
        piece.where.end = std::min(begin + info_.core(), row_->window.end);
        piece.first = next_base_ - begin;
        piece.is_scored = true;
        next_base_ = piece.where.end;
        const genome::Interval window{piece.where.contig, begin - info_.margin,
                                      begin - info_.margin + info_.window};
        const auto found = std::find(chunk.windows.rbegin(), chunk.windows.rend(), window);
        if (found == chunk.windows.rend()) {
            piece.window = chunk.windows.size();
            chunk.windows.push_back(window);
        } else {
            piece.window = static_cast<std::size_t>(chunk.windows.rend() - found) - 1;
        }
        if (next_base_ >= row_->window.end) row_.reset();
        chunk.pieces.push_back(std::move(piece));
    }

    rows::RegionReader& rows_;
    const TokensInfo& info_;
    std::optional<rows::RegionRow> row_;
    std::int64_t next_base_ = 0;
};

/// One reading of a window.
struct Reading {
    std::size_t window = 0;
    bool reverse = false;
};

std::vector<Reading> readings_of(std::size_t windows, Strands strands) {
    std::vector<Reading> all;
    for (std::size_t window = 0; window < windows; ++window) {
        if (strands != Strands::only) all.push_back({window, false});
        if (strands != Strands::none) all.push_back({window, true});
    }
    return all;
}

/// Adds a reading's probabilities (length, labels) to the sums of its window's core.
void add_reading(const TokensInfo& info, const std::vector<TokenSpan>& spans, const at::Tensor& probabilities,
                 bool reverse, std::vector<double>& sums, std::vector<int>& times) {
    const std::int64_t labels = probabilities.size(1);
    const auto* const values = probabilities.const_data_ptr<float>();
    for (std::size_t token = 0; token < spans.size(); ++token) {
        for (std::int64_t base = spans[token].begin; base < spans[token].end; ++base) {
            const std::int64_t place = (reverse ? info.window - 1 - base : base) - info.margin;
            if (place < 0 || place >= info.core()) continue;
            ++times[static_cast<std::size_t>(place)];
            for (std::int64_t label = 0; label < labels; ++label) {
                sums[static_cast<std::size_t>(place * labels + label)] +=
                    static_cast<double>(values[static_cast<std::int64_t>(token) * labels + label]);
            }
        }
    }
}

std::vector<std::size_t> chosen_labels(const std::string& selection, const rows::LabelTable& labels) {
    if (!selection.empty()) return labels.select(selection);
    std::vector<std::size_t> all(labels.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
}

std::vector<std::size_t> track_columns(const PredictTokensSpec& spec, const rows::LabelTable& labels,
                                       const std::vector<std::size_t>& chosen) {
    std::vector<std::size_t> places;
    for (const std::size_t label : spec.track_labels.empty() ? chosen : labels.select(spec.track_labels)) {
        const auto found = std::find(chosen.begin(), chosen.end(), label);
        if (found == chosen.end()) {
            throw ConfigError("--track-labels chooses a label that --labels leaves out");
        }
        places.push_back(static_cast<std::size_t>(found - chosen.begin()));
    }
    return places;
}

rows::Provenance provenance_of(const PredictTokensSpec& spec, const LoadedLabeller& model,
                               const genome::ReferenceGenome& reference) {
    std::string contigs;
    for (const genome::Contig& contig : reference.contigs())
        contigs += contig.name + "\t" + std::to_string(contig.length) + "\n";
    return {{"bigbird-dna", std::string(version())},
            {"task", "tokens"},
            {"model_sha256", model.sha256},
            {"window", std::to_string(model.info.window)},
            {"margin", std::to_string(model.info.margin)},
            {"reverse_complement", std::string(word_of(strand_choices, spec.strands))},
            {"contigs_sha256", sha256_of_text(contigs)}};
}

/// Puts the scores of pieces into the outputs.
class RunWriter {
public:
    RunWriter(const PredictTokensSpec& spec, const LoadedLabeller& model,
              const genome::ReferenceGenome& reference, int threads)
        : each_base_(spec.each_base),
          labels_(model.labels.size()),
          chosen_(chosen_labels(spec.labels, model.labels)),
          reference_(reference),
          contigs_(reference.contigs().begin(), reference.contigs().end()),
          outputs_(spec.outputs,
                   {outputs::region_head(), outputs::label_columns(model.labels, chosen_),
                    provenance_of(spec, model, reference)},
                   track_columns(spec, model.labels, chosen_), contigs_, threads) {}

    void write(const Piece& piece, const CoreScores& scores, PredictTokensReport& report) {
        if (!piece.is_scored) {
            outputs_.write(rows::fields_of(piece.head), {});
            ++report.rows;
            return;
        }
        const std::string dna = reference_.fetch(piece.where);
        const std::span<const float> values =
            std::span(scores.windows[piece.window]).subspan(static_cast<std::size_t>(piece.first) * labels_);
        report.bases += piece.where.size();
        for (std::size_t begin = 0, end = 0; begin < dna.size(); begin = end) {
            end = end_of_run(values, begin, dna.size());
            write_run(piece, std::string_view(dna).substr(begin, end - begin),
                      static_cast<std::int64_t>(begin), values.subspan(begin * labels_, labels_), report);
        }
    }
    void commit() { outputs_.commit(); }

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
        while (!each_base_ && end < size && same(end))
            ++end;
        return end;
    }
    void write_run(const Piece& piece, std::string_view dna, std::int64_t offset,
                   std::span<const float> values, PredictTokensReport& report) {
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

    bool each_base_;
    std::size_t labels_;
    std::vector<std::size_t> chosen_;
    const genome::ReferenceGenome& reference_;
    std::vector<genome::Contig> contigs_;
    outputs::Outputs outputs_;
    std::vector<float> row_;
};

}  // namespace

CoreScores score_cores(const LoadedLabeller& model, const genome::ReferenceGenome& reference,
                       std::span<const genome::Interval> windows, Strands strands, std::int64_t batch_tokens,
                       int threads) {
    const at::NoGradGuard no_gradients;
    TokenLabeller& labeller = *model.labeller;
    const TokensInfo& info = model.info;
    const std::vector<Reading> readings = readings_of(windows.size(), strands);
    std::vector<EncodedWindow> encoded(readings.size());
    parallel_for(std::ssize(readings), threads, [&](std::int64_t i) {
        const Reading& reading = readings[static_cast<std::size_t>(i)];
        const std::string dna = reference.fetch(windows[reading.window]);
        encoded[static_cast<std::size_t>(i)] =
            labeller.encode(reading.reverse ? genome::reverse_complement(dna) : dna);
    });
    const auto core = static_cast<std::size_t>(info.core()),
               labels = static_cast<std::size_t>(labeller.labels());
    std::vector<std::vector<double>> sums(windows.size(), std::vector<double>(core * labels, 0));
    std::vector<std::vector<int>> times(windows.size(), std::vector<int>(core, 0));
    for (const auto& group : labeller.group(encoded, batch_tokens)) {
        stop_if_asked();
        const at::Tensor probabilities =
            model.calibration.probabilities(labeller.logits(encoded, group)).to(at::kCPU).contiguous();
        for (std::size_t i = 0; i < group.size(); ++i) {
            const Reading& reading = readings[group[i]];
            add_reading(info, token_spans(encoded[group[i]], labeller.tokenizer()),
                        probabilities[static_cast<std::int64_t>(i)], reading.reverse, sums[reading.window],
                        times[reading.window]);
        }
    }
    const int wanted = strands == Strands::average ? 2 : 1;
    CoreScores scores{.windows = std::vector<std::vector<float>>(windows.size())};
    for (const EncodedWindow& window : encoded)
        scores.truncated += window.truncated ? 1 : 0;
    for (std::size_t window = 0; window < windows.size(); ++window) {
        for (std::size_t i = 0; i < core * labels; ++i) {
            scores.windows[window].push_back(times[window][i / labels] == wanted
                                                 ? static_cast<float>(sums[window][i] / wanted)
                                                 : not_scored);
        }
    }
    return scores;
}

PredictTokensReport predict_tokens(const PredictTokensSpec& spec) {
    const auto start = std::chrono::steady_clock::now();
    outputs::prepare_outputs(spec.outputs);
    require_readable(spec.regions);
    const int threads = resolve_threads(spec.threads);
    const auto reference = genome::open_references(spec.references);
    const at::Device device = model::open_device(spec.device);
    model::set_compute_threads(spec.threads);
    const LoadedLabeller model =
        load_labeller(spec.model, device, parse_computing(spec.dtype, spec.attention, device));
    TaskInfo trained_on;
    trained_on.contigs = model.info.contigs;
    if (const auto warning = other_build(trained_on, *reference)) log_warning("{}", *warning);
    rows::RegionReader regions(spec.regions, *reference,
                               {.anchor = rows::Anchor::itself, .skip_invalid = spec.skip_invalid});
    RunWriter writer(spec, model, *reference, threads);
    PieceReader pieces(regions, model.info);
    PredictTokensReport report;
    Progress progress("Scoring", "bases", 0);
    const std::int64_t batch_tokens = batch_tokens_on(device, spec.batch_tokens);
    for (Chunk chunk = pieces.next(); !chunk.pieces.empty(); chunk = pieces.next()) {
        const CoreScores scores =
            score_cores(model, *reference, chunk.windows, spec.strands, batch_tokens, threads);
        report.truncated += scores.truncated;
        for (const Piece& piece : chunk.pieces)
            writer.write(piece, scores, report);
        progress.update(report.bases);
    }
    progress.finish();
    writer.commit();
    regions.report();
    report.regions = regions.rows();
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return report;
}

}  // namespace bigbird::task_models
