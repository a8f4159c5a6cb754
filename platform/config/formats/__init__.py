"""How the admin writes times: as logs and the interfaces do, not as people talk."""
