// SPDX-License-Identifier: Apache-2.0
// Laws of classic machine learning against arithmetic by hand, limits that they must keep, and published measurements.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/classic/boosted_trees.hpp>
#include <headroom/model/classic/clusters.hpp>
#include <headroom/model/classic/recommender.hpp>
#include <headroom/model/classic/vector_search.hpp>

#include <doctest/doctest.h>

#include "../support/model_data.hpp"
#include <cmath>

using namespace headroom;
using namespace headroom::classic;
using headroom::test::model_data;

namespace {

const Numbers& law() {
  return numbers(model_data());
}
Card sku(const char* id) {
  static const Catalog shipped = Catalog::standard();
  return card_of(shipped.device(id));
}
Cores cores(const char* id, double count) {
  static const Catalog shipped = Catalog::standard();
  return cores_of(find_cpu(shipped, id), 1.0, count, count);
}
TreeTask airline(double rows) {
  return {rows, 8.0, 8.0, 256.0, 100.0, 10.0, 1.0};
}

}  // namespace

TEST_CASE("classic: trees add each entry of each row once a level of each tree") {
  // 1e6 rows x 8 entries x 10 levels x 100 trees.
  CHECK(tree_updates(airline(1e6)) == doctest::Approx(8e9));
  // At 300 rows a node, a million of them split 2^10 nodes and 30,000 only a hundred.
  CHECK(tree_nodes(airline(1e6), 300.0) == doctest::Approx(1024.0));
  CHECK(tree_nodes(airline(3e4), 300.0) == doctest::Approx(100.0));
  // 1024 nodes x 8 columns x 256 bins x 16 B.
  CHECK(tree_exchange(airline(1e7), 300.0).raw() == doctest::Approx(1024.0 * 8 * 256 * 16));
}

TEST_CASE("classic: trees of 10 M rows take what GBM-perf published, and GPUs win between 100 K and 10 M rows") {
  const GpuTrees& gpu = *law().gpu_library("xgboost");
  const CpuTrees& cpu = *law().cpu_library("xgboost");
  const auto on = [&](const char* id, double rows) {
    return tree_time(airline(rows), sku(id), 1.0, cores("xeon-8358", 15.0), gpu, law().rows_per_split).total().raw();
  };
  // szilard/GBM-perf, 2024: H100 3.64 s, L4 6.12 s.
  CHECK(on("h100-pcie-80gb", 1e7) == doctest::Approx(3.64).epsilon(0.15));
  CHECK(on("l4", 1e7) == doctest::Approx(6.12).epsilon(0.15));
  const Cores host = cores("xeon-e5-2686-v4", 16.0);
  CHECK(tree_time(airline(1e5), host, cpu).total().raw() < on("v100-sxm2-16gb", 1e5));
  CHECK(tree_time(airline(1e7), host, cpu).total().raw() > on("v100-sxm2-16gb", 1e7));
}

TEST_CASE("classic: updates of trees share cards, levels do not, and histograms are exchanged") {
  const GpuTrees& library = *law().gpu_library("xgboost");
  const Card card = sku("a100-sxm-80gb");
  const TreeTime one = tree_time(airline(1e7), card, 1.0, cores("epyc-7742", 64.0), library, 300.0);
  const TreeTime four = tree_time(airline(1e7), card, 4.0, cores("epyc-7742", 64.0), library, 300.0);
  CHECK(four.updates.raw() == doctest::Approx(one.updates.raw() / 4.0));
  CHECK(four.levels == one.levels);
  CHECK(one.exchange == Seconds{});
  // 100 trees x 2 x 3 / 4 x bytes over the link.
  CHECK(four.exchange.raw() == doctest::Approx(150.0 * tree_exchange(airline(1e7), 300.0).raw() / card.link.raw()));
}

TEST_CASE("classic: barriers of a second socket cost LightGBM more than its cores give") {
  static const Catalog shipped = Catalog::standard();
  const Cpu cpu = find_cpu(shipped, "xeon-8488c");
  const CpuTrees& library = *law().cpu_library("lightgbm");
  const Seconds one = tree_time(airline(1e6), cores_of(cpu, 1.0, 48.0, 48.0), library).total();
  const Seconds two = tree_time(airline(1e6), cores_of(cpu, 2.0, 96.0, 96.0), library).total();
  CHECK(two > one);
}

