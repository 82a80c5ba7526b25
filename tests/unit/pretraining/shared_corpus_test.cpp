// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pretraining/shared_corpus.hpp"

#include "support/environment.hpp"
#include "unit/pretraining/small_corpus.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/system/temporary_folder.hpp"

#include <chrono>
#include <cstdlib>

using namespace bigbird;
using namespace bigbird::training;
using namespace bigbird::pretraining;
using namespace bigbird::testing;
namespace fs = std::filesystem;

// Several processes: tests/unit/training/ranks/ranks_test.cpp and tests/cli/pretrain_test.cpp.

namespace {

void write_two_documents(corpus::TokenShardWriter& writer) {
    for (const char* sentence : {"ACGTACGTTT", "GGGCAAT"}) {
        writer.add_sentence(small_tokenizer().encode(sentence),
                            static_cast<std::int64_t>(std::string(sentence).size()));
        writer.end_document();
    }
}

}  // namespace

DOCTEST_TEST_CASE("shared_corpus: what was written is mapped, and its folder is gone") {
    const TempDir folder;
    const Environment tmpdir("TMPDIR", folder.path().string());
    Ranks alone;
    bool written = false;
    const corpus::TokenCorpus corpus =
        share_corpus(alone, small_tokenizer(), 1, [&](corpus::TokenShardWriter& writer) {
            DOCTEST_CHECK_FALSE(fs::is_empty(folder.path()));
            write_two_documents(writer);
            written = true;
        });
    DOCTEST_CHECK(written);
    DOCTEST_CHECK(fs::is_empty(folder.path()));
    DOCTEST_CHECK(corpus.documents() == 2);
    DOCTEST_CHECK(corpus.bases() == 17);
    std::vector<std::int32_t> ids;
    corpus.append_ids(0, corpus.tokens(), ids);
    DOCTEST_CHECK(small_tokenizer().decode(ids) == "ACGTACGTTTGGGCAAT");
}

DOCTEST_TEST_CASE("shared_corpus: nothing is left where it fails, and the reason is told") {
    const TempDir folder;
    const Environment tmpdir("TMPDIR", folder.path().string());
    Ranks alone;
    const auto share = [&](const std::function<void(corpus::TokenShardWriter&)>& fill) {
        share_corpus(alone, small_tokenizer(), 1, fill);
    };
    DOCTEST_CHECK(message_of<InputError>([&] { share([](corpus::TokenShardWriter&) {}); }) ==
                  "the documents hold no sequence to tokenise");
    const std::string full = message_of<WriteError>(
        [&] { share([](corpus::TokenShardWriter&) { throw WriteError("no space left"); }); });
    DOCTEST_CHECK(full ==
                  "no space left; TMPDIR names another folder, or tokenize the corpus once and give the "
                  "shards as --documents");
    DOCTEST_CHECK(fs::is_empty(folder.path()));
}

DOCTEST_TEST_CASE("shared_corpus: what killed processes left is removed, what others use is not") {
    const TempDir folder;
    const Environment tmpdir("TMPDIR", folder.path().string());
    for (const char* name : {"left", "young"}) {
        const fs::path tokens = folder / ("bigbird-dna.tokens." + std::string(name)) / "tokens";
        fs::create_directories(tokens);
        testing::write_file(tokens / "part", "tokens");
    }
    const TemporaryFolder used("tokens");
    const auto an_hour_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
    fs::last_write_time(folder / "bigbird-dna.tokens.left", an_hour_ago);
    fs::last_write_time(used.path(), an_hour_ago);
    Ranks alone;
    share_corpus(alone, small_tokenizer(), 1, write_two_documents);
    DOCTEST_CHECK_FALSE(fs::exists(folder / "bigbird-dna.tokens.left"));
    DOCTEST_CHECK(fs::exists(used.path()));
    DOCTEST_CHECK(fs::exists(folder / "bigbird-dna.tokens.young"));
}
