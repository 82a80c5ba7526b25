// SPDX-License-Identifier: Apache-2.0
// Memory that oneDNN asks for, where there is none.
#include <dlfcn.h>

#include <cerrno>
#include <cstddef>
#include <new>

/// Stands before the C library's posix_memalign(), for shared libraries too, and throws where that finds no
/// memory. oneDNN's `operator new` returns null there (its c_compatible, up to 3.11), into which it then
/// writes: every product could end by SIGSEGV. LibTorch, the other who calls it, throws there itself.
extern "C" [[gnu::visibility("default")]] int throwing_memalign(void** memory, std::size_t alignment,
                                                                std::size_t size) __asm__("posix_memalign");

int throwing_memalign(void** memory, std::size_t alignment, std::size_t size) {
    using Function = int(void**, std::size_t, std::size_t);
    static auto* const next = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, "posix_memalign"));
    const int error = next(memory, alignment, size);
    if (error == ENOMEM) throw std::bad_alloc();
    return error;
}