TEST_CASE("classic: rows that the last cache does not hold wait for memory, however many cores") {
  static const Catalog shipped = Catalog::standard();
  CpuTrees library = *law().cpu_library("xgboost");
  library.index = Bytes{4.0};
  library.row = Bytes{18.0};
  library.far = Seconds{1e-9};
  // 48 of 48 cores have all of 105 MiB, which hold 1e6 rows of 8 x 4 + 18 B and a fifth of 1e7.
  const Cpu cpu = find_cpu(shipped, "xeon-8488c");
  const auto memory = [&](double rows, double count) {
    return tree_time(airline(rows), cores_of(cpu, 1.0, count, count), library).memory.raw();
  };
  CHECK(memory(1e6, 48.0) == 0.0);
  const double held = 105.0 * 1024 * 1024 / 500e6;
  CHECK(memory(1e7, 48.0) == doctest::Approx(1e7 * 10 * 100 * 1e-9 * (1.0 - held)));
  // Half the cores have half of it.
  CHECK(memory(1e7, 24.0) == doctest::Approx(10.0 * (1.0 - held / 2.0)));
}

TEST_CASE("classic: over two sockets each pair of cores costs a level its part") {
  static const Catalog shipped = Catalog::standard();
  CpuTrees library = *law().cpu_library("lightgbm");
  const Cpu cpu = find_cpu(shipped, "epyc-9r14");
  const auto levels = [&](double sockets, double count, double threads) {
    return tree_time(airline(1e6), cores_of(cpu, sockets, count, threads), library).levels.raw();
  };
  // 1000 levels x 96^2 pairs; hyper-threads of a core share its cache and cost nothing more.
  CHECK(levels(2.0, 96.0, 96.0) - levels(1.0, 96.0, 96.0) == doctest::Approx(1000.0 * 96 * 96 * library.across.raw()));
  CHECK(levels(1.0, 48.0, 96.0) == levels(1.0, 48.0, 48.0));
}

TEST_CASE("classic: a host beside a card moves bytes with its part of the socket's memory, at its base clock") {
  const GpuTrees& library = *law().gpu_library("lightgbm");
  const Cores half = cores("xeon-8358", 16.0);
  CHECK(half.held < half.speed);  // 2.6 and 3.3 GHz
  const TreeTime time = tree_time(airline(1e7), sku("a10"), 1.0, half, library, 300.0);
  // 16 of 32 cores have half of eight channels of DDR4-3200.
  const double bytes = 1e7 * 8 * 10 * 100 * library.host_bytes.raw();
  CHECK(time.host.raw() == doctest::Approx(bytes / 102.4e9 + 8e10 / half.held * library.host_serial.raw()));
  CHECK(time.levels.raw() == doctest::Approx(1000.0 / half.held * library.level.raw()));
}

TEST_CASE("classic: k-means multiplies 2 n d k an iteration") {
  const KMeansTask task{1e6, 256.0, 20000.0, 25.0, false};
  CHECK(kmeans_flops(task).raw() == doctest::Approx(256e12));
  // faiss wiki: one P100 takes 55 s, eight 14 s, since the points go over the bus.
  const Card& p100 = *law().card("p100");
  CHECK(kmeans_time(task, p100, 1.0, false, law().kmeans).total().raw() == doctest::Approx(55.0).epsilon(0.06));
  CHECK(kmeans_time(task, p100, 8.0, false, law().kmeans).total().raw() == doctest::Approx(14.0).epsilon(0.15));
  CHECK(kmeans_exchange(task).raw() == doctest::Approx(4.0 * 20000 * 257));
  // A problem of nothing: 50 iterations of faiss on a GPU took 1.0 s, of scikit-learn 0.3 s.
  const KMeansTask tiny{1e4, 3.0, 8.0, 50.0, false};
  CHECK(kmeans_time(tiny, sku("t4"), 1.0, false, law().kmeans).total() >
        kmeans_time(tiny, cores("xeon-e5-2698-v4", 20.0), law().kmeans).total());
}

