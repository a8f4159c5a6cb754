"""The providers of video and 3D models: their wires, and the files that they make."""
