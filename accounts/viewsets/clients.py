"""From which client a request comes, as sessions remember it."""

from typing import TypedDict

from rest_framework.request import Request

from common.client_ip import client_ip_of


class Client(TypedDict):
    """`client_ip` is an address or the network of one; both are empty where there is none."""

    client_ip: str
    user_agent: str


def client_of(request: Request) -> Client:
    return {
        "client_ip": client_ip_of(request),
        "user_agent": request.headers.get("User-Agent", ""),
    }
