# SPDX-License-Identifier: Apache-2.0
"""Flags and configuration files of the cluster's programs. Pure, except write()."""
import json
from pathlib import Path

from paddle_tools.json_types import Json
from paddle_tools.testbed.layout import (
    API_PORT,
    DNS_READY_PORT,
    DOMAIN,
    EXAMPLE_DOMAINS,
    HOST,
    HOST_6,
    PAUSE_IMAGE,
    POLICIES_PORT,
    Layout,
    node_name,
)
from paddle_tools.testbed.process import write as write_file


def _fast(layout: Layout) -> list[str]:
    """Request rates of the controllers: with the defaults the first pod waits for seconds, and a
    benchmark on hundreds of simulated nodes would measure this limit."""
    rate = 2000 if "kwok" in layout.parts else 300
    return [f"--kube-api-qps={rate}", f"--kube-api-burst={2 * rate}", "--leader-elect=false"]


def etcd(data: str | Path, client_port: int = 2379, peer_port: int = 2380,
         address: str = HOST) -> list[str | Path]:
    client, peer = f"http://{address}:{client_port}", f"http://{address}:{peer_port}"
    return ["--data-dir", data, "--listen-client-urls", client, "--advertise-client-urls", client,
            "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
            "--initial-cluster", f"default={peer}"]


def apiserver(layout: Layout) -> list[str]:
    pki = layout.pki
    return [
        "--etcd-servers=http://10.88.0.1:2379",
        f"--bind-address={'::' if layout.ipv6 else '0.0.0.0'}",  # in the cluster's own network
        f"--advertise-address={HOST_6 if layout.ipv6 else HOST}", f"--secure-port={API_PORT}",
        f"--cert-dir={pki}", f"--client-ca-file={pki}/ca.crt",
        f"--tls-cert-file={pki}/apiserver.crt", f"--tls-private-key-file={pki}/apiserver.key",
        f"--kubelet-client-certificate={pki}/kubelet-client.crt",
        f"--kubelet-client-key={pki}/kubelet-client.key",
        f"--kubelet-certificate-authority={pki}/ca.crt",
        "--kubelet-preferred-address-types=InternalIP",  # the nodes' names are in no DNS
        "--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction",
        f"--service-account-key-file={pki}/accounts.pub",
        f"--service-account-signing-key-file={pki}/accounts.key",
        f"--service-account-issuer=https://kubernetes.default.svc.{DOMAIN}",
        f"--service-cluster-ip-range={','.join(layout.services)}", "--allow-privileged=true",
        # It needs a newer etcd: with it, clients retry for ever instead of listing.
        "--feature-gates=WatchList=false",
        # Webhooks are called at their pods: the host has no kube-proxy.
        "--enable-aggregator-routing=true",
        "--default-not-ready-toleration-seconds=5", "--default-unreachable-toleration-seconds=5",
        f"--audit-policy-file={layout.config}/audit-policy.json",
        f"--audit-log-path={layout.state}/audit.log",
        "--audit-log-maxsize=4000",  # megabytes: one file has all requests
    ]


def controller_manager(layout: Layout) -> list[str]:
    pki = layout.pki
    # Leases of simulated nodes are renewed late when many of them share two processors.
    grace = "50s" if "kwok" in layout.parts else "12s"
    return [
        f"--kubeconfig={layout.config}/controller-manager.kubeconfig", *_fast(layout),
        "--use-service-account-credentials",
        f"--service-account-private-key-file={pki}/accounts.key", f"--root-ca-file={pki}/ca.crt",
        f"--cluster-signing-cert-file={pki}/ca.crt", f"--cluster-signing-key-file={pki}/ca.key",
        f"--flex-volume-plugin-dir={layout.state}/flexvolume",
        "--pvclaimbinder-sync-period=1s",
        "--node-monitor-period=1s", f"--node-monitor-grace-period={grace}"]


def scheduler(layout: Layout) -> list[str]:
    return [f"--kubeconfig={layout.config}/scheduler.kubeconfig", *_fast(layout)]


def kubelet_flags(layout: Layout, number: int) -> list[str]:
    return [f"--kubeconfig={layout.config}/{node_name(number)}.kubeconfig",
            f"--config={layout.config}/{node_name(number)}.json", f"--root-dir={layout.kubelet}",
            f"--hostname-override={node_name(number)}",
            f"--node-ip={','.join(layout.node_addresses(number))}"]


