// The rate of the float64 tensor cores of sm_90 without the rest of a kernel: products of random
// operands with K terms of the sum in an instruction and W warps on each of a multiprocessor's four
// partitions.
//
// mma_kK_wW          operands stay in registers
// mma_kK_wW_shared   operands are read from shared memory, in the order of kernels/tile.cuh
//   shapes     128·W threads; a warp has 32×64 sums, 32×32 for W = 4; a round adds K terms to each;
//              the operands for K = 16, W = 4 do not fit into registers
//   writes     out [blocks][threads]
//
// nvcc -ptx -std=c++17 -O3 -arch=compute_90 mma.cu

__device__ void mma(double (&c)[4], const double (&a)[1][2], const double (&b)[1]) {
	asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
				 : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
				 : "d"(a[0][0]), "d"(a[0][1]), "d"(b[0]));
}

__device__ void mma(double (&c)[4], const double (&a)[2][2], const double (&b)[2]) {
	asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
				 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
				 : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
				 : "d"(a[0][0]), "d"(a[0][1]), "d"(a[1][0]), "d"(a[1][1]), "d"(b[0]), "d"(b[1]));
}

__device__ void mma(double (&c)[4], const double (&a)[4][2], const double (&b)[4]) {
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 "
				 "{%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3};"
				 : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
				 : "d"(a[0][0]), "d"(a[0][1]), "d"(a[1][0]), "d"(a[1][1]), "d"(a[2][0]), "d"(a[2][1]), "d"(a[3][0]),
				 "d"(a[3][1]), "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
}

template <int K, int COLUMNS, bool SHARED> __device__ void multiply(double *out, long long rounds) {
	constexpr int terms = 16, pitch = 132, across = 16 / COLUMNS;
	__shared__ double panels[2][terms][pitch];
	unsigned random = threadIdx.x;
	for (int e = threadIdx.x; e < 2 * terms * pitch; e += blockDim.x) {
		random = random * 1664525 + 1013904223;
		panels[0][0][e] = (int)random / 2147483648.0;
	}
	__syncthreads();
	int warp = threadIdx.x / 32, group = threadIdx.x % 32 / 4, place = threadIdx.x % 4;
	// volatile: otherwise the loads would leave the loop
	const volatile double *from_a = &panels[0][place][warp / across * 32 + group];
	const volatile double *from_b = &panels[1][place][warp % across * 8 * COLUMNS + group];
	double a[2][K / 4][2], b[COLUMNS][K / 4], acc[2][COLUMNS][4] = {};
	auto fetch_a = [&](int i, int term) {
#pragma unroll
		for (int s = 0; s < K / 4; s++)
#pragma unroll
			for (int r = 0; r < 2; r++)
				a[i][s][r] = from_a[(term + 4 * s) * pitch + 16 * i + 8 * r];
	};
	auto fetch_b = [&](int j, int term) {
#pragma unroll
		for (int s = 0; s < K / 4; s++)
			b[j][s] = from_b[(term + 4 * s) * pitch + 8 * j];
	};
#pragma unroll
	for (int i = 0; i < 2; i++)
		fetch_a(i, 0);
#pragma unroll
	for (int j = 0; j < COLUMNS; j++)
		fetch_b(j, 0);
	int term = 0;
#pragma unroll 1
	for (long long round = 0; round < rounds; round++) {
		term = (term + K) % terms;
#pragma unroll
		for (int i = 0; i < 2; i++)
#pragma unroll
			for (int j = 0; j < COLUMNS; j++) {
				mma(acc[i][j], a[i], b[j]);
				if (SHARED && j == COLUMNS - 1)
					fetch_a(i, term);
				if (SHARED && i == 1)
					fetch_b(j, term);
			}
	}
	double sum = 0;
#pragma unroll
	for (int e = 0; e < 8 * COLUMNS; e++)
		sum += acc[e / 4 / COLUMNS][e / 4 % COLUMNS][e % 4];
	out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

#define VARIANT(NAME, THREADS, ...)                                                             \
	extern "C" __global__ void __launch_bounds__(THREADS) NAME(double *out, long long rounds) { \
		multiply<__VA_ARGS__>(out, rounds);                                                     \
	}
#define VARIANTS(K)                                \
	VARIANT(mma_k##K##_w1, 128, K, 8, false)       \
	VARIANT(mma_k##K##_w2, 256, K, 8, false)       \
	VARIANT(mma_k##K##_w1_shared, 128, K, 8, true) \
	VARIANT(mma_k##K##_w2_shared, 256, K, 8, true)

VARIANTS(4)
VARIANTS(8)
VARIANTS(16)
VARIANT(mma_k4_w4, 512, 4, 4, false)
VARIANT(mma_k8_w4, 512, 8, 4, false)
VARIANT(mma_k4_w4_shared, 512, 4, 4, true)
VARIANT(mma_k8_w4_shared, 512, 8, 4, true)
