/** Fails where the product or its documentation calls something by a word that docs/vocabulary.md does not. */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { root } from '../root.ts';
import { messages } from '../specification/messages.ts';
import { readTexts } from '../specification/read-texts.ts';
import { findWrongWords, isSentence, proseOf, readWrongWords } from './find-wrong-words.ts';

const VOCABULARY = 'docs/vocabulary.md';
/** What several machines are to each other is the operator's business: there it is an installation. */
const PROGRAMS = ['web/src/**/*.{ts,tsx}', 'contract/src/**/*.ts', 'server/src/modules/**/*.ts'];
const PAGES = [
  'getting-started',
  'data-files',
  'fine-tuning',
  'text-serving',
  'api',
  'hub',
  'hub-clients',
  'pictures-and-videos',
  'credits',
  'notifications',
].map((page) => `docs/${page}.md`);

const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const words = readWrongWords(read(VOCABULARY));
const specification = read('docs/specification.md');
const specified = messages.map(({ text }) => text);
const isSpecified = (text: string) =>
  specified.some((sentence) => sentence.includes(text) || text.includes(sentence)) ||
  specification.includes(text);

const ofPrograms = globSync(PROGRAMS, { cwd: root })
  .filter((file) => !/\.test\.tsx?$|\/testing\//.test(file))
  .flatMap((file) =>
    [...readTexts(file, read(file))]
      .filter(isSentence)
      .flatMap((text) => findWrongWords(text, words, isSpecified))
      .map((fault) => `${file}: ${fault}`),
  );
const ofPages = PAGES.flatMap((file) =>
  proseOf(read(file))
    .flatMap((line) => findWrongWords(line, words))
    .map((fault) => `${file}: ${fault}`),
);
const faults = [...new Set([...ofPrograms, ...ofPages])];
for (const fault of faults) console.error(fault);
process.exitCode = faults.length === 0 ? 0 : 1;
