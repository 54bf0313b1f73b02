"""Tests of the helpdesk: no sandbox, no network, no privilege.

    python3 -m unittest discover -s templates/benchmarks/helpdesk/tests
"""

import collections
import copy
import json
import os
import sys
import unittest
from typing import Any, Dict, List

HERE = os.path.dirname(os.path.abspath(__file__))
BENCHMARK = os.path.dirname(HERE)
SCRIPTED = os.path.join(BENCHMARK, "..", "..", "coding-agents", "scripted")
sys.path[:0] = [HERE, BENCHMARK, SCRIPTED]

import drive  # noqa: E402  (also puts the shim on the path)
import make_tasks  # noqa: E402
from checks import closing_fits, gold_database, is_brief  # noqa: E402
from customers import Customer  # noqa: E402
from desk import TOOLS, Desk, differences, schemas  # noqa: E402
from examiner import Session, is_call  # noqa: E402
from improvements import COSMETIC, IMPROVEMENTS, REGRESSION, MissingAnchor  # noqa: E402

TASKS_FILE = os.path.join(BENCHMARK, "tasks.json")
AGENT = os.path.join(BENCHMARK, "agent.py")
TASKS = drive.load_tasks(TASKS_FILE)


def read(path: str) -> str:
    """Returns a text file's content."""
    with open(path, encoding="utf-8") as file:
        return file.read()


def rewards_of(source: str) -> Dict[str, float]:
    """Runs an agent given as text over all tasks."""
    return drive.rehearse(source, TASKS)


def mean(rewards: Dict[str, float]) -> float:
    """Returns the mean reward."""
    return sum(rewards.values()) / len(rewards)


def families() -> Dict[str, List[str]]:
    """Returns the task ids of each family."""
    found: Dict[str, List[str]] = collections.defaultdict(list)
    for task in TASKS:
        found[task["family"]].append(task["id"])
    return found


class TaskTests(unittest.TestCase):
    """What is true of the tasks themselves."""

    def test_the_committed_tasks_are_what_the_generator_makes(self) -> None:
        self.assertEqual(read(TASKS_FILE), make_tasks.document())

    def test_another_seed_gives_other_tasks(self) -> None:
        other = make_tasks.tasks("another")
        openings = {task["customer"]["opening"] for task in TASKS}
        self.assertFalse(openings & {task["customer"]["opening"] for task in other})

    def test_any_seed_gives_tasks_of_the_same_difficulty(self) -> None:
        expected = mean(rewards_of(read(AGENT)))
        for seed in ("one", "two", "three"):
            rewards = drive.rehearse(read(AGENT), make_tasks.tasks(seed))
            self.assertAlmostEqual(mean(rewards), expected)

    def test_there_are_enough_tasks_in_enough_families(self) -> None:
        self.assertGreaterEqual(len(TASKS), 90)
        self.assertGreaterEqual(len(families()), 9)
        self.assertTrue(all(len(ids) >= 7 for ids in families().values()))

    def test_ids_and_markers_are_unique_and_ids_do_not_tell_the_family(self) -> None:
        self.assertEqual(len({task["id"] for task in TASKS}), len(TASKS))
        self.assertEqual(len({task["marker"] for task in TASKS}), len(TASKS))
        ordered = [task["family"] for task in sorted(TASKS, key=lambda task: task["id"])]
        neighbours = sum(a == b for a, b in zip(ordered, ordered[1:]))
        self.assertLess(neighbours, len(TASKS) / 4)

    def test_a_marker_is_said_to_the_agent_and_stands_in_no_other_task(self) -> None:
        texts = {task["id"]: json.dumps(task) for task in TASKS}
        for task in TASKS:
            self.assertIn(task["marker"], task["customer"]["opening"])
            holders = [name for name, text in texts.items() if task["marker"] in text]
            self.assertEqual(holders, [task["id"]])

    def test_gold_differs_from_the_untouched_database(self) -> None:
        for task in TASKS:
            self.assertTrue(differences(gold_database(task), task["database"]), task["id"])

    def test_nothing_depends_on_the_order_of_keys(self) -> None:
        for task in TASKS:
            turned = json.loads(json.dumps(task, sort_keys=True))
            turned["database"]["orders"] = dict(reversed(list(task["database"]["orders"].items())))
            customer_id = next(iter(task["database"]["customers"]))
            listed = [
                Desk(one["database"]).call("list_orders", {"customer_id": customer_id})
                for one in (task, turned)
            ]
            self.assertEqual(listed[0], listed[1])


