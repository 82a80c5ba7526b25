// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/window/gapped_kmers.hpp"

#include "support/testing.hpp"

#include "bigbird/baselines/window/base_codes.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"

#include <numeric>

using namespace bigbird;
using namespace bigbird::testing;
using baselines::GappedKmers;
using Codes = std::vector<std::int32_t>;

namespace {

/// Windows of real sequence; the last one begins with N.
std::vector<Codes> real_windows(std::int64_t length) {
    std::vector<Codes> windows;
    for (const Json& entry : read_json(test_data("baselines/logits.json"))) {
        if (entry.at("architecture") != "cnnprom") continue;
        for (const Json& sequence : entry.at("sequences"))
            windows.push_back(baselines::base_codes(
                sequence.get<std::string>().substr(0, static_cast<std::size_t>(length))));
    }
    return windows;
}

std::vector<Codes> words_of(const Codes& window, std::int64_t size) {
    std::vector<Codes> words;
    for (auto begin = window.begin(); window.end() - begin >= size; ++begin) {
        const Codes word(begin, begin + size);
        if (std::ranges::find(word, baselines::code_of_n) != word.end()) continue;
        Codes turned(word.rbegin(), word.rend());
        for (std::int32_t& code : turned)
            code = 3 - code;
        words.push_back(word);
        words.push_back(turned);
    }
    return words;
}

double choose(int n, int k) {
    double value = 1;
    for (int i = 0; i < k; ++i)
        value = value * (n - i) / (i + 1);
    return k > n ? 0 : value;
}

/// The kernel by its definition: every pair of words on either strand.
double slow_kernel(const Codes& a, const Codes& b, int word, int informative) {
    double sum = 0;
    for (const Codes& u : words_of(a, word)) {
        for (const Codes& v : words_of(b, word)) {
            int matches = 0;
            for (std::size_t i = 0; i < u.size(); ++i)
                matches += u[i] == v[i] ? 1 : 0;
            sum += choose(matches, informative);
        }
    }
    return sum;
}

double dot(const std::vector<float>& a, const std::vector<float>& b) {
    return std::inner_product(
        a.begin(), a.end(), b.begin(), 0.0, std::plus<>(),
        [](float x, float y) { return double{x} * double{y}; });
}

}  // namespace

DOCTEST_TEST_CASE("baselines/gapped_kmers: dot products are the gkm kernel on real sequence") {
    for (const auto& [word, informative] :
         {std::pair{8, 5}, std::pair{6, 4}, std::pair{5, 5}, std::pair{7, 1}}) {
        DOCTEST_CAPTURE(word);
        const GappedKmers kmers(word, informative);
        const auto windows = real_windows(60);
        std::vector<std::vector<float>> features(windows.size(), std::vector<float>(kmers.size()));
        for (std::size_t i = 0; i < windows.size(); ++i) {
            const std::int64_t words = kmers.count(windows[i], features[i]);
            DOCTEST_CHECK(2 * words == std::ssize(words_of(windows[i], word)));
        }
        for (std::size_t i = 0; i < windows.size(); ++i) {
            for (std::size_t j = 0; j <= i; ++j) {
                const double expected = slow_kernel(windows[i], windows[j], word, informative);
                DOCTEST_CHECK(expected > 0);
                DOCTEST_CHECK(dot(features[i], features[j]) == doctest::Approx(expected).epsilon(1e-6));
            }
        }
    }
}

DOCTEST_TEST_CASE("baselines/gapped_kmers: a window and its reverse complement have the same features") {
    const GappedKmers kmers(8, 5);
    const Codes window = real_windows(100)[0];
    Codes turned(window.rbegin(), window.rend());
    for (std::int32_t& code : turned)
        code = 3 - code;
    std::vector<float> a(kmers.size()), b(kmers.size());
    kmers.count(window, a);
    kmers.count(turned, b);
    DOCTEST_CHECK(a == b);
}

DOCTEST_TEST_CASE("baselines/gapped_kmers: how many features there are") {
    DOCTEST_CHECK(GappedKmers(5, 5).size() == 512);  // no 5-mer is its own reverse complement
    DOCTEST_CHECK(GappedKmers(4, 4).size() == 136);  // 16 4-mers are
    std::vector<float> none(512);
    DOCTEST_CHECK(GappedKmers(5, 5).count(Codes{0, 1, 4, 2, 3, 0}, none) == 0);
    DOCTEST_CHECK(message_of<ConfigError>([] { GappedKmers(4, 5); }).find("is needed") != std::string::npos);
    DOCTEST_CHECK(message_of<ConfigError>([] { GappedKmers(12, 12); }) ==
                  "--kmer-length 12:12 makes 16777216 gapped k-mers; at most "
                  "4000000 are held");
}
