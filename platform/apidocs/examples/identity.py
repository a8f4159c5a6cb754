"""What a component shows: whose id its `id` is, and which other one shows the same."""

import re

from apidocs.examples.story import ID

OWN_IDS = {
    "CouncilMessage": "card_message",
    "CouncilSession": "council",
    "Job": "image_job",
    "JobStatus": "asset_job",
    "Message": "reply",
    "ProjectApplyResult": "apply",
    "ProjectDocument": "run",
    "ProjectSession": "run",
    "TeamAuditEntry": "audit",
    "UsageRecord": "charge",
}

# By the component. Its fields are those of the other one, unless they have samples of their own.
SAME = {
    "CompletionChunk": "Completion",
    "CouncilMergeCompletedData": "CouncilMergeStartedData",
    "CouncilMergeFailedData": "CouncilMergeStartedData",
    "ExportedAttachment": "Upload",
    "ExportedMessage": "Message",
    "FrameErrorData": "CallError",
    "JobError": "CallError",
    "JobEstimate": "Job",
    "MessageAttachment": "Upload",
    "NewApiKey": "ApiKey",
    "Profile": "User",
    "ProjectErrorData": "CallError",
    "ProjectFileStagedData": "ProjectFileInEvent",
    "ProjectProposal": "ProjectApplyResult",
    "ProjectRepository": "Repository",
    "ReadAttachment": "Upload",
    "ReceivedTeamInvite": "TeamInvite",
    "SpaceOwner": "User",
    "TeamInviter": "User",
    "TeamMember": "User",
}

# How components are called that show another one, or a part of it, or more.
_FORMS = re.compile(r"(.+)(?:InEvent|Created|Row|Detail|Document)")


def shown_like(component: str) -> str:
    """The component that shows the same; the same one where there is no other."""
    form = _FORMS.fullmatch(component)
    return SAME.get(component) or (form[1] if form else component)


def thing_of(component: str) -> str:
    """Whose id the `id` of a component is: by `OWN_IDS`, or by the end of its name; "" where it has
    none."""
    shown = shown_like(component)
    words = re.findall("[A-Z][a-z]*", shown)
    ends = ("_".join(words[start:]).lower() for start in range(len(words)))
    by_name = next((end for end in ends if end in ID), "")
    return OWN_IDS.get(component) or OWN_IDS.get(shown, by_name)
