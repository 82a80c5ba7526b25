// SPDX-License-Identifier: Apache-2.0
// Memory that oneDNN asks for, where there is none.
#include <dlfcn.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <new>
#include <string_view>

namespace {

/// What the C library, or who else stands before it, has under this name. Sanitizers call it before they have
/// begun, when no static variable of a function can be made.
template <typename Function>
class Next {
public:
    explicit constexpr Next(const char* name) : name_(name) {}
    Function* get() {
        Function* function = found_.load(std::memory_order_relaxed);
        if (function == nullptr) {
            function = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name_));
            found_.store(function, std::memory_order_relaxed);
        }
        return function;
    }

private:
    const char* name_;
    std::atomic<Function*> found_ = nullptr;
};

constinit Next<int(void**, std::size_t, std::size_t)> next_memalign("posix_memalign");
constinit Next<void*(void*, std::size_t, int, int, int, off_t)> next_mmap("mmap");

/// Whether the code at this address is LibTorch's, in which oneDNN is; its functions have no names there.
bool is_libtorch(const void* code) {
    Dl_info info{};
    return ::dladdr(code, &info) != 0 && info.dli_fname != nullptr &&
           std::string_view(info.dli_fname).ends_with("libtorch_cpu.so");
}

}  // namespace

/// Stands before the C library's posix_memalign(), for shared libraries too, and throws where that finds no
/// memory. oneDNN's `operator new` returns null there (its c_compatible, up to 3.11), into which it then
/// writes: every product could end by SIGSEGV. LibTorch, the other who calls it, throws there itself.
extern "C" [[gnu::visibility("default")]] int throwing_memalign(void** memory, std::size_t alignment,
                                                                std::size_t size) __asm__("posix_memalign");

int throwing_memalign(void** memory, std::size_t alignment, std::size_t size) {
    const int error = next_memalign.get()(memory, alignment, size);
    if (error == ENOMEM) throw std::bad_alloc();
    return error;
}

/// Likewise before mmap(), where oneDNN finds no memory for code: its convolutions go on without the kernel,
/// and call it at address 0. Callers in other libraries get the error.
extern "C" [[gnu::visibility("default")]] void* throwing_mmap(void* where, std::size_t size, int protection,
                                                              int flags, int file,
                                                              off_t offset) __asm__("mmap");

void* throwing_mmap(void* where, std::size_t size, int protection, int flags, int file, off_t offset) {
    void* const memory = next_mmap.get()(where, size, protection, flags, file, offset);
    const bool lacks = memory == MAP_FAILED && errno == ENOMEM && (flags & MAP_ANONYMOUS) != 0;
    if (lacks && is_libtorch(__builtin_return_address(0))) throw std::bad_alloc();
    return memory;
}
