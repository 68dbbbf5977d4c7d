"""Placeholders of the interface: the plain cases."""

from decimal import Decimal

from components.memory.arithmetic import judge
from components.memory.cases import EngineMemory, Fit, MemoryCase
from components.memory.catalog import shape_of
from components.memory.devices import GIB


def test_a_llama_8b_fits_an_l40s_and_not_an_l4_at_its_full_context() -> None:
    shape = shape_of("meta-llama/Llama-3.1-8B-Instruct")
    assert shape
    budget = EngineMemory(share=Decimal("0.9"))
    assert judge(MemoryCase(shape, "L40S", int(Decimal("44.70") * GIB), budget=budget)).fit is Fit.FITS
    assert judge(MemoryCase(shape, "L4", int(Decimal("22.35") * GIB), budget=budget)).fit is Fit.EXCEEDED
