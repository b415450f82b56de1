// SPDX-License-Identifier: Apache-2.0
// Profiles of a model's ops, as simulators of serving publish them: rows state the sizes of the model, not those of the
// kernel.
#pragma once

#include <headroom/calibrate/kernels/kernel_rows.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Whether a header is that of a profile: a column "gpu" beside "op", or "fabric" beside "op".
[[nodiscard]] bool is_profile(const CsvReader& csv);

/// Whether a profile's name of a GPU, "a800_sxm", is that of the device `id`: the id, or its first words.
[[nodiscard]] bool names_device(std::string_view name, std::string_view id);

/// The rows of the device `id` as kernels, one file per kind, in the order of the kinds. Tables are those of Vidur
/// (Agrawal et al. 2024, section 4.1) and Frontier, of four kinds:
/// @code
/// products   model, op, quant, tokens, tp, hidden, ffn, heads, kv_heads, vocab, gated
/// attention  model, op, hidden, heads, kv_heads, tp, phase, batch, new_tokens, kv_len
/// experts    model, op, tokens, experts, experts_per_gpu, ep, tp, topk, hidden, inter, distribution, backend
/// network    fabric, op, gpus, devices_per_node, bytes, latency_us_max_rank
/// @endcode
/// all with latency_us (but for the network) and measurement, which becomes the version: "CUDA_EVENT" times the host's
/// call as well, others the kernels alone. Rows of other GPUs are left out; ops of several kernels, and those whose
/// sizes the table does not state, are counted in passed_over of the first file. Reports missing columns, bad cells and
/// a file without rows of the device.
[[nodiscard]] std::vector<KernelFile> read_profile_rows(CsvReader& csv, std::string_view id);

}  // namespace headroom