TEST_CASE("classic: flat search reads every vector, an inverted file its part of the lists") {
  SearchTask flat;
  flat.vectors = 1e6;
  flat.dims = 128.0;
  const Card a100 = sku("a100-sxm-80gb");
  const SearchTime one = search_time(flat, a100, 1.0, 1.0, law());
  CHECK(one.scanned.raw() == doctest::Approx(512e6));
  CHECK(one.scan.raw() == doctest::Approx(512e6 / a100.bandwidth.raw()));  // 0.251 ms at 2,039 GB/s
  SearchTask lists = flat;
  lists.index = IndexKind::ivf_flat;
  lists.lists = 1000.0;
  lists.probes = 10.0;
  lists.batch = 100.0;
  // 100 queries x 10 probes x 1000 vectors x 512 B.
  CHECK(search_time(lists, a100, 1.0, 1.0, law()).scanned.raw() == doctest::Approx(512e6));
  CHECK(search_time(lists, a100, 2.0, 1.0, law()).scanned.raw() == doctest::Approx(256e6));
  CHECK(search_time(lists, a100, 2.0, 1.0, law()).merge > Seconds{});
}

TEST_CASE("classic: a billion codes of 8 bytes take 8 GB, their ids as much again") {
  SearchTask task;
  task.index = IndexKind::ivf_pq;
  task.vectors = 1e9;
  task.dims = 128.0;
  task.code = 8.0;
  task.lists = 262144.0;
  CHECK(search_memory(task).vectors.raw() == doctest::Approx(8e9));
  CHECK(search_memory(task).ids.raw() == doctest::Approx(8e9));
  task.ids = false;
  CHECK(search_memory(task).ids == Bytes{});
}

TEST_CASE("classic: misses fall as a power of the knob, and the knob for a recall is the inverse") {
  // Twice the probes halve the misses at power 1: 0.8 to 0.9.
  CHECK(recall_at(0.8, 32.0, 64.0, 1.0) == doctest::Approx(0.9));
  CHECK(knob_for(0.8, 32.0, 0.9, 1.0) == doctest::Approx(64.0));
  for (const double power : {0.5, 1.0, 2.0}) {
    CHECK(recall_at(0.7, 10.0, knob_for(0.7, 10.0, 0.95, power), power) == doctest::Approx(0.95));
  }
  CHECK(recall_at(0.1, 32.0, 1.0, 1.0) == 0.0);
}

TEST_CASE("classic: the largest of a billion on eight cards are read in 0.245 ms and merged from 9.6 kB") {
  const Card a100 = sku("a100-sxm-80gb");
  const TopKTime time = top_k_time({1e9, 100.0, 4.0, 8.0}, a100, law());
  CHECK(time.scan.raw() == doctest::Approx(0.5e9 / a100.bandwidth.raw()));
  CHECK(time.merged.raw() == doctest::Approx(9600.0));
}

TEST_CASE("classic: partial sums send at most a row a key and worker") {
  // Each of 100 workers draws 1e7 of 1e6 keys: 1 - exp(-10) of them.
  CHECK(distinct_keys(1e7, 1e6) == doctest::Approx(1e6 * (1.0 - std::exp(-10.0))));
  CHECK(distinct_keys(1.0, 1e6) == doctest::Approx(1.0));
  const Cores host = cores("xeon-8488c", 48.0);
  const GroupTime with = group_time({1e9, 1e6, 100.0, 16.0, true}, host, BytesPerSecond{12.5e9});
  const GroupTime without = group_time({1e9, 1e6, 100.0, 16.0, false}, host, BytesPerSecond{12.5e9});
  CHECK(with.sent_rows <= 1e8);
  CHECK(with.sent_rows > 0.99e8);
  CHECK(without.sent_rows == doctest::Approx(1e9));
  CHECK(with.shuffle < without.shuffle);
}

