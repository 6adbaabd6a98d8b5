docker run --rm -e CCL_NET_GDR_LEVEL=PHB -e NCCL_IB_TC=106 trainer
export NCCL_IB_GDR_LEVEL=4
export NCCL_IB_TIMEOUTS=22
