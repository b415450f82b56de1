// SPDX-License-Identifier: Apache-2.0
// Whatever a scenario's names hold, an exported file does what it says and nothing else: every form is run as a user
// runs it, with programs that only say what they were called with.
#include <headroom/core/config_reader.hpp>
#include <headroom/core/json_reader.hpp>
#include <headroom/model/serve/memory/draft_memory.hpp>
#include <headroom/scenarios/launch/launch.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <doctest/doctest.h>

#include "../support/sources.hpp"
#include "../support/yaml.hpp"
#include "run_headroom.hpp"
#include <set>
#include <vector>

using namespace headroom;
using namespace headroom::test;
namespace fs = std::filesystem;

namespace {

/// Printed characters that mean something to a shell: the reader takes them.
const std::vector<std::string> printed{"$(touch X)", "`touch X`", "a'; touch X; '",       "a\"; touch X; \"",
                                       "a; touch X", "a # touch", "a && touch X",         "a | touch X",
                                       "-x > X",     "a\\",       "* ~ ${X:=$(touch X)}", "EOF"};
/// What the reader refuses and the writers must not rely on.
const std::vector<std::string> obeyed{"a\ntouch X\n",
                                      "a\ntouch X\n#",
                                      "a\r\ntouch X",
                                      "'\ntouch X\n'",
                                      "a\nEOF\ntouch X\n",
                                      "a\n)\ntouch X\n(",
                                      "a\x1b[31mb",
                                      "a\x7f\x08",
                                      "a\xc2\x9b"
                                      "31m",
                                      "a\xe2\x80\xa8touch X",
                                      std::string{"a\0b", 3},
                                      "a\n#SBATCH --x",
                                      "a\n[training]\nx = ",
                                      "a\n--master-port=1\n"};

/// A folder with the programs that launch files start, and one to start them in.
class Machine {
 public:
  Machine() {
    for (const char* name : {"srun", "torchrun", "scontrol", "vllm", "python", "trtllm-serve", "trtllm-bench",
                             "pretrain_gpt.py", "run_recipe.py"}) {
      const fs::path program = scratch_.path() / "bin" / name;
      fs::create_directories(program.parent_path());
      std::ofstream{program} << "#!/bin/sh\nprintf '%s' '" << name << "'\nprintf ' <%s>' \"$@\"\necho\n";
      fs::permissions(program, fs::perms::owner_all);
    }
  }

  /// What `bash -c COMMAND` prints beside `text` as the file FILE; fails where it leaves anything else behind.
  std::string run(const std::string& text, const std::string& command) {
    const fs::path folder = scratch_.path() / "work";
    fs::remove_all(folder);
    fs::create_directories(folder);
    std::ofstream{folder / "FILE", std::ios::binary} << text;
    const std::string call = "cd '" + folder.string() + "' && env PATH='" + (scratch_.path() / "bin").string() +
                             "':\"$PATH\" MASTER_ADDR=host SLURM_JOB_NODELIST=host SLURM_JOB_ID=1 bash -c '" + command +
                             "' > ../said 2>&1";
    CAPTURE(text);
    const int status = std::system(call.c_str());
    const std::string said = read_text(scratch_.path() / "said");
    CAPTURE(said);
    CHECK(status == 0);
    std::set<std::string> left;
    for (const auto& entry : fs::directory_iterator{folder}) {
      left.insert(entry.path().filename().string());
    }
    left.erase("FILE");
    left.erase("trtllm.yaml");
    CHECK(left.empty());
    if (fs::exists(folder / "trtllm.yaml")) {
      CHECK(read_text(folder / "trtllm.yaml").starts_with("kv_cache_config:\n  free_gpu_memory_fraction: 0.9\n"));
    }
    return said;
  }

