"""What a person says of a journal that does not hold, or that is older than it was."""

from executor.store.home import Home
from executor.store.journal.rows import Row


def accept_break(row: int, *, home: Home) -> Row:
    """Go on though the journal does not hold in a row; signed by the person, and shown ever after.

    Raises:
        JournalError: NO_BREAK. KeyringError: KEY_SEALED.
    """
    return home.journal.accept_break(row)


def restore_tables(*, home: Home) -> Row:
    """Make the tables beside the journal what its rows say; signed, and shown ever after.

    Raises JournalError TABLES_HOLD where they are; KeyringError.
    """
    return home.journal.tables.restore()


def say_restored(*, home: Home) -> Row:
    """Say that the older journal is meant, because a backup was restored; signed, and shown ever after.

    Raises:
        JournalError: NOT_ROLLED_BACK, JOURNAL_DAMAGED. KeyringError: KEY_SEALED.
    """
    return home.journal.restored()
