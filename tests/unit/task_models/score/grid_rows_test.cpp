// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/score/grid_rows.hpp"

#include "support/testing.hpp"

#include <ATen/ATen.h>

using namespace bigbird;
using namespace bigbird::task_models;

namespace {

/// A contig whose letters say where they lie, and a model whose value of a bin is its first base's number.
struct Scene {
    bins::Grid grid{.bin = 10, .window_bins = 6, .margin_bins = 1};
    std::int64_t windows = 0, calls = 0;
    SequenceOf sequence = [](const genome::Interval& where) { return std::to_string(where.begin); };
    GridRows rows(std::size_t at_once) {
        return {grid, sequence, at_once,
                [this](std::span<const std::string> some) {
                    ++calls;
                    windows += std::ssize(some);
                    at::Tensor values = at::empty({std::ssize(some), 6, 1});
                    for (std::size_t i = 0; i < some.size(); ++i)
                        values[static_cast<std::int64_t>(i)] =
                            (std::stod(some[i]) + 10 * at::arange(6)).unsqueeze(1);
                    return values;
                }};
    }
};

std::vector<double> sums(GridRows& rows, const std::vector<GridRow>& wanted) {
    std::vector<double> all(wanted.size());
    rows.add(wanted, 1, all, {});
    return all;
}

}  // namespace

DOCTEST_TEST_CASE("grid rows: a row is the mean of its bins, weighted by what they share") {
    Scene scene;
    GridRows rows = scene.rows(1);
    const std::vector<double> all =
        sums(rows, {{{"c", 40, 50}, true}, {{"c", 35, 50}, true}, {{"c", 0, 10}, false}});
    DOCTEST_CHECK(all[0] == doctest::Approx(40));
    DOCTEST_CHECK(all[1] == doctest::Approx((5 * 30 + 10 * 40) / 15.0));
    DOCTEST_CHECK(all[2] == 0);
    DOCTEST_CHECK(scene.windows == 2);  // bins 0 to 3 and 4 to 7
}

DOCTEST_TEST_CASE("grid rows: windows go together, and the last ones are kept") {
    Scene scene;
    GridRows rows = scene.rows(3);
    std::vector<GridRow> wanted;
    for (std::int64_t bin = 0; bin < 28; ++bin)
        wanted.push_back({{"c", 10 * bin, 10 * bin + 10}, true});
    const std::vector<double> all = sums(rows, wanted);
    for (std::size_t i = 0; i < all.size(); ++i)
        DOCTEST_CHECK(all[i] == doctest::Approx(10.0 * static_cast<double>(i)));
    DOCTEST_CHECK(scene.windows == 7);
    DOCTEST_CHECK(scene.calls == 3);
    sums(rows, {wanted.back()});
    DOCTEST_CHECK(scene.calls == 3);
    sums(rows, {wanted.front()});
    DOCTEST_CHECK(scene.calls == 4);
}

DOCTEST_TEST_CASE("grid rows: says what part is done") {
    Scene scene;
    GridRows rows = scene.rows(1);
    std::vector<double> parts, all(2);
    const std::vector<GridRow> wanted{{{"c", 0, 10}, true}, {{"c", 400, 410}, true}};
    rows.add(wanted, 1, all, [&](double part) { parts.push_back(part); });
    DOCTEST_CHECK(parts == std::vector{0.5, 1.0});
}

DOCTEST_TEST_CASE("grid rows: windows that a row adds to those of the row in front of it") {
    const bins::Grid grid{.bin = 100, .window_bins = 12, .margin_bins = 1};  // cores of ten bins
    const genome::Interval first{"c", 0, 200}, same{"c", 800, 1000}, next{"c", 900, 1100},
        far{"c", 3000, 5100}, other{"d", 3000, 3001};
    using task_models::begin_in_one_window, task_models::count_new_windows;
    DOCTEST_CHECK(count_new_windows(grid, nullptr, first) == 1);
    DOCTEST_CHECK(count_new_windows(grid, &first, same) == 0);
    DOCTEST_CHECK(count_new_windows(grid, &same, next) == 1);
    DOCTEST_CHECK(count_new_windows(grid, &next, far) == 3);
    DOCTEST_CHECK(count_new_windows(grid, &far, other) == 1);
    DOCTEST_CHECK(count_new_windows(grid, &far, first) == 1);  // not in order
    DOCTEST_CHECK(begin_in_one_window(grid, first, next));
    DOCTEST_CHECK(!begin_in_one_window(grid, next, far));
    DOCTEST_CHECK(!begin_in_one_window(grid, far, other));
}
