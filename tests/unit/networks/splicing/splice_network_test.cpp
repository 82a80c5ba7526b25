// SPDX-License-Identifier: Apache-2.0
#include "bigbird/networks/splicing/splice_network.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/networks/splicing/member_pass.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <random>

using namespace bigbird;
using namespace bigbird::networks;
using bigbird::testing::message_of;
using bigbird::testing::test_data;

namespace fs = std::filesystem;

namespace {

std::vector<std::uint8_t> codes_of(const std::string& letters) {
    std::vector<std::uint8_t> codes;
    for (const char letter : letters)
        codes.push_back(
            static_cast<std::uint8_t>(std::min<std::size_t>(std::string("ACGT").find(letter), 4)));
    return codes;
}

SpliceNetwork network_in(const fs::path& path) {
    return SpliceNetwork::open(std::array{path});
}

const Json& expectations() {
    static const Json json = read_json(test_data("models/splicing/expected.json"));
    return json;
}

float largest_difference(const std::vector<float>& found, const std::vector<float>& wanted) {
    DOCTEST_REQUIRE(found.size() == wanted.size());
    float largest = 0;
    for (std::size_t i = 0; i < found.size(); ++i)
        largest = std::max(largest, std::abs(found[i] - wanted[i]));
    return largest;
}

void check_against_formulas(const SpliceNetwork& network, const Json& expected) {
    DOCTEST_CHECK(network.context() == expected.at("context").get<std::int64_t>());
    const auto found = network.probabilities(codes_of(expected.at("sequence").get<std::string>()), 2);
    DOCTEST_CHECK(largest_difference(found, expected.at("probabilities").get<std::vector<float>>()) < 2e-6F);
}

std::vector<std::uint8_t> random_codes(std::int64_t length, std::uint32_t seed) {
    std::mt19937 random(seed);
    std::vector<std::uint8_t> codes(static_cast<std::size_t>(length));
    for (std::uint8_t& code : codes)
        code = static_cast<std::uint8_t>(random() % 64 == 0 ? 4 : random() % 4);
    return codes;
}

std::vector<std::uint8_t> with_edit(std::vector<std::uint8_t> codes, const SpliceEdit& edit) {
    codes.erase(codes.begin() + edit.at, codes.begin() + edit.at + edit.removed);
    codes.insert(codes.begin() + edit.at, edit.inserted.begin(), edit.inserted.end());
    return codes;
}

/// Compares each edit with a complete pass over the edited stretch; and to the bit with the edit by itself.
void check_edits(const SpliceNetwork& network, const std::vector<std::uint8_t>& codes,
                 const std::vector<SpliceEdit>& edits, int threads) {
    const auto found = network.edited(codes, edits, threads);
    DOCTEST_REQUIRE(found.size() == edits.size());
    for (std::size_t i = 0; i < edits.size(); ++i) {
        const auto all = network.probabilities(with_edit(codes, edits[i]), 1);
        const std::vector<float> wanted(all.begin() + edits[i].begin * network.channels(),
                                        all.begin() + edits[i].end * network.channels());
        DOCTEST_CAPTURE(i);
        DOCTEST_CHECK(largest_difference(found[i], wanted) < 1e-6F);
        DOCTEST_CHECK(network.edited(codes, std::array{edits[i]}, 3 - threads).front() == found[i]);
    }
}

/// Number i of the fixtures' Formula.
class Formula {
public:
    std::vector<float> draw(double scale, std::int64_t count) {
        std::vector<float> numbers;
        for (std::int64_t i = 0; i < count; ++i, ++next_)
            numbers.push_back(static_cast<float>(
                (static_cast<double>(next_ * 2654435761U % (std::uint64_t{1} << 32)) - 0x1p31) / 0x1p31 *
                scale));
        return numbers;
    }
    SpliceConvolution convolution(std::int64_t taps, std::int64_t in, std::int64_t out) {
        auto weights = draw(1.2 / std::sqrt(static_cast<double>(taps * in)), taps * in * out);
        return {std::move(weights), draw(0.3, out)};
    }

private:
    std::uint64_t next_ = 1;
};

SpliceMember formula_member() {
    Formula formula;
    SpliceMember member;
    member.input = formula.convolution(1, 4, 32);
    for (std::int64_t i = 0; i < 16; ++i) {
        const std::int64_t taps = i < 8 ? 11 : i < 12 ? 21 : 41;
        SpliceUnit& unit = member.units.emplace_back();
        unit.taps = taps;
        unit.dilation = published_dilation(i);
        unit.norm.scale = formula.draw(0.4, 32);
        for (float& scale : unit.norm.scale)
            scale += 1;
        unit.norm.shift = formula.draw(0.3, 32);
        unit.first = formula.convolution(taps, 32, 32);
        unit.second = formula.convolution(taps, 32, 32);
    }
    for (std::int64_t after = 0; after <= 16; after += 4)
        member.skips.push_back({after, formula.convolution(1, 32, 32)});
    member.output = formula.convolution(1, 32, 3);
    return member;
}

}  // namespace

