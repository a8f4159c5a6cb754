"""The demo accounts of the local default, and the 30 days that lie behind them."""
