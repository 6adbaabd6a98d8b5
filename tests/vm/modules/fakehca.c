// SPDX-License-Identifier: GPL-2.0
/* fakehca: RoCE ib_devices with mlx5 hw_counters and PMA counters, no data path.
 *   insmod fakehca.ko netdevs=fnic0,fnic2          mlx5_0 on fnic0, mlx5_1 on fnic2
 *   echo "np_cnp_sent +5" > /sys/kernel/debug/fakehca/mlx5_0
 * With ofed=1 there is the vendor's tc/1/traffic_class: empty while nothing is forced.
 */
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/debugfs.h>
#include <linux/dma-mapping.h>
#include <linux/platform_device.h>
#include <rdma/ib_verbs.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_pma.h>
#include <rdma/ib_addr.h>
#include <net/addrconf.h>

#define MAXDEV 16
static char *netdevs[MAXDEV];
static int n_netdevs;
module_param_array(netdevs, charp, &n_netdevs, 0444);
static bool ofed;
module_param(ofed, bool, 0444);

static const struct rdma_stat_desc descs[] = {
	{ .name = "rx_write_requests" }, { .name = "rx_read_requests" }, { .name = "rx_atomic_requests" },
	{ .name = "rx_dct_connect" }, { .name = "out_of_buffer" }, { .name = "out_of_sequence" },
	{ .name = "duplicate_request" }, { .name = "rnr_nak_retry_err" }, { .name = "packet_seq_err" },
	{ .name = "implied_nak_seq_err" }, { .name = "local_ack_timeout_err" },
	{ .name = "resp_local_length_error" }, { .name = "resp_cqe_error" }, { .name = "req_cqe_error" },
	{ .name = "req_remote_invalid_request" }, { .name = "req_remote_access_errors" },
	{ .name = "resp_remote_access_errors" }, { .name = "resp_cqe_flush_error" },
	{ .name = "req_cqe_flush_error" }, { .name = "roce_adp_retrans" }, { .name = "roce_adp_retrans_to" },
	{ .name = "roce_slow_restart" }, { .name = "roce_slow_restart_cnps" },
	{ .name = "roce_slow_restart_trans" }, { .name = "rp_cnp_ignored" }, { .name = "rp_cnp_handled" },
	{ .name = "np_ecn_marked_roce_packets" }, { .name = "np_cnp_sent" }, { .name = "rx_icrc_encapsulated" },
};
static const char *const pma[] = { "port_xmit_data", "port_rcv_data", "port_xmit_packets", "port_rcv_packets",
	"port_xmit_wait", "port_xmit_discards", "port_rcv_errors", "symbol_error", "link_downed" };
#define NHW  ARRAY_SIZE(descs)
#define NPMA ARRAY_SIZE(pma)

struct fhca {
	struct ib_device ib;
	atomic64_t hw[NHW], pm[NPMA];
	struct net_device *nd;
	struct kobject *tc[2];	/* tc, tc/1 */
	struct kobj_attribute tc_attr;
	int tclass;		/* forced on every queue pair; -1: not */
};
static struct fhca *devs[MAXDEV];
static struct platform_device *pdev;
static struct dentry *dbg;
#define FHCA(ib) container_of(ib, struct fhca, ib)

