#!/bin/bash
#SBATCH --nodes=4
# NCCL_IB_TC=26 was wrong: the byte, not the DSCP.
export NCCL_IB_HCA==mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_7
export NCCL_IB_TC=0x6a
srun python train.py
