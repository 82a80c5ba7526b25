// SPDX-License-Identifier: Apache-2.0
// Attributions, and the network on letters, beside captum's, tangermeme's and the Python file of model
// folders: scripts/checks/make_attribution_fixtures.py.
#include "bigbird/bins/attributions.hpp"

#include "support/formula_parameters.hpp"
#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/bins/small_bins.hpp"

#include "bigbird/bins/letter_window.hpp"
#include "bigbird/bins/secants.hpp"
#include "bigbird/core/formats/json_file.hpp"

using namespace bigbird;
using namespace bigbird::bins;
using namespace bigbird::testing;

namespace {

constexpr std::int64_t region_begin = 130, region_end = 170;
constexpr std::size_t label = 1;

at::Tensor letters_of(const std::string& dna) {
    return base_channels(codes_of(dna).unsqueeze(0))[0];
}

at::Tensor tensor_of(const Json& json) {
    std::vector<at::Tensor> rows;
    for (const Json& row : json)
        rows.push_back(row.is_number() ? at::scalar_tensor(row.get<double>(), at::kDouble) : tensor_of(row));
    return at::stack(rows);
}

/// Both ways to score a region's letters: the fast one and whole windows.
struct Scores {
    LetterScores fast, slow;

    Scores(BinsNetwork network, const std::string& dna, const at::Tensor& weights) {
        const auto window = std::make_shared<LetterWindow>(network, codes_of(dna), region_begin, region_end);
        const at::Tensor by = weights.to(at::kFloat).view({1, -1, 1}), whole = letters_of(dna);
        fast = [=](const at::Tensor& letters) { return (window->logits(letters) * by).sum(1); };
        slow = [=](const at::Tensor& letters) {
            const auto part = [&](std::int64_t begin, std::int64_t end) {
                return whole.slice(0, begin, end).expand({letters.size(0), -1, -1});
            };
            BinsNetwork all = network;
            const at::Tensor window_letters =
                at::cat({part(0, region_begin), letters, part(region_end, whole.size(0))}, 1);
            return (all->forward(window_letters) * by).sum(1);
        };
    }
};

BinsNetwork network_of(const Json& fixture) {
    BinsNetwork network(config_from_json(fixture.at("network"), "attributions.json"), 2);
    fill_by_formula(*network);
    network->eval();
    return network;
}

void check_close(const at::Tensor& found, const Json& wanted) {
    const at::Tensor exact = tensor_of(wanted);
    DOCTEST_CHECK(difference(found, exact) < 1e-5 * std::max(1.0, exact.abs().max().item<double>()));
}

}  // namespace

DOCTEST_TEST_CASE("bins: the Python file's logits on both strands, from codes and from letters") {
    for (const Json& fixture : read_json(test_data("attributions/attributions.json"))) {
        if (fixture.at("kind") != "bins") continue;
        const at::NoGradGuard no_gradients;
        BinsNetwork network = network_of(fixture);
        const at::Tensor codes = codes_of(fixture.at("dna").get<std::string>()),
                         other = at::where(codes.lt(4), 3 - codes, codes).flip(0).to(at::kByte),
                         both = at::stack({codes, other});
        check_close(network->forward(both), fixture.at("logits"));
        check_close(network->forward(base_channels(both)), fixture.at("logits"));
    }
}

DOCTEST_TEST_CASE("attributions: captum's and tangermeme's, by parts of windows and by whole ones") {
    const std::size_t labels[] = {label};
    for (const Json& fixture : read_json(test_data("attributions/attributions.json"))) {
        if (fixture.at("kind") != "bins") continue;
        const auto dna = fixture.at("dna").get<std::string>();
        const Scores scores(network_of(fixture), dna, tensor_of(fixture.at("weights")));
        const at::Tensor letters = letters_of(dna).slice(0, region_begin, region_end);
        std::vector<at::Tensor> shuffles;
        for (const Json& reference : fixture.at("references")) {
            std::string text;
            for (const Json& letter : reference)
                text += letter.get<std::string>();
            shuffles.push_back(letters_of(text));
        }
        const at::Tensor zero = at::zeros_like(letters).unsqueeze(0), shuffled = at::stack(shuffles);
        for (const auto& [score, at_once] :
             {std::pair{scores.fast, std::int64_t{16}}, std::pair{scores.slow, std::int64_t{64}}}) {
            const Attributed what{score, letters, labels, at_once};
            const at::Tensor slopes = gradients(what)[0];
            check_close(slopes.abs(), fixture.at("saliency"));
            check_close(slopes * letters, fixture.at("input_x_gradient"));
            check_close(integrated_gradients(what, zero)[0], fixture.at("integrated_gradients"));
            check_close(integrated_gradients(what, shuffled)[0], fixture.at("integrated_gradients_shuffled"));
            check_close(deeplift(what, zero)[0], fixture.at("deeplift"));
            check_close(deeplift(what, shuffled)[0], fixture.at("deeplift_shuffled"));
        }
    }
}

