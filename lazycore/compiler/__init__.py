"""From a trace to a plan: graph build, rewrites, annotation, legalization, partition, plan. Imports no torch."""
