"""Archives written anew by tests, with changes that their checksums are made to agree with."""

import hashlib
import io
import json
import zipfile

import numpy as np

SUMS = "SHA256SUMS"


def parts_of(path):
    """Members of an archive, by name."""
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


def as_npy(values):
    buffer = io.BytesIO()
    np.save(buffer, values, allow_pickle=True)
    return buffer.getvalue()


def write_parts(path, parts, *, sums=True, compression=zipfile.ZIP_STORED):
    """Write members, with checksums made for them if the archive has any."""
    parts = dict(parts)
    if sums and SUMS in parts:
        others = {name: content for name, content in parts.items() if name != SUMS}
        lines = [f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in others.items()]
        parts[SUMS] = "".join(lines).encode()
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, content in parts.items():
            file.writestr(name, content)


def rewrite(path, *, drop=None, change=None, arrays=None, add=None, sums=True, text="model.json"):
    """Drop a member, change the JSON text (records in it are merged), replace arrays, or add members."""
    parts = {name: content for name, content in parts_of(path).items() if name != drop}
    if change:
        header = json.loads(parts[text])
        for name, value in change.items():
            both = isinstance(value, dict) and isinstance(header.get(name), dict) and value
            header[name] = header[name] | value if both else value
        parts[text] = json.dumps(header).encode()
    parts |= {f"{name}.npy": as_npy(values) for name, values in (arrays or {}).items()}
    write_parts(path, parts | (add or {}), sums=sums)
