import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../server/src/config.ts';
import { environmentPython } from '../../server/src/engine/host/environment/environment.ts';
import { findBreaches, findOverBudget, type PublicFiles, type TreeFile } from './find-breaches.ts';
import { judge } from './judge.ts';
import listedFiles from './public-files.json' with { type: 'json' };
import { readSource } from './read-source.ts';

function typescript(file: string, text: string): TreeFile {
  const source = readSource(file, text);
  return { path: file, lines: text.split('\n').length, functions: source.functions, source };
}

/** Returns which rules these files break, and where. */
function breachesOf(files: Record<string, string>, publicFiles: PublicFiles = {}): string[] {
  const tree = Object.entries(files).map(([file, text]) => typescript(file, text));
  return findBreaches(tree, publicFiles).map(({ rule, where }) => `${rule} ${where}`);
}

const lines = (count: number) => Array.from({ length: count }, (_, n) => `// ${n}`).join('\n');

describe('files, functions and folders', () => {
  it('limits files to 400 lines', () => {
    expect(breachesOf({ 'web/src/a.ts': lines(400), 'web/src/b.ts': lines(401) })).toEqual([
      'file web/src/b.ts',
    ]);
  });

  it('fails a package that exceeds its budget of lines or files, not counting tests', () => {
    const files = ['web/src/a.ts', 'web/src/b.tsx', 'web/src/b.test.tsx'].map((file) =>
      typescript(file, lines(10)),
    );
    const check = (budget: { lines: number; files: number }) =>
      findOverBudget(files, { web: budget }).map(({ message }) => message.split(';')[0]);
    expect(check({ lines: 20, files: 2 })).toEqual([]);
    expect(check({ lines: 19, files: 2 })).toEqual(['20 lines in 2 source files']);
    expect(check({ lines: 20, files: 1 })).toEqual(['20 lines in 2 source files']);
  });

  it('does not count lines of data files', () => {
    expect(findBreaches([{ path: 'models/judge.json', lines: null, functions: [], source: null }])).toEqual(
      [],
    );
  });

  it('limits functions to 70 lines, however they are written', () => {
    const body = (count: number) => `{\n${lines(count - 2)}\n}`;
    expect(
      breachesOf({
        'server/src/fits.ts': `export function fits() ${body(70)}`,
        'server/src/long.ts': `function long() ${body(71)}`,
        'server/src/arrow.ts': `const arrow = async () => ${body(71)};`,
        'server/src/method.ts': `const thing = { method() ${body(71)} };`,
        'server/src/callback.ts': `inTransaction(db, async () => ${body(71)});`,
      }),
    ).toEqual([
      'function server/src/long.ts#long',
      'function server/src/arrow.ts#arrow',
      'function server/src/method.ts#method',
      'function server/src/callback.ts#inTransaction',
    ]);
  });

  it('does not count a group of tests as a function, but counts each of its tests', () => {
    const test = (count: number) => `it('works', () => {\n${lines(count - 2)}\n});`;
    const group = `describe('a', () => {\n${test(60)}\n${test(60)}\n});`;
    expect(breachesOf({ 'server/src/a.test.ts': group })).toEqual([]);
    expect(
      breachesOf({ 'server/src/a.test.ts': `describe.each([1])('a', () => {\n${test(71)}\n});` }),
    ).toEqual(['function server/src/a.test.ts#it']);
  });

  it('measures functions of Python', async () => {
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'structure-')), 'a.py');
    writeFileSync(
      file,
      'class A:\n    async def m(\n        self,\n    ) -> str:\n        return """\nx\n"""\n\n\nx = 1\n',
    );
    const program = path.join(import.meta.dirname, 'measure_functions.py');
    const output = execFileSync(await environmentPython(readConfig(process.env)), [program, file], {
      encoding: 'utf8',
    });
    expect(JSON.parse(output)).toEqual({ [file]: [{ name: 'm', line: 2, lines: 6 }] });
    const long = { name: 'm', line: 2, lines: 71 };
    expect(
      findBreaches([{ path: 'runtime/a.py', lines: 80, functions: [long], source: null }]).map(
        ({ where }) => where,
      ),
    ).toEqual(['runtime/a.py#m']);
  });

  it('limits folders to 25 files, not counting tests and subfolders', () => {
    const folder = (name: string, count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`${name}/${n}.ts`, '']));
    expect(
      breachesOf({ ...folder('web/src/a', 25), 'web/src/a/1.test.ts': '', ...folder('web/src/a/b', 26) }),
    ).toEqual(['folder web/src/a/b']);
  });
});

describe('crumbs', () => {
  const home = 'server/src/modules/billing/send.ts';
  const crumb = (file: string, from = './small.ts') => ({
    [file]: lines(12),
    [home]: `import '${from}';\n${lines(20)}`,
  });
  const small = 'server/src/modules/billing/small.ts';

  it('rejects a file of at most 12 lines that one other file of its module imports', () => {
    expect(breachesOf(crumb(small))).toEqual([`crumb ${small}`]);
    expect(breachesOf({ ...crumb(small), [small]: lines(13) })).toEqual([]);
  });

  it.each([
    ['a second file imports', { 'server/src/modules/billing/buy.ts': "import './small.ts';" }],
    ['a test imports', { 'server/src/modules/billing/small.test.ts': "import './small.ts';" }],
  ])('allows a small file that %s', (_why, more) => {
    expect(breachesOf({ ...crumb(small), ...more })).toEqual([]);
  });

  it('permits a small file that another module imports, that is a job, or that routes bind', () => {
    expect(breachesOf(crumb('server/src/modules/accounts/small.ts', '../accounts/small.ts'))).toEqual([]);
    expect(breachesOf(crumb('server/src/modules/billing/jobs/small.ts', './jobs/small.ts'))).toEqual([]);
    const bound = { [small]: '// small', 'server/src/modules/billing/routes.ts': "import './small.ts';" };
    expect(breachesOf(bound)).toEqual([]);
  });
});

