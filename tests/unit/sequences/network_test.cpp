// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/network.hpp"

#include "support/formula_parameters.hpp"
#include "support/tensors.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/sequences/network.hpp"

#include <string>

using namespace bigbird;
using namespace bigbird::testing;
using sequences::Config;
using sequences::Network;

namespace {

Config small() {
    return {.filters = 16, .width = 9, .hidden = 16, .heads = 2, .dense = 8, .dropout = 0, .head_dropout = 0};
}

struct Records {
    at::Tensor bases;
    std::vector<std::int64_t> lengths;
};
Records records_of(const std::vector<std::string>& sequences, const Config& config) {
    Records records;
    std::vector<at::Tensor> rows;
    for (const std::string& dna : sequences) {
        records.lengths.push_back(std::ssize(dna));
        const std::int64_t more = config.padded(std::ssize(dna)) - std::ssize(dna);
        rows.push_back(bins::codes_of(dna + std::string(static_cast<std::size_t>(more), 'N')));
    }
    records.bases = at::stack(rows);
    return records;
}

std::string random_record(std::int64_t length, std::uint64_t seed) {
    std::string dna;
    Rng rng(seed);
    for (std::int64_t i = 0; i < length; ++i)
        dna += "ACGT"[rng.between(0, 3)];
    return dna;
}

at::Tensor tensor_of(const Json& rows) {
    std::vector<at::Tensor> all;
    for (const Json& row : rows)
        all.push_back(at::tensor(row.get<std::vector<double>>(), at::kDouble));
    return at::stack(all);
}

}  // namespace

DOCTEST_TEST_CASE("sequences/network: PyTorch's logits from the same weights, padded records among others") {
    for (const Json& expected : read_json(test_data("sequences/network.json"))) {
        Config config = small();
        config.both_strands = expected.at("both_strands").get<bool>();
        config.places = expected.at("places").get<std::int64_t>();
        const at::Tensor wanted = tensor_of(expected.at("logits"));
        Network network(config, wanted.size(1));
        fill_by_formula(*network);
        network->eval();
        const Records records = records_of(expected.at("sequences").get<std::vector<std::string>>(), config);
        DOCTEST_CHECK(wanted.std(0).min().item<double>() > 0.01);
        DOCTEST_CHECK(difference(network->forward(records.bases, records.lengths), wanted) < 2e-4);
    }
}

DOCTEST_TEST_CASE("sequences/network: sparse attention of long records sees no padding") {
    Config config = small();
    Network network(config, 2);
    sequences::initialise(*network, 3);
    network->eval();
    const at::NoGradGuard no_gradients;
    const std::string dna = random_record(3001, 5);
    const std::int64_t padded = config.padded(std::ssize(dna));
    DOCTEST_REQUIRE(!config.attends_fully(padded / config.pool));
    const Records alone = records_of({dna}, config);
    const at::Tensor logits = network->forward(alone.bases, alone.lengths);
    const Records both = records_of({random_record(3050, 6), dna}, config);
    DOCTEST_CHECK(difference(network->forward(both.bases, both.lengths).narrow(0, 1, 1), logits) < 1e-5);
}

DOCTEST_TEST_CASE("sequences/network: dropout follows from the key, and initialise() from the seed") {
    Config config = small();
    config.dropout = config.head_dropout = 0.3;
    Network network(config, 2), other(config, 2);
    sequences::initialise(*network, 3);
    sequences::initialise(*other, 3);
    const Records records = records_of({random_record(80, 1), random_record(80, 2)}, config);
    network->train();
    other->train();
    const model::DropoutKey key{.seed = 1, .step = 2, .samples = {7, 8}};
    const at::Tensor logits = network->forward(records.bases, records.lengths, key);
    DOCTEST_CHECK(identical(logits, other->forward(records.bases, records.lengths, key)));
    const model::DropoutKey next{.seed = 1, .step = 3, .samples = {7, 8}};
    DOCTEST_CHECK(difference(logits, network->forward(records.bases, records.lengths, next)) > 1e-4);
    sequences::initialise(*other, 4);
    DOCTEST_CHECK(difference(network->first_filters(), other->first_filters()) > 1e-2);
}

DOCTEST_TEST_CASE("sequences/config: a record is padded by at most a sixteenth and a position") {
    const Config config;
    DOCTEST_CHECK(config.padded(70) == 72);
    DOCTEST_CHECK(config.padded(101) == 104);
    DOCTEST_CHECK(config.padded(1) == 4);
    for (std::int64_t length = 1; length < 20'000; length += 7) {
        const std::int64_t padded = config.padded(length);
        DOCTEST_CHECK(padded >= length);
        DOCTEST_CHECK(padded % config.pool == 0);
        const bool whole_blocks = !config.attends_fully((length + config.pool - 1) / config.pool);
        DOCTEST_CHECK(padded - length < (whole_blocks ? 256 : length / 16 + config.pool));
        DOCTEST_CHECK(config.attends_fully(padded / config.pool) == !whole_blocks);
        if (whole_blocks) DOCTEST_CHECK(padded % 256 == 0);
    }
}

DOCTEST_TEST_CASE("sequences/config: JSON gives back what was written, and errors name the file") {
    Config config{
        .filters = 32, .hidden = 48, .layers = 2, .head_dropout = 0.1, .both_strands = false, .places = 9};
    const Json json = to_json(config);
    DOCTEST_CHECK(to_json(sequences::config_from_json(json, "c.json")) == json);
    Json without = json, odd = json;
    without.erase("hidden");
    odd["hidden"] = 50;
    DOCTEST_CHECK(message_of<InputError>([&] {
                      sequences::config_from_json(without, "c.json");
                  }).starts_with("c.json: the description of a network of sequences is damaged"));
    DOCTEST_CHECK(message_of<InputError>([&] {
                      sequences::config_from_json(odd, "c.json");
                  }).find("an even number of features for each of the heads") != std::string::npos);
}
