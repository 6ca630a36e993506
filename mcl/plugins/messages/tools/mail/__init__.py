"""Mail: drafts in files, and sending."""
