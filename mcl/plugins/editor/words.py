"""What every word of the language means, in a line each: shown beside completions and on hover."""

from __future__ import annotations

SECTIONS = {
    "SKILL": "Who the skill is: id, version, description, verbs, and examples of goals it is for.",
    "INPUTS": "What a goal must or may say: one `slot name: Type` each.",
    "CORTEX": "Which memories the skill reads and writes.",
    "TOOLS": "The pinned tools that its plans may call.",
    "SUB_SKILLS": "The pinned skills that its plans may hand work to.",
    "PROCEDURE": "What is asked of the model, looked up and asked back, from top to bottom.",
    "OUTPUTS": "What a run gives: one `slot name: Type` each.",
    "FAILURE_MODES": "What can go wrong, and what then.",
    "HASH": "The digest that the file was published with; checked when it is there.",
}
# by the name of the terminal in the grammar
TERMINALS = {
    "NONE": "The section is empty.",
    "SLOT": "A value with a name and a type: `slot cabin: enum<economy|business>`.",
    "REQUIRED": "A goal that does not say it is asked about (what a slot is without `optional`).",
    "OPTIONAL": "A goal need not say it.",
    "DEFAULT_KEY": "The value where nothing is said.",
    "HINT_KEY": "What the slot is, in plain words: goals are matched with it.",
    "MAX_KEY": "How many entries a list has at most.",
    "ON": "A block for one case: `on verb=find`, `on confidence<0.75`, `on slot.x=value`, `on unknown`. Of "
    "those at one level the first that holds is taken.",
    "PROMPT": "What the model is told: `system=` and `user=`, with places such as `{prose}`.",
    "RESOLVE": "Turns words into the address of a memory: "
    "`resolve slot.x <- cortex.find(type=Fact, near=slot.x.prose)`.",
    "UNKNOWN": "What to say when a slot stays empty.",
    "CLARIFY": "A question to the person about a slot.",
    "_END": "Closes the block.",
    "CONFIDENCE": "How sure the reading of the goal is, from 0 to 1; known after extraction.",
    "ANY_UNKNOWN": "Anything is still unknown; known after extraction.",
    "VERB_KEY": "The verb of the goal.",
    "KIND_KEY": "What kind of step the model does.",
    "OUTPUT_CARDINALITY_KEY": "How many results are wanted: a whole number from 1.",
    "SYSTEM_KEY": "The model's instructions.",
    "USER_KEY": "What the model is asked, with places such as `{prose}` and `{slot.target}`.",
    "SEVERITY_KEY": "Whether the intent can go on without it: blocking, preferred or optional.",
    "REASON_KEY": "Why: what a person is told about an unknown; one of ten words for a failure.",
    "TYPE_KEY": "The type of the answer.",
    "OPTIONS_KEY": "Answers to choose from: `options=[a b]`.",
    "PROMPT_KEY": "The question, in words for the person.",
    "REQUIRED_KEY": "Whether the question must be answered: true or false.",
    "SUGGEST_KEY": "What the person could do about it.",
    "ACTION_KEY": "What happens then.",
    "MESSAGE_KEY": "What the person is told.",
    "RETRY_KEY": "How often it is tried again.",
}
SETTINGS = {
    "SKILL": {
        "id": "The skill's name: that of its folder.",
        "version": "Its semantic version, such as 1.0.0.",
        "display": "Its name for people.",
        "author": "Who made it: a name or a did.",
        "description": "What it does, in a sentence of at most 280 characters: goals are matched with it.",
        "mcl.verbs": "The verbs that it may be chosen with.",
        "determinism": "Whether the same goal gives the same plan.",
        "seed_policy": "Where the seed of its model calls comes from.",
        "example.1": "A goal that this skill must be chosen for; `mcl skill test` tries it.",
    },
    "CORTEX": {
        "reads": "Types of memories that it reads.",
        "writes": "Types of memories that it writes.",
        "tags": "Tags of the memories that it reads.",
    },
    "HASH": {
        "v": "The version of this section: 1.",
        "algo": "How the digest is made: sha256_ast.",
        "digest": "sha256 over the meaning of the file; `mcl skill publish` writes it.",
    },
}
TYPES = {
    "string": "Any text.",
    "uint": "A whole number from 0.",
    "float": "A number.",
    "bool": "true or false.",
    "ulid": "A ULID.",
    "iso8601": "A moment such as 2026-11-21T10:00:00Z, or a date.",
    "did": "A decentralised identifier, `did:key:z6Mk…`.",
    "sha256": "64 hexadecimal digits.",
    "ArtifactRef": "The address of a thing: a file, a page, a record.",
    "Constraint": "A constraint of the goal.",
    "Predicate": "A condition of success.",
    "Unknown": "Something still unknown.",
    "PlanDraft": "A plan that is not accepted yet.",
    "SkillRef": "The address of a skill.",
    "ToolRef": "The address of a tool.",
    "CortexRef": "The address of a memory.",
    "SlotPath": "The name of a slot.",
    "AssetAmount": "An amount of money or of another asset.",
    "AgentRef": "The address of an agent.",
    "UserRef": "The address of a person.",
    "Identity": "The address of a memory of who somebody is.",
    "Fact": "The address of a memory of a fact.",
    "Preference": "The address of a memory of what somebody prefers.",
    "Belief": "The address of a memory of what is held to be so.",
    "Event": "The address of a memory of what happened or will.",
    "Goal": "The address of a memory of a goal.",
    "Capability": "The address of a memory of what can be done.",
    "Pattern": "The address of a memory of what recurs.",
    "enum": "One of the words listed: `enum<economy|business>`.",
}
VERBS = {
    "find": "Look for something and show it.",
    "acquire": "Get something.",
    "build": "Make something new.",
    "modify": "Change something that is there.",
    "deliver": "Hand something over.",
    "analyze": "Study something and say what it shows.",
    "negotiate": "Come to terms with somebody.",
    "schedule": "Set a time for something.",
    "monitor": "Watch something.",
    "delegate": "Give a task to somebody.",
}
PLACES = {
    "prose": "The goal as it was said.",
    "verb": "The verb of the goal.",
    "cortex.bundle": "The memories that belong to the goal.",
    "slots": "All slots with their values.",
    "unknowns": "What is still unknown.",
}
CALLS = {
    "find": "The memories nearest to what is asked.",
    "resolve": "The one memory that is meant.",
    "context": "Memories that help, up to a budget.",
}
ARGUMENTS = {
    "type": "A type of memory.",
    "tag": "A tag that it carries.",
    "tags": "Tags that it carries.",
    "near": "Words that it is near to: `slot.x.prose`.",
    "text": "Words that it holds.",
    "limit": "How many at most.",
    "budget": "How many tokens at most.",
    "id": "Its id.",
    "uri": "Its address.",
}
SEVERITIES = {
    "blocking": "Nothing runs before it is answered.",
    "preferred": "Better answered, but the intent can go on.",
    "optional": "May stay open.",
}
ACTIONS = {
    "fail": "The run ends, and says why.",
    "clarify": "The person is asked.",
}


def setting(section: str, key: str) -> str:
    """What a setting means, or ""."""
    known = SETTINGS.get(section, {})
    return known.get(key) or known.get("example.1" if key.startswith("example.") else "", "")
