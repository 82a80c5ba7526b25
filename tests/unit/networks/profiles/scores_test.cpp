// SPDX-License-Identifier: Apache-2.0
#include "support/testing.hpp"
#include "unit/networks/profiles/profile_cases.hpp"

#include "bigbird/bins/network.hpp"
#include "bigbird/bins/secants.hpp"
#include "bigbird/bins/stem.hpp"
#include "bigbird/networks/profiles/profile_network.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <optional>

using namespace bigbird;
using namespace bigbird::networks;
using namespace profile_oracle;

namespace {

at::Tensor codes_tensor(const std::vector<std::uint8_t>& codes) {
    return at::tensor(at::ArrayRef<std::uint8_t>(codes), at::kByte);
}

double apart(const at::Tensor& found, const std::vector<double>& expected) {
    const at::Tensor as_double = found.to(at::kDouble).contiguous().view(-1);
    DOCTEST_REQUIRE(as_double.numel() == std::ssize(expected));
    double most = 0;
    for (std::size_t i = 0; i < expected.size(); ++i)
        most = std::max(most, std::abs(as_double.const_data_ptr<double>()[i] - expected[i]));
    return most;
}

/// Numbers of lists of lists, one behind the other.
std::vector<double> joined_values(const Json& lists) {
    std::vector<double> values;
    for (const Json& list : lists)
        for (const Json& value : list)
            values.push_back(value.get<double>());
    return values;
}

std::vector<at::Tensor> windows_of(const ProfileShape& shape, std::int64_t count) {
    std::vector<at::Tensor> windows;
    for (std::int64_t w = 0; w < count; ++w)
        windows.push_back(codes_tensor(random_codes(shape.input, static_cast<unsigned>(100 + w))));
    return windows;
}

}  // namespace

DOCTEST_TEST_CASE("forward() and scores() give the oracle's heads") {
    for (const Case& c : cases()) {
        DOCTEST_CAPTURE(c.name);
        const ProfileNet network(c.model);
        const std::vector<std::uint8_t> codes = random_codes(network->shape().input, 3);
        const Heads expected = heads_of(c.model, codes);
        const at::Tensor window = codes_tensor(codes).unsqueeze(0);
        const at::NoGradGuard no_gradients;
        const ProfileHeads twin = network->forward(bins::base_channels(window)),
                           fast = network->scores(window);
        DOCTEST_CHECK((twin.profile.sizes() ==
                       at::IntArrayRef{1, network->shape().output, network->shape().columns()}));
        DOCTEST_CHECK(twin.profile.sizes() == fast.profile.sizes());
        DOCTEST_CHECK(twin.counts.sizes() == fast.counts.sizes());
        DOCTEST_CHECK(apart(twin.profile, expected.profile) < 1e-5);
        DOCTEST_CHECK(apart(twin.counts, expected.counts) < 1e-5);
        DOCTEST_CHECK(apart(fast.profile, expected.profile) < 1e-5);
        DOCTEST_CHECK(apart(fast.counts, expected.counts) < 1e-5);
    }
}

DOCTEST_TEST_CASE("forward() and scores() give the fixtures' heads of every form") {
    const at::NoGradGuard no_gradients;
    const std::filesystem::path folder = bigbird::testing::test_data("models/profiles");
    const Json expected = read_json(folder / "expected.json")["files"];
    for (const auto& [file, values] : expected.items()) {
        const ProfileModel model = read_profile_model(folder / file);
        std::vector<at::Tensor> windows;
        for (const Json& window : values["windows"])
            windows.push_back(bins::codes_of(window.get<std::string>()));
        for (const auto& [component, heads] : values.items()) {
            if (component == "windows") continue;
            DOCTEST_CAPTURE(file);
            DOCTEST_CAPTURE(component);
            std::optional<Component> chosen_part;
            if (!component.empty()) chosen_part = parse_choice(component_words, "component", component);
            const ProfileNet network(chosen(model, chosen_part, folder / file));
            const at::Tensor codes = at::stack(windows);
            const ProfileHeads twin = network->forward(bins::base_channels(codes)),
                               fast = network->scores(codes);
            const auto logits = joined_values(heads["logits"]), counts = joined_values(heads["log_counts"]);
            DOCTEST_CHECK(apart(twin.profile, logits) < 1e-5);
            DOCTEST_CHECK(apart(twin.counts, counts) < 1e-5);
            DOCTEST_CHECK(apart(fast.profile, logits) < 1e-5);
            DOCTEST_CHECK(apart(fast.counts, counts) < 1e-5);
        }
    }
}

