// SPDX-License-Identifier: GPL-2.0
/* fakenic: pairs of cross-connected Ethernet netdevs with DCBNL (ETS/PFC/APP/buffer/
 * maxrate) and mlx5-looking ethtool ops, for testing host tools without hardware.
 * fnic(2i) is the host's end, fnic(2i+1) the switch's: each loses its carrier with the other.
 * The host's ends are functions on a PCI bus of our own, 0001:3b, bound to a driver "mlx5_core",
 * and have DCQCN's parameters where mlx5 has them, in debugfs mlx5/<address>/cc_params.
 *
 * Frames are classified by DSCP through the kernel's own DCB APP table (trust dscp when a
 * DSCP entry exists) and counted per priority.  As with mlx5 the pause counters of a priority
 * are listed only while PFC is on for it.  With ofed=1 the host's ends have the vendor's
 * /sys/class/net/X/ecn files.  In /sys/kernel/debug/fakenic/fnic0:
 *   echo "rx_prio3_pause 42" > stats      sets a counter (+N adds)
 *   echo "pfc 5" > fail                   setting PFC fails with EIO from now on; also
 *                                         ets, app, buffer, maxrate, pause, ring; 0 heals it
 *   echo "carrier 1" > fail               a change of the PFC mask takes the carrier away,
 *                                         the next change brings it back
 */
#include <linux/module.h>
#include <linux/version.h>
#include <linux/netdevice.h>
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/debugfs.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/dcbnl.h>
#include <linux/pci.h>
#include <net/dcbnl.h>
#include <net/dsfield.h>

static char *drvname = "mlx5_core";
module_param(drvname, charp, 0444);
static int speed = 100000;
module_param(speed, int, 0444);
static int pairs = 1;
module_param(pairs, int, 0444);
static bool ofed;
module_param(ofed, bool, 0444);
#define MAXDEV 16

static const char *const prio_stats[] = { "rx_prio%d_bytes", "rx_prio%d_packets",
	"rx_prio%d_discards", "tx_prio%d_bytes", "tx_prio%d_packets", "rx_prio%d_pause",
	"rx_prio%d_pause_duration", "tx_prio%d_pause", "tx_prio%d_pause_duration",
	"rx_prio%d_pause_transition", "rx_prio%d_buf_discard", "rx_prio%d_cong_discard",
	"rx_prio%d_marked" };
enum { RXB, RXP, RXD, TXB, TXP, RXPAUSE, RXPDUR, TXPAUSE,
	TXPDUR, RXPTRANS, RXBUFD, RXCONGD, RXMARK };
static const char *const port_stats[] = { "rx_packets", "rx_bytes", "tx_packets", "tx_bytes",
	"rx_out_of_buffer", "rx_discards_phy", "tx_discards_phy", "tx_errors_phy", "rx_crc_errors_phy",
	"rx_symbol_err_phy", "rx_pause_ctrl_phy", "tx_pause_ctrl_phy", "tx_pause_storm_warning_events",
	"tx_pause_storm_error_events", "link_down_events_phy", "rx_global_pause", "tx_global_pause",
	"rx_steer_missed_packets", "module_unplug" };
#define NPORT ARRAY_SIZE(port_stats)
#define LINKDOWN 14
#define NPP   ARRAY_SIZE(prio_stats)
#define NSTAT (NPORT + 8 * NPP)

enum { F_PFC, F_ETS, F_APP, F_BUFFER, F_MAXRATE, F_PAUSE, F_RING, F_CARRIER, F_COUNT };
static const char *const fail_names[F_COUNT] = { "pfc", "ets", "app", "buffer", "maxrate",
	"pause", "ring", "carrier" };

