"""The parts of the operators' pages of all apps."""
