// SPDX-License-Identifier: Apache-2.0
#include "bigbird/scoring/splicing/predict_sites.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/parts/shard.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/networks/splicing/splice_network.hpp"
#include "bigbird/outputs/outputs.hpp"
#include "bigbird/rows/region_rows.hpp"
#include "bigbird/scoring/splicing/splice_codes.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bigbird::splicing {

namespace {

constexpr std::int64_t bases_of_pass = 20'000;

/// A channel of the network on a strand.
struct Site {
    std::size_t channel;
    bool reverse;
};

/// The columns of a network, and where their values are.
struct Sites {
    rows::LabelTable labels;
    std::vector<Site> sites;

    explicit Sites(std::int64_t channels) {
        using Names = std::vector<std::string>;
        const Names names =
            channels == 3 ? Names{"", "acceptor", "donor"} : Names{"heart", "liver", "brain", "testis"};
        std::vector<rows::Label> found;
        for (const bool reverse : {false, true})
            for (std::size_t c = 0; c < names.size(); ++c) {
                if (names[c].empty()) continue;
                found.push_back({.name = names[c] + (reverse ? "_minus" : "_plus")});
                sites.push_back({c, reverse});
            }
        labels = rows::LabelTable(std::move(found));
    }
};

/// The rows of a BED, or whole records.
class SiteRows {
public:
    SiteRows(const tasks::PredictSpec& spec, const genome::ReferenceGenome& reference)
        : reference_(reference) {
        if (spec.sequences.empty())
            regions_.emplace(
                spec.regions, reference,
                rows::RegionOptions{.anchor = rows::Anchor::itself, .skip_invalid = spec.skip_invalid});
        if (spec.outputs.shard) segments_.emplace(total(), *spec.outputs.shard);
    }
    std::int64_t total() const { return regions_ ? regions_->total() : std::ssize(reference_.contigs()); }
    std::optional<rows::RegionRow> next() {
        while (auto row = read()) {
            if (!segments_) return row;
            row->segment = segments_->next();
            if (segments_->is_mine(row->segment)) return row;
        }
        return std::nullopt;
    }
    void report() const {
        if (regions_) regions_->report();
    }

private:
    std::optional<rows::RegionRow> read() {
        if (regions_) return regions_->next();
        if (record_ == reference_.contigs().size()) return std::nullopt;
        const genome::Contig& contig = reference_.contigs()[record_++];
        rows::RegionRow row;
        row.head.where = row.window = {contig.name, 0, contig.length};
        return row;
    }

    const genome::ReferenceGenome& reference_;
    std::optional<rows::RegionReader> regions_;
    std::size_t record_ = 0;
    std::optional<SegmentCounter> segments_;
};

class SiteWork {
public:
    SiteWork(const tasks::PredictSpec& spec, const outputs::OutputSpec& output)
        : reference_(spec.sequences.empty() ? genome::open_references(spec.references)
                                            : genome::open_records(spec.sequences)),
          network_(networks::SpliceNetwork::open(spec.models)),
          sites_(network_.channels()),
          chosen_(sites_.labels.select(spec.labels)),
          threads_(resolve_threads(spec.threads)),
          rows_(spec, *reference_),
          outputs_(output,
                   {outputs::region_head(),
                    outputs::label_columns(sites_.labels, chosen_),
                    {{"bigbird-dna", std::string(version())},
                     {"family", network_.family()},
                     {"model_sha256", network_.sha256()}}},
                   reference_->contigs(), threads_) {}

    void run() {
        Progress progress("Scoring", "rows", rows_.total());
        std::int64_t done = 0;
        while (const auto row = rows_.next()) {
            outputs_.begin_segment(row->segment);
            if (row->window.size() == 0) outputs_.write(rows::fields_of(row->head), {});
            for (std::int64_t begin = row->window.begin; begin < row->window.end; begin += bases_of_pass) {
                stop_if_asked();
                write_bases(row->head,
                            {row->window.contig, begin, std::min(begin + bases_of_pass, row->window.end)});
            }
            progress.update(++done);
        }
        progress.finish();
        rows_.report();
        outputs_.commit();
        log_info("{} of {} bases scored", scored_, bases_);
    }

private:
    void write_bases(rows::Row head, const genome::Interval& where) {
        const std::int64_t side = network_.context() / 2;
        const auto width = static_cast<std::size_t>(network_.channels());
        std::vector<std::uint8_t> codes =
            codes_of_text(reference_->fetch({where.contig, where.begin - side, where.end + side}));
        const std::vector<std::uint8_t> given = codes;
        const std::vector<float> plus = network_.probabilities(codes, threads_);
        reverse_codes(codes);
        std::vector<float> minus = network_.probabilities(codes, threads_);
        reverse_positions(minus, network_.channels());
        std::vector<float> values(chosen_.size());
        for (std::int64_t p = 0; p < where.size(); ++p) {
            const bool is_n = given[static_cast<std::size_t>(p + side)] == code_of_n;
            head.where.begin = where.begin + p;
            head.where.end = head.where.begin + 1;
            head.status = is_n ? rows::RowStatus::all_n : rows::RowStatus::ok;
            head.n_fraction = is_n ? 1 : 0;
            for (std::size_t i = 0; i < values.size(); ++i) {
                const Site& site = sites_.sites[chosen_[i]];
                values[i] = (site.reverse ? minus : plus)[static_cast<std::size_t>(p) * width + site.channel];
            }
            outputs_.write(rows::fields_of(head),
                           is_n ? std::span<const float>() : std::span<const float>(values));
            ++bases_;
            scored_ += is_n ? 0 : 1;
        }
    }

    std::unique_ptr<genome::ReferenceGenome> reference_;
    networks::SpliceNetwork network_;
    Sites sites_;
    std::vector<std::size_t> chosen_;  ///< labels
    int threads_;
    SiteRows rows_;
    outputs::Outputs outputs_;
    std::int64_t bases_ = 0, scored_ = 0;
};

}  // namespace

int predict_sites(const tasks::PredictSpec& spec) {
    spec.validate();
    outputs::OutputSpec output = spec.output_spec();
    output.tracks = true;
    outputs::prepare_outputs(output);
    SiteWork(spec, output).run();
    return 0;
}

}  // namespace bigbird::splicing
