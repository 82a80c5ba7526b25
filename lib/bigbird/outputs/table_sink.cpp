// SPDX-License-Identifier: Apache-2.0
#include "bigbird/outputs/table_sink.hpp"

namespace bigbird::outputs {

namespace {

class TableSink : public Sink {
public:
    TableSink(const std::filesystem::path& path, Overwrite overwrite, const Layout& layout, int threads)
        : writer_(path, overwrite, head_names(layout), column_names(layout), layout.provenance, threads) {}
    void write(std::span<const std::string> head, std::span<const float> values) override {
        writer_.write(head, values);
    }
    void commit() override { writer_.commit(); }

private:
    static std::vector<std::string> head_names(const Layout& layout) {
        std::vector<std::string> names;
        for (const HeadColumn& column : layout.head)
            names.push_back(column.name);
        return names;
    }
    static std::vector<std::string> column_names(const Layout& layout) {
        std::vector<std::string> names;
        for (const Column& column : layout.columns)
            names.push_back(column.name);
        return names;
    }

    rows::ScoreWriter writer_;
};

}  // namespace

std::unique_ptr<Sink> table_sink(const std::filesystem::path& path, Overwrite overwrite, const Layout& layout,
                                 int threads) {
    return std::make_unique<TableSink>(path, overwrite, layout, threads);
}

}  // namespace bigbird::outputs
