"""Hooks of Schemathesis outside of a soak: of cases about the same rule it sends the first ones."""

import re
from collections import Counter

import schemathesis
from schemathesis.generation.meta import CoveragePhaseData, CoverageScenario

# Operations at which a rule of a field of one name is tried: many have a `limit`, and all take it alike.
OPERATIONS_MAX = 2
# Each is about its whole operation, whatever its parameter is called.
OF_AN_OPERATION = {
    CoverageScenario.UNSPECIFIED_HTTP_METHOD,
    CoverageScenario.MISSING_PARAMETER,
    CoverageScenario.MALFORMED_CONTENT_TYPE,
    CoverageScenario.UNSUPPORTED_CONTENT_TYPE,
}

tried = Counter()


@schemathesis.hook
def filter_case(context, case):
    rule = case.meta.phase.data if case.meta else None
    if not isinstance(rule, CoveragePhaseData):
        return True
    # Every wrong type and every method that does not exist would be a case of its own.
    description = (
        "" if rule.scenario is CoverageScenario.UNSPECIFIED_HTTP_METHOD else rule.description
    )
    about = (case.meta.generation.mode, rule.scenario, rule.parameter_location, rule.parameter)
    if not is_within((case.operation.label, *about, description, rule.location), 1):
        return False
    field = field_rule(rule)
    return field is None or is_within((*about, field), OPERATIONS_MAX)


def field_rule(rule):
    """The innermost field and what is tried with it; None where it is about the whole that is sent."""
    if rule.scenario in OF_AN_OPERATION or rule.parameter is None:
        return None
    innermost = re.split(" -> |Object with valid ", rule.description)[-1]
    names_field = rule.parameter_location != "body" or ": " in innermost or "'" in innermost
    return innermost if names_field else None


def is_within(what, most):
    tried[what] += 1
    return tried[what] <= most
