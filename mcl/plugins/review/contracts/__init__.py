"""Review contracts and guides: Markdown files of `skills/review/`, read strictly."""

from mcl.plugins.review.contracts.contract import MODES, Contract, Mode, contract, contracts
from mcl.plugins.review.contracts.guide import Guide, guides_for

__all__ = ["MODES", "Contract", "Guide", "Mode", "contract", "contracts", "guides_for"]
