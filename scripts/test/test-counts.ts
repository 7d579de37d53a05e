export type Counts = {
  passed: number;
  failed: number;
  skipped: number;
};

type VitestReport = {
  testResults: {
    status: string;
    assertionResults: { status: string; fullName: string }[];
  }[];
};

/** Counts of vitest's JSON report. A file that could not even be loaded is one failure. */
export function countVitest(json: string, name: string | null): Counts {
  const report = JSON.parse(json) as VitestReport;
  const tests = report.testResults
    .flatMap(({ assertionResults }) => assertionResults)
    // Vitest lists tests of another name as skipped: they were not asked for.
    .filter(({ fullName }) => name === null || fullName.includes(name));
  const passed = tests.filter(({ status }) => status === 'passed').length;
  const failedTests = tests.filter(({ status }) => status === 'failed').length;
  const failedFiles = report.testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  ).length;
  return {
    passed,
    failed: failedTests + failedFiles,
    skipped: tests.length - passed - failedTests,
  };
}

/** Counts of pytest's JUnit report. */
export function countJunit(xml: string): Counts {
  const sum = (attribute: string) =>
    [...xml.matchAll(new RegExp(`<testsuite [^>]*?\\b${attribute}="(\\d+)"`, 'g'))].reduce(
      (total, [, count]) => total + Number(count),
      0,
    );
  const [failed, skipped] = [sum('failures') + sum('errors'), sum('skipped')];
  return { passed: sum('tests') - failed - skipped, failed, skipped };
}

export function addCounts(a: Counts, b: Counts): Counts {
  return {
    passed: a.passed + b.passed,
    failed: a.failed + b.failed,
    skipped: a.skipped + b.skipped,
  };
}
