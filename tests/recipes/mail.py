"""The recipe *Add a kind of mail*: to a user who was removed from a team."""

from tests.recipes.recipe import Part, Recipe, after, before, noticed, replace, write

_KINDS = "accounts/tests/test_email_kinds.py"
_MEMBERS = "teams/tests/test_members.py"
_SENT = f"{_MEMBERS}::test_who_is_removed_gets_a_mail"
_TEMPLATES = "teams/templates/teams/emails"

_HTML = """\
{% extends "accounts/emails/base.html" %}
{% block content %}
<p>The account of {{ address }} at {{ product }} is in no team any more.</p>
{% include "accounts/emails/button.html" with label="Open your teams" %}
{% endblock %}
"""
_TXT = """\
{% autoescape off %}The account of {{ address }} at {{ product }} is in no team any more.

{{ link }}
{% endautoescape %}
"""
_KIND = '''

def _compose_removal(kind: EmailKind, email: OutgoingEmail) -> EmailMultiAlternatives:
    """The mail of a removal, whatever has happened since."""
    return email_kinds.render(kind, email.address)


REMOVAL = EmailKind(
    name="team_removal",
    subject="You were removed from a team",
    page="/teams",
    template="teams/emails/removal",
    compose=_compose_removal,
)
'''
_TEST = """

def test_who_is_removed_gets_a_mail(cast: Cast) -> None:
    cast.remove("alice", "charlie")
    subjects = [message.subject for message in delivered(cast.people["charlie"].user.email)]
    assert any("removed from a team" in subject for subject in subjects)
"""
_LAST_LINES = '    template="teams/emails/invitation",\n    compose=_compose,\n)\n'
_LAST_TEST = "def test_a_new_admin_may_what_admins_may_and_a_former_one_not(cast: Cast) -> None:\n"

RECIPE = Recipe(
    name="mail",
    title="Add a kind of mail",
    app="teams",
    tests=("make lint", _KINDS, _SENT),
    parts=(
        Part(
            1,
            "the text",
            (write(f"{_TEMPLATES}/removal.txt", _TXT),),
            noticed(_KINDS, says="TemplateDoesNotExist: teams/emails/removal.txt"),
        ),
        Part(
            1,
            "the page",
            (write(f"{_TEMPLATES}/removal.html", _HTML),),
            noticed(_KINDS, says="TemplateDoesNotExist: teams/emails/removal.html"),
        ),
        Part(
            2,
            "the kind",
            (after("teams/services/emails.py", _LAST_LINES, _KIND),),
            noticed("make missing-migrations", says="cannot import name 'REMOVAL'"),
        ),
        Part(
            2,
            "its registration",
            (
                replace(
                    "teams/apps.py",
                    "        from teams.services.emails import INVITATION\n",
                    "        from teams.services.emails import INVITATION, REMOVAL\n",
                ),
                after(
                    "teams/apps.py",
                    "        email_kinds.register(INVITATION)\n",
                    "        email_kinds.register(REMOVAL)\n",
                ),
            ),
            noticed(_SENT, says="KeyError: 'team_removal'"),
        ),
        Part(
            3,
            "the request",
            (
                after(
                    "teams/services/members.py",
                    "    _end_membership(other, Action.MEMBER_REMOVED, actor=user)\n",
                    "    request_email(kind=REMOVAL.name, address=other.account.email)\n",
                ),
                after(
                    "teams/services/members.py",
                    "from accounts.models import User\n",
                    "from accounts.services.emails import request_email\n",
                ),
                before(
                    "teams/services/members.py",
                    "from teams.services.locks import lock_membership, lock_team\n",
                    "from teams.services.emails import REMOVAL\n",
                ),
            ),
            noticed(_SENT, says="test_who_is_removed_gets_a_mail"),
        ),
        Part(
            4,
            "its test, and the changelog",
            (
                before(_MEMBERS, _LAST_TEST, _TEST.lstrip() + "\n\n"),
                before(
                    _MEMBERS,
                    "from conftest import Persona, persona\n",
                    "from accounts.tests.mailbox import delivered\n",
                ),
                before(
                    "CHANGELOG.md",
                    "- **Teams**: A team has an audit log.\n",
                    "- **Teams**: Whoever is removed from a team gets a mail.\n",
                ),
            ),
            None,
        ),
    ),
)
