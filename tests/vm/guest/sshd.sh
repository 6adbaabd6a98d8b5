#!/usr/bin/env bash
# Debian's sshd, and keys to log in to the others, from /mnt (cluster.py): sshd.sh
set -e
mkdir -p /run/sshd /etc/ssh /root/.ssh
echo "root:x:0:0:root:/root:/bin/bash
sshd:x:22:22::/run/sshd:/bin/false" >/etc/passwd
echo "root:x:0:
sshd:x:22:" >/etc/group
chmod 755 /run/sshd
chmod 700 /root /root/.ssh
cp /mnt/host_key /etc/ssh/host_key
cp /mnt/user_key.pub /root/.ssh/authorized_keys
cp /mnt/user_key /root/.ssh/id_ed25519
echo "* $(cat /mnt/host_key.pub)" >/root/.ssh/known_hosts
chmod 600 /etc/ssh/host_key /root/.ssh/authorized_keys /root/.ssh/id_ed25519
# An emulated CPU that shares its core is slow: weir may look for longer than it usually would.
cat >/etc/ssh/sshd_config <<END
HostKey /etc/ssh/host_key
PermitRootLogin yes
PasswordAuthentication no
UsePAM no
UseDNS no
MaxStartups 100
LoginGraceTime 120
SetEnv WEIR_LOOK_BUDGET=100s
END
/usr/sbin/sshd -f /etc/ssh/sshd_config -E /run/sshd/log
