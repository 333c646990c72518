/* The CUDA toolkit's cuda.h, as gorgonia.org/cu v0.9.6 expects it. Put this
 * folder before the toolkit's in CGO_CFLAGS.
 *
 * CUDA 13 maps some names to new versions, most with another signature. cu uses
 * the old ones, which all drivers have. */
#ifndef VSSGP_COMPAT_CUDA_H
#define VSSGP_COMPAT_CUDA_H

#include_next <cuda.h>

#if CUDA_VERSION >= 13000

#undef cuCtxCreate
#undef cuEventElapsedTime
#undef cuMemAdvise
#undef cuMemPrefetchAsync
#undef cuGraphAddDependencies
#undef cuGraphGetEdges

CUresult CUDAAPI cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device);
#define cuCtxCreate cuCtxCreate_v2

CUresult CUDAAPI cuEventElapsedTime(float *ms, CUevent from, CUevent to);
CUresult CUDAAPI cuMemAdvise(CUdeviceptr at, size_t count, CUmem_advise advice, CUdevice device);
CUresult CUDAAPI cuMemPrefetchAsync(CUdeviceptr at, size_t count, CUdevice device, CUstream stream);
CUresult CUDAAPI cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count);
CUresult CUDAAPI cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count);

#endif
#endif
