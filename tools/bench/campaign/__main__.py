"""`make campaign`: seeded lives of the whole service, attacked and broken on purpose.

What happens is a pure function of the seed; real time makes the outcomes vary. A life that fails
says how it is repeated (docs/operations/campaign.md).
"""

import argparse
import sys
import tempfile
from pathlib import Path

import django

from bench.campaign.stores import Stores
from devserver.errors import LocalError
from devserver.throwaway import stores

SECONDS = 12.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="make campaign", description=__doc__)
    parser.add_argument("--runs", type=int, default=1, help="how many lives")
    parser.add_argument("--seed", type=int, default=1, help="of the first life; others follow")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of traffic in each life")
    parser.add_argument("--keep", action="store_true", help="keep logs and data of all lives")
    options = parser.parse_args()
    try:
        with (
            tempfile.TemporaryDirectory(prefix="campaign-") as folder,
            stores(durable=True) as started,
        ):
            prepared = Stores(started)
            prepared.prepare()
            django.setup()
            from bench.campaign import lives  # needs Django's settings

            seeds = range(options.seed, options.seed + options.runs)
            all_well = lives.live(
                prepared, Path(folder), seeds, seconds=options.seconds, keep=options.keep
            )
    except LocalError as error:
        sys.exit(str(error))
    return int(not all_well)


if __name__ == "__main__":
    sys.exit(main())
