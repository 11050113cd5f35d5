"""Model to workload, pure and seeded."""
