from whybench.testing import Contract


class TestContract(Contract):
    families = ("wiring",)
