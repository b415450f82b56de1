// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/probes/decode_kernels.hpp>

#include <cuda_bf16.h>

namespace headroom::probes {
namespace {

constexpr int warp = 32;
constexpr int warps = 4;
constexpr int block = warp * warps;
constexpr int vector_numbers = 8;  // bf16 numbers of a 16-byte load
constexpr int unroll = 4;          // tokens in flight per group of lanes

struct Numbers {
  float of[vector_numbers];
};

__device__ Numbers unpacked(uint4 raw) {
  Numbers n;
  const unsigned words[4] = {raw.x, raw.y, raw.z, raw.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {  // bf16 is the upper half of a float
    n.of[2 * i] = __uint_as_float(words[i] << 16);
    n.of[2 * i + 1] = __uint_as_float(words[i] & 0xFFFF0000U);
  }
  return n;
}

/// State of a group of lanes for one query: sums, highest score, divisor.
struct Seen {
  float sums[vector_numbers];
  float highest, divisor;
};

/// Half of the lowest float: differences stay finite, so that exp gives 0 and never NaN.
constexpr float lowest = -1.7e38F;

// A CTA serves the `group` query heads of one key head over one split. `lanes` neighbouring lanes read one token, eight
// numbers each; tokens are distributed round robin over the groups of lanes of all warps.
template <int width, int group>
__global__ void __launch_bounds__(block) decode_kernel(DecodeArguments a) {
  constexpr int lanes = width / vector_numbers;
  constexpr int teams = block / lanes;  // groups of lanes per CTA
  const int team = static_cast<int>(threadIdx.x) / lanes;
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const std::int64_t split = blockIdx.x;
  const std::int64_t kv_head = blockIdx.y;
  const std::int64_t sequence = blockIdx.z;
  const std::int64_t first_head = kv_head * group;
  const float scale = rsqrtf(static_cast<float>(width));

  Numbers query[group];
  Seen seen[group];
  const auto* queries = static_cast<const uint4*>(a.queries);
#pragma unroll
  for (int g = 0; g < group; ++g) {
    query[g] = unpacked(queries[((sequence * a.heads + first_head + g) * width) / vector_numbers + lane]);
#pragma unroll
    for (int i = 0; i < vector_numbers; ++i) {
      query[g].of[i] *= scale;
      seen[g].sums[i] = 0.0F;
    }
    seen[g].highest = lowest;
    seen[g].divisor = 0.0F;
  }

  const std::int64_t page_count = (a.context + decode_page_tokens - 1) / decode_page_tokens;
  const std::int32_t* pages = a.pages + sequence * page_count;
  const std::int64_t chunk = (a.context + a.splits - 1) / a.splits;
  const std::int64_t begin = split * chunk;
  const std::int64_t end = begin + chunk < a.context ? begin + chunk : a.context;
  const auto* keys = static_cast<const uint4*>(a.keys);
  const auto* values = static_cast<const uint4*>(a.values);
  // All teams take the same number of rounds, because shuffles need whole warps.
  const std::int64_t rounds = end > begin ? (end - begin + teams * unroll - 1) / (teams * unroll) : 0;
  for (std::int64_t round = 0; round < rounds; ++round) {
    uint4 raw_key[unroll];
    uint4 raw_value[unroll];
    bool there[unroll];
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
      const std::int64_t token = begin + (round * unroll + u) * teams + team;
      there[u] = token < end;
      raw_key[u] = uint4{0, 0, 0, 0};
      raw_value[u] = uint4{0, 0, 0, 0};
      if (there[u]) {
        const std::int64_t page = pages[token / decode_page_tokens];
        const std::int64_t row =
            ((page * decode_page_tokens + token % decode_page_tokens) * a.kv_heads + kv_head) * lanes + lane;
        raw_key[u] = keys[row];
        raw_value[u] = values[row];
      }
    }
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
      const Numbers key = unpacked(raw_key[u]);
      const Numbers value = unpacked(raw_value[u]);
#pragma unroll
      for (int g = 0; g < group; ++g) {
        float score = 0.0F;
#pragma unroll
        for (int i = 0; i < vector_numbers; ++i) {
          score += query[g].of[i] * key.of[i];
        }
#pragma unroll
        for (int offset = lanes / 2; offset > 0; offset /= 2) {
          score += __shfl_xor_sync(0xFFFFFFFFU, score, offset);
        }
        score = there[u] ? score : lowest;
        const float highest = fmaxf(seen[g].highest, score);
        const float kept = __expf(seen[g].highest - highest);
        const float weight = there[u] ? __expf(score - highest) : 0.0F;
        seen[g].divisor = seen[g].divisor * kept + weight;
#pragma unroll
        for (int i = 0; i < vector_numbers; ++i) {
          seen[g].sums[i] = seen[g].sums[i] * kept + weight * value.of[i];
        }
        seen[g].highest = highest;
      }
    }
  }

