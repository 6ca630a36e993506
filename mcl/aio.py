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
    add_repository = twin(mcl.add_repository)
    answer = twin(mcl.answer)
    approve_tool = twin(mcl.approve_tool)
    call_tool = twin(mcl.call_tool)
    cancel = twin(mcl.cancel)
    check_plan_file = twin(mcl.check_plan_file)
    check_plan_of = twin(mcl.check_plan_of)
    check_release = twin(mcl.check_release)
    compile_batch = twin(mcl.compile_batch)
    compile_goal = twin(mcl.compile_goal)
    complete_work = twin(mcl.complete_work)
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
    draft_contract = twin(mcl.draft_contract)
    draft_review = twin(mcl.draft_review)
    export_activity = twin(mcl.export_activity)
    export_work = twin(mcl.export_work)
    find_tool = twin(mcl.find_tool)
    format_skill = twin(mcl.format_skill)
    grant = twin(mcl.grant)
    graph = twin(mcl.graph)
    hash_skill = twin(mcl.hash_skill)
    import_work = twin(mcl.import_work)
    list_activity = twin(mcl.list_activity)
    list_grants = twin(mcl.list_grants)
    list_intents = twin(mcl.list_intents)
    list_tools = twin(mcl.list_tools)
    list_work = twin(mcl.list_work)
    map_work = twin(mcl.map_work)
    materiality = twin(mcl.materiality)
    new_skill = twin(mcl.new_skill)
    open_gates = twin(mcl.open_gates)
    open_home = twin(mcl.open_home)
    plan = twin(mcl.plan)
    propose_correction = twin(mcl.propose_correction)
    prune_undo = twin(mcl.prune_undo)
    publish_skill = twin(mcl.publish_skill)
    quarantine_tool = twin(mcl.quarantine_tool)
    read_contract = twin(mcl.read_contract)
    release_work = twin(mcl.release_work)
    remove_repository = twin(mcl.remove_repository)
    replay = twin(mcl.replay)
    review_bootstrap = twin(mcl.review_bootstrap)
    review_code = twin(mcl.review_code)
    review_decide = twin(mcl.review_decide)
    review_decisions = twin(mcl.review_decisions)
    review_decisions_differ = twin(mcl.review_decisions_differ)
    review_dismiss = twin(mcl.review_dismiss)
    review_dismissals = twin(mcl.review_dismissals)
    review_drift = twin(mcl.review_drift)
    review_history = twin(mcl.review_history)
    review_recall = twin(mcl.review_recall)
    review_remember = twin(mcl.review_remember)
    review_undismiss = twin(mcl.review_undismiss)
    revoke = twin(mcl.revoke)
    route_prompt = twin(mcl.route_prompt)
    run = twin(mcl.run)
    run_contract = twin(mcl.run_contract)
    select_work = twin(mcl.select_work)
    show = twin(mcl.show)
    show_activity = twin(mcl.show_activity)
    show_gate = twin(mcl.show_gate)
    show_work = twin(mcl.show_work)
    sign_correction = twin(mcl.sign_correction)
    switch_repository = twin(mcl.switch_repository)
    trace_work = twin(mcl.trace_work)
    try_examples = each(mcl.try_examples)
    undo = twin(mcl.undo)
    validate_skill = twin(mcl.validate_skill)
    validate_work = twin(mcl.validate_work)
    verify = each(mcl.verify)
    verify_contracts = twin(mcl.verify_contracts)
    verify_tools = twin(mcl.verify_tools)
    watch_activity = each(mcl.watch_activity)
    write_contracts = twin(mcl.write_contracts)

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