DOCTEST_TEST_CASE("attributions: contributions sum to the difference of scores, for several labels") {
    BinsConfig config = small_bins();
    config.both_strands = true;
    config.motif_filters = 4;
    BinsNetwork network(config, 3);
    initialise(*network, 3);
    network->eval();
    const auto window = std::make_shared<LetterWindow>(
        network, codes_of(std::string(40, 'C') + std::string(120, 'A')), 30, 60);
    const LetterScores scores = [&](const at::Tensor& letters) { return window->logits(letters).sum(1); };
    const at::Tensor letters = letters_of("CCCCCCCCCCAAAAAAAAAAAAAAAAAAAA");
    const std::size_t labels[] = {2, 0};
    const Attributed what{scores, letters, labels, 16};
    const at::Tensor references = at::stack(
        {letters_of("TTGTCCAGGTTACAGCTTGCATATTACGAT"), letters_of("GATTACAGATTACAGATTACAGATTACANN")});
    const at::Tensor wanted = score_differences(what, references);
    const auto all = scores(at::cat({letters.unsqueeze(0), references}));
    DOCTEST_CHECK(
        std::abs(wanted[0].item<double>() - (all[0][2] - (all[1][2] + all[2][2]) / 2).item<double>()) < 1e-6);
    for (const at::Tensor& found : {integrated_gradients(what, references), deeplift(what, references)})
        DOCTEST_CHECK(difference((found * letters).sum({1, 2}), wanted) < 1e-6);
    // Against no letters the norms' inputs come near to 0, where lines are bent: more points follow them.
    const at::Tensor zero = at::zeros_like(letters).unsqueeze(0), all_of = score_differences(what, zero);
    const auto gap_of = [&](const at::Tensor& found) {
        return difference((found * letters).sum({1, 2}), all_of) / all_of.abs().max().item<double>();
    };
    DOCTEST_CHECK(gap_of(integrated_gradients(what, zero)) > 1e-3);
    DOCTEST_CHECK(gap_of(integrated_gradients(what, zero, 400)) < 1e-5);
    DOCTEST_CHECK(gap_of(deeplift(what, zero, 64)) < 0.1 * gap_of(deeplift(what, zero)));
}

DOCTEST_TEST_CASE("secants: exact differences of functions, and slopes where inputs are references") {
    const at::Tensor x = random_tensor({4, 3, 5}, 1, at::kFloat).requires_grad_();
    const auto gap_of = [&](const std::function<at::Tensor(const at::Tensor&)>& f) {
        const SecantGuard guard;
        const at::Tensor y = f(x);
        DOCTEST_CHECK(y.size(0) == x.size(0));
        const at::Tensor output = y.narrow(0, 0, 2).sum();
        x.mutable_grad() = at::Tensor();
        output.backward();
        const at::Tensor steps = (x.narrow(0, 0, 2) - x.narrow(0, 2, 2)).detach();
        return std::abs(
            ((x.grad().narrow(0, 0, 2) * steps).sum() - (output - y.narrow(0, 2, 2).sum())).item<double>());
    };
    DOCTEST_CHECK(gap_of([](const at::Tensor& a) {
                      return elementwise(
                          a, [](const at::Tensor& b) { return at::gelu(b, "tanh"); });
                  }) < 1e-5);
    DOCTEST_CHECK(gap_of([](const at::Tensor& a) {
                      return jointly(
                          a, [](const at::Tensor& b) { return b.softmax(2) * b; });
                  }) < 1e-4);
    DOCTEST_CHECK(gap_of([](const at::Tensor& a) { return largest(a, 2); }) < 1e-5);
    DOCTEST_CHECK_FALSE(takes_secants());
    const Quadrature line(3);
    DOCTEST_CHECK(line.weights[1] == doctest::Approx(4.0 / 9));
    DOCTEST_CHECK(line.points[1] == doctest::Approx(0.5));
}