DOCTEST_TEST_CASE("splice_network: probabilities of every family are those of the float64 formulas") {
    const fs::path folder = test_data("models/splicing");
    const std::array<std::array<std::string, 2>, 4> groups{
        {{"keras", "SpliceAI"}, {"keras3", "SpliceAI"}, {"open", "OpenSpliceAI"}, {"pangolin", "Pangolin"}}};
    for (const auto& [group, family] : groups) {
        DOCTEST_CAPTURE(group);
        const SpliceNetwork network = network_in(folder / group);
        DOCTEST_CHECK(network.family() == family);
        DOCTEST_CHECK(network.channels() == (family == "Pangolin" ? 4 : 3));
        DOCTEST_CHECK(network.sha256().size() == 64);
        check_against_formulas(network, expectations().at(group));
    }
}

DOCTEST_TEST_CASE("splice_network: 10,000 bases of context, by weights of a formula") {
    const MemberPass pass(formula_member());
    const Json& expected = expectations().at("formula");
    DOCTEST_CHECK(pass.context() == 10'000);
    MemberPass::Kept found;
    pass.probabilities(codes_of(expected.at("sequence").get<std::string>()), 2, found);
    DOCTEST_CHECK(largest_difference(found.probabilities,
                                     expected.at("probabilities").get<std::vector<float>>()) < 2e-6F);
}

DOCTEST_TEST_CASE("splice_network: substitutions and indels in 10,000 bases of context") {
    const MemberPass pass(formula_member());
    const auto codes = random_codes(10'600, 6);
    const std::vector<SpliceEdit> edits{{5300, 1, {2}, 250, 351},
                                        {5300, 1, {0, 3, 3, 1, 2, 2}, 250, 356},
                                        {5300, 40, {1}, 250, 400},
                                        {5100, 1, {3}, 300, 500},
                                        {2000, 3, {}, 0, 597}};
    MemberPass::Kept kept, whole;
    const auto found = pass.edited(codes, edits, 2, kept);
    std::vector<SpliceEdit> many(MemberPass::few_edits + 1, edits[0]);
    std::ranges::copy(edits, many.begin());
    const auto found_of_kept_maps = pass.edited(codes, many, 1, kept);
    for (std::size_t i = 0; i < edits.size(); ++i) {
        pass.probabilities(with_edit(codes, edits[i]), 1, whole);
        const auto begin = whole.probabilities.begin() + edits[i].begin * 3;
        DOCTEST_CHECK(largest_difference(found[i], {begin, begin + std::ssize(found[i])}) <
                      4e-6F);  // random weights
        DOCTEST_CHECK(found_of_kept_maps[i] == found[i]);
    }
}

DOCTEST_TEST_CASE("splice_network: the authors' weights, where a folder has them") {
    const char* const folder = std::getenv("BIGBIRD_SPLICING_FOLDER");  // scripts/checks/check_splicing
    if (folder == nullptr) return;
    check_against_formulas(network_in(fs::path(folder) / "models"),
                           read_json(fs::path(folder) / "expected.json"));
}

DOCTEST_TEST_CASE("splice_network: threads do not change a bit, and a cut of a sequence only the rounding") {
    const SpliceNetwork network = network_in(test_data("models/splicing/open"));
    const auto codes = random_codes(70'000 + network.context(), 1);
    const auto all = network.probabilities(codes, 1), threaded = network.probabilities(codes, 3);
    DOCTEST_CHECK(all == threaded);
    const auto part = network.probabilities(std::span(codes).subspan(65'000, 2000), 1);
    DOCTEST_CHECK(largest_difference(
                      part, {all.begin() + 65'000 * 3, all.begin() + 65'000 * 3 + std::ssize(part)}) < 1e-6F);
    DOCTEST_CHECK(network.probabilities(std::span(codes).first(80), 1).empty());
    DOCTEST_CHECK(network.probabilities(std::span(codes).first(79), 1).empty());
    DOCTEST_CHECK(network.probabilities(std::span(codes).first(81), 1).size() == 3);
}

DOCTEST_TEST_CASE("splice_network: edits equal complete passes over the edited stretch") {
    for (const char* const group : {"keras", "open"}) {
        DOCTEST_CAPTURE(group);
        const SpliceNetwork network = network_in(test_data(std::string("models/splicing/") + group));
        const std::int64_t context = network.context(), half = context / 2;
        const auto codes = random_codes(600, 2);
        const std::int64_t outputs = 600 - context;
        std::vector<SpliceEdit> edits{
            {0, 0, {}, 0, outputs},            // nothing
            {300, 1, {codes[300]}, 250, 270},  // nothing, written as a substitution
            {0, 1, {2}, 0, 30},                // the first base
            {599, 1, {0}, outputs - 30, outputs},
            {300, 1, {4}, 300 - half - 10, 300 - half + 11},
            {300, 1, {1}, 0, outputs},
            {300, 20, {0}, 300 - half - 10, 300 - half + 30},
            {300, 20, {}, 0, outputs - 20},
            {300, 0, {0, 1, 2, 3, 4, 0, 1}, 300 - half - 10, 300 - half + 11},
            {300, 2, {0, 1, 2}, 0, outputs + 1},
            {300, 3, {3, 3, 3}, 300 - half - 5, 300 - half + 8},
            {100, 200, {}, 200, outputs - 200},  // edits before, within and behind their outputs
            {20, 5, {1, 2}, 400, 450},
            {20, 1, {1, 2, 2, 1}, 400, 450},
            {580, 5, {1, 2}, 10, 20},
            {300, 1, {0}, 100, 100}};
        std::mt19937 random(3);
        const auto below = [&](std::int64_t end) {
            return static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(end));
        };
        for (int i = 0; i < 60; ++i) {
            SpliceEdit edit{
                .at = below(590), .removed = below(10), .inserted = random_codes(below(12), random())};
            if (i % 2 == 0)
                edit.removed = std::ssize(edit.inserted) <= 600 - edit.at ? std::ssize(edit.inserted) : 0;
            const std::int64_t left = outputs - edit.removed + std::ssize(edit.inserted);
            edit.begin = below(left);
            edit.end = edit.begin + below(left - edit.begin + 1);
            edits.push_back(edit);
        }
        check_edits(network, codes, edits, 1);
        check_edits(network, codes, edits, 2);
    }
}

DOCTEST_TEST_CASE("splice_network: an edit beyond the stretch is refused") {
    const SpliceNetwork network = network_in(test_data("models/splicing/keras3"));
    const auto codes = random_codes(100, 5);
    const std::int64_t outputs = 100 - network.context();
    const std::vector<SpliceEdit> wrong{
        {-1, 1, {}, 0, 1}, {100, 1, {}, 0, 1},          {99, 2, {}, 0, 1},
        {0, -1, {}, 0, 1}, {0, 1, {}, 0, outputs},      {0, 0, {}, -1, 1},
        {0, 0, {}, 5, 4},  {0, 1, {1}, 0, outputs + 1}, {0, 0, {1, 1}, 0, outputs + 3}};
    for (const SpliceEdit& edit : wrong)
        DOCTEST_CHECK(message_of<ConfigError>([&] { network.edited(codes, std::array{edit}, 1); }) ==
                      "an edit or its outputs are beyond the stretch");
    const std::vector<SpliceEdit> insertion{{10, 0, {1, 2}, 0, 2}};  // into a stretch without outputs
    const auto none = std::span(codes).first(static_cast<std::size_t>(network.context()));
    DOCTEST_CHECK_THROWS_AS(network.edited(none, insertion, 1), ConfigError);
}
