"""Record: a NamedTuple whose class is made in a tenth of the time, for what the first evaluation of a process loads.

`typing.NamedTuple` compiles a function and the annotations of each class: a quarter of a millisecond, which only the
time per call of `Record(...)` pays back. Type checkers see a NamedTuple. Needs ``from __future__ import annotations``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ("Record",)

if TYPE_CHECKING:
    from typing import NamedTuple as Record
else:
    from collections import _tuplegetter

    class Base:
        """What a Record has beside a tuple."""

        __slots__ = ()

        def __new__(cls, *values, **named):
            rest = cls._fields[len(values) :]
            if rest or named:
                others = {**cls._field_defaults, **named} if named else cls._field_defaults
                try:
                    values += tuple([others[name] for name in rest])
                except KeyError as error:
                    raise TypeError(f"{cls.__name__}() needs {error}") from None
                if not named.keys() <= set(rest):
                    raise TypeError(f"{cls.__name__}() has no use for {', '.join(named.keys() - set(rest))}")
            if len(values) != len(cls._fields):
                raise TypeError(f"{cls.__name__}() takes {len(cls._fields)} values, got {len(values)}")
            return tuple.__new__(cls, values)

        def _replace(self, **named):
            changed = tuple.__new__(type(self), map(named.pop, self._fields, self))
            if named:
                raise TypeError(f"{type(self).__name__} has no field {', '.join(named)}")
            return changed

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self):
            return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._asdict().items())})"

        def __getnewargs__(self):
            return tuple(self)

    class RecordType(type):
        def __new__(cls, name, bases, body):
            if not bases:
                return type.__new__(cls, name, bases, body)
            fields = tuple(body["__annotations__"])
            defaults = {field: body[field] for field in fields if field in body}
            getters = {field: _tuplegetter(place, "") for place, field in enumerate(fields)}
            more = {"__slots__": (), "_fields": fields, "_field_defaults": defaults, "__match_args__": fields}
            return type(name, (Base, tuple), body | getters | more)

    class Record(metaclass=RecordType):
        pass