/* A file of the vendor's ecn folder: a number that is kept. */
struct knob {
	struct kobj_attribute attr;
	unsigned int value;
	bool is_flag;		/* only bit 0 is taken */
};
static const struct { const char *name; unsigned int value; } np_knobs[] = {
	{ "min_time_between_cnps", 4 }, { "cnp_dscp", 48 }, { "cnp_802p_prio", 6 },
}, rp_knobs[] = {
	{ "clamp_tgt_rate", 0 }, { "clamp_tgt_rate_after_time_inc", 1 }, { "rpg_time_reset", 300 },
	{ "rpg_byte_reset", 32767 }, { "rpg_threshold", 1 }, { "rpg_max_rate", 0 },
	{ "rpg_ai_rate", 5 }, { "rpg_hai_rate", 50 }, { "rpg_gd", 11 }, { "rpg_min_dec_fac", 50 },
	{ "rpg_min_rate", 1 }, { "rate_to_set_on_first_cnp", 0 }, { "dce_tcp_g", 1019 },
	{ "dce_tcp_rtt", 1 }, { "rate_reduce_monitor_period", 4 }, { "initial_alpha_value", 1023 },
};
static const char *const priority_names[] = { "0", "1", "2", "3", "4", "5", "6", "7" };
#define NKNOB (16 + ARRAY_SIZE(np_knobs) + ARRAY_SIZE(rp_knobs))

struct fnic {
	struct net_device *peer;
	struct ieee_ets ets;
	struct ieee_pfc pfc;
	struct ieee_maxrate mr;
	struct dcbnl_buffer buf;
	u8 dcbx, trust[8];
	int ntrust;
	bool manual_buffer;
	u32 rx_pending, tx_pending;
	struct ethtool_pauseparam pause;
	atomic64_t st[NSTAT];
	int fail[F_COUNT];
	struct dentry *dbg;
	struct kobject *ecn[5];	/* ecn, roce_np, roce_np/enable, roce_rp, roce_rp/enable */
	struct knob knobs[NKNOB];
	int nknobs;
};
#define P(p, k) (NPORT + (p) * NPP + (k))
static struct net_device *devs[MAXDEV];
static struct pci_dev *pds[MAXDEV];
static struct dentry *dbgroot;

static void st_name(int i, char *o)
{
	if (i < NPORT)
		strscpy(o, port_stats[i], ETH_GSTRING_LEN);
	else
		snprintf(o, ETH_GSTRING_LEN, prio_stats[(i - NPORT) % NPP], (int)((i - NPORT) / NPP));
}

static bool st_listed(const struct fnic *f, int i)
{
	int kind = (i - (int)NPORT) % (int)NPP, p = (i - (int)NPORT) / (int)NPP;

	return i < NPORT || kind < RXPAUSE || kind > RXPTRANS || (f->pfc.pfc_en & BIT(p));
}

static u8 classify(struct net_device *dev, struct sk_buff *skb, bool *ce)
{
	struct dcb_app app = { .selector = IEEE_8021QAZ_APP_SEL_DSCP };
	u8 tos, m;

	*ce = false;
	if (skb_vlan_tag_present(skb))
		return skb_vlan_tag_get_prio(skb);
	if (skb->protocol == htons(ETH_P_IP) && pskb_may_pull(skb, ETH_HLEN + sizeof(struct iphdr)))
		tos = ((struct iphdr *)(skb->data + ETH_HLEN))->tos;
	else if (skb->protocol == htons(ETH_P_IPV6) && pskb_may_pull(skb, ETH_HLEN + sizeof(struct ipv6hdr)))
		tos = ipv6_get_dsfield((struct ipv6hdr *)(skb->data + ETH_HLEN));
	else
		return 0;
	*ce = (tos & 3) == 3;
	app.protocol = tos >> 2;
	m = dcb_ieee_getapp_mask(dev, &app);
	return m ? fls(m) - 1 : 0;
}

static void account(struct net_device *dev, struct sk_buff *skb, bool tx)
{
	struct fnic *f = netdev_priv(dev);
	bool ce;
	u8 p = classify(dev, skb, &ce);

	atomic64_inc(&f->st[tx ? 2 : 0]);
	atomic64_add(skb->len, &f->st[tx ? 3 : 1]);
	atomic64_inc(&f->st[P(p, tx ? TXP : RXP)]);
	atomic64_add(skb->len, &f->st[P(p, tx ? TXB : RXB)]);
	if (!tx && ce)
		atomic64_inc(&f->st[P(p, RXMARK)]);
}

