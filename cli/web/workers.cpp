// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/web/frames.hpp>
#include <headroom/cli/web/workers.hpp>
#include <headroom/core/diagnostic.hpp>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <utility>

namespace headroom::cli {
namespace {

constexpr double grace = 1.0;  // seconds beyond an answer's limit, for what does not look at the clock

/// Questions whose data every worker starts with.
constexpr std::array<std::pair<WireVerb, std::string_view>, 3> usual_questions{{
    {WireVerb::plan,
     "{\"scenario\": {\"kind\": \"train\", \"model\": \"llama3-8b\", \"hardware\": {\"gpu\": \"h100-sxm-80gb\", "
     "\"gpus\": 8}, \"training\": {\"seq_len\": 8192, \"global_batch\": 64, \"precision\": \"bf16\"}, \"strategy\": "
     "{\"tp\": 1, \"pp\": 1, \"micro_batch\": 1}}}"},
    {WireVerb::plan,
     "{\"scenario\": {\"kind\": \"serve\", \"model\": \"llama3-8b\", \"hardware\": {\"gpu\": \"h100-sxm-80gb\", "
     "\"gpus\": 1}, \"serving\": {\"isl\": 512, \"osl\": 128, \"concurrency\": 8}}}"},
    {WireVerb::keys, ""},
}};

struct Pair {
  int ours = -1, theirs = -1;
};

Pair connected() {
  std::array<int, 2> ends{-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return {};
  }
  return {ends[0], ends[1]};
}

/// Ends this process once so many seconds have passed; 0: it does not.
void end_after(double seconds) {
  itimerval timer{};
  const double whole = std::floor(std::max(0.0, seconds));
  timer.it_value.tv_sec = static_cast<time_t>(whole);
  timer.it_value.tv_usec = static_cast<suseconds_t>((std::max(0.0, seconds) - whole) * 1e6);
  setitimer(ITIMER_REAL, &timer, nullptr);
}

void bound(int resource, rlim_t most) {
  const rlimit limit{most, most};
  setrlimit(resource, &limit);
}

/// Answers until the server's end of the socket is gone.
[[noreturn]] void work(int socket, const WorkerOptions& options, const QuestionLibrary& library) {
  bound(RLIMIT_CORE, 0);
  if (options.memory_bytes > 0) {
    bound(RLIMIT_AS, options.memory_bytes);
  }
  if (!options.opens_files) {
    bound(RLIMIT_NOFILE, 0);  // what is open stays open, and nothing else can be
  }
  const double most = options.limits.seconds > 0.0 ? options.limits.seconds + grace : 0.0;
  while (const std::optional<FramedRequest> request = receive_request(socket)) {
    end_after(most);
    const WireReply reply = wire_reply(library, request->verb, request->text, options.limits);
    end_after(0.0);
    if (!send_reply(socket, reply)) {
      break;
    }
  }
  _exit(0);
}

/// Forks a worker for each byte that comes, and hands its socket back.
[[noreturn]] void nurse(int control, const WorkerOptions& options, const std::function<QuestionLibrary()>& make) {
  std::signal(SIGINT, SIG_IGN);  // of the terminal, which the server answers
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGALRM, SIG_DFL);
  std::signal(SIGCHLD, SIG_IGN);  // nobody waits for workers
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    const QuestionLibrary library = make();
    for (const auto& [verb, question] : usual_questions) {
      static_cast<void>(wire_reply(library, verb, question, options.limits));
    }
    char byte = 0;
    ssize_t got = 0;
    while ((got = read(control, &byte, 1)) == 1 || (got < 0 && errno == EINTR)) {
      if (got < 0) {
        continue;
      }
      const Pair pair = connected();
      const pid_t worker = pair.ours < 0 ? -1 : fork();
      if (worker == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(control);
        close(pair.ours);
        work(pair.theirs, options, library);
      }
      close(pair.theirs);
      const bool sent = send_socket(control, pair.ours);
      close(pair.ours);
      if (!sent) {
        break;
      }
    }
  } catch (...) {  // NOLINT(bugprone-empty-catch): the server sees that this end is gone
  }
  _exit(0);
}

}  // namespace

