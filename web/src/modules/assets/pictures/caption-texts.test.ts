import { expect, test } from 'vitest';
import { captionKey, changesOf, countMissing, withDrafts, withTrigger } from './caption-texts.ts';

const captions = [
  { path: 'a.png', line: null, text: 'a ball' },
  { path: 'b.png', line: null, text: '' },
  { path: 'c.png', line: null, text: 'a ZWK star' },
];

test('only what says something else is saved', () => {
  const drafts = new Map([
    [' a.png', ' a  ball '],
    [' b.png', 'a tree'],
    [' gone.png', 'nothing'],
  ]);
  expect(changesOf(captions, drafts)).toEqual([{ path: 'b.png', line: null, text: 'a tree' }]);
  expect([countMissing(captions), countMissing(withDrafts(captions, drafts))]).toEqual([1, 0]);
});

test('the trigger word is put before each caption that does not have it, once', () => {
  const drafts = withTrigger(captions, ' zwk ');
  expect([...drafts.values()]).toEqual(['zwk, a ball', 'zwk', 'a ZWK star']);
  expect(withTrigger(withDrafts(captions, drafts), 'zwk')).toEqual(drafts);
});

test('a picture of several lines has a caption for each', () => {
  expect(captionKey({ path: 'a.png', line: 1 })).not.toBe(captionKey({ path: 'a.png', line: 2 }));
});