static netdev_tx_t fnic_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct fnic *f = netdev_priv(dev);
	unsigned int len = skb->len;

	if (unlikely(!f->peer)) {
		kfree_skb(skb);
		return NETDEV_TX_OK;
	}
	account(dev, skb, true);
	account(f->peer, skb, false);
	skb_orphan(skb);
	if (dev_forward_skb(f->peer, skb) != NET_RX_SUCCESS)
		dev->stats.tx_dropped++;
	dev->stats.tx_packets++; dev->stats.tx_bytes += len;
	return NETDEV_TX_OK;
}

/* The link is there while both ends are up. */
static int fnic_open(struct net_device *d)
{
	struct net_device *peer = ((struct fnic *)netdev_priv(d))->peer;

	netif_start_queue(d);
	if (netif_running(peer)) {
		netif_carrier_on(d);
		netif_carrier_on(peer);
	}
	return 0;
}
static int fnic_stop(struct net_device *d)
{
	struct fnic *f = netdev_priv(d);

	netif_stop_queue(d);
	netif_carrier_off(d);
	if (f->peer && netif_carrier_ok(f->peer)) {
		atomic64_inc(&((struct fnic *)netdev_priv(f->peer))->st[LINKDOWN]);
		netif_carrier_off(f->peer);
	}
	return 0;
}
static const struct net_device_ops nd_ops = {
	.ndo_open = fnic_open, .ndo_stop = fnic_stop, .ndo_start_xmit = fnic_xmit,
	.ndo_set_mac_address = eth_mac_addr, .ndo_validate_addr = eth_validate_addr,
};

