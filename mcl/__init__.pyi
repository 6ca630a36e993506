# The public names of mcl, each once: type checkers read this file, and so does mcl/__init__.py.

from executor import Home as Home
from executor import Outcome as Outcome
from executor import UndoReport as UndoReport
from ir import Envelope as Envelope
from ir import Frame as Frame
from ir import Intent as Intent
from ir import MclError as MclError
from ir import PlanTree as PlanTree
from mcl.compiler.compiler import Clarify as Clarify
from mcl.compiler.compiler import Compiled as Compiled
from mcl.compiler.compiler import Refused as Refused
from mcl.core.home import open_home as open_home
from mcl.plugins.authoring import skills as skills
from mcl.plugins.checking import plans as plans
from mcl.plugins.checking.replay import Replay as Replay
from mcl.plugins.checking.replay import replay as replay
from mcl.plugins.mcp import activity as activity
from mcl.plugins.mcp import servers as servers
from mcl.plugins.memories import memories as memories
from mcl.plugins.rights import grants as grants
from mcl.usecases import config as config
from mcl.usecases import corrections as corrections
from mcl.usecases import gates as gates
from mcl.usecases import models as models
from mcl.usecases import policy as policy
from mcl.usecases import runs as runs
from mcl.usecases import tools as tools
from mcl.usecases.accept import Acceptance as Acceptance
from mcl.usecases.accept import accept as accept
from mcl.usecases.batch import compile_batch as compile_batch
from mcl.usecases.call import call_tool as call_tool
from mcl.usecases.compile import answer as answer
from mcl.usecases.compile import compile_goal as compile_goal
from mcl.usecases.corrections import Corrected as Corrected
from mcl.usecases.corrections import correct as correct
from mcl.usecases.do import do as do
from mcl.usecases.intents import Shown as Shown
from mcl.usecases.intents import Summary as Summary
from mcl.usecases.intents import cancel as cancel
from mcl.usecases.intents import list_intents as list_intents
from mcl.usecases.intents import show as show
from mcl.usecases.run import run as run
from mcl.usecases.runs import undo as undo
from mcl.usecases.verification import verify as verify

__version__: str