static int q_dev(struct ib_device *ib, struct ib_device_attr *a, struct ib_udata *u)
{
	memset(a, 0, sizeof(*a));
	a->vendor_id = 0x02c9; a->vendor_part_id = 4125; a->max_qp = 131072; a->max_pkeys = 128;
	a->fw_ver = (22ull << 32) | (36 << 16) | 1010; a->sys_image_guid = ib->node_guid;
	return 0;
}
static int q_port(struct ib_device *ib, u32 p, struct ib_port_attr *a)
{
	struct net_device *nd = FHCA(ib)->nd;

	a->state = netif_running(nd) && netif_carrier_ok(nd) ? IB_PORT_ACTIVE : IB_PORT_DOWN;
	a->phys_state = a->state == IB_PORT_ACTIVE ? IB_PORT_PHYS_STATE_LINK_UP : IB_PORT_PHYS_STATE_DISABLED;
	a->max_mtu = IB_MTU_4096; a->active_mtu = iboe_get_mtu(nd->mtu);
	a->gid_tbl_len = 255; a->pkey_tbl_len = 1; a->max_msg_sz = 0x40000000;
	a->active_speed = IB_SPEED_EDR; a->active_width = IB_WIDTH_4X; a->ip_gids = true;
	return 0;
}
static int q_pkey(struct ib_device *ib, u32 p, u16 i, u16 *k) { *k = 0xffff; return i ? -EINVAL : 0; }
static enum rdma_link_layer ll(struct ib_device *ib, u32 p) { return IB_LINK_LAYER_ETHERNET; }
static int add_gid(const struct ib_gid_attr *a, void **c) { return 0; }
static int del_gid(const struct ib_gid_attr *a, void **c) { return 0; }
static void fw(struct ib_device *ib, char *s) { strscpy(s, "22.36.1010", IB_FW_VERSION_NAME_MAX); }
static int immut(struct ib_device *ib, u32 p, struct ib_port_immutable *im)
{
	/* IB_CM makes the RDMA-CM know the device, and with it its default ToS in configfs. */
	im->core_cap_flags = RDMA_CORE_CAP_PROT_ROCE | RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP |
			     RDMA_CORE_CAP_IB_CM;
	im->gid_tbl_len = 255; im->pkey_tbl_len = 1;
	return 0;
}
static struct rdma_hw_stats *alloc_st(struct ib_device *ib, u32 p)
{
	return rdma_alloc_hw_stats_struct(descs, NHW, RDMA_HW_STATS_DEFAULT_LIFESPAN);
}
static int get_st(struct ib_device *ib, struct rdma_hw_stats *s, u32 p, int idx)
{
	struct fhca *dev = FHCA(ib);
	int i;

	if (!p || !s)
		return -EINVAL;
	for (i = 0; i < NHW; i++)
		s->value[i] = atomic64_read(&dev->hw[i]);
	return NHW;
}
static int mad(struct ib_device *ib, int fl, u32 p, const struct ib_wc *wc, const struct ib_grh *g,
	       const struct ib_mad *in, struct ib_mad *out, size_t *sz, u16 *pk)
{
	struct fhca *dev = FHCA(ib);
	void *d = (u8 *)out + 64;	/* PMA payload */
#define V(i) atomic64_read(&dev->pm[i])
	if (in->mad_hdr.mgmt_class != IB_MGMT_CLASS_PERF_MGMT)
		return IB_MAD_RESULT_SUCCESS;
	if (in->mad_hdr.attr_id == IB_PMA_CLASS_PORT_INFO) {
		((struct ib_class_port_info *)d)->capability_mask = IB_PMA_CLASS_CAP_EXT_WIDTH;
	} else if (in->mad_hdr.attr_id == IB_PMA_PORT_COUNTERS_EXT) {
		struct ib_pma_portcounters_ext *e = d;

		e->port_xmit_data = cpu_to_be64(V(0)); e->port_rcv_data = cpu_to_be64(V(1));
		e->port_xmit_packets = cpu_to_be64(V(2)); e->port_rcv_packets = cpu_to_be64(V(3));
	} else if (in->mad_hdr.attr_id == IB_PMA_PORT_COUNTERS) {
		struct ib_pma_portcounters *c = d;

		c->port_xmit_wait = cpu_to_be32(V(4)); c->port_xmit_discards = cpu_to_be16(V(5));
		c->port_rcv_errors = cpu_to_be16(V(6)); c->symbol_error_counter = cpu_to_be16(V(7));
		c->link_downed_counter = V(8);
	}
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}

/* The RDMA-CM takes only devices that seem to have verbs. */
static int no_pd(struct ib_pd *p, struct ib_udata *u) { return -EOPNOTSUPP; }
static int no_cq(struct ib_cq *c, const struct ib_cq_init_attr *a, struct ib_udata *u) { return -EOPNOTSUPP; }
static int no_cq_end(struct ib_cq *c, struct ib_udata *u) { return -EOPNOTSUPP; }
static int no_poll(struct ib_cq *c, int n, struct ib_wc *w) { return -EOPNOTSUPP; }
static int no_notify(struct ib_cq *c, enum ib_cq_notify_flags f) { return -EOPNOTSUPP; }
static int no_qp(struct ib_qp *q, struct ib_qp_init_attr *a, struct ib_udata *u) { return -EOPNOTSUPP; }
static int no_modify(struct ib_qp *q, struct ib_qp_attr *a, int m, struct ib_udata *u) { return -EOPNOTSUPP; }
static int no_qp_end(struct ib_qp *q, struct ib_udata *u) { return -EOPNOTSUPP; }
static int no_send(struct ib_qp *q, const struct ib_send_wr *w, const struct ib_send_wr **b) { return -EOPNOTSUPP; }
static int no_recv(struct ib_qp *q, const struct ib_recv_wr *w, const struct ib_recv_wr **b) { return -EOPNOTSUPP; }
static struct ib_mr *no_dma_mr(struct ib_pd *p, int f) { return ERR_PTR(-EOPNOTSUPP); }
static struct ib_mr *no_user_mr(struct ib_pd *p, u64 s, u64 l, u64 v, int f, struct ib_udata *u) { return ERR_PTR(-EOPNOTSUPP); }
static int no_mr_end(struct ib_mr *m, struct ib_udata *u) { return -EOPNOTSUPP; }

