// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/log.hpp"

#include "support/testing.hpp"

#include "bigbird/core/parallel.hpp"
#include "bigbird/core/system/child_process.hpp"

#include <chrono>
#include <functional>
#include <set>
#include <sstream>
#include <string>

using namespace bigbird;

namespace {

/// What `body` writes to standard error; nothing must come to standard output.
std::string messages_of(const std::function<void()>& body) {
    const ChildResult child = run_child(
        [&] {
            body();
            return 0;
        },
        std::chrono::seconds(60));
    DOCTEST_CHECK(child.succeeded());
    DOCTEST_CHECK(child.out.empty());
    return child.err;
}

void say_all() {
    log_debug("detail {}", 1);
    log_info("fact {}", 2);
    log_warning("doubt {}", 3);
    log_error("fault {}", 4);
}

}  // namespace

DOCTEST_TEST_CASE("log: what is shown, and how it is marked") {
    const auto said = [](Verbosity verbosity) {
        return messages_of([=] {
            set_up_log(Verbosity::quiet);
            set_up_log(verbosity);  // the last one counts
            say_all();
            if (log_verbosity() != verbosity) log_error("another verbosity");
        });
    };
    const std::string bad = "bigbird-dna: warning: doubt 3\nbigbird-dna: error: fault 4\n";
    DOCTEST_CHECK(said(Verbosity::quiet) == bad);
    DOCTEST_CHECK(said(Verbosity::normal) == "bigbird-dna: fact 2\n" + bad);
    DOCTEST_CHECK(said(Verbosity::verbose) == "bigbird-dna: detail 1\nbigbird-dna: fact 2\n" + bad);
}

DOCTEST_TEST_CASE("log: a process's own words stand before each message") {
    DOCTEST_CHECK(messages_of([] {
                      set_up_log(Verbosity::normal, "process 1: ");
                      log_info("begins");
                      log_warning("waits");
                  }) == "bigbird-dna: process 1: begins\nbigbird-dna: process 1: warning: waits\n");
}

DOCTEST_TEST_CASE("log: messages of many threads stay whole lines, each once") {
    const std::string text = messages_of([] {
        set_up_log(Verbosity::normal);
        parallel_for(400, 4, [](std::int64_t i) { log_info("{} {}", i, std::string(200, 'x')); });
    });
    std::istringstream lines(text);
    std::set<int> seen;
    for (std::string line; std::getline(lines, line);) {
        DOCTEST_REQUIRE(line.starts_with("bigbird-dna: "));
        DOCTEST_CHECK(line.ends_with(" " + std::string(200, 'x')));
        seen.insert(std::stoi(line.substr(13)));
    }
    DOCTEST_CHECK(seen.size() == 400);
    DOCTEST_CHECK(*seen.rbegin() == 399);
}

DOCTEST_TEST_CASE("log: control characters of strangers' files do not reach the terminal") {
    const std::string text = messages_of([] {
        set_up_log(Verbosity::normal);
        log_warning("{}", std::string("a\x1b[2Jb\rc\0d\x7f\te\u00e9", 15));
    });
    DOCTEST_CHECK(text == "bigbird-dna: warning: a?[2Jb?c?d?\te\u00e9\n");
}
