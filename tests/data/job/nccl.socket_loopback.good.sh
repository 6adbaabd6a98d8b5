#!/bin/bash
#SBATCH -N 4
export NCCL_IB_TC=106
export NCCL_SOCKET_IFNAME=^docker,lo
srun ./train
