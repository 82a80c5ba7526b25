# SPDX-License-Identifier: Apache-2.0
"""How a command of bigbird-dna-plot ends that cannot draw."""

USAGE, BAD_INPUT, ANYTHING_ELSE, WRITE_FAILED = 2, 3, 70, 74


class Failure(Exception):
    """One sentence for the user, and the exit code."""

    def __init__(self, sentence, code=BAD_INPUT):
        super().__init__(sentence)
        self.code = code
