"""What can be wrong with a file."""


class DamageError(Exception):
    """The file cannot be what its writer wrote; the message says in what way."""


class WrongAtomsError(Exception):
    """The file has another number of atoms than the topology: `atoms`, if it is known."""

    def __init__(self, atoms: int | None = None) -> None:
        super().__init__("another number of atoms")
        self.atoms = atoms
