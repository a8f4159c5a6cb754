"""What a picture, a film or a 3D model is, found out in a process of its own, with a thumbnail."""
