"""The encoding of Protocol Buffers, as far as ledgers use it. Malformed bytes raise WireError."""

_MASK_32 = (1 << 32) - 1
_MASK_64 = (1 << 64) - 1


class WireError(Exception):
    """Bytes that are no message. Internal: callers turn it into a ResultsError."""


def varints(data):
    """All numbers of a packed column."""
    if not data:
        return []
    if data[-1] >= 0x80:
        raise WireError("a number is cut off")
    if max(data) < 0x80:
        return list(data)
    result = []
    value = shift = 0
    for byte in data:
        if byte >= 0x80:
            value |= (byte & 0x7F) << shift
            shift += 7
            if shift > 63:
                raise WireError("a number is too long")
        elif shift:
            result.append((value | byte << shift) & _MASK_64)
            value = shift = 0
        else:
            result.append(byte)
    return result


def unzigzag(value):
    return (value >> 1) ^ -(value & 1)


def _signed(value, bits):
    return value - (1 << bits) if value >> (bits - 1) else value


# From the number on the wire to that of the type.
_NUMBERS = {
    "uint64": None,
    "fixed64": None,
    "uint32": lambda v: v & _MASK_32,
    "fixed32": None,
    "int64": lambda v: _signed(v, 64),
    "int32": lambda v: _signed(v & _MASK_32, 32),
    "sint64": unzigzag,
    "sint32": lambda v: unzigzag(v & _MASK_32),
    "bool": bool,
}
_FIXED_WIDTHS = {"fixed32": 4, "fixed64": 8}
_VARINT, _FIXED_64, _BYTES, _GROUP_BEGIN, _GROUP_END, _FIXED_32 = range(6)
_MOST_GROUPS = 100  # within each other
_MOST_TAG_BYTES = 5


def _wire_type(type_):
    """How one value of the type is written; repeated numbers may also be packed, as bytes."""
    if type_ == "bytes" or isinstance(type_, Schema):
        return _BYTES
    return {"fixed32": _FIXED_32, "fixed64": _FIXED_64}.get(type_, _VARINT)


def _fields(data):
    """Field number, wire type and value (a number or bytes) of each field, but for groups."""
    position, size = 0, len(data)
    groups = []  # numbers of those that are open

    def number(most_bytes=10):
        nonlocal position
        value = shift = 0
        while position < size:
            byte = data[position]
            position += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value & _MASK_64
            shift += 7
            if shift >= 7 * most_bytes:
                raise WireError("a number is too long")
        raise WireError("a number is cut off")

    while position < size:
        tag = number(_MOST_TAG_BYTES) & _MASK_32
        wire = tag & 7
        if tag >> 3 == 0:
            raise WireError("a field without a number")
        if wire == _GROUP_BEGIN:
            groups.append(tag >> 3)
            if len(groups) > _MOST_GROUPS:
                raise WireError("groups within too many others")
            continue
        if wire == _GROUP_END:
            if not groups or groups.pop() != tag >> 3:
                raise WireError("the end of another group")
            continue
        if wire == _VARINT:
            value = number()
            if not groups:
                yield tag >> 3, wire, value
            continue
        if wire == _BYTES:
            length = number(_MOST_TAG_BYTES)
        elif wire == _FIXED_64:
            length = 8
        elif wire == _FIXED_32:
            length = 4
        else:
            raise WireError("an unknown wire type")
        if length > size - position:
            raise WireError("a field is cut off")
        value = data[position : position + length]
        position += length
        if not groups:
            yield tag >> 3, wire, value if wire == _BYTES else int.from_bytes(value, "little")
    if groups:
        raise WireError("a group is cut off")


class Schema:
    """The fields of a message that are of interest.

        Schema(cpu_milli=(1, "int64"), nodes=(4, [node_schema]), devices=(6, ["uint64"]))

    A list stands for a repeated field. `raw` columns stay the bytes of their packed numbers.
    """

    def __init__(self, raw=(), **fields):
        self._by_number = {
            number: (name, type_[0] if isinstance(type_, list) else type_, isinstance(type_, list))
            for name, (number, type_) in fields.items()
        }
        self._raw = frozenset(raw)

    def decode(self, data):
        """A dict with every field of the schema: 0, b"", False, None or [] where it is absent."""
        result = {}
        for name, type_, repeated in self._by_number.values():
            result[name] = _absent(type_, repeated, name in self._raw)
        for field, wire, value in _fields(data):
            if field not in self._by_number:
                continue
            name, type_, repeated = self._by_number[field]
            # A field of another type is an unknown one.
            if wire != _wire_type(type_) and not (repeated and wire == _BYTES):
                continue
            if name in self._raw:
                result[name] += _packed(value, wire, type_)
            elif isinstance(type_, Schema) or type_ == "bytes":
                decoded = value if type_ == "bytes" else type_.decode(value)
                if repeated:
                    result[name].append(decoded)
                else:
                    result[name] = decoded
            elif repeated:
                result[name].extend(_numbers(value, wire, type_))
            else:
                result[name] = _convert(value, type_)
        return result


def _absent(type_, repeated, raw):
    if raw:
        return b""
    if repeated:
        return []
    if isinstance(type_, Schema):
        return None
    return b"" if type_ == "bytes" else False if type_ == "bool" else 0


def _convert(value, type_):
    convert = _NUMBERS[type_]
    return convert(value) if convert else value


def _packed(value, wire, type_):
    """The bytes of a packed column, also from a number that was written by itself."""
    if wire == _BYTES:
        return value
    if type_ in _FIXED_WIDTHS:
        return value.to_bytes(8, "little")[: _FIXED_WIDTHS[type_]]
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def _numbers(value, wire, type_):
    if wire != _BYTES:
        return [_convert(value, type_)]
    if type_ in _FIXED_WIDTHS:
        return fixed(value, _FIXED_WIDTHS[type_])
    numbers = varints(value)
    convert = _NUMBERS[type_]
    return [convert(v) for v in numbers] if convert else numbers


def fixed(data, width):
    """All numbers of a packed column of fixed width."""
    if len(data) % width != 0:
        raise WireError("a number is cut off")
    return [int.from_bytes(data[i : i + width], "little") for i in range(0, len(data), width)]
