"""What each tool promises: its contract, the two documents made of all contracts, and what is stale."""

from mcl.catalog.contracts.comparing import Drift, document_drift, folder_drift
from mcl.catalog.contracts.contract import Contract, contract_of, contracts_of
from mcl.catalog.contracts.documents import JSON_FILE, SAFETY_FILE, json_document, safety_document
from mcl.catalog.contracts.reading import Documented, read_contracts, read_safety

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
