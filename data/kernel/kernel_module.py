# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The part of a kernel's Python module that is the same for all kernels: arrays
# of any strides to the shared library next to it, and back.
import ctypes as _c
import pathlib as _pathlib

import numpy as _np


class _Array(_c.Structure):
    """rhz_array of rhizome_kernel.h."""

    _fields_ = [("data", _c.c_void_p), ("element_stride", _c.c_int64),
                ("strides", _c.c_int64 * 8)]


_library = _c.CDLL(str(_pathlib.Path(__file__).resolve().parent / f"lib{_NAME}.so"))
_run = getattr(_library, f"{_NAME}_run")
_run.restype = None
_run.argtypes = [_c.c_int64, _c.c_int32, _c.POINTER(_Array)]


class _Argument:
    def __init__(self, name, bits, shape, column_major, element, is_input,
                 is_output):
        self.name, self.shape, self.element = name, shape, element
        self.dtype = _np.dtype(_np.float32 if bits == 32 else _np.float64)
        self.order = "F" if column_major else "C"
        self.is_input, self.is_output = is_input, is_output

    def shape_of(self, elements):
        """With the element dimension, if there is one."""
        if elements is None:
            return self.shape
        return (*self.shape, elements) if self.element == "last" else (
            elements, *self.shape)

    def elements_of(self, value):
        """None for an array of one element; ValueError if it does not fit."""
        if value.shape == self.shape:
            return None
        at = -1 if self.element == "last" else 0
        if (value.ndim == len(self.shape) + 1 and
                value.shape == self.shape_of(value.shape[at])):
            return value.shape[at]
        raise ValueError(
            f"'{self.name}' has the shape {value.shape}; the kernel takes "
            f"{self.shape}, or {self.shape_of('n')} for n elements")

    def described(self, value, elements):
        """The array for the library; strides count numbers."""
        strides = [step // value.itemsize for step in value.strides]
        step = 0
        if value.ndim > len(self.shape):
            step = strides.pop(-1 if self.element == "last" else 0)
        return _Array(value.ctypes.data, step, (_c.c_int64 * 8)(*strides))


def _call(given, threads):
    arguments = [_Argument(*each) for each in _ARGUMENTS]
    values, elements = {}, None
    inputs = [each for each in arguments if each.is_input]
    for argument, value in zip(inputs, given):
        value = _np.asarray(value)
        value = value.astype(argument.dtype, casting="same_kind", copy=False) \
            if value.dtype.kind not in "iub" else value.astype(argument.dtype)
        if any(step % value.itemsize for step in value.strides):
            value = value.copy()
        count = argument.elements_of(value)
        if count is not None:
            if elements not in (None, count):
                raise ValueError(f"'{argument.name}' has {count} elements, "
                                 f"others have {elements}")
            elements = count
        values[argument.name] = value
    results = []
    for argument in arguments:
        if not argument.is_output:
            continue
        result = _np.empty(argument.shape_of(elements), argument.dtype,
                           argument.order)
        if argument.is_input:
            one = values[argument.name]
            if one.ndim < result.ndim and argument.element == "last":
                one = one[..., _np.newaxis]
            result[...] = one
        values[argument.name] = result
        results.append(result)
    arrays = (_Array * len(arguments))(
        *(each.described(values[each.name], elements) for each in arguments))
    if elements != 0:
        _run(1 if elements is None else elements, threads, arrays)
    return results[0] if len(results) == 1 else tuple(results)


