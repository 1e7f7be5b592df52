"""The table of statements says what the tests cite and what became of it."""

import pytest


def test_statements_are_read_from_comments_in_and_above_tests(pytester: pytest.Pytester) -> None:
    pytester.makeconftest('pytest_plugins = ["tests.fixtures.statements"]')
    pytester.makepyfile(
        """
        import pytest

        # checklist 7, 9
        def test_above():
            pass

        @pytest.mark.parametrize("number", [1, 2])
        def test_inside(number):
            # checklist 11-13 and 20
            assert number == 1  # checklist 30

        def test_nothing():
            pass

        class TestGroup:
            def test_in_a_class(self):
                # checklist 7 8
                pytest.skip("not now")
        """
    )
    result = pytester.runpytest("--statements", "-p", "no:cacheprovider")
    result.stdout.fnmatch_lines(
        [
            "*statements of the checklist*",
            "   7  skipped test_above, test_in_a_class",
            "   8  skipped test_in_a_class",
            "   9  passed  test_above",
            "  11  failed  test_inside",
            "  12  failed  test_inside",
            "  13  failed  test_inside",
            "  20  failed  test_inside",
            "  30  failed  test_inside",
            "8 statements were looked at, 5 of them do not hold.",
        ],
        consecutive=False,
    )


def test_without_the_option_there_is_no_table(pytester: pytest.Pytester) -> None:
    pytester.makeconftest('pytest_plugins = ["tests.fixtures.statements"]')
    pytester.makepyfile("def test_it():\n    pass  # checklist 1\n")
    result = pytester.runpytest("-p", "no:cacheprovider")
    result.stdout.no_fnmatch_line("*statements of the checklist*")