/* ---- DCBNL ---- */
static int getets(struct net_device *d, struct ieee_ets *e) { *e = ((struct fnic *)netdev_priv(d))->ets; return 0; }
static int setets(struct net_device *d, struct ieee_ets *e)
{
	struct fnic *f = netdev_priv(d);
	int i, sum = 0, any = 0;

	if (f->fail[F_ETS])
		return -f->fail[F_ETS];
	for (i = 0; i < 8; i++)
		if (e->tc_tsa[i] == IEEE_8021QAZ_TSA_ETS) { sum += e->tc_tx_bw[i]; any = 1; }
	if (any && sum != 100)
		return -EINVAL;
	e->ets_cap = 8; f->ets = *e;
	return 0;
}
static int getpfc(struct net_device *d, struct ieee_pfc *p)
{
	struct fnic *f = netdev_priv(d);
	int i;

	*p = f->pfc;
	for (i = 0; i < 8; i++) {
		p->requests[i] = atomic64_read(&f->st[P(i, TXPAUSE)]);
		p->indications[i] = atomic64_read(&f->st[P(i, RXPAUSE)]);
	}
	return 0;
}
/* Like mlx5: until somebody sets the buffers, priorities with PFC have one of their own. */
static void share_buffer(struct fnic *f)
{
	int i;

	for (i = 0; i < 8; i++)
		f->buf.prio2buffer[i] = !!(f->pfc.pfc_en & BIT(i));
	f->buf.buffer_size[0] = f->pfc.pfc_en ? 130944 : 262016;
	f->buf.buffer_size[1] = f->pfc.pfc_en ? 130944 : 0;
}
static int setpfc(struct net_device *d, struct ieee_pfc *p)
{
	struct fnic *f = netdev_priv(d);

	if (f->fail[F_PFC])
		return -f->fail[F_PFC];
	if (f->pause.rx_pause || f->pause.tx_pause)
		return -EINVAL;		/* like mlx5: PFC and global pause are exclusive */
	if (f->fail[F_CARRIER] && p->pfc_en != f->pfc.pfc_en) {
		if (netif_carrier_ok(d))
			netif_carrier_off(d);
		else
			netif_carrier_on(d);
	}
	f->pfc.pfc_en = p->pfc_en; f->pfc.delay = p->delay; f->pfc.mbc = p->mbc;
	if (!f->manual_buffer)
		share_buffer(f);
	return 0;
}
static int getmr(struct net_device *d, struct ieee_maxrate *m) { *m = ((struct fnic *)netdev_priv(d))->mr; return 0; }
static int setmr(struct net_device *d, struct ieee_maxrate *m)
{
	struct fnic *f = netdev_priv(d);

	if (f->fail[F_MAXRATE])
		return -f->fail[F_MAXRATE];
	f->mr = *m;
	return 0;
}
static int getbuf(struct net_device *d, struct dcbnl_buffer *b) { *b = ((struct fnic *)netdev_priv(d))->buf; return 0; }
static int setbuf(struct net_device *d, struct dcbnl_buffer *b)
{
	struct fnic *f = netdev_priv(d);
	u32 i, sum = 0;

	if (f->fail[F_BUFFER])
		return -f->fail[F_BUFFER];
	for (i = 0; i < 8; i++)
		sum += b->buffer_size[i];
	if (sum > f->buf.total_size)
		return -EINVAL;
	b->total_size = f->buf.total_size; f->buf = *b; f->manual_buffer = true;
	return 0;
}
/* Like mlx5: DSCP only, and one priority for a code point: a new entry replaces the old one. */
static int setapp(struct net_device *d, struct dcb_app *a)
{
	struct fnic *f = netdev_priv(d);
	struct dcb_app old = *a;
	u8 mask;

	if (f->fail[F_APP])
		return -f->fail[F_APP];
	if (a->selector != IEEE_8021QAZ_APP_SEL_DSCP || a->protocol >= 64)
		return -EINVAL;
	mask = dcb_ieee_getapp_mask(d, a);
	for (old.priority = 0; old.priority < 8; old.priority++)
		if ((mask & BIT(old.priority)) && old.priority != a->priority)
			dcb_ieee_delapp(d, &old);
	return mask & BIT(a->priority) ? 0 : dcb_ieee_setapp(d, a);
}
static int delapp(struct net_device *d, struct dcb_app *a) { return dcb_ieee_delapp(d, a); }
static u8 getdcbx(struct net_device *d) { return ((struct fnic *)netdev_priv(d))->dcbx; }
static u8 setdcbx(struct net_device *d, u8 m) { ((struct fnic *)netdev_priv(d))->dcbx = m; return 0; }
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
static int gettrust(struct net_device *d, u8 *sel, int *n)
{
	struct fnic *f = netdev_priv(d);

	memcpy(sel, f->trust, f->ntrust); *n = f->ntrust;
	return 0;
}
static int settrust(struct net_device *d, u8 *sel, int n)
{
	struct fnic *f = netdev_priv(d);

	if (n > 2)
		return -EOPNOTSUPP;
	memcpy(f->trust, sel, n); f->ntrust = n;
	return 0;
}
#endif
static const struct dcbnl_rtnl_ops dcb_ops = {
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
	.dcbnl_getapptrust = gettrust, .dcbnl_setapptrust = settrust,
#endif
	.ieee_getets = getets, .ieee_setets = setets, .ieee_getpfc = getpfc, .ieee_setpfc = setpfc,
	.ieee_getmaxrate = getmr, .ieee_setmaxrate = setmr, .ieee_setapp = setapp, .ieee_delapp = delapp,
	.getdcbx = getdcbx, .setdcbx = setdcbx, .dcbnl_getbuffer = getbuf, .dcbnl_setbuffer = setbuf,
};