Workers::Workers(WorkerOptions options, const std::function<QuestionLibrary()>& library) : options_{options} {
  const Pair pair = connected();
  nursery_pid_ = pair.ours < 0 ? -1 : fork();
  if (nursery_pid_ == 0) {
    close(pair.ours);
    nurse(pair.theirs, options_, library);
  }
  close(pair.theirs);
  nursery_ = pair.ours;
  if (nursery_pid_ < 0) {
    throw ConfigError{"the system starts no process for the questions"};
  }
  for (std::size_t i = 0; i < options_.workers; ++i) {
    const int worker = spawned();
    if (worker < 0) {
      throw ConfigError{"the system starts no process for the questions"};
    }
    idle_.push_back(worker);
  }
  alive_ = idle_.size();
}

Workers::~Workers() {
  stop(0.0);
  close(nursery_);
  int status = 0;
  while (waitpid(nursery_pid_, &status, 0) < 0 && errno == EINTR) {
  }
}

int Workers::spawned() {
  const char byte = 'w';
  if (send(nursery_, &byte, 1, MSG_NOSIGNAL) != 1) {
    return -1;
  }
  return receive_socket(nursery_);
}

int Workers::take() {
  std::unique_lock lock{mutex_};
  if (stopped_ || waiting_ >= options_.waiting) {
    return -1;
  }
  ++waiting_;
  free_.wait_for(lock, std::chrono::duration<double>(options_.patience),
                 [&] { return stopped_ || !idle_.empty() || alive_ < options_.workers; });
  --waiting_;
  if (stopped_) {
    return -1;
  }
  int worker = -1;
  if (!idle_.empty()) {
    worker = idle_.back();
    idle_.pop_back();
  } else if (alive_ < options_.workers) {
    worker = spawned();  // one that ended is replaced
    alive_ += worker < 0 ? 0 : 1;
  }
  if (worker >= 0) {
    busy_.push_back(worker);
  }
  return worker;
}

void Workers::give_back(int worker) {
  const std::lock_guard lock{mutex_};
  std::erase(busy_, worker);
  if (stopped_) {
    close(worker);
    --alive_;
  } else {
    idle_.push_back(worker);
  }
  free_.notify_one();
  if (busy_.empty()) {
    done_.notify_all();
  }
}

WireReply Workers::ask(WireVerb verb, std::string_view request) {
  const int worker = take();
  if (worker < 0) {
    return wire_refusal(503, "more questions are asked than are answered; ask again in a second");
  }
  const auto start = std::chrono::steady_clock::now();
  std::optional<WireReply> reply;
  if (send_request(worker, verb, request)) {
    reply = receive_reply(worker);
  }
  if (reply) {
    give_back(worker);
    return *std::move(reply);
  }
  const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  bool stopped = false;
  {
    const std::lock_guard lock{mutex_};
    std::erase(busy_, worker);
    close(worker);
    --alive_;
    stopped = stopped_;
    free_.notify_one();
    if (busy_.empty()) {
      done_.notify_all();
    }
  }
  if (stopped) {
    return wire_refusal(503, "the server stops");
  }
  const double most = options_.limits.seconds;
  if (most > 0.0 && passed >= most) {
    return wire_refusal(503, "the answer takes longer than " + std::to_string(std::lround(most)) +
                                 " s, the limit here; ask a smaller question, or with the command line");
  }
  return wire_refusal(500,
                      "the process that answers ended; this is a defect of Headroom or of the machine's memory, "
                      "please report it with the question");
}

void Workers::stop(double seconds) {
  std::unique_lock lock{mutex_};
  if (!stopped_ && seconds > 0.0) {
    done_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return busy_.empty(); });
  }
  stopped_ = true;
  for (const int worker : busy_) {
    shutdown(worker, SHUT_RDWR);  // who asks it closes it
  }
  for (const int worker : idle_) {
    close(worker);
  }
  alive_ -= idle_.size();
  idle_.clear();
  free_.notify_all();
}

}  // namespace headroom::cli
