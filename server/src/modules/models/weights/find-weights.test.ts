import { Readable } from 'node:stream';
import { beforeAll, expect, test } from 'vitest';
import { storeBlob } from '../../../platform/storage/store-blob.ts';
import { type TestServer, testServer } from '../../../testing/test-server.ts';
import type { AssetRevision } from '../../assets/read-revision.ts';
import { listModelFiles } from './list-model-files.ts';
import { findMissingShards } from './missing-parts.ts';
import { findGguf, findSafetensors } from './model-files.ts';

let server: TestServer;
beforeAll(async () => {
  server = await testServer();
});

const named = (...paths: string[]) => paths.map((path) => ({ path }));
const asset = { title: 'Sourdough' } as AssetRevision['asset'];

/** Returns a model whose index, if any, lists these files. */
async function model(paths: string[], indexed?: string[]): Promise<Pick<AssetRevision, 'asset' | 'files'>> {
  const files = paths.map((path) => ({ path, sha256: '0'.repeat(64), sizeBytes: 1 }));
  if (!indexed) return { asset, files };
  const weight_map = Object.fromEntries(indexed.map((path, tensor) => [`layers.${tensor}`, path]));
  const blob = await storeBlob(server.services, Readable.from([JSON.stringify({ weight_map })]));
  return { asset, files: [...files, { path: 'model.safetensors.index.json', ...blob }] };
}

const part = (number: number, count: number) => `model-0000${number}-of-0000${count}.safetensors`;

test.each([
  ['one file', ['model.safetensors', 'README.md'], undefined, ['model.safetensors'], null],
  ['another name', ['weights.safetensors'], undefined, ['weights.safetensors'], null],
  ['parts', [part(1, 2), part(2, 2)], undefined, [part(1, 2), part(2, 2)], null],
  [
    'parts listed in an index',
    ['a.safetensors', 'b.safetensors'],
    ['a.safetensors'],
    ['a.safetensors'],
    null,
  ],
  ['too few parts', [part(1, 2)], undefined, [part(1, 2)], `${part(2, 2)} is missing`],
  [
    'far too few parts',
    [part(2, 6)],
    undefined,
    [part(2, 6)],
    `${part(1, 6)}, ${part(3, 6)}, ${part(4, 6)} and 2 more are missing`,
  ],
  [
    'only files in the index',
    ['a.safetensors'],
    ['a.safetensors', 'b.safetensors'],
    ['a.safetensors'],
    'b.safetensors is missing',
  ],
  ['only an adapter', ['adapter_model.safetensors'], undefined, [], null],
  ['weights in a folder', ['unet/model.safetensors'], undefined, [], null],
])('finds safetensors: %s', async (_case, paths, indexed, loaded, fault) => {
  const found = await findSafetensors(server.services, await model(paths, indexed));
  expect(found.files.map(({ path }) => path)).toEqual(loaded);
  expect(found.fault).toBe(fault && `Sourdough is incomplete: ${fault}`);
});

test.each([
  ['one file in a folder', ['gguf/model-f16.gguf'], ['gguf/model-f16.gguf'], null],
  ['a file next to its projector', ['mmproj-f16.gguf', 'q4.gguf'], ['q4.gguf'], null],
  ['a projector with the name of the model', ['loaf-mmproj-f16.gguf', 'loaf.gguf'], ['loaf.gguf'], null],
  [
    'parts',
    ['m-00002-of-00002.gguf', 'm-00001-of-00002.gguf'],
    ['m-00001-of-00002.gguf', 'm-00002-of-00002.gguf'],
    null,
  ],
  [
    'too few parts',
    ['m-00001-of-00002.gguf'],
    ['m-00001-of-00002.gguf'],
    'is incomplete: m-00002-of-00002.gguf is missing',
  ],
  [
    'several',
    ['q8.gguf', 'q4-00001-of-00001.gguf'],
    ['q4-00001-of-00001.gguf', 'q8.gguf'],
    'has several GGUF models, q4-00001-of-00001.gguf and q8.gguf, of which one can be served: delete the others',
  ],
  ['none', ['model.safetensors'], [], null],
])('finds GGUF: %s', (_case, paths, loaded, fault) => {
  const found = findGguf({ asset, files: named(...paths) });
  expect(found.files.map(({ path }) => path)).toEqual(loaded);
  expect(found.fault).toBe(fault && `Sourdough ${fault}`);
});

test('excludes documentation and files for other programs', () => {
  const loaded = named(
    'config.json',
    'tokenizer.json',
    'merges.txt',
    'chat_template.jinja',
    'model.safetensors',
  );
  const others = named(
    'README.md',
    'LICENSE.txt',
    '.gitattributes',
    'USE_POLICY.md',
    'q4.gguf',
    'a/b.json',
    'model.bin',
  );
  expect(listModelFiles([...others, ...loaded])).toEqual(loaded);
});

test.each([
  ['one file', ['vae/model.safetensors'], []],
  [
    'all shards and their index',
    [
      'vae/model-00001-of-00002.safetensors',
      'vae/model-00002-of-00002.safetensors',
      'vae/model.safetensors.index.json',
    ],
    [],
  ],
  [
    'shards in two folders',
    [
      'vae/model-00002-of-00002.safetensors',
      'text/model-00001-of-00001.safetensors',
      'vae/model.safetensors.index.json',
    ],
    ['text/model.safetensors.index.json', 'vae/model-00001-of-00002.safetensors'],
  ],
])('finds what is missing in a pipeline: %s', (_case, paths, missing) => {
  expect(findMissingShards(paths)).toEqual(missing);
});
