import { expect, it } from 'vitest';
import { addCounts, readJunitReport, readVitestReport } from './test-report.ts';

const result = (fullName: string, status: string) => ({ fullName, status });
const file = { name: 'a.test.ts', startTime: 1_000, endTime: 3_500 };

it("reads vitest's report", () => {
  const report = {
    testResults: [
      {
        ...file,
        status: 'failed',
        assertionResults: [
          result('adds', 'passed'),
          result('subtracts', 'failed'),
          result('later', 'skipped'),
        ],
      },
      { ...file, name: 'b.test.ts', status: 'failed', assertionResults: [] },
    ],
  };
  expect(readVitestReport(JSON.stringify(report), null)).toEqual({
    counts: { passed: 1, failed: 2, skipped: 1 },
    fileTimes: { 'a.test.ts': 2_500, 'b.test.ts': 2_500 },
    failures: ['a.test.ts > subtracts', 'b.test.ts'],
  });
});

it('counts only the tests with the given name', () => {
  const report = {
    testResults: [
      {
        ...file,
        status: 'passed',
        assertionResults: [result('money adds', 'passed'), result('ledger', 'skipped')],
      },
    ],
  };
  expect(readVitestReport(JSON.stringify(report), 'adds').counts).toEqual({
    passed: 1,
    failed: 0,
    skipped: 0,
  });
});

it("reads pytest's report", () => {
  const xml = `<?xml version="1.0"?><testsuites name="pytest tests">
    <testsuite name="pytest" errors="1" failures="2" skipped="3" tests="10" time="1.2">
      <testcase classname="tests.test_lora" name="test_a" time="0.5" />
      <testcase classname="tests.test_lora" name="test_b" time="0.25"><failure message="1 > 2">
      </failure></testcase></testsuite></testsuites>`;
  expect(readJunitReport(xml)).toEqual({
    counts: { passed: 4, failed: 3, skipped: 3 },
    fileTimes: { 'tests.test_lora': 750 },
    failures: ['tests.test_lora > test_b'],
  });
});

it('adds counts', () => {
  const one = { passed: 1, failed: 2, skipped: 3 };
  const other = { passed: 10, failed: 20, skipped: 30 };
  expect(addCounts(one, other)).toEqual({ passed: 11, failed: 22, skipped: 33 });
});