 private:
  ScratchFolder scratch_;
};

void run_training(Machine& machine, LaunchForm form, const ExportedLaunch& launch) {
  switch (form) {
    case LaunchForm::megatron:
      CHECK(machine.run(launch.text, R"(source ./FILE; pretrain_gpt.py "${MEGATRON_ARGS[@]}")")
                .starts_with("pretrain_gpt.py <--num-layers> <80> "));
      break;
    case LaunchForm::nemo:
      CHECK(machine.run(launch.text, R"(run_recipe.py --recipe NAME $(grep -v "^#" FILE | xargs))")
                .starts_with("run_recipe.py <--recipe> <NAME> <model.num_layers=80> "));
      break;
    case LaunchForm::torchtitan:
      CHECK(parse_toml(launch.text, "job.toml").find("training")->find("seq_len")->integer == 8192);
      break;
    case LaunchForm::deepspeed:
      CHECK(parse_json(launch.text, "ds.json").find("train_batch_size")->integer == 128);
      break;
    case LaunchForm::torchrun:
      CHECK(machine.run(launch.text, "bash FILE").starts_with("torchrun <--nnodes> <16> "));
      break;
    default:
      CHECK(machine.run(launch.text, "bash FILE").starts_with("srun <--wait=60> "));
      // sbatch reads directives up to the first line that is no comment: those that are written, and no other.
      std::size_t directives = 0;
      for (std::size_t at = launch.text.find("#SBATCH"); at != std::string::npos;
           at = launch.text.find("#SBATCH", at + 1)) {
        directives += at == 0 || launch.text[at - 1] == '\n' ? 1 : 0;
      }
      CHECK(directives == 6);
  }
}

Scenario training() {
  return scenario_from_overrides(
      std::vector<std::string>{"kind=train", "model=llama3-70b", "hardware.gpu=h100-sxm-80gb", "hardware.gpus=128",
                               "training.seq_len=8192", "training.global_batch=128", "training.precision=bf16",
                               "strategy.micro_batch=1", "strategy.recompute=none"},
      sources());
}

/// With the name wherever a scenario has one.
void export_training(Machine& machine, Scenario scenario, const std::string& name) {
  CAPTURE(name);
  scenario.name = name;
  auto& train = std::get<TrainScenario>(scenario.question);
  train.architecture.id = train.architecture.name = name;
  train.node = train.device.id = name;
  for (const LaunchForm form : {LaunchForm::megatron, LaunchForm::nemo, LaunchForm::torchtitan, LaunchForm::deepspeed,
                                LaunchForm::torchrun, LaunchForm::slurm}) {
    const ExportedLaunch launch = export_launch(scenario, train, train.strategy, form);
    run_training(machine, form, launch);
    for (const LaunchNote& note : launch.notes) {
      CHECK(note.text.find_first_of("\n\r\x1b") == std::string::npos);
    }
  }
}

Scenario serving(const std::string& engine) {
  return scenario_from_overrides(
      std::vector<std::string>{"kind=serve", "model=llama3-70b", "hardware.gpu=h100-sxm-80gb", "hardware.gpus=8",
                               "serving.isl=2048", "serving.osl=256", "serving.concurrency=64", "serving.weights=bf16",
                               "strategy.tp=8", "serving.memory_fraction=0.9", "serving.engine=" + engine},
      sources());
}

std::shared_ptr<const DraftPlan> draft_of(const std::string& name) {
  auto drafter = std::make_shared<Architecture>();
  drafter->id = name;
  auto draft = std::make_shared<DraftPlan>();
  draft->method = "draft_model";
  draft->speculation.draft = 4;
  draft->model = drafter;
  return draft;
}

/// `published`: a repository is read out of the source, else the id stands for it.
void export_serving(Machine& machine, Scenario scenario, LaunchForm form, const std::string& name, bool published) {
  CAPTURE(name);
  scenario.name = name;
  auto& serve = std::get<ServeScenario>(scenario.question);
  serve.architecture.id = name;
  serve.architecture.source = published ? "Hugging Face config.json of acme/" + name : "nobody's";
  serve.device.id = serve.engine_version = name;
  if (form == LaunchForm::vllm) {
    serve.work.draft = draft_of(name);
  }
  const std::string said = machine.run(export_launch(scenario, serve, form).text, "bash FILE && bash FILE bench");
  CHECK((said.starts_with("vllm <serve> ") || said.starts_with("python <-m> <sglang.launch_server> ") ||
         said.starts_with("trtllm-serve ")));
  CHECK(said.find("bench") != std::string::npos);  // and then the benchmark
  if (!published) {
    CHECK(said.find("<" + name + ">") != std::string::npos);  // as it is, one word
  }
}

void export_serving(Machine& machine, const std::vector<std::string>& names) {
  for (const LaunchForm form : {LaunchForm::vllm, LaunchForm::sglang, LaunchForm::tensorrt_llm}) {
    const Scenario scenario = serving(std::string{launch_form_names[static_cast<std::size_t>(form)]});
    bool published = false;
    for (const std::string& name : names) {
      published = !published;
      if (name.find('\0') == std::string::npos) {  // no word of a shell holds it
        export_serving(machine, scenario, form, name, published);
      }
    }
  }
}

/// The name as a text of YAML keeps it: what is no character or would be obeyed becomes U+FFFD.
bool keeps(const std::string& text, const std::string& name) {
  return text == name || text.find("\xEF\xBF\xBD") != std::string::npos;
}

/// A scenario that has the name wherever one can be, and no repository.
Scenario with_name(Scenario scenario, const std::string& name) {
  scenario.name = name;
  auto& serve = std::get<ServeScenario>(scenario.question);
  serve.architecture.id = name;
  serve.architecture.source = "nobody's";
  serve.device.id = serve.engine_version = name;
  return scenario;
}

std::string as_process(std::string word) {
  for (std::size_t at = word.find("$$"); at != std::string::npos; at = word.find("$$", at + 1)) {
    word.erase(at, 1);
  }
  return word;
}

void check_pods(const Scenario& scenario, LaunchForm form, const std::string& name) {
  const ExportedLaunch launch = export_launch(scenario, std::get<ServeScenario>(scenario.question), form);
  CAPTURE(launch.text);
  const std::vector<ConfigValue> documents = read_yaml(launch.text);
  CHECK(documents.size() == 2);
  const ConfigValue& pod = form == LaunchForm::kubernetes
                               ? at(documents.front(), {"spec", "template", "spec"})
                               : at(documents.front(), {"spec", "leaderWorkerTemplate", "leaderTemplate", "spec"});
  const ConfigValue& container = at(pod, {"containers", "0"});
  CHECK(keeps(as_process(at(container, {"command", "2"}).text), name));
  CHECK(at(container, {"image"}).text.starts_with("vllm/vllm-openai:"));
}

/// KServe's template evaluates the variable in a shell, as here.
void check_kserve(Machine& machine, const Scenario& scenario) {
  const ExportedLaunch launch = export_launch(scenario, std::get<ServeScenario>(scenario.question), LaunchForm::kserve);
  CAPTURE(launch.text);
  const std::vector<ConfigValue> documents = read_yaml(launch.text);
  REQUIRE(documents.size() == 1);
  const std::string arguments =
      as_process(at(documents.front(), {"spec", "template", "containers", "0", "env", "0", "value"}).text);
  constexpr const char* evaluated =
      R"sh(VLLM_ADDITIONAL_ARGS="$(cat FILE)"; eval "exec vllm serve /mnt/models ${VLLM_ADDITIONAL_ARGS}")sh";
  const std::string said = machine.run(arguments, evaluated);
  CHECK(said.starts_with("vllm <serve> </mnt/models> "));
  CHECK(said.find("<--speculative-config> <{\"method\": \"draft_model\"") != std::string::npos);
}

}  // namespace

TEST_CASE("no name leaves its text in a file for a cluster, or runs a command there") {
  Machine machine;
  const Scenario scenario = serving("vllm");
  for (const std::vector<std::string>& names : {printed, obeyed}) {
    for (const std::string& name : names) {
      CAPTURE(name);
      Scenario named = with_name(scenario, name);
      check_pods(named, LaunchForm::kubernetes, name);
      check_pods(named, LaunchForm::leaderworkerset, name);
      const ExportedLaunch ray = export_launch(named, std::get<ServeScenario>(named.question), LaunchForm::ray_serve);
      const std::vector<ConfigValue> applications = read_yaml(ray.text);
      REQUIRE(applications.size() == 1);
      CHECK(keeps(at(applications.front(),
                     {"applications", "0", "args", "llm_configs", "0", "model_loading_config", "model_source"})
                      .text,
                  name));
      if (name.find('\0') == std::string::npos) {
        std::get<ServeScenario>(named.question).work.draft = draft_of(name);
        check_kserve(machine, named);
      }
    }
  }
}

TEST_CASE("no name runs a command in a training launch, and every form can still be read") {
  Machine machine;
  const Scenario scenario = training();
  for (const std::vector<std::string>& names : {printed, obeyed}) {
    for (const std::string& name : names) {
      export_training(machine, scenario, name);
    }
  }
}

TEST_CASE("no name runs a command in a serving launch") {
  Machine machine;
  export_serving(machine, printed);
  export_serving(machine, obeyed);
}

TEST_CASE("names that a shell would obey go through the whole program") {
  const ScratchFolder scratch;
  Machine machine;
  for (const std::string& name : printed) {
    CAPTURE(name);
    const fs::path file = scratch.path() / "scenario.toml";
    std::string toml = name;
    for (std::size_t at = toml.find_first_of("\\\""); at != std::string::npos;
         at = toml.find_first_of("\\\"", at + 2)) {
      toml.insert(at, "\\");
    }
    std::ofstream{file} << "schema = 1\nkind = \"train\"\nname = \"" << toml
                        << "\"\n[model]\nbase = \"llama3-70b\"\nid = \"" << toml
                        << "\"\n[hardware]\ngpu = \"h100-sxm-80gb\"\ngpus = 128\n[training]\nseq_len = 8192\n"
                        << "global_batch = 128\nprecision = \"bf16\"\n[strategy]\ntp = 8\npp = 4\nmicro_batch = 1\n"
                        << "recompute = \"none\"\n";
    const Run run = run_headroom("export '" + file.string() + "' --to slurm");
    CHECK(run.code == 0);
    CHECK(machine.run(run.out, "bash FILE").starts_with("srun "));
  }
}

TEST_CASE("control characters in names are refused with place and way out, whatever reads them") {
  const ScratchFolder scratch;
  const fs::path file = scratch.path() / "scenario.toml";
  const std::string train =
      "schema = 1\nkind = \"train\"\nmodel = \"llama3-70b\"\n[hardware]\ngpu = \"h100-sxm-80gb\"\ngpus = "
      "128\n[training]\n"
      "seq_len = 8192\nglobal_batch = 128\nprecision = \"bf16\"\n";
  for (const char* character :
       {"\\n", "\\u001b", "\\u0000", "\\u007f", "\\u009b", "\\t", "\\r", "\\u2028", "\\u202e"}) {
    CAPTURE(character);
    std::string text = train;
    text.insert(text.find("model ="), std::string{"name = \"a"} + character + "b\"\n");
    std::ofstream{file} << text;
    for (const char* verb : {"plan", "export --to slurm", "explain", "scale"}) {
      const Run run = run_headroom(std::string{verb} + " '" + file.string() + "'");
      CHECK(run.code == 2);
      CHECK(run.out.empty());
      CHECK_MESSAGE(run.err.find("scenario.toml:3:8: error: 'name' is 'a\\x") != std::string::npos, run.err);
      CHECK(run.err.find("it must be one line of printable text, without '\\x") != std::string::npos);
    }
  }
}
