// SPDX-License-Identifier: Apache-2.0
// The program of the tests that need a GPU: without one it says so and exits with 77, which ctest shows as
// skipped. Each case is named as it begins, so that the last line of a run that hangs says which it was.
#define DOCTEST_CONFIG_IMPLEMENT
#include "gpu/hang.hpp"
#include "support/testing.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/model/device/device.hpp"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <string_view>

namespace {

struct NamesCases : doctest::IReporter {
    explicit NamesCases(const doctest::ContextOptions&) {}
    void test_case_start(const doctest::TestCaseData& data) override {
        std::printf("begins: %s\n", data.m_name);
        std::fflush(stdout);
    }
    void report_query(const doctest::QueryData&) override {}
    void test_run_start() override {}
    void test_run_end(const doctest::TestRunStats&) override {}
    void test_case_reenter(const doctest::TestCaseData&) override {}
    void test_case_end(const doctest::CurrentTestCaseStats&) override {}
    void test_case_exception(const doctest::TestCaseException&) override {}
    void subcase_start(const doctest::SubcaseSignature&) override {}
    void subcase_end() override {}
    void log_assert(const doctest::AssertData&) override {}
    void log_message(const doctest::MessageData&) override {}
    void test_case_skipped(const doctest::TestCaseData&) override {}
};
DOCTEST_REGISTER_LISTENER("names", 1, NamesCases);

}  // namespace

int main(int argc, char** argv) {
    std::cout << std::unitbuf;  // what failed is said before a later case hangs
    bigbird::set_up_log(bigbird::Verbosity::quiet);
    doctest::Context context(argc, argv);
    const bool lists = std::any_of(argv + 1, argv + argc, [](const char* argument) {
        return std::string_view(argument).find("list-test-cases") != std::string_view::npos;
    });
    if (!lists && !bigbird::model::has_gpu()) {
        std::puts("skipped: this machine has no GPU that LibTorch can use");
        return 77;
    }
    if (argc == 2 && std::string_view(argv[1]) == "--wait-for-ever") {
        const int error = bigbird::testing::wait_for_ever();
        std::printf("CUDA error %d\n", error);
        return error == 0 ? 0 : 1;
    }
    return context.run();
}
