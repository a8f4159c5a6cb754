"""Pictures of the admin for the documents, taken in a real browser of a service with demo data."""
