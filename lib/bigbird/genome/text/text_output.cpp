// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/text/text_output.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/protected_files.hpp"

#include <htslib/bgzf.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <vector>

namespace bigbird::genome {

namespace {

/// Pipes and devices cannot be replaced by a rename; they are written to directly.
bool is_stream(const std::filesystem::path& path) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    return path == "-" || std::filesystem::is_fifo(status) || std::filesystem::is_character_file(status) ||
           std::filesystem::is_socket(status);
}

}  // namespace

TextOutput::TextOutput(const std::filesystem::path& path, Overwrite overwrite, int threads, Compress compress)
    : name_(path) {
    // A link such as /dev/stdout may lead to a file, which would be overwritten from its beginning.
    std::error_code error;
    if (std::filesystem::is_symlink(path, error) && is_standard_output(path)) name_ = "-";
    if (!is_stream(name_)) pending_.emplace(path, overwrite);
    if (name_ == "-") return;
    const std::filesystem::path& target = pending_ ? pending_->path() : name_;
    if (name_.extension() == ".gz" || name_.extension() == ".bgz") {
        detail::silence_htslib();
        compressed_.reset(bgzf_open(target.c_str(), compress == Compress::fast ? "w1" : "w"));
    } else {
        file_.reset(std::fopen(target.c_str(), "we"));
    }
    if (!compressed_ && !file_) throw_cannot_be_made(name_, errno);
    if (compressed_ && threads > 1 && bgzf_mt(compressed_.get(), threads, 64) != 0)
        throw std::system_error(EAGAIN, std::generic_category(), "threads that compress cannot be started");
}

/// Gives the system's message, if known; compressing threads do not report one.
void TextOutput::fail(bool packed) const {
    throw_writing_failed(name_, packed ? "is the disk full?" : std::strerror(errno));
}

void TextOutput::write(std::string_view text) {
    if (text.empty()) return;
    const bool whole = compressed_ ? bgzf_write(compressed_.get(), text.data(), text.size()) ==
                                         static_cast<ssize_t>(text.size())
                                   : std::fwrite(text.data(), 1, text.size(), plain()) == text.size();
    if (!whole) fail(compressed_ != nullptr);
}

PendingOutput* TextOutput::finish() {
    const bool packed = compressed_ != nullptr;
    const bool whole = packed ? bgzf_close(compressed_.release()) == 0
                              : std::fflush(plain()) == 0 && (!file_ || std::fclose(file_.release()) == 0);
    if (!whole) fail(packed);
    return pending_ ? &*pending_ : nullptr;
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
