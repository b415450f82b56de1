// SPDX-License-Identifier: Apache-2.0
// Attention, decode, passes and transfers: names, bytes, sets, files, and what the simulated device makes of them.
#include <headroom/calibrate/kernels/kernel_rows.hpp>
#include <headroom/calibrate/overlay/overlay.hpp>
#include <headroom/calibrate/probe/probed_layer.hpp>
#include <headroom/calibrate/samples/probe_plan.hpp>
#include <headroom/calibrate/samples/probe_shapes.hpp>
#include <headroom/calibrate/samples/timing_check.hpp>
#include <headroom/model/kernels/curve_library.hpp>

#include <doctest/doctest.h>

#include "../support/model_data.hpp"
#include "../support/says.hpp"
#include "simulated.hpp"
#include <algorithm>
#include <set>
#include <sstream>

using namespace headroom;
using namespace headroom::test;

namespace {

const Device& h200() {
  static const Catalog catalog = Catalog::standard();
  return catalog.device("h200-sxm-141gb");
}

ProbeDevice hopper(std::int64_t peers = 0) {
  ProbeDevice device = simulated().facts;
  device.peers = peers;
  return device;
}

ProbeChoice others() {
  ProbeChoice choice = ProbeChoice::none();
  choice.attention = choice.decode = choice.memory = choice.transfer = true;
  return choice;
}

std::set<std::string> names_of(const std::vector<Probe>& probes) {
  std::set<std::string> names;
  for (const Probe& probe : probes) {
    names.insert(name_of(probe));
  }
  return names;
}

std::string complaints(const std::string& text, bool transfers) {
  std::istringstream stream{text};
  Diagnostics diagnostics;
  CsvReader csv{stream, "rows.csv", diagnostics};
  transfers ? static_cast<void>(read_transfer_rows(csv)) : static_cast<void>(read_pass_rows(csv));
  std::string all;
  for (const Diagnostic& diagnostic : diagnostics.sorted()) {
    all += diagnostic.text() + "\n";
  }
  return all;
}

Sample sample_of(const Probe& probe, double micros) {
  Sample sample;
  sample.probe = probe;
  sample.latency = Seconds{micros * 1e-6};
  return sample;
}

}  // namespace

TEST_CASE("every kind has a name that tells its shapes apart") {
  CHECK(name_of(Probe{AttentionProbe{true, 4, 4096, 32, 8, 128, true, 1}}) ==
        "attention backward causal 4x4096 32/8x128");
  CHECK(name_of(Probe{AttentionProbe{false, 4, 4096, 32, 8, 128, false, 1}}) ==
        "attention forward full 4x4096 32/8x128");
  CHECK(name_of(Probe{DecodeProbe{64, 4096, 32, 8, 128, 1}}) == "decode 64x4096 32/8x128");
  CHECK(name_of(Probe{PassProbe{PassOp::gather, 65536, 256, 1}}) == "gather 65536 B by 256");
  CHECK(name_of(Probe{PassProbe{PassOp::fused, 65536, 0, 1}}) == "fused 65536 B");
  CHECK(name_of(Probe{TransferProbe{TransferOp::d2h_pageable, 4096, 1}}) == "d2h_pageable 4096 B");
  ProbeChoice full = others();
  full.full = true;
  const std::vector<Probe> probes = chosen_kinds(hopper(1), full);
  CHECK(names_of(probes).size() == probes.size());
}

TEST_CASE("passes move what their equations say") {
  const auto moved = [](PassOp op, std::int64_t width) { return PassProbe{op, 1 << 20, width, 1}.moved(); };
  CHECK(moved(PassOp::read, 0) == (1 << 20) + 64 * 4);  // a sum of each 16 KiB
  CHECK(moved(PassOp::write, 0) == 1 << 20);
  CHECK(moved(PassOp::strided, 128) == (1 << 18) + 16 * 4);   // 32 bytes of each 128
  CHECK(moved(PassOp::gather, 256) == (2 << 20) + 4096 * 8);  // rows in and out, an index each
  CHECK(moved(PassOp::reduce, 1024) == (1 << 20) + 1024 * 4);
  CHECK(moved(PassOp::chain, 0) == 8 << 20);  // four kernels, in and out
  CHECK(moved(PassOp::fused, 0) == 2 << 20);
  CHECK(TransferProbe{TransferOp::both_pinned, 100, 1}.crossed() == 200);
  CHECK(TransferProbe{TransferOp::h2d_pinned, 100, 1}.crossed() == 100);
  CHECK(DecodeProbe{2, 100, 32, 8, 128, 1}.cache_bytes() == 2LL * 2 * 112 * 8 * 128 * 2);  // seven pages of 16
  const AttentionProbe forward{false, 1, 1024, 16, 16, 128, false, 1};
  CHECK(forward.flops().raw() == 4.0 * 16 * 1024 * 1024 * 128);
  AttentionProbe backward = forward;
  backward.backward = backward.causal = true;
  CHECK(backward.flops().raw() == doctest::Approx(forward.flops().raw() * 2.5 / 2));
}

