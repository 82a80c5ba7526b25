# One way to declare a module.

# -Wrestrict misfires on std::string + in g++ 12 (GCC bug 105651).
set(BIGBIRD_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wundef -Wno-restrict)

# g++ collects its garbage early by default; a gigabyte of heap saves a tenth of its time and costs next to no memory at the peak.
set(BIGBIRD_COMPILER_MEMORY $<$<COMPILE_LANG_AND_ID:CXX,GNU>:SHELL:--param ggc-min-heapsize=1048576>)

function(bigbird_configure_target target)
  target_compile_options(${target} PRIVATE ${BIGBIRD_WARNINGS} ${BIGBIRD_COMPILER_MEMORY})
  if(BIGBIRD_SANITIZE)
    list(JOIN BIGBIRD_SANITIZE "," sanitizers)
    target_compile_options(${target} PRIVATE -fsanitize=${sanitizers} -fno-sanitize=vptr -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=${sanitizers})
  endif()
endfunction()

# Every library that a target reaches, directly or not.
function(bigbird_reachable target out)
  set(seen "")
  set(queue ${target})
  while(queue)
    list(POP_FRONT queue current)
    string(REGEX REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1" current "${current}")
    if(current IN_LIST seen)
      continue()
    endif()
    list(APPEND seen ${current})
    if(TARGET ${current})
      get_target_property(aliased ${current} ALIASED_TARGET)
      if(aliased)
        list(APPEND queue ${aliased})
        continue()
      endif()
      foreach(property LINK_LIBRARIES INTERFACE_LINK_LIBRARIES)
        get_target_property(libraries ${current} ${property})
        if(libraries)
          list(APPEND queue ${libraries})
        endif()
      endforeach()
    endif()
  endwhile()
  set(${out} ${seen} PARENT_SCOPE)
endfunction()

# Compiles the sources that are named after an instruction set for that one.
function(bigbird_compile_for_instruction_sets target)
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    return()
  endif()
  # g++ 12 calls its own intrinsics' deliberately undefined values uninitialized (GCC bug 105593).
  target_compile_options(${target} PRIVATE -Wno-uninitialized -Wno-maybe-uninitialized)
  # With AddressSanitizer it places the vectors of AVX-512 on a stack of its own at 32 bytes and stores to them as at 64 (GCC bug 110027).
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND BIGBIRD_SANITIZE MATCHES "address")
    target_compile_options(${target} PRIVATE --param=asan-use-after-return=0)
  endif()
  set(avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx2 -mfma)
  set_source_files_properties(avx2.cpp PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma")
  set_source_files_properties(avx512.cpp PROPERTIES COMPILE_OPTIONS "${avx512}")
  set_source_files_properties(avx512_bf16.cpp PROPERTIES COMPILE_OPTIONS "${avx512};-mavx512bf16")
  set_source_files_properties(amx.cpp PROPERTIES COMPILE_OPTIONS "${avx512};-mavx512bf16;-mamx-tile;-mamx-bf16")
endfunction()

# For targets whose time is spent in others: -O1 instead of -O3, for tests -Og. A precompiled header serves sources of any -O.
function(bigbird_compile_quickly target level)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${level}>)
endfunction()

# bigbird_add_library(NAME genome [MADE …] [EXCEPT …] PUBLIC … PRIVATE … [QUICKLY]): the static library bigbird::<NAME> of the folder's .cpp files but one,
# and of one that CMake made; include root is lib/. QUICKLY: rooms that call others and loop over nothing large (bigbird_compile_quickly).
function(bigbird_add_library)
  cmake_parse_arguments(arg "QUICKLY" "NAME;MADE;EXCEPT" "PUBLIC;PRIVATE" ${ARGN})
  set(target bigbird_${arg_NAME})
  file(GLOB sources RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS *.cpp)
  list(REMOVE_ITEM sources "${arg_EXCEPT}")
  add_library(${target} STATIC ${sources} ${arg_MADE})
  add_library(bigbird::${arg_NAME} ALIAS ${target})
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/lib> $<INSTALL_INTERFACE:include>)
  target_link_libraries(${target} PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${arg_NAME})
  install(TARGETS ${target} EXPORT bigbirdTargets ARCHIVE DESTINATION lib COMPONENT development)
  bigbird_configure_target(${target})
  if(arg_QUICKLY)
    bigbird_compile_quickly(${target} -O1)
  endif()
  bigbird_reachable(${target} reachable)
  bigbird_share_torch_header(${target} "${reachable}")
endfunction()