TEST_CASE("classic: DLRM's layers multiply what their widths say") {
  const RecommenderTask dlrm;
  // 13-512-256-128, 26 x 27 / 2 pairs of 128, 479-1024-1024-512-256-1.
  const double bottom = 13 * 512 + 512 * 256 + 256 * 128, pairs = 351.0 * 128;
  const double top = 479.0 * 1024 + 1024.0 * 1024 + 1024 * 512 + 512 * 256 + 256;
  CHECK(dense_multiplications(dlrm) == doctest::Approx(bottom + pairs + top));
  CHECK(rows_bytes(dlrm).raw() == doctest::Approx(26 * 128 * 4));
  // 8192 samples x 26 rows of 128 x 2 B x 7 / 8.
  CHECK(exchange_bytes(dlrm, 8.0, 8192.0, false).raw() == doctest::Approx(8192.0 * 26 * 128 * 2 * 7 / 8));
}

TEST_CASE("classic: whole tables fill one card more than the mean, and few tiles leave multiprocessors idle") {
  // 26 tables on 8 cards: four on the fullest, 3.25 on the mean; on 13 cards two on each.
  CHECK(fullest_card(26.0, 8.0) == doctest::Approx(4.0 / 3.25));
  CHECK(fullest_card(26.0, 13.0) == doctest::Approx(1.0));
  CHECK(fullest_card(26.0, 52.0) == doctest::Approx(2.0));
  const RecommenderTask dlrm;
  const Card a100 = sku("a100-sxm-80gb");
  const double peak = 2.0 * dense_multiplications(dlrm) / a100.tf32.raw();
  // Of very many samples every multiprocessor works: 2 FLOP a multiplication at the peak.
  CHECK(dense_time(dlrm, a100, 1e7, 1.0).raw() == doctest::Approx(1e7 * peak).epsilon(0.02));
  // A layer of one output and 13 inputs has fewer tiles than multiprocessors, whatever the batch below 64 x 108.
  CHECK(dense_time(dlrm, a100, 64.0, 1.0) ==
        dense_time(dlrm, a100, 32.0, 1.0) + Flops{2.0 * 32.0 * 351.0 * 128.0} / a100.tf32);
}

TEST_CASE("classic: the host beside a card waits for no one but LightGBM and CatBoost") {
  const Card card = sku("a10");
  const auto with = [&](const char* library, const Cores& host) {
    return tree_time(airline(1e7), card, 1.0, host, *law().gpu_library(library), law().rows_per_split).total();
  };
  const Cores fast = cores("xeon-8358", 15.0), slow = cores("xeon-e5-2686-v4", 4.0);
  CHECK(with("xgboost", fast) == with("xgboost", slow));
  CHECK(with("catboost", fast) < with("catboost", slow));
  // GBM-perf: 40 s on a V100 beside four cores of an E5-2686 v4, a third of it (12.6 s) beside 15 of a Xeon 8358.
  CHECK(with("lightgbm", fast) < 0.5 * with("lightgbm", slow));
  CHECK(with("lightgbm", slow).raw() == doctest::Approx(40.0).epsilon(0.25));
}

TEST_CASE("classic: hits of a cache follow Zipf's law") {
  CHECK(cache_hits(1e6, 1e6, 1.0) == 1.0);
  CHECK(cache_hits(1.0, 1e6, 1.0) == 0.0);
  CHECK(cache_hits(1e3, 1e6, 1.0) == doctest::Approx(0.5));  // ln 1e3 / ln 1e6
  CHECK(cache_hits(1e5, 1e6, 0.0) == doctest::Approx(0.1).epsilon(0.01));
  CHECK(cache_hits(1e4, 1e6, 1.2) > cache_hits(1e4, 1e6, 0.8));
}

TEST_CASE("classic: a step on eight A100 of 64k samples reaches what NVIDIA published") {
  RecommenderTask task;
  task.half = true;
  const Seconds step = recommender_step(task, sku("a100-sxm-80gb"), 8.0, 8192.0, {}, law().recommender).total();
  // DLRM_and_DCNv2 README, 113B parameters, AMP: 11.5 M samples/s.
  CHECK(65536.0 / step.raw() == doctest::Approx(11.5e6).epsilon(0.3));
}
