"""Resources and prompts of other servers, through ours."""

from mcl.serve.proxy.handlers import LEFT_OUT, REFUSED, Proxy

__all__ = ["LEFT_OUT", "REFUSED", "Proxy"]
