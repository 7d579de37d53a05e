import { expect, test } from 'vitest';

const sources = import.meta.glob<string>('./**/*.{ts,tsx}', {
  eager: true,
  query: '?raw',
  import: 'default',
});

/** A class with a fixed size of its own, such as text-[13px]. Sizes computed from the window are allowed. */
const FIXED_SIZE =
  /\b(?:text|leading|tracking|gap|size|[hwpm][xytblr]?|(?:min|max)-[hw])-\[[\d.]+(?:px|r?em)?\]/g;

test('classes take their sizes from the type and spacing scale', () => {
  const found = Object.entries(sources)
    .filter(([path]) => !path.endsWith('size-tokens.test.ts'))
    .flatMap(([path, text]) => (text.match(FIXED_SIZE) ?? []).map((name) => `${path}: ${name}`));
  expect(found).toEqual([]);
  expect('h-[26rem] text-[13px] w-[50%]'.match(FIXED_SIZE)).toEqual(['h-[26rem]', 'text-[13px]']);
});
