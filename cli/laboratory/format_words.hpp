// SPDX-License-Identifier: Apache-2.0
// Number formats as options name them, and what a SKU makes of them.
#pragma once

#include <headroom/cli/frame/form_reader.hpp>
#include <headroom/hardware/catalog/device.hpp>
#include <headroom/model/laboratory/stored_format.hpp>

#include <string>
#include <string_view>

namespace headroom::cli {

/// The format of a name; a problem of the reader, and fp16, where there is none of it.
[[nodiscard]] const StoredFormat& stored_format_of(FormReader& reader, const std::string& name);

/// "fp16 65 TFLOP/s, int8 130 TFLOP/s": what the catalog says a SKU multiplies in.
[[nodiscard]] std::string rates_of(const Device& device);
/// Dense peak of a SKU in a format. ConfigError naming what it has where it lacks it, or where the catalog has no rate
/// of that format.
[[nodiscard]] FlopsPerSecond rate_of(const Device& device, const StoredFormat& format);
/// The same of one of the catalog's rates, `name` being what the user called it.
[[nodiscard]] FlopsPerSecond rate_of(const Device& device, Rate rate, std::string_view name);

}  // namespace headroom::cli
