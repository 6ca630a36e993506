"""Tools of this plug-in: a folder a namespace, a manifest beside each adapter."""
