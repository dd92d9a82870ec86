"""Network files: JSON, or one safetensors file for large networks; partition files; slice files.

A file is refused, not repaired: unknown keys, wrong shapes, NaN, infinity, a repeated key and the like raise
one line that names the file, the layer and the field.  Numbers are kept exactly: a JSON integer within range
of float64, a float as the float64 it parses to, a string such as "1/3" as the fraction.

A safetensors file has the same JSON, under the metadata key ``regioncount``, with each array replaced by
``{"tensor": name}``, a maxout layer of unequal ranks by a list of them, one a unit.  Files are written under
another name in the same folder and then moved, so that a reader or a crash never meets half a file.
"""

from __future__ import annotations

import io
import json
import os
import secrets
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import numpy as np

from regioncount.domain import Domain, Slice, parse_domain
from regioncount.errors import InputError, located, shown
from regioncount.exact import ExactArray, json_number
from regioncount.network import (
    Abs,
    Affine,
    Attention,
    Embed,
    Feedforward,
    Head,
    Layer,
    LeakyReLU,
    Maxout,
    Network,
    Readout,
    ReLU,
)

if TYPE_CHECKING:
    from regioncount.arrangement import HyperplaneArrangement

FORMAT = "regioncount-network"
VERSION = 1
_METADATA_KEY = "regioncount"
_TENSOR_TYPES = ("F64", "F32", "F16", "I64", "I32", "I16", "I8", "U64", "U32", "U16", "U8")

Resolve: TypeAlias = Callable[[Any, str], Any]  # (value in the JSON, field) -> array-like
Store: TypeAlias = Callable[[ExactArray, str], Any]  # (array, field) -> value in the JSON

# type -> (class, required keys, optional keys)
_LAYERS: dict[str, tuple[Callable[..., Layer], tuple[str, ...], tuple[str, ...]]] = {
    "affine": (Affine, ("weight",), ("bias",)),
    "relu": (ReLU, (), ()),
    "leaky_relu": (LeakyReLU, ("slope",), ()),
    "abs": (Abs, (), ()),
    "maxout": (Maxout, ("weight",), ("bias",)),
    "embed": (Embed, ("weight",), ("bias",)),
    "attention": (Attention, ("heads",), ("residual", "mask", "activation", "scale")),
    "feedforward": (Feedforward, ("hidden", "output"), ("residual", "activation")),
    "readout": (Readout, ("token",), ("coordinates",)),
}
_HEAD = ("query", "key", "value", "output")


# -------------------------------------------------------------------------------- load and save


def load(path: str | os.PathLike[str]) -> Any:
    """Read a network file, or a partition file.

    Parameters
    ----------
    path : path-like
        ``.json`` or ``.safetensors`` for a Network, ``.npz`` for a Partition.

    Raises
    ------
    InputError
        If there is no such file or it is refused; the message names the file, the layer and the field.
    """
    with _file_errors(path, "read"):
        suffix = _suffix(path)
        if suffix == ".json":
            return network_from_dict(_parse_json(_decode(Path(path).read_bytes())))
        return _load_partition(Path(path)) if suffix == ".npz" else _load_safetensors(Path(path))


def save(network: Any, path: str | os.PathLike[str], round: bool = False) -> None:
    """Write a network or a partition file, all of it or nothing.

    Parameters
    ----------
    network : Network or Partition
    path : path-like
        For a network ``.json``, which keeps every number exactly, or ``.safetensors``, which stores weights as float64;
        for a partition ``.npz``, which holds its arrays, its network and its counts.
    round : bool
        Whether weights that float64 does not hold exactly may be rounded in a safetensors file.

    Raises
    ------
    InputError
        If such a weight is not to be rounded, a partition has three or more dimensions, or the file cannot be written.
    """
    is_network = isinstance(network, Network)
    if not is_network and type(network).__name__ != "Partition":
        raise InputError(f"network: expected a Network or a Partition, got {shown(network)}")
    with _file_errors(path, "write"):
        suffix = _suffix(path)
        if is_network == (suffix == ".npz"):
            raise InputError("expected .json or .safetensors for a network, .npz for a partition")
        if suffix == ".npz":
            if network.dim > 2:
                raise InputError(f"partition: partitions are kept in one and two dimensions, got {network.dim}")
            content = _dump_partition(network)
        elif suffix == ".json":
            content = _dump_json(network_to_dict(network)).encode() + b"\n"
        else:
            content = _dump_safetensors(network, round)
        _replace(path, content)


