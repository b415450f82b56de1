// SPDX-License-Identifier: Apache-2.0
// Members that several documents write alike.
#pragma once

#include <headroom/core/json_writer.hpp>
#include <headroom/model/estimate/estimate.hpp>

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace headroom {

/// "step_s": {"low": ..., "mid": ..., "high": ...}, raw SI.
template <class Q>
void interval(JsonWriter& json, std::string_view name, const Interval<Q>& value) {
  const auto raw = [](const Q& v) {
    if constexpr (std::is_same_v<Q, double>) {
      return v;
    } else {
      return v.raw();
    }
  };
  json.key(name);
  json.compact_next();
  json.begin_object();
  json.member("low", raw(value.low));
  json.member("mid", raw(value.mid));
  json.member("high", raw(value.high));
  json.end_object();
}

/// An array of strings.
inline void texts(JsonWriter& json, std::string_view name, const std::vector<std::string>& values) {
  json.key(name);
  json.begin_array();
  for (const std::string& value : values) {
    json.text(value);
  }
  json.end_array();
}

}  // namespace headroom