static const struct ib_device_ops ops = {
	.alloc_pd = no_pd, .dealloc_pd = no_pd, .create_cq = no_cq, .destroy_cq = no_cq_end, .poll_cq = no_poll,
	.req_notify_cq = no_notify, .create_qp = no_qp, .modify_qp = no_modify, .destroy_qp = no_qp_end,
	.post_send = no_send, .post_recv = no_recv, .get_dma_mr = no_dma_mr, .reg_user_mr = no_user_mr,
	.dereg_mr = no_mr_end,
	.owner = THIS_MODULE, .driver_id = RDMA_DRIVER_UNKNOWN,
	.query_device = q_dev, .query_port = q_port, .query_pkey = q_pkey, .get_link_layer = ll,
	.add_gid = add_gid, .del_gid = del_gid, .get_port_immutable = immut, .get_dev_fw_str = fw,
	.alloc_hw_port_stats = alloc_st, .get_hw_stats = get_st, .process_mad = mad,
};
static ssize_t poke(struct file *f, const char __user *u, size_t n, loff_t *o)
{
	struct fhca *dev = file_inode(f)->i_private;
	char b[96], w[64], v[24];
	atomic64_t *t = NULL;
	long long x;
	int i;

	if (n >= sizeof(b) || copy_from_user(b, u, n))
		return -EINVAL;
	b[n] = 0;
	if (sscanf(b, "%63s %23s", w, v) != 2 || kstrtoll(v[0] == '+' ? v + 1 : v, 0, &x))
		return -EINVAL;
	for (i = 0; i < NHW; i++)
		if (!strcmp(descs[i].name, w))
			t = &dev->hw[i];
	for (i = 0; i < NPMA; i++)
		if (!strcmp(pma[i], w))
			t = &dev->pm[i];
	if (!t)
		return -ENOENT;
	if (v[0] == '+')
		atomic64_add(x, t);
	else
		atomic64_set(t, x);
	return n;
}
static const struct file_operations fops = { .owner = THIS_MODULE, .open = simple_open, .write = poke };

static ssize_t tc_show(struct kobject *k, struct kobj_attribute *a, char *o)
{
	int v = container_of(a, struct fhca, tc_attr)->tclass;

	return v < 0 ? 0 : sysfs_emit(o, "Global tclass=%d\n", v);
}
static ssize_t tc_store(struct kobject *k, struct kobj_attribute *a, const char *b, size_t n)
{
	int v;

	if (kstrtoint(strncmp(b, "tclass=", 7) ? b : b + 7, 0, &v) || v > 255)
		return -EINVAL;
	container_of(a, struct fhca, tc_attr)->tclass = v < 0 ? -1 : v;
	return n;
}
static int add_tc(struct fhca *dev)
{
	dev->tclass = -1;
	dev->tc[0] = kobject_create_and_add("tc", &dev->ib.dev.kobj);
	dev->tc[1] = kobject_create_and_add("1", dev->tc[0]);
	sysfs_attr_init(&dev->tc_attr.attr);
	dev->tc_attr.attr.name = "traffic_class"; dev->tc_attr.attr.mode = 0644;
	dev->tc_attr.show = tc_show; dev->tc_attr.store = tc_store;
	return dev->tc[1] ? sysfs_create_file(dev->tc[1], &dev->tc_attr.attr) : -ENOMEM;
}
static int add(const char *netdev, int index)
{
	struct fhca *dev = ib_alloc_device(fhca, ib);
	int r = -ENODEV;

	if (!dev)
		return -ENOMEM;
	dev->nd = dev_get_by_name(&init_net, netdev);
	if (!dev->nd)
		goto err;
	dev->ib.node_type = RDMA_NODE_IB_CA; dev->ib.phys_port_cnt = 1; dev->ib.num_comp_vectors = 1;
	dev->ib.dev.parent = dev->nd->dev.parent ?: &pdev->dev;	/* so net/X/device/infiniband exists */
	addrconf_addr_eui48((u8 *)&dev->ib.node_guid, dev->nd->dev_addr);
	strscpy(dev->ib.node_desc, "MT4125 fake", IB_DEVICE_NODE_DESC_MAX);
	ib_set_device_ops(&dev->ib, &ops);
	r = ib_device_set_netdev(&dev->ib, dev->nd, 1) ?: ib_register_device(&dev->ib, "mlx5_%d", NULL);
	if (r)
		goto err_put;
	debugfs_create_file(dev_name(&dev->ib.dev), 0200, dbg, dev, &fops);
	devs[index] = dev;
	return ofed ? add_tc(dev) : 0;
err_put:
	dev_put(dev->nd);
err:
	ib_dealloc_device(&dev->ib);
	return r;
}
static void remove_all(void)
{
	int i;

	debugfs_remove_recursive(dbg);
	for (i = 0; i < MAXDEV; i++) {
		if (!devs[i])
			continue;
		kobject_put(devs[i]->tc[1]);
		kobject_put(devs[i]->tc[0]);
		ib_unregister_device(&devs[i]->ib);
		dev_put(devs[i]->nd);
		ib_dealloc_device(&devs[i]->ib);
	}
	platform_device_unregister(pdev);
}
static int __init fhca_init(void)
{
	int i, r = 0;

	pdev = platform_device_register_simple("fakehca", PLATFORM_DEVID_AUTO, NULL, 0);
	if (IS_ERR(pdev))
		return PTR_ERR(pdev);
	dma_coerce_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	dbg = debugfs_create_dir("fakehca", NULL);
	for (i = 0; i < n_netdevs && !r; i++)
		r = add(netdevs[i], i);
	if (r)
		remove_all();
	return r;
}
module_init(fhca_init);
module_exit(remove_all);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("fake mlx5-like RoCE devices for tests");