  // Merges the teams' parts in shared memory, one query at a time.
  __shared__ float shared_sums[teams][width];
  __shared__ float shared_highest[teams];
  __shared__ float shared_divisor[teams];
  for (int g = 0; g < group; ++g) {
#pragma unroll
    for (int chosen = 0; chosen < group; ++chosen) {  // register indices must be known at compile time
      if (chosen == g) {
#pragma unroll
        for (int i = 0; i < vector_numbers; ++i) {
          shared_sums[team][lane * vector_numbers + i] = seen[chosen].sums[i];
        }
        if (lane == 0) {
          shared_highest[team] = seen[chosen].highest;
          shared_divisor[team] = seen[chosen].divisor;
        }
      }
    }
    __syncthreads();
    if (threadIdx.x < width) {
      float highest = lowest;
      for (int t = 0; t < teams; ++t) {
        highest = fmaxf(highest, shared_highest[t]);
      }
      float sum = 0.0F;
      float divisor = 0.0F;
      for (int t = 0; t < teams; ++t) {
        const float kept = __expf(shared_highest[t] - highest);
        sum += kept * shared_sums[t][threadIdx.x];
        divisor += kept * shared_divisor[t];
      }
      const std::int64_t row = sequence * a.heads + first_head + g;
      if (a.splits == 1) {
        static_cast<__nv_bfloat16*>(a.output)[row * width + threadIdx.x] = __float2bfloat16(sum / divisor);
      } else {
        float* part = a.parts + (row * a.splits + split) * (width + 2);
        part[threadIdx.x] = sum;
        if (threadIdx.x == 0) {
          part[width] = highest;
          part[width + 1] = divisor;
        }
      }
    }
    __syncthreads();
  }
}

template <int width>
__global__ void merge_kernel(DecodeArguments a) {
  const std::int64_t row = blockIdx.x;
  const float* parts = a.parts + row * a.splits * (width + 2);
  float highest = lowest;
  for (std::int64_t s = 0; s < a.splits; ++s) {
    highest = fmaxf(highest, parts[s * (width + 2) + width]);
  }
  float sum = 0.0F;
  float divisor = 0.0F;
  for (std::int64_t s = 0; s < a.splits; ++s) {
    const float* part = parts + s * (width + 2);
    const float kept = __expf(part[width] - highest);
    sum += kept * part[threadIdx.x];
    divisor += kept * part[width + 1];
  }
  static_cast<__nv_bfloat16*>(a.output)[row * width + threadIdx.x] = __float2bfloat16(sum / divisor);
}

template <int width, int group>
cudaError_t launched(const DecodeArguments& a, cudaStream_t stream) {
  const dim3 grid{static_cast<unsigned>(a.splits), static_cast<unsigned>(a.kv_heads), static_cast<unsigned>(a.batch)};
  decode_kernel<width, group><<<grid, block, 0, stream>>>(a);
  const cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess || a.splits == 1) {
    return status;
  }
  merge_kernel<width><<<static_cast<unsigned>(a.batch * a.heads), width, 0, stream>>>(a);
  return cudaGetLastError();
}

template <int width>
cudaError_t of_group(const DecodeArguments& a, cudaStream_t stream) {
  switch (a.heads / a.kv_heads) {
    case 1: return launched<width, 1>(a, stream);
    case 2: return launched<width, 2>(a, stream);
    case 4: return launched<width, 4>(a, stream);
    case 8: return launched<width, 8>(a, stream);
    default: return cudaErrorInvalidValue;
  }
}

}  // namespace

std::int64_t decode_splits(std::int64_t batch, std::int64_t kv_heads, std::int64_t context, std::int64_t sms) noexcept {
  constexpr std::int64_t shortest = 256;
  const std::int64_t ctas = batch * kv_heads;
  const std::int64_t wanted = (2 * sms + ctas - 1) / ctas;
  const std::int64_t possible = (context + shortest - 1) / shortest;
  std::int64_t splits = wanted < possible ? wanted : possible;
  splits = splits < most_decode_splits ? splits : most_decode_splits;
  return splits > 1 ? splits : 1;
}

cudaError_t decode(const DecodeArguments& a, cudaStream_t stream) {
  constexpr std::int64_t most_rows = 65535;  // limit of a grid in y and z
  if (a.kv_heads <= 0 || a.heads % a.kv_heads != 0 || a.kv_heads > most_rows || a.batch > most_rows || a.splits < 1 ||
      a.splits > most_decode_splits) {
    return cudaErrorInvalidValue;
  }
  switch (a.head_dim) {
    case 64: return of_group<64>(a, stream);
    case 128: return of_group<128>(a, stream);
    default: return cudaErrorInvalidValue;
  }
}

}  // namespace headroom::probes
