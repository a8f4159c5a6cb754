"""What the operators' pages of all apps are made of."""
