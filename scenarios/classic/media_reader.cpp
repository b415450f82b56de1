// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/printable.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/workload/model_data.hpp>
#include <headroom/scenarios/classic/media_reader.hpp>
#include <headroom/scenarios/keys/classic_keys.hpp>
#include <headroom/scenarios/keys/keyed_table.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace headroom::classic {
namespace {

template <const KeyTable& rows>
using MediaTable = KeyedTable<rows, Kinds::classic>;
using VideoTable = MediaTable<keys::video>;

/// Of names in a file of the model's data: the entry, or a problem that lists them.
template <class Each>
const Each* named_entry(ConfigTable& table,
                        std::string_view key,
                        const std::string& name,
                        const std::vector<Each>& all,
                        std::string_view what) {
  const Each* const found = of_name(all, name);
  if (found == nullptr) {
    std::vector<std::string> names;
    for (const Each& each : all) {
      names.push_back(each.name);
    }
    table.problem(key, "unknown " + std::string{what} + " " + quoted(name) + "; known: " + joined(names));
  }
  return found;
}

std::string stream_text(double width, double height, double fps) {
  return format_number(width) + " x " + format_number(height) + " at " + format_number(fps) + " frames/s";
}

std::string codecs_text(const CardVideo& engines, bool decoded) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < video_codec_names.size(); ++i) {
    const auto codec = static_cast<VideoCodec>(i);
    if (decoded ? engines.decodes(codec, 1.0).has_value() : engines.encodes(codec, 0, 0, 1.0).has_value()) {
      names.emplace_back(video_codec_names[i]);
    }
  }
  return names.empty() ? "none" : joined(names);
}

class VideoReader {
 public:
  VideoReader(ConfigTable& root, const MediaBeside& beside)
      : beside_{beside}, table_{VideoTable::of(root)}, law_{media_numbers(beside.sources.data).video} {}

  VideoAsked run() {
    VideoTask& task = asked_.task;
    task.codec = table_.get<"codec", VideoCodec>();
    task.width = real(table_.get<"width">());
    task.height = real(table_.get<"height">());
    task.fps = table_.get<"fps">();
    task.decode = table_.get<"decode">();
    const std::size_t encoded = table_.get<"encode">();
    task.encode = encoded > 0;
    task.encoded = encoded == 2 ? VideoCodec::hevc : encoded == 3 ? VideoCodec::av1 : VideoCodec::h264;
    task.preset = table_.get<"preset">();
    task.tuning = table_.get<"tuning">();
    task.out_width = real(table_.stated<"out_width">().value_or(static_cast<std::int64_t>(task.width)));
    task.out_height = real(table_.stated<"out_height">().value_or(static_cast<std::int64_t>(task.height)));
    task.every = real(table_.get<"every">());
    task.batch = real(table_.get<"batch">());
    task.bus = table_.get<"through_host">();
    task.surfaces = real(table_.get<"surfaces">());
    task.model = table_.stated<"model_memory">().value_or(Bytes{});
    task.own = table_.stated<"stream_memory">().value_or(Bytes{});
    asked_.streams = table_.stated<"streams">();
    read_compute();
    if (!beside_.card.id.empty() && (task.decode || task.encode)) {
      read_engines();
    }
    table_.finish();
    return std::move(asked_);
  }

 private:
  void read_compute() {
    const std::optional<std::string> effect = table_.stated<"effect">();
    const std::optional<Seconds> frame = table_.stated<"frame_time">();
    if (effect && frame) {
      table_.problem("effect", "an effect has a time of its own; state 'effect' or 'frame_time'");
    }
    if (frame) {
      asked_.task.frame = *frame;
    }
    if (!effect) {
      return;
    }
    const VideoEffect* const found = named_entry(table_, "effect", *effect, law_.effects, "effect");
    if (found != nullptr && !beside_.card.id.empty()) {
      // Its convolutions cover every pixel alike.
      const double pixels = asked_.task.width * asked_.task.height / found->pixels();
      asked_.task.frame = pixels * effect_time(*found, beside_.card, law_);
      asked_.compute_width = law_.width;
    }
  }

  void read_engines() {
    const VideoTask& task = asked_.task;
    const std::string& gpu = beside_.card.id;
    std::optional<CardVideo> engines = find_video(beside_.sources.catalog, gpu);
    if (!engines) {
      table_.problem("codec", "the catalog does not state the video engines of " + gpu + "; it has those of " +
                                  joined(video_cards(beside_.sources.catalog)) +
                                  "; take one of them, state decode = false and encode = \"none\", or add a file "
                                  "video/ID.toml of your own (docs/catalog-format.md)");
      return;
    }
    asked_.engines = *std::move(engines);
    if (task.decode) {
      check_engine("codec", "decoder", name_of(task.codec), asked_.engines.decoders,
                   asked_.engines.decodes(task.codec, task.width * task.height),
                   stream_text(task.width, task.height, task.fps), true);
    }
    if (task.encode) {
      check_engine("encode", "encoder", name_of(task.encoded), asked_.engines.encoders,
                   asked_.engines.encodes(task.encoded, task.preset, task.tuning, task.out_width * task.out_height),
                   stream_text(task.out_width, task.out_height, task.fps), false);
    }
  }