def network_to_dict(network: Network) -> dict[str, Any]:
    """Return the JSON object of a network file, every number exact.

    Raises
    ------
    InputError
        If the network's domain is none for its inputs, or a fraction has more than 4300 digits.

    Examples
    --------
    >>> network_to_dict(Network(1, [LeakyReLU("1/3")]))["layers"]
    [{'type': 'leaky_relu', 'slope': '1/3'}]
    """
    return _write_network(network, lambda array, field: array.tolist())


def network_from_dict(data: Any) -> Network:
    """Return the network of the JSON object of a network file.

    Raises
    ------
    InputError
        If the object is refused; the message names the layer and the field.

    Examples
    --------
    >>> data = {"format": "regioncount-network", "version": 1, "input_dim": 2, "layers": [{"type": "relu"}]}
    >>> network_from_dict(data).output_dim
    2
    """
    return _read_network(data, lambda value, field: value)


# -------------------------------------------------------------------------------- domains


def read_domain(text: str, dim: int | None = None) -> Domain:
    """Return the domain that a text of the command line describes.

    Parameters
    ----------
    text : str
        As for :func:`regioncount.domain.parse_domain`, or ``slice:FILE``: a slice in a JSON file, an object of
        ``origin`` (a list of n numbers), ``directions`` (one or two such lists) and ``domain``, of the parameters (a
        text or pairs); numbers may be strings of fractions.
    dim : int, optional
        The number of coordinates, which ``all`` needs.

    Raises
    ------
    InputError
        If the text is none of these, or the file is refused; the message names the file and the field.
    """
    if not isinstance(text, str) or not text.strip().startswith("slice:"):
        return parse_domain(text, dim)
    path = text.strip().removeprefix("slice:")
    with located("domain: "), _file_errors(path, "read"):
        if not path:
            raise InputError("expected slice:FILE, got no name of a file")
        return _read_slice(_parse_json(_decode(Path(path).read_bytes())))


def _read_slice(data: Any) -> Slice:
    return Slice(**_members(data, ("origin", "directions", "domain"), ()))


# -------------------------------------------------------------------------------- partitions

_PARTITION = "regioncount-partition"
_ARRAYS = {  # name: kind of its numbers, number of axes
    "patterns": ("u", 2), "maps": ("f", 3), "facets": ("i", 2), "facet_border": ("i", 1), "facet_vertices": ("i", 2),
    "vertices": ("f", 2), "offsets": ("i", 1), "piece_vertices": ("i", 1), "breakpoints": ("f", 1),
}  # fmt: skip
_CURVED = {"arcs": ("f", 2), "facet_arc": ("i", 1), "interior_points": ("f", 2)}  # only where borders are conics


def _dump_partition(partition: Any) -> bytes:
    """An npz of the arrays of a Partition and, under ``about``, a JSON of the rest."""
    about = {
        "format": _PARTITION, "version": VERSION, "domain": str(partition.domain), "dim": partition.dim,
        "network": network_to_dict(partition.network), "counts": partition.counts(), "undecided": partition.undecided,
        "depth_profile": partition.depth_profile, "decisions": partition.decisions,
    }  # fmt: skip
    if partition.slice is not None:
        about["slice"] = {
            "origin": [json_number(x) for x in partition.slice.origin],
            "directions": [[json_number(x) for x in row] for row in partition.slice.directions],
        }
    text = np.frombuffer(_dump_json(about).encode(), dtype=np.uint8)
    stream = io.BytesIO()
    names = (*_ARRAYS, *_CURVED) if len(partition.facet_arc) else _ARRAYS
    np.savez_compressed(stream, about=text, **{name: getattr(partition, name) for name in names})
    return stream.getvalue()


