// SPDX-License-Identifier: Apache-2.0
#include "bigbird/outputs/long_sink.hpp"

#include "bigbird/genome/text/text_output.hpp"
#include "bigbird/outputs/table_sink.hpp"
#include "bigbird/rows/text_fields.hpp"

namespace bigbird::outputs {

namespace {

class LongSink : public Sink {
public:
    LongSink(const std::filesystem::path& path, Overwrite overwrite, const Layout& layout, float min_score,
             int threads)
        : output_(path, overwrite, threads), columns_(layout.columns), min_score_(min_score) {
        std::string text = rows::provenance_lines(layout.provenance) + "##min_score=";
        rows::append_number(text, min_score);
        text += "\n#";
        for (const HeadColumn& column : layout.head)
            text += column.name + '\t';
        output_.write(text + "index\tgroup\tlabel\tvalue\n");
    }
    void write(std::span<const rows::Field> head, std::span<const float> values) override {
        prefix_.clear();
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (!(values[i] >= min_score_)) continue;
            if (prefix_.empty()) append_fields(prefix_, head);
            line_ = prefix_ + std::to_string(columns_[i].index) + '\t' + columns_[i].group + '\t' +
                    columns_[i].label + '\t';
            rows::append_number(line_, values[i]);
            copy(line_, {});
        }
    }
    void copy(std::string_view line, std::span<const std::byte>) override {
        output_.write(line);
        output_.write("\n");
        ++lines_;
    }
    std::int64_t records() const override { return lines_; }
    void finish(std::vector<PendingOutput*>& pending) override {
        if (PendingOutput* const file = output_.finish()) pending.push_back(file);
    }

private:
    genome::TextOutput output_;
    std::vector<Column> columns_;
    float min_score_;
    std::string prefix_, line_;
    std::int64_t lines_ = 0;
};

}  // namespace

std::unique_ptr<Sink> long_sink(const std::filesystem::path& path, Overwrite overwrite, const Layout& layout,
                                float min_score, int threads) {
    return std::make_unique<LongSink>(path, overwrite, layout, min_score, threads);
}

}  // namespace bigbird::outputs
