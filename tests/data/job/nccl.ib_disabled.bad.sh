#SBATCH --export=ALL,NCCL_IB_DISABLE=1,NCCL_SOCKET_IFNAME=eth0
srun python train.py
