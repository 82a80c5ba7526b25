// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pretraining/shared_corpus.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/training/run_lock.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace bigbird::pretraining {

namespace fs = std::filesystem;

namespace {

constexpr const char* prefix = "bigbird-dna.tokens.";
constexpr std::chrono::minutes time_to_lock{10};

/// Removes the folders of processes that were killed: those that nobody has locked.
void remove_leftovers(const fs::path& parent) {
    std::vector<fs::path> folders;
    std::error_code error;
    for (const fs::path& entry : entries_of(parent)) {
        const bool old = fs::last_write_time(entry, error) < fs::file_time_type::clock::now() - time_to_lock;
        if (old && entry.filename().string().starts_with(prefix)) {
            folders.push_back(entry);
        }
    }
    for (const fs::path& folder : folders) {
        try {
            const training::RunLock unused(folder);
            remove_quietly(folder);
        } catch (const ConfigError&) {  // in use, or another user's
        }
    }
}

/// A locked folder for one corpus, gone with this.
class TokenFolder {
public:
    TokenFolder() {
        const fs::path parent = fs::temp_directory_path();
        remove_leftovers(parent);
        std::string name = fmt::format("{}/{}XXXXXX", parent.string(), prefix);
        if (::mkdtemp(name.data()) == nullptr) {
            throw ConfigError(
                fmt::format("{}: cannot be made: {}; name a folder in TMPDIR", name, std::strerror(errno)));
        }
        path_ = name;
        lock_.emplace(path_);
    }
    ~TokenFolder() { remove_quietly(path_); }
    TokenFolder(const TokenFolder&) = delete;
    TokenFolder& operator=(const TokenFolder&) = delete;
    fs::path tokens() const { return path_ / "tokens"; }

private:
    fs::path path_;
    std::optional<training::RunLock> lock_;
};

std::string machine_name() {
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    return name.data();
}

void write_tokens(const fs::path& directory, const tokenizer::DnaTokenizer& tokenizer, int threads,
                  const std::function<void(corpus::TokenShardWriter&)>& fill) {
    try {
        corpus::TokenShardWriter writer(directory, tokenizer, Overwrite::refuse);
        fill(writer);
        writer.commit(Json::array(), threads);
    } catch (const WriteError& error) {
        throw WriteError(std::string(error.what()) +
                         "; TMPDIR names another folder, or tokenize the corpus once and give --corpus");
    }
}

/// Where the tokens lie that a process of `machine` is to map: those of the nearest rank before it.
fs::path nearest_tokens(const std::vector<Json>& ranks, int rank, const std::string& machine) {
    for (int other = rank; other >= 0; --other) {
        const Json& told = ranks[static_cast<std::size_t>(other)];
        if (told.at("machine") == machine && !told.at("tokens").get<std::string>().empty()) {
            return told.at("tokens").get<std::string>();
        }
    }
    throw ConfigError("no process of " + machine +
                      " calls itself the first there (LOCAL_RANK, SLURM_LOCALID); tokenize the corpus once "
                      "and give --corpus");
}

}  // namespace

corpus::TokenCorpus share_corpus(training::Ranks& ranks, const tokenizer::DnaTokenizer& tokenizer,
                                 int threads, const std::function<void(corpus::TokenShardWriter&)>& fill) {
    std::optional<TokenFolder> folder;
    if (ranks.spec().local_rank == 0) {
        folder.emplace();
        log_info("tokenising once for the {} processes of this machine", ranks.spec().local_size);
        write_tokens(folder->tokens(), tokenizer, threads, fill);
    }
    const std::string machine = machine_name();
    const std::vector<Json> all =
        ranks.gather({{"machine", machine}, {"tokens", folder ? folder->tokens().string() : ""}});
    auto corpus = corpus::TokenCorpus::from_shards(
        corpus::TokenShards(nearest_tokens(all, ranks.rank(), machine), tokenizer));
    ranks.wait_for_all();
    return corpus;
}

}  // namespace bigbird::pretraining