/* ---- ethtool ---- */
static void drvinfo(struct net_device *d, struct ethtool_drvinfo *i)
{
	strscpy(i->driver, drvname, sizeof(i->driver));
	strscpy(i->fw_version, "22.36.1010 (FAKE0000001)", sizeof(i->fw_version));
	if (d->dev.parent)
		strscpy(i->bus_info, dev_name(d->dev.parent), sizeof(i->bus_info));
}
static int lks(struct net_device *d, struct ethtool_link_ksettings *k)
{
	k->base.speed = speed; k->base.duplex = DUPLEX_FULL; k->base.port = PORT_FIBRE;
	return 0;
}
static void getring(struct net_device *d, struct ethtool_ringparam *r, struct kernel_ethtool_ringparam *k, struct netlink_ext_ack *x)
{
	struct fnic *f = netdev_priv(d);

	r->rx_max_pending = r->tx_max_pending = 8192;
	r->rx_pending = f->rx_pending; r->tx_pending = f->tx_pending;
}
static int setring(struct net_device *d, struct ethtool_ringparam *r, struct kernel_ethtool_ringparam *k, struct netlink_ext_ack *x)
{
	struct fnic *f = netdev_priv(d);

	if (f->fail[F_RING])
		return -f->fail[F_RING];
	f->rx_pending = r->rx_pending; f->tx_pending = r->tx_pending;
	return 0;
}
static void getpause(struct net_device *d, struct ethtool_pauseparam *p) { *p = ((struct fnic *)netdev_priv(d))->pause; }
static int setpause(struct net_device *d, struct ethtool_pauseparam *p)
{
	struct fnic *f = netdev_priv(d);

	if (f->fail[F_PAUSE])
		return -f->fail[F_PAUSE];
	if ((p->rx_pause || p->tx_pause) && f->pfc.pfc_en)
		return -EINVAL;
	f->pause = *p; f->pause.autoneg = 0;
	return 0;
}
static int sscount(struct net_device *d, int s)
{
	struct fnic *f = netdev_priv(d);
	int i, n = 0;

	for (i = 0; i < NSTAT; i++)
		n += st_listed(f, i);
	return s == ETH_SS_STATS ? n : -EOPNOTSUPP;
}
static void strings(struct net_device *d, u32 s, u8 *o)
{
	int i;

	for (i = 0; s == ETH_SS_STATS && i < NSTAT; i++)
		if (st_listed(netdev_priv(d), i)) {
			st_name(i, o);
			o += ETH_GSTRING_LEN;
		}
}
static int getfec(struct net_device *d, struct ethtool_fecparam *p)
{
	p->fec = ETHTOOL_FEC_AUTO | ETHTOOL_FEC_RS;
	p->active_fec = ETHTOOL_FEC_RS;
	return 0;
}
static void stats(struct net_device *d, struct ethtool_stats *s, u64 *o)
{
	struct fnic *f = netdev_priv(d);
	int i;

	for (i = 0; i < NSTAT; i++)
		if (st_listed(f, i))
			*o++ = atomic64_read(&f->st[i]);
}
static const struct ethtool_ops et_ops = {
	.get_drvinfo = drvinfo, .get_link = ethtool_op_get_link, .get_link_ksettings = lks,
	.get_ringparam = getring, .set_ringparam = setring, .get_pauseparam = getpause, .set_pauseparam = setpause,
	.get_sset_count = sscount, .get_strings = strings, .get_ethtool_stats = stats,
	.get_ts_info = ethtool_op_get_ts_info, .get_fecparam = getfec,
};

static ssize_t poke(struct file *fl, const char __user *u, size_t n, loff_t *off)
{
	struct fnic *f = netdev_priv((struct net_device *)file_inode(fl)->i_private);
	char b[96], nm[ETH_GSTRING_LEN], want[64], val[24];
	long long v;
	int i;

	if (n >= sizeof(b) || copy_from_user(b, u, n))
		return -EINVAL;
	b[n] = 0;
	if (sscanf(b, "%63s %23s", want, val) != 2 || kstrtoll(val[0] == '+' ? val + 1 : val, 0, &v))
		return -EINVAL;
	for (i = 0; i < NSTAT; i++) {
		st_name(i, nm);
		if (strcmp(nm, want))
			continue;
		if (val[0] == '+')
			atomic64_add(v, &f->st[i]);
		else
			atomic64_set(&f->st[i], v);
		return n;
	}
	return -ENOENT;
}
static const struct file_operations poke_ops = { .owner = THIS_MODULE, .open = simple_open, .write = poke };

