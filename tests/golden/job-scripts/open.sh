#!/bin/bash
#SBATCH -N 4
export NCCL_IB_TC=$TC
srun ./train
