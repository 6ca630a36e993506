"""The variables of the environment that several rooms read, by their names."""

AGENT = "MCL_AGENT"  # what an agent is called
HOME = "MCL_HOME"  # the folder of the home
PASSPHRASE = "MCL_PASSPHRASE"  # noqa: S105  # of sealed keys
