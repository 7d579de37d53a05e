import { expect, it } from 'vitest';
import { splitPair } from './split-pair.ts';

const of = (...texts: string[]) => texts.map((text) => ({ text }));

it('splits two conversations at their first difference', () => {
  expect(splitPair(of('q', 'good'), of('q', 'bad', 'worse'))).toEqual({
    shared: of('q'),
    better: of('good'),
    worse: of('bad', 'worse'),
  });
  expect(splitPair(of('a'), of('b'))).toEqual({ shared: [], better: of('a'), worse: of('b') });
  expect(splitPair(of('q'), of('q', 'more'))).toEqual({ shared: of('q'), better: [], worse: of('more') });
  expect(splitPair(of('q'), of('q'))).toEqual({ shared: of('q'), better: [], worse: [] });
});