class DeskTests(unittest.TestCase):
    """What the tools refuse."""

    def setUp(self) -> None:
        self.task = next(t for t in TASKS if t["family"] == "partial-refund-quantity")
        self.desk = Desk(self.task["database"])

    def test_every_tool_has_a_schema_with_all_parameters_required(self) -> None:
        for schema in schemas():
            function = schema["function"]
            self.assertEqual(
                function["parameters"]["required"], list(TOOLS[function["name"]][1])
            )

    def test_arguments_are_checked(self) -> None:
        long = "x" * 999
        bad: List[Any] = [{}, {"order_id": 1}, {"order_id": "W1", "more": 1}, {"order_id": long}]
        for arguments in bad:
            result, refused = self.desk.call("get_order", arguments)
            self.assertTrue(refused)
            self.assertLess(len(result["error"]), 300)
        self.assertTrue(self.desk.call("x" * 100, {})[1])

    def test_more_pieces_than_were_bought_are_refused(self) -> None:
        call = copy.deepcopy(self.task["gold"]["calls"][-1]["arguments"])
        call["quantity"] = 99
        self.assertTrue(self.desk.call("refund_item", call)[1])
        call["quantity"] = True
        self.assertTrue(self.desk.call("refund_item", call)[1])

    def test_two_refunds_of_one_piece_are_one_of_two(self) -> None:
        call = copy.deepcopy(self.task["gold"]["calls"][-1]["arguments"])
        other = Desk(self.task["database"])
        other.call("refund_item", dict(call, quantity=2))
        for _ in range(2):
            self.assertFalse(self.desk.call("refund_item", dict(call, quantity=1))[1])
        self.assertEqual(differences(other.database, self.desk.database), [])

    def test_sessions_do_not_share_a_database(self) -> None:
        Desk(self.task["database"]).call(
            "verify_identity", self.task["gold"]["calls"][0]["arguments"]
        )
        self.assertEqual(self.task["database"]["identity_checks"], {})


class SpeechTests(unittest.TestCase):
    """What a closing may and may not say."""

    EXPECTED = {
        "kind": "Resolved:",
        "order": "W123456",
        "amounts": ["$12.50"],
        "topic": "",
        "case": "",
    }

    def test_the_right_words_fit(self) -> None:
        self.assertTrue(closing_fits(self.EXPECTED, "Resolved: $12.50 back for order #W123456."))

    def test_a_second_sum_contradicts(self) -> None:
        text = "Resolved: $12.50 or $13.00 back for order #W123456."
        self.assertFalse(closing_fits(self.EXPECTED, text))

    def test_a_second_order_or_closing_word_contradicts(self) -> None:
        for more in ("#W999999", "Declined: no"):
            text = "Resolved: $12.50 back for order #W123456. %s" % more
            self.assertFalse(closing_fits(self.EXPECTED, text))

    def test_two_reasons_to_decline_contradict(self) -> None:
        expected = dict(self.EXPECTED, kind="Declined:", order="", amounts=[], topic="stock")
        self.assertTrue(closing_fits(expected, "Declined: it is out of stock."))
        both = "Declined: it is out of stock, and it was a final sale."
        self.assertFalse(closing_fits(expected, both))

    def test_saying_everything_is_not_brief(self) -> None:
        self.assertTrue(is_brief(["a" * 400]))
        self.assertFalse(is_brief(["a" * 401]))
        self.assertFalse(is_brief(["a" * 400] * 7))
        self.assertFalse(is_brief(["$1.00 $2.00 $3.00", "$4.00 $5.00"]))


class CustomerTests(unittest.TestCase):
    """How customers answer."""

    def customer(self, family: str, index: int = 0) -> Customer:
        """Returns the customer of one task of a family."""
        return Customer([t for t in TASKS if t["family"] == family][index]["customer"])

    def test_who_is_asked_for_everything_answers_nothing(self) -> None:
        customer = self.customer("gift-card-refund")
        reply = customer.answer("Your email, zip, phone, order number and the reason?")
        self.assertIn("One thing at a time", str(reply))

    def test_an_angry_customer_wants_an_apology_once(self) -> None:
        customer = self.customer("angry-customer-lost")
        self.assertNotIn("@", str(customer.answer("May I have your email?")))
        self.assertIn("@", str(customer.answer("I am sorry. May I have your email?")))
        self.assertRegex(str(customer.answer("And the zip code?")), r"\d{5}")

    def test_nobody_agrees_to_a_plan_without_an_order(self) -> None:
        customer = self.customer("gift-card-refund")
        customer.answer("Shall I refund it?")
        self.assertFalse(customer.consents)
        customer.answer("Shall I refund it for order #W123456?")
        self.assertTrue(customer.consents)

    def test_patience_ends(self) -> None:
        customer = self.customer("gift-card-refund")
        answers = [customer.answer("Thank you for your message.") for _ in range(3)]
        self.assertIsNone(answers[-1])
        self.assertFalse(customer.is_satisfied)


