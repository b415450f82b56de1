// SPDX-License-Identifier: Apache-2.0
// GEMM by cuBLASLt: finds the fastest of the heuristic's algorithms, then measures it.
#include <headroom/calibrate/probes/gemm_problem.hpp>
#include <headroom/calibrate/probes/prepared.hpp>

#include <algorithm>
#include <limits>
#include <memory>

namespace headroom::probes {
namespace {

struct Choice {
  cublasLtMatmulAlgo_t algorithm{};
  double seconds = std::numeric_limits<double>::infinity();
  std::int64_t timed = 0;
};

Enqueue with(const GemmProblem& problem, const cublasLtMatmulAlgo_t& algorithm) {
  return [&problem, &algorithm](std::int64_t i, cudaStream_t stream) { problem.enqueue(algorithm, i, stream); };
}

/// Seconds of one product, precise enough to choose an algorithm.
double trial_seconds(const Session& session, const GemmProblem& problem, const cublasLtMatmulAlgo_t& algorithm) {
  constexpr double span = 0.5e-3;
  constexpr std::int64_t most_launches = 256;
  constexpr std::int64_t repeats = 3;
  const Enqueue one = with(problem, algorithm);
  const std::int64_t launches = std::min(launches_for(span, rough_seconds(session.stream, one), 1), most_launches);
  const Replay replay{session.stream, launches, one};
  return median(time_spans(session.stream, replay, repeats));
}

Choice fastest(const Session& session, const GemmProblem& problem, std::int64_t most) {
  Choice best;
  std::string last_refusal;
  for (const cublasLtMatmulAlgo_t& algorithm : problem.algorithms(most)) {
    try {
      const double seconds = trial_seconds(session, problem, algorithm);
      ++best.timed;
      if (seconds < best.seconds) {
        best.seconds = seconds;
        best.algorithm = algorithm;
      }
    } catch (const Refused& refusal) {
      // The heuristic sometimes proposes algorithms that the launch refuses; the others still count. A lost device is
      // detected at the end.
      last_refusal = refusal.what();
      cudaGetLastError();
    }
  }
  if (best.timed == 0) {
    throw Refused{"every proposed algorithm was refused; the last: " + last_refusal};
  }
  return best;
}

}  // namespace

Prepared prepared_gemm(const Session& session, const Request& request) {
  const auto problem = std::make_shared<const GemmProblem>(session, request);
  const Choice best = fastest(session, *problem, request.algorithms);
  problem->verify(best.algorithm);
  return {[problem, algorithm = best.algorithm](std::int64_t i, cudaStream_t stream) {
            problem->enqueue(algorithm, i, stream);
          },
          best.timed, best.seconds};
}

Result measure_gemm(const Session& session, const Request& request) {
  const Prepared product = prepared_gemm(session, request);
  const bool sustained = request.sustained_seconds > 0.0;
  constexpr double sustained_span = 50e-3;
  const double span = sustained ? sustained_span : request.span_seconds;
  const Replay replay{session.stream, launches_for(span, product.seconds, request.copies), product.enqueue};
  Result result = sustained ? sustained_summary(time_sustained(session.stream, replay, request.sustained_seconds),
                                                replay.launches())
                            : summary(time_spans(session.stream, replay, request.repeats), replay.launches());
  result.algorithms = product.algorithms;
  return result;
}

}  // namespace headroom::probes
