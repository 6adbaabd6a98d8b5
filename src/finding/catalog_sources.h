#pragma once
// Works that the catalogue cites more than once, so that one work has one wording.
#include <string_view>

namespace weir::finding::cite {

// Standards.
inline constexpr std::string_view kPfc =
    "IEEE 802.1Q, clause 36: priority-based flow control (formerly 802.1Qbb)";
inline constexpr std::string_view kPause =
    "IEEE 802.3, annex 31B: PAUSE, pause quanta and the time a sender has to react";
inline constexpr std::string_view kEts =
    "IEEE 802.1Q, clause 37: enhanced transmission selection (formerly 802.1Qaz)";
inline constexpr std::string_view kDcbx =
    "IEEE 802.1Q, clause 38: DCBX, and who is willing (formerly 802.1Qaz)";
inline constexpr std::string_view kEcn = "RFC 3168: the ECN bits of the TOS byte";
inline constexpr std::string_view kDscp = "RFC 2474: the six DSCP bits of the TOS byte";
inline constexpr std::string_view kRoce =
    "InfiniBand Architecture Specification, annex A17: RoCEv2, CNPs, UDP port 4791";
inline constexpr std::string_view kIbTransport =
    "InfiniBand Architecture Specification, volume 1: reliable connections, NAK, RNR, timeouts";

// Papers.
inline constexpr std::string_view kDcqcn =
    "Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015 (DCQCN)";
inline constexpr std::string_view kEcnOrDelay =
    "Zhu et al., ECN or Delay: Lessons Learnt from Analysis of DCQCN and TIMELY, CoNEXT 2016";
inline constexpr std::string_view kAtScale =
    "Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016";
inline constexpr std::string_view kDeadlocks =
    "Hu et al., Deadlocks in Datacenter Networks: Why Do They Form, and How to Avoid Them, "
    "HotNets 2016";
inline constexpr std::string_view kTagger =
    "Hu et al., Tagger: Practical PFC Deadlock Prevention in Data Center Networks, CoNEXT 2017";
inline constexpr std::string_view kIrn =
    "Mittal et al., Revisiting Network Support for RDMA, SIGCOMM 2018 (IRN)";
inline constexpr std::string_view kHpcc =
    "Li et al., HPCC: High Precision Congestion Control, SIGCOMM 2019, and its public simulator";
inline constexpr std::string_view kMeta =
    "Gangidi et al., RDMA over Ethernet for Distributed AI Training at Meta Scale, SIGCOMM 2024";
inline constexpr std::string_view kBarre =
    "Barre (ByteDance), USENIX ATC 2025: measured behaviour of default and tuned DCQCN at 400G";

// Arithmetic of our own, stated so that it can be redone.
inline constexpr std::string_view kGoBackN =
    "go-back-N goodput = (1-p) / (1-p + p x W), p packets lost, W = rate x round trip / packet in "
    "flight (4096 B packets)";
inline constexpr std::string_view kHashing =
    "expected maximum of n equal flows hashed on m links, Monte Carlo";

// Switch systems.
inline constexpr std::string_view kNvue =
    "NVIDIA Cumulus Linux documentation 5.19, Quality of Service and RoCE";
inline constexpr std::string_view kEos =
    "Arista Validated Designs (arista.avd), QoS, PFC and MMU templates for EOS";
inline constexpr std::string_view kNxos =
    "Cisco Nexus 9000 Series NX-OS QoS Configuration Guide 10.5, priority flow control";
inline constexpr std::string_view kJunos = "Juniper/yang, junos-qfx class-of-service model 24.4R1";
inline constexpr std::string_view kSonicQos =
    "sonic-buildimage, files/build_templates/qos_config.j2";
inline constexpr std::string_view kSonicHeadroom =
    "sonic-swss, cfgmgr/buffer_headroom_mellanox.lua and buffermgr.cpp";
inline constexpr std::string_view kSonicRows =
    "sonic-buildimage, device/*/pg_profile_lookup.ini: headroom rows published by the vendors";
inline constexpr std::string_view kSonicYang =
    "sonic-buildimage, src/sonic-yang-models: CONFIG_DB schema";
inline constexpr std::string_view kSonicWatchdog =
    "sonic-swss, orchagent/pfc_detect_*.lua and pfc_restore.lua; sonic-utilities, pfcwd";

// Hosts.
inline constexpr std::string_view kMlnxQos = "Mellanox/mlnx-tools, mlnx_qos 1.2";
inline constexpr std::string_view kMlx5Dcb =
    "Linux kernel, mlx5 en_dcbnl.c: trust, DSCP map, PFC, DCBX";
inline constexpr std::string_view kMlx5Buffer =
    "Linux kernel, mlx5 en/port_buffer.c: xoff = (301 + 2.16 x metres) x Gb/s + 2.72 x MTU";
inline constexpr std::string_view kMlx5Counters =
    "NVIDIA, Understanding mlx5 Linux Counters and Status Parameters";
inline constexpr std::string_view kMlx5Cc =
    "Linux kernel, drivers/infiniband/hw/mlx5/cong.c: DCQCN parameters in debugfs";
inline constexpr std::string_view kNvidiaDcqcn =
    "NVIDIA DOCA documentation, DCQCN CC parameters and algorithm";
inline constexpr std::string_view kNvidiaOperator =
    "Mellanox/nic-configuration-operator, the roceOptimized preset";
inline constexpr std::string_view kDcbTool = "iproute2, dcb(8): dcb-app, dcb-pfc, dcb-ets";
inline constexpr std::string_view kBnxt =
    "Linux kernel, bnxt_en and bnxt_re; Broadcom's out-of-tree bnxt_re configfs";
inline constexpr std::string_view kIbSysfs =
    "Linux kernel, ib_core: gids, gid_attrs, hw_counters and counters in sysfs";
inline constexpr std::string_view kForceTc =
    "NVIDIA MLNX_OFED and DOCA-OFED: /sys/class/infiniband/<device>/tc/<port>/traffic_class";
inline constexpr std::string_view kRdmaCm =
    "Linux kernel, drivers/infiniband/core/cma_configfs.c: default_roce_tos";

// Jobs.
inline constexpr std::string_view kNcclEnv = "NVIDIA NCCL documentation, environment variables";
inline constexpr std::string_view kNcclIb = "NVIDIA/nccl, src/transport/net_ib: RoCE connections";
inline constexpr std::string_view kPerftest = "linux-rdma/perftest 6.29";

}  // namespace weir::finding::cite
