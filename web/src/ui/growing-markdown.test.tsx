import { render } from '@testing-library/react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { extendMarkdown, type Parsed, type StreamedMarkdown } from './growing-markdown.ts';
import { GrowingMarkdown, parseMarkdown } from './markdown-content.tsx';

/** Rendered HTML without line breaks between blocks. */
const html = (drawn: React.ReactNode) =>
  renderToStaticMarkup(drawn)
    .replace(/>\n+|\n+<|\n+(?=&lt;)/g, (gap) => gap.trim())
    .trim();
const htmlOf = ({ closed, rest }: StreamedMarkdown) =>
  html([...closed, rest.drawn].map((piece) => <>{piece}</>));

const texts = {
  paragraphs: 'One\ntwo\n\nThree **four**\n\n# Five\nSix\n===\n\n---\n\nSeven',
  'code fences':
    'See:\n\n```js\nconst a = 1;\n\n# no heading\n```\n\nand\n\n~~~\n```\n\n- no list\n~~~\nend\n\n    indented\n\n    too\n\nend',
  'an open fence': 'Look\n\n```py\nprint(1)\n\n\n[a]: /b\n\nprint(2)',
  'a fence in a list that ends it': '- a\n  ```\n\nb\n\n```\nc\n\nd\n```\n\ne',
  lists:
    '1. a\n\n2. b\n   - c\n\n     d\n\n3. e\n\nno list\n\n- f\n- g\n\n* h\n\n10. i\n\n        code\n\n- [ ] j\n- [x] k',
  tables: 'Words\n\n| a | b |\n|---|:-:|\n| 1 | 2 |\n| 3 | 4 |\nlast\n\nafter | no table\n\nx | y\n--|--',
  'reference links': 'See [a] and [b][c].\n\nMore [a].\n\n[a]: /one "t"\n\nThen [c]\n\n[c]: /two',
  'a definition in a quote': 'See [a].\n\n> [a]: /one\n\nend [a]',
  footnotes: 'A[^1] and B[^2].\n\n[^1]: First\n\n    still first\n\n[^2]: Second\n\nend',
  'quotes and pieces of HTML': '> a\nlazy\n\n> b\n\n<div>\n\n**c**\n\n</div>\n\n<!-- d\n\ne -->\n\nf',
  'front matter inside': 'a\n\n---\nb: c\n---\n\nd\r\n\r\ne\r\n- f\r\n\r\n- g',
};

test.each(Object.entries(texts))('%s: incremental rendering matches rendering the whole text', (_, text) => {
  let growing: StreamedMarkdown | null = null;
  for (let end = 1; end <= text.length; end += 1) {
    growing = extendMarkdown(growing, text.slice(0, end), parseMarkdown);
    expect(htmlOf(growing), JSON.stringify(text.slice(0, end))).toBe(
      html(parseMarkdown(text.slice(0, end)).drawn),
    );
  }
});

test('a closed block is parsed once and never again', () => {
  const parsed: string[] = [];
  const parse = (text: string): Parsed => {
    parsed.push(text);
    return parseMarkdown(text);
  };
  const blocks = Array.from({ length: 30 }, (_, at) => `Paragraph ${at} of the answer.\n\n`);
  let growing: StreamedMarkdown | null = null;
  let text = '';
  for (const block of blocks)
    for (const word of block.split(/(?<= )/)) {
      text += word;
      growing = extendMarkdown(growing, text, parse);
    }
  // Each parse covers at most one block and the start of the next.
  expect(Math.max(...parsed.map(({ length }) => length))).toBeLessThan(3 * 34);
  expect(parsed.filter((one) => one === blocks[3])).toHaveLength(1);
  const lastSeen = parsed.findLastIndex((one) => one.includes('Paragraph 3 '));
  const nextClosed = parsed.findIndex((one) => one.startsWith('Paragraph 5 '));
  expect(lastSeen).toBeLessThan(nextClosed);
});

test('a replaced text is rendered from scratch', () => {
  const { container, rerender } = render(<GrowingMarkdown text={'# One\n\ntwo\n\nthree'} />);
  rerender(<GrowingMarkdown text={'# One\n\ntwo\n\nthree\n\nfour'} />);
  expect(container.textContent).toContain('four');
  rerender(<GrowingMarkdown text="Other" />);
  expect(container.textContent).toBe('Other');
});