def _load_partition(path: Path) -> Any:
    from regioncount.partition import Partition

    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
    except (ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error, NotImplementedError) as error:
        raise InputError(f"not a partition file, or a damaged one ({error})") from None
    about = _parse_json(_decode(arrays.pop("about", np.zeros(0, dtype=np.uint8)).tobytes()))
    keys = ("format", "version", "domain", "dim", "network", "counts", "undecided", "depth_profile", "decisions")
    about = _members(about, keys, ("slice",))
    if (about["format"], about["version"]) != (_PARTITION, VERSION):
        raise InputError(f"format: expected {_PARTITION!r} version {VERSION}, got {shown(about['format'])}")
    kinds = _ARRAYS | _CURVED if set(arrays) & set(_CURVED) else _ARRAYS
    if set(arrays) != set(kinds):
        raise InputError(f"expected the arrays {', '.join(kinds)}, got {shown(sorted(arrays))}")
    for name, (kind, axes) in kinds.items():
        array = arrays[name]
        if array.dtype.kind != kind or array.ndim != axes:
            raise InputError(f"{name}: expected {axes} axes of kind {kind!r}, got {array.ndim} of {array.dtype.kind!r}")
    if kinds is not _ARRAYS:
        _check_arcs(arrays)
    with located("network: "):
        network = network_from_dict(about["network"])
    if about["dim"] not in (1, 2):
        raise InputError(f"dim: expected 1 or 2, got {shown(about['dim'])}")
    domain = parse_domain(about["domain"], about["dim"])
    if about["dim"] != domain.dim or domain.dim != network.input_dim or domain.dim not in (1, 2):
        raise InputError(f"dim: expected {domain.dim} like domain and network, got {shown(about['dim'])}")
    cut = None
    if "slice" in about:
        with located("slice: "):
            cut = _read_slice({**_members(about["slice"], ("origin", "directions"), ()), "domain": domain})
    return Partition(
        network=network, domain=domain, dim=domain.dim, depth_profile=about["depth_profile"],
        undecided=about["undecided"], slice=cut,
        decisions=about["decisions"], recorded=about["counts"], **arrays,
    )  # fmt: skip


def _check_arcs(arrays: dict[str, np.ndarray]) -> None:
    """Refuse arcs that are none, or that do not fit the facets and pieces."""
    shapes = {
        "arcs": (len(arrays["arcs"]), 3),
        "facet_arc": (len(arrays["facets"]),),
        "interior_points": (len(arrays["patterns"]), 2),
    }
    for name, shape in shapes.items():
        if arrays[name].shape != shape:
            raise InputError(f"{name}: expected shape {shape}, got {arrays[name].shape}")
        if not np.isfinite(arrays[name]).all():
            raise InputError(f"{name}: expected finite numbers, got others")
    if (arrays["arcs"][:, 2] < 0).any():
        raise InputError(f"arcs: expected weights that are not negative, got {arrays['arcs'][:, 2].min()}")
    rows = arrays["facet_arc"]
    if ((rows < -1) | (rows >= len(arrays["arcs"]))).any():
        raise InputError(f"facet_arc: expected -1 or rows of arcs, below {len(arrays['arcs'])}, got others")


# -------------------------------------------------------------------------------- the file system


def _suffix(path: str | os.PathLike[str]) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in (".json", ".safetensors", ".npz"):
        raise InputError("expected a file name that ends in .json, .safetensors or, for a partition, .npz")
    return suffix


