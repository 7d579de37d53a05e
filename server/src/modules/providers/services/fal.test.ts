import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeEach, expect, test } from 'vitest';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { fal } from './fal.ts';

/* Tests the errors that fal returns if it could not generate a picture. */

type Answer = { status: number; headers?: Record<string, string>; body: unknown };
let answer: Answer;
const server = createServer((request, response) => {
  const { status, headers, body } =
    request.url === '/status' ? { status: 200, headers: {}, body: { status: 'COMPLETED' } } : answer;
  response.writeHead(status, headers).end(JSON.stringify(body));
});
await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
onFileEnd(async () => void server.close());
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const service = fal({ key: 'key', url, clock: fakeClock() });
const { signal } = new AbortController();
const detail = (type: string) => [{ loc: ['body'], msg: 'in its own words', type }];

beforeEach(() => {
  answer = { status: 200, body: {} };
});

const transient: [string, Answer][] = [
  ['its header', { status: 422, headers: { 'x-fal-retryable': 'true' }, body: { detail: detail('other') } }],
  ['an error of a service behind it', { status: 400, body: { detail: detail('downstream_service_error') } }],
  ['one that is away', { status: 400, body: { detail: detail('downstream_service_unavailable') } }],
  ...[408, 409, 425, 499].map((status): [string, Answer] => [
    `status ${status}`,
    { status, body: { detail: 'in its own words' } },
  ]),
];

test.each(transient)('%s is reported as temporary', async (_what, said) => {
  answer = said;
  const error = { code: 'unavailable', publicMessage: 'fal is having problems' };
  await expect(service.submit({ model: 'any', makes: 'image', input: {} }, signal)).rejects.toMatchObject(
    error,
  );
  const handle = { status: `${url}/status`, result: `${url}/result` };
  expect(await service.look(handle, signal), 'its job').toMatchObject({ state: 'failed', error });
});

test('reports an error as a refusal unless fal marks it as retryable', async () => {
  answer = { status: 422, headers: { 'x-fal-retryable': 'false' }, body: { detail: detail('other') } };
  const error = { code: 'invalid_request', publicMessage: 'fal refused this: in its own words' };
  await expect(service.submit({ model: 'any', makes: 'image', input: {} }, signal)).rejects.toMatchObject(
    error,
  );
});

test("drops black pictures that fal's safety check flagged", async () => {
  const images = ['black', 'good'].map((name) => ({ url: `${url}/${name}.png` }));
  answer = { status: 200, body: { images, has_nsfw_concepts: [true, false] } };
  const handle = { status: `${url}/status`, result: `${url}/result` };
  expect(await service.look(handle, signal)).toEqual({ state: 'done', outputs: [`${url}/good.png`] });
});
