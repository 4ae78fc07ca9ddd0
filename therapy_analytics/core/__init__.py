"""What all other packages share."""