@contextmanager
def _file_errors(path: object, action: str) -> Iterator[None]:
    """Name the file in what goes wrong inside, and turn errors of the file system into `InputError`."""
    if not isinstance(path, (str, os.PathLike)):
        raise InputError(f"path: expected a file name, got {shown(path)}")
    name = str(path) if str(path).isprintable() else shown(str(path))
    with located(f"{name}: "):
        try:
            yield
        except InputError:
            raise
        except OSError as error:
            raise InputError(f"cannot {action} it: {error.strerror or error}") from None
        except ValueError as error:  # a null character in the name
            raise InputError(f"cannot {action} it: {error}") from None


def _replace(path: str | os.PathLike[str], content: bytes) -> None:
    """Write `content` beside the file, then move it there in one step; links are followed."""
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".regioncount-{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


# -------------------------------------------------------------------------------- JSON text


def _decode(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"expected JSON in UTF-8, got other bytes at offset {error.start}") from None


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_no_repeats, parse_constant=_no_constants)
    except InputError:
        raise
    except json.JSONDecodeError as error:
        raise InputError(f"expected JSON, got an error in it: {error}") from None
    except RecursionError:
        raise InputError("expected JSON, got one that is nested too deeply") from None
    except ValueError:  # Python refuses to convert more than 4300 digits
        raise InputError("expected numbers in the range of float64, got an integer of too many digits") from None


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        repeated = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise InputError(f"expected each key of an object once, got {shown(repeated)} twice")
    return found


def _no_constants(name: str) -> NoReturn:
    raise InputError(f"expected finite numbers, got {name}")


def _dump_json(data: dict[str, Any]) -> str:
    try:
        return json.dumps(data, allow_nan=False)
    except RecursionError:
        raise InputError("metadata: expected less deep nesting") from None
    except ValueError:  # metadata alone can hold such an integer
        raise InputError("metadata: expected integers of at most 4300 digits, got one of more") from None


# -------------------------------------------------------------------------------- safetensors


def _load_safetensors(file: Path) -> Network:
    with file.open("rb"):  # a missing or forbidden file is refused here, in the words of the system
        pass
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, framework="numpy") as source:
            text = (source.metadata() or {}).get(_METADATA_KEY)
            if text is None:
                raise InputError(f"expected the metadata key {_METADATA_KEY!r}, got none")
            names = set(source.keys())
            used: set[str] = set()

            def tensor(reference: dict[str, Any], field: str) -> Any:
                with located(f"{field}: "):
                    name = _members(reference, ("tensor",), ())["tensor"]
                    if not isinstance(name, str) or name not in names:
                        raise InputError(f"expected the name of a tensor in the file, got {shown(name)}")
                    kind = source.get_slice(name).get_dtype()
                    if kind not in _TENSOR_TYPES:
                        raise InputError(f"expected a tensor of float64, got {kind}")
                used.add(name)
                return source.get_tensor(name)

            def resolve(value: Any, field: str) -> Any:
                if isinstance(value, dict):
                    return tensor(value, field)
                if isinstance(value, list):  # one tensor a unit
                    return [
                        tensor(item, f"{field}[{u}]") if isinstance(item, dict) else item
                        for u, item in enumerate(value)
                    ]
                return value

            network = _read_network(_parse_json(text), resolve)
    except SafetensorError as error:
        raise InputError(f"expected a safetensors file, got an error in it: {error}") from None
    if names != used:
        unused = shown(min(names - used))
        raise InputError(f"expected each tensor to be a weight of the network, got {unused} that is not used")
    return network


def _dump_safetensors(network: Network, round: bool) -> bytes:
    from safetensors.numpy import save as serialize

    tensors: dict[str, np.ndarray] = {}

    def store(array: ExactArray, field: str) -> dict[str, str]:
        inexact = array.first_inexact()
        if inexact is not None and not round:
            index, value = inexact
            where = field + "".join(f"[{i}]" for i in index)
            raise InputError(
                f"{where}: expected a weight that float64 holds exactly, got {shown(json_number(value))}; "
                "write .json, or allow rounding with round=True"
            )
        tensors[field] = array.view
        return {"tensor": field}

    text = _dump_json(_write_network(network, store))
    return serialize(tensors, metadata={_METADATA_KEY: text})


