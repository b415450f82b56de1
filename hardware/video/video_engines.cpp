// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/config_reader.hpp>
#include <headroom/core/real.hpp>
#include <headroom/hardware/catalog/sourced_reader.hpp>
#include <headroom/hardware/video/video_engines.hpp>

#include <algorithm>
#include <functional>
#include <utility>

namespace headroom {
namespace {

constexpr std::string_view video_folder = "video";
constexpr double measured_pixels = 1920.0 * 1080.0;
constexpr std::array<std::string_view, video_codec_names.size()> codec_keys{"h264", "hevc",      "hevc_main10",
                                                                            "vp9",  "vp9_10bit", "av1"};
constexpr std::array<std::string_view, 8> encode_keys{"p1_ll", "p1_hq", "p3_ll", "p3_hq",
                                                      "p5_ll", "p5_hq", "p7_ll", "p7_hq"};

VideoEngines read_engines(ConfigTable& root, const std::string& file, SourceTags& tags, EntryHeading heading) {
  VideoEngines engines;
  engines.id = std::move(heading.id);
  engines.name = std::move(heading.name);
  engines.file = file;
  ConfigTable decode = root.table("decode");
  engines.decode_clock = tags.quantity<Hertz>(decode, "clock");
  for (std::size_t codec = 0; codec < codec_keys.size(); ++codec) {
    engines.decode[codec] = tags.count(decode, codec_keys[codec]);
  }
  decode.finish();
  ConfigTable encode = root.table("encode");
  engines.encode_clock = tags.quantity<Hertz>(encode, "clock");
  for (std::size_t codec = 0; codec < codec_keys.size(); ++codec) {
    if (std::optional<ConfigTable> presets = encode.maybe_table(codec_keys[codec])) {
      for (std::size_t i = 0; i < encode_keys.size(); ++i) {
        engines.encode[codec][i] = tags.count(*presets, encode_keys[i]);
      }
      presets->finish();
    }
  }
  encode.finish();
  return engines;
}

/// Every card of a file, told with its engines.
void each_card(const Catalog& catalog,
               const std::string& id,
               const std::function<void(const std::string& gpu, CardVideo)>& see) {
  const DataStore& store = catalog.store();
  const std::optional<DataStore::Entry> entry = store.find(video_folder, id);
  if (!entry) {
    return;
  }
  const ConfigValue document = store.tree(video_folder, *entry);
  Diagnostics diagnostics;
  ConfigTable root{document, "", diagnostics};
  EntryHeading heading = read_heading(root, entry->file);
  SourceTags tags{root};
  const VideoEngines engines = read_engines(root, entry->file, tags, std::move(heading));
  std::vector<std::pair<std::string, CardVideo>> cards;
  for (ConfigTable& each : root.tables("card")) {
    CardVideo card;
    card.engines = engines;
    std::string gpu = each.text("gpu");
    const auto take = [&](const auto& stated) {
      if (stated) {
        card.sources.push_back(stated->source);
      }
      return stated ? std::optional{stated->value} : std::nullopt;
    };
    card.decoders = real(take(tags.count(each, "decoders")).value_or(0));
    card.encoders = real(take(tags.count(each, "encoders")).value_or(0));
    if (const auto sessions = take(tags.count(each, "sessions"))) {
      card.sessions = real(*sessions);
    }
    card.clock = take(tags.quantity<Hertz>(each, "clock"));
    each.finish();
    std::sort(card.sources.begin(), card.sources.end());
    card.sources.erase(std::unique(card.sources.begin(), card.sources.end()), card.sources.end());
    cards.emplace_back(std::move(gpu), std::move(card));
  }
  root.finish();
  diagnostics.throw_if_any();
  for (auto& [gpu, card] : cards) {
    see(gpu, std::move(card));
  }
}

Hertz at_clock(std::int64_t rate,
               const std::optional<Sourced<Hertz>>& measured,
               const std::optional<Hertz>& own,
               double pixels) noexcept {
  const double clock = measured && own ? *own / measured->value : 1.0;
  return Hertz{real(rate) * clock * measured_pixels / std::max(1.0, pixels)};
}

}  // namespace

std::optional<Hertz> CardVideo::decodes(VideoCodec codec, double pixels) const noexcept {
  const auto& rate = engines.decode[static_cast<std::size_t>(codec)];
  return rate && decoders > 0.0 ? std::optional{at_clock(rate->value, engines.decode_clock, clock, pixels)}
                                : std::nullopt;
}

std::optional<Hertz> CardVideo::encodes(VideoCodec codec,
                                        std::size_t preset,
                                        std::size_t tuning,
                                        double pixels) const noexcept {
  const auto& rate = engines.encode[static_cast<std::size_t>(codec)][2 * preset + tuning];
  return rate && encoders > 0.0 ? std::optional{at_clock(rate->value, engines.encode_clock, clock, pixels)}
                                : std::nullopt;
}

std::optional<CardVideo> find_video(const Catalog& catalog, std::string_view gpu) {
  std::optional<CardVideo> found;
  catalog.store().each(video_folder, [&](const std::string& id) {
    each_card(catalog, id, [&](const std::string& named, CardVideo card) {
      if (!found && named == gpu) {
        found = std::move(card);
      }
    });
  });
  return found;
}

std::vector<std::string> video_cards(const Catalog& catalog) {
  std::vector<std::string> cards;
  catalog.store().each(video_folder, [&](const std::string& id) {
    each_card(catalog, id, [&](const std::string& named, const CardVideo&) { cards.push_back(named); });
  });
  return cards;
}

}  // namespace headroom
