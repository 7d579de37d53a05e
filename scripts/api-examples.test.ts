import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { apiExamples, claudeCodeExample, keyExample } from '../web/src/lib/api/examples/chat-examples.ts';
import { embeddingExamples } from '../web/src/lib/api/examples/embedding-examples.ts';
import { deployedImageExamples, generationExamples } from '../web/src/lib/api/examples/picture-examples.ts';

type Asked = { url: string; key: string; body: string };

/** Pastes the key and then a copied example into a shell. Returns the requests that a server receives. */
async function askedBy(answer: string, pasted: (origin: string) => string | undefined): Promise<Asked[]> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const key = request.headers.authorization ?? '';
      asked.push({ url: request.url ?? '', key, body: Buffer.concat(parts).toString() });
      response.end(answer);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const cwd = await mkdtemp(path.join(tmpdir(), 'examples-'));
  await writeFile(path.join(cwd, 'picture.png'), 'a picture');
  await promisify(execFile)('sh', ['-c', `${keyExample('secret')}\n${pasted(origin)}`], { cwd });
  server.close();
  await rm(cwd, { recursive: true });
  expect(new Set(asked.map(({ key }) => key))).toEqual(new Set(['Bearer secret']));
  return asked;
}

test.each([
  ['the first model that answers', undefined, ['/v1/models', '/v1/chat/completions'], 'crumb-expert'],
  ['a model by its name', 'rye-expert', ['/v1/chat/completions'], 'rye-expert'],
])('the copied example works unchanged, the key, then curl: %s', async (_which, modelName, urls, model) => {
  const list = '{"object":"list","data":[{"id":"crumb-expert","object":"model"}]}';
  const asked = await askedBy(list, (origin) => apiExamples(origin, modelName)[0]?.code);
  expect(asked.map(({ url }) => url)).toEqual(urls);
  expect(JSON.parse(asked.at(-1)?.body ?? '')).toMatchObject({ model });
});

test('each example sends the same request to the model: by its name, or the first model', () => {
  for (const { code } of apiExamples('https://bake.example', 'rye-expert')) {
    expect(code).toMatch(/model\W+rye-expert\W/);
    expect(code).not.toContain('models');
  }
  for (const { code } of apiExamples('https://bake.example')) expect(code).toMatch(/models/);
});

test('the copied embeddings example works unchanged, and each example names the model', async () => {
  const examples = (origin: string) => embeddingExamples(origin, 'rye-sentences');
  const asked = await askedBy('{}', (origin) => examples(origin)[0]?.code);
  expect(asked.map(({ url }) => url)).toEqual(['/v1/embeddings']);
  expect(JSON.parse(asked[0]?.body ?? '')).toEqual({
    model: 'rye-sentences',
    input: ['Bread rises', 'Dough grows'],
  });
  for (const { code } of examples('https://bake.example')) expect(code).toMatch(/model\W+rye-sentences\W/);
});

const request = {
  generator: 'paris',
  prompt: `A baker's "best" loaf`,
  parameters: { cfg_scale: 7.5, sampling_strategy: 'topk', enhance: true, seed: null },
};

test("curl requests an image with the form's values, and downloads it by id", async () => {
  const [made, looked] = await askedBy(
    '{"id":"g1"}',
    (origin) => generationExamples(origin, { ...request, edits: false })[0]?.code,
  );
  expect([made?.url, looked?.url]).toEqual(['/api/v1/generations', '/api/v1/generations/g1']);
  expect(JSON.parse(made?.body ?? '')).toEqual(request);
});

test('an edit sends its image first', async () => {
  const [sent, made] = await askedBy(
    '{"id":"p1"}',
    (origin) => generationExamples(origin, { ...request, edits: true })[0]?.code,
  );
  expect([sent?.url, sent?.body]).toEqual(['/api/v1/pictures', expect.stringContaining('a picture')]);
  expect(JSON.parse(made?.body ?? '')).toEqual({ ...request, picture_id: 'p1' });
});

test('values use Python syntax', () => {
  const [, python] = generationExamples('https://bake.example', { ...request, edits: true });
  expect(python?.code).toContain('"enhance": True, "seed": None}, "picture_id": picture["id"]}');
});

test('a deployed image model is requested by its name', async () => {
  const code = (edits: boolean) => (origin: string) =>
    deployedImageExamples(`${origin}/v1`, { model: 'rye', edits })[0]?.code;
  const [generated] = await askedBy('{}', code(false));
  expect([generated?.url, JSON.parse(generated?.body ?? '').model]).toEqual([
    '/v1/images/generations',
    'rye',
  ]);
  const [edited] = await askedBy('{}', code(true));
  expect([edited?.url, edited?.body]).toEqual(['/v1/images/edits', expect.stringContaining('a picture')]);
});

test('the settings of Claude Code match the documentation', async () => {
  const page = await readFile(path.resolve(import.meta.dirname, '../docs/coding-agents.md'), 'utf8');
  expect(page).toContain(`\n${claudeCodeExample('http://localhost:4080', 'your-model')}\n`);
});