# -------------------------------------------------------------------------------- JSON to network


def _members(value: Any, required: tuple[str, ...], optional: tuple[str, ...]) -> dict[str, Any]:
    """Return a copy of a JSON object that has the required keys and no others but optional ones."""
    if not isinstance(value, dict):
        raise InputError(f"expected an object, got {shown(value)}")
    for key in required:
        if key not in value:
            raise InputError(f"{key}: missing")
    for key, member in value.items():
        if key not in required and key not in optional:
            raise InputError(f"unknown key {shown(key)}; expected {', '.join((*required, *optional))}")
        if member is None:
            raise InputError(f"{key}: expected a value, got null")
    return dict(value)


def _read_network(data: Any, resolve: Resolve) -> Network:
    if not isinstance(data, dict):
        raise InputError(f"expected an object with the key 'format', got {shown(data)}")
    if data.get("format", FORMAT) != FORMAT:
        raise InputError(f"format: expected {FORMAT!r}, got {shown(data['format'])}")
    required, optional = ("format", "version", "input_dim", "layers"), ("domain", "metadata")
    members = _members(data, required, optional)
    version = members["version"]
    if type(version) is not int or version != VERSION:
        raise InputError(f"version: expected {VERSION}, got {shown(version)}")
    if not isinstance(members["layers"], list):
        raise InputError(f"layers: expected a list of layers, got {shown(members['layers'])}")
    layers = []
    for i, value in enumerate(members["layers"]):
        with located(f"layers[{i}]: "):
            kind = _layer_type(value)
        with located(f"layers[{i}] ({kind}): "):
            layers.append(_read_layer(kind, value, resolve))
    network = Network(members["input_dim"], layers, members.get("domain"), members.get("metadata"))
    _check_domain(network)
    return network


def _check_domain(network: Network) -> None:
    """Refuse a domain of another dimension; a slice's file is left to who uses it."""
    text = network.domain
    if text is None or text.strip().startswith("slice:"):
        return
    dim = parse_domain(text, network.input_dim).dim
    if dim != network.input_dim:
        raise InputError(f"domain: expected dimension {network.input_dim}, got {shown(text)} of dimension {dim}")


def _layer_type(value: Any) -> str:
    if not isinstance(value, dict):
        raise InputError(f"expected an object with the key 'type', got {shown(value)}")
    if "type" not in value:
        raise InputError("type: missing")
    kind = value["type"]
    if not isinstance(kind, str) or kind not in _LAYERS:
        text = str(kind).lower().replace("_", "")
        why = "; LayerNorm is not piecewise affine" if text in ("layernorm", "rmsnorm") else ""
        raise InputError(f"type: expected one of {', '.join(_LAYERS)}, got {shown(kind)}{why}")
    return kind


def _read_layer(kind: str, value: dict[str, Any], resolve: Resolve) -> Layer:
    make, required, optional = _LAYERS[kind]
    members = _members(value, ("type", *required), optional)
    del members["type"]
    if kind == "attention":
        if not isinstance(members["heads"], list):
            raise InputError(f"heads: expected a list of heads, got {shown(members['heads'])}")
        heads = []
        for h, head in enumerate(members["heads"]):
            with located(f"heads[{h}]: "):
                parts = _members(head, _HEAD, ())
            with located(f"heads[{h}]."):
                heads.append(Head(**{name: _read_affine(parts[name], name, resolve) for name in _HEAD}))
        members["heads"] = heads
    elif kind == "feedforward":
        for name in ("hidden", "output"):
            members[name] = _read_affine(members[name], name, resolve)
    elif "weight" in members:
        arrays = {name: resolve(members[name], name) for name in ("weight", "bias") if name in members}
        return make(*arrays.values())
    return make(**members)


def _read_affine(value: Any, name: str, resolve: Resolve) -> Affine:
    with located(f"{name}: "):
        members = _members(value, ("weight",), ("bias",))
    with located(f"{name}."):
        arrays = {key: resolve(members[key], key) for key in ("weight", "bias") if key in members}
        return Affine(*arrays.values())


