"""Review contracts and guides: Markdown files of `skills/review/`, read strictly."""

from mcl.plugins.review.contracts.contract import MODES, Mode, ReviewContract, contract, contracts
from mcl.plugins.review.contracts.guide import ReviewGuide, guides_for

__all__ = ["MODES", "Mode", "ReviewContract", "ReviewGuide", "contract", "contracts", "guides_for"]