TEST_CASE("the full set holds the standard one, and that the quick one, and what is rotated exceeds twice the L2") {
  const auto chosen = [](bool quick, bool full) {
    ProbeChoice choice = others();
    choice.quick = quick;
    choice.full = full;
    return chosen_kinds(hopper(), choice);
  };
  const std::set<std::string> quick = names_of(chosen(true, false));
  const std::set<std::string> standard = names_of(chosen(false, false));
  const std::set<std::string> full = names_of(chosen(false, true));
  CHECK(std::includes(full.begin(), full.end(), standard.begin(), standard.end()));
  CHECK(std::includes(standard.begin(), standard.end(), quick.begin(), quick.end()) == false);  // other lengths
  CHECK(std::includes(full.begin(), full.end(), quick.begin(), quick.end()));
  CHECK(quick.size() < standard.size());
  CHECK(standard.size() < 110);  // at two seconds each below four minutes
  for (const Probe& probe : chosen(false, true)) {
    if (const auto* pass = std::get_if<PassProbe>(&probe)) {
      const std::int64_t touched = pass->op == PassOp::strided ? pass->read() : pass->set_bytes();
      CHECK(static_cast<double>(pass->copies * touched) > 2.0 * hopper().l2.raw());
    } else if (const auto* decode = std::get_if<DecodeProbe>(&probe)) {
      CHECK(static_cast<double>(decode->copies * decode->cache_bytes()) > 2.0 * hopper().l2.raw());
    }
  }
}

TEST_CASE("peer copies are planned where a device has a peer, and nothing that does not fit is") {
  const auto has_peer = [](std::int64_t peers) {
    const std::vector<Probe> probes = chosen_kinds(hopper(peers), others());
    return std::any_of(probes.begin(), probes.end(), [](const Probe& probe) {
      const auto* transfer = std::get_if<TransferProbe>(&probe);
      return transfer != nullptr && is_peer(transfer->op);
    });
  };
  CHECK(has_peer(1));
  CHECK_FALSE(has_peer(0));
  ProbeDevice small = hopper();
  small.free_memory = Bytes{2.0 * 0x1p30};
  const ProbePlan plan = plan_probes(small, others());
  CHECK(!plan.skipped.empty());
  for (const Probe& probe : plan.probes) {
    CHECK(memory_of(probe) <= small.free_memory);
  }
}

TEST_CASE("attention and decode samples are files of measured kernels, and passes and transfers read back") {
  const std::vector<Sample> samples{sample_of(AttentionProbe{true, 4, 4096, 32, 8, 128, true, 1}, 812.25),
                                    sample_of(DecodeProbe{64, 4096, 32, 8, 128, 1}, 312.5),
                                    sample_of(PassProbe{PassOp::gather, 65536, 256, 7}, 5.25),
                                    sample_of(TransferProbe{TransferOp::both_pinned, 4096, 7}, 9.5)};
  const std::vector<FolderFile> files = sample_files(samples, {"13.1.0", "9.19.0", "0.1.0"});
  const auto file = [&](const std::string& name) {
    const auto at = std::find_if(files.begin(), files.end(), [&](const FolderFile& f) { return f.first == name; });
    REQUIRE(at != files.end());
    return at->second;
  };
  Diagnostics diagnostics;
  const auto kernels = [&](const std::string& name) {
    std::istringstream stream{file(name)};
    return read_kernel_rows(stream, "folder/" + name, std::nullopt, diagnostics);
  };
  const KernelFile training = kernels("attention_training.csv");
  const KernelFile decode = kernels("attention_decode.csv");
  CHECK(diagnostics.empty());
  CHECK(training.kind == KernelKind::training_attention);
  REQUIRE(training.rows.size() == 1);
  CHECK(training.rows[0].engine == "cudnn");
  CHECK(training.rows[0].version == "9.19.0");
  CHECK(training.rows[0].variant == "backward");
  CHECK(training.rows[0].shape == std::array<double, 7>{4, 4096, 32, 8, 128, 1, 0});
  CHECK(training.rows[0].latency.raw() * 1e6 == doctest::Approx(812.25));
  CHECK(decode.kind == KernelKind::decode);
  REQUIRE(decode.rows.size() == 1);
  CHECK(decode.rows[0].engine == "headroom");
  CHECK(decode.rows[0].shape == std::array<double, 7>{64, 4096, 32, 8, 128, 0, 0});
  CHECK(file("memory.csv") == "op,array_bytes,width,bytes,latency_us\ngather,65536,256,133120,5.25\n");
  CHECK(complaints(file("memory.csv"), false).empty());
  CHECK(file("transfer.csv") == "op,bytes,latency_us\nboth_pinned,8192,9.5\n");
  CHECK(complaints(file("transfer.csv"), true).empty());
  CHECK(says(file("details.csv"), "gather 65536 B by 256,5.25,0,0,0,0,7,0,"));
}