  /// One engine must keep up with one stream, and the engines of the stated GPUs with all streams asked for.
  void check_engine(std::string_view key,
                    const std::string& engine,
                    std::string_view codec,
                    double count,
                    std::optional<Hertz> rate,
                    const std::string& stream,
                    bool decoded) {
    const std::string& gpu = beside_.card.id;
    if (!rate) {
      table_.problem(key, "no " + engine + " of " + gpu + " takes " + std::string{codec} + "; " +
                              (count > 0.0 ? "they take " + codecs_text(asked_.engines, decoded) : "it has none") +
                              ": take another GPU or codec, or state " +
                              (decoded ? "decode = false" : "encode = \"none\""));
      return;
    }
    const double each = rate->raw() / asked_.task.fps;
    if (each < 1.0) {
      table_.problem("fps", "one " + engine + " of " + gpu + " does " + format_number(rate->raw()) +
                                " frames/s of that size, less than one stream of " + stream +
                                "; state a smaller frame, fewer frames" + (decoded ? "" : ", or a faster preset"));
      return;
    }
    const double carried = std::floor(beside_.cards * count * each);
    if (asked_.streams && !beside_.cards_open && *asked_.streams > carried) {
      const double needed = std::ceil(*asked_.streams / (count * each));
      table_.problem("streams", format_number(*asked_.streams) + " streams of " + stream + " are more than the " +
                                    format_number(carried) + " that " + format_count(beside_.cards * count) + " " +
                                    engine + "s of " + format_count(beside_.cards) + " x " + gpu + " carry in " +
                                    std::string{codec} + "; take " + format_count(needed) +
                                    " GPUs, leave hardware.gpus blank, or state fewer streams");
    }
  }

  const MediaBeside& beside_;
  VideoTable table_;
  const MediaNumbers::Video& law_;
  VideoAsked asked_;
};

}  // namespace

VideoAsked read_video(ConfigTable& root, const MediaBeside& beside) {
  return VideoReader{root, beside}.run();
}

SimulatorAsked read_simulator(ConfigTable& root, const MediaBeside& beside) {
  auto table = MediaTable<keys::simulator>::of(root);
  const MediaNumbers::Simulator& law = media_numbers(beside.sources.data).simulator;
  SimulatorAsked asked;
  const std::optional<std::string> task = table.stated<"task">();
  const std::optional<std::int64_t> substeps = table.stated<"substeps">();
  if (task) {
    if (const SimulatorWork* const found = named_entry(table, "task", *task, law.tasks, "task")) {
      asked.task.work = *found;
    }
  } else if (!substeps) {
    table.problem("task",
                  "neither 'task' nor 'substeps' says what a step does; state one of the known tasks, or the "
                  "substeps of physics a step with what one of an environment takes ('contact')");
  }
  asked.task.work.substeps = substeps ? real(*substeps) : asked.task.work.substeps;
  asked.task.work.contact = table.stated<"contact">().value_or(asked.task.work.contact);
  asked.task.work.cameras = table.stated<"cameras">().value_or(asked.task.work.cameras);
  asked.task.envs = table.get<"envs">();
  asked.task.phase = table.get<"phase", SimulatorPhase>();
  asked.steps = table.stated<"steps">();
  asked.demand = table.stated<"demand">();
  asked.env = table.stated<"env_memory">();
  asked.own = table.stated<"memory">();
  const Bytes room = usable_memory * beside.card.memory;
  const Bytes held = asked.env.value_or(Bytes{}) * asked.task.envs + asked.own.value_or(Bytes{});
  if (!beside.card.id.empty() && asked.env && held > room) {
    const double fit = std::floor(std::max(0.0, (room - asked.own.value_or(Bytes{})) / *asked.env));
    table.problem("envs", format_number(asked.task.envs) + " environments take " + format(held) + ", more than the " +
                              format(room) + " of " + beside.card.id + " that may be filled; state at most " +
                              format_number(fit) + " environments a GPU, or take a larger one");
  }
  table.finish();
  return asked;
}

PolicyAsked read_policy(ConfigTable& root, const MediaBeside& beside) {
  auto table = MediaTable<keys::control>::of(root);
  PolicyAsked asked;
  if (const PolicyModel* const found = named_entry(table, "model", table.get<"model">(),
                                                   media_numbers(beside.sources.data).policy.models, "policy")) {
    asked.task.model = *found;
  }
  const auto own = [](std::optional<double> stated, double& field) { field = stated.value_or(field); };
  own(table.stated<"vision">(), asked.task.model.vision);
  own(table.stated<"language">(), asked.task.model.language);
  own(table.stated<"action">(), asked.task.model.action);
  own(table.stated<"view_tokens">(), asked.task.model.view_tokens);
  own(table.stated<"prompt">(), asked.task.model.prompt);
  asked.task.views = real(table.get<"views">());
  asked.task.chunk = real(table.get<"chunk">());
  asked.task.flow_steps = real(table.get<"flow_steps">());
  asked.network = table.get<"network">();
  asked.wanted = table.stated<"rate">();
  table.finish();
  return asked;
}

}  // namespace headroom::classic
