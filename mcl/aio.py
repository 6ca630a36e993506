"""The acts of `mcl` to be awaited: the same names, arguments, answers and errors.

    from mcl import aio

    compiled = (await aio.compile_goal("which files in notes mention invoice")).require()
    await aio.accept(compiled.intent.id)
    outcome = await aio.run(compiled.intent.id)

What an act waits for (the walk of a plan, programs, addresses) is done in the event loop of who awaits it,
and ends when that is cancelled, as at Ctrl-C; all else in a thread, whose end a cancel waits for. What gives
an iterator is an async iterator here.
"""

from __future__ import annotations

import mcl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mcl.core.awaiting import each, twin

    accept = twin(mcl.accept)
    activity_stats = twin(mcl.activity_stats)
    answer = twin(mcl.answer)
    approve_tool = twin(mcl.approve_tool)
    call_tool = twin(mcl.call_tool)
    cancel = twin(mcl.cancel)
    check_plan_file = twin(mcl.check_plan_file)
    check_plan_of = twin(mcl.check_plan_of)
    compile_batch = twin(mcl.compile_batch)
    compile_goal = twin(mcl.compile_goal)
    config_zone = twin(mcl.config_zone)
    correct = twin(mcl.correct)
    cortex_find = twin(mcl.cortex_find)
    cortex_forget = twin(mcl.cortex_forget)
    cortex_history = twin(mcl.cortex_history)
    cortex_import = twin(mcl.cortex_import)
    cortex_learning = twin(mcl.cortex_learning)
    cortex_list = twin(mcl.cortex_list)
    cortex_prove = twin(mcl.cortex_prove)
    cortex_put = twin(mcl.cortex_put)
    cortex_show = twin(mcl.cortex_show)
    cortex_snapshot = twin(mcl.cortex_snapshot)
    cortex_verify = twin(mcl.cortex_verify)
    cortex_verify_proof = twin(mcl.cortex_verify_proof)
    decide_gate = twin(mcl.decide_gate)
    export_activity = twin(mcl.export_activity)
    find_tool = twin(mcl.find_tool)
    format_skill = twin(mcl.format_skill)
    grant = twin(mcl.grant)
    graph = twin(mcl.graph)
    hash_skill = twin(mcl.hash_skill)
    list_activity = twin(mcl.list_activity)
    list_grants = twin(mcl.list_grants)
    list_intents = twin(mcl.list_intents)
    list_tools = twin(mcl.list_tools)
    materiality = twin(mcl.materiality)
    new_skill = twin(mcl.new_skill)
    open_gates = twin(mcl.open_gates)
    open_home = twin(mcl.open_home)
    plan = twin(mcl.plan)
    propose_correction = twin(mcl.propose_correction)
    prune_undo = twin(mcl.prune_undo)
    publish_skill = twin(mcl.publish_skill)
    quarantine_tool = twin(mcl.quarantine_tool)
    replay = twin(mcl.replay)
    revoke = twin(mcl.revoke)
    run = twin(mcl.run)
    show = twin(mcl.show)
    show_activity = twin(mcl.show_activity)
    show_gate = twin(mcl.show_gate)
    sign_correction = twin(mcl.sign_correction)
    try_examples = each(mcl.try_examples)
    undo = twin(mcl.undo)
    validate_skill = twin(mcl.validate_skill)
    verify = each(mcl.verify)
    verify_tools = twin(mcl.verify_tools)
    watch_activity = each(mcl.watch_activity)

_ITERATORS = ("try_examples", "verify", "watch_activity")
__all__ = [name for name in mcl.__all__ if name.islower() and not name.startswith("_")]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'mcl.aio' has no attribute {name!r}")
    from mcl.core.awaiting import each, twin

    made = each if name in _ITERATORS else twin
    value = globals()[name] = made(getattr(mcl, name))
    return value


def __dir__() -> list[str]:
    return list(__all__)