TEST_CASE("an op that is none and bytes that no such pass moves are told with their place") {
  const std::string header = "op,array_bytes,width,bytes,latency_us\n";
  CHECK(says(complaints(header + "gahter,65536,256,133120,5\n", false), "did you mean 'gather'"));
  CHECK(says(complaints(header + "write,65536,0,65535,5\n", false),
             "rows.csv:2:15: error: 'bytes' is 65535; this pass moves 65536"));
  CHECK(says(complaints("op,bytes,latency_us\nh2d,8,1\n", true), "rows.csv:2:1: error: 'op' is 'h2d'"));
}

TEST_CASE("the simulated device takes as long as the equations and its constants say") {
  const auto prober =
      simulated_prober("[transfer]\npinned = \"50 GB/s\"\npageable = \"10 GB/s\"\nlatency = \"8 us\"\n");
  const auto micros = [&](const Probe& probe) {
    const Measurement measured = prober->measure(probe, {});
    REQUIRE(std::holds_alternative<Sample>(measured));
    return std::get<Sample>(measured).latency.raw() * 1e6;
  };
  const double giga = 0x1p30;
  const double each = 2.1 + giga / (0.9 * 4.8e12) * 1e6;  // launch and 90 % of the datasheet's bandwidth
  // All SMs draw from memory by then, so that the cube root adds next to nothing.
  CHECK(micros(PassProbe{PassOp::write, 1 << 30, 0, 1}) == doctest::Approx(each).epsilon(0.02));
  CHECK(micros(PassProbe{PassOp::fused, 1 << 30, 0, 1}) == doctest::Approx(2 * each).epsilon(0.02));
  CHECK(micros(PassProbe{PassOp::chain, 1 << 30, 0, 1}) == doctest::Approx(8 * each).epsilon(0.02));
  CHECK(micros(TransferProbe{TransferOp::h2d_pinned, 1000000000, 1}) == doctest::Approx(8 + 20000));
  CHECK(micros(TransferProbe{TransferOp::both_pinned, 1000000000, 1}) == doctest::Approx(8 + 20000));
  CHECK(micros(TransferProbe{TransferOp::d2h_pageable, 1000000000, 1}) == doctest::Approx(8 + 100000));
  CHECK(std::holds_alternative<Skipped>(prober->measure(TransferProbe{TransferOp::peer, 4096, 1}, {})));
  const AttentionProbe attention{false, 8, 2048, 32, 8, 128, true, 1};
  CHECK(micros(attention) > (attention.flops() / h200().peak_of(Rate::bf16)).raw() * 1e6);
  const DecodeProbe decode{64, 32768, 32, 8, 128, 1};
  CHECK(micros(decode) > static_cast<double>(decode.cache_bytes()) / 4.8e12 * 1e6);
  CHECK(micros(LaunchProbe{LaunchOp::sync, 1}) == doctest::Approx(2.3 + 1.9));
  CHECK(micros(LaunchProbe{LaunchOp::rate, 512}) == doctest::Approx(1.3));
}