DOCTEST_TEST_CASE("with secants, products of gradients and letters sum to the differences of heads") {
    for (const Case& c : cases()) {
        DOCTEST_CAPTURE(c.name);
        ProfileNet network(c.model);
        network->to(at::kDouble);
        const std::int64_t input = network->shape().input;
        const at::Tensor codes = codes_tensor(random_codes(input, 7)),
                         reference = codes_tensor(random_codes(input, 8));
        at::Tensor letters =
            bins::base_channels(at::stack({codes, reference})).to(at::kDouble).requires_grad_();
        const bins::SecantGuard secants(40);
        const ProfileHeads heads = network->forward(letters);
        const at::Tensor weights = at::arange(network->shape().output, at::kDouble).sin().unsqueeze(1);
        for (const bool counts : {true, false}) {
            const at::Tensor values = counts ? heads.counts.sum(1) : (heads.profile * weights).sum({1, 2});
            letters.mutable_grad() = at::Tensor();
            values[0].backward({}, true);
            const at::Tensor parts = letters.grad()[0] * (letters[0] - letters[1]);
            // Where two values differ by less than 0.01, elementwise() takes the slope in their middle.
            DOCTEST_CHECK(std::abs((parts.sum() - (values[0] - values[1])).item<double>()) < 5e-3);
            DOCTEST_CHECK(letters.grad()[1].abs().max().item<double>() == 0);
        }
    }
}

DOCTEST_TEST_CASE("scores() of a window depend neither on the others nor on threads") {
    const int threads = at::get_num_threads();
    for (const Case& c : cases()) {
        DOCTEST_CAPTURE(c.name);
        const ProfileNet network(c.model);
        const std::vector<at::Tensor> windows = windows_of(network->shape(), 5);
        at::set_num_threads(1);
        std::vector<at::Tensor> profiles, counts;
        for (const at::Tensor& window : windows) {
            const ProfileHeads heads = network->scores(window.unsqueeze(0));
            profiles.push_back(heads.profile);
            counts.push_back(heads.counts);
        }
        for (const int of : {1, 2, 3}) {
            at::set_num_threads(of);
            for (const std::int64_t count : {1, 5}) {
                const ProfileHeads heads = network->scores(at::stack(windows).narrow(0, 0, count));
                DOCTEST_CHECK(at::equal(heads.profile, at::cat(profiles).narrow(0, 0, count)));
                DOCTEST_CHECK(at::equal(heads.counts, at::cat(counts).narrow(0, 0, count)));
            }
        }
    }
    at::set_num_threads(threads);
}

DOCTEST_TEST_CASE("scores() follow changed weights") {
    const ProfileNet network(cases().front().model);
    const at::NoGradGuard no_gradients;
    const at::Tensor window = windows_of(network->shape(), 1).front().unsqueeze(0);
    const at::Tensor before = network->scores(window).counts;
    network->output_bias().add_(1);
    DOCTEST_CHECK(at::allclose(network->scores(window).counts, before + 1));
}

DOCTEST_TEST_CASE("scores() and EditedProfile of substitutions are those of edited windows to the last bit") {
    for (const Case& c : cases()) {
        DOCTEST_CAPTURE(c.name);
        const ProfileNet network(c.model);
        const std::int64_t input = network->shape().input;
        std::vector<std::uint8_t> codes = random_codes(input, 5);
        codes[static_cast<std::size_t>(input / 2)] = 4;
        std::vector<bins::Substitution> edits;
        for (std::int64_t at = 0; at < input;
             at += (at < 24 || at > input - 24 || std::abs(at - input / 2) < 3) ? 1 : 7)
            edits.push_back({at, static_cast<std::uint8_t>((codes[static_cast<std::size_t>(at)] + 1) % 5)});
        edits.push_back({input / 2, codes[static_cast<std::size_t>(input / 2)]});
        std::vector<at::Tensor> windows;
        for (const bins::Substitution& edit : edits) {
            windows.push_back(codes_tensor(codes));
            windows.back()[edit.at] = edit.code;
        }
        const EditedProfile edited(network, codes_tensor(codes));
        const ProfileHeads expected = network->scores(at::stack(windows)),
                           whole = network->scores(codes_tensor(codes).unsqueeze(0));
        DOCTEST_CHECK(at::equal(edited.counts(), whole.counts));
        DOCTEST_CHECK(at::equal(edited.counts(edits), expected.counts));
        DOCTEST_CHECK(at::equal(edited.counts(std::span(edits).last(4)),
                                expected.counts.narrow(0, std::ssize(edits) - 4, 4)));
        DOCTEST_CHECK(edited.counts({}).size(0) == 0);
        // This window, another one, and this again with fewer substitutions.
        const at::Tensor other = windows_of(network->shape(), 1).front();
        const std::vector<std::vector<bins::Substitution>> each{edits, {}, {edits.back()}};
        const ProfileHeads found =
            network->scores(at::stack({codes_tensor(codes), other, codes_tensor(codes)}), each);
        const ProfileHeads between = network->scores(other.unsqueeze(0));
        const auto rows = [&](const at::Tensor& unchanged, const at::Tensor& changed,
                              const at::Tensor& other_row) {
            return at::cat({unchanged, changed, other_row, unchanged, changed.narrow(0, -1, 1)});
        };
        DOCTEST_CHECK(at::equal(found.counts, rows(whole.counts, expected.counts, between.counts)));
        DOCTEST_CHECK(at::equal(found.profile, rows(whole.profile, expected.profile, between.profile)));
    }
}