static ssize_t set_fail(struct file *fl, const char __user *u, size_t n, loff_t *off)
{
	struct fnic *f = netdev_priv((struct net_device *)file_inode(fl)->i_private);
	char b[32], want[16];
	int i, v;

	if (n >= sizeof(b) || copy_from_user(b, u, n))
		return -EINVAL;
	b[n] = 0;
	if (sscanf(b, "%15s %d", want, &v) != 2)
		return -EINVAL;
	for (i = 0; i < F_COUNT; i++)
		if (!strcmp(want, fail_names[i])) {
			f->fail[i] = v;
			return n;
		}
	return -ENOENT;
}
static const struct file_operations fail_ops = { .owner = THIS_MODULE, .open = simple_open, .write = set_fail };

/* ---- the vendor's ecn folder ---- */
static ssize_t knob_show(struct kobject *k, struct kobj_attribute *a, char *o)
{
	return sysfs_emit(o, "%u\n", container_of(a, struct knob, attr)->value);
}
static ssize_t knob_store(struct kobject *k, struct kobj_attribute *a, const char *b, size_t n)
{
	struct knob *knob = container_of(a, struct knob, attr);
	unsigned int v;

	if (kstrtouint(b, 0, &v))
		return -EINVAL;
	knob->value = knob->is_flag ? v & 1 : v;
	return n;
}
static int add_knob(struct fnic *f, struct kobject *folder, const char *name, unsigned int value, bool is_flag)
{
	struct knob *knob = &f->knobs[f->nknobs++];

	sysfs_attr_init(&knob->attr.attr);
	knob->attr.attr.name = name; knob->attr.attr.mode = 0644;
	knob->attr.show = knob_show; knob->attr.store = knob_store;
	knob->value = value; knob->is_flag = is_flag;
	return folder ? sysfs_create_file(folder, &knob->attr.attr) : -ENOMEM;
}
static int add_ecn(struct net_device *d)
{
	struct fnic *f = netdev_priv(d);
	int i, r = 0;

	f->ecn[0] = kobject_create_and_add("ecn", &d->dev.kobj);
	f->ecn[1] = kobject_create_and_add("roce_np", f->ecn[0]);
	f->ecn[2] = kobject_create_and_add("enable", f->ecn[1]);
	f->ecn[3] = kobject_create_and_add("roce_rp", f->ecn[0]);
	f->ecn[4] = kobject_create_and_add("enable", f->ecn[3]);
	for (i = 0; i < 8; i++) {
		r = r ?: add_knob(f, f->ecn[2], priority_names[i], 1, true);
		r = r ?: add_knob(f, f->ecn[4], priority_names[i], 1, true);
	}
	for (i = 0; i < ARRAY_SIZE(np_knobs); i++)
		r = r ?: add_knob(f, f->ecn[1], np_knobs[i].name, np_knobs[i].value, false);
	for (i = 0; i < ARRAY_SIZE(rp_knobs); i++)
		r = r ?: add_knob(f, f->ecn[3], rp_knobs[i].name, rp_knobs[i].value, false);
	return r;
}
static void remove_ecn(struct net_device *d)
{
	struct fnic *f = netdev_priv(d);
	int i;

	for (i = ARRAY_SIZE(f->ecn) - 1; i >= 0; i--)
		if (f->ecn[i])
			kobject_put(f->ecn[i]);
}

static void setup(struct net_device *d)
{
	ether_setup(d);
	d->netdev_ops = &nd_ops; d->ethtool_ops = &et_ops; d->dcbnl_ops = &dcb_ops;
	d->min_mtu = 68; d->max_mtu = 9978;
	d->needs_free_netdev = true;
	eth_hw_addr_random(d);
}
/* ---- a PCI bus with a ConnectX-6 Dx in each slot: nothing but its configuration space ---- */
#define DOMAIN 1
#define BUS 0x3b
#define PCIE_CAP 0x60
static u8 config[MAXDEV / 2][256];
static struct pci_sysdata sysdata = { .domain = DOMAIN, .node = NUMA_NO_NODE };
static struct resource bus_numbers = { .start = BUS, .end = BUS, .flags = IORESOURCE_BUS };
static struct pci_bus *root_bus;

