"""The admin's date formats: those of logs and interfaces."""
