"""What ir promises, and what importing it costs."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import ir

PUBLIC = """
BODY_OF_KIND BRANCH_KINDS CLARIFY CONSTRAINT_TYPES FAILED KEY_SHAPES NODE_KINDS NODE_STATES NO_SNAPSHOT
OUTCOMES PREDICATE_TYPES PROTOCOL REFUSED ROLE_OF_KIND SEVERITIES SIDE_EFFECTS STATES STEP_KINDS
TERMINAL_KINDS ULID_PATTERN UNVERIFIED USAGE VERBS AssetAmount AttestationPredicate Body Budget
BudgetConstraint CborError ClarifyQuestion CommandPredicate CompileMetadata Condition Constraint
DeadlineConstraint DeliveredPredicate Document DocumentError Envelope EnvelopeError ExtensionConstraint
ExtensionPredicate ExternalPredicate Finding Frame FurtherWish Gate Given Header Intent IntentAcceptBody
IntentAnswerBody IntentAttestBody IntentCancelBody IntentClarifyBody IntentCompiledBody IntentCorrectBody
IntentDispatchBody IntentDraftBody IntentFailBody IrError JurisdictionConstraint KeyShape KeyTextError
Map MclError OutputRef PlanNode PlanOutputBody PlanProposedBody PlanStepBody PlanTree PolicyConstraint
PolicyGateBody PolicyGateResolveBody Predicate Preference Promise PromiseError PromiseStanding PublicKey
QualityConstraint Reference Restriction Role RuleConstraint Seed SignedOffPredicate SkillScope SlotEntry
SpanMark Step SubDispatch ToolCall Unknown WishCondition as_document canonical_bytes check_plan
content_hash decode_cbor derive_seed did_of dispatch_of encode_cbor find_secret frame_digest is_instant
is_pinned is_place is_ulid key_of open_envelope parse_json parse_keeps parse_references promises_of
read_unverified seal valid_verb verify_signature with_hash
""".split()  # noqa: SIM905  # a list of a hundred quoted names reads worse


def test_the_public_names_are_exactly_these() -> None:
    named = {name for name, it in vars(ir).items() if name[0] != "_" and not isinstance(it, ModuleType)}
    assert named == set(PUBLIC)


def test_importing_ir_loads_nothing_that_it_may_not_need() -> None:
    code = "import ir, sys; print(*(m for m in sys.argv[1:] if m in sys.modules))"
    heavy = ["rfc8785", "jsonpatch", "nacl", "llama_cpp", "sqlite3", "jsonschema", "ulid", "executor", "mcl"]
    done = subprocess.run([sys.executable, "-c", code, *heavy], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_an_error_tells_code_place_and_fix_as_json() -> None:
    error = ir.MclError(
        "SOME_CODE", "was wrong", place="$.a", fix="mend it", exit=4, data={"code": "x", "limit": 3}
    )
    assert error.to_json() == {
        "code": "SOME_CODE",
        "message": "was wrong",
        "place": "$.a",
        "fix": "mend it",
        "limit": 3,
    }
    assert (str(error), error.exit) == ("$.a: was wrong", 4)


def test_every_error_of_ir_is_one_tree() -> None:
    for kind in (ir.DocumentError, ir.CborError, ir.KeyTextError, ir.PromiseError, ir.EnvelopeError):
        assert issubclass(kind, ir.IrError)
    assert issubclass(ir.IrError, ir.MclError)
    assert (
        ir.DocumentError("A", "b").exit,
        ir.EnvelopeError("A", "b").exit,
        ir.CborError("A", "b").exit,
    ) == (2, 6, 6)