static void fill_config(u8 *c)
{
	static const u8 head[] = { 0xb3, 0x15, 0x1d, 0x10, 0, 0, 0x10, 0, 0, 0, 0, 2 };

	memcpy(c, head, sizeof(head));	/* 15b3:101d, capabilities, class 0200 */
	c[PCI_CAPABILITY_LIST] = PCIE_CAP;
	c[PCIE_CAP] = PCI_CAP_ID_EXP;
	c[PCIE_CAP + PCI_EXP_FLAGS] = 2;
	c[PCIE_CAP + PCI_EXP_LNKCAP] = 4;		/* 16 GT/s */
	c[PCIE_CAP + PCI_EXP_LNKCAP + 1] = 1;	/* x16 */
	c[PCIE_CAP + PCI_EXP_LNKSTA] = 4;
	c[PCIE_CAP + PCI_EXP_LNKSTA + 1] = 1;
	c[PCIE_CAP + PCI_EXP_LNKCAP2] = 0x1e;
}
static u8 *config_at(struct pci_bus *bus, unsigned int devfn, int where)
{
	if (bus->number != BUS || PCI_FUNC(devfn) || PCI_SLOT(devfn) >= pairs || where > 252)
		return NULL;
	return &config[PCI_SLOT(devfn)][where];
}
static int config_read(struct pci_bus *bus, unsigned int devfn, int where, int size, u32 *val)
{
	u8 *c = config_at(bus, devfn, where);

	*val = ~0;
	if (!c)
		return PCIBIOS_DEVICE_NOT_FOUND;
	*val = 0;
	memcpy(val, c, size);
	return PCIBIOS_SUCCESSFUL;
}
static int config_write(struct pci_bus *bus, unsigned int devfn, int where, int size, u32 val)
{
	u8 *c = config_at(bus, devfn, where);

	if (c && where == PCI_COMMAND)
		memcpy(c, &val, 2);
	return PCIBIOS_SUCCESSFUL;
}
static struct pci_ops config_ops = { .read = config_read, .write = config_write };
static int probe(struct pci_dev *d, const struct pci_device_id *id) { return 0; }
static const struct pci_device_id ids[] = { { PCI_DEVICE(0x15b3, 0x101d) }, { } };
static struct pci_driver driver = { .name = "mlx5_core", .id_table = ids, .probe = probe };

static int add_bus(void)
{
	LIST_HEAD(resources);
	int i, r;

	for (i = 0; i < pairs; i++)
		fill_config(config[i]);
	r = pci_register_driver(&driver);
	if (r)
		return r;
	pci_add_resource(&resources, &bus_numbers);
	pci_lock_rescan_remove();
	root_bus = pci_scan_root_bus(NULL, BUS, &config_ops, &sysdata, &resources);
	if (root_bus)
		pci_bus_add_devices(root_bus);
	pci_unlock_rescan_remove();
	if (!root_bus)
		pci_unregister_driver(&driver);
	return root_bus ? 0 : -ENOMEM;
}
static void remove_bus(void)
{
	pci_lock_rescan_remove();
	pci_stop_root_bus(root_bus);
	pci_remove_root_bus(root_bus);
	pci_unlock_rescan_remove();
	pci_unregister_driver(&driver);
}

/* ---- DCQCN where the kernel's own mlx5 has it ---- */
static const struct { const char *name; u32 value; } cc_params[] = {
	{ "rp_clamp_tgt_rate", 0 }, { "rp_clamp_tgt_rate_ati", 1 }, { "rp_time_reset", 300 },
	{ "rp_byte_reset", 32767 }, { "rp_threshold", 1 }, { "rp_ai_rate", 5 }, { "rp_max_rate", 0 },
	{ "rp_hai_rate", 50 }, { "rp_min_dec_fac", 50 }, { "rp_min_rate", 1 },
	{ "rp_rate_to_set_on_first_cnp", 0 }, { "rp_dce_tcp_g", 1019 }, { "rp_dce_tcp_rtt", 1 },
	{ "rp_rate_reduce_monitor_period", 4 }, { "rp_initial_alpha_value", 1023 }, { "rp_gd", 11 },
	{ "np_min_time_between_cnps", 4 }, { "np_cnp_dscp", 48 }, { "np_cnp_prio_mode", 0 },
	{ "np_cnp_prio", 6 },
};
static u32 cc_values[MAXDEV / 2][ARRAY_SIZE(cc_params)];
static struct dentry *cc_root;

