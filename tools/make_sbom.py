#!/usr/bin/env python3
"""The software bill of materials of the package: SPDX 2.3 as JSON.

    tools/make_sbom.py build/weir VERSION > build/weir_VERSION.spdx.json

Lists what is linked (from the binary's NEEDED entries) and what is compiled in (libraries that are
headers), each as the Debian package that brought it, with its version. Nothing is guessed: a
library of no package stops it. SOURCE_DATE_EPOCH sets the time, so that two builds agree.
"""
import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

# Header-only libraries that are compiled in: tools/ensure_packages.sh installs them.
COMPILED_IN = ("nlohmann-json3-dev", "libcli11-dev", "libboost-math-dev")
LICENSES = {"nlohmann-json3-dev": "MIT", "libcli11-dev": "BSD-3-Clause",
            "libboost-math-dev": "BSL-1.0"}


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def needed(binary):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", binary))


def resolved(binary):
    """Name of a library: the file that the loader takes."""
    return dict(re.findall(r"(\S+) => (/\S+)", output("ldd", binary)))


def package_of(file):
    real = os.path.realpath(file)
    for path in (file, real, real.replace("/usr/lib", "/lib", 1)):
        done = subprocess.run(["dpkg-query", "-S", path], capture_output=True, text=True,
                              check=False)
        if done.returncode == 0:
            return done.stdout.split(":")[0]
    raise SystemExit(f"make_sbom: {file} belongs to no package")


def package_entry(name):
    fields = output("dpkg-query", "-W", "-f", "${Version}\t${source:Package}\t${Homepage}\n",
                    name).splitlines()[0].split("\t")
    version, source, homepage = fields[0], fields[1], fields[2] if len(fields) > 2 else ""
    return {"SPDXID": "SPDXRef-Package-" + re.sub(r"[^A-Za-z0-9.-]", "-", name), "name": name,
            "versionInfo": version, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "homepage": homepage or "NOASSERTION", "supplier": "Organization: Debian",
            "licenseConcluded": "NOASSERTION", "licenseDeclared": LICENSES.get(name, "NOASSERTION"),
            "copyrightText": "NOASSERTION",
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                              "referenceLocator": f"pkg:deb/debian/{source}@{version}"}]}


def document(binary, version):
    files = resolved(binary)
    linked = sorted({package_of(files[name]) for name in needed(binary) if name in files})
    packages = [package_entry(name) for name in linked]
    compiled = [package_entry(name) for name in COMPILED_IN]
    digest = hashlib.sha256(pathlib.Path(binary).read_bytes()).hexdigest()
    name = pathlib.Path(binary).name
    own = {"SPDXID": f"SPDXRef-Package-{name}", "name": name, "versionInfo": version,
           "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
           "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0",
           "copyrightText": "NOASSERTION", "primaryPackagePurpose": "APPLICATION",
           "checksums": [{"algorithm": "SHA256", "checksumValue": digest}]}
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", own["SPDXID"])]
    relations += [(own["SPDXID"], "DYNAMIC_LINK", each["SPDXID"]) for each in packages]
    relations += [(own["SPDXID"], "CONTAINS", each["SPDXID"]) for each in compiled]
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH", "0")) or int(
        output("git", "log", "-1", "--format=%ct").strip() or 0)
    created = datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc)
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
            "name": f"{name}-{version}",
            "documentNamespace": f"https://weir.invalid/spdx/{name}-{version}-{digest[:16]}",
            "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"),
                             "creators": ["Tool: weir tools/make_sbom.py"]},
            "packages": [own, *packages, *compiled],
            "relationships": [{"spdxElementId": a, "relationshipType": kind,
                               "relatedSpdxElement": b} for a, kind, b in relations]}


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    print(json.dumps(document(sys.argv[1], sys.argv[2]), indent=1))
