# Finds every dependency; downloads nothing. Debian/Ubuntu packages come through pkg-config or CMake configs, LibTorch from BIGBIRD_LIBTORCH.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PNG REQUIRED)
find_package(CLI11 REQUIRED CONFIG)
find_package(spdlog REQUIRED CONFIG)
find_package(nlohmann_json REQUIRED CONFIG)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
pkg_check_modules(highway REQUIRED IMPORTED_TARGET libhwy)
pkg_check_modules(htslib REQUIRED IMPORTED_TARGET htslib)
pkg_check_modules(isal REQUIRED IMPORTED_TARGET libisal)
pkg_check_modules(sentencepiece REQUIRED IMPORTED_TARGET sentencepiece)
pkg_check_modules(yaml_cpp REQUIRED IMPORTED_TARGET yaml-cpp)
pkg_check_modules(hdf5 REQUIRED IMPORTED_TARGET hdf5)
pkg_check_modules(matio REQUIRED IMPORTED_TARGET matio)

# libBigWig comes without a pkg-config file. NOCURL leaves reading from the network out of its headers, which else need libcurl's.
function(bigbird_find_bigwig)
  find_path(include_dir NAMES bigWig.h PATH_SUFFIXES libbigwig NO_CACHE REQUIRED)
  find_library(library NAMES BigWig NO_CACHE REQUIRED)
  add_library(bigbird_bigwig INTERFACE)
  add_library(bigbird::bigwig ALIAS bigbird_bigwig)
  target_include_directories(bigbird_bigwig SYSTEM INTERFACE ${include_dir})
  target_compile_definitions(bigbird_bigwig INTERFACE NOCURL)
  target_link_libraries(bigbird_bigwig INTERFACE ${library})
  set_target_properties(bigbird_bigwig PROPERTIES EXPORT_NAME bigwig)
endfunction()

# LibTorch without find_package(Torch), which wants a CUDA toolkit at configure time and changes the caller's CUDA flags. Only the CPU
# libraries are linked; libtorch_cuda.so is opened at run time where there is a driver (bigbird/model/device.hpp).
function(bigbird_find_libtorch)
  find_path(include_dir NAMES torch/torch.h PATHS ${BIGBIRD_LIBTORCH}/include ${BIGBIRD_LIBTORCH}/include/torch/csrc/api/include
            PATH_SUFFIXES torch/csrc/api/include NO_DEFAULT_PATH NO_CACHE)
  find_library(torch_cpu NAMES torch_cpu PATHS ${BIGBIRD_LIBTORCH}/lib NO_DEFAULT_PATH NO_CACHE)
  find_library(c10 NAMES c10 PATHS ${BIGBIRD_LIBTORCH}/lib NO_DEFAULT_PATH NO_CACHE)
  if(NOT include_dir OR NOT torch_cpu OR NOT c10)
    message(FATAL_ERROR "LibTorch not found in BIGBIRD_LIBTORCH='${BIGBIRD_LIBTORCH}': run scripts/setup, or set it to a LibTorch 2.11 folder with include/ and lib/")
  endif()
  add_library(bigbird_torch INTERFACE)
  set_target_properties(bigbird_torch PROPERTIES EXPORT_NAME torch)
  add_library(bigbird::torch ALIAS bigbird_torch)
  target_include_directories(bigbird_torch SYSTEM INTERFACE ${BIGBIRD_LIBTORCH}/include ${BIGBIRD_LIBTORCH}/include/torch/csrc/api/include)
  target_link_libraries(bigbird_torch INTERFACE ${torch_cpu} ${c10} Threads::Threads)
  # libtorch_cpu.so names CUDA libraries that only run time needs to find.
  target_link_options(bigbird_torch INTERFACE -Wl,--unresolved-symbols=ignore-in-shared-libs -Wl,-rpath,${BIGBIRD_LIBTORCH}/lib)
endfunction()

# LibTorch carries Gloo but not its headers, which c10d's own include; Debian's are older and serve for what is used of them.
function(bigbird_find_gloo_headers)
  find_path(BIGBIRD_GLOO_INCLUDE gloo/rendezvous/store.h REQUIRED)
  mark_as_advanced(BIGBIRD_GLOO_INCLUDE)
  add_library(bigbird_gloo_headers INTERFACE)
  add_library(bigbird::gloo_headers ALIAS bigbird_gloo_headers)
  target_include_directories(bigbird_gloo_headers SYSTEM INTERFACE ${BIGBIRD_GLOO_INCLUDE})
  target_compile_definitions(bigbird_gloo_headers INTERFACE USE_C10D_GLOO)
  set_target_properties(bigbird_gloo_headers PROPERTIES EXPORT_NAME gloo_headers)
endfunction()

if(NOT TARGET bigbird::torch)  # a project that uses the installed library has them from bigbirdTargets.cmake
  bigbird_find_libtorch()
  bigbird_find_gloo_headers()
  bigbird_find_bigwig()
endif()
