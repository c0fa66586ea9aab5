"""Find generators of the automorphisms of a small coloured graph.

The atoms are fixed one after another. Before an atom is fixed, each atom that may be its image is tried, and
gives a generator unless it is an image already (a strong generating set of Schreier and Sims). Colours are
refined by the colours of the neighbours, so that few atoms must be tried.
"""

from collections.abc import Sequence

import numpy as np


def automorphism_generators(edges: np.ndarray, colors: Sequence[object]) -> np.ndarray:
    """Return generators of the automorphisms that keep colours, (generators, nodes).

    Parameters
    ----------
    edges : (m, 2) int
        Pairs of nodes.
    colors : sequence
        The colour of each node.

    Examples
    --------
    >>> automorphism_generators(np.array([[0, 1], [1, 2]]), "aba").tolist()
    [[2, 1, 0]]
    """
    n = len(colors)
    neighbors: list[list[int]] = [[] for _ in range(n)]
    for a, b in edges.tolist():
        neighbors[a].append(b)
        neighbors[b].append(a)
    fixed = _numbers([(color,) for color in colors])
    found: list[list[int]] = []
    for node in range(n):
        refined = _refined(fixed, neighbors)
        if len(set(refined)) == n:
            break
        level: list[list[int]] = []  # generators that keep all nodes before
        for image in range(node + 1, n):
            if refined[image] == refined[node] and image not in _orbit(node, level):
                new = _automorphism({node: image}, fixed, neighbors)
                if new is not None:
                    level.append(_least_moving(new, node, fixed, neighbors))
        found += level
        fixed = [2 * color for color in fixed]
        fixed[node] += 1
    return np.array(found, np.int64).reshape(-1, n)


def _numbers(keys: Sequence[tuple[object, ...]]) -> list[int]:
    """Return a number for each key, the same for equal ones."""
    known: dict[tuple[object, ...], int] = {}
    return [known.setdefault(key, len(known)) for key in keys]


def _refined(colors: Sequence[int], neighbors: list[list[int]]) -> list[int]:
    """Return refined colours, which also distinguish nodes by the colours of their neighbours."""
    now, count = list(colors), 0
    while len(set(now)) > count:
        count = len(set(now))
        now = _numbers([(now[i], *sorted(now[j] for j in around)) for i, around in enumerate(neighbors)])
    return now


def _orbit(node: int, generators: list[list[int]]) -> set[int]:
    """Return all images of a node."""
    found, waiting = {node}, [node]
    while waiting:
        at = waiting.pop()
        for generator in generators:
            if generator[at] not in found:
                found.add(generator[at])
                waiting.append(generator[at])
    return found


def _automorphism(
    images: dict[int, int], colors: Sequence[int], neighbors: list[list[int]]
) -> list[int] | None:
    """Return an automorphism that keeps colours and has some given images; None if there is none."""
    n = len(colors)
    both = [4 * color for color in colors] * 2  # of two copies of the graph
    for number, (node, image) in enumerate(images.items()):
        both[node] = both[n + image] = -1 - number
    twice = neighbors + [[n + other for other in around] for around in neighbors]
    refined = _refined(both, twice)
    left, right = refined[:n], refined[n:]
    if sorted(left) != sorted(right):
        return None
    if len(set(left)) == n:
        place = {color: at for at, color in enumerate(right)}
        found = [place[color] for color in left]
    else:
        import networkx

        graphs = []
        for labels in (left, right):
            graph = networkx.Graph()
            graph.add_nodes_from((at, {"color": color}) for at, color in enumerate(labels))
            graph.add_edges_from((a, b) for a, around in enumerate(neighbors) for b in around)
            graphs.append(graph)
        mapping = networkx.vf2pp_isomorphism(*graphs, node_label="color")
        if mapping is None:
            return None
        found = [mapping[at] for at in range(n)]
    same = all({found[b] for b in around} == {*neighbors[found[a]]} for a, around in enumerate(neighbors))
    return found if same else None


def _least_moving(
    automorphism: list[int], node: int, colors: Sequence[int], neighbors: list[list[int]]
) -> list[int]:
    """Return an automorphism with the same image of `node` that keeps as many others as possible in place,
    one after the other.
    """
    images = {node: automorphism[node]}
    for other in range(len(automorphism)):
        if other in images or automorphism[other] == other:
            continue
        tried = _automorphism({**images, other: other}, colors, neighbors)
        if tried is not None:
            automorphism = tried
            images[other] = other
    return automorphism
