"""Errors for damaged files and files that do not match the topology."""


class DamageError(Exception):
    """The file is damaged; the message describes the damage."""


class WrongAtomsError(Exception):
    """The file has another number of atoms than the topology: `atoms`, if known."""

    def __init__(self, atoms: int | None = None) -> None:
        super().__init__("another number of atoms")
        self.atoms = atoms
