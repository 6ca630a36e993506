"""What each tool promises: its contract, the two documents made of all contracts, and what is stale."""

from mcl.catalog.contracts.contract import (
    JSON_FILE,
    SAFETY_FILE,
    Contract,
    Documented,
    contract_of,
    contracts_of,
    json_document,
    read_contracts,
    read_safety,
    safety_document,
)
from mcl.catalog.contracts.drift import Drift, document_drift, folder_drift

__all__ = [
    "JSON_FILE",
    "SAFETY_FILE",
    "Contract",
    "Documented",
    "Drift",
    "contract_of",
    "contracts_of",
    "document_drift",
    "folder_drift",
    "json_document",
    "read_contracts",
    "read_safety",
    "safety_document",
]
