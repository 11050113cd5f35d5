"""The quiet questions, asked with httpx before and after a run. Nothing here is measured load."""
