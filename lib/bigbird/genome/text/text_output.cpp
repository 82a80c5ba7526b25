// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/text/text_output.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/protected_files.hpp"
#include "bigbird/genome/text/byte_stream.hpp"

#include <htslib/bgzf.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <system_error>
#include <vector>

namespace bigbird::genome {

namespace {

struct CloseFile {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

/// Pipes and devices cannot be replaced by a rename; they are written to directly.
bool is_stream(const std::filesystem::path& path) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    return path == "-" || std::filesystem::is_fifo(status) || std::filesystem::is_character_file(status) ||
           std::filesystem::is_socket(status);
}

/// Whether `path` is a link to standard output (such as /dev/stdout) while standard output is a file. Opened
/// by its name, that file would be overwritten from its beginning.
bool is_linked_to_standard_output(const std::filesystem::path& path) {
    std::error_code error;
    return std::filesystem::is_symlink(path, error) && is_standard_output(path);
}

bool is_compressed(const std::filesystem::path& path) {
    return path.extension() == ".gz" || path.extension() == ".bgz";
}

}  // namespace

struct TextOutput::State {
    std::filesystem::path name;
    std::optional<PendingOutput> pending;
    std::unique_ptr<std::FILE, CloseFile> file;
    detail::BgzfHandle compressed;

    /// Gives the system's message, if known; compressing threads do not report one.
    [[noreturn]] void fail(bool packed) const {
        throw_writing_failed(name, packed ? "is the disk full?" : std::strerror(errno));
    }

    std::FILE* plain() const { return file ? file.get() : stdout; }
};

TextOutput::TextOutput(const std::filesystem::path& path, Overwrite overwrite, int threads)
    : state_(new State{is_linked_to_standard_output(path) ? "-" : path, {}, {}, {}}) {
    State& state = *state_;
    if (!is_stream(state.name)) state.pending.emplace(path, overwrite);
    if (state.name == "-") return;
    const std::filesystem::path& target = state.pending ? state.pending->path() : state.name;
    if (is_compressed(state.name)) {
        detail::silence_htslib();
        state.compressed.reset(bgzf_open(target.c_str(), "w"));
    } else {
        state.file.reset(std::fopen(target.c_str(), "we"));
    }
    if (!state.compressed && !state.file) throw_cannot_be_made(state.name, errno);
    if (state.compressed && threads > 1 && bgzf_mt(state.compressed.get(), threads, 64) != 0)
        throw std::system_error(EAGAIN, std::generic_category(), "threads that compress cannot be started");
}

TextOutput::~TextOutput() = default;

void TextOutput::write(std::string_view text) {
    if (text.empty()) return;
    const bool whole = state_->compressed
                           ? bgzf_write(state_->compressed.get(), text.data(), text.size()) ==
                                 static_cast<ssize_t>(text.size())
                           : std::fwrite(text.data(), 1, text.size(), state_->plain()) == text.size();
    if (!whole) state_->fail(state_->compressed != nullptr);
}

PendingOutput* TextOutput::finish() {
    const bool packed = state_->compressed != nullptr;
    const bool whole = packed ? bgzf_close(state_->compressed.release()) == 0
                              : std::fflush(state_->plain()) == 0 &&
                                    (!state_->file || std::fclose(state_->file.release()) == 0);
    if (!whole) state_->fail(packed);
    return state_->pending ? &*state_->pending : nullptr;
}

void TextOutput::commit() {
    if (PendingOutput* const pending = finish()) pending->commit();
}

void throw_writing_failed(const std::filesystem::path& output, const std::string& reason) {
    const bool stream = output == "-";
    if (stream && errno == EPIPE) throw Stopped("standard output was closed", ExitCode::reader_gone);
    throw WriteError((stream ? "standard output" : output.string()) + ": writing failed: " + reason);
}

void commit_together(std::span<const std::unique_ptr<TextOutput>> outputs) {
    std::vector<PendingOutput*> pending;
    for (const auto& output : outputs)
        if (PendingOutput* const file = output->finish()) pending.push_back(file);
    bigbird::commit_together(pending);
}

}  // namespace bigbird::genome
