"""Conversion between arrays and the files that the command reads and writes: NPY, WAV and CSV."""

from __future__ import annotations

import csv as csv_module
import io
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._engine import Buffer

Array = NDArray[Any]


def npy(a: Array) -> list[Buffer]:
    """Return an array as an NPY file of float64. The array is not copied if it is already row-major float64."""
    a = np.ascontiguousarray(a, dtype="<f8")
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, np.lib.format.header_data_from_array_1_0(a))
    return [head.getvalue(), a.reshape(-1).view(np.uint8).data]


def from_npy(data: bytearray) -> Array:
    """Return the array of an NPY file as a view of `data`."""
    head = io.BytesIO(data[: 1 << 16])
    if np.lib.format.read_magic(head) != (1, 0):
        raise ValueError("the NPY file does not have version 1.0")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(head)
    a = np.frombuffer(data, dtype=dtype, offset=head.tell())
    return a.reshape(shape, order="F" if fortran else "C")


# The format tag of a WAV file for each dtype of the samples.
_INTEGERS, _FLOATS = 1, 3
_TAGS = {"u1": _INTEGERS, "i2": _INTEGERS, "i4": _INTEGERS, "f4": _FLOATS, "f8": _FLOATS}
_MAX_BYTES = (1 << 32) - 64  # maximum size of a WAV file's samples, which has 32 bits in the header


def wav(samples: Array, rate: int) -> list[Buffer]:
    """Return samples [n] or [n, channels] as a WAV file with the same encoding.

    Raises ValueError if they are not uint8, int16, int32, float32 or float64, or exceed 4 GiB.
    """
    tag = _TAGS.get(samples.dtype.str[1:])
    if tag is None:
        raise ValueError(f"samples are {samples.dtype}; must be float32, float64, int16, int32 or uint8")
    a = np.ascontiguousarray(samples, dtype=samples.dtype.newbyteorder("<"))
    if a.nbytes > _MAX_BYTES:
        raise ValueError(f"samples have {a.nbytes} bytes; must be at most {_MAX_BYTES} (use the command vssgp impute)")
    channels = 1 if a.ndim == 1 else a.shape[1]
    frame = channels * a.itemsize
    fmt = struct.pack("<HHIIHH", tag, channels, rate, rate * frame, frame, 8 * a.itemsize)
    head = b"WAVEfmt " + struct.pack("<I", len(fmt)) + fmt + b"data" + struct.pack("<I", a.nbytes)
    pad = b"\0" * (a.nbytes % 2)
    riff = b"RIFF" + struct.pack("<I", len(head) + a.nbytes + len(pad)) + head
    return [riff, a.reshape(-1).view(np.uint8).data, pad]


def from_wav(data: bytearray, like: Array) -> Array:
    """Return the samples of a WAV file, with the shape and dtype of `like`. The file must have the same encoding."""
    at = 12
    while data[at : at + 4] != b"data":
        (size,) = struct.unpack_from("<I", data, at + 4)
        at += 8 + size + size % 2
    a = np.frombuffer(data, like.dtype.newbyteorder("<"), like.size, at + 8)
    return a.reshape(like.shape).astype(like.dtype, copy=False)


def to_csv(names: Sequence[str], columns: Sequence[Sequence[str]]) -> bytes:
    """Return a CSV file with the given column names and cells. The cells must already be quoted if necessary."""
    lines = map(",".join, zip(*columns, strict=True))
    return ("\n".join([",".join(map(quoted, names)), *lines]) + "\n").encode()


def quoted(name: str) -> str:
    """Return a CSV cell, in quotes if it contains a separator, a quote or white space."""
    if any(c in name for c in ',;"\t\r\n '):
        return '"' + name.replace('"', '""') + '"'
    return name


def from_csv(data: bytearray) -> tuple[list[str], list[tuple[str, ...]]]:
    """Return the column names and the columns of a CSV file."""
    rows = csv_module.reader(io.StringIO(data.decode()))
    names = next(rows)
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    return names, columns
