"""What all packages share and what knows none of them: `identity`, which fields beside the turns may be copied."""
