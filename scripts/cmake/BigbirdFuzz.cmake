# BIGBIRD_FUZZ=ON: our libraries with libFuzzer's counters, AddressSanitizer and UBSan, for tests/fuzz. scripts/fuzz configures such a build tree.
# Rooms that read JSON: the sanitizers leave nlohmann's header out, which halves what they take to compile.
function(bigbird_leave_out_json)
  foreach(target IN LISTS ARGN)
    target_compile_options(${target} PRIVATE -fsanitize-ignorelist=${PROJECT_SOURCE_DIR}/scripts/cmake/fuzz_ignore.txt)
  endforeach()
endfunction()

if(NOT BIGBIRD_FUZZ)
  return()
endif()
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  message(FATAL_ERROR "BIGBIRD_FUZZ needs clang++, as libFuzzer comes with it: use scripts/fuzz, or -DCMAKE_CXX_COMPILER=clang++")
endif()
set(BIGBIRD_SANITIZE address undefined fuzzer-no-link)
set(CMAKE_UNITY_BUILD_BATCH_SIZE 0)  # clang takes most of its time for headers, and for templates that every source instruments again
# A line number a finding is enough of debugging; -O1 inlines little, so that a stack names the reader.
add_compile_options(-O1 -gline-tables-only -fno-sanitize-recover=undefined)
add_compile_definitions(_GLIBCXX_ASSERTIONS)
# clang looks for an OpenMP of its own, which only LibTorch's rooms would need; g++'s is there.
set(OpenMP_CXX_FLAGS -fopenmp=libgomp)
set(OpenMP_CXX_LIB_NAMES gomp)
find_library(OpenMP_gomp_LIBRARY NAMES gomp libgomp.so.1)
