// SPDX-License-Identifier: Apache-2.0
#include "support/pretended/pretended_memory.hpp"

#include "support/pretended/pretended_device.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <vector>

namespace bigbird::testing {

namespace {

std::uintptr_t number(const void* address) {
    return reinterpret_cast<std::uintptr_t>(address);
}

std::size_t whole_pages(std::size_t bytes) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return std::max<std::size_t>(1, (bytes + page - 1) / page) * page;
}

class DeviceMemory final : public c10::DeviceAllocator {
public:
    c10::DataPtr allocate(std::size_t bytes) override {
        const c10::Device device(c10::kPrivateUse1, 0);
        if (bytes == 0) return {nullptr, device};
        void* block = device_pages().allocate(bytes);
        return {block, block, [](void* freed) { device_pages().release(freed); }, device};
    }
    void copy_data(void* to, const void* from, std::size_t bytes) const override {
        device_pages().open(to);
        device_pages().open(from);
        default_copy_data(to, from, bytes);
        device_pages().shut(from);
        device_pages().shut(to);
    }
    bool initialized() override { return true; }
    void emptyCache(c10::MempoolId_t) override {}
    void recordStream(const c10::DataPtr&, c10::Stream) override {}
    c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex) override {
        c10::CachingDeviceAllocator::DeviceStats stats;
        auto& bytes =
            stats.allocated_bytes[static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE)];
        bytes.current = device_pages().bytes();
        bytes.peak = device_pages().peak_bytes();
        return stats;
    }
    void resetAccumulatedStats(c10::DeviceIndex) override {}
    void resetPeakStats(c10::DeviceIndex) override {}
    std::pair<std::size_t, std::size_t> getMemoryInfo(c10::DeviceIndex) override {
        constexpr std::size_t total = std::size_t{8} << 30;
        return {total - static_cast<std::size_t>(device_pages().bytes()), total};
    }
};

class PinnedMemory final : public c10::Allocator {
public:
    c10::DataPtr allocate(std::size_t bytes) override {
        void* block = pinned_pages().allocate(bytes);
        return {block, block, &release, c10::Device(c10::kCPU)};
    }
    void copy_data(void* to, const void* from, std::size_t bytes) const override {
        default_copy_data(to, from, bytes);
    }
    c10::DeleterFnPtr raw_deleter() const override { return &release; }

private:
    static void release(void* block);
};

struct Pending {
    const void* block;
    std::uint64_t time;
};

std::mutex mutex;  // of what follows
std::vector<Pending> pending;
std::uint64_t copies = 0;
Waits waits;

void PinnedMemory::release(void* block) {
    const std::scoped_lock lock(mutex);
    std::erase_if(pending, [&](const Pending& copy) { return copy.block == block; });
    pinned_pages().release(block);
}

}  // namespace

void* Pages::allocate(std::size_t bytes) {
    const std::size_t whole = whole_pages(bytes);
    void* const block = ::mmap(nullptr, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    TORCH_CHECK(block != MAP_FAILED, "the pretended device has no more memory");
    const std::scoped_lock lock(mutex_);
    Block& made = blocks_[number(block)];
    made = {whole, begin_open_ ? 1 : 0};
    protect(number(block), made);
    bytes_ += static_cast<std::int64_t>(whole);
    peak_ = std::max(peak_, bytes_);
    return block;
}

void Pages::release(void* block) {
    const std::scoped_lock lock(mutex_);
    const auto found = blocks_.find(number(block));
    bytes_ -= static_cast<std::int64_t>(found->second.bytes);
    ::munmap(block, found->second.bytes);
    blocks_.erase(found);
}

void Pages::change(const void* block, int by) {
    const std::scoped_lock lock(mutex_);
    Block& changed = blocks_.at(number(block));
    changed.opened += by;
    protect(number(block), changed);
}

void Pages::change_all(int by) {
    const std::scoped_lock lock(mutex_);
    all_opened_ += by;
    for (const auto& [address, block] : blocks_)
        protect(address, block);
}

void Pages::protect(std::uintptr_t address, const Block& block) const {
    const int access = block.opened + all_opened_ > 0 ? PROT_READ | PROT_WRITE : PROT_NONE;
    ::mprotect(reinterpret_cast<void*>(address), block.bytes, access);
}

void* Pages::block_of(const void* address) const {
    const std::scoped_lock lock(mutex_);
    auto next = blocks_.upper_bound(number(address));
    if (next == blocks_.begin()) return nullptr;
    --next;
    return number(address) < next->first + next->second.bytes ? reinterpret_cast<void*>(next->first)
                                                              : nullptr;
}

std::int64_t Pages::bytes() const {
    const std::scoped_lock lock(mutex_);
    return bytes_;
}

std::int64_t Pages::peak_bytes() const {
    const std::scoped_lock lock(mutex_);
    return peak_;
}

// None is ever destroyed: LibTorch frees tensors of its own at the very end.
Pages& device_pages() {
    static auto& pages = *new Pages(false);
    return pages;
}

Pages& pinned_pages() {
    static auto& pages = *new Pages(true);
    return pages;
}

c10::DeviceAllocator& device_allocator() {
    static auto& allocator = *new DeviceMemory;
    return allocator;
}

c10::Allocator& pinned_allocator() {
    static auto& allocator = *new PinnedMemory;
    return allocator;
}

void count_wait(const std::string& reason) {
    const std::scoped_lock lock(mutex);
    ++waits[reason];
}

Waits take_waits() {
    const std::scoped_lock lock(mutex);
    return std::exchange(waits, {});
}

void copy_begins(const void* pinned) {
    const std::scoped_lock lock(mutex);
    const void* const block = pinned_pages().block_of(pinned);
    pinned_pages().shut(block);
    pending.push_back({block, ++copies});
}

std::uint64_t time_now() {
    const std::scoped_lock lock(mutex);
    return copies;
}

void wait_until(std::uint64_t time) {
    const std::scoped_lock lock(mutex);
    std::erase_if(pending, [&](const Pending& copy) {
        const bool done = copy.time <= time;
        if (done) pinned_pages().open(copy.block);
        return done;
    });
}

std::int64_t pretended_bytes() {
    return device_pages().bytes();
}

bool on_pretended_device(const void* address) {
    return device_pages().block_of(address) != nullptr;
}

KernelRuns::KernelRuns() {
    device_pages().open_all();
}

KernelRuns::~KernelRuns() {
    device_pages().shut_all();
}

bool faults(const void* address) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::signal(SIGSEGV, SIG_DFL);
        ::_exit(*static_cast<const volatile char*>(address) == 0 ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

}  // namespace bigbird::testing
