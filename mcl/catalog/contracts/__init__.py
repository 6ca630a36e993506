"""What each tool promises: its contract, the two documents made of all contracts, and what is stale."""

from mcl.catalog.contracts.contract import JSON_FILE as JSON_FILE
from mcl.catalog.contracts.contract import SAFETY_FILE as SAFETY_FILE
from mcl.catalog.contracts.contract import Contract as Contract
from mcl.catalog.contracts.contract import Documented as Documented
from mcl.catalog.contracts.contract import contract_of as contract_of
from mcl.catalog.contracts.contract import contracts_of as contracts_of
from mcl.catalog.contracts.contract import json_document as json_document
from mcl.catalog.contracts.contract import read_contracts as read_contracts
from mcl.catalog.contracts.contract import read_safety as read_safety
from mcl.catalog.contracts.contract import safety_document as safety_document
from mcl.catalog.contracts.drift import Drift as Drift
from mcl.catalog.contracts.drift import document_drift as document_drift
from mcl.catalog.contracts.drift import folder_drift as folder_drift