# Targets that use LibTorch are compiled with OpenMP, without which LibTorch's parallel_for, a template, runs on one thread, and share one precompiled header; parsing LibTorch costs more than our own code. g++ instantiates again, in every source,
# the templates that a precompiled header has left pending: <torch/nn.h> costs 6 s a source that way, these 3 s, and <ATen/ATen.h> alone 1 s;
# <torch/csrc/autograd/custom_function.h> would cost 0.6 s in all of them, and is used by few.
function(bigbird_share_torch_header target reachable)
  if(NOT bigbird::torch IN_LIST reachable)
    return()
  endif()
  if(NOT TARGET bigbird_torch_header)
    set(stamp ${PROJECT_BINARY_DIR}/torch_header.cpp)
    if(NOT EXISTS ${stamp})
      file(WRITE ${stamp} "// Carries the precompiled header.\n")
    endif()
    add_library(bigbird_torch_header OBJECT ${stamp})
    target_link_libraries(bigbird_torch_header PRIVATE bigbird::torch nlohmann_json::nlohmann_json spdlog::spdlog)
    bigbird_configure_target(bigbird_torch_header)
    target_compile_options(bigbird_torch_header PRIVATE -fpch-preprocess ${OpenMP_CXX_FLAGS})
    target_precompile_headers(bigbird_torch_header PRIVATE <ATen/ATen.h> <torch/nn/module.h>
                               <torch/nn/pimpl.h> <nlohmann/json.hpp> <spdlog/spdlog.h> <filesystem> <string> <vector>)
  endif()
  target_compile_options(${target} PRIVATE -fpch-preprocess ${OpenMP_CXX_FLAGS})
  target_precompile_headers(${target} REUSE_FROM bigbird_torch_header)
endfunction()

# Runs a module's tests again with less than the processor has (core/system/processor.hpp), all cases as one test. Emulated CUDA kernels are left out:
# they take most of the time and use no vector unit. A third argument chooses cases by doctest's patterns, and a fourth names them.
function(bigbird_test_instruction_sets target module)
  set(cases "*")
  set(named "every case")
  if(ARGC GREATER 3)
    set(cases "${ARGV2}")
    set(named "${ARGV3}")
  endif()
  foreach(set avx512_bf16 avx512 avx2 base)
    set(name "${module}/BIGBIRD_CPU=${set}: ${named}")
    add_test(NAME ${name} COMMAND ${target} --minimal "--test-case=${cases}" "--test-case-exclude=cuda*,fused_steps*")
    set_tests_properties(${name} PROPERTIES ENVIRONMENT BIGBIRD_CPU=${set} LABELS "unit;instruction-sets" SKIP_RETURN_CODE 77 TIMEOUT 900)
  endforeach()
endfunction()

# Test programs of rooms that do not reach LibTorch.
add_custom_target(tests-without-libtorch)

# bigbird_add_test(MODULE genome [SOURCES …] LIBRARIES … LABELS … [INSTRUCTION_SETS]): one doctest program a module; every case is a ctest test.
# Sources are by default all that end with _test.cpp in the folder and then in those below it.
# INSTRUCTION_SETS: for modules that choose code by what the processor has.
function(bigbird_add_test)
  cmake_parse_arguments(arg "INSTRUCTION_SETS" "MODULE" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  set(target ${arg_MODULE}_tests)
  if(NOT arg_SOURCES)
    file(GLOB arg_SOURCES RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS *_test.cpp)
    file(GLOB_RECURSE below RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS *_test.cpp)
    list(FILTER below INCLUDE REGEX /)
    list(APPEND arg_SOURCES ${below})
  endif()
  add_executable(${target} ${arg_SOURCES})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${target} PRIVATE bigbird_test_support ${arg_LIBRARIES})
  bigbird_configure_target(${target})
  bigbird_reachable(${target} reachable)
  bigbird_share_torch_header(${target} "${reachable}")
  if(NOT (arg_INSTRUCTION_SETS AND bigbird::torch IN_LIST reachable))
    bigbird_compile_quickly(${target} -Og)  # tests are compiled more often than run, but for those that emulate kernels
  endif()
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  if(arg_LABELS STREQUAL unit AND NOT bigbird::torch IN_LIST reachable)
    set(arg_LABELS unit-no-libtorch)  # what a sanitizer sees whole (scripts/test --without-libtorch)
    add_dependencies(tests-without-libtorch ${target})
  endif()
  doctest_discover_tests(${target} TEST_PREFIX "${arg_MODULE}/" PROPERTIES LABELS "${arg_LABELS}" SKIP_RETURN_CODE 77 TIMEOUT 300)
  if(arg_INSTRUCTION_SETS)
    bigbird_test_instruction_sets(${target} ${arg_MODULE})
  endif()
endfunction()

# bigbird_add_group(NAME genome LIBRARIES …): bigbird::genome is all of its rooms.
function(bigbird_add_group)
  cmake_parse_arguments(arg "" "NAME" "LIBRARIES" ${ARGN})
  bigbird_add_interface(${arg_NAME})
  target_link_libraries(bigbird_${arg_NAME} INTERFACE ${arg_LIBRARIES})
  install(TARGETS bigbird_${arg_NAME} EXPORT bigbirdTargets COMPONENT development)
endfunction()
