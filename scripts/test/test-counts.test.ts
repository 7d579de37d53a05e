import { expect, it } from 'vitest';
import { addCounts, countJunit, countVitest } from './test-counts.ts';

const result = (fullName: string, status: string) => ({ fullName, status });

it("counts vitest's report", () => {
  const report = {
    testResults: [
      {
        status: 'failed',
        assertionResults: [
          result('adds', 'passed'),
          result('subtracts', 'failed'),
          result('later', 'skipped'),
        ],
      },
      { status: 'failed', assertionResults: [] },
    ],
  };
  expect(countVitest(JSON.stringify(report), null)).toEqual({ passed: 1, failed: 2, skipped: 1 });
});

it('counts only the tests of a name', () => {
  const report = {
    testResults: [
      { status: 'passed', assertionResults: [result('money adds', 'passed'), result('ledger', 'skipped')] },
    ],
  };
  expect(countVitest(JSON.stringify(report), 'adds')).toEqual({
    passed: 1,
    failed: 0,
    skipped: 0,
  });
});

it("counts pytest's report", () => {
  const xml =
    '<?xml version="1.0"?><testsuites name="pytest tests"><testsuite name="pytest" errors="1" failures="2" skipped="3" tests="10" time="1.2">';
  expect(countJunit(xml)).toEqual({ passed: 4, failed: 3, skipped: 3 });
});

it('adds counts', () => {
  const one = { passed: 1, failed: 2, skipped: 3 };
  const other = { passed: 10, failed: 20, skipped: 30 };
  expect(addCounts(one, other)).toEqual({
    passed: 11,
    failed: 22,
    skipped: 33,
  });
});
