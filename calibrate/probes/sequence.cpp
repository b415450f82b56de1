// SPDX-License-Identifier: Apache-2.0
// Several kernels one after another in one stream, as a layer runs them: each checked alone, then timed as one.
#include <headroom/calibrate/probes/prepared.hpp>

#include <span>
#include <string>
#include <vector>

namespace headroom::probes {
namespace {

struct Part {
  Prepared kernel;
  std::int64_t count = 1;
};

Part prepared(const Session& session, const Request& request) {
  if (request.count <= 0) {
    throw Refused{"a part of a sequence must run at least once"};
  }
  switch (request.kind) {
    case Kind::gemm: return {prepared_gemm(session, request), request.count};
    case Kind::attention: return {prepared_attention(session, request), request.count};
    case Kind::decode: return {prepared_decode(session, request), request.count};
    default: break;
  }
  throw Refused{"a sequence consists of products, attentions and decodes"};
}

}  // namespace

Result measure_sequence(const Session& session, const Request& request) {
  if (request.parts == nullptr || request.parts_count <= 0) {
    throw Refused{"a sequence must have parts"};
  }
  std::vector<Part> parts;
  for (const Request& part : std::span{request.parts, static_cast<std::size_t>(request.parts_count)}) {
    parts.push_back(prepared(session, part));
  }
  const Enqueue one = [&](std::int64_t i, cudaStream_t stream) {
    for (const Part& part : parts) {
      for (std::int64_t c = 0; c < part.count; ++c) {
        part.kernel.enqueue((i * part.count) + c, stream);
      }
    }
  };
  Request timed = request;
  timed.copies = 1;
  Result result = replayed_or_streamed_spans(session.stream, timed, one);
  for (const Part& part : parts) {
    result.algorithms += part.kernel.algorithms;
  }
  return result;
}

}  // namespace headroom::probes