TEST_CASE("a layer is its products and attention, as often as its experts, in the order of its pass") {
  const auto products = [](ProbedPass pass, std::int64_t tokens) {
    std::string text;
    for (const ProbedKernel& kernel : kernels_of({pass, tokens})) {
      text += std::to_string(kernel.count) + " " + name_of(kernel.probe) + ", ";
    }
    return text;
  };
  CHECK(products(ProbedPass::dense_forward, 8192) ==
        "1 gemm bf16 8192x6144x4096, 1 attention forward causal 2x4096 32/8x128, 1 gemm bf16 8192x4096x4096, "
        "1 gemm bf16 8192x28672x4096, 1 gemm bf16 8192x4096x14336, ");
  CHECK(products(ProbedPass::dense_backward, 8192) ==
        "1 gemm bf16 8192x14336x4096, 1 gemm bf16 4096x14336x8192, 1 gemm bf16 8192x4096x28672, "
        "1 gemm bf16 28672x4096x8192, 1 gemm bf16 8192x4096x4096, 1 gemm bf16 4096x4096x8192, "
        "1 attention backward causal 2x4096 32/8x128, 1 gemm bf16 8192x4096x6144, 1 gemm bf16 6144x4096x8192, ");
  CHECK(products(ProbedPass::experts_forward, 8192) ==
        "1 gemm bf16 8192x5120x2048, 1 attention forward causal 2x4096 32/4x128, 1 gemm bf16 8192x2048x4096, "
        "128 gemm bf16 512x1536x2048, 128 gemm bf16 512x2048x768, ");
  CHECK(products(ProbedPass::experts_decode, 1) ==
        "1 gemm bf16 1x5120x2048, 1 decode 1x4096 32/4x128, 1 gemm bf16 1x2048x4096, 8 gemm bf16 1x1536x2048, "
        "8 gemm bf16 1x2048x768, ");
  // 2 FLOP a weight and token of 218.1 million weights, and the causal half of the scores.
  const Flops forward = flops_of({ProbedPass::dense_forward, 8192});
  CHECK(forward.raw() == doctest::Approx(2.0 * 8192 * 218103808 + 4.0 * 2 * 32 * 4096 * 4096 * 128 / 2));
  CHECK(flops_of({ProbedPass::dense_backward, 8192}).raw() > 2.0 * forward.raw());
  CHECK(read_bytes_of({ProbedPass::dense_decode, 64}).raw() ==
        doctest::Approx(2.0 * 218103808 + 2.0 * 2 * 64 * 4096 * 8 * 128));
  CHECK(layer_probes().size() == 8);
  for (const LayerProbe& layer : layer_probes()) {
    CAPTURE(name_of(Probe{layer}));
    CHECK(memory_of(Probe{layer}) < Bytes{0x1p34});  // fits every GPU that probes run on
    for (const ProbedKernel& kernel : kernels_of(layer)) {
      if (const auto* gemm = std::get_if<GemmProbe>(&kernel.probe)) {
        CHECK(gemm->copies * operand_bytes(gemm->type, gemm->n * gemm->k) >= std::int64_t{1} << 29);
        CHECK(gemm->copies >= kernel.count);
      }
    }
  }
  CHECK(too_fast(sample_of(LayerProbe{ProbedPass::dense_forward, 8192}, 3500.0), h200()).has_value());
  CHECK_FALSE(too_fast(sample_of(LayerProbe{ProbedPass::dense_forward, 8192}, 5000.0), h200()));
  CHECK(too_fast(sample_of(LayerProbe{ProbedPass::dense_decode, 1}, 80.0), h200()).has_value());
}

TEST_CASE("layers cross a file, and an unknown one is named") {
  const std::vector<Sample> samples{sample_of(LayerProbe{ProbedPass::experts_backward, 8192}, 9876.5)};
  const SampleRows rows = rows_of(samples, {"13.1.0"});
  const std::string text = csv_of(rows.layer);
  CHECK(text == "op,tokens,latency_us\nexperts_backward,8192,9876.5\n");
  const auto read = [](const std::string& file, std::string& problems) {
    std::istringstream stream{file};
    Diagnostics diagnostics;
    CsvReader csv{stream, "layers.csv", diagnostics};
    std::vector<LayerRow> back = read_layer_rows(csv);
    for (const Diagnostic& diagnostic : diagnostics.sorted()) {
      problems += diagnostic.text();
    }
    return back;
  };
  std::string problems;
  const std::vector<LayerRow> back = read(text, problems);
  REQUIRE(back.size() == 1);
  CHECK(back.front().probe.op == ProbedPass::experts_backward);
  CHECK(back.front().probe.tokens == 8192);
  CHECK(problems.empty());
  CHECK(read("op,tokens,latency_us\nsparse_forward,1,2\n", problems).empty());
  CHECK(says(problems, "'op' is 'sparse_forward'"));
}

