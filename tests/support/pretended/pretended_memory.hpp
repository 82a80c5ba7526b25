// SPDX-License-Identifier: Apache-2.0
// The pretended device's memory, and page-locked memory beside it.
#pragma once

#include <c10/core/CachingDeviceAllocator.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace bigbird::testing {

/// Blocks of whole pages, each shut (PROT_NONE) or open. Blocks are opened as often as they are shut again:
/// several operators may use one at once. Thread-safe.
class Pages {
public:
    explicit Pages(bool begin_open) : begin_open_(begin_open) {}
    void* allocate(std::size_t bytes);
    void release(void* block);
    void open(const void* block) { change(block, 1); }
    void shut(const void* block) { change(block, -1); }
    void open_all() { change_all(1); }
    void shut_all() { change_all(-1); }
    /// The block that holds an address; nullptr where none does.
    void* block_of(const void* address) const;
    std::int64_t bytes() const;
    std::int64_t peak_bytes() const;

private:
    struct Block {
        std::size_t bytes = 0;
        int opened = 0;
    };
    void change(const void* block, int by);
    void change_all(int by);
    void protect(std::uintptr_t address, const Block& block) const;

    bool begin_open_;
    mutable std::mutex mutex_;
    std::map<std::uintptr_t, Block> blocks_;
    std::int64_t bytes_ = 0, peak_ = 0;
    int all_opened_ = 0;
};

Pages& device_pages();
Pages& pinned_pages();
c10::DeviceAllocator& device_allocator();
c10::Allocator& pinned_allocator();

/// Notes that the host waits.
void count_wait(const std::string& reason);

/// Copies to page-locked memory that nobody has waited for yet: their target is shut. A place in time is the
/// number of copies that began before it.
void copy_begins(const void* pinned);
std::uint64_t time_now();
void wait_until(std::uint64_t time);

}  // namespace bigbird::testing