# -------------------------------------------------------------------------------- network to JSON


def _write_network(network: Network, store: Store) -> dict[str, Any]:
    _check_domain(network)
    data: dict[str, Any] = {"format": FORMAT, "version": VERSION, "input_dim": network.input_dim}
    if network.domain is not None:
        data["domain"] = network.domain
    data["layers"] = [_write_layer(layer, f"layers.{i}", store) for i, layer in enumerate(network.layers)]
    if network.metadata is not None:
        data["metadata"] = network.metadata
    return data


def _write_layer(layer: Layer, at: str, store: Store) -> dict[str, Any]:
    data: dict[str, Any] = {"type": layer.type}
    match layer:
        case Affine() | Embed():
            data |= _write_affine(layer, at, store)
        case LeakyReLU():
            data["slope"] = json_number(layer.slope)
        case Maxout():
            for name, units in (("weight", layer.weights), ("bias", layer.biases)):
                if len({unit.shape for unit in units}) == 1:
                    data[name] = store(_stacked(units), f"{at}.{name}")
                else:
                    data[name] = [store(unit, f"{at}.{name}.{u}") for u, unit in enumerate(units)]
        case Attention():
            data["residual"] = layer.residual
            data["heads"] = [
                {name: _write_affine(getattr(head, name), f"{at}.heads.{h}.{name}", store) for name in _HEAD}
                for h, head in enumerate(layer.heads)
            ]
            data["mask"] = layer.mask if isinstance(layer.mask, str) else [list(row) for row in layer.mask]
            data["activation"] = layer.activation
            if layer.scale is not None:
                data["scale"] = json_number(layer.scale)
        case Feedforward():
            data["residual"] = layer.residual
            data["hidden"] = _write_affine(layer.hidden, f"{at}.hidden", store)
            data["output"] = _write_affine(layer.output, f"{at}.output", store)
            data["activation"] = layer.activation
        case Readout():
            data["token"] = layer.token
            if layer.coordinates is not None:
                data["coordinates"] = list(layer.coordinates)
    return data


def _write_affine(part: Affine | Embed, at: str, store: Store) -> dict[str, Any]:
    return {"weight": store(part.weight, f"{at}.weight"), "bias": store(part.bias, f"{at}.bias")}


def _stacked(units: tuple[ExactArray, ...]) -> ExactArray:
    if all(unit.is_float for unit in units):
        return ExactArray(np.stack([unit.view for unit in units]))
    return ExactArray(np.stack([unit.fractions() for unit in units]))


# -------------------------------------------------------------------------------- arrangements

_ARRANGEMENT = "regioncount-arrangement"


def load_arrangement(path: str | os.PathLike[str]) -> HyperplaneArrangement:
    """Read a file of a hyperplane arrangement.

    Parameters
    ----------
    path : path-like
        ``.json``: ``{"format": "regioncount-arrangement", "version": 1, "normals": ..., "offsets": ...}``, meaning
        normals·x = offsets, and ``"dim"`` where there are no hyperplanes; or ``.npz``: arrays ``weight_0`` (m, n) and
        ``bias_0`` (m,), meaning weight_0·x + bias_0 = 0, and no others.

    Returns
    -------
    HyperplaneArrangement

    Raises
    ------
    InputError
        If there is no such file or it is refused; the message names the file and the field.
    """
    with _file_errors(path, "read"):
        if _arrangement_suffix(path) == ".npz":
            return _read_arrangement_npz(Path(path).read_bytes())
        return _read_arrangement(_parse_json(_decode(Path(path).read_bytes())))


