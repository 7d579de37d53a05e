/**
 * Fails if docs/specification.md names a file or test that does not exist. Also fails if the test does not
 * contain the sentences, numbers and quoted texts of its row.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { root } from '../root.ts';
import { findBrokenReferences } from './find-broken-references.ts';
import { findUntestedValues } from './find-untested-values.ts';
import { messages } from './messages.ts';

const at = (file: string) => path.join(root, file);
const document = readFileSync(at('docs/specification.md'), 'utf8');
const repository = {
  exists: (file: string) => existsSync(at(file)),
  read: (file: string) => (existsSync(at(file)) ? readFileSync(at(file), 'utf8') : null),
};
const sentences = messages.filter(({ foundIn }) => foundIn).map(({ text }) => text);
const faults = [
  ...findBrokenReferences(document, repository, sentences),
  ...findUntestedValues(document, repository),
];
for (const fault of faults) console.error(fault);
process.exitCode = faults.length === 0 ? 0 : 1;
