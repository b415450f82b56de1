// The kinds of questions without a form of their own: each begins with an example, and its form is made of the engine's
// table of keys. The examples are scenarios that ship; a list of tables is counted from one, `tenant.2.rate`.

export const EXAMPLES = [
  {
    id: "batch",
    title: "Batch",
    asks: "What do calls of a network, or a language model on many prompts, take?",
    is: (state) => state.get("kind") === "batch",
    examples: [
      {title: "A million images a day", start: {
        "kind": "batch", "model": "resnet-50", "hardware.gpu": "t4", "inference.engine": "tensorrt",
        "inference.precision": "fp16", "requests.rate": "1e6 req/d", "requests.peak": "10", "requests.slo.p95": "100 ms",
        "money.price": "0.35 $/h", "money.date": "2026-08",
      }},
      {title: "500 million records overnight", start: {
        "kind": "batch", "model": "resnet-50", "hardware.gpu": "t4", "inference.engine": "tensorrt",
        "inference.precision": "fp16", "job.records": "5e8", "job.deadline": "8 h", "job.chunk": "100000",
        "job.interruptions": "1 req/d", "job.start": "5 min", "job.utilisation": "0.85", "money.price": "0.35 $/h",
        "money.date": "2026-08",
      }},
      {title: "Ten million prompts overnight", start: {
        "kind": "batch", "model": "llama3.1-8b", "hardware.gpu": "h100-sxm-80gb", "serving.engine": "vllm",
        "serving.isl": "1000", "serving.osl": "100", "job.records": "1e7", "job.deadline": "8 h", "job.chunk": "20000",
        "job.interruptions": "1 req/d", "job.start": "10 min", "money.price": "1.50 $/h", "money.date": "2026-08",
      }},
      {title: "The cheapest GPU", start: {
        "kind": "batch", "model": "resnet-50", "search.gpu": "[\"t4\", \"a100-sxm-80gb\"]",
        "search.precision": "[\"fp16\", \"int8\"]", "search.offer.1.gpu": "t4", "search.offer.1.price": "0.35 $/h",
        "search.offer.1.date": "2026-08", "search.offer.2.gpu": "a100-sxm-80gb", "search.offer.2.price": "4.1 $/h",
        "search.offer.2.date": "2026-08", "requests.rate": "1e6 req/d", "requests.peak": "10", "requests.slo.p95": "100 ms",
      }},
    ],
  },
  {
    id: "post_train",
    title: "Post-train",
    asks: "Which GPUs sample, which train, and what does a step take?",
    is: (state) => state.get("kind") === "post_train",
    examples: [
      {title: "GRPO of a 32B on 64 GPUs", start: {
        "kind": "post_train", "model": "qwen3-32b", "hardware.gpu": "h100-sxm-80gb", "hardware.gpus": "64",
        "hardware.node": "dgx-h100", "post_train.algorithm": "grpo", "post_train.software": "nemo-rl",
        "post_train.prompts": "64", "post_train.samples": "32", "post_train.prompt_tokens": "110",
        "post_train.answer_tokens": "3200", "post_train.answer_most": "4096", "post_train.mini_batch": "512",
        "post_train.steps": "1000", "pools.placement": "any", "pools.staleness": "1", "money.prices": "lambda-2026-08",
        "money.market": "on-demand",
      }},
      {title: "Stages that feed each other", start: {
        "kind": "post_train", "hardware.gpu": "l40", "stage.1.name": "render", "stage.1.rate": "21000",
        "stage.2.name": "train", "stage.2.rate": "84000", "stage.2.demand": "84000",
      }},
    ],
  },
  {
    id: "sharing",
    title: "Share a card",
    asks: "How do tenants share a card, and what is stranded?",
    is: (state) => state.get("kind") === "sharing",
    examples: [
      {title: "Two services by day, a training by night", start: {
        "kind": "sharing", "hardware.gpu": "a100-sxm-80gb", "money.price": "1.80 $/h", "money.date": "2026-08",
        "money.source": "quote", "tenant.1.name": "search", "tenant.1.busy": "0.45", "tenant.1.memory": "16 GB",
        "tenant.1.rate": "40 req/s", "tenant.1.call": "9 ms", "tenant.1.spread": "0.3", "tenant.1.hours": "06:00-20:00",
        "tenant.1.slo.p95": "40 ms", "tenant.2.name": "ads", "tenant.2.busy": "0.6", "tenant.2.memory": "10 GB",
        "tenant.2.rate": "25 req/s", "tenant.2.call": "6 ms", "tenant.2.hours": "06:00-20:00", "tenant.2.slo.p95": "30 ms",
        "tenant.3.name": "finetune", "tenant.3.kind": "training", "tenant.3.busy": "1", "tenant.3.memory": "40 GB",
        "tenant.3.step": "1.2 s", "tenant.3.hours": "20:00-06:00",
      }},
    ],
  },
  {
    id: "cluster",
    title: "Cluster",
    asks: "Who runs when, who waits, and what would one more node buy?",
    is: (state) => state.get("kind") === "cluster",
    examples: [
      {title: "Two teams", start: {
        "kind": "cluster", "policy.order": "fair", "policy.horizon": "7 d", "pool.1.name": "a100",
        "pool.1.gpu": "a100-sxm-80gb", "pool.1.nodes": "8", "pool.1.price": "2 $/h", "pool.1.date": "2026-08",
        "pool.2.name": "t4", "pool.2.gpu": "t4", "pool.2.nodes": "8", "pool.2.gpus_per_node": "4", "pool.2.price": "0.35 $/h",
        "pool.2.date": "2026-08", "pool.3.name": "burst", "pool.3.gpu": "h100-sxm-80gb", "pool.3.nodes": "2",
        "pool.3.rented": "true", "pool.3.start_up": "10 min", "pool.3.speed": "2", "pool.3.price": "4 $/h",
        "pool.3.date": "2026-08", "tenant.1.name": "research", "tenant.1.weight": "2", "tenant.1.credit": "6000 GPU-h",
        "tenant.2.name": "product", "job.1.name": "tune", "job.1.tenant": "research", "job.1.count": "3",
        "job.1.needs.gpu": "a100-sxm-80gb", "job.1.gpus": "8", "job.1.time": "40 h", "job.2.name": "sweep",
        "job.2.tenant": "research", "job.2.count": "20", "job.2.gpus": "4", "job.2.time": "12 h", "job.2.preemptible": "true",
        "job.2.checkpoint": "1 h", "job.2.restart": "5 min", "job.2.needs.gpu": "a100-sxm-80gb", "job.3.name": "judge",
        "job.3.tenant": "research", "job.3.gpus": "8", "job.3.time": "3 h", "job.3.after": "[\"tune\", \"sweep\"]",
        "job.3.needs.gpu": "a100-sxm-80gb", "job.3.spill": "true", "job.4.name": "records", "job.4.tenant": "product",
        "job.4.count": "4", "job.4.needs.gpu": "t4", "job.4.spill": "true", "job.4.deadline": "4 d", "job.4.gpus": "4",
        "job.4.time": "9 h", "job.5.name": "release", "job.5.tenant": "product", "job.5.gpus": "32", "job.5.time": "6 h",
        "job.5.arrival": "1 d", "job.5.priority": "10", "job.5.deadline": "36 h", "job.5.needs.gpu": "a100-sxm-80gb",
        "job.6.name": "chat", "job.6.tenant": "product", "job.6.gpus": "8", "job.6.service": "true",
        "job.6.pools": "[\"a100\"]", "rollout.1.job": "chat", "rollout.1.at": "2 d", "rollout.1.surge": "25 %",
        "rollout.1.start": "3 min", "rollout.1.drain": "1 min",
      }},
      {title: "Labels and stranded GPUs", start: {
        "kind": "cluster", "pool.1.name": "t4", "pool.1.gpu": "t4", "pool.1.gpus": "8", "pool.1.gpus_per_node": "4",
        "pool.1.labels.class": "light", "pool.1.price": "0.35 $/h", "pool.1.date": "2026-08", "pool.2.name": "a100",
        "pool.2.gpu": "a100-sxm-80gb", "pool.2.nodes": "2", "pool.2.labels.class": "large", "pool.2.price": "2 $/h",
        "pool.2.date": "2026-08", "job.1.name": "light", "job.1.count": "24", "job.1.needs.class": "light", "job.1.gpus": "1",
        "job.1.time": "2 h", "job.2.name": "large", "job.2.count": "3", "job.2.needs.class": "large", "job.2.gpus": "8",
        "job.2.time": "3 h",
      }},
    ],
  },
  {
    id: "classic",
    title: "Classic",
    asks: "GPU or cores: trees, vectors, recommenders, video, simulators?",
    is: (state) => state.get("kind") === "classic",
    examples: [
      {title: "Boosted trees", start: {
        "kind": "classic", "hardware.gpu": "a100-sxm-40gb", "hardware.gpus": "1", "host.cpu": "xeon-e5-2686-v4",
        "money.price": "1.29 $/h", "money.date": "2026-08", "money.source": "quote", "trees.rows": "1e7",
        "trees.features": "8", "trees.rounds": "100", "trees.depth": "10",
      }},
      {title: "A billion vectors", start: {
        "kind": "classic", "hardware.gpu": "t4", "vectors.index": "ivf-pq", "vectors.vectors": "1e9", "vectors.dims": "96",
        "vectors.code": "20", "vectors.lists": "262144", "vectors.probes": "64", "vectors.ids_on_host": "true",
        "vectors.recall": "0.86", "vectors.wanted_recall": "0.88", "vectors.rate": "200000 req/s",
      }},
      {title: "A recommender", start: {
        "kind": "classic", "hardware.gpu": "a100-sxm-80gb", "hardware.gpus": "8", "recommender.model": "dlrm",
        "recommender.parameters": "1.13e11", "recommender.batch": "65536", "recommender.half": "true",
      }},
      {title: "Cameras on an L4", start: {
        "kind": "classic", "hardware.gpu": "l4", "money.price": "0.80 $/h", "money.date": "2026-08", "money.source": "quote",
        "video.codec": "hevc", "video.fps": "30", "video.frame_time": "2.5 ms", "video.every": "3", "video.encode": "h264",
        "video.preset": "p1", "video.out_width": "1280", "video.out_height": "720", "video.model_memory": "2 GB",
        "video.streams": "500",
      }},
      {title: "Humanoids simulated", start: {
        "kind": "classic", "hardware.gpu": "l40", "hardware.gpus": "4", "host.cpu": "xeon-8362", "simulator.task": "humanoid",
        "simulator.envs": "4096", "simulator.steps": "1e9", "simulator.demand": "1000000 req/s",
      }},
      {title: "A policy in its loop", start: {
        "kind": "classic", "hardware.gpu": "rtx-4090", "hardware.gpus": "1", "control.model": "pi0", "control.views": "3",
        "control.chunk": "63", "control.network": "10 ms", "control.rate": "20 req/s",
      }},
    ],
  },
];
