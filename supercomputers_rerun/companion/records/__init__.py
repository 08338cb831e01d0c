"""Run records: JSON with a schema and a version, written atomically."""
