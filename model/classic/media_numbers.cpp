// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/config_reader.hpp>
#include <headroom/model/classic/media_numbers.hpp>

#include <utility>

namespace headroom::classic {
namespace {

constexpr Range<double> media_counts{0.0, 1e15};
constexpr Range<double> media_widths{0.0, 10.0};

void read_video(ConfigTable table, MediaNumbers::Video& read) {
  read.intensity = table.number("intensity", media_counts);
  read.width = table.number("width", media_widths);
  read.surfaces = table.number("surfaces", {1.0, 64.0});
  read.context = table.quantity<Bytes>("context");
  read.frame_bytes = table.number("frame_bytes", media_counts);
  for (ConfigTable& each : table.tables("effect")) {
    VideoEffect& one = read.effects.emplace_back();
    one.name = each.text("name");
    one.title = each.text("title");
    one.lines = each.number("lines", {1.0, 65536.0});
    one.bytes = each.quantity<Bytes>("bytes");
    each.finish();
  }
  table.finish();
}

void read_simulator(ConfigTable table, MediaNumbers::Simulator& read) {
  read.substep = table.quantity<Seconds>("substep");
  read.camera = table.quantity<Seconds>("camera");
  read.sample = table.quantity<Seconds>("sample");
  read.learn = table.quantity<Seconds>("learn");
  read.exchange = table.quantity<Seconds>("exchange");
  read.width = table.number("width", media_widths);
  for (ConfigTable& each : table.tables("task")) {
    SimulatorWork& one = read.tasks.emplace_back();
    one.name = each.text("name");
    one.title = each.text("title");
    one.substeps = each.number("substeps", {1.0, 1e4});
    one.cameras = each.maybe_number("cameras", {0.0, 1e3}).value_or(0.0);
    one.contact = each.maybe_quantity<Seconds>("contact").value_or(Seconds{});
    each.finish();
  }
  table.finish();
}

void read_policy(ConfigTable table, MediaNumbers::Policy& read) {
  read.efficiency = table.number("efficiency", {1e-6, 1.0});
  read.step = table.quantity<Seconds>("step");
  read.width = table.number("width", media_widths);
  for (ConfigTable& each : table.tables("model")) {
    PolicyModel& one = read.models.emplace_back();
    one.name = each.text("name");
    one.title = each.text("title");
    one.vision = each.number("vision", media_counts);
    one.view_tokens = each.number("view_tokens", media_counts);
    one.language = each.number("language", media_counts);
    one.prompt = each.number("prompt", media_counts);
    one.action = each.number("action", media_counts);
    each.finish();
  }
  table.finish();
}

MediaNumbers read_media(const ConfigValue& document, Diagnostics& diagnostics) {
  ConfigTable root{document, "", diagnostics};
  MediaNumbers read;
  require_schema(root);
  static_cast<void>(root.text("id"));
  static_cast<void>(root.text("source"));
  read_video(root.table("video"), read.video);
  read_simulator(root.table("simulator"), read.simulator);
  read_policy(root.table("policy"), read.policy);
  root.finish();
  return read;
}

}  // namespace

const MediaNumbers& media_numbers(const ModelData& data) {
  return step_numbers(data, "media", read_media);
}

}  // namespace headroom::classic
