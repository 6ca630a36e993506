"""Tables and pictures of them."""
