// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/task_models/computing.hpp"
#include "bigbird/task_models/embed/row_embedder.hpp"
#include "bigbird/task_models/predict/grid_rows.hpp"
#include "bigbird/task_models/task_model.hpp"

#include <algorithm>

namespace bigbird::task_models {

namespace {

void require_fit(const EmbedSpec& spec, const bins::Grid& grid) {
    const auto refuse = [](bool given, const std::string& option, const std::string& why) {
        if (given) throw ConfigError(option + " is not of models of bins: " + why);
    };
    refuse(spec.pooling != EmbedPooling::mean, "--pooling", "a row gets the mean over its bins");
    refuse(spec.layer != -1, "--layer", "the last layer alone is read");
    refuse(spec.use_strand, "--strand", "windows lie on a grid of the reference");
    grid.validate();
}

/// (windows, window_bins, hidden) on the CPU.
at::Tensor features_of(const BinNetwork& network, std::span<const std::string> windows) {
    const at::InferenceMode inference;
    std::vector<EncodedWindow> encoded;
    for (const std::string& window : windows)
        encoded.push_back(network.encode(window));
    return network.features(encoded).narrow(2, 0, network.hidden_size()).to(at::kCPU).contiguous();
}

class BinEmbedder : public RowEmbedder {
public:
    BinEmbedder(TaskModel model, const genome::ReferenceGenome& genome, std::size_t at_once)
        : network_(std::move(model.bins)),
          sequence_of_([&genome](const genome::Interval& where) { return genome.fetch(where); }),
          reader_(network_->grid(), sequence_of_, at_once,
                  [this](std::span<const std::string> windows) { return features_of(*network_, windows); }) {}
    std::int64_t hidden_size() const override { return network_->hidden_size(); }
    std::string layer() const override { return "last"; }
    bool together(const rows::RegionRow& before, const rows::RegionRow& row) const override {
        return begin_in_one_window(network_->grid(), before.window, row.window);
    }
    void embed(std::span<rows::RegionRow> rows, outputs::Outputs& outputs, EmbedReport& report) override {
        std::vector<GridRow> places;
        for (const rows::RegionRow& row : rows) {
            places.push_back({row.window, rows::is_scored(row.head.status)});
            places.back().where.begin = std::max<std::int64_t>(0, row.window.begin);
        }
        const auto width = static_cast<std::size_t>(hidden_size());
        std::vector<double> sums(rows.size() * width);
        reader_.add(places, hidden_size(), sums, {});
        std::vector<float> vector(width);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const auto sum = std::span(sums).subspan(i * width, width);
            std::ranges::transform(sum, vector.begin(), [](double x) { return static_cast<float>(x); });
            const std::span<const float> values = vector;
            outputs.begin_segment(rows[i].segment);
            outputs.write(rows::fields_of(rows[i].head), values.first(places[i].wanted ? width : 0));
            ++report.rows;
            report.embedded += places[i].wanted ? 1 : 0;
        }
    }

private:
    std::shared_ptr<BinNetwork> network_;
    SequenceOf sequence_of_;
    GridRows reader_;
};

}  // namespace

std::unique_ptr<RowEmbedder> bin_embedder(const EmbedSpec& spec, const std::filesystem::path& directory,
                                          const genome::ReferenceGenome& genome, const at::Device& device,
                                          const Computing& computing) {
    TaskModel model = load_task_model(directory, examples::Task::chromatin, device, computing);
    require_fit(spec, model.bins->grid());
    const std::int64_t fitting = batch_tokens_on(device, spec.batch_tokens) / model.bins->window_positions();
    const std::int64_t at_once = device.is_cpu() ? 1 : std::max<std::int64_t>(1, fitting);
    return std::make_unique<BinEmbedder>(std::move(model), genome, static_cast<std::size_t>(at_once));
}

}  // namespace bigbird::task_models