describe('modules', () => {
  const user = 'server/src/modules/fine-tuning/start-run.ts';
  const hold = 'server/src/modules/billing/hold-credits.ts';
  const publicFiles = { 'server/src/modules/billing': ['hold-credits.ts'] };
  const importing = (names: string, file = 'hold-credits') =>
    `import { ${names} } from '../billing/${file}.ts';`;

  it("allows imports of another module's public files, and of any type", () => {
    expect(breachesOf({ [user]: importing('holdCredits, HOLD_MS') }, publicFiles)).toEqual([]);
    expect(breachesOf({ [user]: importing('type Hold', 'queries') })).toEqual([]);
  });

  it("rejects imports and re-exports of another module's private files", () => {
    expect(breachesOf({ [user]: importing('insertHold', 'queries') })).toEqual([
      'private server/src/modules/billing/queries.ts',
    ]);
    expect(breachesOf({ [user]: "export { findWorkload } from '../../engine/queries.ts';" })).toEqual([
      'private server/src/engine/queries.ts',
    ]);
  });

  it('rejects a public file that no other module imports', () => {
    expect(breachesOf({ [user]: importing('type Hold') }, publicFiles)).toEqual([`private ${hold}`]);
  });

  it('lets tests, the same module and the assembling file import everything', () => {
    expect(
      breachesOf({
        'server/src/modules/fine-tuning/start-run.test.ts': importing('a', 'queries'),
        'server/src/modules/fine-tuning/testing/start-runs.ts':
          "import { a } from '../../billing/queries.ts';",
        'server/src/modules/billing/quote.ts': "import { a } from './queries.ts';",
        'server/src/app.ts': "import { a } from './modules/billing/queries.ts';",
      }),
    ).toEqual([]);
  });

  it('keeps the SQL and the routes of server modules private', () => {
    const files = Object.entries(listedFiles).filter(([folder]) => folder.startsWith('server/'));
    expect(
      files.flatMap(([, names]) => names.filter((name) => /(^|[/-])(queries|routes)\.ts$/.test(name))),
    ).toEqual([]);
  });
});

describe('the contract', () => {
  const contract = 'contract/src/credits.ts';

  it('rejects an entry that no other file uses', () => {
    const text = 'export type Use = 1;\nexport const uses = [1];\nexport const idle = uses;';
    expect(
      breachesOf({
        [contract]: text,
        'web/src/lib/a.ts': "import { type Use, uses } from '@bakehouse/contract/credits';",
      }),
    ).toEqual([`contract ${contract}#idle`]);
  });

  it('rejects an endpoint that the server does not bind, even if other files import or list it', () => {
    const files = {
      [contract]: "export const getBalance = endpoint({ method: 'GET' });",
      'web/src/lib/a.ts': "import { getBalance } from '@bakehouse/contract/credits';",
      'server/src/operation-ids.ts':
        "import * as credits from '@bakehouse/contract/credits';\nlist([credits]);",
      'server/src/a.test.ts': "import { getBalance } from '@bakehouse/contract/credits';",
    };
    expect(breachesOf(files)).toEqual([`contract ${contract}#getBalance`]);
    const routes = "import * as contract from '@bakehouse/contract/credits';\nbind(contract.getBalance);";
    expect(breachesOf({ ...files, 'server/src/modules/billing/routes.ts': routes })).toEqual([]);
  });

  it('counts every entry as used if the namespace is spread', () => {
    const spread = "import * as report from '@bakehouse/contract/credits';\nmake({ ...report });";
    expect(breachesOf({ [contract]: 'export const line = 1;', 'scripts/gen.ts': spread })).toEqual([]);
    // Its name begins with the name of the entry, but is another one.
    const other = "import * as report from '@bakehouse/contract/credits';\nmake({ ...reports });";
    expect(breachesOf({ [contract]: 'export const line = 1;', 'scripts/gen.ts': other })).toEqual([
      `contract ${contract}#line`,
    ]);
  });

  it('counts every entry except endpoints as used if the namespace is listed', () => {
    const listed =
      "import * as credits from '@bakehouse/contract/credits';\nconst modules = [\n  credits,\n];";
    const source = "export const line = 1;\nexport const getLine = endpoint({ method: 'GET' });";
    expect(breachesOf({ [contract]: source, 'server/src/names.ts': listed })).toEqual([
      `contract ${contract}#getLine`,
    ]);
  });
});

describe('exceptions', () => {
  const breach = { rule: 'file', where: 'web/src/a.ts', message: 'too long' } as const;
  const exception = { rule: 'file', where: 'web/src/a.ts', reason: 'a table' } as const;

  it('allows listed breaches, by rule and place', () => {
    expect(judge([breach], [exception])).toEqual([]);
    expect(judge([breach], [])).toEqual(['web/src/a.ts: too long']);
    expect(judge([{ ...breach, rule: 'folder' }], [exception])).toHaveLength(2);
  });

  it('rejects an unused exception', () => {
    expect(judge([], [exception])).toEqual([expect.stringMatching(/^web\/src\/a\.ts: no longer breaks/)]);
  });

  it('rejects an exception that is listed twice, even with different reasons', () => {
    expect(judge([breach], [exception, { ...exception, reason: 'another' }])).toEqual([
      expect.stringMatching(/^web\/src\/a\.ts: stands twice/),
    ]);
  });
});
