#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Stands in for the sidecars of a CSI driver's manifest where their images cannot be had; its
# arguments say which one is meant. The registrar is ours, the probe says that all is well, and
# provisioner and resizer, which static volumes do not need, do nothing.
for each in "$@"; do
  case $each in
    --csi-address=*) socket=${each#*=} ;;
    --kubelet-registration-path=*) path=${each#*=} ;;
    --health-port=*) port=${each#*=} ;;
  esac
done
if [ -n "$path" ]; then
  exec paddle-cache register "--csi-socket=$socket" "--kubelet-registration-path=$path" \
    --registry=/registration
elif [ -n "$port" ]; then
  mkdir -p /tmp/www
  echo ok > /tmp/www/healthz
  exec busybox httpd -f -p "$port" -h /tmp/www
fi
exec sleep 2147483647