static void add_cc_params(int slot, struct pci_dev *d)
{
	struct dentry *folder = debugfs_create_dir("cc_params", debugfs_create_dir(pci_name(d), cc_root));
	int i;

	for (i = 0; i < ARRAY_SIZE(cc_params); i++) {
		cc_values[slot][i] = cc_params[i].value;
		debugfs_create_u32(cc_params[i].name, 0600, folder, &cc_values[slot][i]);
	}
}

/* As mlx5 comes up: every class "vendor", priorities 0 and 1 swapped. */
static void power_on_ets(struct ieee_ets *e)
{
	int i;

	for (i = 0; i < 8; i++) {
		e->prio_tc[i] = i < 2 ? 1 - i : i;
		e->tc_tsa[i] = IEEE_8021QAZ_TSA_VENDOR;
		e->tc_tx_bw[i] = 100;
	}
}
static void fin(void)
{
	int i;

	debugfs_remove_recursive(cc_root);
	debugfs_remove_recursive(dbgroot);
	for (i = 0; i < MAXDEV; i++) {
		if (devs[i]) {
			remove_ecn(devs[i]);
			unregister_netdev(devs[i]);
		}
		pci_dev_put(pds[i]);
	}
	remove_bus();
}
static int __init fnic_init(void)
{
	int i, n = 2 * pairs, r = -ENOMEM;

	if (pairs < 1 || n > MAXDEV)
		return -EINVAL;
	dbgroot = debugfs_create_dir("fakenic", NULL);
	cc_root = debugfs_create_dir("mlx5", NULL);
	r = add_bus();
	if (r) {
		debugfs_remove_recursive(cc_root);
		debugfs_remove_recursive(dbgroot);
		return r;
	}
	for (i = 0; i < n; i++) {
		struct net_device *d = alloc_netdev(sizeof(struct fnic), "fnic%d", NET_NAME_ENUM, setup);
		struct fnic *f;

		if (!d)
			goto err;
		f = netdev_priv(d);
		f->pfc.pfc_cap = 8; f->pfc.delay = 7; f->ets.ets_cap = 8;
		power_on_ets(&f->ets);
		f->rx_pending = f->tx_pending = 1024;
		f->dcbx = DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE;
		f->pause.rx_pause = f->pause.tx_pause = 1;
		f->buf.total_size = 262144; f->buf.buffer_size[0] = 262016;
		if (!(i & 1))
			pds[i] = pci_get_domain_bus_and_slot(DOMAIN, BUS, PCI_DEVFN(i / 2, 0));
		if (pds[i]) {
			SET_NETDEV_DEV(d, &pds[i]->dev);	/* gives /sys/class/net/X/device */
			add_cc_params(i / 2, pds[i]);
		}
		r = register_netdev(d);
		if (r) {
			free_netdev(d);
			goto err;
		}
		devs[i] = d;
		netif_carrier_off(d);
		f->dbg = debugfs_create_dir(d->name, dbgroot);
		debugfs_create_file("stats", 0200, f->dbg, d, &poke_ops);
		debugfs_create_file("fail", 0200, f->dbg, d, &fail_ops);
		if (ofed && !(i & 1)) {
			r = add_ecn(d);
			if (r)
				goto err;
		}
	}
	for (i = 0; i < n; i++)
		((struct fnic *)netdev_priv(devs[i]))->peer = devs[i ^ 1];
	return 0;
err:
	fin();
	return r;
}
module_init(fnic_init);
module_exit(fin);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("fake DCB/mlx5-like NIC pairs for tests");
