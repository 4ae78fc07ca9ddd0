"""Process: what therapist and client do over the whole session."""
