# SPDX-License-Identifier: Apache-2.0
"""An HDFS of Hadoop's own NameNode and DataNode, on the cluster's host."""
import shutil
from pathlib import Path

from paddle_tools.e2e.cluster import Cluster, ScenarioFailed, component
from paddle_tools.e2e.daemons import HOST, Daemons

COMPONENTS = ("hadoop",)
PORT = 8020
SUPERUSER = "hdfs"  # pods run as root, which has no rights in this HDFS
NAMENODE = "org.apache.hadoop.hdfs.server.namenode.NameNode"
DATANODE = "org.apache.hadoop.hdfs.server.datanode.DataNode"
SHELL = "org.apache.hadoop.fs.FsShell"


class Hdfs:
    """Serves when the constructor returns; ends with its daemons."""

    def __init__(self, cluster: Cluster, daemons: Daemons) -> None:
        if not shutil.which("java"):
            raise ScenarioFailed("HDFS needs Java; as root: "
                                 "apt-get install openjdk-17-jre-headless")
        self._daemons = daemons
        directory = daemons.directory
        (directory / "hosts").write_text(f"{HOST} {cluster.name}\n")
        self._configure(directory)
        self._java = ["env", f"HADOOP_USER_NAME={SUPERUSER}", "java", "-Xmx256m",
                      "-XX:TieredStopAtLevel=1", f"-Djdk.net.hosts.file={directory}/hosts",
                      "--add-opens=java.base/java.lang=ALL-UNNAMED",
                      "-cp", f"{directory}/conf:{component('hadoop')}/*"]
        daemons.call(*self._java, NAMENODE, "-format", "-nonInteractive")
        daemons.start("namenode", *self._java, NAMENODE)
        daemons.start("datanode", *self._java, DATANODE)
        daemons.wait("the DataNode's registration", lambda: "Registered DN" in (
            directory / "namenode.out").read_text(errors="replace"))

    @staticmethod
    def _configure(directory: Path) -> None:
        """Addresses that pods reach, small blocks, one replica."""
        settings = {
            "fs.defaultFS": f"hdfs://{HOST}:{PORT}", "hadoop.tmp.dir": directory / "tmp",
            "dfs.namenode.name.dir": directory / "name",
            "dfs.datanode.data.dir": directory / "data",
            "dfs.namenode.rpc-bind-host": HOST, "dfs.namenode.http-address": f"{HOST}:9870",
            "dfs.datanode.hostname": HOST, "dfs.datanode.address": f"{HOST}:9866",
            "dfs.datanode.http.address": f"{HOST}:9864", "dfs.datanode.ipc.address": f"{HOST}:9867",
            "dfs.namenode.datanode.registration.ip-hostname-check": "false",
            "dfs.replication": 1, "dfs.blocksize": 1 << 20}
        text = "".join(f"<property><name>{name}</name><value>{value}</value></property>\n"
                       for name, value in settings.items())
        (directory / "conf").mkdir()
        for file in ("core-site.xml", "hdfs-site.xml"):
            (directory / "conf" / file).write_text(f"<configuration>\n{text}</configuration>\n")

    def put(self, files: dict[str, bytes], target: str, owner: str) -> None:
        """Puts files, given as {path: bytes}, into a directory that only its owner can read."""
        local = self._daemons.directory / "files"
        for path, data in files.items():
            (local / path).parent.mkdir(parents=True, exist_ok=True)
            (local / path).write_bytes(data)
        self._shell("-put", local, target)
        self._shell("-chown", "-R", owner, target)
        self._shell("-chmod", "-R", "go-rwx", target)

    def _shell(self, *words: object) -> None:
        self._daemons.call(*self._java, SHELL, *words)
