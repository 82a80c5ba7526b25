// SPDX-License-Identifier: Apache-2.0
// Has the driver pack a TileMapShape. The function is asked of the driver at run time, so that the library
// opens where there is none.
#pragma once

#include "bigbird/attention/cuda/device/hopper/tile_map.hpp"

#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>

namespace bigbird::attention::cuda {

/// cuTensorMapEncodeTiled, which came with CUDA 12.0; null where the driver has none.
inline PFN_cuTensorMapEncodeTiled_v12000 tensor_map_encoder() {
    constexpr unsigned version = 12000;
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    const cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, version,
                                                               cudaEnableDefault, &found);
    return error == cudaSuccess && found == cudaDriverEntryPointSuccess
               ? reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function)
               : nullptr;
}

inline cudaError_t encode_tensor_map(const TileMapShape& shape, Element element, CUtensorMap& map) {
    static const PFN_cuTensorMapEncodeTiled_v12000 encode = tensor_map_encoder();
    if (encode == nullptr) {
        return cudaErrorNotSupported;
    }
    const cuuint64_t sizes[] = {shape.sizes[0], shape.sizes[1], shape.sizes[2], shape.sizes[3]};
    const cuuint64_t strides[] = {shape.strides[0], shape.strides[1], shape.strides[2]};
    const cuuint32_t every_element[] = {1, 1, 1, 1};
    const CUresult result = encode(
        &map, element == Element::bf16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
        TileMapShape::rank, shape.data, sizes, strides, shape.box, every_element,
        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace bigbird::attention::cuda
