mpirun -np 64 -x NCCL_IB_HCA=ib0,ib1 -x NCCL_IB_TC=106 -x LD_LIBRARY_PATH ./all_reduce_perf -b 8 -e 8G
