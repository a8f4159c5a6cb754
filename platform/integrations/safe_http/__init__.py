"""HTTP calls to addresses that users influence, and to all services but the providers of models.

`client.Client` calls one of them. It connects to no address of the operator's own network, unless
OUTBOUND_ALLOWED lists that, and its calls are bounded in time and size.
"""
