"""What the gate is told of the work in one folder and of one agent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from executor.core.errors import HomeError
from executor.gate.checkout import Checkout
from ir import MclError
from mcl.plugins.agents.work import naming
from mcl.plugins.agents.work.item import WorkItem
from mcl.plugins.agents.work.leases import Leases
from mcl.plugins.agents.work.store import Work


class BoundCheckouts:
    """The checkouts of an agent in a folder, as the gate asks for them (executor.gate.checkout.Checkouts)."""

    def __init__(self, work: Work, leases: Leases, root: Path, agent: str) -> None:
        self._work, self._leases = work, leases
        self.root, self.agent = root, agent

    def governed(self) -> bool:
        """Whether work was signed for this folder, so that changes need a checkout."""
        return self._work.governed(self.root)

    def held(self) -> Checkout | None:
        """What the agent has checked out; its lease is renewed. None where that has expired, or the work was
        blocked, cancelled or completed meanwhile, or what was signed cannot be believed."""
        lease = self._leases.renew(self.root, self.agent)
        item = self._believed(lease.label) if lease is not None else None
        if lease is None or item is None or item.intent_id != lease.intent_id or item.status != "IN_PROGRESS":
            return None
        return Checkout(item.intent_id, item.label, item.checkout_scope, self.agent, lease.expires_at)

    def owners(self, path: str) -> tuple[str, ...]:
        """The labels of work that is not done and may change this path; of many the first."""
        return self._told(lambda: naming.owners(self._work.home, self._work, self.root, path))

    def labels(self) -> tuple[str, ...]:
        """The labels that an agent may choose among: what is neither done nor blocked; of many the first."""
        return self._told(lambda: naming.selectable(self._work.home, self._work, self.root))

    def _told(self, find: Callable[[], tuple[str, ...]]) -> tuple[str, ...]:
        """None where what was signed cannot be believed, so that all is refused."""
        try:
            return find()
        except HomeError:
            raise
        except MclError:
            return ()

    def _believed(self, label: str) -> WorkItem | None:
        try:
            return self._work.item(self.root, label)
        except HomeError:
            raise
        except MclError:
            return None
