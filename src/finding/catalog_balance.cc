#include "finding/catalog_parts.h"
#include "finding/catalog_sources.h"

namespace weir::finding {
namespace {

CatalogEntry ecmp_same_seed() {
  return {
      .id = "ecmp.same_seed",
      .title = "two tiers use the same ECMP hash seed",
      .severity = Severity::kWarning,
      .rows = {"A2"},
      .phase = "lint",
      .why =
          "The leaf spreads flows by a hash of the five-tuple; a switch above that computes the "
          "same hash with the same seed sees only flows with one hash result, and sends them all "
          "the same way. Of m uplinks it uses one for each bucket of the tier below, so m paths "
          "remain of m x m. One seed per switch costs nothing.",
      .fix = {{.platform = "design",
               .commands = {"load_balancing: { seeds: per-switch }"},
               .note = "Also remove ecmp_seed where groups share one."},
              {.platform = "cumulus",
               .commands = {"nv set system forwarding hash-seed <number>", "nv config apply"},
               .note =
                   "Another number on each switch; without this line the switch chooses its own."}},
      .sources = {"same hash and seed at two tiers: tier two uses one of m links for each tier-one "
                  "bucket (arithmetic)",
                  "NVIDIA Cumulus Linux documentation, Equal Cost Multipath: unique hash seed"},
  };
}

CatalogEntry ecmp_polarised() {
  return {
      .id = "ecmp.polarised",
      .title = "ECMP polarisation: some uplinks idle while others are full",
      .severity = Severity::kError,
      .rows = {"I4"},
      .phase = "verify",
      .why =
          "Half of the GPUs are slow and the uplinks of a switch carry very different loads, the "
          "same ones every time: consecutive tiers make the same choice, so part of the paths is "
          "never used. It looks like congestion, but no threshold fixes it. Chance collisions move "
          "with the connections; polarisation stays where it is.",
      .fix = {{.platform = "design", .commands = {"load_balancing: { seeds: per-switch }"}},
              {.platform = "cumulus",
               .commands = {"nv set system forwarding hash-seed <number>", "nv config apply"},
               .note = "Another number on each switch."},
              {.platform = "nccl",
               .commands = {"export NCCL_IB_QPS_PER_CONNECTION=4"},
               .note = "More connections give the hash more to work with, but only after the seeds "
                       "differ."}},
      .sources = {cite::kMeta, cite::kHashing,
                  "Alibaba HPN, SIGCOMM 2024: polarisation removed by a dual-plane design"},
  };
}

CatalogEntry ecmp_imbalance() {
  return {
      .id = "ecmp.imbalance",
      .title = "ECMP imbalance: large flows collide on one uplink",
      .severity = Severity::kWarning,
      .aliases = {"verify.uplink_balance", "ECMP_IMBALANCE"},
      .rows = {"I4", "I7"},
      .phase = "verify",
      .why =
          "RDMA jobs have few flows, and each is large: eight flows over eight uplinks collide on "
          "some uplink in 99.8 % of all cases, the fullest carries 2.6 times the average, and a "
          "synchronous collective is as slow as that one. It shows as pauses on one port and idle "
          "links beside it. More connections per pair even it out: 128 flows over 8 links leave "
          "1.37. Meta gained up to 40 % of all-reduce by hashing on the connection and scaling "
          "their number.",
      .fix = {{.platform = "nccl",
               .commands = {"export NCCL_IB_QPS_PER_CONNECTION=4",
                            "export NCCL_IB_SPLIT_DATA_ON_QPS=1"}},
              {.platform = "design",
               .commands = {"nccl: { qps_per_connection: 4 }",
                            "load_balancing: { mode: adaptive }"},
               .note = "Where ASIC and NIC take packets out of order, adaptive routing or spraying "
                       "ends it."},
              {.platform = "any",
               .commands = {"weir sim --workload permutation"},
               .note = "Shows the spread to expect for this fabric."}},
      .sources = {cite::kHashing, cite::kMeta,
                  "NVIDIA/cluster-readiness-engine pull request 287: half of the ceiling"},
  };
}

CatalogEntry fabric_oversubscribed() {
  return {
      .id = "fabric.oversubscribed",
      .title = "oversubscribed: less uplink than downlink bandwidth",
      .severity = Severity::kInfo,
      .rows = {"A2"},
      .phase = "lint",
      .why =
          "Traffic between leaves gets at most the uplinks' share. Rail-local collectives never "
          "notice; an all-to-all over n hosts, h of them on a leaf, is bound by the uplinks as "
          "soon as the ratio exceeds (n-1)/(n-h): 32 hosts, 8 per leaf, 2:1 take 3.84 ms instead "
          "of 2.48 ms for 1 MB pairs at 100G. It is a choice, so this is a note and not a fault.",
      .fix = {{.platform = "design",
               .commands = {"links: [ { count: <more> } ]"},
               .note = "More or faster uplinks, or keep it and place jobs by leaf."}},
      .sources = {"all-to-all bounds: (n-1) x 8S/B at the NIC, (n-h) x o x 8S/B at the uplinks"},
  };
}

CatalogEntry leaf_uplink_bottleneck() {
  return {
      .id = "leaf.uplink_bottleneck",
      .title = "one leaf has less uplink bandwidth than its peers",
      .severity = Severity::kWarning,
      .rows = {"I26"},
      .phase = "verify",
      .why =
          "The 99.9th percentile jumps for hosts of one leaf, and only when traffic crosses leaves "
          "(all-to-all); pairs under that leaf are fine. An uplink is down or runs at a lower "
          "speed, is left out of ECMP, or its queue is configured differently. All hosts of the "
          "leaf are affected, which distinguishes it from a slow host.",
      .fix = {{.platform = "any",
               .commands = {"weir validate", "weir diff <leaf a> <leaf b>"},
               .note = "Compare the leaf with a good one: links up, speeds, ECMP members, "
                       "thresholds of the uplink queue."}},
      .sources = {cite::kHashing, cite::kMeta},
  };
}

CatalogEntry lag_too_few_qps() {
  return {
      .id = "lag.too_few_qps",
      .title = "fewer QPs per connection than the bond has members",
      .severity = Severity::kWarning,
      .aliases = {"lag.qps_vs_members", "LAG_SINGLE_QP", "lag.unbalanced", "lag.member_balance",
                  "LAG_IMBALANCE"},
      .rows = {"E1", "E2"},
      .phase = "job",
      .why =
          "One RDMA connection uses one member of a bond. With NCCL's default of one connection a "
          "bond of two 200G ports gave 240 Gb/s where perftest with many connections reached 395. "
          "At least as many connections as members, and data split over them. One member that "
          "carries most of the load is where queues and pauses appear while the other idles.",
      .fix = {{.platform = "nccl",
               .commands = {"export NCCL_IB_QPS_PER_CONNECTION=2",
                            "export NCCL_IB_SPLIT_DATA_ON_QPS=1"},
               .note = "At least the number of members; twice it evens out the hash."},
              {.platform = "host",
               .commands = {"cat /proc/net/bonding/<bond>", "ethtool -S <member>"},
               .note = "For RoCE the NIC spreads connections over members itself; the netdev's "
                       "hash policy counts for TCP only."},
              {.platform = "design", .commands = {"nccl: { qps_per_connection: 2 }"}}},
      .sources = {"NVIDIA/nccl issue 1015 and NVIDIA/nccl-tests issue 265: one member of a bond",
                  cite::kNcclEnv},
  };
}

CatalogEntry rail_unbalanced() {
  return {
      .id = "rail.unbalanced",
      .title = "job leaves rails idle",
      .severity = Severity::kInfo,
      .aliases = {"verify.rail_balance", "NIC_SINGLE_RAIL_USED"},
      .rows = {"D3", "E2"},
      .phase = "verify",
      .why =
          "Bytes sent differ much between the rails of one host: the job uses one NIC of several, "
          "or the lists of NICs differ between hosts. The rails in use congest while the others "
          "idle, and the fabric is blamed. Every GPU should talk through the NIC next to it.",
      .fix = {{.platform = "nccl",
               .commands = {"export NCCL_IB_HCA==mlx5_0,mlx5_1,mlx5_2,mlx5_3", "weir job <log>"},
               .note = "The same list on every host; the second equals sign asks for exact names, "
                       "since mlx5_1 alone also takes mlx5_10."}},
      .sources = {"deepseek-ai/DeepEP issue 336: one NIC of four in use", cite::kNcclEnv},
  };
}

}  // namespace

std::vector<CatalogEntry> balance_entries() {
  return {ecmp_same_seed(),         ecmp_polarised(),  ecmp_imbalance(), fabric_oversubscribed(),
          leaf_uplink_bottleneck(), lag_too_few_qps(), rail_unbalanced()};
}

}  // namespace weir::finding
