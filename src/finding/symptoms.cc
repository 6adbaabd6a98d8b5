#include <vector>

#include "base/check.h"
#include "base/text.h"
#include "finding/search.h"

namespace weir::finding {
namespace {

// A row per finding: its id, a colon, and its words; a line that begins with blanks goes on.
constexpr std::string_view kSymptoms = R"(
address.duplicate: one IP address on two hosts, duplicate IP, ARP entry flips between two MAC
  addresses, arping gets two answers, DUP_SRCIP, duplicate address detected, lladdr changes
app.not_fabric: perftest ib_write_bw reaches line rate, counters clean, yet training or decode is
  slow: data loader, framework, GPU clock throttled, kernel bound, message too small, overhead in
  the library, profiler; step time halved, idle, compute bottleneck, python, disk, algorithm, raw
  verbs at full rate
app.protocol_error: remote access error, invalid rkey or lkey, deregistered memory region,
  protection domain, wc status 10, rem_access_err, loc_prot_err, vendor err 0x88, atomic out of
  range address, bad pointer EFAULT; sge length, memory window, buffer registration
app.receives_too_few: RNR retry exceeded, receiver not ready, rnr_nak, out_of_buffer climbing, recv
  queue or SRQ too short, min_rnr_timer, rnr_retry, ibv_wc_rnr_retry_exc_err, posts too few receive
baseline.regressed: slower than last month, worse than the golden baseline or acceptance run,
  bandwidth fell since the firmware upgrade, regression against the reference, degraded over time
buffer.before_classification: buffer_size set with mlnx_qos before trust and priority, prio2buffer,
  receive buffer reset when trust changes
buffer.pools_over_100: pools sum exceeds memory: orchagent or syncd aborts, insufficient resources,
  incorrect min guarantee, cells, devlink sb, percent over 100, shutdown wait warm boot
buffer.too_small: pauses everywhere, on every port; ingress lossless pool watermark full; pool
  share, shared buffer, alpha, profile too small; every port of the fabric sends pause frames
cable.too_long: DAC of 12m at 400G, passive copper beyond its reach, twinax over 3m, AOC over 100m
cc.wrong_algorithm: ECE, ZTR-RTTCC, RTT-CC, PPCC, programmable congestion control, PCC slot, Swift,
  algorithm negotiated instead of DCQCN; UCX_RC_ECE=0 restores; roce_cc_legacy_dcqcn
class.no_guarantee: ssh or management sessions die under RDMA load, BGP keepalive lost, no minimum
class.shared_queue: RDMA slows when backup, storage, checkpoint, NVMe or Lustre runs; control
  messages, heartbeat or CTS stuck behind bulk data; same priority, NCCL_IB_FIFO_TC, SL shared
class.starved: strict priority queue starves RDMA class, ETS weight not honoured, less than
  guaranteed bandwidth under load
cnp.lossless: CNP priority has PFC, CNPs paused
cnp.lost: np_cnp_sent grows on receivers, rp_cnp_handled stays zero at senders; CNPs dropped or in a
  queue that drops
cnp.shares_rdma_priority: CNPs queue behind bulk data, cnp_dscp equals data DSCP, same traffic class
cnp.wrong_class: cnp_dscp, cnp_802p_prio default, CNPs arrive with other DSCP, not in strict queue
config.differs: one server differs from the plan or an earlier install; unexpected default value;
  new model with other default alpha, pauses early
config.not_applied: setting accepted but hardware unchanged: show says one value, traffic or ASIC
  follows another; CONFIG_DB versus ASIC_DB, SAI, resolves, observed; dcbtool, mlnx_qos succeeds,
  reload or reboot loses it, running-config, PORT_QOS_MAP, orchagent, stays; still acts or still
  sends after it was taken out of the configuration, chip register still set, no effect, weights,
  has no effect on traffic; change not in driver, dcbnl, shows old value, ACL entry, profile bound;
  shipped template or hwsku has wrong pool, pg or headroom size; static buffer model, breakout or
  dualtor SKU drops with stock config; vendor fixed buffer profile in a release
congestion.sustained: roce_slow_restart frequent, rate at minimum, senders restart from lowest rate,
  severe congestion
container.gid_outside_netns: inside the container or pod the GID belongs to the host: handshake
  completes over TCP and no RDMA bytes move; docker NAT bridge, macvlan, calico, own namespace, no
  netdev, ibv_modify_qp RTR fails, network attachment, address not on an interface, hostNetwork; no
  net1, no NetworkAttachmentDefinition, pod has eth0 only; device visible but no address, flannel,
  CNI, show_gids empty
container.no_ipc_lock: IPC_LOCK capability, securityContext, privileged, ibv_open_device,
  /dev/infiniband uverbs not visible, operation not permitted, EPERM, memory registration denied in
  a pod, docker run without --cap-add, ulimit in image
dcbx.two_agents: lldpad and firmware LLDP both run, lldpd, two agents fight over PFC, links flap
  when lldpad starts, disable-fw-lldp private flag, RTM_SETDCB, operational PFC flips,
  DCB_CMD_IEEE_DEL
dcbx.willing: willing bit true, PFC or ETS overwritten by switch TLV, DCBX mode changes host
  settings, pushed or advertised configuration
dcqcn.too_aggressive: roce_slow_restart, rate increase too fast, ai rate hai rate high, overshoot,
  queue grows again after each cut, PFC although CNPs handled
dcqcn.too_conservative: throughput down, no pauses, marks and CNPs far over baseline; utilisation
  under 60 % and no errors; slow recovery, rate AI low, alpha period, seconds to climb back;
  throughput dropped with no pauses, senders never speed up, links at half load and no errors
dcqcn.unstable: rate oscillates, swings, queue swings, long RTT, loop delay
dscp.default_map: built-in default DSCP map, code point in queue 0 or a default class, tc_to_pg,
  unknown queue without share, factory QoS map
dscp.narrow_map: map lists single DSCP values only, octet, neighbours of the code point demoted
dscp.nic_map_wrong: dscp2prio, dcb app, NIC maps DSCP to wrong prio, mlnx_qos dscp table
dscp.one_way: local marks, remote or responder sends DSCP 0: rx_prio0 grows while tx_prio3 grows;
  only requests or only answers, ACK, read responses unmarked; one side, initiator, target
dscp.rewritten: policy map, bleaching, remark, TOS byte changed or cleared between hops, captured at
  sender and receiver differ, best effort after the switch
dscp.site_plan: production site uses another traffic class, no trouble, NCCL_IB_TC value
dscp.tos_confusion: DSCP value written as traffic class: NCCL_IB_TC=26, cma_roce_tos 26, TOS shifted
  by two bits, wire shows DSCP 6, tclass 0x1a, byte versus code point, encoding, ECN low bits
dscp.unmapped_hop: spine or leaf map lacks the DSCP, DSCP_TO_TC entry sends it to lossy queue,
  treated as default on one hop, host and switch disagree on DSCP
dscp.unmarked: traffic class ignored or not set, all bytes in priority 0, prio-0 bytes high and
  prio-3 low, TC/SL no effect, best effort, hard-coded traffic_class zero, library or provider
  ignores setting, address handle grh, DEVX QP, fi_tx_attr, libfabric, nvshmem, DCT; NCCL_IB_TC not
  set or not exported, tx_prio0 grows and nothing in tx_prio3, lossy queue, variables not passed
  into the container, untagged; traffic lands in priority 0 instead of priority 3, misclassified,
  tos 0x00 on the wire; tclass default, dscp 0, tos 0, option missing
ecmp.imbalance: half of the GPUs slow, uplinks unevenly used; few elephant flows collide on one
  spine link; hash collision, entropy, 5-tuple, UDP source port, more QPs or QPS_PER_CONNECTION,
  SPLIT_DATA_ON_QPS, adaptive routing raises bandwidth; all-reduce plateaus at half, varies run to
  run; hot spot, PFC on one port; next hops get unequal share, rack, multipath
ecmp.polarised: half of the GPUs slow, uplinks unevenly used or idle, same next hop always chosen,
  hash polarisation at second tier, hash offset, chassis, FIB members, upgrade changed hash
ecmp.same_seed: ecmp_hash_seed equal on T0 and T1, SAI hash seed, offset enable, leaf and spine
ecn.above_xoff: kmin above XOFF, PFC fires first, ECN min threshold larger than pause threshold
ecn.not_ect: packets carry ECN bits 00, TOS 0x68, not-ECT dropped by WRED, WRED discards instead of
  marking, tail or early drop, tcpdump shows, out discards
ecn.not_marking: incast or overload without a CE mark: np_ecn_marked_roce_packets 0, np_cnp_sent 0,
  queue fills and drops, ecnconfig succeeds but nothing marked, ECN configured but no marks; PFC
  everywhere
ecn.off_on_lossless: WRED profile missing, wred_green_enable false, cannot enable ECN on queue,
  ecnconfig, ecn_all, AZURE_LOSSLESS, profile not bound, thresholds have no effect, random-detect
ecn.on_lossy: ECN on TCP or default queue, random-detect on unplanned class
ecn.pmax_too_small: max marking probability too low, queue reaches kmax, max-drop-probability, many
  senders
ecn.thresholds_too_high: all-reduce time varies from step to step; rare ECN, constant PFC; min
  threshold too high, deep queue, megabytes, latency, marking late; same collective takes twice as
  long in some steps, unstable all-reduce, pause all the time and hardly a mark
ecn.thresholds_too_low: low utilisation on an idle network with marks; marks and CNPs far over
  baseline, throughput down, no pauses; kmin kilobytes, queue empty; throughput dropped, no PFC
  pauses visible, more CE marks and CNPs than before
fabric.oversubscribed: fewer uplinks than downlinks, ratio, half bandwidth across racks or pods,
  core
failover.not_injected: ip link down or ifconfig down does not stop RDMA, failover test or chaos
  drill passes, traffic continues unchanged, disconnect simulated, interface shut and QPs unaffected
failover.window_too_short: link recovers or retrains in seconds but job aborts: retry count,
  attempts, timeout budget, NCCL_IB_TIMEOUT, NCCL_IB_RETRY_CNT, resiliency, failback, optic takes
  longer, permanent failure, outage; port needs 40 s, check waits less, passes with longer wait
fec.wrong: fec none or fc on PAM4, encoding off at 400G, FEC disabled
fleet.drift: one node differs: GDRDMA on some ranks only, plugin version, libnccl-net, MaxReadReq,
  settings not the same on all nodes, asymmetric direction, peers among themselves fine; two of
  sixteen nodes without the module, log plain NET/IB; second node misses a driver, firmware or OFED
  mismatch, BIOS, half of the group
gdr.not_persistent: GPUDirect gone after reboot until modprobe nvidia_peermem; modules-load.d, boot,
  module not loaded, couldn't register, service
gdr.not_registered: nvidia_peermem in lsmod but GPU Direct RDMA disabled, memory_peers nv_mem
  version missing, ib_register_peer_memory_client, inbox driver versus OFED reinstall, ib_core
  symbol, client
gdr.off: GPU Direct RDMA disabled, nvidia_peermem or nv_peer_mem missing, ibv_reg_dmabuf_mr fails,
  NCCL_DMABUF_ENABLE, amdgpu, ibv_reg_mr on GPU memory bad address, kernel without dma-buf, VRAM,
  GPU utilisation falls and CPU rises
gid.changed: GID index moved during the job, IBV_EVENT_GID_CHANGE, re-added address, DHCP renewal,
  NetworkManager, flap re-registers GID, cached index empty, hours later, async event, was index 3
  now 4; address moved from index 3 to 4, brings index back; privacy address, entry removed, bounce
gid.index_differs: index 3 on one device, 5 on another; same NCCL_IB_GID_INDEX cannot fit all NICs
  or nodes; pods see different indexes, GID is NULL; RoCE v2 address elsewhere than index 3, library
  or application hard-codes GID index 3, default, constant, literal, sgid_index
gid.not_routable: GID link-local fe80 or RoCE v1 chosen, index 0 or 1, automatic selection takes
  first, completion error 12 once data moves though bootstrap succeeded, retry exceeded across
  subnets, UCX_IB_GID_INDEX, GID is NULL, check your GID index, ibv_query_gid; works with another
  index, retry exceeded; wrong GID taken by default, FI_VERBS_GID_IDX, type v1, other leaf not
  reached
gid.sparse: ncclIbRoceGetVersionNum read failed invalid argument, empty or zero GID entries before
  first valid, holes, show_gids lists only higher indices, gid_attrs types unreadable, scan stops,
  macvlan, shared device, NCCL_IB_ROCE_VERSION_NUM
gid.stale: GID of a removed or old address remains, renumbered, VLAN deleted, MAC changed, no
  interface has it, readdressed; table keeps deleted ip entry, listed but nobody has it
gid.wrong_family: IPv6 GID where IPv4 wanted, AF_INET, NCCL_IB_ADDR_FAMILY, IPv4-mapped filter, ULA,
  auto detection picks other family
gid.wrong_netdev: GID ndev is management, bond, VLAN, vxlan or docker0 interface, wrong HCA for
  address, gid_attrs/ndevs, IP of other rail, overlay
headroom.exceeds_buffer: total headroom of all ports larger than memory, long cables, insufficient
  resources for lossless PGs, cannot reserve
headroom.too_small: IBV_WC_RETRY_EXC_ERR, drops on the RoCE priority despite PFC; RDMA timeouts;
  packets lost in the lossless queue although PFC works, long cable;
  ingress drops RX_DRP, xoff too small for cable length or speed, pg_profile_lookup.ini, pg_lossless
  profile, 300m, calculation, worst case, traffic start; RDMA operations time out now and then
host.straggler: one node is in every slow pair, pairwise test, excluded node restores, consistently
  slow, bimodal, rotate, matrix; only with node n07, half speed, pairs; health check, column or row
  of the matrix low, normal without it
host.tcp_untuned: iperf3 far below line rate, socket buffers rmem wmem, single stream TCP,
  congestion window
hosts.below_floor: all hosts alike below the floor, everyone equally, entire rail below line rate on
  each host, nobody stands out
inventory.renamed: device name changed after upgrade: mlx5_0 now rocep1s0f0, udev rename, swapped
  enumeration, script or NCCL_IB_HCA names old device, SR-IOV pfNames; nodes have different port
  names, one global list
job.bad_value: invalid value of NCCL variable, NCCL_SOCKET_IFNAME names no interface, no socket
  interface found, bootstrap stuck, NCCL_IB_TIMEOUT out of range, NCCL usage error
job.env_typo: misspelt variable has no effect, NCCL_IB_GIDINDEX, NCCL_IB_TRAFFIC_CLASS, unknown or
  unused environment variable, silently ignored
job.gloo_backend: init_process_group gloo, CPU rises in all-reduce, backend gloo
job.rank_differs: one rank has different environment variables, first node only
k8s.netns_mode_wrong: rdma system netns exclusive or shared, rdma-cni, device vanishes from pod,
  RDMA shared device plugin, ib_core netns_mode, copy-on-fork
k8s.qos_on_vf: mlnx_qos on VF or inside pod fails: permission, not supported; SR-IOV, set on PF,
  sriov-cni, VF inherits trust and DSCP
kernel.regression: works on older kernel, broken by update; bisected; upstream fix; oops in mlx5_ib
  or bnxt_re or irdma; kernel version, CmaTotal 0, ibv_reg_mr_iova2 ENOMEM on tiny size, nfsd,
  release breaks
lag.too_few_qps: bond of two ports reaches one port's rate, NCCL_IB_QPS_PER_CONNECTION, single QP
  per connection, 2x100G or 2x200G bond, more QPs fill both, perftest higher than NCCL on bond; bond
  member saturated while other idle, xmit_hash_policy layer3+4 layer2, lag_tx_port_affinity,
  queue_affinity, QPs all on one slave, active leg, 802.3ad; loads one port only, all bytes on one
  port of the pair, UDP source port of every QP the same
leaf.uplink_bottleneck: p999 jumps near one ToR in all-to-all only; one leaf or rack slow, its
  uplinks down or fewer
limits.memlock_low: ibv_reg_mr or ibv_create_cq cannot allocate memory, ENOMEM, ulimit -l, memlock
  64 KB, LimitMEMLOCK, slurmd, containerd, limits.conf, RLIMIT_MEMLOCK, batch job versus login
  shell, locked memory unlimited
link.degraded: link down or trains at lower speed, FEC mismatch RS-FEC none, lanes 4x, DAC not
  recognised, remote fault, no carrier, 40G instead of 100G, half width, breakout; auto-negotiation,
  optic of other rate, no link
link.flapping: port error, link_downed, carrier_changes, port goes down and up again, physical_state
  polling, async event port error, stuck after port event, LinkDownedCounter, minutes later, link
  status definitely down; up and down for weeks, comes up over and over, link up, re-plugged;
  bounces repeatedly, went down for a second, dmesg mlx5_core
link.infiniband: link_layer InfiniBand, TC and GID variables have no effect on IB cluster,
  LINK_TYPE_P1, roce settings copied, subnet manager
link.physical_errors: symbol errors, CRC, FCS, BER, uncorrectable FEC, rx_crc_errors_phy, dirty
  connector, DOM low light power alarm, replace cable or optic, local link integrity, error recovery
load.no_rdma: benchmark or test moved bytes over TCP, RDMA counters stay flat
load.wrong_device: test used the wrong card: storage or 25G NIC picked, UCX_NET_DEVICES, -d device,
  other NUMA, ibv_create_ah; 40 Gb/s port used beside 200 Gb/s ones, exclude with ^; two tools give
  different results on same path: rdma_cm versus socket exchange, perftest -R, one direction only
mtu.below_4096: active_mtu 1024 while max_mtu 4096, netdev MTU 1500, raise interface MTU, wire
  payload small, path mtu
mtu.mismatch: active_mtu differs between ends, mixed MTU, IBV_WC_LOC_LEN_ERR, IBV_MTU_4096
  hard-coded, length error, rem_inv_req_err, ping with DF fails, jumbo or giant frames dropped,
  large messages hang small work, SVI or underlay MTU 1500, one node constantly worse, fragmentation
  or RTT spikes, one segment, cx3 cx4 generation; forces 4096 as path MTU while the other side
  reports 1024, QP to RTR fails; VLAN or hop left at 1500, endpoints, frag needed
mtu.platform_max: MTU greater than device maximum, out of range, 9216 rejected
nccl.hca_list_short: NCCL_IB_HCA lists one of several NICs, dual-port only one used,
  NCCL_IB_MERGE_NICS, half of the cards enumerated; UCX_NET_DEVICES single device of eight
nccl.hca_prefix: NCCL_IB_HCA=mlx5_1 also matches mlx5_10, mlx5_11, storage NIC taken, exact = prefix
nccl.hca_unknown: NCCL_IB_HCA names missing device, ibv_devices lists other names, no such HCA,
  bnxt_re versus mlx5
nccl.ib_disabled: NCCL_IB_DISABLE=1, NCCL_NET=Socket, UCX_TLS=tcp,self, RDMA switched off in sbatch,
  os.environ or launcher, step time doubles multi-node, RoCE present
nccl.intra_node_network: GPUs of same node use NET/IB instead of NVLink or SHM, P2P disabled, one
  container per GPU, hostid, intra-node slow
nccl.socket_fallback: GPU utilisation falls, CPU rises in all-reduce; NET/Socket using, failed to
  open libibverbs.so, image without verbs, no device found, TCP fallback, IB plugin missing
nccl.socket_loopback: NCCL_SOCKET_IFNAME=lo, ranks hang at init, bootstrap 127.0.0.1, connect to
  peer refused on second node, job never starts on two hosts
nccl.stale_conf: /etc/nccl.conf or ~/.nccl.conf baked in image overrides, old file, setting ignored
  unless removed
nic.failed: firmware assert, health, mlx5_core command timeout, wait_func, reset, lockup, create_dct
  leak, fatal, NIC disappears
nic_knob.bad_value: sysfs or mlxconfig rejects value, invalid argument writing cnp_dscp or rpg, out
  of range limit
nic_knob.does_not_exist: parameter unknown, mlxconfig has no such name, Kmin on NIC, no file roce
  ecn
np.disabled: marks arrive and np_cnp_sent = 0, notification point off, roce_np enable 0, receiver
  sends no CNP, np_ecn_marked grows, ecn disabled on receiver priority
packet.icrc_bad: ICRC error, invariant CRC mismatch, NAT or tunnel rewrites payload, soft RoCE,
  in-network aggregation, rx_icrc_encapsulated
path.filtered: ACL denies UDP 4791, firewall drops RoCE, ping and TCP pass and RDMA does not
path.loss: packets lost silently between hosts, roce_adp_retrans climbing, packet_seq_err, RDMA
  timeouts, retransmitting, no drop counter moves, spine drops; intermittent timeouts, operations
  time out now and then; one in 256 packets, messages start again, receives nothing
path.reordering: out_of_sequence climbing without drops, packets out of order, per-packet load
  balancing, spraying, ECMP change
pause.global_on: 802.3x link-level flow control on, rx_pause_ctrl_phy, tx_pause, global pause
  frames, ethtool -A, flowcontrol, throughput capped, unrelated traffic stops, every drop counter
  zero; rxpause txpause mediaopt
pcie.acs_on: ACS SrcValid+, ACSCtl, ReqRedir, IOMMU on, intel_iommu amd_iommu pt, BIOS, setpci, PLX
  bridge, GPU peer-to-peer slow or hangs, NIC and GPU PHB, low GDR bandwidth
pcie.errors: AER corrected or uncorrected, PCIe bus error, replay, bad TLP
pcie.gpu_far: GPU and NIC on different NUMA node or socket, SYS in nvidia-smi topo,
  NCCL_NET_GDR_LEVEL, QPI, distance, host memory faster
pcie.slot_power: insufficient power on the PCIe slot, power budget exceeded, slot wattage, 27W 75W
pcie.link_degraded: LnkSta x8 downgraded, LnkCap x16, 8GT/s instead of 16GT/s, gen3 slot, limited
  PCIe bandwidth available, half rate, x4, lane
pcie.relaxed_ordering_wrong: relaxed ordering, PCI_WR_ORDERING, UCX_IB_PCI_RELAXED_ORDERING,
  NCCL_IB_PCI_RELAXED_ORDERING, AMD EPYC, force_relax, per_mkey, NIC transmits pause with low
  bandwidth until enabled, Xeon slower with it
peer.dead: remote process killed, OOM, segfault, node rebooted, evicted, connection closed by peer,
  RST, retry exceeded while out_of_sequence stays zero, worker exit, transport retry after peer
  crash, broken pipe; Xid error, CUDA crash, socket reset seconds before, bootstrap closed
pfc.deadlock: hang mid-step, cyclic pauses, switches pause each other, throughput zero until
  restart, ARP flooding, all queues full
pfc.multiple_priorities: pauses on more than the RDMA priority, PFC on priorities 3 and 4, all eight
  priorities lossless; pause frames on several priorities; every class lossless
pfc.off: incast loses packets with neither pause nor CNP, PFC not enabled, no flow control, busbw
  collapses with many nodes, portconfig, macsec, packet_seq_err grows, training stalls hiccups, RoCE
  drops packets; transport retry count exceeded when many ranks talk at once, lossy mode, defaults,
  works when lossless is configured, rx_prio3_pause 0; retransmits with np_cnp_sent 0, no PFC on
  switch, local_ack_timeout_err
pfc.storm: step time spikes from 200 ms to seconds, pauses everywhere upstream of one port; pause
  frames spread from a server through leaf and spine, victim flows, PFC leaves ports, watchdog drops
  and storms, whole pod stops
pfc.sustained: PFC on one port, constant pause in steady state, keep-alive timeouts, NVMe-oF qpair
  reset, server pauses long; PFC frames frequent on a specific port
pfc.wrong_priority: PFC climbs while queue drops still occur, drops in the RDMA class though PFC is
  on, UC3 or priority 0 egress drops, pause counted on other priority, MMU discards; pause counters
  grow and the queue drops anyway; lossless packets lost, watchdog active
platform.cannot: SAI_STATUS_NOT_SUPPORTED, attribute not implemented, chip or ASIC lacks per-queue
  ECN, WRED, watchdog or lossless support, SKU, feature rejected, want ECN marking inner header,
  forwarding mode cut-through; no support in this model or release, not available, unsupported, CLI
  has no option, consumer board
port.discards: port_xmit_discards, port_rcv_errors, rx_discards_phy, interface drop counters rise,
  ring full, switch ingress
ports.differ: configuration names other ports than the switch or the design has, wrong breakout or
  model; link missing from the port-channel, member of another LAG or bond; port not in the VLAN
rail.cross_rail_unreachable: NCCL_CROSS_NIC, cross-rail connection times out, ibv_modify_qp timed
  out errno 110, ring fine but gather or alltoall fails, PXN, rail-only fabric, NIC on other rail or
  subnet unreachable, separate subnets per NIC
rail.isolated: rail-only topology, no spine between rails, PXN or NVLink required, checkpoint save
  crosses rails, optimised without core
rail.rings_cross: NCCL_CROSS_NIC=1, rings change rails, all-reduce goes over the spines although
  rail-optimised, spine uplinks loaded by one job
rail.no_route: no route to peer, RDMA_CM_EVENT_ADDR_ERROR, ip route get uses management eth0,
  gateway, policy rule table missing, unreachable, rdma_resolve_route, VRF, source-based routing
rail.same_subnet: all NICs in one /24, ARP flux, arp_ignore, arp_announce, rp_filter, reply leaves
  by other interface, multi-NIC same prefix, ping answers on wrong port, socket-direct; one VLAN,
  one flat subnet for eight NICs per node
rail.unbalanced: traffic on one rail only, other NICs idle, GPUs pick same NIC, topology file
  virtual PCIe bridge, mlx5_0 used by all; only mlx5_0 tx bytes grow, mlx5_1 to mlx5_7 flat; NIC
  near the GPU unused
receiver.slow: NIC sends pause frames toward switch, tx_prio3_pause, outbound_pci_stalled_wr,
  rx_discards_phy, host cannot drain, PCIe or CPU bottleneck, excessive_buffer_overrun, tx pause
  from the NIC, server NIC pauses above some nodes
routing.bgp_down: BGP neighbor shut down or idle, session admin down, Idle (Admin), Active, Connect,
  peer not established, uplink up but carries no traffic, half of the uplink bandwidth after a
  change
routing.cut_off: one leaf or spine fails and hosts are unreachable, single point of failure, all
  NICs of a host on one leaf, no redundant uplink
routing.cyclic_buffer_dependency: up-down violation, bounce after link failure, ring topology
  lossless, down-up path, cycle possible
routing.loop: TTL exceeded, packets loop between two switches, MC-LAG, neighbour discovery copies,
  flood storm, ICMPv6
routing.ordering_risk: adaptive routing with flag after data, last byte polling, corrupt results,
  in-order delivery assumed, low latency kernel, sporadic wrong tokens, signal overtakes payload,
  flowlet
rp.disabled: peer's CNPs arrive and rp_cnp_handled = 0, rp_cnp_ignored grows, reaction point off,
  roce_rp enable 0, sender does not slow down, PFC everywhere
shaper.on_rdma_path: rate limit, policer, VF max tx rate, maxrate, bandwidth capped at round number,
  tc qdisc, QoS limit
subnet.two_leaves: same prefix announced by two leaves, one subnet stretched over routed leaves,
  half of the hosts unreachable across leaves, no EVPN, anycast gateway missing
telemetry.collector_blind: collector fails entirely, invalid syntax parsing N/A (no PMA),
  node_exporter scrape success 0, one unreadable file drops all metrics, vl15_dropped invalid
  argument, strconv.ParseUint, returns zero, no series; error of one device skips the whole
  dashboard, parser stops, plugin aborts
telemetry.counter_absent: hw_counters directory missing, counter not exposed by driver, bnxt_re,
  irdma, ionic, EFA names differ, rx_pfc_ena_frames_pri3, array -1, no such statistic, Thor2,
  exporter expects mlx5 names; counts on one model, is 0 on the other model; np_cnp_sent missing, no
  rx_prio3_pause, older model, file empty; counter means different things per vendor, unit quanta or
  microseconds, statistic includes others, does not move in storm, ecn-marked-pkts semantics,
  documentation says, increments twice, zero although dropped; frames or duration, averaged, rx and
  tx confused, counted twice
telemetry.sources_disagree: host says up, manager says down: SNMP, BMC, UFM, controller and ethtool
  contradict, ibstat active, LinkUp, stale state, unhealthy; CLI, API and chip counters differ,
  rx_drp stays 0
transport.retries_exhausted: IBV_WC_RETRY_EXC_ERR, transport retry counter exceeded, error 12,
  vendor err 129, no acknowledgement, local_ack_timeout_err, RDMA timeouts
transport.timer_below_rtt: retransmission timer in ms shorter than RTT, long haul km, spurious
  retransmit without loss, roce_adp_retrans climbing, adaptive retransmission, netem delay,
  NCCL_IB_TIMEOUT low, packet pacing jitter
trust.mixed: some ports trust DSCP, others CoS or PCP
trust.not_dscp: trust state pcp, mlnx_qos trust, DSCP ignored on untagged frames, everything in
  priority 0; RoCE lands in priority 0
watchdog.blind: storm in bursts not detected, pulsing pause, detection time, polling interval, lua
  script, duty cycle, watchdog never trips, short transitions, asymmetric; members without egress
  packets
watchdog.off: pfcwd not started, default_pfcwd_status disable, load_minigraph, start_default, show
  pfcwd empty, pfc-watchdog not configured
watchdog.slow: pfcwd detection time of minutes, detect 60s, storm lasts until the job dies
watchdog.stuck: queue remains stormed, not restored, restoration time, blackhole continues, state
  stays drop, warm reboot PFC_WD_TABLE_INSTORM, pause ended but watchdog still drops
wiring.mismatch: LLDP neighbour is another leaf or port, swapped cables, p0 to p0, two cables on
  same port, patch panel, ring wiring, wrong slot, chassis id, pairs by device index; unexpected
  neighbor, exchanged rails, expected leaf
)";

std::vector<Symptoms> read_table() {
  std::vector<Symptoms> rows;
  for (const std::string_view line : split(kSymptoms, '\n')) {
    if (line.empty()) continue;
    if (line.front() != ' ') {
      const std::size_t colon = line.find(':');
      WEIR_CHECK(colon != std::string_view::npos);
      rows.push_back({std::string(line.substr(0, colon)), std::string(line.substr(colon + 1))});
    } else {
      rows.back().words += line;
    }
  }
  return rows;
}

}  // namespace

std::span<const Symptoms> symptoms() {
  static const std::vector<Symptoms> rows = read_table();
  return rows;
}

}  // namespace weir::finding
