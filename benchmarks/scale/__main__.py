"""``python -m scale MODULE JOB``: one piece of work in this process; its result is the last line printed."""

import importlib
import json
import sys

if __name__ == "__main__":  # processes of a cluster import this file too
    print(json.dumps(importlib.import_module(f"scale.{sys.argv[1]}").work(json.loads(sys.argv[2]))))
