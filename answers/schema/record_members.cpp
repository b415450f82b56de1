// SPDX-License-Identifier: Apache-2.0
// Calibrations, the catalog, and commands without an answer.
#include <headroom/answers/schema/answer_schema.hpp>

#include <array>

namespace headroom::answers {
namespace {

using T = MemberType;
using M = AnswerMember;

constexpr std::array harness{
    M{"schema", T::text, "name and version of this schema"},
    M{"cells", T::objects, "cells"},
    M{"cells/name", T::text, "name"},
    M{"cells/verdict", T::text, "expected, pass, fail or none"},
    M{"cells/suspect", T::text, "term of the step that is suspected"},
    M{"cells/why", T::text, "why"},
    M{"cells/expected_tokens_per_s_per_gpu", T::interval, "tokens expected, with their tolerance"},
    M{"cells/measured_tokens_per_s_per_gpu", T::number, "tokens measured"},
    M{"cells/problem", T::text, "why there is no expectation"},
};

constexpr std::array fit{
    M{"schema", T::text, "name and version of this schema"},
    M{"gpu", T::text, "id of the SKU"},
    M{"curves", T::objects, "curves"},
    M{"curves/kind", T::text, "kind"},
    M{"curves/engine", T::text, "serving engine, or library of the kernels"},
    M{"curves/version", T::text, "program that answered"},
    M{"curves/format", T::text, "number format"},
    M{"curves/kernel", T::text, "kernel"},
    M{"curves/routing", T::text, "routing"},
    M{"curves/rows", T::number, "rows"},
    M{"curves/probe_only", T::boolean, "whether shapes of the probe alone were fitted"},
    M{"curves/fitted", T::object, "errors on kernels that were fitted"},
    M{"curves/fitted/n", T::number, "columns, or number of rows"},
    M{"curves/fitted/mape", T::number, "mean absolute error, as a share"},
    M{"curves/fitted/median_ape", T::number, "median absolute error, as a share"},
    M{"curves/fitted/p90_ape", T::number, "90th percentile of the absolute error, as a share"},
    M{"curves/fitted/bias", T::number, "mean error, as a share"},
    M{"curves/held_out", T::object, "errors on kernels that were held out"},
    M{"curves/held_out/n", T::number, "columns, or number of rows"},
    M{"curves/held_out/mape", T::number, "mean absolute error, as a share"},
    M{"curves/held_out/median_ape", T::number, "median absolute error, as a share"},
    M{"curves/held_out/p90_ape", T::number, "90th percentile of the absolute error, as a share"},
    M{"curves/held_out/bias", T::number, "mean error, as a share"},
    M{"curves/outside", T::object, "errors on kernels outside the range of the fit"},
    M{"curves/outside/n", T::number, "columns, or number of rows"},
    M{"curves/outside/mape", T::number, "mean absolute error, as a share"},
    M{"curves/outside/median_ape", T::number, "median absolute error, as a share"},
    M{"curves/outside/p90_ape", T::number, "90th percentile of the absolute error, as a share"},
    M{"curves/outside/bias", T::number, "mean error, as a share"},
    M{"curves/parameters", T::objects, "parameters"},
    M{"curves/parameters/name", T::text, "name"},
    M{"curves/parameters/value", T::number, "the value"},
    M{"curves/parameters/log_deviation", T::number, "deviation of the logarithm"},
    M{"curves/parameters/from_prior", T::boolean, "whether it is the prior's"},
    M{"left_out", T::texts, "what was left out, and why"},
};

constexpr std::array overlay{
    M{"schema", T::text, "name and version of this schema"},
    M{"name", T::text, "name"},
    M{"id", T::text, "id"},
    M{"base", T::text, "id of the SKU it stands on"},
    M{"source", T::text, "where it comes from"},
    M{"curves", T::objects, "curves"},
    M{"curves/curve", T::text, "the curve"},
    M{"curves/samples", T::number, "number of samples"},
    M{"curves/mape", T::number, "mean absolute error, as a share"},
    M{"curves/median_ape", T::number, "median absolute error, as a share"},
    M{"curves/bias", T::number, "mean error, as a share"},
    M{"curves/mape_fitted", T::number, "the same of the samples that were fitted"},
    M{"curves/within_80", T::number, "relative error that 8 of 10 samples stayed within"},
    M{"curves/outliers", T::number, "outliers"},
    M{"curves/slower_than_base", T::number, "slower than the base, as a share"},
    M{"curves/beside", T::text, "the base beside which"},
    M{"curves/parameters", T::objects, "parameters"},
    M{"curves/parameters/name", T::text, "name"},
    M{"curves/parameters/unit", T::text, "unit of the numbers beside it"},
    M{"curves/parameters/value", T::number, "value, in the unit beside it"},
    M{"curves/parameters/from_prior", T::boolean, "whether it is the prior's"},
    M{"curves/parameters/deviation", T::number, "relative deviation"},
    M{"curves/rows", T::objects, "samples, measured and fitted"},
    M{"curves/rows/sample", T::text, "sample"},
    M{"curves/rows/measured_s", T::number, "time measured"},
    M{"curves/rows/fitted_s", T::number, "time fitted"},
    M{"curves/rows/error", T::number, "predicted over measured, less 1"},
    M{"curves/rows/held_out_error", T::number, "error of a curve that had not seen the sample's shape"},
    M{"facts", T::objects, "facts of the datasheet that were measured"},
    M{"facts/what", T::text, "what was measured"},
    M{"facts/measured", T::text, "what was measured"},
    M{"facts/base", T::text, "value of the base"},
    M{"facts/difference", T::number, "difference, as a share"},
    M{"left_out", T::texts, "what was left out, and why"},
    M{"manifest", T::object, "how it was measured"},
    M{"manifest/date", T::text, "date of the price"},
    M{"manifest/headroom", T::text, "program that measured"},
    M{"manifest/board", T::text, "board"},
    M{"manifest/conditions", T::objects, "conditions of the measurement"},
    M{"manifest/conditions/name", T::text, "name"},
    M{"manifest/conditions/value", T::text, "the value"},
    M{"manifest/digest", T::text, "digest of the conditions"},
    M{"manifest/precision", T::number, "number format of the training, or of the products"},
    M{"manifest/complete", T::boolean, "false: ended before everything was tried"},
    M{"manifest/unmet", T::texts, "conditions that were not met"},
};

constexpr std::array gate{
    M{"schema", T::text, "name and version of this schema"},
    M{"verdict", T::text, "whether it can be, or what it breaks"},
    M{"threshold", T::number, "bound of a regression"},
    M{"confidence", T::number, "confidence of the intervals"},
    M{"families", T::objects, "families of probes"},
    M{"families/name", T::text, "name"},
    M{"families/n_a", T::number, "spans of the first"},
    M{"families/n_b", T::number, "spans of the second"},
    M{"families/time_ratio", T::number, "time after over before"},
    M{"families/low", T::number, "low end"},
    M{"families/high", T::number, "high end"},
    M{"families/p", T::number, "probability of such a difference by chance"},
    M{"families/verdict", T::text, "whether it can be, or what it breaks"},
    M{"probes", T::objects, "probes"},
    M{"probes/name", T::text, "name"},
    M{"probes/n_a", T::number, "spans of the first"},
    M{"probes/n_b", T::number, "spans of the second"},
    M{"probes/time_ratio", T::number, "time after over before"},
    M{"probes/low", T::number, "low end"},
    M{"probes/high", T::number, "high end"},
    M{"probes/p", T::number, "probability of such a difference by chance"},
    M{"probes/verdict", T::text, "whether it can be, or what it breaks"},
};

constexpr std::array catalog{
    M{"schema", T::text, "name and version of this schema"},
    M{"version", T::text, "program that answered"},
    M{"gpus", T::objects, "SKUs"},
    M{"gpus/id", T::text, "id"},
    M{"gpus/name", T::text, "name"},
    M{"gpus/vendor", T::text, "vendor"},
    M{"gpus/generation", T::text, "generation"},
    M{"gpus/memory_bytes", T::number, "memory of a GPU"},
    M{"gpus/memory_bytes_per_s", T::number, "bandwidth of the memory"},
    M{"gpus/dense_flop_per_s", T::numbers, "peak rates without sparsity by number format"},
    M{"gpus/tdp_w", T::number, "power limit on the datasheet"},
    M{"gpus/scale_up_bytes_per_s", T::number, "links between GPUs, one direction"},
    M{"nodes", T::objects, "node types"},
    M{"nodes/id", T::text, "id"},
    M{"nodes/name", T::text, "name"},
    M{"nodes/gpu", T::text, "id of the SKU"},
    M{"nodes/gpus", T::number, "number of GPUs"},
    M{"nodes/scale_up_bytes_per_s", T::number, "links between GPUs, one direction"},
    M{"nodes/nics", T::number, "NICs"},
    M{"nodes/scale_out_bytes_per_s_per_gpu", T::number, "network of a GPU"},
    M{"clusters", T::objects, "clusters"},
    M{"clusters/id", T::text, "id"},
    M{"clusters/name", T::text, "name"},
    M{"clusters/node", T::text, "node type"},
    M{"clusters/transport", T::text, "transport"},
    M{"clusters/tiers", T::objects, "tiers"},
    M{"clusters/tiers/name", T::text, "name"},
    M{"clusters/tiers/nodes", T::number, "hosts"},
    M{"clusters/tiers/oversubscription", T::number, "oversubscription"},
    M{"prices", T::objects, "price lists"},
    M{"prices/id", T::text, "id"},
    M{"prices/provider", T::text, "provider"},
    M{"prices/date", T::text, "date of the price"},
    M{"prices/gpus", T::objects, "prices of GPUs"},
    M{"prices/gpus/gpu", T::text, "id of the SKU"},
    M{"prices/gpus/market", T::text, "on-demand, spot or reserved"},
    M{"prices/gpus/region", T::text, "class of regions"},
    M{"prices/gpus/price_usd_per_s_per_gpu", T::number, "price of a GPU"},
    M{"prices/storage", T::objects, "prices of stored data"},
    M{"prices/storage/service", T::text, "service"},
    M{"prices/storage/region", T::text, "class of regions"},
    M{"prices/storage/price_usd_per_s_per_byte", T::number, "price of a stored byte"},
    M{"prices/egress", T::objects, "prices of data that leaves"},
    M{"prices/egress/region", T::text, "class of regions"},
    M{"prices/egress/price_usd_per_byte", T::number, "price of a byte"},
    M{"architectures", T::objects, "architectures"},
    M{"architectures/id", T::text, "id"},
    M{"architectures/name", T::text, "name"},
    M{"architectures/vendor", T::text, "vendor"},
    M{"architectures/generation", T::text, "generation"},
    M{"architectures/warp_threads", T::number, "threads of a warp"},
    M{"architectures/warps_per_unit", T::number, "warps that a unit holds"},
    M{"architectures/blocks_per_unit", T::number, "blocks that a unit holds"},
    M{"architectures/registers_per_unit", T::number, "registers of a unit"},
    M{"architectures/shared_bytes_per_unit", T::number, "shared memory of a unit"},
    M{"architectures/shared_bytes_per_block", T::number, "most shared memory of a block"},
    M{"architectures/memory_latency_s", T::number, "latency of the memory"},
    M{"partitions", T::objects, "cards that can be cut into slices"},
    M{"partitions/id", T::text, "id of the card"},
    M{"partitions/scheme", T::text, "id of the scheme"},
    M{"partitions/kind", T::text, "mig, or modes of the whole card"},
    M{"partitions/compute_slices", T::number, "compute slices of the card"},
    M{"partitions/memory_slices", T::number, "memory slices of the card"},
    M{"partitions/profiles", T::objects, "forms of slice"},
    M{"partitions/profiles/id", T::text, "id of the slice"},
    M{"partitions/profiles/units", T::number, "SMs or compute units"},
    M{"partitions/profiles/memory_bytes", T::number, "memory of a slice"},
    M{"partitions/profiles/memory_bytes_per_s", T::number, "bandwidth of the memory"},
    M{"partitions/profiles/l2_bytes", T::number, "its part of the L2 cache"},
    M{"partitions/profiles/compute_slices", T::number, "compute slices"},
    M{"partitions/profiles/memory_slices", T::number, "memory slices"},
    M{"partitions/profiles/copy_engines", T::number, "copy engines"},
    M{"partitions/profiles/decoders", T::number, "video decoders"},
    M{"partitions/profiles/jpeg", T::number, "JPEG decoders"},
    M{"partitions/profiles/ofa", T::number, "optical flow accelerators"},
    M{"partitions/profiles/card_share", T::number, "part of the card: of compute or of memory, the larger one"},
    M{"partitions/profiles/most", T::number, "slices of the form on a card"},
    M{"partitions/profiles/starts", T::number_list, "memory slices at which it may begin"},
    M{"models", T::objects, "models"},
    M{"models/id", T::text, "id"},
    M{"models/name", T::text, "name"},
    M{"models/parameters", T::number, "parameters"},
    M{"models/layers", T::number, "layers"},
    M{"models/hidden", T::number, "width of a token"},
    M{"models/heads", T::number, "query heads"},
    M{"models/kv_heads", T::number, "heads of keys and values"},
    M{"models/vocab", T::number, "vocabulary"},
    M{"networks", T::objects, "networks of ops"},
    M{"networks/id", T::text, "id"},
    M{"networks/name", T::text, "name"},
    M{"networks/parameters", T::number, "parameters"},
    M{"networks/ops", T::number, "ops"},
    M{"networks/forward_flop_per_sample", T::number, "FLOP of the forward pass"},
    M{"networks/input_bytes_per_sample", T::number, "inputs"},
    M{"networks/parts", T::texts, "parts"},
    M{"engines", T::objects, "serving engines"},
    M{"engines/id", T::text, "id"},
    M{"software", T::objects, "training software"},
    M{"software/id", T::text, "id"},
    M{"formats", T::objects, "number formats"},
    M{"formats/id", T::text, "id"},
    M{"formats/bits", T::number, "bits"},
    M{"formats/exponent_bits", T::number, "bits of the exponent"},
    M{"formats/mantissa_bits", T::number, "bits of the mantissa"},
    M{"formats/largest", T::number, "largest number"},
    M{"formats/smallest_normal", T::number, "smallest normal number"},
    M{"formats/smallest_subnormal", T::number, "smallest number above zero"},
    M{"formats/epsilon", T::number, "distance from 1 to the next number"},
    M{"formats/source", T::text, "where it comes from"},
};

constexpr std::array entry{
    M{"schema", T::text, "name and version of this schema"},
    M{"version", T::text, "program that answered"},
    M{"id", T::text, "id"},
    M{"file", T::text, "file"},
    M{"values", T::objects, "every value, those of its bases among them"},
    M{"values/key", T::text, "key"},
    M{"values/value", T::any, "value as it is written"},
    M{"values/source", T::text, "where it comes from"},
    M{"values/file", T::text, "file"},
    M{"partitions", T::objects, "of a card that can be cut: forms of slice"},
    M{"partitions/id", T::text, "id of the slice"},
    M{"partitions/units", T::number, "SMs or compute units"},
    M{"partitions/memory_bytes", T::number, "memory of a slice"},
    M{"partitions/memory_bytes_per_s", T::number, "bandwidth of the memory"},
    M{"partitions/l2_bytes", T::number, "its part of the L2 cache"},
    M{"partitions/compute_slices", T::number, "compute slices"},
    M{"partitions/memory_slices", T::number, "memory slices"},
    M{"partitions/copy_engines", T::number, "copy engines"},
    M{"partitions/decoders", T::number, "video decoders"},
    M{"partitions/jpeg", T::number, "JPEG decoders"},
    M{"partitions/ofa", T::number, "optical flow accelerators"},
    M{"partitions/card_share", T::number, "part of the card: of compute or of memory, the larger one"},
    M{"partitions/most", T::number, "slices of the form on a card"},
    M{"partitions/starts", T::number_list, "memory slices at which it may begin"},
};

constexpr std::array diff{
    M{"schema", T::text, "name and version of this schema"},
    M{"version", T::text, "program that answered"},
    M{"a", T::text, "id of the first entry"},
    M{"b", T::text, "id of the second entry"},
    M{"values", T::objects, "keys that differ"},
    M{"values/key", T::text, "key"},
    M{"values/a", T::any, "value of the first entry"},
    M{"values/b", T::any, "value of the second entry"},
};

constexpr std::array lint{
    M{"schema", T::text, "name and version of this schema"},
    M{"version", T::text, "program that answered"},
    M{"checks", T::number, "checks"},
    M{"failures", T::number, "findings that are not excused"},
    M{"excused", T::number, "findings that are excused, or the reason"},
    M{"findings", T::objects, "findings"},
    M{"findings/check", T::text, "check"},
    M{"findings/file", T::text, "file"},
    M{"findings/line", T::number, "line, from 1"},
    M{"findings/column", T::number, "column, from 1"},
    M{"findings/message", T::text, "the problem and the way out"},
    M{"findings/excused", T::text, "findings that are excused, or the reason"},
};

constexpr std::array error{
    M{"schema", T::text, "name and version of this schema"},
    M{"version", T::text, "program that answered"},
    M{"exit_code", T::number, "exit code of the command"},
    M{"errors", T::objects, "every problem"},
    M{"errors/code", T::text, "usage, input, missing_key, no_answer, no_device, interrupted, limit or internal"},
    M{"errors/path", T::text, "JSON pointer of the member of a request"},
    M{"errors/file", T::text, "file, or the command's part, that it is in"},
    M{"errors/line", T::number, "line, from 1"},
    M{"errors/column", T::number, "column, from 1"},
    M{"errors/key", T::text, "key that is missing"},
    M{"errors/message", T::text, "the problem and the way out"},
    M{"untold", T::number, "problems beyond those told"},
};

}  // namespace

std::span<const AnswerMember> harness_members() noexcept {
  return harness;
}
std::span<const AnswerMember> fit_members() noexcept {
  return fit;
}
std::span<const AnswerMember> overlay_members() noexcept {
  return overlay;
}
std::span<const AnswerMember> gate_members() noexcept {
  return gate;
}
std::span<const AnswerMember> catalog_members() noexcept {
  return catalog;
}
std::span<const AnswerMember> entry_members() noexcept {
  return entry;
}
std::span<const AnswerMember> diff_members() noexcept {
  return diff;
}
std::span<const AnswerMember> lint_members() noexcept {
  return lint;
}
std::span<const AnswerMember> error_members() noexcept {
  return error;
}

}  // namespace headroom::answers
