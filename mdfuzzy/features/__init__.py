"""Features computed from each frame, such as torsions and distances, and their slow components."""

from mdfuzzy.features.columns import Given
from mdfuzzy.features.components import Components
from mdfuzzy.features.contacts import ClosestDistances, Contacts, soft_contact
from mdfuzzy.features.coordinates import Coordinates
from mdfuzzy.features.distances import Distances, GroupDistances
from mdfuzzy.features.feature import Feature
from mdfuzzy.features.featurizer import Featurizer
from mdfuzzy.features.functions import Function
from mdfuzzy.features.reduction import Reduction
from mdfuzzy.features.torsions import Torsions

__all__ = [
    "ClosestDistances",
    "Components",
    "Contacts",
    "Coordinates",
    "Distances",
    "Feature",
    "Featurizer",
    "Function",
    "Given",
    "GroupDistances",
    "Reduction",
    "Torsions",
    "soft_contact",
]
