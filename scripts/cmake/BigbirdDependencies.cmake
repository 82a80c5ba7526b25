# Finds every dependency; downloads nothing. Debian/Ubuntu packages come through pkg-config or CMake configs, LibTorch from BIGBIRD_LIBTORCH.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PNG REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(CLI11 REQUIRED CONFIG)
find_package(spdlog REQUIRED CONFIG)
find_package(nlohmann_json REQUIRED CONFIG)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
pkg_check_modules(highway REQUIRED IMPORTED_TARGET libhwy)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")  # vectors of SVE, whose length only the processor knows, cannot be members of a struct: NEON serves
  target_compile_definitions(PkgConfig::highway INTERFACE "HWY_DISABLED_TARGETS=(HWY_SVE|HWY_SVE2|HWY_SVE_256|HWY_SVE2_128)")
endif()
pkg_check_modules(htslib REQUIRED IMPORTED_TARGET htslib)
pkg_check_modules(sentencepiece REQUIRED IMPORTED_TARGET sentencepiece)
pkg_check_modules(yaml_cpp REQUIRED IMPORTED_TARGET yaml-cpp)
pkg_check_modules(hdf5 REQUIRED IMPORTED_TARGET hdf5)
pkg_check_modules(matio REQUIRED IMPORTED_TARGET matio)

# The interface library bigbird::<name>.
function(bigbird_add_interface name)
  add_library(bigbird_${name} INTERFACE)
  add_library(bigbird::${name} ALIAS bigbird_${name})
  set_target_properties(bigbird_${name} PROPERTIES EXPORT_NAME ${name})
endfunction()

# For libraries that come without a pkg-config file.
function(bigbird_find_library name header library_name)
  find_path(include_dir NAMES ${header} PATH_SUFFIXES libbigwig NO_CACHE REQUIRED)
  find_library(library NAMES ${library_name} NO_CACHE REQUIRED)
  bigbird_add_interface(${name})
  target_include_directories(bigbird_${name} SYSTEM INTERFACE ${include_dir})
  target_link_libraries(bigbird_${name} INTERFACE ${library})
endfunction()

# LibTorch without find_package(Torch), which wants a CUDA toolkit at configure time and changes the caller's CUDA flags. Only the CPU
# libraries are linked; libtorch_cuda.so is opened at run time where there is a driver (bigbird/model/device/device.hpp).
function(bigbird_find_libtorch)
  find_path(include_dir NAMES torch/torch.h PATHS ${BIGBIRD_LIBTORCH}/include ${BIGBIRD_LIBTORCH}/include/torch/csrc/api/include
            PATH_SUFFIXES torch/csrc/api/include NO_DEFAULT_PATH NO_CACHE)
  find_library(torch_cpu NAMES torch_cpu PATHS ${BIGBIRD_LIBTORCH}/lib NO_DEFAULT_PATH NO_CACHE)
  find_library(c10 NAMES c10 PATHS ${BIGBIRD_LIBTORCH}/lib NO_DEFAULT_PATH NO_CACHE)
  if(NOT include_dir OR NOT torch_cpu OR NOT c10)
    message(FATAL_ERROR "LibTorch not found in BIGBIRD_LIBTORCH='${BIGBIRD_LIBTORCH}': run scripts/setup, or set it to a LibTorch 2.11 folder with include/ and lib/")
  endif()
  # One OpenMP runtime in a process: LibTorch's own, which its wheels carry, or the compiler's where LibTorch uses that.
  find_file(openmp NAMES libgomp.so.1 PATHS ${BIGBIRD_LIBTORCH}/lib NO_DEFAULT_PATH NO_CACHE)
  if(NOT openmp)
    set(openmp $<LINK_ONLY:OpenMP::OpenMP_CXX>)
  endif()
  bigbird_add_interface(torch)
  target_include_directories(bigbird_torch SYSTEM INTERFACE ${BIGBIRD_LIBTORCH}/include ${BIGBIRD_LIBTORCH}/include/torch/csrc/api/include)
  target_link_libraries(bigbird_torch INTERFACE ${torch_cpu} ${c10} Threads::Threads ${openmp})
  # libtorch_cpu.so names CUDA libraries that only run time needs to find.
  target_link_options(bigbird_torch INTERFACE -Wl,--unresolved-symbols=ignore-in-shared-libs -Wl,-rpath,${BIGBIRD_LIBTORCH}/lib)
endfunction()

# LibTorch carries Gloo but not its headers, which c10d's own include; Debian's are older and serve for what is used of them.
function(bigbird_find_gloo_headers)
  find_path(BIGBIRD_GLOO_INCLUDE gloo/rendezvous/store.h REQUIRED)
  mark_as_advanced(BIGBIRD_GLOO_INCLUDE)
  bigbird_add_interface(gloo_headers)
  target_include_directories(bigbird_gloo_headers SYSTEM INTERFACE ${BIGBIRD_GLOO_INCLUDE})
  target_compile_definitions(bigbird_gloo_headers INTERFACE USE_C10D_GLOO)
endfunction()

if(NOT TARGET bigbird::torch)  # a project that uses the installed library has them from bigbirdTargets.cmake
  bigbird_find_libtorch()
  bigbird_find_gloo_headers()
  bigbird_find_library(bigwig bigWig.h BigWig)
  target_compile_definitions(bigbird_bigwig INTERFACE NOCURL)  # its headers would need libcurl's
  bigbird_find_library(liblinear linear.h linear)
endif()
