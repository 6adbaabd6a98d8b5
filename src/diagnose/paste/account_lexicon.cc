// The words are those of the catalogue, of the interfaces' documents and of the tools themselves.
// clang-format keeps a phrasing a line: they are read and compared as a table.
#include "diagnose/paste/account_lexicon.h"

#include <array>
#include <string>

namespace weir::diagnose {
namespace {

const std::vector<WordClass>& classes() {
  static const std::vector<WordClass> all = {
      {"<no>", {"no",      "not",    "never",   "none",     "without", "cannot", "can't",
                "doesn't", "don't",  "didn't",  "isn't",    "aren't",  "wasn't", "weren't",
                "won't",   "hasn't", "haven't", "couldn't", "lacks",   "lack",   "lacking",
                "missing", "absent", "nothing", "neither",  "unable",  "zero",   "nobody"}},
      {"<off>", {"off", "disabled", "disable", "disables", "false", "inactive"}},
      {"<on>", {"on", "enabled", "enable", "enables", "enabling", "true", "active", "1"}},
      {"<fail>", {"fail*",   "error*", "abort*", "crash*",   "hang*",  "hung",   "stuck",
                  "die",     "dies",   "died",   "timeout*", "timed",  "times",  "refus*",
                  "reject*", "broken", "breaks", "stall*",   "unable", "cannot", "impossible"}},
      {"<low>", {"low",       "lower",    "slow*",    "poor*",   "drop*",    "degrad*",  "half",
                 "halv*",     "less",     "below",    "cap",     "capped",   "tiny",     "bad",
                 "worse",     "collaps*", "plateau*", "limited", "decreas*", "regress*", "unstable",
                 "fluctuat*", "terrible", "fraction", "small*",  "far",      "far+below"}},
      {"<fix>",
       {"fix*", "solv*", "resolv*", "help*", "cure*", "improv*", "rais*", "restor*", "works",
        "worked", "doubl*", "recovered", "workaround", "gone", "reduced", "faster", "back"}},
      {"<differ>",
       {"differ*", "unequal", "mismatch*", "inconsisten*", "vary", "varies", "another", "mixed",
        "heterogen*", "asymmetr*", "uneven*", "unlike", "diverg*", "vs", "versus", "other"}},
      {"<wrong>",
       {"wrong*", "incorrect*", "invalid", "bad", "mismatch*", "unexpected*", "incompatib*",
        "improper*", "misconfig*", "misclassif*", "instead"}},
      {"<drop>",
       {"drop", "drops", "dropped", "dropping", "discard*", "lost", "loss", "losing", "loses",
        "tail+drop"}},
      {"<rise>", {"ris*", "increas*", "grow*", "increment*", "climb*", "counting", "nonzero"}},
      {"<one>", {"one", "single", "only", "sole", "first", "just"}},
      {"<all>", {"all", "every", "each", "everything", "entire*", "whole", "any", "always"}},
      {"<nic>",
       {"nic", "nics", "hca", "hcas", "rnic", "rnics", "rail", "rails", "adapter*", "port", "ports",
        "netdev*", "interface*", "card*", "<device>"}},
      {"<node>",
       {"node", "nodes", "host", "hosts", "server*", "machine*", "peer*", "side*", "end", "ends"}},
      {"<box>",
       {"container*", "pod", "pods", "docker", "podman", "kubernetes", "k8s", "netns", "namespace*",
        "image", "singularity", "apptainer", "enroot", "pyxis", "lxc"}},
      {"<pfc>", {"pfc", "pause", "pauses", "paused", "pausing", "flow+control"}},
      {"<queue>",
       {"queue*", "class", "classes", "priority", "priorities", "prio", "prio*", "tc", "tcs", "pg",
        "voq"}},
      {"<mark>",
       {"dscp", "tos", "tclass", "traffic_class", "traffic+class", "sl", "tc", "*_tos", "*_tc",
        "*_sl", "*.sl", "*.tos", "*traffic_class", "marking"}},
      {"<peermem>",
       {"peermem", "nvidia_peermem", "nv_peer_mem", "nv_peermem", "peer_mem", "peer+memory",
        "memory+peers", "memory_peers", "nvidia+peermem", "amdgpu_peermem"}},
      {"<gdr>", {"gdr", "gpudirect", "gpu+direct", "gdrdma", "gpudirectrdma"}},
      {"<bond>",
       {"bond", "bonds", "bonded", "bonding", "bond*", "lag", "lacp", "link+aggregation", "mlag",
        "port+channel", "portchannel*", "mlx5_bond*", "team"}},
      {"<changed>",
       {"chang*", "shift*", "mov*", "renumber*", "reorder*", "became", "becomes", "jump*", "swapp*",
        "reassign*"}},
      {"<switchchip>",
       {"asic", "hardware", "silicon", "chip", "sai", "asic_db", "platform", "driver", "nic",
        "firmware", "hw"}},
      {"<collective>",
       {"allreduce", "all_reduce", "all+reduce", "nccl", "rccl", "collective*", "busbw", "training",
        "job", "application", "app"}},
      {"<perftest>",
       {"perftest", "ib_write_bw", "ib_read_bw", "ib_send_bw", "ib_write_lat", "ib_*_bw",
        "raw+rdma", "raw+verbs"}},
  };
  return all;
}

}  // namespace

std::span<const WordClass> word_classes() {
  return classes();
}

std::span<const std::string_view> denials() {
  static constexpr auto kAll = std::to_array<std::string_view>(
      {"no", "not", "never", "without", "cannot", "can't", "doesn't", "don't", "didn't", "isn't",
       "aren't", "wasn't", "won't", "hasn't", "neither", "none"});
  return kAll;
}

std::span<const std::string_view> attempts() {
  static constexpr auto kAll = std::to_array<std::string_view>({
      "not|didn't|doesn't|never help*|matter*|fix|solve|resolve",
      "ruled|rules out",
      "gave|changes|changed|made|makes nothing",
      "nothing|unchanged changes|changed|helped",
  });
  return kAll;
}

std::span<const std::string_view> dismissals() {
  static const std::vector<std::string_view> all = [] {
    std::vector<std::string_view> out(attempts().begin(), attempts().end());
    out.insert(out.end(),
               {"<no> effect|difference|improvement|influence", "<no> the|a cause|culprit",
                "unrelated", "still fails|slow|happens after|even"});
    return out;
  }();
  return all;
}

std::span<const Concept> lexicon() {
  static const std::vector<Concept> all = [] {
    std::vector<Concept> out;
    for (const auto part :
         {lexicon_of_marking(), lexicon_of_hosts(), lexicon_of_fabric(), lexicon_of_jobs()})
      out.insert(out.end(), part.begin(), part.end());
    return out;
  }();
  return all;
}

}  // namespace weir::diagnose
