// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/config.hpp"

#include "support/testing.hpp"
#include "unit/bins/small_bins.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;
using namespace bigbird::bins;
using bigbird::testing::message_of;

namespace {

void refuses(const std::function<void(BinsConfig&)>& spoil, const std::string& why) {
    BinsConfig config = bigbird::testing::small_bins();
    config.validate();
    spoil(config);
    const std::string message = message_of<ConfigError>([&] { config.validate(); });
    DOCTEST_CHECK_MESSAGE(message.find(why) != std::string::npos, message);
}

}  // namespace

DOCTEST_TEST_CASE("bins config: presets are valid, and what is written is read") {
    for (const char* name : {"tiny", "dilated", "small", "base", "large"}) {
        const BinsConfig config = preset(name);
        config.validate();
        const Json json = to_json(config);
        DOCTEST_CHECK(to_json(config_from_json(json, "x.json")) == json);
    }
    DOCTEST_CHECK(preset("tiny").window_bases() == 12'800);
    DOCTEST_CHECK(preset("base").window_positions() == 4096);
    DOCTEST_CHECK(preset("base").window_bins == 2048);
    DOCTEST_CHECK(
        message_of<ConfigError>([] { preset("huge"); }) ==
        "no preset of a model of bins is named 'huge'; there are tiny, dilated, small, base, large");
    BinsConfig other = bigbird::testing::small_bins();
    other.mixing = Mixing::convolution;
    other.norm = model::Norm::post;
    other.both_strands = true;
    other.motif_filters = 3;
    other.positions = model::Positions::none;
    other.feed_forward = model::FeedForward::gated;
    other.encoder.pattern = attention::named_pattern("global+sliding");
    other.encoder.pattern.block_size = 2;
    const BinsConfig read = config_from_json(to_json(other), "x.json");
    DOCTEST_CHECK(read.both_strands);
    DOCTEST_CHECK(read.motif_filters == 3);
    DOCTEST_CHECK(to_json(read) == to_json(other));
    DOCTEST_CHECK(read.encoder.pattern == other.encoder.pattern);
}

DOCTEST_TEST_CASE("bins config: what does not fit is named") {
    refuses([](BinsConfig& c) { c.bin = 25; }, "a bin of 25 bases is no whole number of positions of 10");
    refuses([](BinsConfig& c) { c.margin_bins = 4; }, "margins of 4 bins leave nothing of a window of 8");
    refuses([](BinsConfig& c) { c.stages[1].channels = 8; }, "the last stage has 8 channels, the encoder 16");
    refuses([](BinsConfig& c) { c.stages[0].width = 6; }, "the width of a convolution must be odd, not 6");
    refuses([](BinsConfig& c) { c.encoder.pattern.block_size = 3; }, "which are no whole blocks of 3");
    refuses([](BinsConfig& c) { c.encoder.num_attention_heads = 16; }, "an even number of features a head");
    refuses([](BinsConfig& c) { c.positions = model::Positions::absolute; }, "rotary or none, not absolute");
    refuses([](BinsConfig& c) { c.motif_filters = 13; }, "between 0 and the 12 channels of the first stage");
    refuses([](BinsConfig& c) { c.head_dropout = 1; }, "head_dropout must be at least 0 and below 1");
    Json json = to_json(preset("tiny"));
    json.erase("both_strands");
    json.erase("motif_filters");
    DOCTEST_CHECK(!config_from_json(json, "x.json").both_strands);  // older files lack it
    DOCTEST_CHECK(config_from_json(json, "x.json").motif_filters == 0);
    json["norm"] = "middle";
    DOCTEST_CHECK(message_of<InputError>([&] { config_from_json(json, "x.json"); }) ==
                  "x.json: norm is pre or post, not 'middle'");
    json.erase("norm");
    DOCTEST_CHECK(message_of<InputError>([&] {
                      config_from_json(json, "x.json");
                  }).find("the description of a model of bins is damaged") != std::string::npos);
}

DOCTEST_TEST_CASE("bins config: a preset fits bins of any length") {
    for (const std::int64_t bin : {16, 32, 50, 97, 100, 128, 200, 400, 500, 1000}) {
        DOCTEST_CAPTURE(bin);
        const BinsConfig config = fitted_to(preset("tiny"), bin);
        config.validate();
        DOCTEST_CHECK(config.bin == bin);
        if (bin % 200 != 0) DOCTEST_CHECK(std::abs(config.window_bases() - 12'800) <= 6'400);
    }
    const BinsConfig config = fitted_to(preset("tiny"), 128);
    DOCTEST_CHECK(config.stages[0].pool * config.stages[1].pool * config.stages[2].pool == 128);
    DOCTEST_CHECK(config.stages[0].pool == 4);
    const bool same = fitted_to(preset("small"), 200).stages == preset("small").stages;
    DOCTEST_CHECK(same);
}

DOCTEST_TEST_CASE("bins config: short bins have a profile head on positions of about 24 bases") {
    for (const std::int64_t bin : {1, 2, 4, 5, 7, 8}) {
        DOCTEST_CAPTURE(bin);
        const BinsConfig config = fitted_to(preset("tiny"), bin);
        config.validate();
        const bool profile = config.has_profile() && config.motif_filters == 0;
        DOCTEST_CHECK(profile);
        DOCTEST_CHECK(config.position_bases() == (bin == 5 ? 20 : bin == 7 ? 21 : 24));
        DOCTEST_CHECK(std::abs(config.window_bases() - 12'800) <= 800);
        const BinsConfig again = fitted_to(config, 50);  // from a model of profiles to one of bins
        again.validate();
        DOCTEST_CHECK_FALSE(again.has_profile());
        DOCTEST_CHECK(std::abs(again.window_bases() - 12'800) <= 1'600);
    }
    BinsConfig config = fitted_to(preset("tiny"), 1);
    config.motif_filters = 4;
    DOCTEST_CHECK(message_of<ConfigError>([&] { config.validate(); }) ==
                  "model of bins: motif_filters must be 0 where bins are shorter than positions");
}

DOCTEST_TEST_CASE("grid: every bin stands in the core of one window, at its bases") {
    const Grid grid{.bin = 200, .window_bins = 10, .margin_bins = 2};
    DOCTEST_CHECK(grid.core_bins() == 6);
    DOCTEST_CHECK(grid.begin_of(0) == -400);
    for (std::int64_t bin = 0; bin < 100; ++bin) {
        const std::int64_t place = grid.place_of(bin);
        DOCTEST_CHECK(place >= grid.margin_bins);
        DOCTEST_CHECK(place < grid.window_bins - grid.margin_bins);
        DOCTEST_CHECK(grid.begin_of(grid.window_of(bin)) + place * grid.bin == bin * grid.bin);
    }
}

DOCTEST_TEST_CASE("grid: an interval takes bins by the bases that it shares with them") {
    using Shares = std::vector<BinShare>;
    DOCTEST_CHECK((shares_of(200, 400, 200) == Shares{{1, 1}}));
    DOCTEST_CHECK((shares_of(399, 400, 200) == Shares{{1, 1}}));
    DOCTEST_CHECK((shares_of(400, 400, 200) == Shares{{2, 1}}));
    DOCTEST_CHECK((shares_of(150, 650, 200) == Shares{{0, 0.1}, {1, 0.4}, {2, 0.4}, {3, 0.1}}));
}