def save_arrangement(arrangement: HyperplaneArrangement, path: str | os.PathLike[str]) -> None:
    """Write a file of a hyperplane arrangement, all of it or nothing.

    Parameters
    ----------
    arrangement : HyperplaneArrangement
    path : path-like
        ``.json``, or ``.npz`` if there are hyperplanes and float64 holds all numbers exactly.

    Raises
    ------
    InputError
        If it does not, or the file cannot be written.
    """
    from regioncount.arrangement import HyperplaneArrangement

    if not isinstance(arrangement, HyperplaneArrangement):
        raise InputError(f"arrangement: expected a HyperplaneArrangement, got {shown(arrangement)}")
    with _file_errors(path, "write"):
        if _arrangement_suffix(path) == ".npz":
            content = _dump_arrangement_npz(arrangement)
        else:
            content = _dump_json(_write_arrangement(arrangement)).encode() + b"\n"
        _replace(path, content)


def _arrangement_suffix(path: str | os.PathLike[str]) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in (".json", ".npz"):
        raise InputError("expected a file name that ends in .json or .npz")
    return suffix


def _read_arrangement(data: Any) -> HyperplaneArrangement:
    from regioncount.arrangement import HyperplaneArrangement

    if not isinstance(data, dict):
        raise InputError(f"expected an object with the key 'format', got {shown(data)}")
    if data.get("format", _ARRANGEMENT) != _ARRANGEMENT:
        raise InputError(f"format: expected {_ARRANGEMENT!r}, got {shown(data['format'])}")
    members = _members(data, ("format", "version", "normals", "offsets"), ("dim",))
    if type(members["version"]) is not int or members["version"] != VERSION:
        raise InputError(f"version: expected {VERSION}, got {shown(members['version'])}")
    return HyperplaneArrangement(members["normals"], members["offsets"], members.get("dim"))


def _write_arrangement(arrangement: HyperplaneArrangement) -> dict[str, Any]:
    data: dict[str, Any] = {"format": _ARRANGEMENT, "version": VERSION}
    if not len(arrangement):
        return data | {"dim": arrangement.dim, "normals": [], "offsets": []}
    normals, offsets = ExactArray(arrangement.normals), ExactArray(arrangement.offsets)
    return data | {"normals": normals.tolist(), "offsets": offsets.tolist()}


def _read_arrangement_npz(content: bytes) -> HyperplaneArrangement:
    from regioncount.arrangement import HyperplaneArrangement

    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
    except (
        ValueError, TypeError, EOFError, KeyError, zipfile.BadZipFile, zlib.error, NotImplementedError,
    ) as error:  # fmt: skip
        raise InputError(f"not an npz file, or a damaged one ({error})") from None
    if set(arrays) != {"weight_0", "bias_0"}:
        raise InputError(f"expected the arrays weight_0 and bias_0 and no others, got {shown(sorted(arrays))}")
    for name, array in arrays.items():
        if array.dtype.kind not in "fiu" or array.ndim != (2 if name == "weight_0" else 1) or not array.size:
            axes = "(m, n)" if name == "weight_0" else "(m,)"
            raise InputError(f"{name}: expected numbers {axes}, got {array.dtype} {array.shape}")
    weight, bias = ExactArray(arrays["weight_0"], "weight_0"), ExactArray(arrays["bias_0"], "bias_0")
    with located("weight_0, bias_0: "):
        return HyperplaneArrangement(weight, -bias.view if bias.is_float else -bias.fractions())


def _dump_arrangement_npz(arrangement: HyperplaneArrangement) -> bytes:
    if not len(arrangement):
        raise InputError("expected .json for an arrangement without hyperplanes, got .npz")
    normals, offsets = ExactArray(arrangement.normals), ExactArray(arrangement.offsets)
    for name, array in (("normals", normals), ("offsets", offsets)):
        if not array.is_float:
            at, value = array.first_inexact() or ((), None)
            where = "".join(f"[{i}]" for i in at)
            raise InputError(f"{name}{where}: expected a float64, got {shown(str(value))}; .json holds it")
    stream = io.BytesIO()
    np.savez_compressed(stream, weight_0=normals.view, bias_0=0.0 - offsets.view)
    return stream.getvalue()
