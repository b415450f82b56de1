// SPDX-License-Identifier: Apache-2.0
// `headroom diagnose`: why a run is slow, from what it left.
#include <headroom/calibrate/evidence/evidence_form.hpp>
#include <headroom/cli/frame/format_option.hpp>
#include <headroom/cli/frame/verb.hpp>
#include <headroom/cli/render/render_diagnosis.hpp>
#include <headroom/core/diagnostic.hpp>

#include <array>
#include <string>
#include <vector>

namespace headroom::cli {

extern const Verb diagnose_verb;

namespace diagnose_parts {
namespace {

constexpr std::array options{
    Option{"--format", OptionKind::one, formats_in<"text|{}">, meanings_in<"text for people (default), {}">},
};

constexpr std::size_t most_files = 1024;
Outcome run(const Arguments& arguments) {
  const std::vector<std::string> files = arguments.many("");
  if (files.empty()) {
    throw ConfigError{"name what the run left, e.g. 'headroom diagnose rank0.json.gz rank1.json.gz'"};
  }
  if (files.size() > most_files) {
    throw ConfigError{"diagnose reads at most " + std::to_string(most_files) + " files; name fewer ranks"};
  }
  const RunReading reading = reading_of(read_evidence(files));
  const DocumentFormat* const format = document_format(arguments);
  const bool prose = format == nullptr;
  return {prose ? diagnosis_text(reading) : format->print(diagnosis_document(reading)), "", 0, prose};
}

constexpr std::string_view examples =
    "  headroom diagnose trace.json.gz\n"
    "  headroom diagnose rank0.json.gz rank1.json.gz --format json\n";

}  // namespace
}  // namespace diagnose_parts

const Verb diagnose_verb{"diagnose",
                         "why a run is slow: where its time went, causes, and the step without each",
                         "FILE",
                         1024,
                         diagnose_parts::options,
                         diagnose_parts::examples,
                         diagnose_parts::run};

}  // namespace headroom::cli
