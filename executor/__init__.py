"""What is done: the home, its journal and keys, the gate, the walker and its tools."""

from executor.clock import Clock, FixedClock, SystemClock
from executor.database import Database
from executor.errors import ExecutorError, HomeError, JournalError, KeyringError, LifecycleError
from executor.home import Home
from executor.journal import Journal, Row
from executor.keyring import KeyEntry, KeyPair, Keyring
from executor.lifecycle import View, check, fold, intent_id
from executor.proofs import ConsistencyProof, Head, InclusionProof
from executor.record import Record, open_record, seal_record
from executor.verification import JournalFinding, Report

__all__ = [
    "Clock",
    "ConsistencyProof",
    "Database",
    "ExecutorError",
    "FixedClock",
    "Head",
    "Home",
    "HomeError",
    "InclusionProof",
    "Journal",
    "JournalError",
    "JournalFinding",
    "KeyEntry",
    "KeyPair",
    "Keyring",
    "KeyringError",
    "LifecycleError",
    "Record",
    "Report",
    "Row",
    "SystemClock",
    "View",
    "check",
    "fold",
    "intent_id",
    "open_record",
    "seal_record",
]
