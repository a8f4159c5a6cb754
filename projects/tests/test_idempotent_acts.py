"""`Idempotency-Key`: a message, and another model for a part, are carried out once, however often
they are sent."""

from concurrent.futures import ThreadPoolExecutor

from projects.models import Step
from projects.tests.conftest import NewPrincipal
from projects.tests.principal import Principal, Shape, part

REPLAYED = "idempotency-replayed"


def completed(alice: Principal) -> Shape:
    return alice.finished(goal=alice.goal(part("a"), reply={"text": "Gladly."}))


def test_a_message_that_is_sent_three_times_is_one_and_is_answered_once(
    principal: NewPrincipal,
) -> None:
    alice = principal()
    run = completed(alice)
    path = f"/sessions/{run['id']}/message"
    with alice.follow(run) as follower, ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda _: alice.send("POST", path, "k", content="Hello?"), range(2)))
    assert [each.status_code for each in both] == [202, 202]
    assert sorted(each.headers.get(REPLAYED, "") for each in both) == ["", "true"]
    last = follower.pictures[-1]
    assert [(each["role"], each["number"]) for each in last["messages"]] == [
        ("user", 1),
        ("planner", 1),
    ]
    assert Step.objects.filter(run=run["id"], kind="reply").count() == 1
    alice.check_money(last)

    later = alice.send("POST", path, "k", content="Hello?")
    assert later.headers[REPLAYED] == "true"
    assert later.json() == last["messages"][0]
    other = alice.send("POST", path, "k", content="Goodbye.")
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_mismatch")


def test_the_same_key_is_another_message_in_another_run(principal: NewPrincipal) -> None:
    alice = principal()
    for run in (completed(alice), completed(alice)):
        with alice.follow(run):
            sent = alice.send("POST", f"/sessions/{run['id']}/message", "k", content="Hello?")
        assert (sent.json()["number"], REPLAYED in sent.headers) == (1, False)


def test_a_message_that_was_refused_leaves_its_key_free(principal: NewPrincipal) -> None:
    alice = principal()
    run = alice.finished(part("a"), approve_plan=True)
    path = f"/sessions/{run['id']}/message"
    for number in range(10):
        alice.do("POST", path, content=f"Message {number}")
    assert alice.send("POST", path, "k", content="Hello?").status_code == 409
    alice.do("POST", f"/sessions/{run['id']}/control", action="cancel")
    refused = alice.send("POST", path, "k", content="Hello?")
    assert (refused.status_code, refused.json()["code"]) == (409, "invalid_state")


def test_a_part_is_given_to_another_model_once(principal: NewPrincipal) -> None:
    alice = principal()
    run = completed(alice)
    [subtask] = run["subtasks"]
    path = f"/sessions/{run['id']}/reassign"
    body = {"subtask_id": subtask["id"], "model_key": "gpt-6-luna"}
    for replayed in (False, True):
        with alice.follow(run) as follower:
            answer = alice.send("POST", path, "k", **body)
        assert (answer.status_code, REPLAYED in answer.headers) == (202, replayed)
    [subtask] = follower.pictures[-1]["subtasks"]
    assert [each["reason"] for each in subtask["attempts"]] == ["initial", "reassign"]
