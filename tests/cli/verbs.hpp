// SPDX-License-Identifier: Apache-2.0
// The verbs that tests ask for by name.
#pragma once

#include <headroom/cli/frame/verb.hpp>

namespace headroom::cli {

extern const Verb calibrate_verb, catalog_verb, collective_verb, compare_verb, explain_verb, export_verb, fabric_verb,
    diagnose_verb, fit_verb, gate_verb, import_verb, kernel_verb, op_verb, plan_verb, probe_verb, replay_verb,
    roofline_verb, scale_verb, schema_verb, simulate_verb, validate_verb, web_verb;

}  // namespace headroom::cli
