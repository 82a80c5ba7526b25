// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/text/gzip_stream.hpp"

#include "bigbird/core/error.hpp"

#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace bigbird::genome::detail {

namespace {

constexpr std::size_t input_bytes = std::size_t{1} << 18;
constexpr std::size_t most_at_once = std::size_t{1} << 30;  // ISA-L counts in 32 bits

struct CloseFile {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

}  // namespace

struct GzipStream::State {
    explicit State(const std::filesystem::path& file)
        : path(file), source(std::fopen(file.c_str(), "rbe")), input(input_bytes) {
        if (!source) {
            throw InputError(std::string("cannot be opened: ") + std::strerror(errno), path);
        }
        std::setvbuf(source.get(), nullptr, _IONBF, 0);
        isal_inflate_init(&inflate);
        inflate.crc_flag = ISAL_GZIP;
        inflate.avail_in = 0;
    }

    /// False at the file's end.
    bool refill() {
        if (inflate.avail_in > 0) {
            return true;
        }
        const std::size_t got = std::fread(input.data(), 1, input.size(), source.get());
        if (got == 0 && std::ferror(source.get()) != 0) {
            throw InputError(std::string("cannot be read: ") + std::strerror(errno), path);
        }
        inflate.next_in = input.data();
        inflate.avail_in = static_cast<std::uint32_t>(got);
        taken += static_cast<std::int64_t>(got);
        return got > 0;
    }

    /// Goes to the next member; false where there is none.
    bool begin_member() {
        while (refill()) {
            std::uint8_t* start = inflate.next_in;
            std::uint8_t* const end = start + inflate.avail_in;
            if (any_member) {
                start = std::find_if(start, end, [](std::uint8_t byte) { return byte != 0; });
            }
            inflate.next_in = start;
            inflate.avail_in = static_cast<std::uint32_t>(end - start);
            if (inflate.avail_in > 0) {
                isal_inflate_reset(&inflate);
                inflate.crc_flag = ISAL_GZIP;
                any_member = in_member = true;
                return true;
            }
        }
        return false;
    }

    std::filesystem::path path;
    std::unique_ptr<std::FILE, CloseFile> source;
    std::vector<std::uint8_t> input;
    inflate_state inflate{};
    std::int64_t taken = 0;
    bool any_member = false, in_member = false, failed = false;
};

GzipStream::GzipStream(const std::filesystem::path& path) : state_(std::make_unique<State>(path)) {}

GzipStream::~GzipStream() = default;

std::optional<std::size_t> GzipStream::read(char* out, std::size_t size) {
    State& state = *state_;
    const auto room = static_cast<std::uint32_t>(std::min(size, most_at_once));
    state.inflate.next_out = reinterpret_cast<std::uint8_t*>(out);
    state.inflate.avail_out = room;
    while (state.inflate.avail_out == room && !state.failed) {
        if (!state.in_member && !state.begin_member()) {
            return 0;
        }
        const bool more = state.refill();
        const std::uint32_t before = state.inflate.avail_in;
        const int result = isal_inflate(&state.inflate);
        const bool stuck = !more && before == state.inflate.avail_in && state.inflate.avail_out == room;
        state.in_member = state.inflate.block_state != ISAL_BLOCK_FINISH;
        state.failed = result != ISAL_DECOMP_OK || (stuck && state.in_member);
    }
    const std::size_t count = room - state.inflate.avail_out;
    return count > 0 ? std::optional(count) : std::nullopt;
}

std::int64_t GzipStream::bytes_read() const {
    return state_->taken;
}

}  // namespace bigbird::genome::detail
