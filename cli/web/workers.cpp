// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/web/frames.hpp>
#include <headroom/cli/web/question_cost.hpp>
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
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace headroom::cli {
namespace {

constexpr double grace = 1.0;          // seconds beyond an answer's limit, for what does not look at the clock
constexpr int heavy_nice = 10;         // of nice(2): a light question that runs beside takes nine tenths of a processor
constexpr double newest_share = 0.05;  // of the latest answer in the mean of what answers take
constexpr std::array<char, question_costs> letters{'l', 'h'};  // what the nursery is told to fork

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
[[noreturn]] void work(int socket, char letter, const WorkerOptions& options, const QuestionLibrary& library) {
  bound(RLIMIT_CORE, 0);
  if (letter == letters[static_cast<std::size_t>(QuestionCost::heavy)]) {
    setpriority(PRIO_PROCESS, 0, heavy_nice);
  }
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

/// Forks a worker of its kind for each byte that comes, and hands its socket back.
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
        work(pair.theirs, byte, options, library);
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
  pool_of(QuestionCost::light).most = options_.workers;
  pool_of(QuestionCost::heavy).most = std::max<std::size_t>(1, options_.workers / 2);
  for (const QuestionCost cost : {QuestionCost::light, QuestionCost::heavy}) {
    Pool& pool = pool_of(cost);
    while (pool.alive < pool.most) {
      const int worker = spawned(cost);
      if (worker < 0) {
        throw ConfigError{"the system starts no process for the questions"};
      }
      pool.idle.push_back(worker);
      ++pool.alive;
    }
  }
}

Workers::~Workers() {
  stop(0.0);
  close(nursery_);
  int status = 0;
  while (waitpid(nursery_pid_, &status, 0) < 0 && errno == EINTR) {
  }
}

double Workers::Pool::seconds_until_free() const noexcept {
  return mean_seconds * static_cast<double>(waiting.size() + 1) / static_cast<double>(most);
}

int Workers::spawned(QuestionCost cost) {
  const char byte = letters[static_cast<std::size_t>(cost)];
  if (send(nursery_, &byte, 1, MSG_NOSIGNAL) != 1) {
    return -1;
  }
  return receive_socket(nursery_);
}

/// Called with the lock, whenever a worker is free or a question waits.
void Workers::hand_out(QuestionCost cost) {
  Pool& pool = pool_of(cost);
  while (!pool.waiting.empty() && (!pool.idle.empty() || pool.alive < pool.most)) {
    int worker = -1;
    if (!pool.idle.empty()) {
      worker = pool.idle.back();
      pool.idle.pop_back();
    } else {
      worker = spawned(cost);  // one that ended is replaced
      pool.alive += worker < 0 ? 0 : 1;
    }
    Waiting& next = *pool.waiting.front();
    pool.waiting.pop_front();
    next.worker = worker;
    next.over = true;
    next.ready.notify_one();
    if (worker >= 0) {
      busy_.push_back(worker);
    }
  }
}

int Workers::take(QuestionCost cost, double& retry_after) {
  std::unique_lock lock{mutex_};
  Pool& pool = pool_of(cost);
  const double patience = cost == QuestionCost::light ? options_.light_patience : options_.patience;
  const bool free = pool.waiting.empty() && (!pool.idle.empty() || pool.alive < pool.most);
  retry_after = pool.seconds_until_free();
  if (stopped_ || (!free && (pool.waiting.size() >= options_.waiting || retry_after > patience))) {
    return -1;
  }
  Waiting own;
  pool.waiting.push_back(&own);
  hand_out(cost);
  own.ready.wait_for(lock, std::chrono::duration<double>(patience), [&] { return own.over; });
  if (!own.over) {
    std::erase(pool.waiting, &own);
    retry_after = pool.seconds_until_free();
  }
  return own.worker;
}

void Workers::give_back(QuestionCost cost, int worker, bool lives, double seconds) {
  const std::lock_guard lock{mutex_};
  Pool& pool = pool_of(cost);
  std::erase(busy_, worker);
  pool.mean_seconds += (pool.mean_seconds > 0.0 ? newest_share : 1.0) * (seconds - pool.mean_seconds);
  if (stopped_ || !lives) {
    close(worker);
    --pool.alive;
  } else {
    pool.idle.push_back(worker);
  }
  if (!stopped_) {
    hand_out(cost);
  }
  if (busy_.empty()) {
    done_.notify_all();
  }
}

WorkerReply Workers::ask(WireVerb verb, std::string_view request) {
  const QuestionCost cost = cost_of(verb, request);
  double retry_after = 1.0;
  const int worker = take(cost, retry_after);
  if (worker < 0) {
    const double seconds = std::max(1.0, std::ceil(retry_after));
    return {wire_refusal(503, "more questions are asked than are answered; ask again in " +
                                  std::to_string(std::lround(seconds)) + " s"),
            seconds};
  }
  const auto start = std::chrono::steady_clock::now();
  std::optional<WireReply> reply;
  if (send_request(worker, verb, request)) {
    reply = receive_reply(worker);
  }
  const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  give_back(cost, worker, reply.has_value(), passed);
  if (reply) {
    return {*std::move(reply)};
  }
  {
    const std::lock_guard lock{mutex_};
    if (stopped_) {
      return {wire_refusal(503, "the server stops")};
    }
  }
  const double most = options_.limits.seconds;
  if (most > 0.0 && passed >= most) {
    return {wire_refusal(503, "the answer takes longer than " + std::to_string(std::lround(most)) +
                                  " s, the limit here; ask a smaller question, or with the command line")};
  }
  return {wire_refusal(500,
                       "the process that answers ended; this is a defect of Headroom or of the machine's memory, "
                       "please report it with the question")};
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
  for (Pool& pool : pools_) {
    for (const int worker : pool.idle) {
      close(worker);
    }
    pool.alive -= pool.idle.size();
    pool.idle.clear();
    for (Waiting* const waiting : pool.waiting) {
      waiting->over = true;
      waiting->ready.notify_one();
    }
    pool.waiting.clear();
  }
}

}  // namespace headroom::cli
