import path from 'node:path';
import { root } from '../root.ts';

export type Counts = {
  passed: number;
  failed: number;
  skipped: number;
};

/** Milliseconds that each test file took, by its path. For Python, by its module. */
export type FileTimes = Record<string, number>;

/** The result of one stage. `failures` contains the failed tests, and the files that could not be loaded. */
export type StageReport = { counts: Counts; fileTimes: FileTimes; failures: string[] };

type VitestReport = {
  testResults: {
    name: string;
    startTime: number;
    endTime: number;
    status: string;
    assertionResults: { status: string; fullName: string }[];
  }[];
};

/** Reads vitest's JSON report. A file that could not be loaded counts as one failure. */
export function readVitestReport(json: string, name: string | null): StageReport {
  const report = JSON.parse(json) as VitestReport;
  const tests = report.testResults
    .flatMap(({ name: file, assertionResults }) => assertionResults.map((test) => ({ file, ...test })))
    // Do not count tests with another name. Vitest reports them as skipped, although the user did not select
    // them.
    .filter(({ fullName }) => name === null || fullName.includes(name));
  const passed = tests.filter(({ status }) => status === 'passed').length;
  const failedTests = tests.filter(({ status }) => status === 'failed');
  const failedFiles = report.testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  );
  return {
    counts: {
      passed,
      failed: failedTests.length + failedFiles.length,
      skipped: tests.length - passed - failedTests.length,
    },
    failures: [
      ...failedTests.map(({ file, fullName }) => `${relativeToRoot(file)} > ${fullName}`),
      ...failedFiles.map(({ name: file }) => relativeToRoot(file)),
    ],
    fileTimes: Object.fromEntries(
      report.testResults.map(({ name: file, startTime, endTime }) => [file, endTime - startTime]),
    ),
  };
}

/** Reads pytest's JUnit report. */
export function readJunitReport(xml: string): StageReport {
  const sum = (attribute: string) =>
    [...xml.matchAll(new RegExp(`<testsuite [^>]*?\\b${attribute}="(\\d+)"`, 'g'))].reduce(
      (total, [, count]) => total + Number(count),
      0,
    );
  const [failed, skipped] = [sum('failures') + sum('errors'), sum('skipped')];
  const fileTimes: FileTimes = {};
  for (const [, module = '', seconds] of xml.matchAll(
    /<testcase [^>]*?\bclassname="([^"]*)"[^>]*?\btime="([\d.]+)"/g,
  ))
    fileTimes[module] = (fileTimes[module] ?? 0) + Number(seconds) * 1_000;
  const failures = [...xml.matchAll(/<testcase ([^>]*[^/])>\s*<(?:failure|error)\b/g)].map(
    ([, attributes = '']) =>
      `${readAttribute(attributes, 'classname')} > ${readAttribute(attributes, 'name')}`,
  );
  return { counts: { passed: sum('tests') - failed - skipped, failed, skipped }, fileTimes, failures };
}

function readAttribute(attributes: string, name: string): string {
  return attributes.match(new RegExp(`\\b${name}="([^"]*)"`))?.[1] ?? '';
}

/** Returns the path to pass to `./bakehouse test`. */
export function relativeToRoot(file: string): string {
  return path.isAbsolute(file) ? path.relative(root, file) : file;
}

export function addCounts(a: Counts, b: Counts): Counts {
  return {
    passed: a.passed + b.passed,
    failed: a.failed + b.failed,
    skipped: a.skipped + b.skipped,
  };
}
