"""Resources and prompts of other servers, through ours."""
