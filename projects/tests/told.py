"""A run in which every fact that a model may need is a word of its own, and what its models are
asked. It has happened in one transaction, without workers."""

import json

from django.core.files.base import ContentFile

from ai.catalog.selectors import get_catalog
from ai.generations.types import Completion
from ai.inference.errors import UpstreamFailed
from common.ids import uuid7
from common.money import NUSD_PER_CENT
from integrations.githosts.types import FILE, Entry
from integrations.workspaces.listings import pack
from integrations.workspaces.models import Checkout, CheckoutFile
from media.files.services.uploads import store
from projects.models import Run, Step
from projects.outputs import mark_of
from projects.selectors.prompts import ask
from projects.services import finishing, messages, runs
from projects.tests.principal import part
from projects.tests.world import World
from projects.types import StepKind
from tests.personas import new_user

FILES = {"src/app.py": "KEPT = 1\nWORDOLDLINE = 2\n", "src/tide.py": "WORDTIDE = 3\n"}
UPLOAD = "WORDUPLOADHEAD\n" + "x\n" * 2_000 + "WORDUPLOADTAIL\n"
PLAN = {
    "title": "Sea",
    "summary": "WORDSUMMARY",
    "final": {"instructions": "WORDFINAL"},
    "subtasks": [
        part("base", title="Base part", instructions="WORDBASEBRIEF", writes=["base.md"]),
        part("other", title="Other part", instructions="WORDOTHERBRIEF"),
        part("lost", title="Lost part"),
        part(
            "mine",
            "base",
            title="My part",
            instructions="WORDBRIEF",
            acceptance=["WORDPOINT"],
            reads=["src/tide.py"],
            writes=["src/app.py"],
        ),
    ],
}


def file(mark: str, op: str, path: str, *lines: str) -> str:
    return "\n".join([f"@@FILE {mark} {op} {path}", *lines, f"@@END {mark}"])


def summary(mark: str, text: str) -> str:
    return f"@@SUMMARY {mark}\n{text}\n@@END {mark}"


def revise(issue: str) -> str:
    return json.dumps({"verdict": "revise", "issues": [issue]})


class Told(World):
    """Alice's run. `asked` are the texts of all steps, by kind and subtask, in their order."""

    def __init__(self) -> None:
        super().__init__(max_parallel=1, budget_usd=None, approve_plan=False)
        self.alice = new_user("alice", plan="max", balance_usd=50)
        upload = store(user=self.alice, name="notes.txt", file=ContentFile(UPLOAD.encode()))
        self.run, _ = runs.start(
            user=self.alice,
            request_key=None,
            goal="WORDGOAL",
            planner_model="gpt-6-luna",
            max_subtasks=9,
            max_parallel=1,
            budget=731 * NUSD_PER_CENT,
            upload_ids=[upload.pk],
            checkout=self._checkout(),
        )
        assert self.run.checkout is not None
        CheckoutFile.objects.bulk_create(
            CheckoutFile(checkout=self.run.checkout, path=path, content=text, size=len(text))
            for path, text in FILES.items()
        )
        self.asked: dict[tuple[str, str], list[str]] = {}
        self._say("WORDMESSAGE")
        self._live()
        finishing.finish(user=self.alice, run_id=self.run.pk)
        self._live()

    def _checkout(self) -> Checkout:
        return Checkout(
            account=self.alice,
            workspace_id=uuid7(),
            provider="github",
            repository="alice/sea",
            url="https://example.com/alice/sea",
            branch="main",
            default_branch="main",
            commit="c" * 40,
            listing=pack(Entry(path, FILE, "a" * 40, len(text)) for path, text in FILES.items()),
            digest="WORDDIGEST",
            has_symbols=True,
        )

    def _say(self, text: str) -> None:
        messages.send(user=self.alice, run_id=self.run.pk, content=text)

    def _live(self) -> None:
        while self.active():
            step = self.begin(0)
            assert step is not None
            step.run = Run.objects.get(pk=self.run.pk)
            model = get_catalog().find(step.model)
            assert model is not None
            place = (step.kind, step.subtask.key if step.subtask is not None else "")
            texts = self.asked.setdefault(place, [])
            texts.append("\n\n".join(each.text for each in ask(step, model).messages))
            self._answer(step, place, len(texts))

    def _answer(self, step: Step, place: tuple[str, str], number: int) -> None:
        """End the step; `number` counts those of its place."""
        if place == ("work", "lost"):
            self.conclude(step, "released", Completion(failure=UpstreamFailed()))
            return
        if place == ("review", "mine") and number == 2:
            self._say("WORDLATER")
        text = self._text(place, number, mark_of(step.pk))
        self.conclude(step, "settled", Completion(content=text, finish_reason="stop"))

    def _text(self, place: tuple[str, str], number: int, mark: str) -> str:
        match place, number:
            case ("plan", _), _:
                return json.dumps(PLAN | {"subtasks": [{**part("a"), "key": "WORDBADKEY"}]})
            case ("repair", _), _:
                return json.dumps(PLAN)
            case ("reply", _), _:
                notes = [{"subtask": "mine", "text": "WORDNOTE"}]
                return json.dumps({"reply": "WORDREPLY", "notes": notes})
            case ("work", "base"), _:
                body = f"WORDBASEBODY {number}"
                base = file(mark, "create", "base.md", "WORDBASEFILE")
                return "\n".join([body, base, summary(mark, "WORDBASESUMMARY")])
            case ("review", "base"), _:
                return revise("WORDBASEISSUE")
            case ("work", "other"), _:
                return "\n".join(["WORDOTHERBODY", summary(mark, "WORDOTHERSUMMARY")])
            case ("work", "mine"), 1:
                return "WORDFORGOTTEN"
            case ("work", "mine"), 2:
                return "\n".join(["WORDBEFORE", file(mark, "update", "src/app.py", "KEPT = 1")])
            case ("work", "mine"), _:
                lines = [file(mark, "update", "src/app.py", "KEPT = 1", "WORDNEWLINE = 4")]
                return "\n".join(["WORDNOW", *lines, file(mark, "create", "../worderror", "x")])
            case ("review", "mine"), 1:
                return revise("WORDASKED")
            case ("final", _), _:
                return "The whole."
            case _:
                return '{"verdict": "accept"}'

    def told(self, column: str) -> str:
        """What the model of a column of the table is told."""
        place = (column, "") if column in _WITHOUT_SUBTASK else _OF_A_SUBTASK[column]
        texts = self.asked[(place[0], place[1])]
        return texts[_NUMBER.get(column, -1)]


_WITHOUT_SUBTASK = ("plan", "repair", "reply", "final")
_OF_A_SUBTASK = {
    "work": (StepKind.WORK, "mine"),
    "revision": (StepKind.WORK, "mine"),
    "review": (StepKind.REVIEW, "mine"),
}
# Of several steps, the first is the attempt that begins.
_NUMBER = {"work": 0}
