import { type CallExpression, parseSync, Visitor } from 'oxc-parser';
import type { Repository } from './find-broken-references.ts';
import { readRows } from './read-rows.ts';

const NUMBER = /(?<![\w/.-])\d+(?:\.\d+)?(?![\w/])/g;
const FIELD = /`(\w+)`/g;
const QUOTED = /(?<!\w)'([^']+(?:'[a-z][^']*)*)'/g;
/** Matches calls that assert something, or that move the clock on which an assertion depends. */
const ASSERTS = /^(?:expect\b|[\w.]+\.(?:advance|findBy|getBy)\w*\()/;
/** Factors, because a test may express the seconds or minutes of a row in milliseconds. */
const SCALES = [1, 1_000, 60_000];

/**
 * Returns the numbers, quoted texts and fields (`name`) of rows in docs/specification.md that none of their
 * tests asserts. Such a test would pass with any value. Also returns entities that are tested only in a
 * browser, which does not show everything that a call returns.
 */
export function findUntestedValues(document: string, { read }: Pick<Repository, 'read'>): string[] {
  return readRows(document).flatMap(({ at, section, line, tests }) => {
    if (tests.length === 0) return [];
    const code = tests.map(({ file, title }) => codeOf(file, read(file) ?? '', title)).join('\n');
    const plain = code.replaceAll(/(?<=\d)_(?=\d)/g, '').replaceAll(/\s+/g, ' ');
    const fields = [...line.matchAll(FIELD)].map(([, name = '']) => name);
    const said = line.replaceAll(FIELD, '').replaceAll(QUOTED, '');
    const numbers = [...said.matchAll(NUMBER)].map(([number]) => number);
    const quoted = [...line.matchAll(QUOTED)].map(([, text = '']) => text);
    const untested = [
      ...fields.filter((name) => !new RegExp(`\\b${name}\\b`).test(plain)),
      ...numbers.filter((number) => !hasNumber(plain, Number(number))),
      ...quoted.filter((text) => !plain.includes(text.replace(/\{.*/s, ''))).map((text) => `'${text}'`),
    ];
    const journeysOnly = section.includes('Entities') && tests.every(({ file }) => file.startsWith('e2e/'));
    return [
      ...untested.map((value) => `${at}: ${value} stands in none of its tests`),
      ...(journeysOnly ? [`${at}: an entity needs a test of its call, not journeys alone`] : []),
    ];
  });
}

function hasNumber(code: string, number: number): boolean {
  return SCALES.some((scale) => {
    const digits = String(number * scale).replace('.', '\\.');
    return new RegExp(`(?<![\\d.])${digits}(?!\\.?\\d)`).test(code);
  });
}

/** Returns tables, assertions and clock changes of the tests with this title; without any, the file. */
function codeOf(file: string, source: string, title: string): string {
  const tests: CallExpression[] = [];
  const asserted: CallExpression[] = [];
  const visitor = new Visitor({
    CallExpression(call) {
      const [first] = call.arguments;
      if (first?.type === 'Literal' && first.value === title) tests.push(call);
      if (ASSERTS.test(source.slice(call.start, call.end))) asserted.push(call);
    },
  });
  visitor.visit(parseSync(file, source).program);
  if (tests.length === 0) return source;
  const within = (test: CallExpression) =>
    asserted.filter(({ start, end }) => start > test.callee.end && end < test.end);
  return tests
    .flatMap((test) => [test.callee, ...within(test)])
    .map(({ start, end }) => source.slice(start, end))
    .join('\n');
}