def kubelet(layout: Layout, number: int) -> Json:
    name = node_name(number)
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
        "authentication": {"anonymous": {"enabled": False}, "webhook": {"enabled": True},
                           "x509": {"clientCAFile": f"{layout.pki}/ca.crt"}},
        "authorization": {"mode": "Webhook", "webhook": {
            # Short: a right that a test grants or removes takes effect soon.
            "cacheAuthorizedTTL": "2s", "cacheUnauthorizedTTL": "1s"}},
        "tlsCertFile": f"{layout.pki}/{name}.crt",
        "tlsPrivateKeyFile": f"{layout.pki}/{name}.key",
        "cgroupDriver": "cgroupfs", "cgroupRoot": f"/{layout.cgroup}/{name}",
        "failCgroupV1": False, "failSwapOn": False,
        "oomScoreAdj": 0,  # to lower it needs a capability that containers lack
        "containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock",
        "evictionHard": {"memory.available": "100Mi", "nodefs.available": "1%",
                         "imagefs.available": "1%"},
        "imageGCHighThresholdPercent": 100,  # never: there is no registry to fetch an image again
        "address": "::" if layout.ipv6 else "0.0.0.0", "port": 10250, "readOnlyPort": 0,
        "resolvConf": f"{layout.config}/resolv.conf",
        "clusterDNS": [HOST], "clusterDomain": DOMAIN,
        "volumePluginDir": f"{layout.kubelet}/volumeplugins",
        "nodeStatusUpdateFrequency": "4s",
        "nodeLeaseDurationSeconds": 12,  # goes with the controller manager's grace period
    }


def proxy_flags(layout: Layout, number: int) -> list[str]:
    return [f"--kubeconfig={layout.config}/proxy.kubeconfig", "--proxy-mode=iptables",
            f"--cluster-cidr={','.join(layout.pods)}", f"--hostname-override={node_name(number)}",
            # Zero: unchanged. These limits belong to the machine.
            "--conntrack-max-per-core=0", "--conntrack-min=0",
            "--conntrack-tcp-timeout-established=0s", "--conntrack-tcp-timeout-close-wait=0s",
            "--oom-score-adj=0"]


def policy_flags(layout: Layout, number: int) -> list[str]:
    """kube-router as a firewall only: other programs make routes and services here."""
    return ["--run-firewall=true", "--run-router=false", "--run-service-proxy=false",
            f"--kubeconfig={layout.config}/bed.kubeconfig",
            f"--hostname-override={node_name(number)}",
            # The range of IPv4 first.
            f"--service-cluster-ip-range={','.join(reversed(layout.services))}",
            f"--enable-ipv6={str(layout.ipv6).lower()}", f"--health-port={POLICIES_PORT}"]


def containerd(runc: str, cni: str, snapshotter: str) -> str:
    return f"""version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.aufs",
  "io.containerd.internal.v1.opt"]
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  restrict_oom_score_adj = true
  sandbox_image = "{PAUSE_IMAGE}"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{cni}"
    conf_dir = "/var/lib/cni/conf"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "{snapshotter}"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        BinaryName = "{runc}"
"""


def cni(layout: Layout, number: int) -> Json:
    """Not masqueraded: a server sees the address of the pod that connects, on any node."""
    return {"cniVersion": "0.4.0", "name": "pods", "plugins": [
        {"type": "bridge", "bridge": "cni0", "isGateway": True, "ipMasq": False,
         "hairpinMode": True,
         "ipam": {"type": "host-local",
                  "ranges": [[{"subnet": each}] for each in layout.pod_subnets(number)],
                  "routes": [{"dst": "0.0.0.0/0"}, *([{"dst": "::/0"}] if layout.ipv6 else [])]}},
        {"type": "portmap", "capabilities": {"portMappings": True}}]}


def corefile(layout: Layout) -> str:
    """Names outside of the cluster do not exist: there is no other name server. But those that our
    documents and examples name are the host's, where a scenario may serve them."""
    examples = " ".join(EXAMPLE_DOMAINS)
    return f""".:53 {{
  bind {HOST}
  errors
  ready {HOST}:{DNS_READY_PORT}
  kubernetes {DOMAIN} in-addr.arpa ip6.arpa {{
    kubeconfig {layout.config}/bed.kubeconfig
    pods insecure
    ttl 5
  }}
  template IN A {examples} {{
    answer "{{{{ .Name }}}} 5 IN A {HOST}"
  }}
  template ANY ANY {examples} {{
    rcode NOERROR
  }}
  template ANY ANY {{
    rcode NXDOMAIN
  }}
}}
"""


def audit_policy() -> Json:
    return {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"],
            "rules": [{"level": "Metadata"}]}


def write(layout: Layout, snapshotter: str) -> None:
    config, programs = layout.config, layout.programs
    write_file(config / "audit-policy.json", json.dumps(audit_policy()))
    write_file(config / "resolv.conf", "")
    write_file(config / "Corefile", corefile(layout))
    plugins = programs["cni-plugins"].rpartition("/")[0]
    write_file(config / "containerd.toml", containerd(programs["runc"], plugins, snapshotter))
    for i in layout.node_numbers():
        write_file(config / f"{node_name(i)}.json", json.dumps(kubelet(layout, i), indent=1))
