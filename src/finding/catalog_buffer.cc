#include "finding/catalog_fixes.h"
#include "finding/catalog_parts.h"
#include "finding/catalog_sources.h"

namespace weir::finding {
namespace {

CatalogEntry headroom_too_small() {
  return {
      .id = "headroom.too_small",
      .title = "headroom too small for the data in flight",
      .severity = Severity::kError,
      .aliases = {"switch.headroom_vs_calc", "HEADROOM_ZERO", "HEADROOM_LOW"},
      .rows = {"A2", "C7", "C10", "I3", "I9"},
      .phase = "lint",
      .why =
          "Pause is sent when XOFF is crossed, that is when headroom begins to be used; what "
          "arrives until the peer has stopped must fit into headroom, and what does not fit is "
          "lost. That is two maximum frames, the pause frame, the peer's reaction, the interface "
          "delays, and the cable both ways: 93 KB at 400G, 3 m and MTU 9216, 107 KB at 30 m, 142 "
          "KB at 100 m. The widespread table of 2, 20 and 65 KB holds the cable term alone. The "
          "loss shows as IBV_WC_RETRY_EXC_ERR and as drops on the RDMA priority while PFC is "
          "working.",
      .fix = together(
          {{{.platform = "design",
             .commands = {"buffers: { headroom: auto }"},
             .note = "Remove your own value, or correct the cable's length in links."},
            {.platform = "any",
             .commands = {"weir calc headroom --speed 400G --cable 30m --mtu 9216B"},
             .note = "Shows every term, and the cable term alone beside the sum."}},
           headroom_on_switches(),
           {{.platform = "mlx5-ofed",
             .commands = {"mlnx_qos -i <netdev> --cable_len <metres>"},
             .note = "The NIC's own receive side: it needs 151 KB at 400G, 7 m and MTU 9000. The "
                     "length counts only where buffers are set by hand; 7 m is the default."}}}),
      .sources = {cite::kPfc, cite::kPause, cite::kSonicHeadroom, cite::kSonicRows,
                  cite::kMlx5Buffer, "sonic-swss pull request 4797: 18 KiB missing on Spectrum-6"},
  };
}

CatalogEntry headroom_exceeds_buffer() {
  return {
      .id = "headroom.exceeds_buffer",
      .title = "headroom exceeds the switch's buffer",
      .severity = Severity::kError,
      .rows = {"A2"},
      .phase = "lint",
      .why =
          "Headroom is set aside per port and lossless priority, so it grows with ports, speed and "
          "cable: 128 ports of 400G take 39.4 MB on Tomahawk 5, 23 % of its 173 MB; 2 km of fibre "
          "at 400G need 1.1 MB per port. What is left is the shared buffer, from which XOFF is "
          "derived: too little of it, and PFC fires at the first burst. The switch refuses such a "
          "configuration, or silently gives some ports no lossless priority.",
      .fix = {{.platform = "design",
               .commands = {"buffers: { headroom_oversubscription: 2 }", "pfc: { priorities: 3 }"},
               .note = "Fewer lossless priorities, shorter cables, a shared headroom pool where "
                       "the ASIC has one, or a switch with more buffer."},
              {.platform = "cumulus",
               .commands = {"nv set qos advance-buffer-config default-global shared-headroom "
                            "oversubscription-ratio 2",
                            "nv set interface <port> qos shared-headroom-pool enabled",
                            "nv config apply"}},
              {.platform = "sonic",
               .commands = {"\"DEFAULT_LOSSLESS_BUFFER_PARAMETER\": {\"AZURE\": "
                            "{\"over_subscribe_ratio\": \"2\"}}"},
               .note = "In CONFIG_DB, dynamic buffer model."}},
      .sources = {cite::kSonicRows, cite::kSonicHeadroom, cite::kNvue},
  };
}

CatalogEntry buffer_pools_over_100() {
  return {
      .id = "buffer.pools_over_100",
      .title = "buffer pools add up to more than the buffer",
      .severity = Severity::kError,
      .rows = {"A2", "F3"},
      .phase = "lint",
      .why =
          "Shares of the lossless, lossy, storage and reserved pools are carved from one memory. "
          "Above 100 % the switch either refuses the configuration or lends the same cells twice, "
          "and the lossless pool is short exactly when both are full. NVUE wants a sum of at most "
          "100 and one lossless pool; Junos wants its three ingress partitions to make exactly "
          "100.",
      .fix =
          {{.platform = "design",
            .commands =
                {"buffers: { pools: { lossless: 50%, lossy: 20%, storage: 20%, reserved: 10% } }"},
            .note = "Usual ranges: 40-60, 10-20, 15-25 and 10-15 %. EOS and NX-OS carve no pools: "
                    "there the shares are only an intent."},
           {.platform = "cumulus",
            .commands = {"nv set qos traffic-pool roce-lossless memory-percent 60",
                         "nv set qos traffic-pool default-lossy memory-percent 40",
                         "nv config apply"}},
           {.platform = "junos",
            .commands =
                {"set class-of-service shared-buffer ingress buffer-partition lossless percent 66",
                 "set class-of-service shared-buffer ingress buffer-partition lossless-headroom "
                 "percent 24",
                 "set class-of-service shared-buffer ingress buffer-partition lossy percent 10"},
            .note = "On QFX5130, 5220, 5230 and 5240 the egress lossless and lossy shares must "
                    "equal the ingress ones."}},
      .sources = {cite::kNvue, cite::kJunos, "Juniper, QFX5000 buffer management tech post"},
  };
}

CatalogEntry buffer_before_classification() {
  return {
      .id = "buffer.before_classification",
      .title = "buffers tuned while RDMA is in the wrong class",
      .severity = Severity::kWarning,
      .rows = {"C7"},
      .phase = "validate",
      .why =
          "Headroom and pools protect the class that packets are in. Where the map sends RDMA "
          "elsewhere, the carefully sized buffers stay empty, the drops continue, and the next "
          "step is to size them again. Correct the map first, check that the lossless queue's "
          "counters move, and change buffers after that: changing them stops traffic on several "
          "platforms.",
      .fix = together({{{.platform = "any",
                         .commands = {"weir prove", "weir explain dscp.unmapped_hop"},
                         .note = "Leave buffers to the platform until the class is right."}},
                       dscp_map_on_switches()}),
      .sources = {cite::kJunos, cite::kNvue},
  };
}

CatalogEntry buffer_too_small() {
  return {
      .id = "buffer.too_small",
      .title = "lossless buffer pool too small",
      .severity = Severity::kWarning,
      .rows = {"I8", "F3"},
      .phase = "verify",
      .why =
          "PFC on every port at once, with DCQCN working and marks in place, means that XOFF sits "
          "too low: alpha times what is free of the pool, shared by all congested groups. 161 MB "
          "with alpha 1 gives one group 80.6 MB, but 64 groups 2.5 MB each; with alpha 1/8 one "
          "group has 17.9 MB. A pool used up by headroom or lossy traffic, or a low alpha, turns "
          "every microburst into pauses.",
      .fix =
          {{.platform = "design",
            .commands = {"buffers: { profile: roce-aggressive }", "buffers: { alpha: 1 }"},
            .note =
                "A larger lossless pool or a larger alpha; then check that ECN still leads (weir "
                "lint). First rule out senders that ignore CNPs: weir explain rp.disabled."},
           {.platform = "cumulus",
            .commands = {"nv set qos advance-buffer-config default-global ingress-lossless-buffer "
                         "shared-alpha alpha_1",
                         "nv config apply"}},
           {.platform = "eos",
            .commands = {"platform trident mmu queue profile <profile>", "   ingress threshold 1",
                         "platform trident mmu queue profile <profile> apply"}},
           {.platform = "junos",
            .commands = {"set class-of-service shared-buffer ingress buffer-partition lossless "
                         "dynamic-threshold 7"},
            .note = "7 is alpha 1, 10 is alpha 8."},
           {.platform = "sonic",
            .commands = {"\"BUFFER_PROFILE\": {\"<profile>\": {\"dynamic_th\": \"0\"}}"},
            .note = "In CONFIG_DB; 0 is alpha 1, -3 is 1/8. An existing profile of the same name "
                    "is not refreshed automatically."}},
      .sources = {"XOFF = alpha x (buffer - headroom - used): Choudhury and Hahne, Dynamic Queue "
                  "Length Thresholds for Shared-Memory Packet Switches, IEEE/ACM ToN 1998",
                  cite::kNvue, cite::kSonicYang, cite::kJunos},
  };
}

}  // namespace

std::vector<CatalogEntry> buffer_entries() {
  return {headroom_too_small(), headroom_exceeds_buffer(), buffer_pools_over_100(),
          buffer_before_classification(), buffer_too_small()};
}

}  // namespace weir::finding
