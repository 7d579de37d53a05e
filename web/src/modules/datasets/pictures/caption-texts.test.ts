import { expect, test } from 'vitest';
import { captionKey, changesOf, countMissing, prependTrigger, withDrafts } from './caption-texts.ts';

const captions = [
  { path: 'a.png', line: null, text: 'a ball' },
  { path: 'b.png', line: null, text: '' },
  { path: 'c.png', line: null, text: 'a ZWK star' },
];

test('saves only changed captions', () => {
  const drafts = new Map([
    [' a.png', ' a  ball '],
    [' b.png', 'a tree'],
    [' gone.png', 'nothing'],
  ]);
  expect(changesOf(captions, drafts)).toEqual([{ path: 'b.png', line: null, text: 'a tree' }]);
  expect([countMissing(captions), countMissing(withDrafts(captions, drafts))]).toEqual([1, 0]);
});

test('adds the trigger word once to each caption without it', () => {
  const drafts = prependTrigger(captions, ' zwk ');
  expect([...drafts.values()]).toEqual(['zwk, a ball', 'zwk', 'a ZWK star']);
  expect(prependTrigger(withDrafts(captions, drafts), 'zwk')).toEqual(drafts);
});

test('a picture with several lines has a caption for each', () => {
  expect(captionKey({ path: 'a.png', line: 1 })).not.toBe(captionKey({ path: 'a.png', line: 2 }));
});
