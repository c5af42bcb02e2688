"""fastir and PyTorch in one process, imported in the order of the arguments, each with two threads."""

import importlib
import sys

loaded = {name: importlib.import_module(name) for name in sys.argv[1:]}
fastir, torch = loaded["fastir"], loaded["torch"]
torch.set_num_threads(2)
for _ in range(20):
    scores = torch.rand(64, 1024) @ torch.eye(1024)
    best = scores.argmax(dim=1, keepdim=True).numpy()
    found = fastir.evaluate_matrix(scores, list(best), ["mrr", "precision@1"], n_threads=2)
    if (found["mrr"], found["precision@1"]) != (1.0, 1.0):
        sys.exit(f"wrong: {found}")
print(*sys.argv[1:], torch.__version__, fastir.show_config())
