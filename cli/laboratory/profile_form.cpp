// SPDX-License-Identifier: Apache-2.0
// `headroom kernel profile`: what a profiler's counters say of a kernel, and what its time and its stalls become when
// each of them is put right.
#include <headroom/calibrate/import/kernel_profile.hpp>
#include <headroom/cli/laboratory/kernel_form.hpp>
#include <headroom/cli/laboratory/memory_bench.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/input_file.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/model/kernels/roofline.hpp>
#include <headroom/model/laboratory/profiled_kernel.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace headroom::cli {
namespace {

struct ProfileAsked {
  KernelProfiles profiles;
  std::string file;
  double element = 4.0;
};

/// What warps of a stall wait for (Nsight Compute documentation, warp stall reasons), in our words.
struct StallMeaning {
  std::string_view reason, meaning;
};
constexpr std::array stall_meanings{
    StallMeaning{"long_scoreboard", "data from L1, L2 or memory"},
    StallMeaning{"lg_throttle", "the queue of loads and stores to global memory, too many or uncoalesced"},
    StallMeaning{"drain", "stores to leave before the warp ends"},
    StallMeaning{"short_scoreboard", "shared memory and special functions"},
    StallMeaning{"mio_throttle", "the queue of shared memory and special functions"},
    StallMeaning{"tex_throttle", "the queue of the texture unit"},
    StallMeaning{"barrier", "other warps of the block at a barrier"},
    StallMeaning{"membar", "a memory fence"},
    StallMeaning{"math_pipe_throttle", "an arithmetic pipe that other warps use"},
    StallMeaning{"wait", "a fixed latency of the instruction before"},
    StallMeaning{"no_instruction", "an instruction to be fetched; jumps, or code beyond the cache"},
    StallMeaning{"no_instructions", "an instruction to be fetched; jumps, or code beyond the cache"},
    StallMeaning{"imc_miss", "a constant to be fetched"},
    StallMeaning{"imc", "a constant to be fetched"},
    StallMeaning{"branch_resolving", "a jump's target"},
    StallMeaning{"dispatch_stall", "the dispatcher"},
    StallMeaning{"sleeping", "itself, asleep"},
    StallMeaning{"selected", "nothing: it issues"},
    StallMeaning{"not_selected", "its turn, for another warp issues"},
};

std::string_view meaning_of(std::string_view reason) {
  const auto* const found = std::find_if(stall_meanings.begin(), stall_meanings.end(),
                                         [&](const StallMeaning& m) { return m.reason == reason; });
  return found == stall_meanings.end() ? std::string_view{"what its name says"} : found->meaning;
}

std::string profile_change(ProfileCure cure) {
  switch (cure) {
    case ProfileCure::coalesce: return "coalesced accesses: neighbours read neighbours";
    case ProfileCure::banks: return "shared memory without bank conflicts: pad or swizzle";
    case ProfileCure::converge: return "threads sorted or compacted by path";
    case ProfileCure::in_flight: return "two loads in flight: unroll, prefetch, cp.async";
    case ProfileCure::occupancy: return "more warps resident: fewer registers or less shared memory a block";
    case ProfileCure::barriers: return "fewer barriers: smaller blocks, warp primitives, named barriers";
    case ProfileCure::fewer_bytes: return "half the bytes: fused with a neighbour, or a narrower format";
    case ProfileCure::tensor: return "products on the tensor path";
  }
  return {};
}

/// The same as the subject of a sentence.
std::string_view profile_subject(ProfileCure cure) {
  switch (cure) {
    case ProfileCure::coalesce: return "coalesced accesses";
    case ProfileCure::banks: return "shared memory without bank conflicts";
    case ProfileCure::converge: return "threads sorted by path";
    case ProfileCure::in_flight: return "two loads in flight";
    case ProfileCure::occupancy: return "more resident warps";
    case ProfileCure::barriers: return "fewer barriers";
    case ProfileCure::fewer_bytes: return "half the bytes";
    case ProfileCure::tensor: return "the tensor path";
  }
  return {};
}

std::string profile_because(const CuredProfile& cure, const ProfileState& state) {
  switch (cure.cure) {
    case ProfileCure::coalesce: return percent(*state.sector_use) + " of the fetched sectors is used";
    case ProfileCure::banks: return "conflicts take " + percent(*state.conflict_share) + " of shared memory's cycles";
    case ProfileCure::converge: return percent(*state.active_share) + " of a warp's threads are active";
    case ProfileCure::in_flight: return "half the wait for data; no unit is near its peak";
    case ProfileCure::occupancy: return percent(*state.occupancy) + " of the warps are resident";
    case ProfileCure::barriers: return "at best, for warps that no barrier holds";
    case ProfileCure::fewer_bytes: return "the memory holds it up";
    case ProfileCure::tensor: return "its arithmetic runs on vector units";
  }
  return {};
}

/// Metrics that tell whether a cure worked.
std::string_view remeasured(ProfileCure cure) {
  switch (cure) {
    case ProfileCure::coalesce:
      return "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio, dram__bytes.sum, "
             "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio";
    case ProfileCure::banks:
      return "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum, "
             "smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio";
    case ProfileCure::converge: return "smsp__thread_inst_executed_per_inst_executed.ratio";
    case ProfileCure::in_flight:
    case ProfileCure::occupancy:
      return "dram__throughput.avg.pct_of_peak_sustained_elapsed, sm__warps_active.avg.pct_of_peak_sustained_active";
    case ProfileCure::barriers: return "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio";
    case ProfileCure::fewer_bytes: return "dram__bytes.sum";
    case ProfileCure::tensor: return "sm__inst_executed_pipe_tensor.sum";
  }
  return {};
}

/// What the profile does not tell, and the metrics that would.
std::vector<std::string> unmeasured(const ProfiledKernel& kernel, const ProfileState& state) {
  std::vector<std::string> missing;
  const auto lacks = [&](bool there, std::string_view what, std::string_view metrics) {
    if (!there) {
      missing.push_back(std::string{what} + " (" + std::string{metrics} + ")");
    }
  };
  lacks(!kernel.stalls.empty(), "stalls", "smsp__average_warps_issue_stalled_*_per_issue_active.ratio");
  lacks(state.sector_use.has_value(), "coalescing", "l1tex__t_sectors and t_requests_pipe_lsu_mem_global_op_ld.sum");
  lacks(state.active_share.has_value(), "divergence", "smsp__thread_inst_executed_per_inst_executed.ratio");
  lacks(state.conflict_share.has_value(), "bank conflicts",
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum, l1tex__data_pipe_lsu_wavefronts_mem_shared.sum");
  lacks(state.occupancy.has_value(), "occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active");
  lacks(kernel.get(Counter::sm_use).has_value(), "use of the SMs", "sm__throughput.avg.pct_of_peak_sustained_elapsed");
  return missing;
}

std::string short_name(const std::string& name) {
  constexpr std::size_t most = 48;
  return name.size() > most ? name.substr(0, most - 3) + "..." : name;
}

LabChart profile_chart(const std::vector<StallPart>& now, const CuredProfile* cure) {
  LabChart chart{"Stalls of the kernel",
                 {"reason, the longest first", Hint::number, false},
                 {"cycles before an instruction", Hint::number, false}};
  LabLine before{"now", LineStyle::points, {}};
  LabLine after{"after the first cure", LineStyle::points, {}};
  for (std::size_t i = 0; i < now.size(); ++i) {
    before.points.push_back({static_cast<double>(i + 1), now[i].cycles, now[i].reason});
    if (cure != nullptr) {
      const auto found = std::find_if(cure->stalls.begin(), cure->stalls.end(),
                                      [&](const StallPart& stall) { return stall.reason == now[i].reason; });
      after.points.push_back({static_cast<double>(i + 1), found->cycles, {}});
    }
  }
  chart.lines.push_back(std::move(before));
  if (cure != nullptr) {
    chart.lines.push_back(std::move(after));
  }
  return chart;
}

/// Use of each unit, for kernels that were profiled without stalls.
LabChart use_chart(const ProfileState& state) {
  LabChart chart{"Use of the units", {"unit", Hint::number, false}, {"of its peak", Hint::percent, false}};
  LabLine use{"use", LineStyle::points, {}};
  for (std::size_t i = 0; i < state.use.size(); ++i) {
    use.points.push_back({static_cast<double>(i + 1), state.use[i], std::string{held_by_names[i]}});
  }
  chart.lines.push_back(std::move(use));
  return chart;
}

struct VectorPeaks {
  double tensor_gain = 1.0;
  std::optional<FlopsPerSecond> vector;
};

VectorPeaks vector_peaks(const Device* device) {
  VectorPeaks peaks;
  if (device == nullptr) {
    return peaks;
  }
  const auto& vector = device->peak[static_cast<std::size_t>(Rate::fp32_vector)];
  const auto& tensor = device->peak[static_cast<std::size_t>(Rate::tf32)];
  if (vector) {
    peaks.vector = vector->value;
    if (tensor) {
      peaks.tensor_gain = tensor->value / vector->value;
    }
  }
  return peaks;
}

LabTable kernel_rows(const ProfileAsked& q, const std::vector<ProfileState>& states) {
  LabTable table{"kernels",
                 {{"kernel", "kernel"},
                  {"time", "time_s"},
                  {"of all", "time_share"},
                  {"<held up by", "held_by"},
                  {"use", "use"},
                  {"best cure", "cure_ratio"}},
                 {}};
  Seconds all{};
  for (const ProfileState& state : states) {
    all += state.time;
  }
  for (std::size_t i = 0; i < states.size(); ++i) {
    const std::vector<CuredProfile> cures = profile_cures(q.profiles.kernels[i], states[i], 1.0);
    table.rows.push_back({short_name(q.profiles.kernels[i].name), states[i].time, share(states[i].time / all),
                          std::string{held_by_names[static_cast<std::size_t>(states[i].held_by)]},
                          share(states[i].most_use()), cures.empty() ? Value{nullptr} : Value{cures.front().ratio}});
  }
  return table;
}

LabTable stall_rows(const std::vector<StallPart>& now, double all, const CuredProfile* cure) {
  LabTable table{"stalls",
                 {{"a warp waits for", "reason"}, {"cycles", "cycles"}, {"share", "share"}, {"<that is", "meaning"}},
                 {}};
  double left = 0.0;
  if (cure != nullptr) {
    table.columns.insert(table.columns.begin() + 3, {{"after", "cured_cycles"}, {"share", "cured_share"}});
    for (const StallPart& stall : cure->stalls) {
      left += stall.cycles;
    }
  }
  for (const StallPart& stall : now) {
    std::vector<Value> row{stall.reason, stall.cycles, share(stall.cycles / all)};
    if (cure != nullptr) {
      const auto found = std::find_if(cure->stalls.begin(), cure->stalls.end(),
                                      [&](const StallPart& other) { return other.reason == stall.reason; });
      row.emplace_back(found->cycles);
      row.push_back(share(left > 0.0 ? found->cycles / left : 0.0));
    }
    row.emplace_back(std::string{meaning_of(stall.reason)});
    table.rows.push_back(std::move(row));
  }
  return table;
}

void add_profile_figures(LabAnswer& a,
                         const ProfiledKernel& kernel,
                         const ProfileState& state,
                         const VectorPeaks& peaks,
                         BytesPerSecond bandwidth) {
  a.figures = {{"time", "time_s", state.time},
               {"held up by", "held_by", std::string{held_by_names[static_cast<std::size_t>(state.held_by)]}}};
  constexpr std::array<std::string_view, 4> keys{"memory_use", "l2_use", "l1_use", "compute_use"};
  constexpr std::array<std::string_view, 4> labels{"use of memory", "use of L2", "use of L1", "use of the SMs"};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (state.use[i] > 0.0) {
      a.figures.push_back({std::string{labels[i]}, keys[i], share(state.use[i])});
    }
  }
  const auto add_share = [&](std::string_view label, std::string_view key, std::optional<double> value) {
    if (value) {
      a.figures.push_back({std::string{label}, key, share(*value)});
    }
  };
  if (state.moved) {
    a.figures.push_back({"moved", "moved_bytes", *state.moved});
    if (bandwidth > BytesPerSecond{}) {
      a.figures.push_back({"reached of memory", "achieved_bytes_per_s", *state.moved / state.time});
      // Clocks of the memory and refreshes leave a few hundredths between both.
      constexpr double near = 0.2;
      const double reached = *state.moved / state.time / bandwidth;
      const double told = state.use[0];
      if (told > 0.0 && std::abs(reached - told) > near) {
        a.notes.push_back("The counters disagree: the bytes are " + percent(reached) +
                          " of the bandwidth of this SKU, the memory is told to be at " + percent(told) +
                          " of its peak. Was another GPU profiled than --gpu names?");
      }
    }
  }
  if (state.vector_work > Flops{} && state.moved && peaks.vector && bandwidth > BytesPerSecond{}) {
    const Roofline roofs = roofline(state.vector_work, *state.moved, *peaks.vector, bandwidth);
    a.figures.push_back({"arithmetic on vector units", "flop", state.vector_work});
    a.figures.push_back({"intensity", "intensity_flop_per_byte", roofs.intensity});
    a.figures.push_back({"ridge", "ridge_flop_per_byte", roofs.ridge});
    a.figures.push_back({"least time under its roofs", "roofline_s", roofs.time});
  }
  add_share("used of fetched sectors", "efficiency", state.sector_use);
  add_share("conflicts of shared memory's cycles", "conflict_share", state.conflict_share);
  add_share("active threads of a warp", "warp_efficiency", state.active_share);
  add_share("occupancy", "occupancy", state.occupancy);
  add_share("occupancy that its resources allow", "most_occupancy", kernel.get(Counter::most_occupancy));
  if (const auto registers = kernel.get(Counter::registers)) {
    a.figures.push_back({"registers a thread", "registers", static_cast<std::int64_t>(*registers)});
  }
  if (const auto block = kernel.get(Counter::block)) {
    a.figures.push_back({"threads a block", "block_threads", static_cast<std::int64_t>(*block)});
  }
}

LabAnswer answer_profile(const ProfileAsked& q, const LabBench& bench) {
  const Device* const device = bench.device;
  if (device != nullptr && device->vendor != "nvidia") {
    throw ConfigError{"--gpu " + quoted(device->id) +
                      " is no GPU of NVIDIA, whose counters the file holds; name the one that was profiled"};
  }
  const BytesPerSecond bandwidth = device != nullptr ? device->bandwidth() : BytesPerSecond{};
  const VectorPeaks peaks = vector_peaks(device);
  std::vector<ProfileState> states;
  for (const ProfiledKernel& kernel : q.profiles.kernels) {
    states.push_back(state_of(kernel, q.element, bandwidth));
  }
  const auto longest = static_cast<std::size_t>(
      std::max_element(states.begin(), states.end(),
                       [](const ProfileState& x, const ProfileState& y) { return x.time < y.time; }) -
      states.begin());
  const ProfiledKernel& kernel = q.profiles.kernels[longest];
  const ProfileState& state = states[longest];
  const std::vector<CuredProfile> cures = profile_cures(kernel, state, peaks.tensor_gain);
  const CuredProfile* const first = cures.empty() ? nullptr : &cures.front();
  std::vector<StallPart> stalls = kernel.stalls;
  std::stable_sort(stalls.begin(), stalls.end(),
                   [](const StallPart& x, const StallPart& y) { return x.cycles > y.cycles; });

  LabAnswer a;
  a.title =
      short_name(kernel.name) +
      (states.size() > 1 ? ", the longest of " + counted(static_cast<std::int64_t>(states.size()), "kernel") : "") +
      (device != nullptr ? ", on " + device->id : "");
  a.question = {{"profile_form", q.profiles.form}, {"kernel", kernel.name}};
  const std::string held = state.held_by == HeldBy::latency
                               ? "No unit is near its peak: latency holds the kernel up, at " +
                                     percent(state.most_use()) + " of its nearest roof"
                               : "The roof of " + std::string{held_by_names[static_cast<std::size_t>(state.held_by)]} +
                                     " holds the kernel up, of which it reaches " + percent(state.most_use());
  const std::string dominant = dominant_stall(kernel.stalls);
  a.verdict = held + (dominant.empty() ? "" : ", and most stalls are of " + dominant) + ".";
  if (first != nullptr) {
    const std::string then = dominant_stall(first->stalls);
    a.verdict = a.verdict.substr(0, a.verdict.size() - 1) + "; " + std::string{profile_subject(first->cure)} +
                " would leave " + percent(first->ratio) + " of its time" +
                (dominant.empty()   ? ""
                 : then == dominant ? ", with the same stall in front"
                                    : ", with " + then + " as the longest stall") +
                ".";
  }
  add_profile_figures(a, kernel, state, peaks, bandwidth);
  if (!dominant.empty()) {
    a.figures.push_back({"longest stall", "dominant_stall", dominant});
    a.figures.push_back({"cycles before an instruction", "stalled_cycles", state.stalled});
  }
  if (first != nullptr) {
    a.figures.push_back({"time after the first cure", "cured_s", first->ratio * state.time});
    if (!dominant.empty()) {
      a.figures.push_back({"longest stall then", "cured_stall", dominant_stall(first->stalls)});
    }
  }
  if (states.size() > 1) {
    a.tables.push_back(kernel_rows(q, states));
  }
  if (!stalls.empty() && state.stalled > 0.0) {
    a.tables.push_back(stall_rows(stalls, state.stalled, first));
  }
  for (const CuredProfile& cure : cures) {
    const std::string then = dominant_stall(cure.stalls);
    a.cures.push_back(
        {profile_change(cure.cure), cure.ratio,
         profile_because(cure, state) + (then.empty() || then == dominant ? "" : "; then most stalls are of " + then)});
  }
  if (first != nullptr) {
    a.notes.push_back("Profile again after each cure: ncu --metrics gpu__time_duration.sum, " +
                      std::string{remeasured(first->cure)} + ".");
    a.notes.emplace_back(
        "Each cure is priced alone. A kernel that a unit holds up comes as near to its next roof as to this one; its "
        "stalls fall as its time does (Little's law), and those that the cure does not touch keep their cycles.");
  }
  if (const std::vector<std::string> missing = unmeasured(kernel, state); !missing.empty()) {
    a.notes.push_back("The profile does not tell " +
                      joined(
                          missing, [](const std::string& m) { return m; }, "; ") +
                      ".");
  }
  if (state.sector_use && !kernel.get(Counter::sector_use)) {
    a.notes.push_back("Sectors are judged as those of threads that load " + format_number(q.element) +
                      " B; --element says another size.");
  }
  a.sources = {"Counters of " + q.file + ", read as " + q.profiles.form +
                   "; three fifths of a peak as the line of a busy unit: Nsight Compute, speed of light",
               "Little 1961; laws of accesses, banks and divergence: 'headroom kernel access', 'banks', 'diverge'"};
  a.chart = stalls.empty() ? use_chart(state) : profile_chart(stalls, first);
  return a;
}

LabQuestion read_profile(FormReader& in) {
  ProfileAsked q;
  if (in.given("--element")) {
    q.element = in.quantity<Bytes>("--element").raw();
    if (q.element > 16.0) {
      in.problem("--element " + quoted(in.text("--element")) +
                 " must be at most 16 B, what one load of a thread reads (CUDA C++ Programming Guide, device memory "
                 "accesses)");
    }
  }
  q.file = in.file();
  if (q.file.empty()) {
    in.problem(
        "kernel profile needs a file: headroom kernel profile FILE.csv --gpu ID, with the output of ncu --csv "
        "--page details, of ncu --csv --page raw, or a table counter,value,unit");
    return {};
  }
  try {
    q.profiles = read_kernel_profiles(read_file(q.file).text, q.file);
  } catch (const ConfigError& error) {
    in.problem(error);
  }
  return [q = std::move(q)](const LabBench& bench) { return answer_profile(q, bench); };
}

}  // namespace

const KernelForm profile_form{"profile", "counters of a profiler", GpuUse::optional, read_profile, "FILE.csv"};

}  // namespace headroom::cli
