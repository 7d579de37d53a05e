import { glob, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { run } from '../child.ts';
import type { Command } from '../command.ts';
import { PlainError } from '../plain-error.ts';
import { ensureChromium } from '../prepare/install-chromium.ts';
import { preparePython, prepareStarterModel } from '../prepare/python-environment.ts';
import { ensureWebBuild } from '../prepare/web-build.ts';
import { type Durations, inMinutes, readDurations, saveDurations } from './durations.ts';
import { planTests, type Selection, type TestPlan } from './plan-tests.ts';
import { type FinishedStage, printSummary } from './summary.ts';
import {
  addCounts,
  type Counts,
  readJunitReport,
  readVitestReport,
  type StageReport,
} from './test-report.ts';

const testFiles = [
  '{contract,server,web,scripts,e2e}/**/*.test.{ts,tsx}',
  '{models,runtime}/tests/**/test_*.py',
];
const none: Counts = { passed: 0, failed: 0, skipped: 0 };
const empty: StageReport = { counts: none, fileTimes: {}, failures: [] };
/** Exit code of pytest if there is no matching test. */
const NO_TESTS = 5;

/**
 * Runs the gate, the selected tests, or the soak tier. Then prints the time of each stage, the slowest files,
 * the failed tests, and the line `N passed, N failed, N skipped`.
 */
export const test: Command = async ({ words, soak }) => {
  const plan = planTests(words, await readTestFiles(), { soak });
  const nothingFits = () => new PlainError(`No path or name of a test contains '${words.join(' ')}'.`);
  const stages = stagesOf(plan, soak);
  if (stages.length === 0) throw nothingFits();
  if (soak) process.env.BAKEHOUSE_TEST_SOAK = 'true';
  const isWhole = words.length === 0 && !soak;
  const last = isWhole ? await readDurations() : {};
  const reports = await mkdtemp(path.join(tmpdir(), 'bakehouse-tests-'));
  let counts = none;
  const finished: FinishedStage[] = [];
  try {
    const python = await preparePython('tests');
    await prepareStarterModel();
    for (const [index, { title, run: runStage }] of stages.entries()) {
      console.log(`\n=== ${title}${expectation(stages.slice(index), last)}`);
      const startedAt = performance.now();
      const report = await runStage(reports, python).catch(printFailure);
      counts = addCounts(counts, report.counts);
      const ms = performance.now() - startedAt;
      finished.push({ ...report, title, ms });
      if (isWhole) await saveDurations({ [title]: ms });
    }
  } finally {
    await rm(reports, { recursive: true });
  }
  printSummary(finished);
  console.log(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  // Some files contain the words, but none has a test with that name.
  if (words.length > 0 && counts.passed + counts.failed + counts.skipped === 0) throw nothingFits();
  return counts.failed === 0 ? 0 : 1;
};

type Stage = { title: string; run: (reports: string, python: string) => Promise<StageReport> };

function stagesOf({ units, runtime, journeys }: TestPlan, soak: boolean): Stage[] {
  const stages: Stage[] = [];
  if (units)
    stages.push({
      title: 'contract, scripts, server, web',
      run: (reports) => runVitest(units, '!journeys', reports),
    });
  if (runtime)
    stages.push({
      title: 'runtime',
      run: (reports, python) => runPytest(runtime, { python, reports, soak }),
    });
  if (journeys)
    stages.push({
      title: 'journeys',
      run: async (reports) => {
        await ensureChromium();
        await ensureWebBuild();
        return runVitest(journeys, 'journeys', reports);
      },
    });
  return stages;
}

/** Returns the expected duration of the first of these stages, and of all of them, as far as known. */
function expectation(stages: Stage[], last: Durations): string {
  const known = stages.map(({ title }) => last[title]).filter((ms) => ms !== undefined);
  const [first] = known;
  if (first === undefined || known.length < stages.length) return '';
  const all = known.reduce((total, ms) => total + ms, 0);
  return stages.length > 1
    ? `: ${inMinutes(first)}, and ${inMinutes(all)} with the rest`
    : `: ${inMinutes(first)}`;
}

async function runVitest({ files, name }: Selection, project: string, reports: string): Promise<StageReport> {
  const report = path.join(reports, `${project}.json`);
  const args = ['run', '--project', project, '--passWithNoTests'];
  args.push(
    ...['--reporter=default', '--reporter=scripts/test/progress-reporter.ts', '--reporter=json'],
    `--outputFile.json=${report}`,
    ...(name ? ['--testNamePattern', literal(name)] : []),
    ...(files ?? []),
  );
  const code = await run('node_modules/.bin/vitest', args);
  const json = await readFile(report, 'utf8').catch(() => null);
  return withFailedRunner(code, json === null ? empty : readVitestReport(json, name));
}

async function runPytest(
  { files, name }: Selection,
  { python, reports, soak }: { python: string; reports: string; soak: boolean },
): Promise<StageReport> {
  const report = path.join(reports, 'pytest.xml');
  const args = [
    '-m',
    'pytest',
    '--config-file=runtime/pyproject.toml',
    '--rootdir=runtime',
    `--junitxml=${report}`,
    // Each process uses one thread. Tests of a file run in the same process, because they share fixtures.
    ...['--numprocesses', 'auto', '--maxprocesses', '4', '--dist', 'loadfile', '--no-loadscope-reorder'],
  ];
  if (soak) args.push('-m', 'soak');
  args.push(...(name ? ['-k', nameExpression(name)] : []), ...(files ?? ['runtime/tests', 'models/tests']));
  const code = await run(python, args);
  const xml = await readFile(report, 'utf8').catch(() => null);
  return withFailedRunner(code === NO_TESTS ? 0 : code, xml === null ? empty : readJunitReport(xml));
}

/** If a runner failed without a failed test, for example before its first test, counts one failure. */
function withFailedRunner(code: number, report: StageReport): StageReport {
  const { counts } = report;
  if (code === 0 || counts.failed > 0) return report;
  return { ...report, counts: { ...counts, failed: 1 }, failures: [`the test runner exited with ${code}`] };
}

function printFailure(error: unknown): StageReport {
  if (!(error instanceof PlainError)) throw error;
  console.error(error.message);
  return { ...empty, counts: { ...none, failed: 1 }, failures: [error.message] };
}

/** Returns the text of each test file by its path, sorted by path. */
async function readTestFiles(): Promise<Map<string, string>> {
  const files: string[] = [];
  const exclude = (entry: string) => entry.includes('node_modules');
  for await (const file of glob(testFiles, { exclude })) files.push(file);
  const texts = files.sort().map(async (file) => [file, await readFile(file, 'utf8')] as const);
  return new Map(await Promise.all(texts));
}

/** Returns an expression for pytest that every word of the name must match. */
function nameExpression(name: string): string {
  const words = name.match(/\w+/g) ?? [];
  return words.filter((word) => !['and', 'or', 'not'].includes(word)).join(' and ');
}

function literal(name: string): string {
  return name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
