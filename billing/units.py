"""What the usage of a call is counted in.

An ending and a checkpoint list quantities by unit, and a charge keeps the list as it is. A new unit
is added here and priced in the catalog; a report or a page that shows the unit reads it by
`quantity_of` (billing/models/charges.py).
"""

from typing import Literal

Unit = Literal[
    "tokens_in",
    "tokens_out",
    # Those of tokens_in that the provider had in its cache.
    "cached_tokens",
    # Those of tokens_out that the model spent on reasoning.
    "reasoning_tokens",
    "images",
    # Of audio or video.
    "seconds",
    # Of the 3D studio.
    "assets",
]
# A unit that is not in it was not used.
Units = dict[Unit, int]
