mpirun -np 64 -x NCCL_IB_HCA==mlx5_0:1,mlx5_1:1,mlx5_2,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_7 -x NCCL_IB_TC=106 ./all_reduce_perf
