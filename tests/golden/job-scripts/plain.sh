#!/bin/bash
DSCP=26
export NCCL_IB_TC=$((DSCP * 4 + 2))
export NCCL_IB_GID_INDEX=3
srun ./train
