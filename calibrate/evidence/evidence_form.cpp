// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/evidence/evidence_form.hpp>
#include <headroom/calibrate/evidence/evidence_list.hpp>
#include <headroom/calibrate/traces/trace_text.hpp>
#include <headroom/core/diagnostic.hpp>

#include <algorithm>
#include <array>
#include <string>

namespace headroom {
namespace {

constexpr std::size_t most_head = std::size_t{64} << 10U;

std::string head_of(const std::string& file) {
  TraceText text{file};
  std::string head;
  while (head.size() < most_head) {
    const std::string_view piece = text.next();
    if (piece.empty()) {
      break;
    }
    head.append(piece.substr(0, most_head - head.size()));
  }
  return head;
}

std::string all_forms() {
  std::string text;
  for (const EvidenceForm* form : evidence_form_list()) {
    text += (text.empty() ? "" : "; ") + std::string{form->name} + " (" + std::string{form->made_by} + ")";
  }
  return text;
}

}  // namespace

std::span<const EvidenceForm* const> evidence_form_list() noexcept {
  static const auto ordered = [] {
    auto list = listed_evidence_forms;
    std::stable_sort(list.begin(), list.end(),
                     [](const EvidenceForm* a, const EvidenceForm* b) { return a->order < b->order; });
    return list;
  }();
  return ordered;
}

Evidence read_evidence(std::span<const std::string> files) {
  Evidence evidence;
  Diagnostics problems;
  for (const std::string& file : files) {
    try {
      const std::string head = head_of(file);
      const FileHead seen{file, head};
      const auto forms = evidence_form_list();
      const auto form =
          std::find_if(forms.begin(), forms.end(), [&](const EvidenceForm* known) { return known->is(seen); });
      if (form == forms.end()) {
        problems.add(file, {}, "no form that diagnose reads has this content; it reads: " + all_forms());
        continue;
      }
      (*form)->read(file, evidence);
      evidence.files.push_back(file);
    } catch (const ConfigError& error) {
      problems.add(error);
    }
  }
  problems.throw_if_any();
  return evidence;
}

}  // namespace headroom