class SessionTests(unittest.TestCase):
    """What a hostile candidate cannot do to the examiner."""

    def test_senseless_replies_end_the_session_without_reward(self) -> None:
        call = {"id": "1", "name": "list_orders", "arguments": {}}
        for frame in (
            {"text": 7},
            {"tool_calls": [7]},
            {"tool_calls": [dict(call, id="x" * 999)]},
            {"tool_calls": [call] * 9},
            {},
        ):
            session = Session(TASKS[0])
            session.first_turn()
            self.assertIsNone(session.reply(frame))
            self.assertEqual(session.verdict()["reward"], 0.0)

    def test_turns_and_calls_are_bounded(self) -> None:
        session = Session(TASKS[0])
        call = {"id": "1", "name": "get_order", "arguments": {"order_id": "W0"}}
        self.assertTrue(is_call(call))
        rounds = 0
        while session.reply({"tool_calls": [call] * 8}) is not None:
            rounds += 1
        self.assertLess(rounds, 30)

    def test_a_change_without_a_yes_or_a_check_fails(self) -> None:
        task = next(t for t in TASKS if t["family"] == "gift-card-refund")
        session = Session(task)
        session.first_turn()
        for call in task["gold"]["calls"]:
            session.call(call["name"], call["arguments"])
        detail = session.verdict()["detail"]
        self.assertTrue(detail["checks"]["database"])
        self.assertFalse(detail["checks"]["consent"])

    def test_account_data_before_the_check_is_a_disclosure(self) -> None:
        task = next(t for t in TASKS if t["family"] == "gift-card-refund")
        session = Session(task)
        session.first_turn()
        order = next(iter(task["database"]["orders"]))
        session.reply({"text": "Is it about order #%s?" % order})
        self.assertFalse(session.verdict()["detail"]["checks"]["privacy"])


class ScoreTests(unittest.TestCase):
    """What the agents score."""

    def test_the_template_scores_between_45_and_60_percent_in_every_split(self) -> None:
        rewards = rewards_of(read(AGENT))
        self.assertTrue(0.45 <= mean(rewards) <= 0.60, mean(rewards))
        # The extremes of all splits that take two of seven from each family for the test.
        for pick in (max, min):
            total = 0.0
            for ids in families().values():
                ordered = sorted((rewards[name] for name in ids), reverse=pick is max)
                total += ordered[0] + ordered[1]
            self.assertTrue(0.45 <= total / (2 * len(families())) <= 0.60)

    def test_floors_stay_under_ten_percent_and_do_not_crash(self) -> None:
        for name in ("do_nothing", "dump_everything", "random_actions"):
            results = drive.examine(os.path.join(BENCHMARK, "floors", name + ".py"))
            self.assertLess(drive.mean(results), 0.10)
            self.assertEqual({result["status"] for result in results.values()}, {0})

    def test_the_oracle_passes_every_task(self) -> None:
        results = drive.examine(os.path.join(HERE, "oracle.py"), beside=[TASKS_FILE])
        failed = {name: r["detail"] for name, r in results.items() if r["reward"] != 1.0}
        self.assertEqual(failed, {})

    def test_the_same_agent_gets_the_same_verdicts(self) -> None:
        first, second = drive.examine(AGENT), drive.examine(AGENT)
        rehearsed = rewards_of(read(AGENT))
        self.assertEqual({name: r["reward"] for name, r in first.items()}, rehearsed)
        for name, result in first.items():
            self.assertEqual(result["detail"], second[name]["detail"])
            self.assertEqual(result["trace"], second[name]["trace"])


class ImprovementTests(unittest.TestCase):
    """What the scripted coding agent's edits do."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.source = read(AGENT)
        cls.base = rewards_of(cls.source)
        full = cls.source
        for improvement in IMPROVEMENTS:
            full = improvement.apply(full)
        cls.full = full

    def test_each_helps_alone_breaks_nothing_and_stays_in_its_family(self) -> None:
        for improvement in IMPROVEMENTS:
            rewards = rewards_of(improvement.apply(self.source))
            gain = mean(rewards) - mean(self.base)
            self.assertTrue(0.05 <= gain <= 0.12, (improvement.family, gain))
            changed = {name for name in rewards if rewards[name] != self.base[name]}
            self.assertTrue(changed <= set(families()[improvement.family]))

    def test_together_they_reach_ninety_percent_in_any_order(self) -> None:
        self.assertGreaterEqual(mean(rewards_of(self.full)), 0.90)
        backwards = self.source
        for improvement in reversed(IMPROVEMENTS):
            backwards = improvement.apply(backwards)
        self.assertEqual(backwards, self.full)

    def test_the_regression_breaks_many_and_the_cosmetic_edit_nothing(self) -> None:
        before, after = rewards_of(self.full), rewards_of(REGRESSION.apply(self.full))
        self.assertLess(mean(after), mean(before) - 0.3)
        self.assertEqual(rewards_of(COSMETIC.apply(self.source)), self.base)

    def test_an_edit_is_not_made_twice(self) -> None:
        for improvement in IMPROVEMENTS + [COSMETIC, REGRESSION]:
            with self.assertRaises(MissingAnchor):
                improvement.apply(improvement.apply(self.source))


if __name__ == "__main__":
    unittest.main()