TEST_CASE("attention faster than the peak and passes faster than the memory are not believed") {
  const Device& device = h200();
  const AttentionProbe attention{false, 8, 2048, 32, 32, 128, false, 1};  // 0.55 TFLOP: 556 us at 989 TFLOP/s
  CHECK(too_fast(sample_of(attention, 500.0), device).has_value());
  CHECK_FALSE(too_fast(sample_of(attention, 600.0), device));
  const PassProbe write{PassOp::write, std::int64_t{1} << 32, 0, 1};  // 4 GiB at 4.8 TB/s: 0.89 ms
  CHECK(too_fast(sample_of(write, 700.0), device).has_value());
  CHECK_FALSE(too_fast(sample_of(write, 1000.0), device));
  CHECK(does_not_grow(std::vector<Sample>{sample_of(PassProbe{PassOp::write, 4096, 0, 1}, 5.0),
                                          sample_of(PassProbe{PassOp::write, std::int64_t{1} << 33, 0, 1}, 5.0)})
            .has_value());
}

TEST_CASE("a fit takes attention and reductions, and says what it kept and did not use") {
  SimulatedDevice device = simulated();
  device.copy[static_cast<std::size_t>(MemoryParameter::block)] = 4e-7;
  const auto slower = std::make_shared<SimulatedProber>(device, Seconds{});
  ProbeChoice choice = others();
  choice.copy = true;
  const ScratchFolder scratch;
  Calibration calibration;
  for (const Probe& probe : plan_probes(slower->device(), choice).probes) {
    const Measurement measured = slower->measure(probe, {});
    if (const auto* sample = std::get_if<Sample>(&measured)) {
      ProbeTiming timing;
      timing.sample = *sample;
      timing.counted = 1;
      calibration.probes.push_back(timing);
    }
  }
  const SampleSet set = sample_set_of(calibration, *slower, scratch.path().string());
  const Overlay overlay = make_overlay(test::model_data(), set, h200(), nullptr, "h200-sxm-141gb");
  REQUIRE(overlay.curves.size() == 2);  // attention of training and copies; decode has better ones in the base
  CHECK(overlay.curves[0].fitted.group.engine == "cudnn");
  CHECK(overlay.curves[0].fitted.judged().median < 0.02);
  const FittedGroup& memory = overlay.curves[1].fitted;
  const std::vector<std::string>& samples = overlay.curves[1].samples;  // named in the problem's order
  REQUIRE(samples.size() == memory.problem.measured.size());
  const auto reductions = std::count_if(set.passes.begin(), set.passes.end(),
                                        [](const PassRow& row) { return row.probe.op == PassOp::reduce; });
  REQUIRE(reductions > 0);
  CHECK(says(samples.front(), "copy, "));
  CHECK(says(samples[samples.size() - static_cast<std::size_t>(reductions)], "reduce "));
  CHECK(says(samples[samples.size() - static_cast<std::size_t>(reductions) - 1], "copy, "));
  const auto block = static_cast<std::size_t>(MemoryParameter::block);
  CHECK(memory.fit.result.parameters[block].value * 1e7 == doctest::Approx(4.0).epsilon(0.1));
  const auto told = [&](const char* part) {
    return std::any_of(overlay.remarks.begin(), overlay.remarks.end(), [&](const auto& r) { return says(r, part); });
  };
  CHECK(told("decode attention: h200-sxm-141gb has curves of the kernels that engines run"));
  CHECK(told("the other ops are told beside the datasheet, not fitted"));
  const auto fact = std::find_if(overlay.facts.begin(), overlay.facts.end(),
                                 [](const OverlayFact& f) { return f.what == "memory bandwidth, write"; });
  REQUIRE(fact != overlay.facts.end());
  CHECK(fact->difference.value() == doctest::Approx(-0.10).epsilon(0.1));
  CurveSet curves;
  {
    Diagnostics diagnostics;
    curves = read_curve_set(parse_toml(overlay.curves_toml, "curves.toml"), "curves.toml", diagnostics);
    CHECK(diagnostics.empty());
  }
  // With no published kernels beside it, training takes what was measured.
  CHECK(newest_training_attention(curves).name == "cudnn");
}
